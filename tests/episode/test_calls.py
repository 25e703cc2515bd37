"""A call is one action, whether its values are JSON or texts that hold JSON."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whybench.causal.canonical import thaw
from whybench.episode.action import KEYWORDS, Action, ActionSpec, Argument, parse_call

scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=12,
)
containers = st.lists(values, max_size=3) | st.dictionaries(st.text(), values, max_size=3)
spacing = st.sampled_from([None, 1, 3, "\t"])


@given(containers, spacing, st.booleans(), st.sampled_from(["", " ", "\n\t"]))
def test_an_object_and_its_text_are_the_same_action(
    value: object, indent: int | str | None, ascii_only: bool, around: str
) -> None:
    separators = (",", ":") if indent is None else None
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only, separators=separators)
    action = parse_call("try", {"inputs": value})
    assert parse_call("try", {"inputs": around + text + around}) == action
    assert parse_call("try", thaw(action.args)) == action
    if "Infinity" not in text:
        assert json.loads(action.args["inputs"]) == value


@given(st.dictionaries(st.text(), values, max_size=4))
def test_arguments_become_texts_and_stay_what_they_are(args: dict[str, object]) -> None:
    action = parse_call("try", args)
    assert all(isinstance(text, str) for _, text in action.args)
    assert parse_call("try", thaw(action.args)) == action
    assert Action.from_json(json.loads(json.dumps(action.to_json()))) == action
    assert action.args.asdict().keys() == {name for name, v in args.items() if v is not None}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "circle",
        " circle ",
        "2.50",
        "null",
        "NaN",
        '"circle"',
        '{"a": 1',
        "{'a': 1}",
        '{"a": 1} and more',
        '{"a": 1, "a": 2}',
        '[{"a": 1, "a": 1}]',
        "[" * 100_000,
    ],
)
def test_a_text_that_is_no_object_or_list_stays_as_it_is(text: str) -> None:
    assert parse_call("hold", {"shape": text}).args["shape"] == text


def test_a_text_that_is_nested_too_deeply_is_as_malformed_as_its_value() -> None:
    deep: object = 1
    for _ in range(40):
        deep = [deep]
    assert parse_call("hold", {"shape": deep}) == parse_call("hold", {"shape": json.dumps(deep)})
    assert parse_call("hold", {"shape": deep}).name == "malformed"


def test_the_schema_of_an_action_has_one_property_for_each_argument() -> None:
    count = {"type": "integer", "minimum": 1}
    given = {"type": "object", "additionalProperties": {"type": "string", "enum": ["a", "b"]}}
    spec = ActionSpec(
        "mix",
        "Mix.",
        (Argument("count", "how many", schema=count), Argument("of", "what", True, given)),
    )
    assert spec.json_schema() == {
        "type": "object",
        "properties": {
            "count": {**count, "description": "how many"},
            "of": {**given, "description": "what"},
        },
        "required": ["count"],
    }
    assert hash(spec) == hash(ActionSpec(spec.name, spec.meaning, spec.arguments))
    assert {*count, *given, "enum"} <= KEYWORDS


def test_the_form_of_an_action_survives_storage() -> None:
    for form in ("strict", "lenient", "in_text"):
        action = Action("hold", form=form)
        assert Action.from_json(action.to_json()) == action
    assert Action.from_json({"name": "hold", "form": "nope"}).form == "strict"
