"""Instances for training and for evaluation; no hidden system is in both, whatever its names.

The part is a hash of the system up to renaming (`Family.system`). So it is the same in every suite,
block and seed of a family, and a system that was memorised in training never occurs in evaluation.
If all instances of a suite have one system (a scenario of CausalGame), the whole suite is in one
part.
"""

from __future__ import annotations

from typing import Literal, get_args

from whybench.causal.canonical import Json, digest
from whybench.episode.family import Suite
from whybench.episode.instance import Instance

Part = Literal["train", "eval"]

PARTS: tuple[Part, ...] = get_args(Part)

SHARE = 0.25
"""The share of systems that are kept for evaluation."""

ENDLESS = 1 << 32
"""The number of blocks of a suite from which an endless list is drawn."""


def part_of(suite: Suite, instance: Instance) -> Part:
    """Return the part of the split in which an instance lies.

    The part is a hash of the hidden system, so no hidden system is in both parts.

    Examples:
        >>> import whybench as wb
        >>> suite = wb.load_suite("causallink/advanced")
        >>> wb.part_of(suite, suite[0])
        'train'

    Args:
        suite: The suite of the instance.
        instance: The instance.

    Returns:
        `train` or `eval`.

    """
    family = suite.family
    return part_of_system(family.name, family.system(family.world(instance)))


def part_of_system(family: str, system: Json) -> Part:
    """Return the part of a family's hidden system, which is given up to renaming."""
    key = digest(["split", family, system])
    return "eval" if int.from_bytes(key[:8], "big") < SHARE * 2**64 else "train"
