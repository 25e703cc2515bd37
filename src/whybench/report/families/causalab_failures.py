"""Where episodes fail: prediction without mechanism, bad experiments, bad inference."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from whybench.episode.episode import ANSWERED
from whybench.report.charts import bars
from whybench.report.families.causalab_evidence import allowed, evidence
from whybench.report.families.causalab_rows import Entry, command, entries
from whybench.report.palette import LIGHT
from whybench.report.section import Figure, Part, Remark, Section
from whybench.report.understanding import FEWEST, WORTH_SAYING
from whybench.report.view import View

Split = Callable[[pd.DataFrame], dict[str, "pd.Series[bool]"]]
"""Scored rows → kind of end → which of them."""

NONE = "no prediction"
MOST_NAMED = 3
"""Suites that are named when a system is called out."""


def understood(view: View) -> Section:
    """Return what becomes of prediction and graph together."""
    listed = entries(view)
    parts: list[Part] = list(_called(listed))
    if listed:
        figure = _split(
            listed,
            "causalab-understanding",
            "Right or wrong, in prediction and in mechanism",
            _both,
            (
                "both right",
                "right graph, wrong frequency",
                "right frequency, wrong graph",
                "both wrong",
                NONE,
            ),
            "Right frequency with a wrong graph is prediction without understanding "
            "(metric without_mechanism). A graph is right if no edge that experiments can decide "
            "is missing, too many or turned round.",
        )
        parts.append(figure)
    else:
        parts.append(command("Prediction with and without the mechanism", "main_4"))
    return Section(
        "causalab-understanding",
        "Prediction without understanding",
        "Every episode asks for two things at once, the frequency and the graph behind it.",
        tuple(parts),
    )


def failures(view: View) -> Section:
    """Return failures by their cause, and the comparison with other evidence."""
    listed = entries(view)
    parts: list[Part] = []
    if listed:
        note = (
            "Bad inference: exact inference from the same data gives the right answer. Bad "
            "experiments: the data leave it open. Where nothing could be set, the data that were "
            "given leave it open."
        )
        parts += [
            _split(
                listed,
                "causalab-failures-frequency",
                "Why the frequency was missed",
                _frequency,
                ("right", "bad experiments", "bad inference", "beyond the dial", NONE),
                note,
            ),
            _split(
                listed,
                "causalab-failures-graph",
                "Why the graph was missed",
                _graph,
                ("right", "bad experiments", "bad inference", NONE),
                note,
            ),
            allowed(view, listed),
        ]
    else:
        parts.append(command("Failures by their cause", "main_4"))
    parts.append(evidence(view))
    return Section(
        "causalab-failures",
        "Bad experiments or bad inference",
        "What a system's own readings force is worked out exactly; so each failure is laid to the "
        "experiments or to what was made of them.",
        tuple(parts),
    )


# Kinds of ends.


def _both(rows: pd.DataFrame) -> dict[str, pd.Series[bool]]:
    answered, right = rows["outcome"] == ANSWERED, rows["accuracy"] == 1
    graph = rows["shd"] == 0
    return {
        "both right": answered & right & graph,
        "right graph, wrong frequency": answered & ~right & graph,
        "right frequency, wrong graph": rows["without_mechanism"] == 1,
        "both wrong": answered & ~right & ~graph,
        NONE: ~answered,
    }


def _frequency(rows: pd.DataFrame) -> dict[str, pd.Series[bool]]:
    answered, right = rows["outcome"] == ANSWERED, rows["accuracy"] == 1
    experiments, inference = rows["bad_experiments"] == 1, rows["bad_inference"] == 1
    return {
        "right": right,
        "bad experiments": experiments,
        "bad inference": inference,
        "beyond the dial": answered & ~right & ~experiments & ~inference,
        NONE: ~answered,
    }


def _graph(rows: pd.DataFrame) -> dict[str, pd.Series[bool]]:
    answered = rows["outcome"] == ANSWERED
    return {
        "right": answered & (rows["shd"] == 0),
        "bad experiments": rows["graph_bad_experiments"] == 1,
        "bad inference": rows["graph_bad_inference"] == 1,
        NONE: ~answered,
    }


def _split(
    listed: Sequence[Entry],
    name: str,
    title: str,
    split: Split,
    kinds: Sequence[str],
    note: str,
) -> Figure:
    """Draw the shares of each kind of end, a bar for each run."""
    rows: list[dict[str, Any]] = []
    for entry in listed:
        scored = entry.run.frame.dropna(subset=["accuracy"])
        masks = split(scored)
        rows += [
            {
                "run": entry.row,
                "origin": entry.origin,
                "kind": each,
                "episodes": int(masks[each].sum()),
                "share": float(masks[each].mean()),
                "n": len(scored),
            }
            for each in kinds
        ]
    frame = pd.DataFrame(rows)
    there = [each for each in kinds if frame.loc[frame["kind"] == each, "episodes"].sum()]
    drawn = frame[frame["kind"].isin(there)]
    hues = dict(zip(kinds, _hues(kinds), strict=True))
    said = "; ".join(
        f"{run} (n {group['n'].iloc[0]}): "
        + ", ".join(f"{row.kind} {row.share:.2f}" for row in group.itertuples() if row.episodes)
        for run, group in frame.groupby("run", sort=False)
    )
    return Figure(
        name,
        title,
        f"{said}.",
        bars(
            drawn, x="share", y="run", color="kind", order=there,
            palette=[hues[each] for each in there], x_title="share of episodes",
            y_sort=list(dict.fromkeys(frame["run"])),
        ),
        frame,
        note,
    )  # fmt: skip


def _hues(kinds: Sequence[str]) -> Iterator[str]:
    """Yield colours: blue is right, grey is unanswered, warm ones are failures."""
    warm = iter((LIGHT["orange"], LIGHT["vermillion"], LIGHT["purple"]))
    for each in kinds:
        if each in ("right", "both right"):
            yield LIGHT["blue"]
        elif each.startswith("right graph"):
            yield LIGHT["sky"]
        else:
            yield LIGHT["grey"] if each == NONE else next(warm)


@dataclass(frozen=True, slots=True)
class _Hollow:
    """How many right frequencies a run has, and how many of them with a wrong graph."""

    where: str
    right: int
    hollow: int
    forced: int
    """Those of them where the data forced the graph."""

    @property
    def marked(self) -> bool:
        return self.right >= FEWEST and self.hollow >= WORTH_SAYING * self.right


def _called(listed: Sequence[Entry]) -> Iterator[Remark]:
    """Name the systems whose right predictions often come with a wrong graph."""
    by_system: dict[str, list[_Hollow]] = {}
    agents = {entry.system for entry in listed if entry.run.reference}
    for entry in listed:
        rows = entry.run.frame.dropna(subset=["accuracy"])
        hollow = rows[rows["without_mechanism"] == 1]
        found = _Hollow(
            " ".join(filter(None, (entry.suite, entry.regime))),
            int((rows["accuracy"] == 1).sum()),
            len(hollow),
            int((hollow["graph_bad_inference"] == 1).sum()),
        )
        by_system.setdefault(entry.system, []).append(found)
    for system, every in by_system.items():
        marked = sorted((one for one in every if one.marked), key=lambda o: -o.hollow / o.right)
        if not marked:
            continue
        worst = "; ".join(f"{o.where} {o.hollow} of {o.right}" for o in marked[:MOST_NAMED])
        yield Remark(
            f"{system} predicts without understanding: {sum(o.hollow for o in every)} of its "
            f"{sum(o.right for o in every)} right frequencies came with a wrong graph, "
            f"{sum(o.forced for o in every)} of these although the data forced the graph. "
            f"Most on {worst}.",
            "plain" if system in agents else "warning",
        )
