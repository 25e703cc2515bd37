"""Why answers are right or wrong: proof, luck, bad experiments, bad inference."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from whybench.report.charts import bars
from whybench.report.families.causallink_runs import (
    SUITES,
    bounds,
    named,
    own,
    spoken,
    suite_of,
    wanted,
)
from whybench.report.palette import LIGHT
from whybench.report.runs import Run
from whybench.report.section import Figure, Part, Remark, Section
from whybench.report.view import View
from whybench.stats.interval import rate_interval

KINDS = {
    "proved": ("right and proved", "green"),
    "lucky": ("right by luck", "sky"),
    "premature": ("wrong: bad experiments", "orange"),
    "contradicts_evidence": ("wrong: bad inference", "vermillion"),
}
"""Metric → its words in a figure and its colour."""

SILENT = ("no answer", "purple")

LUCKY = 0.1
"""A share of lucky answers from which a system is called out."""


def failures(view: View) -> Section:
    """Split answers into proved and lucky, and failures into bad experiments and inference."""
    parts: list[Part] = []
    for suite in SUITES:
        frame = kinds(view, own(view, suite))
        if not frame.empty:
            parts += [
                _bars(
                    f"causallink-failures-{suite.replace('_', '-')}",
                    f"What became of each question, causallink/{suite}",
                    frame,
                    "Whether the evidence that a system gathered forces the answer is decided "
                    "exactly, over all orders that fit what it saw. Wrong while both answers were "
                    "open: its experiments were bad. Wrong against forcing evidence: its inference "
                    "was. `low` and `high`: 95 % intervals clustered by latent world.",
                ),
                *_called_out(suite, frame),
            ]
    if not parts:
        parts.append(wanted("Proof, luck and failures", "core"))
    return Section(
        "causallink-failures",
        "Proof and luck, bad experiments and bad inference",
        "A right answer counts the same whether it was proved or guessed; here they are apart.",
        tuple(parts),
    )


def evidence(view: View) -> Section:
    """Compare runs on their own evidence with runs on evidence laid before them."""
    groups: dict[tuple[object, ...], list[Run]] = {}
    for run in view.runs:
        groups.setdefault((run.model, *run.setting), []).append(run)
    runs = [r for group in groups.values() if len({r.evidence for r in group}) > 1 for r in group]
    parts: list[Part] = []
    for suite in SUITES:
        chosen = named([run for run in runs if suite_of(run) == suite])
        frame = kinds(view, [(_sourced(name, run), run) for name, run in chosen])
        if not frame.empty:
            parts.append(
                _bars(
                    f"causallink-evidence-{suite.replace('_', '-')}",
                    f"Own experiments, and experiments laid before the system, causallink/{suite}",
                    frame,
                    "`optimal`: the exact experimenter's interventions, which force the answer "
                    "wherever that is possible, so what is still wrong is inference. `yoked`: "
                    "those of another run; where they leave both answers open, a wrong answer "
                    "says nothing about the system's own experiments.",
                )
            )
    if not parts:
        parts.append(
            wanted("The same system on the exact experimenter's evidence", "core",
                   " -T evidence=optimal")
        )  # fmt: skip
    return Section(
        "causallink-evidence",
        "Whose evidence",
        "A system that only infers, from experiments that someone else made, shows what its own "
        "experiments cost it.",
        tuple(parts),
    )


def _sourced(name: str, run: Run) -> str:
    """Put the evidence first, so that a long name does not hide it."""
    return f"{run.evidence}: {name.replace(f' · evidence={run.evidence}', '')}"


def kinds(view: View, runs: Sequence[tuple[str, Run]]) -> pd.DataFrame:
    """Return the share of each kind of ending, a row for each run and kind; they sum to 1."""
    rows: list[dict[str, Any]] = []
    for name, run in runs:
        found = {metric: view.estimate(run, metric) for metric in KINDS}
        if not found["proved"].n:
            continue
        answered = run.frame[list(KINDS)].sum(axis=1, skipna=False)
        silent = [None if pd.isna(value) else 1.0 - float(value) for value in answered]
        clusters, instances = list(run.frame["cluster"]), list(run.frame["instance"])
        shares = [
            *((KINDS[metric][0], share) for metric, share in found.items()),
            (SILENT[0], rate_interval(silent, clusters, instances=instances)),
        ]
        rows += [
            {
                "system": name,
                "evidence": run.evidence,
                "kind": kind,
                "share": share.estimate,
                **bounds(share),
                "episodes": share.n,
                "reference": run.reference,
            }
            for kind, share in shares
        ]
    return pd.DataFrame(rows)


def _bars(place: str, title: str, frame: pd.DataFrame, note: str) -> Figure:
    words = [word for word, _ in KINDS.values()] + [SILENT[0]]
    hues = [LIGHT[hue] for _, hue in KINDS.values()] + [LIGHT[SILENT[1]]]
    said = "; ".join(
        f"{system}: "
        + ", ".join(
            f"{row['kind']} {spoken(row['share'])}"
            for row in cells.to_dict("records")
            if row["share"] > 0
        )
        for system, cells in frame.groupby("system", sort=False)
    )
    chart = bars(
        frame, x="share", y="system", color="kind", x_title="share of episodes", order=words,
        palette=hues, y_sort=list(dict.fromkeys(frame["system"])),
    )  # fmt: skip
    return Figure(place, title, f"Shares of episodes. {said}.", chart, frame, note)


def _called_out(suite: str, frame: pd.DataFrame) -> list[Remark]:
    """Name the systems whose right answers rest on luck."""
    remarks = []
    for system, cells in frame[~frame["reference"]].groupby("system", sort=False):
        share = dict(zip(cells["kind"], cells["share"], strict=True))
        proved, lucky = share[KINDS["proved"][0]], share[KINDS["lucky"][0]]
        if lucky >= LUCKY:
            remarks.append(
                Remark(
                    f"Right without knowing: on causallink/{suite} {system} is right in "
                    f"{spoken(proved + lucky)} of {cells['episodes'].iloc[0]} episodes, but its "
                    f"evidence proves the answer in {spoken(proved)} only.",
                    "warning",
                )
            )
    return remarks
