"""What an episode's deployments were worth: whether the exact experimenter wins from them.

A lost fleet has one of two reasons: the deployments did not show enough, or they did and the wrong
thing was made of them. The exact experimenter's choice from the same deployments tells the two
apart. It is a yardstick, not a proof: no number of flights shows anything for certain, and it makes
no use of the history, from which somebody else may have learnt.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from whybench.episode.trace import Step, Trace
from whybench.families.causalgame.agents.agent_state import Trial, rows_of
from whybench.families.causalgame.agents.experimenter import choice
from whybench.families.causalgame.arguments import read_object
from whybench.families.causalgame.view import View, view
from whybench.families.causalgame.world.design import Design, design
from whybench.families.causalgame.world.world import World

Sort = Literal["won", "unshown", "inference", "experiments", "unwinnable", "no_fleet"]

SORTS: dict[Sort, str] = {
    "won": "won, and its deployments were enough for the exact experimenter to win too",
    "unshown": "won, though the exact experimenter would have lost from the same deployments",
    "inference": "lost, though the exact experimenter would have won from the same deployments",
    "experiments": "lost, and the exact experimenter would have lost from them too",
    "unwinnable": "lost where not even the best known design reaches the bar",
    "no_fleet": "no fleet flew",
}
"""To what an episode's end can be attributed."""

LARGEST = 10_000
"""Armour above this is read as this; only the released rules allow it."""


DRAWS, FEWER_DRAWS = 6, 3
"""So often the experimenter chooses, among other candidates each time, from all deployments and
from the first of them. Where flights say little its choice is a matter of luck: one drone is enough
for a win in half of the draws in some scenarios, but not in all draws."""


@dataclass(frozen=True, slots=True)
class FailureAttribution:
    """One episode, looked back at."""

    sort: Sort
    survival: float | None
    """The share of the fleet that came back; None if none flew."""
    exact: float
    """The share if the exact experimenter had chosen from the same deployments, at its worst."""
    sufficed: int | None
    """Steps after which it would have won, whatever its luck; None: it would not. Found by halving
    the deployments, so a lucky stretch before may have been passed over."""


def failure_attribution(
    world: World, trace: Trace, best: float, *, timed: bool = True
) -> FailureAttribution:
    """Look back at an episode; `best` is what the best known design reaches with this fleet.

    Without `timed` nobody looks for the step at which they sufficed, which takes longest.
    """
    told, bar = view(world), world.rules.threshold
    placed = deployments(world, trace.steps)
    trials = [trial for _, trial in placed]

    def worst(count: int, draws: int) -> float:
        """Return the least that the experimenter reaches from the first deployments."""
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
    """Return the share of the fleet that came back; None if none flew."""
    for step in trace.steps:
        found = step.observation.data.get("survival_rate")
        if step.action.name == "submit" and isinstance(found, int | float):
            return float(found)
    return None


def deployments(world: World, steps: Sequence[Step]) -> list[tuple[int, Trial]]:
    """Return the deployments as they were seen, each with the place of its step."""
    told, found = view(world), []
    for place, step in enumerate(steps):
        data, built = step.observation.data, design_of(world, step)
        if step.action.name == "deploy" and built is not None and data.get("deployed"):
            records = tuple(rows_of(data.get("results")))
            trial = Trial(_capped(built, told), data["deployed"], data.get("survived"), records)
            found.append((place, trial))
    return found


def design_of(world: World, step: Step) -> Design | None:
    """Return the design that a step built; None if it built none."""
    if step.observation.is_error or step.action.name not in ("deploy", "submit"):
        return None
    try:
        defs, equipment = (read_object(step.action.args, name) for name in ("design", "equipment"))
        return design(world.physics.sheet, defs, equipment, enforced=False)
    except ValueError:
        return None


def _capped(built: Design, told: View) -> Design:
    """Return a design whose armour the experimenter's arithmetic can hold."""
    most = max(LARGEST, told.def_range[1])
    return Design(tuple(min(value, most) for value in built.defs), built.equipment)
