"""Local reasoning: the rules of the asked variable that fit, and nothing about the others."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np

from whybench.causal.version_space import Row, Rule, Space, fitting
from whybench.families.prism.world.questions import plans
from whybench.families.prism.world.world import Answer, Question


def of_all(some: bool, every: bool) -> Answer:
    """Return the answer if it holds in some cases, and in all."""
    return "yes" if every else "cannot" if some else "no"


def situation(space: Space, question: Question, rows: Sequence[Row]) -> dict[int, int]:
    """Return the values that a question names: inputs, what was noted, what is held."""
    found = dict(enumerate(question.inputs)) | dict(question.noted)
    if question.trial is not None:
        found |= {v: rows[question.trial].values >> v & 1 for v in range(space.roots)}
    found.pop(question.y, None)
    return found | dict(question.held)


def rules_of(space: Space, y: int, rows: Sequence[Row]) -> list[Rule]:
    """Return the rules of a variable that fit the trials."""
    tables = space.tables
    return [tables.rules[i] for i in np.flatnonzero(fitting(space, rows)[0] & (tables.of == y))]


def local_verdict(space: Space, question: Question, rows: Sequence[Row]) -> Answer:
    """Answer from the rules of y alone; every variable that is not told may have any value."""
    rules = rules_of(space, question.y, rows)
    if question.kind in ("direct", "ancestor"):
        uses = [question.x in rule.arguments for rule in rules]
        return of_all(any(uses), all(uses))
    told = situation(space, question, rows)
    if question.kind == "goal":
        reached = [_reached(space, question, rule, told) for rule in rules]
        return of_all(any(r != "no" for r in reached), all(r == "yes" for r in reached))
    shown = {value for rule in rules for value in _values(rule, told)}
    return of_all(question.value in shown, shown == {question.value})


def _values(rule: Rule, told: dict[int, int]) -> set[int]:
    """Return the values that a rule can have if some of its arguments are told."""
    choices = [(told[v],) if v in told else (0, 1) for v in rule.arguments]
    cells = (sum(x << i for i, x in enumerate(cell)) for cell in product(*choices))
    return {rule.table >> cell & 1 for cell in cells}


def _reached(space: Space, question: Question, rule: Rule, told: dict[int, int]) -> Answer:
    """Tell whether a plan makes a rule have the wanted value, whatever is not told."""
    found = set()
    for plan in plans(question):
        held_at = {v: plan.values >> v & 1 for v in range(space.n) if plan.targets >> v & 1}
        shown = _values(rule, told | held_at)
        found.add(
            "yes" if shown == {question.value} else "cannot" if question.value in shown else "no"
        )
    return "yes" if "yes" in found else "cannot" if "cannot" in found else "no"
