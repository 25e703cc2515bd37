"""Check the certificate of a drawn system: drone by drone, and by brute force over corners.

Nothing is shared with the prover and with the methods of the physics: the law is written again, one
drone and one design at a time. The lower bound is checked from its stored weights, because every
choice of weights gives a valid bound.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from math import isclose
from typing import Any

from whybench.causal.canonical import Json
from whybench.causal.seeds import Stream
from whybench.families.causalgame.world.drawn.hazards import Hazards
from whybench.families.causalgame.world.world import World
from whybench.families.claims import differences, unknown

HYPOTHESES = (
    "independent hazards in two strata: parts that protect, harm, do nothing or depend on the "
    "stratum, in stated numbers and ranges, and one slot with one right option"
)
SILENT = ("identified", "bits", "fewest", "minimax", "minimax_upper", "witness")
NEEDED = 0.9 * math.log(19)
"""Divergence between an event of probability 95 % and one of 5 %."""
STEPS = 10
"""Number of steps between the ends of a part, to look for a design that wins in both systems."""

Setting = tuple[Mapping[str, float], str]
"""The share of the maximal DEF of each part, and the option."""


def flaws(world: World, physics: Hazards, stored: Mapping[str, Any]) -> list[str]:
    """Return the errors of a certificate."""
    facts, rules = stored["facts"], world.rules
    strange = _strange(physics, facts)
    if strange:
        return strange
    rates = {_key(one): _survival(physics, one) for one in _corners(physics)}
    most = max(rates.values())
    best = _read(physics, facts["best_design"])
    advised = facts["recommended_by_records"]
    default = {n: p.default_def / _top(physics) for n, p in physics.sheet.components.items()}
    usual = (default, next(iter(physics.sheet.slots.values())).default)
    second = _second(physics, best)
    figures: dict[str, Json] = {
        "bar": rules.threshold,
        "fleet_best": _flown(world, physics, best),
        "fleet_default": _flown(world, physics, usual),
        "best_survival": most,
        "runner_up_survival": second,
        "p_win_best": _p_win(most, rules.threshold, rules.fleet_size),
        "p_win_runner_up": _p_win(second, rules.threshold, rules.fleet_size),
        "winning_share": sum(rate >= rules.threshold for rate in rates.values()) / len(rates),
        "recommended_survival": None
        if advised is None
        else _survival(physics, _read(physics, advised)),
    }
    won = figures["fleet_best"] >= rules.threshold
    expected: dict[str, Json] = {
        "hypotheses": HYPOTHESES,
        "status": "statistical",
        "solvable": won,
        "best_score": 1.0 if won else None,
        **dict.fromkeys(SILENT),
    }
    found = differences(stored, expected) + differences(facts, figures, "facts.")
    if not isclose(_survival(physics, best), most):
        found.append(f"facts.best_design: its survival is {_survival(physics, best)}, not {most}")
    found += _bound_flaws(world, physics, facts)
    reached = facts.get("fleet_exact")
    found += bounded(stored["exact_steps"], reached, world)
    rest = ("best_design", "recommended_by_records", "alternative_weights", "flights_lower_bound")
    known = {**figures, "fleet_exact": reached, **{name: facts[name] for name in rest}}
    return found + unknown(facts, known, "facts.")


def _strange(physics: Hazards, facts: Mapping[str, Any]) -> list[str]:
    """Return what cannot be read as a design or an alternative of this system."""
    found = []
    advised = facts.get("recommended_by_records")
    for name in ("best_design", "recommended_by_records"):
        told = facts.get(name)
        if not (name != "best_design" and told is None) and not _is_design(physics, told):
            found.append(f"facts.{name}: {told!r} is no design of this system")
    if (advised is None) != (facts.get("recommended_survival") is None):
        found.append("facts.recommended_survival: it does not fit the recommended design")
    weights, flights = facts.get("alternative_weights"), facts.get("flights_lower_bound")
    if not isinstance(weights, Mapping) or not all(_in_class(physics, name) for name in weights):
        found.append(
            f"facts.alternative_weights: {weights!r} names no alternatives of the stated class"
        )
    elif not all(isinstance(weight, float) for weight in (*weights.values(), flights)):
        found.append("facts.alternative_weights, facts.flights_lower_bound: they are no numbers")
    return found


def _is_design(physics: Hazards, told: Any) -> bool:
    low, high = physics.sheet.def_range
    try:
        defs, options = told["defs"], list(told["equipment"].values())
        inside = all(low <= value <= high for value in defs.values())
        return bool(
            inside and list(defs) == list(physics.sheet.components) and len(options) == 1
        ) and (options[0] in physics.options)
    except (TypeError, KeyError, AttributeError):
        return False


def bounded(steps: Json, reached: Json, world: World) -> list[str]:
    """Return what is impossible about the exact agent's figures."""
    rules, found = world.rules, []
    if not isinstance(steps, int | float) or not 0 <= steps <= rules.deploys or steps % 1:
        found.append(f"exact_steps: {steps!r} is stored, the budget is {rules.deploys} deployments")
    size = rules.fleet_size
    if not isinstance(reached, float) or not any(
        isclose(reached, back / size) for back in range(size + 1)
    ):
        found.append(f"facts.fleet_exact: {reached!r} is no share of {size} drones")
    return found


