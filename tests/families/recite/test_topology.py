"""The shape of graphs against its definitions, by enumeration."""

import pytest
from tests.effort import calls
from tests.twins import recite_twin as twin

from whybench.causal.seeds import Stream
from whybench.families.recite.world.topology import CYCLES, METRICS, topology


def test_every_figure_is_what_its_definition_says():
    for i in range(400):
        stream = Stream("recite", "topology", i)
        n = 3 + stream.below(3)
        pairs = [(a, b) for a in range(n) for b in range(n) if a != b]
        edges = frozenset(stream.sample(pairs, stream.below(len(pairs) + 1)))
        found, expected = topology(n, edges), twin.shape(n, edges)
        assert list(found) == list(METRICS)
        assert found == pytest.approx({k: float(v) for k, v in expected.items()}, abs=1e-12)


def test_a_worked_example():
    # A two-cycle 0 ⇄ 1, a chain 1 → 2 → 3, a second cause 4 of 3, and 5 apart.
    found = topology(6, [(0, 1), (1, 0), (1, 2), (2, 3), (4, 3)])
    assert found["sources"] == found["sinks"] == found["cycles"] == found["colliders"] == 1
    assert (found["chains"], found["forks"]) == (2, 1)
    assert found["in_cycles"] == pytest.approx(2 / 6)
    assert (found["sccs"], found["largest_scc"]) == (5, 2)
    # 0: 1, 2, 3 steps; 1: 1, 1, 2; 2: 1; 4: 1.
    assert found["path_length"] == pytest.approx(12 / 8)


def test_a_dense_graph_is_counted_up_to_the_bound_and_flagged():
    n = 60
    edges = [(a, b) for a in range(n) for b in range(n) if a != b]
    found = topology(n, edges)
    assert calls(topology, n, edges) < 1_000_000
    assert (found["cycles"], found["cycles_capped"]) == (CYCLES, 1.0)
    assert found["density"] == found["clustering"] == found["path_length"] == 1.0


def test_just_the_bound_is_not_flagged(monkeypatch):
    monkeypatch.setattr("whybench.families.recite.world.topology.CYCLES", 2)
    two = topology(4, [(0, 1), (1, 0), (2, 3), (3, 2)])
    assert (two["cycles"], two["cycles_capped"]) == (2, 0)
    three = topology(4, [(0, 1), (1, 0), (2, 3), (3, 2), (1, 2), (2, 1)])
    assert (three["cycles"], three["cycles_capped"]) == (2, 1)


@pytest.mark.parametrize("n", [0, 1, 2])
def test_graphs_without_edges_have_a_shape_too(n):
    found = topology(n, [])
    assert found["nodes"] == found["sccs"] == n
    assert found["density"] == found["path_length"] == found["sources"] == 0


def test_self_loops_and_repeated_edges_are_left_out():
    assert topology(3, [(0, 1), (0, 1), (2, 2)]) == topology(3, [(0, 1)])


def test_a_node_that_is_not_there_is_refused():
    with pytest.raises(ValueError, match="outside"):
        topology(3, [(0, 3)])
