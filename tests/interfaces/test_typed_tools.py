"""Tools tell the types of their arguments, reveal nothing by them, and judge nothing."""

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from inspect_ai.tool import ToolParams
from jsonschema import Draft7Validator

from whybench.causal.canonical import thaw
from whybench.causal.seeds import Stream
from whybench.episode.action import KEYWORDS
from whybench.episode.family import Family
from whybench.episode.instance import Instance
from whybench.episode.registry import families
from whybench.interfaces.parity.cases import nonsense, parity_cases, sample
from whybench.interfaces.parity.check import parity_differences
from whybench.interfaces.parity.interface import interfaces
from whybench.interfaces.session import Session, tool_schema

FAMILIES = families()
CALLS = 300
MANY = 200
"""Instances of each family in the slow tier."""


def schemas(found: Any) -> Iterator[dict[str, Any]]:
    """Yield a schema and those in it."""
    yield found
    for key in ("items", "additionalProperties"):
        if isinstance(found.get(key), dict):
            yield from schemas(found[key])
    for inner in (*found.get("properties", {}).values(), *found.get("anyOf", ())):
        yield from schemas(inner)


def shows_only_what_the_instructions_show(family: Family[Any], instance: Instance) -> None:
    session = Session(instance)
    shown = session.instructions
    for tool in session.tools:
        Draft7Validator.check_schema(tool["parameters"])
        assert tool["parameters"].keys() == {"type", "properties", "required"}
        for argument in tool["parameters"]["properties"].values():
            assert argument.pop("description")
            for part in schemas(argument):
                assert part.keys() <= KEYWORDS
                names = [one for one in part.get("enum", ()) if isinstance(one, str)]
                names += part.get("properties", ())
                assert [one for one in names if one not in shown] == []
    others = list(family.look_alikes(instance))
    own = [tool_schema(spec) for spec in family.open(instance).actions]
    assert all([tool_schema(spec) for spec in other.actions] == own for other in others)


def is_whole_in_inspect(family: Family[Any], instance: Instance) -> None:
    for spec in family.open(instance).actions:
        schema = spec.json_schema()
        kept = ToolParams.model_validate(schema).model_dump(exclude_none=True)
        assert kept == {**schema, "additionalProperties": False}


def fits_the_calls_of_the_exact_agent(family: Family[Any], instance: Instance) -> None:
    """Typed calls are valid and give the same observations as the agent's texts."""
    session = Session(instance)
    for step in family.exact_run(instance).steps:
        spec = next(s for s in session.episode.actions if s.name == step.action.name)
        types = {one.name: one.json_schema().get("type") for one in spec.arguments}
        args = {
            name: text if types[name] == "string" else json.loads(text)
            for name, text in thaw(step.action.args).items()
            if name in types
        }
        assert list(Draft7Validator(spec.json_schema()).iter_errors(args)) == []
        assert session.call(step.action.name, args).observation == step.observation


CHECKS = (
    shows_only_what_the_instructions_show,
    is_whole_in_inspect,
    fits_the_calls_of_the_exact_agent,
)


@pytest.mark.parametrize("family", FAMILIES.values(), ids=list(FAMILIES))
def test_the_schema_of_the_first_suite(family: Family[Any]) -> None:
    instance = family.suite(family.recommended[0])[0]
    for check in CHECKS:
        check(family, instance)


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES.values(), ids=list(FAMILIES))
def test_the_schema_of_every_suite(family: Family[Any]) -> None:
    compared, kinds = 0, Counter()
    for name in family.suites:
        for profile in family.profiles_of(name):
            instance = family.suite(name, profile=profile)[0]
            for check in CHECKS:
                check(family, instance)
            compared += bool(list(family.look_alikes(instance)))
            for spec in family.open(instance).actions:
                kinds.update(str(one.json_schema().get("type")) for one in spec.arguments)
    assert compared
    assert kinds.keys() - {"string"} or family.name == "causallink"


@pytest.mark.parametrize("family", FAMILIES.values(), ids=list(FAMILIES))
def test_lists_of_calls_have_values_that_fit_and_values_that_do_not(family: Family[Any]) -> None:
    stream, wrong = Stream("typed", family.name), Counter()
    instance = family.suite(family.recommended[0])[0]
    specs = Session(instance).episode.actions
    own = {spec.name: spec.json_schema() | {"additionalProperties": False} for spec in specs}
    for spec in specs:
        fitting = {one.name: sample(thaw(one.schema), stream) for one in spec.arguments}
        assert Draft7Validator(own[spec.name]).is_valid(fitting)
    move = next(family.agent("exact", instance))
    for _ in range(CALLS):
        name, args = nonsense(specs, move, stream)
        for error in Draft7Validator(own.get(name, {})).iter_errors(args):
            wrong[error.validator] += 1
    assert {"type", "required", "additionalProperties"} <= wrong.keys()
    assert sum(wrong.values()) > CALLS / 4
    enumerated = any("enum" in one.schema for spec in specs for one in spec.arguments)
    assert "enum" in wrong or not enumerated


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES.values(), ids=list(FAMILIES))
def test_typed_and_illegal_calls_give_the_plain_trace_many_times(family: Family[Any]) -> None:
    """Interfaces with a server or an engine: `WHYBENCH_PARITY=200 pytest test_parity.py`."""
    cases = list(parity_cases(family, MANY))
    wrong = 0
    for case in cases:
        specs = {spec.name: spec for spec in Session(case.instance).episode.actions}
        wrong += sum(
            name not in specs or not Draft7Validator(specs[name].json_schema()).is_valid(args)
            for name, args in case.calls
        )
    assert wrong > MANY / 2
    assert list(parity_differences(interfaces()["gym"], cases)) == []
