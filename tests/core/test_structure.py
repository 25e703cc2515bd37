import itertools
from collections.abc import Callable, Iterable
from fractions import Fraction

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whybench.causal.structure import ancestor_f1, edge_f1, edge_precision, edge_recall, shd

Edge = tuple[int, int]
Graph = frozenset[Edge]
Metric = Callable[[Iterable[Edge], Iterable[Edge]], float]

RATIOS: tuple[Metric, ...] = (edge_precision, edge_recall, edge_f1, ancestor_f1)
NODES = 6

edges = st.tuples(st.integers(0, NODES - 1), st.integers(0, NODES - 1)).filter(
    lambda edge: edge[0] != edge[1]
)
graphs = st.frozensets(edges)


def random_pairs(count: int, key: int) -> Iterable[tuple[int, Graph, Graph]]:
    """Pairs of random graphs of 2 to 6 nodes, from empty to full, some near each other."""
    rng = np.random.Generator(np.random.Philox(key))
    for _ in range(count):
        n = int(rng.integers(2, NODES + 1))
        truth = rng.random((n, n)) < rng.random()
        guess = rng.random((n, n)) < rng.random()
        if rng.random() < 0.5:
            guess = truth ^ (rng.random((n, n)) < 0.2)
        yield n, from_matrix(truth), from_matrix(guess)


def from_matrix(matrix: np.ndarray) -> Graph:
    return frozenset((int(i), int(j)) for i, j in np.argwhere(matrix) if i != j)


def counts(n: int, truth: Graph, guess: Graph) -> tuple[int, int, int]:
    """Hits, false alarms and misses, cell by cell of the adjacency matrix."""
    hits = alarms = misses = 0
    for i in range(n):
        for j in range(n):
            if (i, j) in truth and (i, j) in guess:
                hits += 1
            elif (i, j) in guess:
                alarms += 1
            elif (i, j) in truth:
                misses += 1
    return hits, alarms, misses


def slow_ratios(n: int, truth: Graph, guess: Graph) -> tuple[Fraction, Fraction, Fraction]:
    hits, alarms, misses = counts(n, truth, guess)
    if hits == alarms == misses == 0:
        return Fraction(1), Fraction(1), Fraction(1)
    if hits == 0:
        return Fraction(0), Fraction(0), Fraction(0)
    precision, recall = Fraction(hits, hits + alarms), Fraction(hits, hits + misses)
    return precision, recall, 2 * precision * recall / (precision + recall)


def slow_closure(n: int, graph: Graph) -> Graph:
    """Warshall's loops on a matrix; the diagonal does not count."""
    reach = [[(i, j) in graph for j in range(n)] for i in range(n)]
    for k, i, j in itertools.product(range(n), repeat=3):
        reach[i][j] = reach[i][j] or (reach[i][k] and reach[k][j])
    return frozenset((i, j) for i in range(n) for j in range(n) if i != j and reach[i][j])


PAIR_COST = {  # state of an unordered pair {i, j}, i < j: does i -> j stand, does j -> i stand
    ((0, 0), (0, 0)): 0,
    ((0, 0), (0, 1)): 1,
    ((0, 0), (1, 0)): 1,
    ((0, 0), (1, 1)): 2,
    ((0, 1), (0, 1)): 0,
    ((0, 1), (1, 0)): 1,
    ((0, 1), (1, 1)): 1,
    ((1, 0), (1, 0)): 0,
    ((1, 0), (1, 1)): 1,
    ((1, 1), (1, 1)): 0,
}


def slow_shd(n: int, truth: Graph, guess: Graph) -> int:
    total = 0
    for i, j in itertools.combinations(range(n), 2):
        one = (int((i, j) in truth), int((j, i) in truth))
        two = (int((i, j) in guess), int((j, i) in guess))
        total += PAIR_COST[min(one, two), max(one, two)]
    return total


def neighbours(graph: Graph, possible: list[Edge]) -> Iterable[Graph]:
    """Every graph one added, removed or reversed edge away."""
    for edge in possible:
        yield graph ^ {edge}
        if edge in graph and edge[::-1] not in graph:
            yield (graph - {edge}) | {edge[::-1]}


def steps_from(source: Graph, possible: list[Edge]) -> dict[Graph, int]:
    distance = {source: 0}
    frontier = [source]
    while frontier:
        reached = []
        for graph in frontier:
            for neighbour in neighbours(graph, possible):
                if neighbour not in distance:
                    distance[neighbour] = distance[graph] + 1
                    reached.append(neighbour)
        frontier = reached
    return distance


