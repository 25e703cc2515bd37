"""The graphs are what an episode needs, and as many and as tangled as the paper's."""

import os
import subprocess
import sys
from collections import Counter
from itertools import permutations
from statistics import fmean

import pytest
from tests.effort import calls

from whybench.causal.graph import Graph, canonical_form
from whybench.causal.seeds import Stream
from whybench.families.causalab.world.topology import (
    Edges,
    Statistics,
    draws,
    frequency_moved,
    shape,
    statistics,
    topology,
)

PAPER = {
    3: ((2.56, 0.25, 0.68, 0.72), (0.071, 0.067, 0.064)),
    4: ((4.54, 1.01, 2.18, 2.22), (0.143, 0.175, 0.188)),
    5: ((7.26, 4.23, 5.54, 5.26), (0.294, 0.453, 0.470)),
    6: ((8.82, 5.15, 6.72, 6.22), (0.324, 0.525, 0.544)),
    7: ((10.26, 4.95, 7.84, 7.00), (0.318, 0.608, 0.502)),
}
"""CausaLab, Table 1: mean edges, their variance, forks, colliders; then the standard errors of
mean edges, forks and colliders from the spread of the 50 released graphs."""

RELEASED_FREQUENCY_PARENTS = {
    3: (1.72, 0.064),
    4: (2.24, 0.105),
    5: (2.88, 0.136),
    6: (2.76, 0.153),
    7: (2.60, 0.140),
}
"""Mean in-degree of the frequency in the released graphs, and its standard error."""

SEEDS = [f"seed {i}" for i in range(20)]


def topologies(k: int, seed: str, count: int = 50) -> list[Edges]:
    """The graphs of a suite, without what was thrown away for them."""
    return [one.edges for one in draws(k, seed, count)]


def deviations(found: Statistics, k: int) -> list[float]:
    """How many of the paper's standard errors edges, forks and colliders are off."""
    (edges, _, forks, colliders), errors = PAPER[k]
    pairs = zip((found.edges, found.forks, found.colliders), (edges, forks, colliders), strict=True)
    return [(ours - theirs) / error for (ours, theirs), error in zip(pairs, errors, strict=True)]


def joined(edges: Edges, k: int) -> int:
    """The number of parts that hang together, by merging names: a twin of the sampler's check."""
    part = list(range(k))
    for a, b in edges:
        part = [part[a] if p == part[b] else p for p in part]
    return len(set(part))


