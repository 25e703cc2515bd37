import json

from hypothesis import given
from hypothesis import strategies as st
from tests.effort import calls

from whybench.episode.prompts.extraction import is_bare_object, json_objects

objects = st.dictionaries(st.text(max_size=5), st.integers() | st.text(max_size=5), max_size=3)


@given(st.lists(objects, max_size=4), st.text(st.characters(exclude_characters="{}"), max_size=9))
def test_objects_are_found_between_any_words(found: list[dict[str, object]], words: str) -> None:
    text = words + words.join(json.dumps(item) for item in found) + words
    assert [item.value for item in json_objects(text)] == found[::-1]


@given(objects)
def test_a_bare_object_is_nothing_else(item: dict[str, object]) -> None:
    text = json.dumps(item)
    assert is_bare_object(f" {text}\n")
    assert not is_bare_object(f"so {text}")
    assert not is_bare_object(f"[{text}]")


HOSTILE = (
    "{" * 10**6,
    '{"a":' * 10**6,
    '{"a":[' * 10**6,
    '{"a": 1' * 10**6,
    "[" * 10**6,
    '{"x":[' * 900 + "0," * 96_000,
    '{"x":"' + "y" * 190_000,
)


def test_hostile_text_costs_little() -> None:
    for text in HOSTILE:
        assert list(json_objects(text)) == []
        assert not is_bare_object(text)
        assert calls(lambda text=text: list(json_objects(text))) < 100_000


def test_an_object_inside_reasoning_is_not_confused_with_the_last() -> None:
    text = 'maybe {"a": {"b": 1}}, {broken, then {"c": 2}'
    assert [found.value for found in json_objects(text)] == [{"c": 2}, {"b": 1}, {"a": {"b": 1}}]


def test_the_last_object_is_found_behind_any_number_of_braces() -> None:
    for noise in ("{" * 5_000, "{}" * 5_000, "\\frac{a}{b} " * 5_000):
        assert next(json_objects(noise + '{"next": "answer"}')).value == {"next": "answer"}
