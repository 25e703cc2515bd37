"""Rubrics against the published weights, and what verdicts add up to."""

import pytest

from whybench.families.causalgame.extras.judge.rubric import NAMES, graded, rubric, six_of

# specs/causalgame.md §8
SIX = {"CR1": 5, "CR2": 4, "CR3": 2, "ED1": 2, "RQ1": 2, "DU1": 1}
FULL = {
    "D1.1": 2, "D1.2": 1, "D2.M1": 5, "D2.M2": 4, "D2.1": 2, "D2.2": 2, "D2.N1": -5, "D3.1": 2,
    "D3.2": 1, "D3.N1": -2, "D4.M1": 4, "D4.N1": -4, "D4.1": 2, "D4.2": 1, "D5.1": 2, "D5.2": 1,
    "TASK.M1": 5,
}  # fmt: skip
SAME = {"D2.M1": "CR1", "D2.M2": "CR2", "D2.2": "CR3", "D4.1": "ED1", "D3.1": "RQ1", "D4.2": "DU1"}


def test_weights_are_the_published_ones() -> None:
    assert {c.id: c.weight for c in rubric("six").criteria} == SIX
    assert {c.id: c.weight for c in rubric("full").criteria} == FULL
    assert (rubric("six").maximum, rubric("full").maximum) == (16, 34)


def test_mandatory_and_mechanical_criteria() -> None:
    assert {c.id for c in rubric("six").criteria if c.mandatory} == {"CR1", "CR2"}
    full = rubric("full")
    assert {c.id for c in full.criteria if c.mandatory} == {"D2.M1", "D2.M2", "D4.M1", "TASK.M1"}
    assert {c.id: c.mechanical for c in full.criteria if c.mechanical} == {
        "D4.M1": "faithful",
        "D4.N1": "fabricated",
    }
    assert len(full.judged) == 15


def test_the_full_rubric_holds_the_six_word_for_word() -> None:
    six = {c.id: c for c in rubric("six").criteria}
    same = {c.id: c for c in rubric("full").criteria if c.like}
    assert {key: c.like for key, c in same.items()} == SAME
    for criterion in same.values():
        assert criterion.text == six[criterion.like].text
        assert criterion.weight == six[criterion.like].weight


@pytest.mark.parametrize("name", NAMES)
def test_best_and_worst_sums(name: str) -> None:
    sheet = rubric(name)
    best = graded(sheet, {c.id: float(c.weight > 0) for c in sheet.criteria})
    assert (best.total, best.normalised) == (sheet.maximum, 1)
    assert best.mandatory_met
    assert set(best.dimensions_normalised.values()) == {1}
    worst = graded(sheet, {c.id: float(c.weight < 0) for c in sheet.criteria})
    assert worst.total == (0 if name == "six" else -11)
    assert not worst.mandatory_met


def test_a_half_counts_half_and_dimensions_add_up() -> None:
    found = graded(rubric("six"), {"CR1": 0.5, "CR2": 0, "CR3": 1, "ED1": 0.5, "RQ1": 1, "DU1": 1})
    assert found.dimensions == {
        "causal_reasoning": 4.5,
        "experimental_design": 1,
        "reflection_quality": 2,
        "data_usage": 1,
    }
    assert found.total == sum(found.dimensions.values()) == 8.5
    assert found.dimensions_normalised["causal_reasoning"] == 4.5 / 11


def test_mandatory_changes_no_sum() -> None:
    without = dict.fromkeys(SIX, 1.0) | {"CR2": 0.0}
    found = graded(rubric("six"), without)
    assert (found.total, found.mandatory_met) == (12, False)
    assert graded(rubric("six"), without | {"CR2": 0.5}).mandatory_met


def test_a_missing_or_surplus_verdict_is_refused() -> None:
    with pytest.raises(ValueError, match="DU1"):
        graded(rubric("six"), {key: 1.0 for key in SIX if key != "DU1"})
    with pytest.raises(ValueError, match="XX"):
        graded(rubric("six"), dict.fromkeys(SIX, 1.0) | {"XX": 1.0})
    with pytest.raises(ValueError, match="six, full"):
        rubric("seven")


def test_the_six_are_found_in_either_rubric() -> None:
    full = dict.fromkeys(FULL, 0.0) | {"D2.M1": 1.0, "D4.2": 0.5}
    expected = dict.fromkeys(SIX, 0.0) | {"CR1": 1.0, "DU1": 0.5}
    assert six_of(rubric("full"), full) == expected
    assert six_of(rubric("six"), expected) == expected
