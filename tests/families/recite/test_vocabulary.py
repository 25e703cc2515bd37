"""The words for the variables of each field: enough of them, and none that could mislead."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from importlib.resources import files

import pytest
from rapidfuzz import fuzz, process

from whybench.families.recite.world.frames import SLOT, frames, furniture
from whybench.families.recite.world.vocabulary import FIELDS, Concept, field_named

FEWEST = 160
KINDS = range(24, 29)
KIND_SIZES = range(5, 9)
ALIKE, FEW = 70, 0.003
"""Two names look alike from this token sort ratio on; so many pairs may, no more."""

PHRASE = re.compile(r"[^\W\d_]+(?:['’ -][^\W\d_]+)*")
LIGHT = frozenset(
    re.findall(
        r"\w+",
        """about after against among because been before being between both does done each from
        have into more most only other over same some such than that their them there these they
        this those through under upon very what when where which while whose will with within
        without would""",
    )
)

MEASURES = frozenset({"amount", "extent", "frequency", "number", "people", "share", "time"})
"""Words that say only that something is counted: they give no name away."""

every_field = pytest.mark.parametrize("name", FIELDS)


def forms(concept: Concept) -> set[str]:
    return {form.casefold() for form in (concept.name, *concept.said, *concept.hinted)}


def stems(*phrases: str) -> set[str]:
    """Return the beginnings of the words of weight."""
    words = re.findall(r"[^\W\d_]+", " ".join(phrases).casefold())
    return {word[:5] for word in words if len(word) > 3 and word not in LIGHT | MEASURES}


def test_there_are_eight_fields_and_each_has_its_own_title() -> None:
    assert len(set(FIELDS)) >= 8
    assert len({field_named(name).title for name in FIELDS}) == len(FIELDS)
    assert all(field_named(name).name == name for name in FIELDS)


@every_field
def test_a_field_has_enough_concepts_of_enough_kinds(name: str) -> None:
    concepts = field_named(name).concepts
    assert len(concepts) >= FEWEST
    sizes = Counter(concept.kind for concept in concepts)
    assert len(sizes) in KINDS
    assert {size for size in sizes.values() if size not in KIND_SIZES} == set()


@every_field
def test_no_two_concepts_of_a_field_share_a_form(name: str) -> None:
    counts = Counter(form for concept in field_named(name).concepts for form in forms(concept))
    assert [form for form, count in counts.items() if count > 1] == []


@every_field
def test_no_form_stands_inside_a_form_of_another_concept(name: str) -> None:
    """So that a text which speaks of one concept cannot name another by the way."""
    owned = [(form, c.name) for c in field_named(name).concepts for form in forms(c)]
    padded = [(f" {form} ", owner) for form, owner in owned]
    inside = [
        (form, longer)
        for form, owner in padded
        for longer, other in padded
        if form in longer and owner != other
    ]
    assert inside == []


@every_field
def test_forms_are_phrases_that_fit_into_a_sentence(name: str) -> None:
    for concept in field_named(name).concepts:
        assert concept.name[0].isupper()
        assert 1 <= len(concept.name.split()) <= 5
        assert 2 <= len(concept.said) <= 3
        assert 1 <= len(concept.hinted) <= 2
        bare = re.sub("^(?:the|an?) ", "", concept.said[0])
        assert bare.casefold() == concept.name.casefold()
        for form in (concept.name, *concept.said, *concept.hinted):
            assert PHRASE.fullmatch(form), form
        # an opener before a sentence lowers its first letter: no form may need a capital
        assert all(form[0].islower() for form in (*concept.said, *concept.hinted))
        assert len(set(concept.said)) + len(set(concept.hinted)) == len(
            {*concept.said, *concept.hinted}
        )


@every_field
def test_a_hint_shares_no_word_of_weight_with_the_name(name: str) -> None:
    shared = {
        (concept.name, hint): both
        for concept in field_named(name).concepts
        for hint in concept.hinted
        if (both := stems(hint) & stems(concept.name, *concept.said))
    }
    assert shared == {}


@every_field
def test_kinds_and_neighbours_are_no_forms(name: str) -> None:
    concepts = field_named(name).concepts
    known = {form for concept in concepts for form in forms(concept)}
    for concept in concepts:
        assert concept.kind
        assert 1 <= len(concept.kind.split()) <= 2
        assert concept.broader
        assert concept.narrower
        assert concept.broader != concept.narrower
        others = {concept.kind, concept.broader, concept.narrower}
        assert {word for word in others if word.casefold() in known} == set()


@every_field
def test_names_do_not_look_alike(name: str) -> None:
    names = [concept.name for concept in field_named(name).concepts]
    ratios = process.cdist(names, names, scorer=fuzz.token_sort_ratio)
    alike = (int((ratios >= ALIKE).sum()) - len(names)) / 2
    assert alike / (len(names) * (len(names) - 1) / 2) < FEW


@cache
def literals() -> str:
    """Return all that documents say besides names of concepts and kinds."""
    texts = [frame.text for role in frames().values() for frame in role]
    rest = json.dumps(furniture(), ensure_ascii=False)
    return " | ".join(SLOT.sub(" | ", text) for text in (*texts, rest)).casefold()


def around(text: str) -> Iterator[str]:
    """Yield the runs of words of a text, with a blank at both ends."""
    for run in re.split(r"[^\w'’ -]+", text):
        yield f" {' '.join(run.split())} "


@every_field
def test_no_form_stands_in_the_fixed_words_of_documents(name: str) -> None:
    fixed = "|".join(around(literals()))
    known = {form for concept in field_named(name).concepts for form in forms(concept)}
    assert [form for form in known if f" {form} " in fixed] == []


def test_vocabulary_files_are_the_fields_and_no_more() -> None:
    folder = files("whybench.families.recite.world") / "fields"
    assert {path.name for path in folder.iterdir() if path.name.endswith(".json")} == {
        f"{name}.json" for name in FIELDS
    }
