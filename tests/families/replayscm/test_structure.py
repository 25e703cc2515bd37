from __future__ import annotations

import sys
from itertools import combinations
from math import lgamma

import numpy as np
import pytest

from whybench.causal.graph import Graph, members, transpose
from whybench.causal.seeds import Stream
from whybench.families.replayscm.agents import structure
from whybench.families.replayscm.agents.structure import LocalScores, proposals, root_hypotheses
from whybench.families.replayscm.world.world import Rows, Table

pytest.importorskip("pgmpy")

EVERY = 0b111111
OWN = 0b000111
ORDERED = (0, 0, 0, 0b000111, 0b001111, 0b011111)
HIDDEN = (0, 0, 0, *(EVERY & ~(1 << v) for v in (3, 4, 5)))
TRUE = (0, 0, 0, 0b000011, 0b001100, 0b010001)


def simulated(stream: Stream, targets: list[int], size: int = 12) -> Rows:
    """X4 = X1 xor X2, X5 = X3 and X4, X6 = X1 or X5; clamped variables are set at random."""
    tables = []
    for clamped in targets:
        rows = []
        for _ in range(size):
            x = [stream.below(2) for _ in range(6)]
            x[3] = x[3] if clamped >> 3 & 1 else x[0] ^ x[1]
            x[4] = x[4] if clamped >> 4 & 1 else x[2] & x[3]
            x[5] = x[5] if clamped >> 5 & 1 else x[0] | x[4]
            rows.append(sum(bit << v for v, bit in enumerate(x)))
        tables.append(Table.of(6, clamped, "hard_assigned" if clamped else "none", rows))
    return Rows.of(6, tables)


def noise(stream: Stream, n: int, size: int, clamped: bool = True) -> Rows:
    """Columns that have little to do with each other, so that searches take many turns."""
    columns = [sum(stream.below(2) << r for r in range(size)) for _ in range(n)]
    for v in range(2, n):
        columns[v] = columns[v] & columns[v - 1] | columns[v - 2] & ~columns[v]
    every = (1 << size) - 1
    free = [every & ~(15 << 4 * v) if clamped else every for v in range(n)]
    return Rows(size, tuple(columns), tuple(free))


@pytest.fixture(scope="module")
def experiments() -> Rows:
    return simulated(Stream("structure"), [0, 0, 8, 16, 32, 1, 24, 0b100010, 4, 0])


def matrix(rows: Rows) -> np.ndarray:
    return np.array([[column >> r & 1 for column in rows.columns] for r in range(rows.size)])


@pytest.mark.parametrize("size", [1.0, 10.0])
def test_without_interventions_the_score_is_pgmpys(size):
    pandas = pytest.importorskip("pandas")
    from pgmpy.structure_score import BDeu

    rows = noise(Stream("observed"), 5, 60, clamped=False)
    theirs = BDeu(
        pandas.DataFrame(matrix(rows)),
        equivalent_sample_size=size,
        state_names={v: [0, 1] for v in range(5)},
    )
    ours = LocalScores(rows, size)
    for v in range(5):
        for count in range(5):
            for parents in combinations([u for u in range(5) if u != v], count):
                expected = theirs.local_score(v, parents)
                assert ours.of(v, sum(1 << u for u in parents)) == pytest.approx(expected)


def test_with_interventions_the_score_is_that_of_the_free_rows():
    rows = noise(Stream("clamped"), 5, 60)
    for v in range(5):
        kept = [r for r in range(60) if rows.free[v] >> r & 1]
        assert len(kept) == 56
        columns = tuple(sum((c >> r & 1) << i for i, r in enumerate(kept)) for c in rows.columns)
        alone = LocalScores(Rows(56, columns, ((1 << 56) - 1,) * 5))
        for parents in range(32):
            if not parents >> v & 1:
                assert LocalScores(rows).of(v, parents) == pytest.approx(alone.of(v, parents))


