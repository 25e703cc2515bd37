"""Questions about one cell of a further row, matched so that counting rows does not answer them.

Three questions with different answers ask about the same variable under an intervention on the same
targets. The rules of two inputs that fit best say the same of all three. Among all such triples of
a problem, the one is taken in which the rows that were shown look most alike from the three further
rows: how many agree with parts of the further row, and how often the variable is 1 in them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from whybench.causal.graph import members
from whybench.causal.seeds import Stream
from whybench.families.replayscm.proof.cells import answers
from whybench.families.replayscm.proof.evidence import Evidence
from whybench.families.replayscm.proof.pairs import Bools, Ints
from whybench.families.replayscm.world.generation.best_rules import Parents, best_rules, foreseen
from whybench.families.replayscm.world.world import ANSWERS, Asked, Rows, Table

TARGETS = 2
"""The targets of the further row."""
FREE = 2
"""The least number of variables that are neither root nor target."""
FARTHEST = 0.8
"""The largest distance of two of three questions, in standard deviations, that is accepted."""
INPUTS = 2
"""The inputs of the rules that say the same of three questions."""
RIDGE = 10.0
"""The penalty of the regression in `_predictive`."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Pool:
    """The questions about one variable under an intervention on the same targets."""

    targets: int
    variable: int
    rows: Ints
    looks: Floats
    """The `appearance` of each row, with mean 0."""
    said: Bools
    """For each row and each of `ANSWERS` whether it is the right one."""
    foreseen: Ints
    """For each row the value of the variable by the best rules of two inputs."""


def matched_questions(
    evidence: Evidence, train: Sequence[Table], stream: Stream
) -> tuple[Asked, ...]:
    """Return the three questions that look most alike, in random order; nothing if none do.

    No question can be answered by looking up a shown row.
    """
    told = evidence.told
    own = [v for v in range(told.n) if not (told.roots or 0) >> v & 1]
    if len(own) < TARGETS + FREE:
        return ()
    shown = np.array([(row, table.targets) for table in train for row in table.rows()])
    rows = Rows.of(told.n, train)
    parents, _ = best_rules(told, rows, INPUTS)
    pools = [
        pool
        for chosen in combinations(own, TARGETS)
        for pool in _pools(evidence, rows, parents, shown, sum(1 << v for v in chosen))
    ]
    if not pools:
        return ()
    predictive = _predictive(pools)
    found = ((*_nearest(pool, pool.looks @ predictive), pool) for pool in pools)
    least, places, pool = min(found, key=lambda one: one[0])
    asked = [Asked(pool.targets, int(pool.rows[at]), pool.variable) for at in places]
    return tuple(stream.shuffled(asked)) if least < FARTHEST else ()


def _pools(
    evidence: Evidence, seen: Rows, parents: Parents, shown: Ints, targets: int
) -> Iterator[Pool]:
    """Yield for each variable the questions under an intervention, if every answer occurs."""
    known = targets | (evidence.told.roots or 0)
    rows = np.array([0])
    for v in members(known):
        rows = np.concatenate([rows, rows | 1 << v])
    told = list(answers(evidence, targets, rows))
    guess = foreseen(evidence.told, seen, parents, rows, known)
    parts = parts_of(known)
    agrees = agreement(parts, rows, shown[:, 0])
    for v in told[0]:
        free = shown[:, 1] >> v & 1 == 0
        looked_up = (agrees[:, -1] & free & (shown[:, 1] & ~known == 0)).any(axis=1)
        said = np.array([[one[v] == answer for answer in ANSWERS] for one in told])[~looked_up]
        if said.any(axis=0).all():
            looks = appearance(parts, agrees[:, :, free], shown[free, 0] >> v & 1)[~looked_up]
            looks = (looks - looks.mean(axis=0)) / (looks.std(axis=0) + 1e-9)
            yield Pool(targets, v, rows[~looked_up], looks, said, (guess >> v & 1)[~looked_up])


def _predictive(pools: Sequence[Pool]) -> Floats:
    """Return the combinations of figures that tell most about each answer in this problem.

    They are those of a regression over all its questions, scaled to standard deviation 1.
    """
    looks = np.concatenate([pool.looks for pool in pools])
    said = np.concatenate([pool.said - pool.said.mean(axis=0) for pool in pools])
    found = np.linalg.solve(looks.T @ looks + RIDGE * np.eye(looks.shape[1]), looks.T @ said)
    scaled: Floats = found / ((looks @ found).std(axis=0) + 1e-9)
    return scaled


def _nearest(pool: Pool, tells: Floats) -> tuple[float, list[int]]:
    """Return a question of each answer, so that the largest distance between two is small.

    A distance is the root mean square over all figures, plus that over the predictive combinations.
    It is infinite if the best rules say different things.
    """
    looks_far, tells_far = (
        np.sqrt(((one[:, None] - one[None]) ** 2).mean(axis=2)) for one in (pool.looks, tells)
    )
    square = looks_far + tells_far
    square[pool.foreseen[:, None] != pool.foreseen] = np.inf
    yes, no, cannot = (np.flatnonzero(column) for column in pool.said.T)
    most = np.maximum(square[np.ix_(yes, no)][:, :, None], square[np.ix_(yes, cannot)][:, None])
    most = np.maximum(most, square[np.ix_(no, cannot)][None])
    i, j, k = np.unravel_index(int(most.argmin()), most.shape)
    return float(most.min()), [int(yes[i]), int(no[j]), int(cannot[k])]


def parts_of(known: int) -> list[int]:
    """Return the nonempty parts of the known variables, the whole last."""
    return [
        sum(1 << v for v in chosen)
        for size in range(1, known.bit_count() + 1)
        for chosen in combinations(members(known), size)
    ]


def agreement(parts: Sequence[int], rows: Ints, shown: Ints) -> Bools:
    """Return for [row, part, shown row] whether the two rows agree on the part."""
    differs = shown ^ rows[:, None]
    return np.stack([differs & part == 0 for part in parts], axis=1)


def appearance(parts: Sequence[int], agrees: Bools, value: Ints) -> Floats:
    """Return what can be counted, as [further row, figure].

    For each size of parts, the figures are means, least and largest values of: the share of shown
    rows that agree, whether none does, the balance of the variable in them, and whether it is the
    same in all. `agrees` is the `agreement`, `value` the variable in the shown rows.
    """
    count, one = agrees.sum(axis=2), agrees @ value
    each = np.stack(
        [
            count / len(value),
            count == 0,
            (2 * one - count) / (count + 1),
            (count > 0) & ((one == 0) | (one == count)),
        ],
        axis=2,
    )
    sizes = np.array([part.bit_count() for part in parts])
    found = []
    for size in sorted(set(sizes.tolist())):
        of_size = each[:, sizes == size]
        found += [of_size.mean(axis=1), of_size.min(axis=1), of_size.max(axis=1)]
    return np.concatenate(found, axis=1)
