"""What evidence leaves to be settled, for the exact experimenter.

A function of a set Q of parents that fits a variable's rows and is not the SCM at hand has to be
ruled out. Where Q holds the variable's parents, every pattern of Q must be seen; elsewhere two rows
must agree on Q and differ in the variable.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from whybench.core.graph import members
from whybench.families.replayscm.evidence import Evidence
from whybench.families.replayscm.world import Scm


@dataclass(slots=True)
class Demands:
    """Sets of parents not yet settled, one to an entry of each array."""

    variable: NDArray[np.int64]
    sets: list[int]
    complete: NDArray[np.bool_]
    """Whether the set holds the gold parents, so that all its patterns must be seen."""
    seen: NDArray[np.bool_]
    """[entry, value, pattern]."""
    weight: NDArray[np.int64]
    """What refuting a set is worth: the patterns that need not be seen any more, and one."""

    @classmethod
    def of(cls, evidence: Evidence, gold: Scm) -> Demands:
        """Return what the evidence leaves to be settled."""
        parents = gold.parents
        variable, sets, complete, seen = [], [], [], []
        for v, arguments in enumerate(evidence.arguments):
            patterns = evidence.patterns[v]
            if patterns is None:
                continue
            for q in arguments:
                whole = not gold.roots >> v & 1 and not parents[v] & ~q
                zero, one = (_bits(part, q) for part in (patterns.zero(q), patterns.one(q)))
                if whole and (zero | one).all():
                    continue
                variable.append(v)
                sets.append(q)
                complete.append(whole)
                seen.append((zero, one))
        width = max((len(zero) for zero, _ in seen), default=1)
        stacked = np.ones((len(sets), 2, width), dtype=bool)
        for i, (zero, one) in enumerate(seen):
            stacked[i, 0, : len(zero)], stacked[i, 1, : len(one)] = zero, one
        unseen = (~(stacked[:, 0] | stacked[:, 1])).sum(axis=1)
        return cls(np.array(variable), sets, np.array(complete, dtype=bool), stacked, unseen + 2)


def _bits(sparse: int, q: int) -> NDArray[np.bool_]:
    """Return a bitset over the patterns of a set as an array."""
    found, at = [], 0
    for _ in range(1 << q.bit_count()):
        found.append(bool(sparse >> at & 1))
        at = (at - q) & q
    return np.array(found)


@lru_cache(maxsize=4096)
def pattern_numbers(q: int, n: int) -> NDArray[np.int64]:
    """Return for each row, as a set, the number of its pattern on Q."""
    rows = np.arange(1 << n)
    return np.asarray(sum((rows >> v & 1) << i for i, v in enumerate(members(q))), dtype=np.int64)
