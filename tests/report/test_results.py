"""Result files: what is written can be read; what a stranger could send is refused in one line."""

import json
import math
import re
from dataclasses import replace
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from tests.report.made_up_results import FAMILIES, cell, result
from tests.tables import together

from whybench.report.results.files import (
    LIMIT,
    InvalidResultError,
    dumped,
    read_result,
    read_results,
    slugs,
    write_results,
)
from whybench.report.results.model import Result, contradictions, schema
from whybench.report.standings.model import Estimate

MARKUP = "<script>window.hacked=1</script>"
NAME = "lab-one-1rc-standard.json"


def data() -> dict:
    return json.loads(dumped(result().to_json()))


def refusal(tmp_path: Path, text: str | bytes, name: str = NAME) -> str:
    """Return the message about a file of this text."""
    path = tmp_path / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    with pytest.raises(InvalidResultError) as caught:
        read_result(path)
    return str(caught.value)


def changed(place: str, value: object) -> dict:
    """Return valid data in which the field at a dotted place has another value, or is gone."""
    found = here = data()
    *parts, last = place.split(".")
    for part in parts:
        here = here[int(part) if isinstance(here, list) else part]
    if value is GONE:
        del here[last]
    else:
        here[int(last) if isinstance(here, list) else last] = value
    return found


GONE = object()


def test_the_schema_is_a_schema_and_every_field_is_required():
    Draft202012Validator.check_schema(schema())
    parts = [schema(), *(part for part in schema()["$defs"].values() if "properties" in part)]
    assert len(parts) == 5
    for part in parts:
        assert part["additionalProperties"] is False
        assert sorted(part["required"]) == sorted(part["properties"])


def test_what_is_written_is_read_again_byte_for_byte(tmp_path):
    made = [result(), result("lab/two", 0.3, FAMILIES[:4]), result("lab/one", set="lite")]
    paths = write_results(made, tmp_path)
    assert [path.name for path in paths] == [
        NAME, "lab-two-1rc-standard.json", "lab-one-1rc-lite.json",
    ]  # fmt: skip
    found = read_results(tmp_path)
    assert list(found) == sorted(path.name for path in paths)
    for path, one in zip(paths, made, strict=True):
        assert dumped(found[path.name].to_json()) == path.read_text("utf-8")
        assert found[path.name].to_json() == one.to_json()
    two = found["lab-two-1rc-standard.json"].system
    assert two.missing == FAMILIES[4:]
    assert math.isnan(two.overall.value)
    assert two.cells["causalab"].suites == ("causalab/main",)
    assert math.isnan(found[NAME].system.cells["recite"].experiments)


def test_names_of_files_never_leave_the_folder_and_never_collide():
    made = [result(name) for name in ("../../etc/x", "..", "a/b", "a b", "a:b")]
    assert slugs(made) == [
        "etc-x-1rc-standard", "1rc-standard", "a-b-1rc-standard", "a-b-1rc-standard-2",
        "a-b-1rc-standard-3",
    ]  # fmt: skip


PERFECT = {"value": 1.0, "low": 0.9, "high": 1.0}

WRONG_VALUES = {
    "markup in the name": ("system", MARKUP, "system: has characters"),
    "an entity in the name": ("system", "a&lt;b", "system: has characters"),
    "text that runs backwards": ("system", "lab/\u202eeno", "system: has characters"),
    "a line break at the end": ("system", "lab/one\n", "system: has characters"),
    "a terminal command": ("model", "\x1b[2Jlab", "model: has characters"),
    "letters that look alike": ("model", "оpenai/x", "model: has characters"),
    "an endless name": ("system", "a" * 301, "system: does not keep maxLength 300"),
    "no name": ("system", "", "system: does not keep minLength 1"),
    "markup in a log's name": ("logs.0.file", MARKUP, "logs.0.file: has characters"),
    "markup in a date": ("date", MARKUP, "date: has characters"),
    "a day that does not exist": ("date", "2026-13-01", "date: has characters"),
    "a path as release": ("release", "../1", "release: has characters"),
    "markup in a family": ("families", {MARKUP: 1}, "families: has a name that is"),
    "a bell in a setting": ("settings.prism.protocol", "\x07", "settings.prism.protocol: has"),
    "another schema": ("schema", "whybench-result/2", 'schema: is not "whybench-result/1"'),
    "not self-reported": ("self_reported", False, "self_reported: is not true"),
    "a huge score": ("families.prism.score.value", 1e300, "prism.score.value: is more than"),
    "a huge integer": ("families.prism.episodes", 10**400, "families.prism.episodes: is more than"),
    "a negative cost": ("families.prism.cost", -1, "families.prism.cost: is less than 0"),
    "a share above 1": ("families.prism.unusable", 1.5, "families.prism.unusable: is more than 1"),
    "half an episode": ("families.prism.episodes", 1.5, "prism.episodes: is not of type integer"),
    "a text as number": ("families.prism.score.value", "0.5", "is not of type number or null"),
    "a truth value as number": ("families.prism.floor", True, "prism.floor: is not of type"),
    "a list as family": ("families.prism", [], "families.prism: is not of type object"),
    "no families": ("families", {}, "families: does not keep minProperties"),
    "no field": ("overall", GONE, "file: has no field overall"),
    "no field of a family": ("families.prism.floor", GONE, "families.prism: has no field floor"),
    "one field too many": ("verified", True, "file: has an unknown field verified"),
    "another field of a family": ("families.prism.rank", 1, "prism: has an unknown field rank"),
    "a short digest": ("logs.0.sha256", "abc", "logs.0.sha256: has characters"),
    "no logs": ("logs", [], "logs: does not keep minItems"),
    "a score outside its interval": ("families.prism.score.low", 0.99, "prism.score: is outside"),
    "a better overall score": ("overall", PERFECT, "overall: is not the mean"),
    "a better score than raw": ("families.prism.score", PERFECT, "prism.score: is not raw"),
    "a missing family that was run": ("missing", ["prism"], "missing: lists prism"),
    "outcomes of more episodes": ("families.prism.outcomes.answered", 1.0, "does not add up"),
    "a ceiling below the floor": ("families.prism.ceiling", 0.1, "prism.ceiling: is below"),
    "more right than played": ("families.prism.right", 51, "families.prism.episodes: is less than"),
}  # fmt: skip


