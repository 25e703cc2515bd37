"""The knowledge of the fields: sizes, phrases, pairs, and the recorded nearness of phrases."""

import re
from collections import Counter

import pytest

from whybench.causal.seeds import Stream
from whybench.families.recite.proof.checker.check import _letters
from whybench.families.recite.world.knowledge import FIELDS, field_named, rows, scenery
from whybench.families.recite.world.nearness import FORMS, compared, letters, margins


@pytest.mark.parametrize("name", FIELDS)
def test_a_field_has_enough_concepts_and_pairs_that_two_judges_agree_on(name: str) -> None:
    field = field_named(name)
    keys = {concept.key for concept in field.concepts}
    assert len(keys) == len(field.concepts) >= 150
    assert len({concept.cluster for concept in field.concepts}) >= 10
    admitted = [pair for pair, judged in field.pairs.items() if judged.admissible]
    assert len(admitted) >= 900
    assert len(field.pairs) - len(admitted) >= 200
    for (cause, effect), pair in field.pairs.items():
        assert {cause, effect} <= keys
        assert cause != effect
        assert pair.sign in (-1, 1)
        assert pair.admissible == (pair.mechanism != "-")
    table = list(rows(f"fields/{name}/pairs.tsv"))
    assert {row[judge] for row in table for judge in ("first", "second")} == {"yes", "no"}
    assert len(field.pairs) == sum(row["first"] == row["second"] for row in table)
    assert any(row["first"] != row["second"] for row in table)  # disagreements are dropped


@pytest.mark.parametrize("name", FIELDS)
def test_no_phrase_stands_for_two_concepts_and_no_mechanism_names_a_third(name: str) -> None:
    field = field_named(name)
    phrases = Counter(
        phrase.lower()
        for concept in field.concepts
        for phrase in {concept.full, concept.reference, concept.described, concept.short} - {"-"}
    )
    assert [phrase for phrase, count in phrases.items() if count > 1] == []
    names = {concept.name: concept.key for concept in field.concepts}
    found = re.compile(r"\b(?:" + "|".join(map(re.escape, names)) + r")\b")
    for ends, pair in field.pairs.items():
        named = {names[match] for match in found.findall(pair.mechanism)}
        assert named <= set(ends), pair.mechanism
    assert set(scenery("the", name)) <= {concept.cluster for concept in field.concepts}


@pytest.mark.parametrize("name", FIELDS)
def test_recorded_margins_in_letters_are_right(name: str) -> None:
    concepts = field_named(name).concepts
    recorded = margins(name)
    assert set(recorded) == {(concept.key, form) for concept in concepts for form in FORMS}
    for concept in Stream("margins", name).sample(concepts, 15):
        for form in FORMS:
            phrase = str(getattr(concept, form))
            near = {one.key: letters(name, phrase, compared(one, form)) for one in concepts}
            own = near.pop(concept.key)
            assert recorded[concept.key, form].letters == pytest.approx(
                own - max(near.values()), abs=6e-5
            )
            assert _letters(name, concept.key, form) == pytest.approx(
                recorded[concept.key, form].letters, abs=2e-4
            )
