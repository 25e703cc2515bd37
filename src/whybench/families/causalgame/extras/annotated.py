"""Annotated episodes: what the agent saw, flew, believed and submitted, and the result."""

from __future__ import annotations

from collections.abc import Sequence

from whybench.causal.canonical import Json, Record, thaw
from whybench.episode.annotated import AnnotatedEpisode, Moment
from whybench.episode.episode import INVALID_ACTION, INVALID_ANSWER, INVALID_FORMAT, TIMEOUT
from whybench.episode.instance import Instance
from whybench.episode.trace import Step, Trace
from whybench.families.causalgame.claims import Belief, beliefs, distance
from whybench.families.causalgame.drawn_claims import known_claims
from whybench.families.causalgame.extras.belief_graph import (
    believed,
    in_short,
    told_of,
    truth,
)
from whybench.families.causalgame.extras.step_descriptions import (
    SHOWN,
    built_of,
    did,
    saw,
    share_of,
)
from whybench.families.causalgame.family import CausalGame, best_of
from whybench.families.causalgame.prompts.wording import percent
from whybench.families.causalgame.proof.failure_attribution import (
    FailureAttribution,
    design_of,
    failure_attribution,
)
from whybench.families.causalgame.world.design import Design
from whybench.families.causalgame.world.world import World

SURVIVAL, DRONES, DISTANCE = "survival", "drones", "hypothesis distance"
NOTHING = "none"
"""Shown for an empty slot."""

ENDS = {
    INVALID_FORMAT: "too many replies could not be read",
    INVALID_ACTION: "too many requests were rejected",
    INVALID_ANSWER: "no design or report could be read",
    TIMEOUT: "too many looks changed nothing",
}

GROUNDS = {
    "understood": " Understood: its own flights of this design establish the win.",
    "lucky": " Lucky: its own flights of this design do not establish the win.",
    "premature": " Premature: its own flights of this design left the loss open.",
    "contradicted": " Contradicted: its own flights of this design had established the loss.",
}
"""Label → what the flights of the submitted design show."""


def annotated(family: CausalGame, instance: Instance, trace: Trace) -> AnnotatedEpisode:
    """Describe an episode step by step, with its designs beside the best known one."""
    world = family.world(instance)
    best, (best_rate, default_rate) = best_of(world), family.landmarks(instance)
    grounds = GROUNDS.get(family.score(instance, trace).labels["proof"] or "", "")
    seen = failure_attribution(world, trace, best_rate)
    moments = [
        _moment(world, step, given=place < trace.given) for place, step in enumerate(trace.steps)
    ]
    found = [held for step in trace.steps if (held := held_in(step)) is not None]
    last = found[-1] if found else None
    graph = truth(world)
    drawn = [*graph, *(arrow for moment in moments for arrow in moment.arrows or ())]
    return AnnotatedEpisode(
        verdict=_verdict(world, trace, seen, last) + grounds,
        moments=tuple(moments),
        nodes=tuple(dict.fromkeys(n for arrow in drawn for n in (arrow.cause, arrow.effect))),
        truth=graph,
        sufficed=seen.sufficed,
        notes=_notes(world, best, (best_rate, default_rate), last),
        targets=Record([*_figures(world, best), (SURVIVAL, best_rate), (DISTANCE, 0)]),
    )


def held_in(step: Step) -> tuple[Belief, ...] | None:
    """Return the beliefs recorded with a step; None if there are none."""
    given = step.action.args.get("beliefs")
    if step.observation.is_error or step.action.name not in ("deploy", "submit", "report"):
        return None
    try:
        return None if given is None or given == "" else beliefs(thaw(given))
    except ValueError:
        return None


def _moment(world: World, step: Step, *, given: bool) -> Moment:
    held, built, data = held_in(step), design_of(world, step), step.observation.data
    figures: list[tuple[str, Json]] = _figures(world, built) if built else []
    if built is not None and share_of(data) is not None:
        figures.append((SURVIVAL, share_of(data)))
    if step.action.name == "deploy" and built is not None:
        figures.append((DRONES, data.get("deployed")))
    known = known_claims(world)
    if held is not None and known:
        figures.append((DISTANCE, distance(known, held).total))
    return Moment(
        did=did(world, step, built, held or ()),
        saw=saw(step),
        error=step.observation.is_error,
        given=given,
        arrows=None if held is None else believed(world, held),
        figures=Record(figures),
    )


def _figures(world: World, built: Design) -> list[tuple[str, Json]]:
    sheet, chosen = world.physics.sheet, dict(built.equipment)
    slots = [*sheet.slots, *(name for name, switch in sheet.booleans.items() if switch.settable)]
    return [
        *zip(sheet.names, built.defs, strict=True),
        *((slot, str(chosen.get(slot, NOTHING))) for slot in slots),
    ]


# What to make of it.


def _verdict(
    world: World, trace: Trace, seen: FailureAttribution, last: Sequence[Belief] | None
) -> str:
    if seen.survival is None:
        why = ENDS.get(trace.outcome or "", "the episode was left open")
        return f"No fleet flew: {why}."
    bar, exact = percent(world.rules.threshold), percent(seen.exact)
    came = f"{percent(seen.survival)} of the fleet returned, the bar is {bar}"
    known = known_claims(world)
    knew = ""
    if last is not None and known:
        golden = sum(claim.golden for claim in known)
        off = distance(known, last)
        knew = f" Its beliefs include {golden - len(off.missing)} of {golden} true claims"
        knew += f" and {len(off.asserted)} false ones." if off.asserted else "."
    made = f"from the same deployments the exact agent reaches {exact}"
    reasons = {
        "won": "The exact agent would also have won from the same deployments.",
        "unshown": f"The deployments did not show enough for the exact agent: {made}.",
        "inference": f"Bad inference: {made}.",
        "experiments": f"Bad experiments: {made}.",
        "unwinnable": "No known design reaches the bar.",
    }
    said = "Won" if seen.sort in ("won", "unshown") else "Lost"
    return f"{said}: {came}. {reasons[seen.sort]}{knew}"


def _notes(
    world: World, best: Design, rates: tuple[float, float], last: Sequence[Belief] | None
) -> tuple[str, ...]:
    hidden, size = int((~world.history.kept).sum()), len(world.history)
    best_rate, default_rate = map(percent, rates)
    first = f"It brings back {best_rate} of this fleet, the default design {default_rate}."
    notes = [f"Best known design: {built_of(world, best)}. {first}"]
    if size:
        notes.append(f"{hidden} of {size} earlier flights have no record; all of them were lost.")
    if last is None:
        return tuple(notes)
    notes += told_of(world, last)
    drawn = {arrow.cause for arrow in believed(world, last)}
    besides = [short for b in last if (short := in_short(b)).partition(" → ")[0] not in drawn]
    if besides:
        more = "; …" if len(besides) > SHOWN else ""
        notes.append(f"Other beliefs, not judged: {'; '.join(besides[:SHOWN])}{more}.")
    return tuple(notes)