# The law again.


def _top(physics: Hazards) -> int:
    return physics.sheet.def_range[1]


def _read(physics: Hazards, told: Mapping[str, Any]) -> Setting:
    option = next(iter(told["equipment"].values()))
    return {name: value / _top(physics) for name, value in told["defs"].items()}, str(option)


def _key(setting: Setting) -> tuple[object, ...]:
    return (*setting[0].values(), setting[1])


def _corners(physics: Hazards) -> Iterator[Setting]:
    names, budget = list(physics.sheet.components), physics.sheet.total_def_budget
    for ends in product((0.0, 1.0), repeat=len(names)):
        if sum(ends) * _top(physics) <= budget:
            for option in physics.options:
                yield dict(zip(names, ends, strict=True)), option


def _lost(own: float, share: float) -> float:
    return max(own, 0.0) * share + max(-own, 0.0) * (1 - share)


def _chance(physics: Hazards, setting: Setting, stratum: int, leave_out: str = "") -> float:
    shares, option = setting
    chance = (
        physics.survives[stratum] - physics.survives[stratum] * physics.options[option][stratum]
    )
    for name, pair in physics.parts.items():
        if name != leave_out:
            chance -= chance * _lost(pair[stratum], shares[name])
    return chance


def _survival(physics: Hazards, setting: Setting) -> float:
    rough = physics.rough["stage2"]
    return rough * _chance(physics, setting, 0) + (1 - rough) * _chance(physics, setting, 1)


def _flown(world: World, physics: Hazards, setting: Setting) -> float:
    """Fly the fleet drone by drone; a row is stratum, misread, active, moody, others, unused."""
    size, rough = world.rules.fleet_size, physics.rough["stage2"]
    moody = next(name for name, role in physics.roles.items() if role == "moody")
    numbers = Stream(*world.path, "fleet").uniforms(size * 6).tolist()
    chances = [_chance(physics, setting, stratum, moody) for stratum in (0, 1)]
    back = 0
    for drone in range(size):
        met, _, lit, struck, fate, _ = numbers[6 * drone : 6 * drone + 6]
        stratum = 0 if met < rough else 1
        own, active = physics.parts[moody][stratum], lit < setting[0][moody]
        harmful = active if own > 0 else not active
        back += fate < chances[stratum] and not (harmful and struck < abs(own))
    return back / size


def _second(physics: Hazards, best: Setting) -> float:
    """Return the best survival of a corner in which a live part or the option is not the best's."""
    right = (*(best[0][name] for name in physics.parts), best[1])
    found = []
    for ends in product((0.0, 1.0), repeat=len(physics.parts)):
        shares = dict.fromkeys(physics.sheet.components, 0.0)
        shares |= dict(zip(physics.parts, ends, strict=True))
        found += [
            _survival(physics, (shares, option))
            for option in physics.options
            if (*ends, option) != right
        ]
    return max(found)


def _p_win(chance: float, bar: float, fleet: int) -> float:
    """Sum the binomial distribution term by term."""
    logs = [
        math.lgamma(fleet + 1) - math.lgamma(k + 1) - math.lgamma(fleet - k + 1)
        + k * math.log(chance) + (fleet - k) * math.log1p(-chance)
        for k in range(fleet + 1)
        if k / fleet >= bar
    ]  # fmt: skip
    return math.fsum(map(math.exp, logs))


