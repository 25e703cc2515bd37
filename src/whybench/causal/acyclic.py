"""Sums over acyclic choices: every variable chooses parents, and no circle may arise."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray


def acyclic_sum(size: int, weights: Callable[[int], Sequence[int]]) -> int:
    """Sum the products of weights over all acyclic choices of parents for `size` variables.

    Let A(S) be this sum for the variables in S alone. Inclusion and exclusion over the sinks T of a
    choice gives: A(S) = Σ over nonempty T ⊆ S of (−1)^(|T|+1) A(S∖T) Π over v in T of the weight of
    v with parents in S∖T.

    Args:
        size: The number of variables.
        weights: A function of a set S, as a bitmask. It returns for each variable the total weight
            of its choices with parents in S.

    Returns:
        The sum.

    """
    totals = [1] + [0] * ((1 << size) - 1)
    everything = (1 << size) - 1
    for done in range(1 << size):
        total = totals[done]
        if not total:
            continue
        of = weights(done)
        rest = everything & ~done
        # Subsets of the rest, smallest number first, so that each product extends another.
        products = {0: -total}
        sub = 0
        while sub != rest:
            sub = (sub - rest) & rest
            low = sub & -sub
            product = -products[sub ^ low] * of[low.bit_length() - 1]
            products[sub] = product
            if product:
                totals[done | sub] += product
    return totals[everything]


@cache
def acyclic_codes(size: int) -> NDArray[np.bool_]:
    """Tell for each code of parent sets whether it has no circle; see `parents_code`."""
    codes = np.arange(1 << size * (size - 1), dtype=np.uint32)
    width, low = size - 1, np.uint32((1 << size - 1) - 1)
    placed = np.zeros(len(codes), dtype=np.uint32)
    for _ in range(size):
        for v in range(size):
            field = codes >> np.uint32(v * width) & low
            below = field & np.uint32((1 << v) - 1)
            parents = below | (field ^ below) << np.uint32(1)
            placed |= (parents & ~placed == 0).astype(np.uint32) << np.uint32(v)
    return np.equal(placed, (1 << size) - 1)


def parents_code(size: int, v: int, parents: int) -> int:
    """Return the parents of one variable as a part of a code; the code of a graph is their union.

    Examples:
        >>> bool(acyclic_codes(2)[parents_code(2, 0, 0b10) | parents_code(2, 1, 0b01)])
        False

    """
    below = parents & ((1 << v) - 1)
    return (below | (parents ^ below) >> 1) << v * (size - 1)
