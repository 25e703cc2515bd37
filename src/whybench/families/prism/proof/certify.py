"""Certificates: the verdict of all systems that fit, and what shows it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from whybench.causal.canonical import Json, Record, freeze
from whybench.causal.version_space import Row, Space, System, VersionSpace
from whybench.families.prism.proof.closure import closure_of
from whybench.families.prism.world.questions import decided, tally, verdict, witnesses
from whybench.families.prism.world.world import ANSWERS, World

LISTED = 20_000
"""The most systems that are listed to decide a question."""


@lru_cache(maxsize=256)
def listed(space: Space, rows: tuple[Row, ...], most: int = LISTED) -> VersionSpace:
    """Return the systems that fit trials; cached."""
    found = VersionSpace.of(space, rows, most)
    if found is None:
        raise ValueError(f"more than {most} systems fit these trials")
    return found


def deciding(world: World) -> int | None:
    """Return the trial, from 0, without which the question would be open; None if it still is."""
    t, question = world.last, world.question
    if t is None:
        return None
    rows = world.rows[:t] + world.rows[t + 1 :]
    if question.trial is not None and question.trial > t:
        question = replace(question, trial=question.trial - 1)
    less = verdict(listed(world.space, rows), question, rows)
    return t if less is not None and less.answer == "cannot" else None


def pair(world: World, rows: Sequence[Row]) -> tuple[System, System]:
    """Return two systems that fit: yes is possible in the first, and no in the second."""
    found = listed(world.space, tuple(rows))
    yes, no = witnesses(found, world.question, rows)
    return found.system(yes), found.system(no)


def as_json(system: System) -> Json:
    """Return a system as JSON data: for each driven variable its arguments and its table."""
    return freeze([[list(rule.arguments), rule.table] for rule in system])


def claims(world: World) -> dict[str, Any]:
    """Return what is shown about a problem, as fields of a certificate."""
    found = listed(world.space, world.rows)
    told = decided(found, world.question, world.rows)
    facts: dict[str, Json] = {
        "n": world.n,
        "yes": told.posterior.numerator,
        "of": told.posterior.denominator,
        "systems": len(found),
    }
    if world.lab is not None:
        return _of_laboratory(world, facts)
    open_ = told.answer == "cannot"
    return {
        "identified": told.answer == world.answer,
        "fewest": 0,
        "minimax": 0,
        "witness": freeze([as_json(system) for system in pair(world, world.rows)])
        if open_
        else None,
        "facts": Record.of(
            **facts, verdict=told.answer, deciding=None if open_ else deciding(world)
        ),
    }


def _of_laboratory(world: World, facts: dict[str, Json]) -> dict[str, Any]:
    """Return what is shown about a laboratory: the label of the hidden system, and plans."""
    found = closure_of(world)
    cell = found.cell_of(world.truth)
    label, same = found.labels[cell], np.flatnonzero(found.cell == cell)
    witness = None
    if label == "cannot":
        hits, _ = tally(found.found, world.question, ())
        ends = [same[np.argmax(hits[same])], same[np.argmin(hits[same])]]
        witness = freeze([as_json(found.found.system(int(i))) for i in ends])
    cells = {f"cells_{one}": found.labels.count(one) for one in ANSWERS}
    return {
        "identified": label == world.answer,
        "fewest": found.fewest(cell),
        "minimax": found.minimax(),
        "witness": witness,
        "facts": Record.of(**facts, verdict=label, **cells),
    }
