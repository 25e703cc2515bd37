"""Exact facts about generated systems: the margin of the bar, and history designs below it."""

from __future__ import annotations

from collections.abc import Sequence

from whybench.causal.canonical import Json
from whybench.episode.certificate import SuiteProof
from whybench.families.causalgame.parameters import LEVELS
from whybench.families.causalgame.proof import certify
from whybench.families.causalgame.world.factorial_suite import cell_of
from whybench.families.causalgame.world.physics.generated import Generated, expected_survival
from whybench.families.causalgame.world.world import World


def proof(suite: str, worlds: Sequence[World]) -> SuiteProof:
    """Check every generated system of a suite."""
    flaws = []
    for index, world in enumerate(worlds):
        if not isinstance(world.physics, Generated):
            raise TypeError(f"instance {index} of {suite} is not generated")
        found = facts(world, world.physics)
        if found["margin"] < certify.asked_margin(found["best_known"], world.rules.fleet_size):
            flaws.append((f"{suite} {index}", "not winnable: the bar is too near the best"))
        if max(found["default"], found["history_best"]) >= world.rules.threshold:
            flaws.append((f"{suite} {index}", "not trapped: an old design wins"))
    return SuiteProof({"checked": len(worlds)}, tuple(flaws))


def facts(world: World, physics: Generated) -> dict[str, Json]:
    """Return the exact facts about a generated system."""
    past = [expected_survival(physics, design, "stage2") for design in world.history.designs]
    best = world.best or certify.best_design(world.rules.physics)
    reached = expected_survival(physics, best, "stage2")
    return {
        "best_known": reached,
        "margin": reached - world.rules.threshold,
        "default": expected_survival(physics, certify.default_design(physics), "stage2"),
        "history_best": max(past),
    }


def levels(index: int) -> dict[str, Json]:
    """Return the level of each factor of a cell: 0 off, 1 mild, 2 strong."""
    return {factor: LEVELS.index(level) for factor, level in cell_of(index).items()}
