"""Exact evidence against plain enumeration with full replay.

1,067 random instances with gold functions drawn at random, each one in all four disclosures: n from
2 to 5, 1 to 3 roots (so up to 4 endogenous variables), k from 1 to 3, and 1 to 12 worlds of 1 to 6
rows. Small instances are many and large ones few (see `STRATA`), because the twin enumerates. Where
it finds more than `MOST` SCMs it stops, and the count must be larger than that; 1,022 instances are
enumerated to the end in all four disclosures.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import islice, pairwise, product
from typing import Any, get_args

import pytest
from tests.tables import sampled
from tests.twins import replayscm_twin as twin

from whybench.causal.graph import members
from whybench.causal.seeds import Stream
from whybench.families.replayscm.proof.evidence import Evidence
from whybench.families.replayscm.proof.fit import smallest, smallest_ones
from whybench.families.replayscm.world.generation.source import told_of
from whybench.families.replayscm.world.gold_scm import ROOTS, Latent
from whybench.families.replayscm.world.minimal_formulas import sizes
from whybench.families.replayscm.world.world import Disclosure, Rows, Scm, Table, Told

DISCLOSURES: tuple[Disclosure, ...] = get_args(Disclosure)
MOST = 400
"""Enumeration stops here."""
QUERIES = 3
"""New interventions for each instance, one row each."""
LISTED = 50
"""How many of the smallest SCMs are looked at."""

STRATA = {
    # n, roots, k: instances drawn, those of them enumerated to the end in all four disclosures
    (2, 1, 1): (40, 40),
    (3, 1, 1): (120, 120),
    (3, 1, 2): (180, 180),
    (3, 2, 1): (60, 60),
    (3, 2, 2): (150, 150),
    (4, 1, 1): (80, 80),
    (4, 1, 2): (36, 33),
    (4, 1, 3): (16, 6),
    (4, 2, 2): (80, 74),
    (4, 2, 3): (40, 27),
    (4, 3, 1): (40, 40),
    (4, 3, 2): (80, 80),
    (4, 3, 3): (80, 78),
    (5, 1, 1): (12, 10),
    (5, 1, 2): (4, 2),
    (5, 2, 1): (16, 16),
    (5, 2, 2): (5, 5),
    (5, 3, 2): (20, 17),
    (5, 3, 3): (8, 4),
}


@dataclass(frozen=True)
class Case:
    """A random SCM, what was seen of it, and new rows of it."""

    n: int
    k: int
    order: tuple[int, ...]
    roots: frozenset[int]
    blocks: tuple[tuple[int, ...], ...]
    gold: twin.Scm
    worlds: tuple[twin.World, ...]
    queries: tuple[tuple[frozenset[int], twin.Row], ...]

    def told(self, disclosure: Disclosure) -> Told:
        """What the package is told, written down anew; the package's own must agree."""
        every = mask(range(self.n))
        admissible = [every & ~(1 << v) for v in range(self.n)]
        if disclosure == "ordered":
            admissible = [mask(self.order[: self.order.index(v)]) for v in range(self.n)]
        if disclosure == "block":
            for at, block in enumerate(self.blocks):
                there = mask(v for earlier in self.blocks[: at + 1] for v in earlier)
                for v in block:
                    admissible[v] = there & ~(1 << v)
        if disclosure != "roots":
            admissible = [0 if v in self.roots else admissible[v] for v in range(self.n)]
        known = None if disclosure == "roots" else mask(self.roots)
        written = Told(
            self.n, self.k, len(self.roots), known, tuple(admissible), disclosure == "ordered"
        )
        if len(self.roots) == ROOTS:
            latent = Latent(self.n, self.k, self.order, ("",) * self.n, ((),) * ROOTS)
            assert told_of(latent, disclosure, self.blocks) == written
        return written

    def given(self, disclosure: Disclosure) -> dict[str, Any]:
        """What the twin is told."""
        if disclosure == "roots":
            return {"root_count": len(self.roots)}
        told: dict[str, Any] = {"roots": self.roots}
        if disclosure == "ordered":
            told["order"] = self.order
        if disclosure == "block":
            told["blocks"] = self.blocks
        return told

    def evidence(self, disclosure: Disclosure) -> Evidence:
        tables = [
            Table.of(self.n, mask(targets), "hard_assigned", [row_set(row) for row in rows])
            for targets, rows in self.worlds
        ]
        return Evidence(self.told(disclosure), Rows.of(self.n, tables))

    def fitting(self, disclosure: Disclosure) -> list[twin.Scm] | None:
        """All SCMs that fit; None if there are too many."""
        found = twin.consistent(
            self.n, self.k, self.worlds, disclosure, limit=MOST, **self.given(disclosure)
        )
        try:
            return list(found)
        except twin.TooManyError:
            return None


def mask(variables: Any) -> int:
    return sum(1 << v for v in variables)


def row_set(row: twin.Row) -> int:
    return mask(v for v, value in enumerate(row) if value)


