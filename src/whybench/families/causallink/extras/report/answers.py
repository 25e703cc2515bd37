"""Why answers are right or wrong: understood, lucky, bad experiments, bad inference, biases."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd

from whybench.families.causallink.extras.annotated import PATTERNS
from whybench.families.causallink.extras.report.rows import (
    SUITES,
    bounds,
    differences_in_words,
    own,
    paper_differences,
)
from whybench.families.causallink.failure_patterns import BIASES
from whybench.report.entries import Entry, entries
from whybench.report.forms import Row, Shown
from whybench.report.published.row_match import runs_of
from whybench.report.runs import Run
from whybench.report.view import View
from whybench.stats.interval import rate_interval

KINDS = {
    "understood": "right and understood",
    "lucky": "right by luck",
    "premature": "wrong: bad experiments",
    "contradicted": "wrong: bad inference",
}
"""Metric → its label in a figure."""

SILENT = "no answer"

LUCKY = 0.1
"""From this share of lucky answers on, the report names the system."""

PUBLISHED = "published, Table 2"
"""The one published series, which pools three systems."""


def kinds(view: View, listed: Sequence[Entry]) -> pd.DataFrame:
    """Return the share of each kind of result, a row for each run and kind; shares sum to 1."""
    rows: list[Row] = []
    for entry in listed:
        run = entry.run
        found = {words: view.estimate(run, metric) for metric, words in KINDS.items()}
        if not found[KINDS["understood"]].n:
            continue
        answered = run.frame[list(KINDS)].sum(axis=1, skipna=False)
        silent = [None if pd.isna(value) else 1.0 - float(value) for value in answered]
        clusters, instances = list(run.frame["cluster"]), list(run.frame["instance"])
        found[SILENT] = rate_interval(silent, clusters, instances=instances)
        rows += [
            {"system": entry.system, "evidence": run.evidence, "kind": kind,
             "share": share.estimate, **bounds(share), "episodes": share.n,
             "reference": run.reference}
            for kind, share in found.items()
        ]  # fmt: skip
    return pd.DataFrame(rows)


def failures(view: View) -> list[Shown]:
    """Split answers into understood and lucky, and failures into bad experiments and inference."""
    return [Shown(kinds(view, own(view, suite)), {"suite": suite}) for suite in SUITES]


def lucky(view: View) -> Iterator[Row]:
    """Name the systems with many lucky answers."""
    for frame, words in failures(view):
        ours = frame[~frame["reference"]] if len(frame) else frame
        for system, cells in ours.groupby("system", sort=False) if len(ours) else ():
            share = dict(zip(cells["kind"], cells["share"], strict=True))
            understood, lucky = share[KINDS["understood"]], share[KINDS["lucky"]]
            if lucky >= LUCKY:
                yield {**words, "system": system, "right": understood + lucky,
                    "understood": understood,
                       "episodes": cells["episodes"].iloc[0]}  # fmt: skip


def evidence(view: View) -> list[Shown]:
    """Compare runs on their own evidence with runs on given evidence."""
    groups: dict[tuple[object, ...], list[Run]] = {}
    for run in view.runs:
        groups.setdefault((run.model, *run.setting), []).append(run)
    compared = [group for group in groups.values() if len({run.evidence for run in group}) > 1]
    found = []
    for suite in SUITES:
        chosen = [run for group in compared for run in group if run.suite == f"causallink/{suite}"]
        listed = [
            Entry(entry.run, f"{entry.run.evidence}: {entry.system}")
            for entry in entries(chosen, ["evidence"])
        ]
        found.append(Shown(kinds(view, listed), {"suite": suite}))
    return found


# Failure patterns.


def patterns(view: View, suite: str) -> pd.DataFrame:
    """Return each pattern's share of a run's wrong answers, and on core the published shares."""
    rows: list[Row] = []
    core = suite == "core"
    for entry in own(view, suite):
        frame = entry.run.frame
        labels = [label.get("bias") for label in frame["labels"]]
        clusters = list(frame["cluster"][[label is not None for label in labels]])
        seen = [label for label in labels if label is not None]
        for pattern in BIASES if seen else ():
            found = rate_interval([float(label == pattern) for label in seen], clusters)
            rows.append({
                "system": entry.system, "series": entry.system, "pattern": _said(pattern),
                "share": found.estimate, **bounds(found), "printed": "",
                "wrong answers": found.n, "published": False,
                "differs from the paper in": paper_differences(entry.run) if core else "",
            })  # fmt: skip
    if rows and core:
        rows += [
            {"system": cell.system, "series": PUBLISHED, "pattern": _said(cell.condition),
             "share": cell.share, "printed": f"{cell.printed} {cell.unit}",
             "wrong answers": cell.n, "published": True, "differs from the paper in": ""}
            for cell in view.published.cells("causallink", table="2", metric="failure_share")
        ]  # fmt: skip
    return pd.DataFrame(rows)


def biases(view: View) -> Iterator[Shown]:
    """Show the failure patterns among wrong answers of each suite."""
    meanings = " ".join(f"{_said(name)}: {what}." for name, what in PATTERNS.items())
    for suite in SUITES:
        frame = patterns(view, suite)
        words: dict[str, Any] = {"suite": suite, "meanings": meanings, "beside": ""}
        if len(frame) and frame["published"].any():
            caveat = runs_of("causallink", "core_failure_modes", BIASES[0]).caveat
            words["beside"] = (
                f" Hollow grey: Table 2, other instances; {caveat}.{differences_in_words(frame)}"
            )
        yield Shown(frame, words)


def _said(pattern: str) -> str:
    other = {"other_fn": "other missed links", "other_fp": "other false links"}
    return other.get(pattern, pattern.replace("_", " "))
