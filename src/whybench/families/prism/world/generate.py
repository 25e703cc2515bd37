"""Rebuild a problem from the coordinates of its instance."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from whybench.causal.canonical import digest
from whybench.causal.seeds import Stream
from whybench.causal.version_space import Row, Space, VersionSpace
from whybench.episode.instance import Instance
from whybench.families.prism.parameters import PLANS, Parameters, Plan
from whybench.families.prism.world.laboratory import Laboratory, found_laboratory
from whybench.families.prism.world.questions import decided
from whybench.families.prism.world.screen import passes
from whybench.families.prism.world.triples import Triple, found_triple, roots_of, with_truths
from whybench.families.prism.world.world import ANSWERS, Answer, Kind, Question, Trial, World

STREAMS = "1"
"""The version in the paths of random streams."""

Path = tuple[str | int, ...]


def size(suite: str, parameters: Parameters) -> int:
    """Return the number of instances of a block."""
    return len(parameters.cells(suite)) * parameters.triples * len(ANSWERS)


def world(instance: Instance, parameters: Parameters) -> World:
    """Rebuild the problem at an instance's coordinates.

    The problems of a block are shuffled, so that no neighbour tells of another.
    """
    suite, cells = instance.suite, parameters.cells(instance.suite)
    seed = ("prism", STREAMS, instance.stream_seed, suite)
    many = size(suite, parameters)
    rest, member = divmod(_places((*seed, "places"), many)[instance.index], len(ANSWERS))
    number, cell = divmod(rest, len(cells))
    return member_of((*seed, *cells[cell], number), suite, *cells[cell], ANSWERS[member])


@lru_cache(maxsize=64)
def _places(path: Path, many: int) -> list[int]:
    return Stream(*path).shuffled(range(many))


def member_of(path: Path, suite: str, kind: Kind, n: int, answer: Answer) -> World:
    """Return one of the three problems of a triple."""
    plan = PLANS[suite]
    space = Space(n, roots_of(n), plan.cls, plan.hidden)
    more: dict[str, Any]
    if plan.most:
        found = _laboratory(path, space, kind, plan)
        question, rows, left, members = found.question, found.rows, found.found, [found.rows]
        more = {"truth": found.truths[answer], "lab": found.lab}
    else:
        triple = drawn_triple(path, space, kind, plan.screen)
        question, rows, left = triple.question, triple.rows[answer], triple.left[answer]
        members = [*triple.rows.values()]
        more = {"truth": triple.truths[answer], "last": triple.last}
    base = _base(space, question, *members)
    return world_of(space, rows, question, left, answer=answer, base=base, **more)


def world_of(
    space: Space, rows: Sequence[Row], question: Question, left: VersionSpace, **rest: Any
) -> World:
    """Return a problem; `left` are the systems that fit its trials."""
    return World(
        n=space.n,
        roots=space.roots,
        cls=space.cls,
        hidden_inputs=space.hidden,
        trials=tuple(Trial.of(space, row) for row in rows),
        question=question,
        posterior=decided(left, question, rows).posterior,
        **rest,
    )


@lru_cache(maxsize=256)
def drawn_triple(path: Path, space: Space, kind: Kind, screen: str | None) -> Triple:
    """Draw systems until one gives a triple that passes the screen."""
    stream = Stream(*path)
    while True:
        triple = found_triple(stream, space, kind)
        if triple is not None and (screen is None or passes(stream, screen, space, triple)):
            triple = with_truths(stream, space, triple)
            if triple is not None:
                return triple


@lru_cache(maxsize=64)
def _laboratory(path: Path, space: Space, kind: Kind, plan: Plan) -> Laboratory:
    stream = Stream(*path)
    while True:
        found = found_laboratory(stream, space, kind, plan)
        if found is not None:
            return found


def _base(space: Space, question: Question, *members: Sequence[Row]) -> str:
    """Return a name for what the three problems share."""
    shared = [
        [space.n, space.cls, space.hidden],
        [sorted({*column}) for column in zip(*members, strict=True)],
        repr(question),
    ]
    return digest(shared).hex()[:12]
