"""What instances can be sorted by: scenario, challenge, history, and how much there is to win."""

from __future__ import annotations

from whybench.causal.canonical import Json, Record
from whybench.episode.instance import Instance
from whybench.families.causalgame.parameters import FACTORIAL
from whybench.families.causalgame.world.factorial_suite import cell_of
from whybench.families.causalgame.world.scenario import scenarios
from whybench.families.causalgame.world.world import World

CONTROL = "control"
"""The challenge of a scenario that has none."""

HISTORIES = {
    "_no_history": "none",
    "_no_selection_bias": "nothing hidden",
    "_high_def": "heavily armoured",
    "_local_optima": "local optimum",
    "_simpsons_paradox": "paradox",
}
"""End of a scenario's name → what its history is; others have a plain one."""

PLAIN = "plain"
BALANCED = "balanced"
"""The history of generated worlds."""


def covariates(instance: Instance, world: World, best: float, default: float) -> Record:
    """Return what a report may sort by; `best` and `default` are designs' survival here."""
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
    """Return what makes an instance hard, in words.

    Generated worlds are made hard by their factors, a scenario by what its file says.
    """
    if world.scenario == FACTORIAL:
        hard = [factor for factor, level in cell_of(instance.index).items() if level != "off"]
    else:
        hard = list(scenarios()[world.scenario].challenges)
    return " + ".join(hard) or CONTROL


def history_of(scenario: str) -> str:
    """Return what the history of a scenario is.

    >>> history_of("antenna_trap_simpsons_paradox"), history_of("weather_noise")
    ('paradox', 'plain')
    """
    if scenario == FACTORIAL:
        return BALANCED
    return next((what for end, what in HISTORIES.items() if scenario.endswith(end)), PLAIN)
