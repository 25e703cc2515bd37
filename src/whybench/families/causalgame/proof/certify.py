"""Check a published scenario: whether it is winnable, trapped and affordable.

Survival rates are estimated on fresh drones that no search and no episode has seen. "Winnable": the
bar lies far enough below the best known design that chance in one fleet does not matter. "Trapped":
the default design, every design of the history and the correlational agent's design stay below the
bar. "Affordable": the exact agent wins within the budget on most indices.

These are statistical claims; `docs/explanation/causalgame-proofs.md` says what is not shown.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from statistics import fmean, stdev

from whybench.causal.canonical import Json
from whybench.causal.seeds import Stream
from whybench.episode.instance import Instance
from whybench.families.causalgame.agents.agent_state import AgentState
from whybench.families.causalgame.agents.strategies import STRATEGIES, random_design
from whybench.families.causalgame.episode import DroneEpisode
from whybench.families.causalgame.parameters import Parameters
from whybench.families.causalgame.view import view
from whybench.families.causalgame.world.design import Design, design
from whybench.families.causalgame.world.drawn.hazards import Hazards
from whybench.families.causalgame.world.generate import built, world
from whybench.families.causalgame.world.physics.catalogue import physics as physics_named
from whybench.families.causalgame.world.physics.flight import survival
from whybench.families.causalgame.world.physics.physics import Physics
from whybench.families.causalgame.world.scenario import Blueprint, Rules
from whybench.families.causalgame.world.world import World

DRONES_BEST = 400_000
"""Fresh drones on which the best known design is estimated."""
DRONES = 50_000
"""Fresh drones for every other design."""
RANDOM_DESIGNS, DRONES_RANDOM = 100, 1_000
SEEDS = 200
"""Number of instances over which agents' wins are counted."""
HYPOTHESES = (
    "any system in which a design and the circumstances of a flight decide, by chance, who returns"
)
BEATEN_BY = 3
"""Number of standard errors by which a better design refutes the best known one."""
LEAST_WINS = 0.8
MOST_TRAPPED = 0.2
"""Minimum wins of the exact agent, and maximum wins of the correlational agent."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A survival rate on fresh drones."""

    rate: float
    drones: int

    @property
    def error(self) -> float:
        """Its standard error."""
        return math.sqrt(self.rate * (1 - self.rate) / self.drones)


@dataclass(frozen=True, slots=True)
class Wins:
    """An agent's results over many instances."""

    rate: float
    """Share of instances that it won."""
    survival: float
    """Mean survival of its fleets."""
    above_best: float
    """Mean difference from the best known design's survival, in standard errors."""


@dataclass(frozen=True, slots=True)
class Proof:
    """The figures of a scenario, and its flaws."""

    bar: float
    best_known: Estimate
    default: Estimate
    trap: Estimate
    intended: Estimate
    history: tuple[Estimate, ...]
    random: Estimate
    exact: Wins
    correlational: Wins

    @property
    def margin(self) -> float:
        """How far the bar lies below the best known design."""
        return self.best_known.rate - self.bar

    @property
    def winnable(self) -> bool:
        """Whether the bar is not above the best known design."""
        return self.margin >= 0.0

    @property
    def trapped(self) -> bool:
        """Whether no design that needs no experiment wins."""
        known = (self.default, *self.history)
        return (
            all(estimate.rate < self.bar for estimate in known)
            and self.correlational.survival < self.bar
            and self.correlational.rate <= MOST_TRAPPED
        )

    @property
    def affordable(self) -> bool:
        """Whether the exact agent wins often enough."""
        return self.exact.rate >= LEAST_WINS

    @property
    def beaten(self) -> bool:
        """Whether some design is better than the best known one."""
        others = (self.default, self.trap, self.intended, *self.history)
        return self.exact.above_best > BEATEN_BY or any(
            other.rate - self.best_known.rate
            > BEATEN_BY * math.hypot(other.error, self.best_known.error)
            for other in others
        )

    def flaws(self) -> tuple[str, ...]:
        """Return the reasons why the scenario fails."""
        found = {
            f"not winnable: the best known design within the limits reaches "
            f"{self.best_known.rate:.1%}, the bar is {self.bar:.1%}": not self.winnable,
            "not trapped: a design that needs no experiment wins": not self.trapped,
            f"not affordable: the exact agent wins {self.exact.rate:.0%} of instances": (
                not self.affordable
            ),
            "a design beats the best known design": self.beaten,
        }
        return tuple(flaw for flaw, is_so in found.items() if is_so)

    def facts(self) -> dict[str, Json]:
        """Return the figures by name."""
        return {
            "bar": self.bar,
            "best_known": self.best_known.rate,
            "best_known_error": self.best_known.error,
            "margin": self.margin,
            "winnable": self.winnable,
            "trapped": self.trapped,
            "affordable": self.affordable,
            "default": self.default.rate,
            "trap": self.trap.rate,
            "intended": self.intended.rate,
            "history_best": max((e.rate for e in self.history), default=None),
            "random": self.random.rate,
            "exact_wins": self.exact.rate,
            "exact_survival": self.exact.survival,
            "correlational_wins": self.correlational.rate,
            "correlational_survival": self.correlational.survival,
        }


