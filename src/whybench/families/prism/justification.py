"""Check a justification: trials that force an answer, or two systems that differ.

An answer is forced if no system that fits the named trials allows the other one. If few systems
fit, they are listed. But a version space of a few trials may hold 10^11 systems. Then it is decided
whether such a system exists, by adding what it would show in the trial of the question, for every
possible outcome.

Claim: if each variable has a choice of rules, some acyclic choice exists if and only if this
succeeds: place, one after another, any variable that has a rule with all its arguments placed. A
placed variable never hinders another, so the order does not matter.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, product
from typing import NamedTuple

import numpy as np

from whybench.causal.version_space import (
    Design,
    Row,
    Space,
    System,
    VersionSpace,
    fitting,
    outcome,
)
from whybench.families.prism.submission import Submission
from whybench.families.prism.world.questions import design_of, masks, plans, tally, undisturbed
from whybench.families.prism.world.world import Question, Values, World

LISTED = 5000
"""The most systems that are listed."""


def justified(world: World, trials: Sequence[Row], said: Submission) -> bool:
    """Tell whether the justification of an answer is valid."""
    if said.answer == "cannot":
        if said.systems is None or not all(fits(world.space, s, trials) for s in said.systems):
            return False
        truths = [truths_in(world.space, world.question, s, world.rows) for s in said.systems]
        return any(1 in one and 0 in other for one, other in (truths, truths[::-1]))
    if said.trials is None:
        return False
    rows = [trials[t] for t in said.trials]
    return not _allowed(world, rows, value=int(said.answer == "no"))


def needed(world: World, trials: Sequence[Row], said: Submission) -> float | None:
    """Return the share of named trials without which the others would not force the answer.

    None if no trials were named, or if the named ones do not force the answer.
    """
    if not said.trials or said.answer == "cannot" or not justified(world, trials, said):
        return None
    less = [replace(said, trials=tuple(t for t in said.trials if t != one)) for one in said.trials]
    return sum(not justified(world, trials, one) for one in less) / len(less)


# Two systems.


def fits(space: Space, system: System, rows: Sequence[Row]) -> bool:
    """Tell whether a system belongs to the class and shows what the trials show."""
    number, unseen = space.tables.number, range(1 + space.hidden)
    if any((v, rule) not in number for v, rule in enumerate(system, space.roots)):
        return False
    if sum(space.n in rule.arguments for rule in system) > 2:
        return False
    try:
        return all(
            any(outcome(space, system, space.design(row), u) == row for u in unseen) for row in rows
        )
    except ValueError:  # the rules have a circle
        return False


def truths_in(
    space: Space, question: Question, system: System, rows: Sequence[Row]
) -> frozenset[int]:
    """Return the answers that a system allows, 1 for yes and 0 for no: inputs may be unknown."""
    rules = [space.tables.number[v, rule] for v, rule in enumerate(system, space.roots)]
    found = VersionSpace(space, np.array([rules]), np.zeros(1, dtype=np.int64))
    if question.trial is not None:
        found = found.given(rows[question.trial])
    return _truths(found, question, rows)


def _truths(found: VersionSpace, question: Question, rows: Sequence[Row]) -> frozenset[int]:
    hits, total = tally(found, question, rows)
    return frozenset({1} if hits.any() else ()) | frozenset({0} if (hits < total).any() else ())


# Trials that force an answer.


class Option(NamedTuple):
    """What matters of a rule: its arguments, and where it forces the hidden input to 0 or 1."""

    arguments: int
    low: int
    high: int


def _allowed(world: World, rows: Sequence[Row], value: int) -> bool:
    """Tell whether some system that fits allows an answer; short lists need no search."""
    asked = world.question
    known = rows if asked.trial is None else [*rows, world.rows[asked.trial]]
    found = VersionSpace.of(world.space, known, LISTED)
    if found is None:
        return possible(world, rows, value)
    return value in _truths(found, asked, world.rows)


def possible(world: World, rows: Sequence[Row], value: int) -> bool:
    """Tell whether some system that fits trials allows the answer yes (1) or no (0)."""
    space, asked = world.space, world.question
    if asked.kind == "direct":
        return exists(space, _with(space, rows, asked, value))
    if asked.kind == "ancestor":
        return any(exists(space, some) for some in _acting(space, rows, asked, value))
    if asked.kind == "goal":
        return _reached(space, rows, asked) if value else _missed(space, rows, plans(asked), asked)
    wanted = asked.value if value else 1 - asked.value
    if asked.kind in ("do", "see"):
        noted = {**dict(asked.noted), asked.y: wanted}
        new = [design_of(asked.inputs, asked.held)] if asked.kind == "do" else undisturbed(space)
        outcomes = (row for design in new for row in outcomes_of(space, design, noted))
        return any(exists(space, options(space, [*rows, row])) for row in outcomes)
    last = len(rows)
    for factual, design in factual_and_asked(space, asked, world.rows):
        known = [*rows, factual]
        if exists(space, options(space, known)):
            for row in outcomes_of(space, design, {asked.y: wanted}):
                if exists(space, options(space, [*known, row], same=(last, last + 1))):
                    return True
    return False


def options(
    space: Space, rows: Sequence[Row], *, same: tuple[int, int] | None = None, given: Values = ()
) -> list[set[Option]]:
    """Return for each driven variable the rules that fit, one by one.

    Args:
        space: The class of hidden systems.
        rows: The trials.
        same: Two trials that share the value of the hidden input.
        given: Trials in which the hidden input is known, with its value.

    """
    alive, low, high = fitting(space, rows)
    sets, of = space.tables.sets, space.tables.of
    found: list[set[Option]] = [set() for _ in range(space.driven)]
    wrong = [sum(1 << t for t, u in given if u == value) for value in (1, 0)]
    for v, a, zero, one in zip(
        of[alive].tolist(), sets[alive].tolist(), low[alive].tolist(), high[alive].tolist(),
        strict=True,
    ):  # fmt: skip
        if same is not None:
            zero |= (zero >> same[1] & 1) << same[0]
            one |= (one >> same[1] & 1) << same[0]
        if not (zero & one or zero & wrong[0] or one & wrong[1]):
            found[v - space.roots].add(Option(a, zero, one))
    return found


def exists(space: Space, choices: Sequence[set[Option]]) -> bool:
    """Tell whether one rule for each variable makes a system of the class."""
    hidden = 1 << space.n
    plain = [{o.arguments for o in some if not o.arguments & hidden} for some in choices]
    if _orderable(space, plain):
        return True
    if not space.hidden:
        return False
    users = [[o for o in some if o.arguments & hidden] for some in choices]
    for i, some in enumerate(users):
        for one in some:
            if _orderable(space, _instead(plain, {i: one})):
                return True
    for i, j in combinations(range(len(users)), 2):
        for one, two in product(users[i], users[j]):
            apart = (one.low | two.low) & (one.high | two.high)
            if not apart and _orderable(space, _instead(plain, {i: one, j: two})):
                return True
    return False


def _instead(plain: Sequence[set[int]], chosen: Mapping[int, Option]) -> list[set[int]]:
    return [{chosen[i].arguments} if i in chosen else some for i, some in enumerate(plain)]


def _orderable(space: Space, choices: Sequence[set[int]]) -> bool:
    """Tell whether an acyclic choice exists; see the claim above."""
    placed = (1 << space.roots) - 1 | 1 << space.n
    waiting = list(range(len(choices)))
    while waiting:
        ready = [i for i in waiting if any(not a & ~placed for a in choices[i])]
        if not ready:
            return False
        placed |= sum(1 << space.roots + i for i in ready)
        waiting = [i for i in waiting if i not in ready]
    return True


def _with(space: Space, rows: Sequence[Row], asked: Question, value: int) -> list[set[Option]]:
    """Return the rules of systems in which `x` is, or is not, an argument of `y`."""
    found, at = options(space, rows), asked.y - space.roots
    bit = 1 << (asked.x or 0)
    found[at] = {o for o in found[at] if bool(o.arguments & bit) == bool(value)}
    return found


def _acting(
    space: Space, rows: Sequence[Row], asked: Question, value: int
) -> Iterator[list[set[Option]]]:
    """Yield the rules for every set of variables on which `x` acts, with or without `y` in it."""
    x, y = asked.x or 0, asked.y
    others = [v for v in range(space.roots, space.n) if v not in (x, y)]
    every = options(space, rows)
    for size in range(len(others) + 1):
        for some in combinations(others, size):
            below = {*some, y} if value else {*some}
            reach = sum(1 << v for v in below) | 1 << x
            yield [
                {o for o in chosen if bool(o.arguments & reach) == (v in below)}
                for v, chosen in enumerate(every, space.roots)
            ]


def _reached(space: Space, rows: Sequence[Row], asked: Question) -> bool:
    """Tell whether in some system one plan works, for every value of the hidden input."""
    goal = {asked.y: asked.value}
    for plan in plans(asked):
        rest: list[tuple[Row, ...]] = [()]
        for _ in range(1 + space.hidden):
            rest = [
                (*so_far, row)
                for so_far in rest
                for row in outcomes_of(space, plan, goal)
                if exists(space, _under(space, rows, (*so_far, row)))
            ]
        if rest:
            return True
    return False


def _under(space: Space, rows: Sequence[Row], tried: Sequence[Row]) -> list[set[Option]]:
    """Return the rules that fit if one plan is tried with the hidden input at 0, then at 1."""
    given = tuple((len(rows) + u, u) for u in range(len(tried)) if space.hidden)
    return options(space, [*rows, *tried], given=given)


def _missed(space: Space, rows: Sequence[Row], left: Sequence[Design], asked: Question) -> bool:
    """Tell whether in some system every plan fails; with a hidden input, for one of its values."""
    if not exists(space, options(space, rows)):
        return False
    if not left:
        return True
    fails = outcomes_of(space, left[0], {asked.y: 1 - asked.value})
    return any(_missed(space, [*rows, row], left[1:], asked) for row in fails)


# Designs and outcomes.


def outcomes_of(space: Space, design: Design, known: Mapping[int, int]) -> Iterator[Row]:
    """Yield the rows that a design could show in which some variables have known values."""
    told = (1 << space.roots) - 1 | design.targets
    if any(told >> v & 1 and design.values >> v & 1 != x for v, x in known.items()):
        return
    fixed = design.values | sum(x << v for v, x in known.items() if not told >> v & 1)
    free = [v for v in range(space.roots, space.n) if not told >> v & 1 and v not in known]
    for at in product((0, 1), repeat=len(free)):
        yield Row(design.targets, fixed | sum(x << v for v, x in zip(free, at, strict=True)))


def factual_and_asked(
    space: Space, question: Question, rows: Sequence[Row]
) -> Iterator[tuple[Row, Design]]:
    """Yield what the trial of a question may have been, and the design that is asked about."""
    targets, values = masks(question.held)
    if question.kind == "had":
        row = rows[question.trial or 0]
        design = space.design(row)
        yield row, Design(design.targets | targets, design.values | values)
        return
    for design in undisturbed(space):
        for row in outcomes_of(space, design, dict(question.noted)):
            yield row, Design(targets, design.values | values)
