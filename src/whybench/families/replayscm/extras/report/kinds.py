"""Kinds of answers in ReplaySCM: stages of validation, outcomes, first contradictions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import pandas as pd

from whybench.families.replayscm.extras.analyses.attempt import Attempt
from whybench.families.replayscm.extras.analyses.funnel import GATES, funnels
from whybench.families.replayscm.extras.report.rows import Entry, Tried
from whybench.families.replayscm.parameters import POOLS
from whybench.families.replayscm.proof.contradiction import first_contradiction
from whybench.families.replayscm.rules import ReplayEpisode
from whybench.report.forms import Row, Shown
from whybench.report.view import View

MOST_ROWS = 36
"""The most rows of a figure; models come first."""

TRUE, OTHER = "the true SCM", "replays everything, another SCM"
PREDICTS = "fits the training rows, fails held-out ones"
CONTRADICTS, INVALID = "contradicts the training rows", "no valid answer"
OUTCOMES = (TRUE, OTHER, PREDICTS, CONTRADICTS, INVALID)

FIRST = (
    "a training row", "held out, shown 4 times or more", "held out, shown 1 to 3 times",
    "held out, never shown", "a root taken for an effect",
)  # fmt: skip
"""What first contradicts an answer, by how often the pattern of the true parents was shown."""


def stacked(counts: Mapping[tuple[str, str], Counter[str]], kinds: Iterable[str]) -> Iterator[Row]:
    """Return the shares of each kind of attempt; a row is a pool with a system."""
    for (where, who), tally in counts.items():
        total = sum(tally.values())
        for kind in kinds if total else ():
            yield {"row": f"{where} (n {total}) · {who}", "kind": kind,
                   "share": tally[kind] / total, "count": tally[kind]}  # fmt: skip


def outcome_of(attempt: Attempt) -> str | None:
    """Return the kind of an answer; None if the episode was not scored."""
    if attempt.value("valid") is None:
        return None
    if not attempt.holds("valid"):
        return INVALID
    if not attempt.holds("train_exact"):
        return CONTRADICTS
    if not attempt.holds("heldout_exact"):
        return PREDICTS
    return TRUE if attempt.holds("latent_match") else OTHER


def outcomes(tried: Tried) -> Iterator[Row]:
    """Return the kinds of answers, by pool and system."""
    induced = set(tried.induced())
    shown = tried.drawn(entry for entry in tried.listed if entry in induced)[:MOST_ROWS]
    counts = {
        (entry.suite, entry.system): Counter(filter(None, map(outcome_of, entry.attempts)))
        for entry in shown
    }
    return stacked(counts, OUTCOMES)


# The validity funnel.


def _stages(tried: Tried) -> pd.DataFrame:
    return pd.DataFrame(
        {"row": f"{found.pool} (n {found.n}) · {found.system}", "stage": stage.name,
         "share": stage.passed.rate, "lost here": stage.lost}
        for entry in tried.listed
        for found in funnels(entry.attempts)
        for stage in found.stages
        if stage.passed.rate is not None
    )  # fmt: skip


def stages(tried: Tried) -> Shown:
    """Return the runs that lose answers in validation, stage by stage (Table C.1)."""
    frame = _stages(tried)
    if frame.empty:
        return Shown(frame)
    lost = frame[frame["stage"].isin(GATES) & (frame["lost here"] > 0)]
    worst = "; ".join(
        f"{r['row']} loses {r['lost here']} at {r['stage']}" for r in lost.to_dict("records")[:8]
    )
    rows = list(dict.fromkeys(lost["row"]))[:MOST_ROWS]
    return Shown(frame[frame["row"].isin(rows)], {"worst": worst})


def clean(tried: Tried) -> list[Row]:
    """Count the runs that lose no answer."""
    frame = _stages(tried)
    if frame.empty:
        return []
    lost = frame[frame["stage"].isin(GATES)].groupby("row")["lost here"].sum()
    count = int((lost == 0).sum())
    return [{"count": count, "runs": len(lost)}] if count else []


# First contradictions.


def contradictions(tried: Tried) -> Shown:
    """Return which row first contradicts wrong answers, and how often such a row was shown."""
    induced = [entry for entry in tried.listed if POOLS[entry.suite].task == "induce"]
    asked = [entry for entry in tried.drawn(induced) if any(map(_wrong, entry.attempts))]
    counts = {
        (entry.suite, entry.system): Counter(_firsts(tried.view, entry))
        for entry in asked[:MOST_ROWS]
    }
    return Shown(pd.DataFrame(stacked(counts, FIRST)), {"replayed": tried.view.replayed})


def _wrong(attempt: Attempt) -> bool:
    return attempt.holds("valid") and not attempt.holds("heldout_exact")


def _firsts(view: View, entry: Entry) -> Iterator[str]:
    family: Any = entry.run.family
    for _, instance, trace in view.episodes(entry.run):
        episode = family.replay_episode(instance, trace.actions, trace.given, trace.evidence)
        if not isinstance(episode, ReplayEpisode) or episode.judged is None:
            continue
        candidate = episode.judged.candidate
        world = replace(episode.world, view=episode.view)
        first = None if candidate is None else first_contradiction(candidate, world)
        if first is None:
            continue
        if not first.pattern:
            yield FIRST[4]
        elif not first.heldout:
            yield FIRST[0]
        else:
            yield FIRST[1 if first.shown > 3 else 2 if first.shown else 3]
