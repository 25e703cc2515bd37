"""Names against gold nodes, with brute force over all assignments as the twin."""

import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.effort import calls
from tests.twins import recite_twin as twin

from whybench.causal.seeds import Stream
from whybench.families.recite import matching
from whybench.families.recite.matching import BAND, matched, normal, similarities

WORDS = ("rain", "rainfall", "price", "prices", "of", "crop", "yield", "soil", "seed", "a")


def name(stream: Stream) -> str:
    return " ".join(stream.choice(WORDS) for _ in range(1 + stream.below(3)))


def case(i: int) -> tuple[list[str], list[tuple[str, ...]]]:
    stream = Stream("recite", "matching", i)
    predicted = [name(stream) for _ in range(stream.below(6))]
    gold = [
        tuple(name(stream) for _ in range(1 + stream.below(3))) for _ in range(1 + stream.below(5))
    ]
    return predicted, gold


# Normal forms ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "form"),
    [
        ("GDP", "gdp"),
        ("gross_domestic  product\n", "gross domestic product"),
        ("CO₂ (ｔｏｎｎｅｓ)", "co2 tonnes"),
        ("water—use/land-use", "water use land use"),
        ("agri\u00adculture", "agriculture"),
        ("नदी", "नदी"),
        ("%", "%"),
        ("", ""),
    ],
)
def test_a_normal_form_keeps_letters_and_numbers(written, form):
    assert normal(written) == form


@given(st.text())
def test_a_normal_form_is_its_own_normal_form(text):
    form = normal(text)
    assert normal(form) == form
    assert form == form.strip()
    assert "_" not in form or not any(unicodedata.category(c)[0] in "LMN" for c in form)


# Similarities ------------------------------------------------------------------------------------


def test_lexical_similarity_is_the_best_token_sort_ratio_over_a_nodes_names():
    for i in range(1000):
        predicted, gold = case(i)
        found = similarities(predicted, gold, "lexical")
        assert found.shape == (len(predicted), len(gold))
        for row, guess in enumerate(predicted):
            for column, names in enumerate(gold):
                expected = max(twin.likeness(guess, other) for other in names)
                assert found[row, column] == pytest.approx(float(expected), abs=1e-6)


def test_equal_normal_forms_are_wholly_alike_however_long():
    long = "x" * 500
    found = similarities(
        ["Soil-Salinity", long, long + "y"], [("soil salinity",), (long,)], "lexical"
    )
    assert found[0, 0] == found[1, 1] == 1.0
    # A name's first 200 characters count, so this one is like the other too, by its letters.
    assert found[2, 1] == 1.0
    assert found[0, 1] < 0.2


def test_names_are_compared_in_parts_with_the_same_result(monkeypatch):
    predicted = [name(Stream("recite", "parts", i)) for i in range(7)]
    gold = [("rain", "crop yield"), ("soil seed",)]
    whole = similarities(predicted, gold, "lexical")
    monkeypatch.setattr(matching, "_ROWS", 3)
    assert (similarities(predicted, gold, "lexical") == whole).all()
    assert len({tuple(row) for row in whole}) > 3


def test_words_in_another_order_are_wholly_alike():
    assert similarities(["yield of crops"], [("crops' yield of",)], "lexical")[0, 0] == 1.0
    assert similarities(["yield of crops"], [("crop's yield of",)], "lexical")[0, 0] < 1.0


def test_the_larger_of_letters_and_meaning_counts(monkeypatch):
    def cosines(texts, others):
        table = {("joblessness", "unemployment"): 0.9, ("rain", "rain"): 0.3}
        return np.array([[table.get((a, b), -0.5) for b in others] for a in texts], np.float32)

    monkeypatch.setattr(matching, "cosines", cosines)
    gold = [("unemployment", "idleness"), ("rain",), ("rains",)]
    found = similarities(["Joblessness", "rain"], gold, "both")
    letters = similarities(["Joblessness", "rain"], gold, "lexical")
    assert found[0, 0] == 0.9 > letters[0, 0]
    assert found[1, 1] == 1.0
    assert (np.delete(found.ravel(), 0) == np.delete(letters.ravel(), 0)).all()


def test_only_so_many_characters_are_embedded_shortest_names_first(monkeypatch):
    asked = []

    def cosines(texts, others):
        asked.extend(texts)
        return np.full((len(texts), len(others)), 0.95, np.float32)

    monkeypatch.setattr(matching, "cosines", cosines)
    monkeypatch.setattr(matching, "_EMBEDDED", 10)
    found = similarities(["dddd", "ccccc", "b", "dddd"], [("zzz",)], "both")
    assert asked == ["dddd", "ccccc", "b", "dddd"]
    asked.clear()
    found = similarities(["dddd", "eeeeeeeee", "ccccc", "b"], [("zzz",)], "both")
    assert asked == ["dddd", "ccccc", "b"]
    assert found.ravel().tolist() == [0.95, 0.0, 0.95, 0.95]


def test_a_gold_node_without_a_name_is_refused():
    with pytest.raises(ValueError, match="has no name"):
        similarities(["a"], [("a",), ()], "lexical")


