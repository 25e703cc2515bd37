import json
from collections import defaultdict
from collections.abc import Callable
from itertools import combinations
from math import factorial
from pathlib import Path

import pytest
from tests.effort import calls
from tests.twins import equivalence_twin as twin

from whybench.causal.equivalence import EssentialGraph, _close, class_size, essential
from whybench.causal.graph import Graph, members
from whybench.causal.seeds import Stream

DATA = Path(__file__).parents[3] / "shared" / "data" / "causalab"


def random_dag(stream: Stream, n: int) -> Graph:
    edges = [pair for pair in combinations(range(n), 2) if stream.below(2)]
    return Graph.from_edges(n, edges).relabelled(stream.shuffled(range(n)))


def without_colliders(stream: Stream, n: int) -> Graph:
    """A DAG whose skeleton is chordal and stays wholly undirected: parents are always a clique."""
    edges: list[tuple[int, int]] = []
    for v in range(1, n):
        parents: list[int] = []
        for u in stream.shuffled(range(v)):
            if len(parents) < 2 and all((min(u, p), max(u, p)) in edges for p in parents):
                parents.append(u)
        edges += [(p, v) for p in parents[: 1 + stream.below(2)]]
    return Graph.from_edges(n, edges).relabelled(stream.shuffled(range(n)))


def path(n: int) -> Graph:
    return Graph.from_edges(n, [(v, v + 1) for v in range(n - 1)])


def complete(n: int) -> Graph:
    return Graph.from_edges(n, combinations(range(n), 2))


def expected(n: int, alike: list[twin.Dag]) -> EssentialGraph:
    """The essential graph of a class, from its members alone."""
    directed = twin.shared(alike)
    union = frozenset().union(*alike)
    return EssentialGraph(
        Graph.from_edges(n, directed).children, Graph.from_edges(n, union - directed).children
    )


@pytest.mark.parametrize("n", [0, 1, 2, 3, 4])
def test_every_small_dag_and_target_set_agrees_with_the_definition(n: int) -> None:
    every = list(twin.dags(n))
    assert len(every) == (1, 1, 3, 25, 543)[n]
    graphs = {dag: Graph.from_edges(n, dag) for dag in every}
    for targets in range(1 << n):
        classes: dict[object, list[twin.Dag]] = defaultdict(list)
        for dag in every:
            classes[twin.looks(dag, members(targets))].append(dag)
        for alike in classes.values():
            graph = expected(n, alike)
            for dag in alike:
                assert class_size(graphs[dag], targets) == len(alike)
                assert essential(graphs[dag], targets) == graph


@pytest.mark.parametrize(
    ("draw", "n", "rounds"), [(random_dag, 5, 300), (without_colliders, 6, 60)]
)
def test_random_dags_agree_with_all_orientations_of_their_skeleton(
    draw: Callable[[Stream, int], Graph], n: int, rounds: int
) -> None:
    stream = Stream("equivalence", "orientations", n)
    sizes = set()
    for _ in range(rounds):
        graph = draw(stream, n)
        dag = frozenset(graph.edges())
        observed = [d for d in twin.orientations(dag) if twin.look(d) == twin.look(dag)]
        for targets in (0, 1 << stream.below(n), stream.below(1 << n)):
            seen = twin.looks(dag, members(targets))
            alike = [d for d in observed if twin.looks(d, members(targets)) == seen]
            assert class_size(graph, targets) == len(alike)
            assert essential(graph, targets) == expected(n, alike)
            sizes.add(len(alike))
    assert len(sizes) > 5


@pytest.mark.parametrize("n", [1, 2, 3, 5, 8, 12])
def test_closed_forms_of_he_jia_and_yu(n: int) -> None:
    everything = complete(n).edges()
    star = Graph.from_edges(n, [(0, v) for v in range(1, n)])
    assert class_size(path(n)) == class_size(star) == n
    assert class_size(complete(n)) == factorial(n)
    assert class_size(Graph.from_edges(n, [])) == 1
    if n >= 3:  # one cycle; complete but for one edge, or below for two
        ring = Graph.from_edges(n, [*path(n).edges(), (0, 2)])
        assert class_size(ring) == 2 * n
        short = Graph.from_edges(n, [e for e in everything if e != (n - 2, n - 1)])
        assert class_size(short) == 2 * factorial(n - 1) - factorial(n - 2)
    if n >= 5:
        gone = {(n - 3, n - 1), (n - 2, n - 1)}
        shorter = Graph.from_edges(n, [e for e in everything if e not in gone])
        assert class_size(shorter) == (n * n - n - 4) * factorial(n - 3)


