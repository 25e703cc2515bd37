"""Where ReplaySCM's answers fail: at a stage of validation, or at a row that contradicts them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from whybench.families.replayscm.analyses.attempt import Attempt
from whybench.families.replayscm.analyses.funnel import GATES, funnels
from whybench.families.replayscm.contradiction import first_contradiction
from whybench.families.replayscm.params import POOLS
from whybench.families.replayscm.rules import ReplayEpisode
from whybench.report import charts
from whybench.report.families.replayscm_rows import FAMILY, Entry, absent, drawn
from whybench.report.families.replayscm_stacks import MOST_ROWS, stacked
from whybench.report.palette import LIGHT
from whybench.report.section import Figure, Part, Remark, Section
from whybench.report.view import View

FIRST = {
    "a training row": LIGHT["vermillion"],
    "held out, shown 4 times or more": LIGHT["orange"],
    "held out, shown 1 to 3 times": LIGHT["yellow"],
    "held out, never shown": LIGHT["sky"],
    "a root taken for an effect": LIGHT["grey"],
}
"""What first contradicts an answer, by how often the true parents' pattern was shown."""


def funnel(listed: Sequence[Entry]) -> Section:
    """Table C.1: where answers stop being executable."""
    if not listed:
        return Section(
            f"{FAMILY}-funnel", "The validity funnel", parts=(absent("It", ["hid_cert"]),)
        )
    rows = [
        {"row": f"{found.pool} (n {found.n}) · {found.system}", "stage": stage.name,
         "share": stage.passed.rate, "lost here": stage.lost}
        for entry in listed
        for found in funnels(entry.attempts)
        for stage in found.stages
        if stage.passed.rate is not None
    ]  # fmt: skip
    frame = pd.DataFrame(rows)
    parts: list[Part] = []
    if not frame.empty:
        gates = frame[frame["stage"].isin(GATES)]
        lost = gates[gates["lost here"] > 0]
        worst = "; ".join(
            f"{r['row']} loses {r['lost here']} at {r['stage']}"
            for r in lost.to_dict("records")[:8]
        )
        shown = frame[frame["row"].isin(list(dict.fromkeys(lost["row"]))[:MOST_ROWS])]
        if not shown.empty:
            order = ["strict_json", *GATES]
            chart = charts.heat(
                shown, x="stage", y="row", value="share", x_sort=order,
                y_sort=list(dict.fromkeys(shown["row"])),
            )  # fmt: skip
            parts.append(
                Figure(
                    f"{FAMILY}-funnel-stages",
                    "Share of answers that pass each stage (Table C.1)",
                    f"Share of answers that pass each stage of validation. {worst}.",
                    chart,
                    shown,
                    "Runs that lose no answer are left out. `strict_json` is a matter of form, "
                    "not a gate.",
                )
            )
        clean = gates.groupby("row")["lost here"].sum()
        if (clean == 0).any():
            count = int((clean == 0).sum())
            parts.append(Remark(f"{count} of {len(clean)} runs lose no answer on the way."))
    return Section(
        f"{FAMILY}-funnel",
        "The validity funnel",
        "An answer is run only if it can be extracted, has the schema and the right variables, "
        "parses, uses what it may, and has no cycle. Formulas are never mended.",
        tuple(parts),
    )


def contradictions(view: View, listed: Sequence[Entry]) -> Section:
    """Which row contradicts wrong answers first, and how often its like was shown."""
    induced = [entry for entry in listed if POOLS[entry.pool].task == "induce"]
    asked = [entry for entry in drawn(view, induced) if any(map(_wrong, entry.attempts))]
    counts = {
        (entry.pool, entry.system): Counter(_firsts(view, entry)) for entry in asked[:MOST_ROWS]
    }
    figure = stacked(
        counts,
        FIRST,
        "contradictions",
        "What first contradicts wrong answers",
        f"Of at most {view.replayed} episodes per run, carried out again: those with a "
        "valid answer that some row contradicts. Counted are training rows in which the variable "
        "is free and its true parents have the values that they have in the contradicting row.",
    )
    parts: tuple[Part, ...] = (figure,) if figure else ()
    if not parts:
        parts = (Remark("No stored episode has a valid answer that some row contradicts."),)
    return Section(
        f"{FAMILY}-first-rows",
        "The first row that contradicts",
        "A wrong answer that contradicts a training row was refuted by what its author had seen. "
        "One that is first refuted by a held-out row fits all that was shown; where the true "
        "parents had been seen like this, it gives the variable other parents besides.",
        parts,
    )


def _wrong(attempt: Attempt) -> bool:
    return attempt.holds("valid") and not attempt.holds("heldout_exact")


def _firsts(view: View, entry: Entry) -> list[str]:
    found = []
    for _, instance, trace in view.episodes(entry.run):
        family: Any = entry.run.family
        episode = family.reopened(instance, trace.actions, trace.given, trace.evidence)
        if not isinstance(episode, ReplayEpisode) or episode.judged is None:
            continue
        candidate = episode.judged.candidate
        world = replace(episode.world, view=episode.view)
        first = None if candidate is None else first_contradiction(candidate, world)
        if first is None:
            continue
        kinds = list(FIRST)
        if not first.pattern:
            found.append(kinds[4])
        elif not first.heldout:
            found.append(kinds[0])
        else:
            found.append(kinds[1 if first.shown > 3 else 2 if first.shown else 3])
    return found
