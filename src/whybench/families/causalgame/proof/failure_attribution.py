"""Attribute a lost fleet by what the exact agent reaches from the same deployments.

A lost fleet has one of two reasons. Either the deployments did not show enough, or the agent drew
the wrong conclusion from them. The exact agent's choice from the same deployments distinguishes the
two. It is a comparison, not a proof: no number of flights makes anything certain. It does not use
the history, from which another agent may have learned.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from whybench.episode.trace import Step, Trace
from whybench.families.causalgame.agents import experimenter, particles
from whybench.families.causalgame.agents.agent_state import Trial, rows_of
from whybench.families.causalgame.arguments import read_object
from whybench.families.causalgame.view import View, view
from whybench.families.causalgame.world.design import Design, design
from whybench.families.causalgame.world.world import World

Sort = Literal["won", "unshown", "inference", "experiments", "unwinnable", "no_fleet"]

SORTS: dict[Sort, str] = {
    "won": "won, and the exact agent would also have won from the same deployments",
    "unshown": "won, although the exact agent would have lost from the same deployments",
    "inference": "lost, although the exact agent would have won from the same deployments",
    "experiments": "lost, and the exact agent would also have lost from the same deployments",
    "unwinnable": "lost, but even the best known design does not reach the bar",
    "no_fleet": "no fleet flew",
}
"""The categories to which an episode can be attributed."""

LARGEST = 10_000
"""Larger DEF is read as this value; only the released rules allow it."""


DRAWS, FEWER_DRAWS = 6, 3
"""How often the exact agent chooses, among other candidates each time, from all deployments and
from the first of them. If flights say little, its choice is a matter of chance: in some scenarios
one drone is enough for a win in half of the draws, but not in all draws."""


@dataclass(frozen=True, slots=True)
class FailureAttribution:
    """The attribution of one episode."""

    sort: Sort
    survival: float | None
    """The share of the fleet that returned; None if none flew."""
    exact: float
    """The lowest share that the exact agent reaches from the same deployments."""
    sufficed: int | None
    """Number of steps after which the exact agent would have won in every draw; None if never.
    Found by bisection over the deployments, so an earlier lucky stretch may be missed."""


def failure_attribution(
    world: World, trace: Trace, best: float, *, timed: bool = True
) -> FailureAttribution:
    """Attribute an episode; `best` is the best known design's survival with this fleet.

    Without `timed`, the step after which the deployments sufficed is not searched, because that
    takes longest.
    """
    told, bar = view(world), world.rules.threshold
    choice = particles.choice if told.law else experimenter.choice
    placed = deployments(world, trace.steps)
    trials = [trial for _, trial in placed]

    def worst(count: int, draws: int) -> float:
        """Return the lowest survival that the exact agent reaches from the first deployments."""
        least = 1.0
        for draw in range(draws):
            found = world.final(choice(told, trials[:count], *([draw] if draw else [])))
            least = min(least, found.survival_rate)
            if least < bar:
                break
        return least

    exact = worst(len(trials), DRAWS)
    enough = exact >= bar
    sufficed = None
    if enough and timed:
        low, high = 0, len(trials)
        while low < high:
            middle = (low + high) // 2
            won = worst(middle, FEWER_DRAWS) >= bar
            low, high = (low, middle) if won else (middle + 1, high)
        sufficed = placed[high - 1][0] + 1 if high else 0
    rate = fleet_rate(trace)
    return FailureAttribution(_sort(rate, bar, best, enough), rate, exact, sufficed)


def _sort(rate: float | None, bar: float, best: float, enough: bool) -> Sort:
    if rate is None:
        return "no_fleet"
    if rate >= bar:
        return "won" if enough else "unshown"
    if enough:
        return "inference"
    return "unwinnable" if best < bar else "experiments"


def fleet_rate(trace: Trace) -> float | None:
    """Return the share of the fleet that returned; None if none flew."""
    for step in trace.steps:
        found = step.observation.data.get("survival_rate")
        if step.action.name == "submit" and isinstance(found, int | float):
            return float(found)
    return None


def deployments(world: World, steps: Sequence[Step]) -> list[tuple[int, Trial]]:
    """Return the deployments as the agent saw them, each with the index of its step."""
    told, found = view(world), []
    for place, step in enumerate(steps):
        data, built = step.observation.data, design_of(world, step)
        if step.action.name == "deploy" and built is not None and data.get("deployed"):
            records = tuple(rows_of(data.get("results")))
            trial = Trial(_capped(built, told), data["deployed"], data.get("survived"), records)
            found.append((place, trial))
    return found


def design_of(world: World, step: Step) -> Design | None:
    """Return the design of a step; None if it has none."""
    if step.observation.is_error or step.action.name not in ("deploy", "submit"):
        return None
    try:
        defs, equipment = (read_object(step.action.args, name) for name in ("design", "equipment"))
        return design(world.physics.sheet, defs, equipment, enforced=False)
    except ValueError:
        return None


def _capped(built: Design, told: View) -> Design:
    """Return a design with DEF capped to what the exact agent's arithmetic can represent."""
    most = max(LARGEST, told.def_range[1])
    return Design(tuple(min(value, most) for value in built.defs), built.equipment)