# The assignment ----------------------------------------------------------------------------------


def test_the_assignment_is_the_best_of_all():
    for i in range(1000):
        predicted, gold = case(i)
        threshold = (0.0, 0.5, 0.7)[i % 3]
        found = matched(predicted, gold, "lexical", threshold)
        forms = sorted({normal(x) for x in predicted})
        assert list(found.names) == forms
        table = similarities(forms, gold, "lexical")
        assert len({pair.name for pair in found.pairs}) == len(found.pairs)
        assert len({pair.gold for pair in found.pairs}) == len(found.pairs)
        own = [[name in map(normal, names) for names in gold] for name in forms]
        for row, equal in enumerate(own):
            for column in range(len(gold)):
                if any(equal):
                    table[row, column] = 100.0 if equal[column] else 0.0
                elif table[row, column] < threshold:
                    table[row, column] = 0.0
        total = sum(table[forms.index(pair.name), pair.gold] for pair in found.pairs)
        assert total == pytest.approx(twin.best_total(table.tolist()), abs=1e-9)


def test_an_equal_name_is_never_outbid_by_two_that_are_half_alike():
    gold = [("Employment rate",), ("Self-employment",)]
    found = matched(["employment rate", "the joblessness rate"], gold, "lexical", 0.5)
    assert found.node("employment rate") == 0


def test_gold_names_with_one_normal_form_are_told_apart_by_how_they_are_written():
    gold = [("Population",), ("<Population>",), ("Price +",), ("Price -",)]
    names = ["<Population>", "Price -", "Population", "Price +"]
    found = matched(names, gold, "lexical", 0.5)
    assert [found.node(name) for name in names] == [1, 3, 0, 2]
    assert len(found.names) == 4


def test_neither_order_matters():
    for i in range(1000):
        predicted, gold = case(i)
        stream = Stream("recite", "order", i)
        order = stream.shuffled(range(len(gold)))
        found = matched(predicted, gold, "lexical", 0.0)
        other = matched(stream.shuffled(predicted), [gold[node] for node in order], "lexical", 0.0)
        names = {pair.name: sorted(gold[pair.gold]) for pair in found.pairs}
        assert names == {pair.name: sorted(gold[order[pair.gold]]) for pair in other.pairs}


def test_pairs_below_the_threshold_are_dropped_from_one_assignment():
    dropped = 0
    for i in range(200):
        predicted, gold = case(i)
        whole = matched(predicted, gold, "lexical", 0.1)
        for threshold in BAND:
            kept = tuple(pair for pair in whole.pairs if pair.similarity >= threshold)
            assert whole.above(threshold).pairs == kept
            dropped += len(whole.pairs) - len(kept)
    assert dropped > 100


def test_a_likeness_of_just_the_threshold_is_kept():
    # 14 of the 20 letters are in common.
    assert matched(["abcdefgxyz"], [("abcdefguvw",)], "lexical").pairs[0].similarity == 0.7


def test_equal_names_go_together_before_names_of_the_same_words():
    gold = [("Supply of demand",), ("demand of supply",)]
    found = matched(["supply of demand", "Demand of supply"], gold, "lexical")
    assert (found.node("supply of demand"), found.node("demand of supply")) == (0, 1)


def test_spellings_of_one_name_are_one_node():
    found = matched(["Crop yield", "crop_yield", "soil"], [("crop yield",), ("water",)], "lexical")
    assert found.names == ("crop yield", "soil")
    assert found.node("CROP-YIELD") == 0
    assert found.node("soil") is found.node("never predicted") is None
    assert (found.precision, found.recall, found.f1) == (0.5, 0.5, 0.5)


def test_soft_shares_count_a_pair_by_its_similarity():
    found = matched(["abcdefgxyz", "q"], [("abcdefguvw",), ("m",), ("n",)], "lexical")
    assert found.soft_precision == pytest.approx(0.35)
    assert found.soft_recall == pytest.approx(0.7 / 3)
    assert found.f1 == pytest.approx(2 / 5)


def test_aliases_stand_for_their_node():
    gold = [("gross domestic product", "GDP"), ("rain",)]
    assert matched(["gdp"], gold, "lexical").node("GDP") == 0


def test_nothing_predicted_scores_nothing():
    found = matched([], [("a",)], "lexical")
    assert found.precision == found.recall == found.f1 == found.soft_precision == 0.0
    assert matched(["a"], [], "lexical").recall == 0.0


def test_a_hostile_answer_costs_little():
    stream = Stream("recite", "hostile")
    predicted = [f"{name(stream)} {name(stream)} {i}" for i in range(2000)]
    gold = [tuple(f"{name(stream)} {i} {j}" for j in range(5)) for i in range(140)]
    found = matched(predicted, gold, "lexical", 0.0)
    assert calls(matched, predicted, gold, "lexical", 0.0) < 50_000
    assert (len(found.names), len(found.pairs)) == (2000, 140)


@given(st.lists(st.text(max_size=8), max_size=6))
def test_any_text_can_be_a_name(predicted):
    found = matched(predicted, [("rain",), ("+",)], "lexical")
    assert 0.0 <= found.soft_precision <= found.precision <= 1.0