@together("case", WRONG_VALUES)
def test_a_wrong_value_is_refused_in_one_line_that_names_file_and_field(case, tmp_path):
    place, value, told = WRONG_VALUES[case]
    message = refusal(tmp_path, json.dumps(changed(place, value)))
    assert message.startswith(f"{NAME}: ")
    assert told in message
    assert message.isprintable()
    assert len(message) < 250


def with_text(place: str, text: str) -> str:
    """Return valid data with a piece of JSON that `json.dumps` would not write."""
    return json.dumps(changed(place, "HERE")).replace('"HERE"', text)


WRONG_TEXTS = {
    "nothing": ("", "line 1: is not JSON"),
    "half a file": (dumped(result().to_json())[:500], "is not JSON"),
    "no text at all": (b"\xff\xfe\x00", "file: is not UTF-8 text"),
    "another kind of data": ("[]", "file: is not of type object"),
    "not a number": (with_text("overall.value", "NaN"), "file: contains NaN"),
    "infinity": (with_text("overall.value", "-Infinity"), "file: contains -Infinity"),
    "a number that becomes infinite": (with_text("overall.value", "1e999"), "is more than"),
    "a number of 5,000 digits": (with_text("overall.value", "9" * 5000), "too many digits"),
    "a field twice": (with_text("schema", '"a", "schema": "b"'), "schema: is given twice"),
    "a deep list": ("[" * 100_000, "file: is nested too deeply"),
    "a deep value": (with_text("overall", "[" * 900 + "]" * 900), "overall: is not of type object"),
    "a huge file": (" " * (LIMIT + 1), "file: is larger than 1,000,000 bytes"),
}


@together("case", WRONG_TEXTS)
def test_a_wrong_text_is_refused_in_one_line(case, tmp_path):
    text, told = WRONG_TEXTS[case]
    message = refusal(tmp_path, text)
    assert message.startswith(f"{NAME}: ")
    assert told in message
    assert message.isprintable()


def test_a_hostile_file_name_moves_no_cursor(tmp_path):
    message = refusal(tmp_path, "{", "\x1b[2J\n.json")
    assert message.startswith(r"'\x1b[2J\n.json': line 1")
    assert message.isprintable()


def test_a_folder_is_refused_as_a_whole_with_a_line_for_each_file(tmp_path):
    write_results([result(), result("lab/two")], tmp_path)
    (tmp_path / "bad.json").write_text("{}")
    (tmp_path / "copy.json").write_text((tmp_path / NAME).read_text())
    with pytest.raises(ValueError, match="bad") as caught:
        read_results(tmp_path)
    assert str(caught.value).splitlines() == [
        "bad.json: file: has no field schema.",
        f"{NAME}: system: is already in copy.json.",
    ]


def test_an_empty_folder_and_no_folder_are_errors(tmp_path):
    with pytest.raises(ValueError, match="Found no result files"):
        read_results(tmp_path)
    with pytest.raises(ValueError, match="There is no folder"):
        read_results(tmp_path / "none")


@pytest.mark.parametrize(
    "wrong",
    [
        result(MARKUP),
        result(date="yesterday"),
        replace(result(), system=replace(result().system, overall=Estimate(0.9, 0.8, 1.0))),
    ],
)
def test_what_could_not_be_read_is_not_written(wrong: Result, tmp_path):
    with pytest.raises(ValueError, match=r"^[\w-]+\.json: (system|date|overall): "):
        write_results([wrong], tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_floors_without_room_have_no_score():
    flat = replace(cell("prism", 1.0), floor=1.0, score=Estimate())
    one = result().system
    made = replace(one, cells=one.cells | {"prism": flat}, overall=Estimate())
    read = Result.from_json(replace(result(), system=made).to_json())
    assert list(contradictions(read)) == []
    assert not read.system.cells["prism"].score.known


def test_the_page_lists_every_field_of_the_schema():
    page = (Path(__file__).parents[2] / "docs/reference/result-files.md").read_text("utf-8")
    told = set(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE))
    assert told == {*schema()["properties"], *schema()["$defs"]["cell"]["properties"]}
