"""Covariates of instances: scenario, challenge, history, and the possible gain."""

from __future__ import annotations

from whybench.causal.canonical import Json, Record
from whybench.families.causalgame.world.drawn.draw import stories
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


def covariates(world: World, best: float, default: float) -> Record:
    """Return the covariates for reports; `best` and `default` are survivals on this instance."""
    rules, sheet = world.rules, world.physics.sheet
    found: dict[str, Json] = {
        "scenario": world.scenario,
        "physics": rules.physics,
        "challenge": challenge_of(world),
        "history": history_of(world.scenario),
        "threshold": rules.threshold,
        "best_known": best,
        "default": default,
        "winnable": best >= rules.threshold,
        "parts": len(sheet.components) + len(sheet.slots),
        "records": int(world.history.kept.sum()),
        "keep_failed": rules.keep_failed,
        "drones": rules.drones,
        "deploys_allowed": rules.deploys,
        "questions_allowed": rules.queries,
    }
    return Record(found.items())


def challenge_of(world: World) -> str:
    """Return what makes an instance hard, in words."""
    return " + ".join(challenges_of(world)) or CONTROL


def challenges_of(world: World) -> tuple[str, ...]:
    """Return the challenges of a scenario or of a story."""
    story = stories().get(world.scenario)
    if story is None:
        return scenarios()[world.scenario].challenges
    told = {
        "selection": story.designs and story.keep_failed < 1,
        "confounder": story.designs and story.confounded,
        "shift": story.fleet,
        "noise": story.misread,
    }
    return tuple(name for name, is_so in told.items() if is_so)


def history_of(scenario: str) -> str:
    """Return what the history of a scenario is.

    >>> history_of("antenna_trap_simpsons_paradox"), history_of("weather_noise")
    ('paradox', 'plain')
    """
    return next((what for end, what in HISTORIES.items() if scenario.endswith(end)), PLAIN)