def proof(scenario: str, rules: Rules, seed: str, seeds: int = SEEDS) -> Proof:
    """Compute the figures of a scenario."""
    physics = physics_named(rules.physics)
    first = world(scenario, rules, seed, 0)
    best = best_design(rules.physics)

    def fresh(design: Design, drones: int = DRONES) -> Estimate:
        return estimate(rules.physics, design, drones)

    return Proof(
        bar=rules.threshold,
        best_known=fresh(best, DRONES_BEST),
        default=fresh(default_design(physics)),
        trap=fresh(built(physics, rules.trap)),
        intended=fresh(built(physics, rules.intended)),
        history=tuple(fresh(design) for design in first.history.designs),
        random=_random(first),
        exact=wins(scenario, rules, seed, "exact", seeds),
        correlational=wins(scenario, rules, seed, "correlational", seeds),
    )


@cache
def best_design(physics: str) -> Design:
    """Return the best design that any search has found for a physics."""
    raw = json.loads((files(__package__ or "") / "best_known.json").read_text("utf-8"))
    return built(physics_named(physics), Blueprint.model_validate(raw["designs"][physics]))


def default_design(physics: Physics | Hazards) -> Design:
    """Return the default design."""
    return design(physics.sheet)


@cache
def estimate(physics: str, design: Design, drones: int) -> Estimate:
    """Return a design's survival under the fleet's conditions, on fresh drones."""
    stream = Stream("causalgame", "certify", physics, drones)
    return Estimate(survival(physics_named(physics), design, "stage2", stream, drones), drones)


def _random(first: World) -> Estimate:
    """Return the mean survival of random designs."""
    rng = Stream("causalgame", "certify", "random")
    told = view(first)
    rates = [
        estimate(first.physics.name, random_design(told, rng), DRONES_RANDOM).rate
        for _ in range(RANDOM_DESIGNS)
    ]
    return Estimate(fmean(rates), RANDOM_DESIGNS * DRONES_RANDOM)


def wins(scenario: str, rules: Rules, seed: str, agent: str, seeds: int) -> Wins:
    """Let an agent play many instances, and the best known design fly the same fleets."""
    best = best_design(rules.physics)
    reached, above = [], []
    for index in range(seeds):
        here = world(scenario, rules, seed, index)
        rate = here.final(chosen(here, agent)).survival_rate
        reached.append(rate)
        above.append(rate - here.final(best).survival_rate)
    spread = stdev(above)
    return Wins(
        rate=fmean(rate >= rules.threshold for rate in reached),
        survival=fmean(reached),
        above_best=fmean(above) / (spread / math.sqrt(seeds)) if spread else 0.0,
    )


def chosen(world: World, agent: str) -> Design:
    """Let an agent explore a hidden system, and return the design that it would submit."""
    bare = Instance("", "", world.scenario, "published", "", 0)
    episode = DroneEpisode(bare, world, Parameters())
    acting = STRATEGIES[agent](AgentState(view(world)), agent_rng(world, agent))
    try:
        action = next(acting)
        while True:
            action = acting.send(episode.step(action))
    except StopIteration as end:
        found: Design = end.value
        return found


def agent_rng(world: World, agent: str) -> Stream:
    """Return an agent's own random stream for a hidden system."""
    return Stream("agent", agent, world.scenario, *world.path)