def test_known_classes() -> None:
    collider = Graph.from_edges(3, [(0, 2), (1, 2)])
    assert class_size(collider) == 1
    two_paths = Graph.from_edges(6, [(0, 1), (1, 2), (3, 4), (4, 5)])
    assert class_size(two_paths) == 9
    assert class_size(two_paths, targets=0b000001) == 3
    # A fan: 1 joined to each node of the path 0, 2, 3, 4, 5. As source, 1 leaves the path (5), an
    # end of the path one edge (2), a middle node a path of three (3). With source 0, 2 and 4 being
    # apart gives 3 → 4, and only that gives 4 → 5.
    fan = Graph.from_edges(
        6, [(0, 1), (0, 2), (1, 2), (1, 3), (2, 3), (1, 4), (3, 4), (1, 5), (4, 5)]
    )
    assert class_size(fan) == 5 + 2 * 2 + 3 * 3
    for v in range(6):  # a target in a complete graph tells who is before it and who after
        size = class_size(complete(6), targets=1 << v)
        assert size == factorial(v) * factorial(5 - v)


def test_a_target_never_enlarges_the_class_and_all_but_one_settle_it() -> None:
    stream = Stream("equivalence", "targets")
    for _ in range(300):
        n = stream.below(7) + 2
        graph = random_dag(stream, n)
        targets, sizes = 0, [class_size(graph)]
        for v in stream.shuffled(range(n))[1:]:
            targets |= 1 << v
            sizes.append(class_size(graph, targets))
        assert sizes == sorted(sizes, reverse=True)
        assert sizes[-1] == 1


def test_meeks_fourth_rule_serves_other_knowledge() -> None:
    """Knowing d → c → b and no more is not what a target reveals, so `_close` is asked itself."""
    a, b, c, d = range(4)
    graph = Graph.from_edges(4, [(d, c), (c, b), (a, b), (a, c), (a, d)])
    known = [0, 0, 1 << b, 1 << c]
    _close(graph, [1 << b | 1 << c | 1 << d, 1 << a | 1 << c, 0b1011, 1 << a | 1 << c], known)
    assert known == [1 << b, 0, 1 << b, 1 << c]


def test_twelve_nodes_cost_little() -> None:
    stream = Stream("equivalence", "speed")
    graphs = [random_dag(stream, 12) for _ in range(100)]
    for graph in [*graphs, complete(12), path(12)]:
        assert calls(class_size, graph) < 5_000


def test_bad_input_is_refused() -> None:
    for asked in (essential, class_size):
        with pytest.raises(ValueError, match="cycle"):
            asked(Graph.from_edges(2, [(0, 1), (1, 0)]), 0)
        for targets in (-1, 0b100):
            with pytest.raises(ValueError, match="outside"):
                asked(path(2), targets)


@pytest.mark.skipif(not DATA.is_dir(), reason="needs the released CausaLab suites")
@pytest.mark.parametrize(
    ("suite", "means"), [("3nodes", [4.36, 1.34, 1.00]), ("4nodes", [8.64, 2.07, 1.17, 1.00])]
)
def test_mean_class_sizes_of_the_released_suites(suite: str, means: list[float]) -> None:
    """The mean over records and over the sets of k targets among the controllable nodes."""
    found: dict[int, list[int]] = defaultdict(list)
    for line in (DATA / f"{suite}.jsonl").read_text().splitlines():
        record = json.loads(line)
        names = list(record["nodes"])
        edges = [(names.index(e["from"]), names.index(e["to"])) for e in record["edges"]]
        graph = Graph.from_edges(len(names), edges)
        free = [v for v, name in enumerate(names) if record["nodes"][name]["is_controllable"]]
        for k in range(len(means)):
            for targets in combinations(free, k):
                found[k].append(class_size(graph, sum(1 << v for v in targets)))
    assert [round(sum(s) / len(s), 2) for s in found.values()] == means
