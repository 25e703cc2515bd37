"""Instances to train on and instances to evaluate on: no hidden system is in both, however named.

The part is a hash of the system up to renaming (`Family.system`), so it is the same in every suite,
block and seed of a family: what was learned of one system by heart is of no use on the other side.
A suite whose instances all have one system (a scenario of CausalGame) lies on one side as a whole.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, get_args

from whybench.causal.canonical import digest
from whybench.causal.seeds import Stream
from whybench.episode.family import Suite
from whybench.episode.instance import Instance

Part = Literal["train", "eval"]

PARTS: tuple[Part, ...] = get_args(Part)

SHARE = 0.25
"""The share of systems that are kept for evaluation."""

PATIENCE = 400
"""After so many instances without one of a part, a suite is taken to have none."""

ENDLESS = 1 << 32
"""An endless list is drawn from so many blocks of a suite."""


def part_of(suite: Suite, instance: Instance) -> Part:
    """Return the side on which an instance of a suite lies."""
    family = suite.family
    key = digest(["split", family.name, family.system(family.world(instance))])
    return "eval" if int.from_bytes(key[:8], "big") < SHARE * 2**64 else "train"


def listed(suite: Suite, part: Part | None = None, rows: int | None = None) -> Iterator[Instance]:
    """Yield a suite's instances of one part, or all: the first `rows`, or its own size."""
    for row in range(len(suite) if rows is None else rows):
        instance = suite.row(row)
        if part is None or part_of(suite, instance) == part:
            yield instance


def drawn(suite: Suite, stream: Stream, part: Part | None = None) -> Instance:
    """Draw an instance of one part, or any, from the endless list that a suite begins."""
    for _ in range(PATIENCE):
        instance = suite.row(stream.below(ENDLESS * len(suite)))
        if part is None or part_of(suite, instance) == part:
            return instance
    raise ValueError(
        f"{suite.path} seems to have no instance for {part}: it has few worlds, take a larger suite"
    )