# The lower bound.


def _bound_flaws(world: World, physics: Hazards, facts: Mapping[str, Any]) -> list[str]:
    weights: Mapping[str, float] = facts["alternative_weights"]
    flights = facts["flights_lower_bound"]
    if not weights:
        return [] if flights == 0 else ["facts.flights_lower_bound: there is no alternative"]
    found = []
    if any(weight < 0 for weight in weights.values()) or not isclose(sum(weights.values()), 1):
        found.append("facts.alternative_weights: they are no weights")
    others = {name: _alternative(physics, name) for name in weights}
    found += [
        f"facts.alternative_weights: a design wins here and in the alternative {name}"
        for name, alternative in others.items()
        if _both(physics, alternative, name) >= world.rules.threshold
    ]
    told = 0.0
    for ends in product((0.0, 1.0), repeat=len(physics.parts)):
        for option in physics.options:
            setting = (dict(zip(physics.parts, ends, strict=True)), option)
            here = _results(world, physics, setting)
            mean = 0.0
            for name, weight in weights.items():
                there = _results(world, others[name], setting)
                mean += weight * sum(
                    p * math.log(p / q) for p, q in zip(here, there, strict=True) if p
                )
            told = max(told, mean)
    if not isclose(flights, NEEDED / told):
        found.append(f"facts.flights_lower_bound: {flights} is stored, {NEEDED / told} is shown")
    return found


def _alternative(physics: Hazards, name: str) -> Hazards:
    """Return the system with a part reversed, two parts exchanged, or another option right."""
    one, _, other = name.partition("+")
    if other:
        swap = {one: other, other: one}
        parts = {n: physics.parts[swap.get(n, n)] for n in physics.parts}
        return physics.model_copy(update={"parts": parts})
    if name in physics.parts:
        parts = {n: (-a, -b) if n == name else (a, b) for n, (a, b) in physics.parts.items()}
        return physics.model_copy(update={"parts": parts})
    right = next(option for option, pair in physics.options.items() if pair == (0.0, 0.0))
    swapped = {right: name, name: right}
    options = {n: physics.options[swapped.get(n, n)] for n in physics.options}
    return physics.model_copy(update={"options": options})


def _in_class(physics: Hazards, name: str) -> bool:
    """Tell whether a change keeps the number of parts in each role."""
    one, _, other = name.partition("+")
    if other:
        return {physics.roles.get(one), physics.roles.get(other)} == {"protects", "harms"}
    return name in physics.options or physics.roles.get(name) == "moody"


def _both(physics: Hazards, alternative: Hazards, name: str) -> float:
    """Return the best smaller survival of any design in the two systems, on a grid."""
    live = list(physics.parts)
    grids: list[Sequence[float]] = [
        [step / STEPS for step in range(STEPS + 1)] if part in name.split("+") else (0.0, 1.0)
        for part in live
    ]
    return max(
        min(
            _survival(one, (dict(zip(live, shares, strict=True)), option))
            for one in (physics, alternative)
        )
        for shares in product(*grids)
        for option in physics.options
    )


def _results(world: World, physics: Hazards, setting: Setting) -> list[float]:
    """Return the probability of each result of a flight that records and answers can show."""
    moody = next(name for name, role in physics.roles.items() if role == "moody")
    keep, lit = world.rules.keep_failed, setting[0][moody]
    shown: dict[tuple[object, ...], float] = {}
    for stratum, active, back, misread in product((0, 1), (True, False), (True, False), (0, 1)):
        rough = physics.rough["stage1"]
        p = (1 - rough if stratum else rough) * (lit if active else 1 - lit)
        p *= physics.misread if misread else 1 - physics.misread
        own = physics.parts[moody][stratum]
        alive = _chance(physics, setting, stratum, moody) * (1 - _lost(own, float(active)))
        p *= alive if back else 1 - alive
        read = stratum ^ misread if physics.shown else None
        if back:
            shown[read, active, back] = shown.get((read, active, back), 0.0) + p
        else:
            shown[read, active, back] = shown.get((read, active, back), 0.0) + keep * p
            shown["unseen",] = shown.get(("unseen",), 0.0) + (1 - keep) * p
    return list(shown.values())
