"""The analysis of surfaces, rungs and probabilities: figures that can be counted by hand."""

import math

import pytest

from whybench.causal.seeds import Stream
from whybench.families.prism.extras.analysis import (
    AGAIN,
    SURFACES,
    gaps,
    matching,
    split,
    surface_pairs,
)
from whybench.stats.clustered import difference, slope

FOUR = ("a", "b", "c", "d")
APART = dict(zip(FOUR, FOUR, strict=True))


def by_hand(**right: str) -> dict[str, dict[str, float]]:
    """Return scores: for each surface, the instances that were right."""
    return {name: {one: float(one in said) for one in FOUR} for name, said in right.items()}


def test_the_loss_is_split_by_hand() -> None:
    """Instance a is always right, b never, c only in the table, d only in the first drawing."""
    found = split(by_hand(table="acd", board="ad", table_again="ac"), APART)
    assert found is not None
    assert found.loss.estimate == pytest.approx((0 + 2 + 1 + 0) / 8)
    assert found.causal.estimate == pytest.approx(1 / 4)  # b is wrong in both
    assert found.noise.estimate == pytest.approx(1 / 8)  # d differs between drawings
    assert found.surface.estimate == pytest.approx(1 / 8 - 1 / 8)  # c differs between surfaces
    assert (found.always, found.never) == (1 / 4, 2 / 4)


def test_the_parts_sum_to_the_loss() -> None:
    stream = Stream("split")
    for _ in range(20):
        by = {
            name: {str(i): float(stream.below(2)) for i in range(30)} for name in (*SURFACES, AGAIN)
        }
        found = split(by, {str(i): i // 3 for i in range(30)})
        assert found is not None
        parts = found.causal.estimate + found.surface.estimate + found.noise.estimate
        assert parts == pytest.approx(found.loss.estimate)


def test_without_a_second_drawing_noise_is_unknown() -> None:
    found = split(by_hand(table="ab", prose="a"), APART)
    assert found is not None
    assert found.noise.n == 0
    assert math.isnan(found.noise.estimate)
    assert split(by_hand(table="ab"), APART) is None


def test_gaps_are_paired_and_corrected_together() -> None:
    by = by_hand(table="abcd", shapes="abcd", board="abc", game="ab", prose="a")
    found = {gap.first: gap for gap in gaps(by, surface_pairs(), APART, 200)}
    assert {name: gap.found.estimate for name, gap in found.items()} == {
        "shapes": 0.0, "board": -0.25, "game": -0.5, "prose": -0.75,
    }  # fmt: skip
    assert found["prose"].found.p_value == 0.25, "three differences of one sign: 2 of 8 patterns"
    assert found["prose"].p_holm == 1.0
    assert not gaps(by, [("board_numbers", "board")], APART)


def test_a_difference_between_kinds_is_taken_within_sizes() -> None:
    """The upper kind has more large instances; within sizes there is no difference."""
    first = {"f1": 1.0, "f2": 0.0, "f3": 0.0, "f4": 0.0, "f5": 1.0, "f6": 0.0}
    second = {"s1": 1.0, "s2": 0.0, "s3": 1.0, "s4": 0.0, "s5": 0.0, "s6": 1 / 2}
    sizes = {"f1": 5, "f5": 5, "s1": 5, "s3": 5} | dict.fromkeys(("f2", "f3", "f4", "f6"), 8)
    sizes |= dict.fromkeys(("s2", "s4", "s5"), 8)
    sizes["s6"] = 9  # a size without a partner is left out
    clusters = {one: one for one in sizes}
    found = difference(first, second, clusters, sizes)
    assert found.estimate == 0
    assert found.low <= 0 <= found.high
    assert found.n == (6, 6)
    none = difference({}, second, clusters, sizes)
    assert math.isnan(none.estimate)


def test_a_base_counts_once() -> None:
    first = {"a1": 1.0, "a2": 1.0, "a3": 1.0, "b1": 0.0}
    second = {"c1": 0.0, "d1": 0.0}
    clusters = {one: one[0] for one in (*first, *second)}
    assert difference(first, second, clusters, dict.fromkeys(clusters, 5)).estimate == 0.5


def test_answers_are_matched_where_the_confused_agent_is_wrong() -> None:
    gold = {"a": "yes", "b": "no", "c": "cannot", "d": "yes"}
    confused = {"a": "no", "b": "yes", "c": "yes", "d": "yes"}
    said = {"a": "no", "b": "no", "c": "no", "d": "no"}
    found = matching(said, gold, confused, APART)
    assert found.alike.estimate == pytest.approx(1 / 3), "a of a, b, c"
    assert found.right.estimate == pytest.approx(1 / 3), "b"
    assert found.among_wrong.estimate == 1 / 2, "a of a, c"


def test_the_slope_of_stated_probabilities() -> None:
    exact = {one: i / 10 for i, one in enumerate("abcdefgh")}
    clusters = {one: i // 2 for i, one in enumerate("abcdefgh")}
    low, found, high = slope({one: 0.2 + p / 2 for one, p in exact.items()}, exact, clusters)
    assert found == pytest.approx(0.5)
    assert low == pytest.approx(high), "all on one line"
    low, found, high = slope(dict.fromkeys(exact, 0.7), exact, clusters)
    assert found == pytest.approx(0)
    assert math.isnan(slope({"a": 0.5}, exact, clusters)[1])
    noisy = {one: p + (0.1 if one in "adf" else -0.1) for one, p in exact.items()}
    low, found, high = slope(noisy, exact, clusters)
    assert low < found < high
