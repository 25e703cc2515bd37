"""The released scores' closed form against the curve itself."""

from dataclasses import astuple

import numpy as np
import pytest
from tests.twins import recite_twin as twin

from whybench.causal.seeds import Stream
from whybench.families.recite.legacy import legacy_scores

GOLD = [("a", "b"), ("b", "c")]


def case(i: int) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Random edges between up to seven names, self loops and foreign names included."""
    stream = Stream("recite", "legacy", i)
    names = [f"node {v}" for v in range(2 + stream.below(6))]
    pairs = [(a, b) for a in names for b in names]
    gold = stream.sample(pairs, 1 + stream.below(len(pairs)))
    predicted = stream.sample(pairs, stream.below(len(pairs) + 1))
    if stream.below(4) == 0:
        predicted.append((names[0], "elsewhere"))
    return gold, predicted


def test_the_closed_form_is_the_area_and_the_mean_on_a_thousand_graphs():
    special = 0
    for i in range(1000):
        gold, predicted = case(i)
        found = astuple(legacy_scores(gold, predicted))
        assert found == pytest.approx(twin.released(gold, predicted), abs=1e-12, rel=0)
        special += not predicted
    assert special > 10


def test_a_third_party_draws_the_same_curve():
    metrics = pytest.importorskip("sklearn.metrics")
    for i in range(100):
        gold, predicted = case(i)
        names = sorted({name for edge in gold + predicted for name in edge})
        truth, guess = (
            np.array([float((a, b) in edges) for a in names for b in names])
            for edges in (set(gold), set(predicted))
        )
        precision, recall, _ = metrics.precision_recall_curve(truth, guess)
        found = legacy_scores(gold, predicted)
        assert found.precision == pytest.approx(metrics.auc(recall, precision), abs=1e-12)
        mean = np.concatenate([precision, recall]).mean()
        assert found.recall == pytest.approx(mean, abs=1e-12)


@pytest.mark.parametrize(
    ("predicted", "precision", "recall", "f1"),
    [
        (GOLD, 1.0, 0.704, 0.826),
        ([], 0.611, 0.556, 0.582),
        ([("x", "y"), ("y", "z")], 0.028, 0.343, 0.051),
    ],
    ids=["perfect", "empty", "disjoint"],
)
def test_the_figures_that_were_measured_on_the_released_code(predicted, precision, recall, f1):
    found = legacy_scores(GOLD, predicted)
    assert round(found.precision, 3) == precision
    assert round(found.recall, 3) == recall
    assert round(found.f1, 3) == f1


def test_an_answer_with_every_cell_scores_as_an_empty_one():
    names = "abc"
    full = legacy_scores(GOLD, [(a, b) for a in names for b in names])
    empty = legacy_scores(GOLD, [])
    assert (full.precision, full.recall, full.f1) == (empty.precision, empty.recall, empty.f1)
    assert full.precision == pytest.approx((1 + 2 / 9) / 2)
    assert full.recall == pytest.approx((2 + 2 / 9) / 4)
    # Without the self loops it is an answer like any other: p = 1/3, r = 1.
    almost = legacy_scores(GOLD, [(a, b) for a in names for b in names if a != b])
    assert almost.precision == pytest.approx(2 / 3)


def test_a_reversal_costs_two_and_a_self_loop_one_over_the_places_of_both_graphs():
    assert legacy_scores(GOLD, [("b", "a"), ("b", "c")]).shd == 2
    found = legacy_scores([("a", "b")], [("a", "b"), ("a", "a"), ("b", "b"), ("b", "a")])
    assert (found.shd, found.nshd) == (3, 1.5)
    assert legacy_scores(GOLD, [("A", "b")]).nshd == 3 / (4 * 3)
    assert legacy_scores([("a", "a")], []).nshd == 0.0


def test_repeated_edges_count_once():
    assert legacy_scores(GOLD * 2, GOLD * 3) == legacy_scores(GOLD, GOLD)


def test_a_gold_graph_without_edges_is_refused():
    with pytest.raises(ValueError, match="no edge"):
        legacy_scores([], GOLD)