def test_a_score_by_hand():
    scores = LocalScores(Rows(3, (0b011, 0b001), (0b111, 0b011)), size=2.0)
    cell = lgamma(1.0) - lgamma(1.0 + 2) + 2 * (lgamma(0.5 + 1) - lgamma(0.5))
    assert scores.of(1, parents=0b01) == pytest.approx(cell)


def test_the_right_parents_come_first_when_the_order_is_told(experiments):
    assert next(proposals(experiments, ORDERED, OWN, 4)) == TRUE


def test_the_right_parents_are_proposed_when_the_order_is_hidden(experiments):
    assert TRUE in list(proposals(experiments, HIDDEN, OWN, 4, Stream("boot"), replicates=10))


def test_rows_that_clamp_a_variable_say_nothing_about_its_parents():
    copies = [
        Table.of(2, 0, "none", [0b00, 0b11] * 8),
        Table.of(2, 0b10, "hard_assigned", [0b01, 0b10] * 8),
    ]
    rows = Rows.of(2, copies)
    blind = Rows(rows.size, rows.columns, ((1 << rows.size) - 1,) * 2)
    assert next(proposals(rows, (0, 0b01), 0b01, 1)) == (0, 0b01)
    assert next(proposals(blind, (0, 0b01), 0b01, 1)) == (0, 0)


def test_clamping_a_cause_and_not_its_effect_gives_the_direction():
    stream = Stream("direction")
    observed = [stream.choice([0b00, 0b11]) for _ in range(10)]
    cause_set = [stream.choice([0b00, 0b11]) for _ in range(20)]
    effect_set = [stream.below(4) for _ in range(20)]
    rows = Rows.of(
        2,
        [
            Table.of(2, 0, "none", observed),
            Table.of(2, 0b01, "hard_assigned", cause_set),
            Table.of(2, 0b10, "hard_assigned", effect_set),
        ],
    )
    assert next(proposals(rows, (0b10, 0b01), 0, 1)) == (0, 0b01)


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("admissible", [ORDERED, HIDDEN])
def test_constraints_hold(experiments, admissible, k):
    found = list(proposals(experiments, admissible, OWN, k, Stream("held", k), replicates=6))
    assert len(set(found)) == len(found) >= 2
    for parents in found:
        assert Graph(transpose(parents)).is_acyclic()
        for v, chosen in enumerate(parents):
            assert chosen & ~admissible[v] == 0
            assert chosen.bit_count() <= k
            assert not (OWN >> v & 1 and chosen)


def test_roots_have_no_parents_even_where_some_are_admissible(experiments):
    everything = [EVERY] * 6
    for parents in proposals(experiments, everything, OWN, 3):
        assert parents[:3] == (0, 0, 0)


def test_nothing_admissible_is_an_empty_graph(experiments):
    assert list(proposals(experiments, [0] * 6, EVERY, 3)) == [(0,) * 6]


def test_a_stream_decides_the_proposals():
    rows = noise(Stream("unclear"), 6, 40)

    def run(stream: Stream | None) -> list[tuple[int, ...]]:
        return list(proposals(rows, HIDDEN, OWN, 4, stream, replicates=8))

    asis = run(None)
    assert run(Stream("a")) == run(Stream("a")) != run(Stream("b"))
    assert run(Stream("a"))[: len(asis)] == run(Stream("b"))[: len(asis)] == asis
    assert run(Stream("a")) == list(
        proposals(rows, HIDDEN, OWN, 4, Stream("a"), replicates=8, scores=LocalScores(rows))
    )


