"""Edge scores against matrices, matrix powers and a search over single edits."""

from dataclasses import astuple

import pytest
from tests.effort import calls
from tests.twins import recite_twin as twin

from whybench.causal import structure
from whybench.causal.seeds import Stream
from whybench.families.recite.edges import EdgeScores, edge_scores, mapped
from whybench.families.recite.matching import matched


def graph(stream: Stream, n: int, least: int = 0) -> twin.Graph:
    pairs = [(a, b) for a in range(n) for b in range(n) if a != b]
    return frozenset(stream.sample(pairs, least + stream.below(len(pairs) + 1 - least)))


def by_loops(gold: twin.Graph, predicted: twin.Graph, n: int, size: int) -> EdgeScores:
    """All scores on matrices over n nodes, the first `size` of which are gold."""
    true, guess = twin.matrix(n, gold), twin.matrix(n, predicted)
    reversals = sum(
        true[a][b] > guess[a][b] and guess[b][a] > true[b][a] for a in range(n) for b in range(n)
    )
    double = twin.cell_distance(true, guess)
    places = size * (size - 1)
    return EdgeScores(
        *twin.ratios(true, guess),
        undirected_f1=twin.ratios(twin.joined(true), twin.joined(guess))[2],
        shd=double - reversals,
        shd_double=double,
        nshd=(double - reversals) / places,
        nshd_double=double / places,
        ancestor_f1=twin.ratios(twin.closure(true), twin.closure(guess))[2],
    )


def test_scores_agree_with_plain_loops_over_matrices():
    for i in range(1200):
        stream = Stream("recite", "edges", i)
        size = 2 + stream.below(4)
        n = size + stream.below(3)
        gold, predicted = graph(stream, size, least=1), graph(stream, n)
        found = edge_scores(gold, predicted, size)
        assert astuple(found) == pytest.approx(astuple(by_loops(gold, predicted, n, size)))


def test_names_score_as_numbers_do():
    for i in range(200):
        stream = Stream("recite", "names", i)
        gold, predicted = graph(stream, 4, least=1), graph(stream, 6)
        named = frozenset(
            (a if a < 4 else (f"node {a}",), b if b < 4 else (f"node {b}",)) for a, b in predicted
        )
        assert edge_scores(gold, named, 4) == edge_scores(gold, predicted, 4)


def test_shd_is_the_fewest_single_edits_on_every_pair_of_graphs_of_three_nodes():
    graphs = list(twin.distances(3, frozenset()))
    assert len(graphs) == 64
    for gold in graphs:
        for predicted, steps in twin.distances(3, gold).items():
            assert edge_scores(gold, predicted, 3).shd == steps


def test_shd_is_the_fewest_single_edits_between_graphs_of_four_nodes():
    for i in range(2):
        gold = graph(Stream("recite", "edits", i), 4, least=1)
        found = twin.distances(4, gold)
        assert len(found) == 4096
        assert all(structure.shd(gold, other) == steps for other, steps in found.items())


def test_ancestors_are_those_of_the_core():
    for i in range(500):
        stream = Stream("recite", "ancestors", i)
        n = 2 + stream.below(12)
        pairs = [(a, b) for a in range(n) for b in range(n) if a != b]
        gold, predicted = (frozenset(stream.sample(pairs, stream.below(n))) for _ in range(2))
        expected = structure.ancestor_f1(gold, predicted)
        assert edge_scores(gold, predicted, n).ancestor_f1 == expected


def test_the_gold_graph_scores_one_and_an_empty_answer_nothing():
    gold = frozenset({(0, 1), (1, 0), (1, 2)})
    assert astuple(edge_scores(gold, gold, 3)) == (1, 1, 1, 1, 0, 0, 0, 0, 1)
    assert astuple(edge_scores(gold, frozenset(), 3)) == (0, 0, 0, 0, 3, 3, 0.5, 0.5, 0)


def test_a_reversal_counts_once_and_twice():
    found = edge_scores(frozenset({(0, 1)}), frozenset({(1, 0)}), 2)
    assert (found.shd, found.shd_double, found.nshd, found.nshd_double) == (1, 2, 0.5, 1.0)
    assert (found.f1, found.undirected_f1) == (0.0, 1.0)


def test_one_node_has_no_places_for_edges():
    assert edge_scores(frozenset(), frozenset(), 1).nshd == 0.0


def test_self_loops_are_refused():
    with pytest.raises(ValueError, match="self loop"):
        edge_scores(frozenset({(0, 1)}), frozenset({(1, 1)}), 2)


def test_edges_go_to_the_matched_nodes_whatever_their_spelling():
    matching = matched(["Crop Yield", "rain"], [("rain",), ("crop yield",)], "lexical")
    assert mapped([("RAIN", "crop-yield"), ("rain", "Crop yield")], matching) == {(0, 1)}


def test_each_edge_outside_of_the_gold_graph_is_one_false_positive():
    names = ["rain", "crop yield", "luck", "fate"]
    matching = matched(names, [("rain",), ("crop yield",)], "lexical")
    edges = [
        ("rain", "crop yield"),
        ("luck", "crop yield"),  # one end outside
        ("Luck", "CROP yield"),  # the same edge again
        ("luck", "fate"),  # both ends outside
        ("fate", "luck"),
        ("Rain", "rain"),  # both ends are one node
        ("rain", "RAIN"),  # the same again
    ]
    found = mapped(edges, matching)
    assert len(found) == 5
    scores = edge_scores(frozenset({(0, 1)}), found, 2)
    assert (scores.precision, scores.recall, scores.shd) == (1 / 5, 1.0, 4)


def test_a_way_through_an_outside_node_still_makes_an_ancestor():
    matching = matched(["rain", "crop yield", "zzz"], [("rain",), ("crop yield",)], "lexical")
    found = mapped([("rain", "zzz"), ("zzz", "crop yield")], matching)
    scores = edge_scores(frozenset({(0, 1)}), found, 2)
    assert scores.f1 == 0.0
    assert scores.ancestor_f1 == pytest.approx(2 * 1 / (1 + 3))


def test_a_cycle_of_thousands_of_nodes_is_scored_in_little_time_and_space():
    size = 5000
    cycle = frozenset((i, (i + 1) % size) for i in range(size))
    found = edge_scores(frozenset({(0, 1), (1, 2)}), cycle, 3)
    assert calls(edge_scores, frozenset({(0, 1), (1, 2)}), cycle, 3) < 400_000
    assert found.ancestor_f1 == pytest.approx(2 * 3 / (3 + size * (size - 1)))