def test_shd_is_the_fewest_operations_between_all_graphs_of_three_nodes() -> None:
    possible = list(itertools.permutations(range(3), 2))
    every = [frozenset(chosen) for k in range(7) for chosen in itertools.combinations(possible, k)]
    assert len(every) == 64
    for source in every:
        distance = steps_from(source, possible)
        assert len(distance) == 64
        for target in every:
            assert shd(source, target) == distance[target] == slow_shd(3, source, target)


def test_metrics_equal_their_slow_twins() -> None:
    for n, truth, guess in random_pairs(4_000, key=11):
        precision, recall, f1 = slow_ratios(n, truth, guess)
        assert edge_precision(truth, guess) == float(precision)
        assert edge_recall(truth, guess) == float(recall)
        assert edge_f1(truth, guess) == pytest.approx(float(f1), abs=1e-15)
        assert shd(truth, guess) == slow_shd(n, truth, guess)
        closures = slow_closure(n, truth), slow_closure(n, guess)
        ancestors = slow_ratios(n, *closures)[2]
        assert ancestor_f1(truth, guess) == pytest.approx(float(ancestors), abs=1e-15)


def test_the_closure_twin_agrees_with_networkx() -> None:
    for n, truth, _ in random_pairs(500, key=12):
        closed = nx.transitive_closure(nx.DiGraph(truth), reflexive=False)
        assert slow_closure(n, truth) == {(i, j) for i, j in closed.edges if i != j}


@pytest.mark.parametrize("metric", RATIOS)
def test_empty_graphs(metric: Metric) -> None:
    assert metric([], []) == 1.0
    assert metric([(0, 1)], []) == 0.0
    assert metric([], [(0, 1)]) == 0.0


def test_shd_of_a_known_case() -> None:
    truth = [(0, 1), (1, 2), (2, 3)]
    assert shd(truth, []) == 3
    assert shd(truth, [(1, 0), (1, 2), (0, 3)]) == 3  # reversed, missing, extra


def test_nodes_may_be_names_and_edges_may_be_generators_lists_or_repeated() -> None:
    truth = (pair for pair in [("rain", "wet"), ("wet", "slip")])
    assert edge_f1(truth, [("rain", "wet"), ("rain", "wet")]) == pytest.approx(2 / 3)
    from_json: list[tuple[str, str]] = [["rain", "wet"]]  # type: ignore[list-item]  # as JSON has it
    assert shd([("rain", "wet")], from_json) == 0


@pytest.mark.parametrize("metric", [*RATIOS, shd])
def test_bad_edges_say_how_to_mend_them(metric: Metric) -> None:
    for bad, advice in (((1, 1), "self loop at 1; drop it"), ((1, 2, 3), "pair"), ("ab", "pair")):
        with pytest.raises(ValueError, match=advice):
            metric([bad], [])  # type: ignore[list-item]  # wrong on purpose
        with pytest.raises(ValueError, match=advice):
            metric([], [bad])  # type: ignore[list-item]  # wrong on purpose


@given(graphs, graphs, graphs)
def test_shd_is_a_metric(one: Graph, two: Graph, three: Graph) -> None:
    assert shd(one, two) == shd(two, one)
    assert (shd(one, two) == 0) == (one == two)
    assert shd(one, three) <= shd(one, two) + shd(two, three)


@given(graphs, graphs)
def test_ratios_lie_between_zero_and_one_and_swap_roles(truth: Graph, guess: Graph) -> None:
    for metric in RATIOS:
        assert 0.0 <= metric(truth, guess) <= 1.0
        assert metric(truth, truth) == 1.0
    assert edge_precision(truth, guess) == edge_recall(guess, truth)
    assert edge_f1(truth, guess) == edge_f1(guess, truth)
    assert ancestor_f1(truth, guess) == ancestor_f1(guess, truth)
    assert (edge_f1(truth, guess) == 1.0) == (truth == guess)


@given(graphs, graphs, st.permutations(range(NODES)))
def test_renaming_the_nodes_changes_nothing(truth: Graph, guess: Graph, names: list[int]) -> None:
    def renamed(graph: Graph) -> list[tuple[str, str]]:
        return [(f"v{names[i]}", f"v{names[j]}") for i, j in graph]

    assert shd(renamed(truth), renamed(guess)) == shd(truth, guess)
    assert ancestor_f1(renamed(truth), renamed(guess)) == ancestor_f1(truth, guess)
