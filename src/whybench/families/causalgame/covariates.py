"""Covariates of instances: scenario, challenge, history, and the possible gain."""

from __future__ import annotations

from whybench.causal.canonical import Json, Record
from whybench.episode.instance import Instance
from whybench.families.causalgame.parameters import FACTORIAL
from whybench.families.causalgame.world.factorial_suite import cell_of
from whybench.families.causalgame.world.scenario import scenarios
from whybench.families.causalgame.world.world import World

CONTROL = "control"
"""The challenge value of a scenario without one."""

HISTORIES = {
    "_no_history": "none",
    "_no_selection_bias": "nothing hidden",
    "_high_def": "heavily armoured",
    "_local_optima": "local optimum",
    "_simpsons_paradox": "paradox",
}
"""Suffix of a scenario's name → kind of history; other histories are plain."""

PLAIN = "plain"
BALANCED = "balanced"
"""The kind of history of generated systems."""


def covariates(instance: Instance, world: World, best: float, default: float) -> Record:
    """Return the covariates for reports; `best` and `default` are survivals on this instance."""
    rules = world.rules
    found: dict[str, Json] = {
        "scenario": world.scenario,
        "physics": rules.physics,
        "challenge": challenge_of(instance, world),
        "history": history_of(world.scenario),
        "threshold": rules.threshold,
        "best_known": best,
        "default": default,
        "winnable": best >= rules.threshold,
        "records": int(world.history.kept.sum()),
        "keep_failed": rules.keep_failed,
        "drones": rules.drones,
        "deploys_allowed": rules.deploys,
        "questions_allowed": rules.queries,
    }
    if world.scenario == FACTORIAL:
        found |= cell_of(instance.index)
    return Record(found.items())


def challenge_of(instance: Instance, world: World) -> str:
    """Return what makes an instance hard, in words."""
    return " + ".join(challenges_of(instance, world)) or CONTROL


def challenges_of(instance: Instance, world: World) -> tuple[str, ...]:
    """Return the factors of a generated system, or the challenges in a scenario's file."""
    if world.scenario == FACTORIAL:
        levels = cell_of(instance.index)
        return tuple(factor for factor, level in levels.items() if level != "off")
    return scenarios()[world.scenario].challenges


def history_of(scenario: str) -> str:
    """Return what the history of a scenario is.

    >>> history_of("antenna_trap_simpsons_paradox"), history_of("weather_noise")
    ('paradox', 'plain')
    """
    if scenario == FACTORIAL:
        return BALANCED
    return next((what for end, what in HISTORIES.items() if scenario.endswith(end)), PLAIN)
