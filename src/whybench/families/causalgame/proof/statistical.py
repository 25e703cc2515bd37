"""Certificates of drawn systems: exact facts about survival, and a lower bound on flights.

The law gives the survival of every design in closed form, so the best design, the runner-up (the
best corner with one live part or the option wrong) and their chances with the fleet (binomial) are
exact. Rates of agents are not: `proof` measures them on a suite, with intervals.

Lower bound. An alternative is a system of the stated class in which no design wins that wins here:
the moody part reversed, a protecting and a harmful part exchanged, or another option right. Let a
procedure submit a winning design with probability 1 − ε in this system and in its alternatives.
Then, for each alternative, the flights that it expects to make carry at least kl(1 − ε, ε) of
Kullback-Leibler divergence (Kaufmann, Cappé and Garivier, 2016). Averaged over alternatives with
any weights, one flight carries at most the largest mean divergence of a design. The divergence is
convex in the DEF of each part, so corners are enough. Every choice of weights gives a valid bound;
the weights solve the dual of the game between designs and alternatives. The bound holds for
procedures that learn from their deployments and from questions, not from the records.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

import numpy as np

from whybench.causal.canonical import Json
from whybench.episode.certificate import SuiteProof
from whybench.episode.episode import play
from whybench.episode.family import Suite
from whybench.episode.instance import Instance
from whybench.families.causalgame.agents.agent_state import AgentState, Past
from whybench.families.causalgame.agents.correlational import recommended
from whybench.families.causalgame.agents.design_space import Floats
from whybench.families.causalgame.episode import DroneEpisode
from whybench.families.causalgame.parameters import Parameters
from whybench.families.causalgame.view import view
from whybench.families.causalgame.world.design import Design
from whybench.families.causalgame.world.drawn.hazards import (
    Hazards,
    best_design,
    corner,
    hazard,
    live_corners,
)
from whybench.families.causalgame.world.world import World

HYPOTHESES = (
    "independent hazards in two strata: parts that protect, harm, do nothing or depend on the "
    "stratum, in stated numbers and ranges, and one slot with one right option"
)
ERROR = 0.05
DECIMALS = 6
"""Number of decimals of the alternatives' weights."""
LEAST_WINS, MOST_TRAPPED = 0.8, 0.1
"""Minimum wins of the exact agent, and maximum wins of the correlational agent. A suite has a flaw
if the whole interval is beyond."""


def facts(world: World, physics: Hazards) -> dict[str, Json]:
    """Return the exact facts about a drawn system."""
    best, rules = best_design(physics), world.rules
    reached = physics.survival(best, "stage2")
    second = max(_runners_up(physics, best).values())
    advised = recommended(view(world), past(world)) if world.history.designs else None
    weights, flights = lower_bound(world, physics, best)
    return {
        "best_design": _told(physics, best),
        "best_survival": reached,
        "runner_up_survival": second,
        "p_win_best": p_win(reached, rules.threshold, rules.fleet_size),
        "p_win_runner_up": p_win(second, rules.threshold, rules.fleet_size),
        "winning_share": winning_share(world, physics),
        "recommended_by_records": None if advised is None else _told(physics, advised),
        "recommended_survival": None if advised is None else physics.survival(advised, "stage2"),
        "alternative_weights": weights,
        "flights_lower_bound": flights,
    }


def _told(physics: Hazards, design: Design) -> Json:
    return {
        "defs": dict(zip(physics.sheet.names, design.defs, strict=True)),
        "equipment": dict(design.equipment),
    }


def past(world: World) -> Past:
    """Return the records as an agent reads them."""
    episode = DroneEpisode(
        Instance("", "", world.scenario, "certified", "", 0), world, Parameters()
    )
    acting = AgentState(episode.view).history()
    try:
        acting.send(episode.step(next(acting)))
    except StopIteration as end:
        found: Past = end.value
        return found
    raise RuntimeError("one look shows all records")


def p_win(survival: float, bar: float, fleet: int) -> float:
    """Return the exact probability that enough of a fleet returns.

    >>> p_win(0.5, 0.5, 3)
    0.5
    """
    from scipy.special import bdtrc  # heavy, and only certificates need it

    fewest = next(count for count in range(fleet + 1) if count / fleet >= bar)
    return 1.0 if fewest == 0 else float(bdtrc(fewest - 1, fleet, survival))


def winning_share(world: World, physics: Hazards) -> float:
    """Return the share of corners within the budget whose survival reaches the bar."""
    names, (_, high) = physics.sheet.names, physics.sheet.def_range
    full = [
        frozenset(name for name, on in zip(names, chosen, strict=True) if on)
        for chosen in product((False, True), repeat=len(names))
        if sum(chosen) * high <= physics.sheet.total_def_budget
    ]
    rates = [
        physics.survival(corner(physics, parts, option), "stage2")
        for parts in full
        for option in physics.options
    ]
    return sum(rate >= world.rules.threshold for rate in rates) / len(rates)


def _runners_up(physics: Hazards, best: Design) -> dict[str, float]:
    """Return the best survival with each live part wrong, and with each wrong option."""
    rates = {design: physics.survival(design, "stage2") for design in live_corners(physics)}
    found = {
        part: max(
            rate
            for design, rate in rates.items()
            if physics.share(design, part) != physics.share(best, part)
        )
        for part in physics.parts
    }
    return found | {
        option: max(rate for design, rate in rates.items() if physics.option(design) == option)
        for option in physics.options
        if option != physics.option(best)
    }


