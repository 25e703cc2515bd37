"""The correlational agent: it believes the visible records, and so falls into the trap.

It is naive but not careless. It uses all visible records, ignores hidden failures and adjusts for
nothing: it judges each lever by its own association with survival.

* Components: z of the Cochran-Armitage trend of survival over DEF, which is r·√n with Pearson's r.
  If more DEF looks good, it takes the highest DEF that was tried; if it looks bad, the lowest. A
  DEF that never varied keeps its default. If the design is over budget, the agent removes DEF from
  the components that look least good.
* Equipment: in each slot, the option with the best share of survivors, (s + 1) / (n + 2) of n
  records. An empty slot is an option if it was tried.

It flies its design once, in a small batch, ignores the result, and submits the design. Without
records it knows nothing about levers and keeps the default design.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from whybench.causal.seeds import Stream
from whybench.families.causalgame.agents.agent_state import Acting, AgentState, Past
from whybench.families.causalgame.view import View
from whybench.families.causalgame.world.design import Choice, Design
from whybench.families.causalgame.world.fleet import Bools, Floats, Ints
from whybench.families.causalgame.world.physics.flight import STATUS

BATCH = 10
"""Drones in the only deployment."""


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """Visible records as numbers."""

    designs: tuple[Design, ...]
    """The design of each record."""
    returned: Bools

    @property
    def defs(self) -> Ints:
        """Record × component."""
        return np.array([design.defs for design in self.designs], dtype=np.int64)


def sample(past: Past) -> Sample:
    """Return the visible records, each with its design."""
    return Sample(
        tuple(past.designs[str(row["design"])] for row in past.records),
        np.array([row["status"] == STATUS[1] for row in past.records], dtype=np.bool_),
    )


def trend(doses: Ints | Floats, returned: Bools | Floats) -> float:
    """Return z of the Cochran-Armitage trend of survival over a dose; 0 where nothing varies.

    >>> trend(np.array([0, 0, 5, 5]), np.array([False, False, True, True]))
    2.0
    """
    if len(doses) < 2:
        return 0.0
    x, y = doses - doses.mean(), returned - returned.mean()
    spread = math.sqrt(float(x @ x) * float(y @ y))
    return math.sqrt(len(x)) * float(x @ y) / spread if spread else 0.0


def recommended(view: View, past: Past) -> Design:
    """Return the design that the visible records seem to recommend."""
    seen = sample(past)
    if not seen.designs:
        return Design(view.defaults)
    looks = [trend(column, seen.returned) for column in seen.defs.T]
    low, high = view.def_range
    wanted = [
        _towards(z, default, column)
        for z, default, column in zip(looks, view.defaults, seen.defs.T, strict=True)
    ]
    wanted = [min(high, max(low, value)) for value in wanted]
    return Design(tuple(_affordable(view, wanted, looks)), tuple(_equipment(view, seen).items()))


def _towards(z: float, default: int, tried: Ints) -> int:
    if z == 0:
        return default
    return int(tried.max() if z > 0 else tried.min())


def _affordable(view: View, wanted: Sequence[int], looks: Sequence[float]) -> list[int]:
    """Remove DEF from the components that look least good until the budget holds."""
    found, over = list(wanted), sum(wanted) - view.total_def_budget
    for place in sorted(range(len(found)), key=lambda place: looks[place]):
        less = min(max(0, over), found[place] - view.def_range[0])
        found[place] -= less
        over -= less
    return found


def _equipment(view: View, seen: Sample) -> dict[str, Choice]:
    """Return the best-looking choice for each slot and switch, empty slots left out."""
    worn = [dict(design.equipment) for design in seen.designs]
    found: dict[str, Choice] = {}
    for slot in (*view.options, *view.switches):
        choices = [equipment.get(slot) for equipment in worn]
        best = max(dict.fromkeys(choices), key=lambda choice: _share(choices, choice, seen))
        if best is not None:
            found[slot] = best
    return found


def _share(choices: Sequence[Choice | None], choice: Choice | None, seen: Sample) -> float:
    alike = np.array([other == choice for other in choices])
    return (int(seen.returned[alike].sum()) + 1) / (int(alike.sum()) + 2)


def correlational(state: AgentState, rng: Stream) -> Acting[Design]:  # noqa: ARG001 - agents have one
    """Read the records, fly what they recommend once, and return it."""
    if state.given is not None:
        return recommended(state.view, _laid_out(state))
    past = yield from state.history()
    chosen = recommended(state.view, past)
    yield from state.deploy(chosen, min(BATCH, state.view.most_per_deploy, state.drones))
    return chosen


def _laid_out(state: AgentState) -> Past:
    """Return the given experiments as if they were the agent's history."""
    designs = {str(place): trial.design for place, trial in enumerate(state.trials)}
    rows = tuple(
        {**row, "design": str(place)}
        for place, trial in enumerate(state.trials)
        for row in trial.records
    )
    return Past(designs, rows)
