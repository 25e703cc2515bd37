"""Properties of instances by which a report can group them."""

from __future__ import annotations

from functools import lru_cache

from whybench.causal.canonical import Record
from whybench.causal.graph import members
from whybench.episode.instance import Instance
from whybench.families.causallink.proof.certify import fewest
from whybench.families.causallink.proof.plan import right_answer
from whybench.families.causallink.world.generate import enumerated
from whybench.families.causallink.world.world import World

LETTERS = "ABCDEFGHIJKL"
"""Letters for the nodes of a structure, independent of the names in an instance."""


def covariates(instance: Instance, world: World, exact_steps: int) -> Record:
    """Return structure, size, start, the right answer, and the fewest interventions."""
    view = world.view
    return Record.of(
        structure=world.structure,
        n=view.n,
        setup=setup(instance, world),
        all_moving=view.start == (1 << view.n) - 1,
        truth=right_answer(world),
        asked=asked(world),
        exact_steps=exact_steps,
        fewest=_fewest(world),
    )


def setup(instance: Instance, world: World) -> str:
    """Name the start by the nodes of the structure that are on: `none`, `BC`, `all`.

    Lists are shuffled, so the letters refer to the structure itself (A→B→C), not to places.
    """
    if world.view.start == 0:
        return "none"
    if world.view.start == (1 << world.view.n) - 1:
        return "all"
    start = enumerated(instance.suite)[instance.index].start
    return "".join(LETTERS[v] for v in members(start))


def asked(world: World) -> str:
    """Return the direction of the asked pair: along the arrows, against them, or neither."""
    x, y = world.view.x, world.view.y
    if world.truth:
        return "cause to effect"
    return "effect to cause" if world.below[y] >> x & 1 else "unrelated"


@lru_cache(maxsize=16384)
def _fewest(world: World) -> int:
    """Cached, because it is a pure function of the hidden system."""
    return fewest(world)