@pytest.mark.parametrize("search", ["tabu", "hill_climbing"])
@pytest.mark.parametrize("case", range(12))
def test_the_search_is_pgmpys(case, search, monkeypatch):
    """Against the steps that pgmpy lists itself, put in our order: every step and the result."""
    from pgmpy.causal_discovery import HillClimbSearch

    library = structure._library()
    ours = library.Climb._legal_operations_dag
    rank = {"+": 0, "-": 1, "flip": 2}

    def theirs(self, **given):
        listed = list(ours(self, **given))
        if not listed:
            return
        plain = HillClimbSearch._legal_operations_dag(self, **given)
        steps = [((rank[kind], edge), (kind, edge), round(gain, 9)) for (kind, edge), gain in plain]
        steps.sort()
        assert [step for _, step, _ in steps] == [step for step, _ in listed]
        assert [gain for _, _, gain in steps] == pytest.approx([gain for _, gain in listed])
        yield from ((step, gain) for _, step, gain in steps)

    stream = Stream("twin", case)
    n = 5 + case % 3
    rows = noise(stream, n, 40)
    allowed = [stream.below(1 << n) & ~(1 << v) | 1 << (v + 1) % n for v in range(n)]
    expected = structure.searched(LocalScores(rows), allowed, 2 + case % 2, search)
    monkeypatch.setattr(library.Climb, "_legal_operations_dag", theirs)
    assert structure.searched(LocalScores(rows), allowed, 2 + case % 2, search) == expected
    assert any(expected)


def test_tabu_search_gets_further_than_hill_climbing():
    reached = {"tabu": 0.0, "hill_climbing": 0.0}
    for case in range(20):
        scores = LocalScores(noise(Stream("further", case), 7, 50))
        allowed = [127 & ~(1 << v) for v in range(7)]
        for search in reached:
            reached[search] += scores.total(structure.searched(scores, allowed, 3, search))
    assert reached["tabu"] > reached["hill_climbing"] + 1


def test_a_resample_keeps_rows_whole():
    rows = noise(Stream("rows"), 5, 43)
    drawn = structure.resampled(rows, Stream("draw"))

    def whole(rows: Rows) -> list[tuple[int, ...]]:
        return [tuple(c >> r & 1 for c in (*rows.columns, *rows.free)) for r in range(rows.size)]

    assert drawn.size == 43
    assert all(column < 1 << 43 for column in (*drawn.columns, *drawn.free))
    assert set(whole(drawn)) < set(whole(rows))
    assert drawn != structure.resampled(rows, Stream("other"))


def test_root_sets_are_ordered_by_their_best_graph():
    """Against all graphs on four variables."""
    rows = noise(Stream("roots"), 4, 30)
    scores = LocalScores(rows)
    best: dict[int, float] = {}
    for code in range(1 << 12):
        edges = [(u, v) for u in range(4) for v in range(4) if u != v]
        graph = Graph.from_edges(4, (edges[e] for e in members(code)))
        if graph.is_acyclic() and max(p.bit_count() for p in graph.parents()) <= 2:
            total = scores.total(graph.parents())
            best[graph.sources()] = max(best.get(graph.sources(), total), total)
    for count in (1, 2, 3):
        sets = [s for s in range(16) if s.bit_count() == count]
        found = root_hypotheses(rows, 4, count, k=2)
        assert sorted(found) == sets
        assert [best[s] for s in found] == pytest.approx(sorted(best[s] for s in sets)[::-1])


def test_the_true_roots_come_first(experiments):
    ranked = root_hypotheses(experiments, 6, 3)
    assert len(ranked) == 20
    assert ranked[0] == OWN


def test_bad_arguments_are_refused(experiments):
    other = LocalScores(noise(Stream("other"), 6, 10))
    with pytest.raises(ValueError, match="give one for each"):
        next(proposals(experiments, ORDERED[:5], OWN, 3))
    with pytest.raises(ValueError, match="k ≥ 1"):
        next(proposals(experiments, ORDERED, OWN, 0))
    with pytest.raises(ValueError, match="other rows"):
        next(proposals(experiments, ORDERED, OWN, 3, scores=other))
    with pytest.raises(ValueError, match="positive"):
        LocalScores(experiments, 0.0)
    with pytest.raises(ValueError, match="give 1 … 6"):
        root_hypotheses(experiments, 6, 7)


def test_without_pgmpy_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "pgmpy.causal_discovery", None)
    with pytest.raises(RuntimeError, match=r"whybench\[structure\]"):
        structure._library.__wrapped__()
