"""Choose the exact agent's next experiment without knowing the truth.

The agent treats the smallest SCM that fits as the truth. A root that it does not set may have
either value. Under these assumptions it knows two probabilities for each row: that the row shows a
pattern not yet seen, and that the row refutes a set of parents. It fills a world row by row, each
time with the assignment of the highest worth. Whatever earlier rows have probably settled counts
less. `Demands` holds what is still to be settled.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from whybench.causal.graph import members
from whybench.causal.seeds import Stream
from whybench.families.replayscm.alternative import candidate_of
from whybench.families.replayscm.proof.evidence import Evidence
from whybench.families.replayscm.proof.fit import INPUTS, formulas, smallest
from whybench.families.replayscm.submission import Candidate
from whybench.families.replayscm.world.gold_scm import MOST_TARGETS
from whybench.families.replayscm.world.replay import simulate
from whybench.families.replayscm.world.world import Rows, Scm, View


@dataclass(slots=True)
class Demands:
    """Sets of parents that are not yet settled; each entry of the arrays is one set.

    Every function of a set Q of parents that fits a variable's rows must be ruled out, unless it
    is the one of the SCM that the agent holds for true. If Q contains the variable's parents, every
    pattern of Q must be seen. Otherwise two rows must agree on Q and differ in the variable.
    """

    variable: NDArray[np.int64]
    sets: list[int]
    complete: NDArray[np.bool_]
    """Whether the set holds the gold parents, so that all its patterns must be seen."""
    seen: NDArray[np.bool_]
    """[entry, value, pattern]."""
    weight: NDArray[np.int64]
    """The worth of refuting a set: the number of patterns that need no longer be seen, plus 1."""

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


PROPOSED = 40
"""Target sets looked at."""
SHORTLIST = 5
"""Those of them that are filled row by row."""


def next_setting(view: View, stream: Stream) -> dict[str, str]:
    """Return the setting of the next experiment."""
    evidence = Evidence(view.told.at_most(INPUTS), Rows.of(view.n, view.train))
    stand_in = smallest(evidence)
    if stand_in is None:
        raise ValueError("No SCM of the class fits what was seen, so the laboratory has a bug.")
    demands = Demands.of(evidence, stand_in)
    scm, units = candidate_of(formulas(stand_in)), view.train[0].size
    subsets = [
        targets
        for size in range(1, MOST_TARGETS + 1)
        for targets in combinations(range(view.n), size)
    ]
    plans = [
        _Plan(view.n, scm, targets, demands)
        for targets in stream.sample(subsets, min(PROPOSED, len(subsets)))
    ]
    plans.sort(key=lambda plan: -plan.promise())
    filled = [plan.filled(units) for plan in plans[:SHORTLIST]]
    best = max(range(len(filled)), key=lambda i: filled[i][0])
    chosen = filled[best][1]
    return {
        view.names[v]: "".join(str(choice >> i & 1) for choice in chosen)
        for i, v in enumerate(plans[best].targets)
    }


class _Plan:
    """An experiment whose targets are chosen and whose assignments are not."""

    def __init__(self, n: int, scm: Candidate, targets: Sequence[int], demands: Demands) -> None:
        self.targets, self.demands = targets, demands
        rows = _outcomes(n, scm, targets)
        self.chances = rows.shape[1]
        flat = rows.ravel()
        clamped = sum(1 << v for v in targets)
        self.free = np.asarray((clamped >> demands.variable & 1) == 0)
        self.patterns = np.array([pattern_numbers(q, n)[flat] for q in demands.sets])
        index = np.arange(len(demands.sets))[:, None]
        value = flat[None, :] >> demands.variable[:, None] & 1
        other = demands.seen[index, 1 - value, self.patterns]
        self.refuting = other & ~demands.complete[:, None] & self.free[:, None]

    def _worth(
        self, unseen: NDArray[np.float64], weight: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return what each assignment is worth, on average over the roots left alone."""
        shown = np.take_along_axis(unseen, self.patterns, axis=1) * self.free[:, None]
        gains = np.where(self.refuting, weight[:, None], shown).sum(axis=0)
        return np.asarray(gains.reshape(-1, self.chances).mean(axis=1))

    def _start(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        seen = self.demands.seen
        return (~(seen[:, 0] | seen[:, 1])).astype(float), self.demands.weight.astype(float)

    def promise(self) -> float:
        """Return what the best single row is worth."""
        return float(self._worth(*self._start()).max())

    def filled(self, units: int) -> tuple[float, list[int]]:
        """Choose an assignment for each row; return the total worth and the choices."""
        unseen, weight = self._start()
        index = np.arange(len(self.demands.sets))
        total, chosen = 0.0, []
        for _ in range(units):
            worth = self._worth(unseen, weight)
            best = int(worth.argmax())
            total += float(worth[best])
            chosen.append(best)
            for c in range(best * self.chances, (best + 1) * self.chances):
                shown = self.patterns[:, c]
                unseen[index[self.free], shown[self.free]] *= 1 - 1 / self.chances
            refuted = self.refuting[:, best * self.chances : (best + 1) * self.chances]
            weight *= 1 - refuted.mean(axis=1)
        return total, chosen


def _outcomes(n: int, scm: Candidate, targets: Sequence[int]) -> NDArray[np.int64]:
    """Return the rows, as sets, by assignment of the targets and of the roots left alone."""
    roots = [root for root in members(scm.roots) if root not in targets]
    inputs = [*roots, *targets]  # lowest bits first: the roots left alone
    size = 1 << len(inputs)
    columns, free = [0] * n, [(1 << size) - 1] * n
    for i, v in enumerate(inputs):
        columns[v], free[v] = sum(1 << r for r in range(size) if r >> i & 1), 0
    seen = simulate(scm, columns, free, size)
    rows = [sum((column >> r & 1) << v for v, column in enumerate(seen)) for r in range(size)]
    return np.array(rows, dtype=np.int64).reshape(-1, 1 << len(roots))
