from itertools import combinations, permutations

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whybench.causal.graph import Graph, canonical_form, members, transpose
from whybench.causal.seeds import Stream


def random_graph(stream: Stream, n: int, cyclic: bool = False) -> Graph:
    pairs = permutations(range(n), 2) if cyclic else combinations(range(n), 2)
    return Graph.from_edges(n, [pair for pair in pairs if stream.below(2)])


def test_reach_and_cycles_agree_with_networkx() -> None:
    stream = Stream("graph", "reach")
    for _ in range(2_000):
        n = stream.below(7) + 1
        graph = random_graph(stream, n, cyclic=stream.below(2) == 1)
        twin = nx.DiGraph(graph.edges())
        twin.add_nodes_from(range(n))
        assert graph.is_acyclic() == nx.is_directed_acyclic_graph(twin)
        for v in range(n):
            reached = set(nx.descendants(twin, v))
            if any(v in nx.descendants(twin, c) | {c} for c in twin.successors(v)):
                reached.add(v)
            assert set(members(graph.reach()[v])) == reached
        assert set(members(graph.sources())) == {v for v, d in twin.in_degree() if d == 0}


def slow_canonical(rows: tuple[int, ...], colours: tuple[int, ...]) -> tuple[object, ...]:
    """The smallest relabelled coloured graph over all permutations."""
    n = len(rows)
    codes = []
    for to in permutations(range(n)):
        edges = sorted((to[v], to[c]) for v in range(n) for c in members(rows[v]))
        painted = sorted((to[v], colours[v]) for v in range(n))
        codes.append((tuple(painted), tuple(edges)))
    return min(codes)


def test_canonical_forms_agree_with_brute_force() -> None:
    stream = Stream("graph", "canonical")
    slow: dict[object, object] = {}
    fast: dict[object, object] = {}
    for _ in range(3_000):
        n = stream.below(4) + 2
        graph = random_graph(stream, n, cyclic=stream.below(3) == 0)
        colours = tuple(stream.below(2) for _ in range(n))
        a = slow_canonical(graph.children, colours)
        b = (n, canonical_form(graph.children, colours))
        assert slow.setdefault(a, b) == b
        assert fast.setdefault(b, a) == a
    assert len(slow) > 200


def test_canonical_forms_of_large_symmetric_graphs_are_quick_and_stable() -> None:
    stream = Stream("graph", "symmetric")
    matching = Graph.from_edges(12, [(2 * i, 2 * i + 1) for i in range(6)])
    empty = Graph.from_edges(12, [])
    layers = Graph.from_edges(12, [(a, b) for a in range(6) for b in range(6, 12)])
    for graph in (matching, empty, layers):
        form = canonical_form(graph.children)
        for _ in range(3):
            assert canonical_form(graph.relabelled(stream.shuffled(range(12))).children) == form


def test_canonical_forms_of_many_like_branches_are_quick() -> None:
    """Branches that a symmetry exchanges are not tried one by one: 10! ways would take for ever."""
    stream = Stream("graph", "branches")
    star = [(0, 3 * i + 1) for i in range(10)]
    star += [(3 * i + k, 3 * i + k + 1) for i in range(10) for k in (1, 2)]
    rings = [(3 * i + k, 3 * i + (k + 1) % 3) for i in range(8) for k in range(3)]
    for n, edges in ((31, star), (24, rings)):
        graph = Graph.from_edges(n, edges)
        renamed = graph.relabelled(stream.shuffled(range(n)))
        assert canonical_form(renamed.children) == canonical_form(graph.children)
        fewer = Graph.from_edges(n, edges[1:])
        assert canonical_form(fewer.children) != canonical_form(graph.children)


def test_regular_graphs_that_refinement_does_not_tell_apart_have_other_forms() -> None:
    def both_ways(pairs: list[tuple[int, int]]) -> tuple[int, ...]:
        return Graph.from_edges(6, pairs + [(b, a) for a, b in pairs]).children

    ring = both_ways([(v, (v + 1) % 6) for v in range(6)])
    triangles = both_ways([(3 * i + k, 3 * i + (k + 1) % 3) for i in range(2) for k in range(3)])
    assert canonical_form(ring) != canonical_form(triangles)


@given(st.lists(st.integers(0, 2**6 - 1), min_size=6, max_size=6))
def test_transposing_twice_changes_nothing(rows: list[int]) -> None:
    assert transpose(transpose(rows)) == tuple(rows)


def test_bad_edges_are_refused() -> None:
    for edge in ((0, 0), (0, 3), (-1, 0)):
        with pytest.raises(ValueError, match="does not join"):
            Graph.from_edges(3, [edge])
    with pytest.raises(ValueError, match="one colour"):
        canonical_form((0, 0), (1,))
