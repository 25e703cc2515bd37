"""Describe the result of an episode: right or wrong, understood or lucky, and why."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from whybench.causal.canonical import Record
from whybench.episode.episode import ANSWERED
from whybench.episode.score import Score
from whybench.families.causalab.episode import LabEpisode
from whybench.families.causalab.numbers import shown
from whybench.families.causalab.proof.ambiguity import Pairs
from whybench.families.causalab.world.world import World

MOST = 5
"""Maximum number of items shown of a list."""

Trajectory = Iterable[Mapping[str, Any] | Record]
"""A score's label `trajectory`: every hypothesis, with the number of interventions before it."""


def verdict(episode: LabEpisode, score: Score) -> str:
    """Return the result of an episode in one sentence."""
    values, target = score.values, shown(episode.world.target)
    if score.outcome != ANSWERED:
        return f"No prediction ({score.outcome.replace('_', ' ')}); the frequency is {target}."
    off = int(values["shd"])
    graph = "the right graph" if not off else f"a graph with {off} wrong edge{'s' * (off > 1)}"
    free = episode.evidence == "own" and episode.view.budget > 0
    if values["without_mechanism"]:
        luck = "" if values["inferable"] else ", and lucky"
        why = _blame(values["graph_bad_inference"], "the graph", free)
        return f"Right frequency without the mechanism{luck}: {graph}; {why}."
    if values["accuracy"]:
        sure = "forced by the evidence" if _known(values) else "not forced by the evidence: lucky"
        return f"Right frequency and {graph}, {sure}."
    said = shown(episode.prediction or 0.0)
    if not values["bad_experiments"] and not values["bad_inference"]:
        return f"Predicted {said}, which is right, but the reactor's dial cannot be set to it."
    why = _blame(values["bad_inference"], "the right frequency", free)
    return f"Wrong frequency ({said} instead of {target}) with {graph}; {why}."


def _known(values: Record) -> bool:
    """Tell whether the evidence forced the answer; given evidence must force the frequency."""
    early = values["stopped_early"]
    return bool(values["inferable"]) if early is None else not early


def _blame(inference: float, what: str, free: bool) -> str:
    if inference:
        return f"bad inference, because the data forced {what}"
    return f"{'bad experiments' if free else 'too little data'}: {what} was not forced"


def notes(episode: LabEpisode, score: Score, after: int | None, unsettled: Pairs) -> Iterator[str]:
    """Yield further notes; `after` is the number of interventions that forced everything."""
    world, view = episode.world, episode.view
    yield _beforehand(world)
    moved = world.disturbance
    if moved is not None:
        where = listed(name for v, name in enumerate(view.names) if moved.affected >> v & 1)
        yield f"Every intervention drew a hidden shift of up to {view.disturbance:g}: {where}."
    if unsettled:
        pairs = listed(f"{view.names[a]} → {view.names[b]}" for a, b in sorted(unsettled))
        yield f"No experiment decides these edges, so they do not count: {pairs}."
    if after is None:
        yield "The evidence never forced every equation."
    else:
        yield f"Every equation was forced after {after} of {_times(episode.used)}."
    held = held_since(score.labels.get("trajectory", ()))
    if held is not None and held < episode.used and episode.evidence == "own":
        early = score.values["stopped_early"] == 1 or (after is not None and held < after)
        when = ", before the evidence forced it" if early else ""
        yield f"Its final graph did not change after {_times(held)}{when}."
    if score.values["final_consistent"] == 0:
        yield "Its last hypothesis contradicts its own data."
    if score.values["sent_back"]:
        yield f"Rejected hypotheses: {score.values['sent_back']:g}."


def held_since(trajectory: Trajectory) -> int | None:
    """Return the number of interventions after which the graph no longer changed.

    >>> steps = [(0, "a>b"), (2, "b>a"), (3, None), (5, "b>a")]
    >>> held_since([{"after": after, "edges": edges} for after, edges in steps])
    2
    """
    read = [step for step in trajectory if step["edges"] is not None]
    found: int | None = None
    for step in reversed(read):
        if step["edges"] != read[-1]["edges"]:
            break
        found = int(step["after"])
    return found


def listed(items: Iterable[str]) -> str:
    """Join items with commas; a long list is cut."""
    every = list(items)
    return ", ".join(every[:MOST]) + (" …" if len(every) > MOST else "")


def _times(interventions: int) -> str:
    return f"{interventions} intervention{'s' * (interventions != 1)}"


def _beforehand(world: World) -> str:
    view = world.view
    passive = sum(record.passive for record in view.records)
    chain = len(view.records) - passive
    more = f", a chain of {_times(chain)} on one of them" if chain else ""
    return (
        f"Before the first step: {passive} crystal{'s' * (passive != 1)} measured without "
        f"intervention{more}, and the crystal to experiment on; budget {view.budget}."
    )