def random_case(stream: Stream, n: int, root_count: int, k: int) -> Case:
    order = tuple(stream.shuffled(range(n)))
    roots = frozenset(order[:root_count])
    gold = []
    for at in range(root_count, n):
        parents = tuple(sorted(stream.sample(order[:at], stream.below(min(k, at) + 1))))
        table = tuple(stream.below(2) for _ in range(2 ** len(parents)))
        gold.append((order[at], (parents, table)))
    truth = twin.Scm(roots, tuple(sorted(gold)))

    def seen(targets: frozenset[int]) -> twin.Row:
        return twin.replay(truth, n, targets, tuple(stream.below(2) for _ in range(n)))

    def intervention() -> frozenset[int]:
        return frozenset(stream.sample(range(n), stream.below(n)))

    worlds: list[twin.World] = []
    for _ in range(stream.choice((1, 2, 3, 6, 9, 12))):
        targets = intervention() if worlds else frozenset()
        worlds.append((targets, [seen(targets) for _ in range(1 + stream.below(6))]))
    cuts = sorted(stream.sample(range(root_count, n), stream.below(n - root_count + 1)))
    edges = [0, *cuts, n]
    blocks = tuple(tuple(stream.shuffled(order[start:end])) for start, end in pairwise(edges))
    queries = tuple((targets := intervention(), seen(targets)) for _ in range(QUERIES))
    return Case(n, k, order, roots, blocks, truth, tuple(worlds), queries)


# The twin's SCMs in the package's words


def wide(n: int, parents: tuple[int, ...], table: tuple[int, ...]) -> int:
    """A truth table over all n variables: bit r is the value where variable v is r >> v & 1."""
    found = 0
    for r in range(2**n):
        values = [r >> v & 1 for v in range(n)]
        found |= table[twin.entry(parents, values)] << r
    return found


@cache
def as_scm(n: int, scm: twin.Scm) -> Scm:
    mechanisms = scm.mechanisms
    return Scm(
        n,
        mask(scm.roots),
        tuple(wide(n, *mechanisms[v]) if v in mechanisms else 0 for v in range(n)),
    )


@cache
def size(arguments: int, table: tuple[int, ...]) -> int:
    """The size of a function's smallest formula: a table over the first of four inputs."""
    four = wide(4, tuple(range(arguments)), table)
    return int(sizes()[four])


def total(scm: twin.Scm) -> int:
    return sum(size(len(parents), table) for _, (parents, table) in scm.items)


@pytest.mark.parametrize("stratum", sampled((one,) for one in STRATA), ids=str)
def test_evidence_agrees_with_enumeration(stratum: tuple[int, int, int]) -> None:
    stream = Stream("twin", "replayscm", *stratum)
    drawn, complete = STRATA[stratum]
    for _ in range(drawn):
        case = random_case(stream, *stratum)
        every = [case.fitting(told) for told in DISCLOSURES]
        for told, fitting in zip(DISCLOSURES, every, strict=True):
            evidence = case.evidence(told)
            if fitting is None:
                assert evidence.count > MOST
                continue
            assert evidence.count == len(fitting) >= 1
            check_what_is_determined(case, evidence, fitting)
            check_mechanisms_and_uniqueness(evidence, fitting)
            check_smallest(evidence, fitting)
        complete -= None not in every
    assert complete == 0


def test_a_thousand_instances_are_compared_in_full() -> None:
    assert sum(drawn for drawn, _ in STRATA.values()) == 1_067
    assert sum(complete for _, complete in STRATA.values()) >= 1_000


def check_what_is_determined(case: Case, evidence: Evidence, fitting: list[twin.Scm]) -> None:
    """A row is determined where all replay it; first differences lie in open cells only."""
    for targets, row in case.queries:
        apart = [scm for scm in fitting if twin.replay(scm, case.n, targets, row) != row]
        assert evidence.determines([row_set(row)], mask(targets)) == (not apart)
        cells = evidence.open_cells(row_set(row), mask(targets))
        for scm in apart:
            assert not mask(twin.first_differences(scm, case.n, targets, row)) & ~cells


def check_mechanisms_and_uniqueness(evidence: Evidence, fitting: list[twin.Scm]) -> None:
    """Contexts give exactly the functions that a variable has in some SCM that fits."""
    told, scms = evidence.told, [as_scm(evidence.told.n, scm) for scm in fitting]
    functions = []
    for v in range(told.n):
        of_v = {scm.tables[v] for scm in scms if not scm.roots >> v & 1}
        assert set(by_contexts(evidence, v)) == of_v
        functions.append(len(of_v))
    alone = max(functions) <= 1 and sum(functions) == told.n - told.root_count
    assert alone == (len(fitting) == 1)


def by_contexts(evidence: Evidence, v: int) -> Iterator[int]:
    """All functions of the largest sets of parents that agree with the rows of a variable."""
    patterns, n = evidence.patterns[v], evidence.told.n
    for q in evidence.arguments[v]:
        assert patterns is not None
        inputs = tuple(members(q))
        seen: list[tuple[int, ...]] = []
        for values in product((0, 1), repeat=len(inputs)):
            place = mask(u for u, value in zip(inputs, values, strict=True) if value)
            zero, one = patterns.zero(q) >> place & 1, patterns.one(q) >> place & 1
            seen.append((0,) * zero + (1,) * one or (0, 1))
        for table in product(*seen):
            yield wide(n, inputs, table)


def check_smallest(evidence: Evidence, fitting: list[twin.Scm]) -> None:
    """The smallest SCM is one, and for known roots all come out, smallest first."""
    size_of = {as_scm(evidence.told.n, scm): total(scm) for scm in fitting}
    found = smallest(evidence)
    assert found is not None
    assert size_of[found] == min(size_of.values())
    if evidence.told.roots is None:
        return
    few = len(fitting) <= LISTED
    listed = smallest_ones(evidence, LISTED + 1, 10**6)
    scms = list(listed if few else islice(listed, LISTED))
    assert len(set(scms)) == len(scms) == min(LISTED, len(fitting))
    assert [size_of[scm] for scm in scms] == sorted(size_of.values())[:LISTED]