@pytest.mark.parametrize("k", range(3, 13))
def test_a_graph_is_acyclic_connected_and_ends_in_the_frequency(k: int) -> None:
    for i in range(40):
        edges = topology(k, Stream("test", k, i))
        graph = Graph.from_edges(k, edges)
        assert edges == graph.edges()
        assert graph.is_acyclic()
        assert joined(edges, k) == 1
        assert not graph.children[0]
        assert graph.parents()[0]
        assert k - 1 <= len(edges) <= min(2 * k, k * (k - 1) // 2)


@pytest.mark.parametrize("k", range(5, 13))
def test_no_shape_repeats_in_a_suite(k: int) -> None:
    for seed in ("public", *SEEDS[:2]):
        assert len({shape(edges, k) for edges in topologies(k, seed)}) == 50


def test_small_suites_repeat_shapes_evenly() -> None:
    for k, fewest in ((3, 4), (4, 26)):
        suite = topologies(k, "public")
        counts = Counter((len(edges), shape(edges, k)) for edges in suite)
        assert len(counts) >= fewest
        for size in {size for size, _ in counts}:
            repeats = [n for (edges, _), n in counts.items() if edges == size]
            assert max(repeats) - min(repeats) <= 1


@pytest.mark.parametrize("k", PAPER)
def test_the_public_suite_has_the_statistics_of_table_1(k: int) -> None:
    found = statistics(topologies(k, "public"), k)
    assert all(abs(z) < 2 for z in deviations(found, k))
    if k != 5:  # 50 distinct graphs on 5 nodes cannot hold the paper's ten complete ones
        assert found.edge_variance == pytest.approx(PAPER[k][0][1], rel=0.05)


@pytest.mark.parametrize("k", PAPER)
def test_suites_of_other_seeds_have_the_statistics_of_table_1(k: int) -> None:
    found = [statistics(topologies(k, seed), k) for seed in SEEDS]
    assert all(abs(fmean(zs)) < 1 for zs in zip(*(deviations(s, k) for s in found), strict=True))
    assert sum(any(abs(z) > 2.5 for z in deviations(s, k)) for s in found) <= 2
    parents, error = RELEASED_FREQUENCY_PARENTS[k]
    assert fmean(s.frequency_parents for s in found) == pytest.approx(parents, abs=error)


@pytest.mark.parametrize("k", PAPER)
def test_single_draws_have_the_statistics_of_table_1(k: int) -> None:
    stream = Stream("single", k)
    found = statistics([topology(k, stream) for _ in range(800)], k)
    assert all(abs(z) < 1 for z in deviations(found, k))


def test_statistics_count_pairs_of_edges() -> None:
    diamond = ((1, 0), (2, 0), (3, 1), (3, 2))
    assert statistics([diamond, ((1, 0), (2, 1), (3, 2))], 4) == (3.5, 0.25, 0.5, 0.5, 2.0, 1.5)
    with pytest.raises(ValueError, match="no graphs"):
        statistics([], 4)


def relabelled(edges: Edges, k: int, i: int) -> Edges:
    labels = frequency_moved(edges, k, Stream("move", i))
    return Graph.from_edges(k, edges).relabelled(labels).edges()


@pytest.mark.parametrize(("k", "share"), [(4, 0.85), (6, 0.95)])
def test_a_moved_frequency_has_causes_and_effects(k: int, share: float) -> None:
    moved = 0
    for i, edges in enumerate(topologies(k, "public")):
        after = relabelled(edges, k, i)
        graph = Graph.from_edges(k, after)
        assert len(after) == len(edges)
        before = Graph.from_edges(k, edges).children
        assert canonical_form(before) == canonical_form(graph.children)
        assert graph.parents()[0]
        mediators = {a for a, _ in edges} & {b for _, b in edges}
        assert bool(graph.children[0]) == bool(mediators)
        assert mediators or after == edges
        moved += bool(mediators)
    assert moved / 50 >= share


def test_every_mediator_may_become_the_frequency() -> None:
    path = ((1, 0), (2, 1), (3, 2))
    moved = Counter(relabelled(path, 4, i) for i in range(100))
    assert set(moved) == {((0, 1), (2, 0), (3, 2)), ((0, 1), (1, 2), (3, 0))}


def test_names_tell_nothing_of_the_order() -> None:
    suites = [topologies(4, seed) for seed in SEEDS]
    between = [[(a, b) for a, b in edges if b] for suite in suites for edges in suite]
    ascending = fmean(all(a < b for a, b in edges) for edges in between)
    chance = fmean(
        all(to[a - 1] < to[b - 1] for a, b in edges)
        for edges in between
        for to in permutations(range(3))
    )
    assert ascending == pytest.approx(chance, abs=0.05)


def test_a_graph_takes_little_time() -> None:
    assert sum(calls(topology, 12, Stream("time", i)) for i in range(100)) < 200_000


def test_graphs_depend_on_size_and_seed_alone() -> None:
    code = (
        "from whybench.families.causalab.world.topology import draws;"
        "print([draws(k, 'public', 10) for k in (3, 5, 8)])"
    )
    run = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONHASHSEED": "7"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout.strip() == str([draws(k, "public", 10) for k in (3, 5, 8)])
    assert topologies(6, "public") != topologies(6, "private")


@pytest.mark.parametrize("k", [2, 13])
def test_an_unknown_size_is_refused(k: int) -> None:
    with pytest.raises(ValueError, match=r"Give 3 … 12"):
        topology(k, Stream("test"))


def test_other_counts_keep_the_edge_mean() -> None:
    assert topologies(7, "public", 0) == []
    assert statistics(topologies(7, "public", 10), 7).edges == pytest.approx(10.26, abs=0.3)
