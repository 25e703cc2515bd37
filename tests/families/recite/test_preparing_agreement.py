"""Agreement of two annotations, against the paper's own figures and against counting by hand."""

import math
from itertools import permutations

import pytest

from whybench.causal.seeds import Stream
from whybench.families.recite.extras.preparing.annotation.agreement import (
    Diagram,
    agreement,
    summary,
)

# Nodes, edges, nodes of the second alone, edges of the second alone, edges of the first alone:
# the rows of Table 21 with a disagreement, then sizes of those without.
DISAGREEING = [
    (25, 32, 0, 0, 2), (24, 23, 1, 0, 1), (15, 20, 0, 1, 0), (12, 21, 0, 0, 1), (12, 15, 1, 0, 0),
    (26, 27, 0, 2, 5), (19, 48, 2, 1, 12), (23, 26, 0, 1, 1), (15, 19, 0, 1, 0),
]  # fmt: skip
AGREEING = [
    (20, 24), (27, 23), (10, 16), (19, 32), (21, 24), (16, 15), (37, 23), (28, 32), (20, 28),
    (18, 24), (43, 88), (9, 16), (10, 14), (11, 16), (35, 28), (9, 10), (18, 23), (16, 24),
    (10, 13), (26, 39), (15, 19), (13, 22), (10, 14), (15, 17), (14, 20), (12, 16), (12, 17),
    (9, 11),
]  # fmt: skip


def drawn(nodes: int, edges: int, extra: int, missing: int) -> tuple[Diagram, Diagram]:
    """Two annotations with so many edges that only one of them has, and none reversed."""
    names = [f"n{k:02}" for k in range(nodes)]
    pairs = [(a, b) for a, b in permutations(names, 2) if a < b]
    assert edges + extra <= len(pairs)
    first, second = pairs[:edges], pairs[missing : edges + extra]
    return Diagram.of(first, names), Diagram.of(second, names)


def table() -> list[tuple[Diagram, Diagram]]:
    rows = [(n, e, fp, fn) for n, e, _, fp, fn in DISAGREEING]
    # 43 nodes have room for 88 edges one way round, and so have all the others.
    return [drawn(*row) for row in rows] + [drawn(n, e, 0, 0) for n, e in AGREEING]


def test_the_papers_table_of_agreement_follows_from_its_rows() -> None:
    pairs = table()
    assert sum(len(first.nodes) for first, _ in pairs) == 674
    assert sum(len(first.edges) for first, _ in pairs) == 879
    found = summary(pairs)
    assert found.diagrams == 37
    macro = found.macro
    assert macro.edges.precision == pytest.approx(0.9933, abs=5e-5)  # printed 0.993
    assert macro.edges.recall == pytest.approx(0.9830, abs=5e-5)
    assert macro.edges.f1 == pytest.approx(0.9876, abs=5e-5)
    assert macro.shd_double == pytest.approx(0.7568, abs=5e-5)
    assert macro.shd_share == pytest.approx(0.0233, abs=5e-5)
    assert macro.kappa == pytest.approx(0.9865, abs=5e-5)


def test_the_papers_totals_follow_from_five_spurious_and_22_missing_edges() -> None:
    """Its rows have six spurious ones; its text and its total say five."""
    pairs = table()
    micro = summary(pairs).micro
    assert (micro.shd, micro.edges.precision) == (28, 857 / 863)
    pairs[2] = drawn(15, 20, 0, 0)
    micro = summary(pairs).micro
    assert round(micro.edges.precision, 3) == 0.994
    assert round(micro.edges.recall, 3) == 0.975
    assert round(micro.edges.f1, 3) == 0.984
    assert micro.shd == micro.shd_double == 27
    assert round(micro.kappa, 2) == 0.98


def test_the_papers_node_figures_follow_from_its_rows() -> None:
    pairs = [
        (Diagram.of((), range(n)), Diagram.of((), range(n + extra)))
        for n, extra in [(n, x) for n, _, x, _, _ in DISAGREEING] + [(n, 0) for n, _ in AGREEING]
    ]
    nodes = summary(pairs).macro.nodes
    assert nodes.precision == pytest.approx(0.9943, abs=5e-5)
    assert nodes.recall == 1
    assert nodes.f1 == pytest.approx(0.9970, abs=5e-5)


def twin(first: Diagram, second: Diagram) -> float:
    """Cohen's kappa from its definition, by counting."""
    places = list(permutations(first.nodes | second.nodes, 2))
    same = sum((p in first.edges) == (p in second.edges) for p in places) / len(places)
    a, b = len(first.edges) / len(places), len(second.edges) / len(places)
    chance = a * b + (1 - a) * (1 - b)
    return (same - chance) / (1 - chance)


def test_kappa_is_over_all_ordered_pairs_of_either_annotations_nodes() -> None:
    for seed in range(50):
        stream = Stream("test", "agreement", seed)
        nodes = [f"v{k}" for k in range(3 + stream.below(5))]
        places = list(permutations(nodes, 2))
        first = Diagram.of(stream.sample(places, 2 + stream.below(4)))
        second = Diagram.of(stream.sample(places, 2 + stream.below(4)), ["only here"])
        assert agreement(first, second).kappa == pytest.approx(twin(first, second))


def test_reversals_count_once_or_twice_and_equal_diagrams_agree() -> None:
    first = Diagram.of([("a", "b"), ("b", "c"), ("c", "d")])
    turned = agreement(first, Diagram.of([("b", "a"), ("b", "c"), ("c", "d")]))
    assert (turned.shd, turned.shd_double, turned.shd_share) == (1, 2, 2 / 3)
    assert turned.nshd == 1 / 12
    same = agreement(first, first)
    assert (same.kappa, same.edges.f1, same.nodes.f1, same.shd) == (1, 1, 1, 0)


def test_precision_is_the_seconds_and_recall_the_firsts() -> None:
    first = Diagram.of([("a", "b"), ("b", "c")])
    found = agreement(first, Diagram.of([("a", "b")]))
    assert (found.edges.precision, found.edges.recall) == (1, 0.5)
    assert (found.nodes.precision, found.nodes.recall) == (1, 2 / 3)


def test_diagrams_are_pooled_in_micro_and_averaged_in_macro() -> None:
    big, small = drawn(6, 8, 0, 2), drawn(3, 2, 1, 0)
    found = summary([big, small])
    assert found.micro.edges.recall == 8 / 10
    assert found.macro.edges.recall == pytest.approx((6 / 8 + 1) / 2)
    assert (found.micro.shd, found.macro.shd) == (3, 1.5)


def test_where_nothing_varies_kappa_is_unknown_and_left_out_of_means() -> None:
    full = Diagram.of(permutations("ab", 2))
    assert math.isnan(agreement(full, full).kappa)
    other = drawn(4, 3, 0, 1)
    assert summary([(full, full), other]).macro.kappa == agreement(*other).kappa
    with pytest.raises(ValueError, match="no diagrams"):
        summary([])
    with pytest.raises(ValueError, match="self loop"):
        agreement(Diagram.of([("a", "a")]), full)