def alternatives(world: World, physics: Hazards, best: Design) -> dict[str, Hazards]:
    """Return systems of the stated class in which no design wins that wins here, by what differs.

    The moody part is reversed, a protecting and a harmful part change places, or another option is
    right. Let x be the share of DEF of such a part. Survival here is at most a line in x from `own`
    to the best, in the alternative at most one from the best to `other`: survival is convex in x if
    the rest of the design is chosen for x. If the lines cross below the bar, none wins in both.
    """
    top, second = physics.survival(best, "stage2"), _runners_up(physics, best)
    found = {}
    for name, here, there, alternative in _changed(physics, best):
        own, other = second[here], _runners_up(alternative, best_design(alternative))[there]
        if (top * top - own * other) / (2 * top - own - other) < world.rules.threshold:
            found[name] = alternative
    return found


def _changed(physics: Hazards, best: Design) -> Iterator[tuple[str, str, str, Hazards]]:
    """Yield the name of a change, what is wrong here and in the changed system, and the latter."""
    parts, options, moody = physics.parts, physics.options, physics.moody
    rough, calm = parts[moody]
    reverse = parts | {moody: (-rough, -calm)}
    yield moody, moody, moody, physics.model_copy(update={"parts": reverse})
    for one, other in product(parts, repeat=2):
        if (physics.roles[one], physics.roles[other]) == ("protects", "harms"):
            swapped = parts | {one: parts[other], other: parts[one]}
            yield f"{one}+{other}", one, one, physics.model_copy(update={"parts": swapped})
    right = physics.option(best)
    for name in options:
        if name != right:
            changed = options | {name: options[right], right: options[name]}
            yield name, name, right, physics.model_copy(update={"options": changed})


def results(world: World, physics: Hazards, design: Design) -> Floats:
    """Return the probability of each result of one flight in exploration, as records show it.

    A result is: returned or lost on record, with the stratum as recorded and whether the moody part
    was active; or lost without a record.
    """
    keep, active = world.rules.keep_failed, physics.share(design, physics.moody)
    rough, own = physics.rough["stage1"], physics.parts[physics.moody]
    others = physics.chances(design, without=physics.moody)
    found = np.zeros((2, 2, 2))
    for stratum, share in enumerate((rough, 1 - rough)):
        for on, chance in enumerate((1 - active, active)):
            back = others[stratum] * (1 - hazard(own[stratum], float(on)))
            for fate, part in enumerate((1 - back, back)):
                seen = share * chance * part
                found[fate, on, stratum] += seen * (1 - physics.misread)
                found[fate, on, 1 - stratum] += seen * physics.misread
    if not physics.shown:
        found = found.sum(axis=-1, keepdims=True)
    return np.concatenate(
        (found[1].ravel(), keep * found[0].ravel(), [(1 - keep) * found[0].sum()])
    )


def divergence(here: Floats, there: Floats) -> float:
    """Return the Kullback-Leibler divergence of two distributions, in nats."""
    some = here > 0
    return float((here[some] * np.log(here[some] / there[some])).sum())


def lower_bound(world: World, physics: Hazards, best: Design) -> tuple[dict[str, float], float]:
    """Return weights of the alternatives, and the flights that any reliable procedure needs."""
    from scipy.optimize import linprog  # heavy, and only certificates need it

    others = alternatives(world, physics, best)
    if not others:
        return {}, 0.0
    told = np.array(
        [
            [
                divergence(results(world, physics, design), results(world, alternative, design))
                for alternative in others.values()
            ]
            for design in live_corners(physics)
        ]
    )
    count = len(others)
    solved = linprog(
        [0.0] * count + [1.0],
        A_ub=np.column_stack((told, -np.ones(len(told)))),
        b_ub=np.zeros(len(told)),
        A_eq=[[1.0] * count + [0.0]],
        b_eq=[1.0],
    )
    weights = np.round(np.maximum(solved.x[:count], 0.0), DECIMALS)
    weights /= weights.sum()
    needed = (1 - 2 * ERROR) * math.log((1 - ERROR) / ERROR)
    flights = needed / float((told @ weights).max())
    return dict(zip(others, weights.tolist(), strict=True)), flights


# Suites.


def proof(suite: Suite) -> SuiteProof:
    """Measure how often agents win on a suite; controls claim nothing about their records."""
    from whybench.stats.interval import rate_interval  # heavy, and only proofs of suites need it

    family, instances = suite.family, list(suite)
    worlds: list[World] = [family.world(instance) for instance in instances]
    control = "_no_" in suite.name
    figures: dict[str, Json] = {}
    flaws: list[tuple[str, str]] = []
    for agent in ("exact", "correlational"):
        wins = []
        for instance in instances:
            episode: Any = family.open(instance)
            play(episode, family.agent(agent, instance))
            wins.append(float(episode.won))
        rate = rate_interval(wins)
        figures[f"{agent}_wins"] = {"rate": rate.estimate, "low": rate.low, "high": rate.high}
        if agent == "exact" and rate.high < LEAST_WINS:
            flaws.append((suite.name, f"the exact agent wins {rate.estimate:.0%} of instances"))
        if agent == "correlational" and not control and rate.low > MOST_TRAPPED:
            flaws.append((suite.name, f"what the records recommend wins {rate.estimate:.0%}"))
    figures |= misled(worlds)
    return SuiteProof(figures, tuple(flaws))


def misled(worlds: list[World]) -> Mapping[str, Json]:
    """Return how often the records recommend a design whose survival is below the bar."""
    lost = [
        world.physics.survival(recommended(view(world), past(world)), "stage2")
        < world.rules.threshold
        for world in worlds
        if isinstance(world.physics, Hazards) and world.history.designs
    ]
    return {"records_mislead": sum(lost) / len(lost) if lost else None}
