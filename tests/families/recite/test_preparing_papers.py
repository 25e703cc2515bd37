"""Papers to prepare: their annotations, what is told about them, and their ids over many runs."""

import json
from pathlib import Path
from typing import Any

import pytest

from whybench.families.recite.extras.preparing.papers import Paper, gathered
from whybench.families.recite.extras.preparing.texts import read_texts, write_texts


def test_papers_need_one_annotation_each_and_names_and_ids_of_their_own(tmp_path: Path) -> None:
    first, second = tmp_path / "a.pdf", tmp_path / "b.pdf"
    for file in (first, second, tmp_path / "a.csv", tmp_path / "b.csv"):
        file.write_text("x")
    found = gathered([first, second], tmp_path, {"b": {"id": 9}})
    assert [(p.name, p.id, p.annotation.name) for p in found] == [
        ("a", 1, "a.csv"), ("b", 9, "b.csv"),
    ]  # fmt: skip
    for given, told, why in [
        (([], tmp_path), None, "no papers"),
        (([tmp_path / "c.pdf"], tmp_path), None, "no file"),
        (([first, second], {"a": first}), None, "b has no annotation"),
        (([first, first], tmp_path), None, "the name a"),
        (([first, second], tmp_path), {"b": {"id": 1}}, "the id 1"),
        (([first], tmp_path), {"a": {"doi": "x"}}, "no 'doi'"),
    ]:
        with pytest.raises(ValueError, match=why):
            gathered(*given, told)
    (tmp_path / "a.json").write_text("[]")
    with pytest.raises(ValueError, match="more than one"):
        gathered([first], tmp_path)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("a.pdf", "b.pdf", "a.csv", "b.csv"):
        (tmp_path / name).write_text("x")
    return tmp_path


def told(folder: Path, details: Any) -> Paper:
    """The paper `a`, with details from a file."""
    (folder / "told.json").write_text(json.dumps(details))
    return gathered([folder / "a.pdf"], folder, folder / "told.json")[0]


def test_one_domain_may_be_a_plain_text(folder: Path) -> None:
    assert told(folder, {"a": {"domains": "Medicine"}}).domains == ("Medicine",)
    assert told(folder, {"a": {"domains": ["Medicine", "Law"]}}).domains == ("Medicine", "Law")
    assert told(folder, {"other": {}}).domains == ()


@pytest.mark.parametrize(
    ("details", "why"),
    [
        ([], "told.json must be an object from names of papers"),
        ("text", "told.json must be an object"),
        ({"a": []}, "details of a: give an object"),
        ({"a": "Title"}, "details of a: give an object"),
        ({"a": {"domains": 5}}, r'`domains` must be a list of names, such as \["Medicine"\]'),
        ({"a": {"domains": ["Law", 5]}}, "`domains` must be a list"),
        ({"a": {"domains": {"Law": 1}}}, "`domains` must be a list"),
        ({"a": {"domains": ""}}, "`domains` must be a list"),
        ({"a": {"title": 5}}, "`title` must be a text, not a number"),
        ({"a": {"publication_date": 2024}}, "`publication_date` must be a text"),
        ({"a": {"abstract": None}}, "`abstract` must be a text"),
        ({"a": {"id": "7"}}, "`id` must be a whole number, not a text"),
        ({"a": {"id": True}}, "`id` must be a whole number"),
        ({"a": {"title": "\ud800"}}, "half a character"),
        ({"a": {"domains": ["\ud800"]}}, "half a character"),
    ],
)
def test_details_of_a_wrong_type_are_refused_with_advice(
    folder: Path, details: Any, why: str
) -> None:
    with pytest.raises(ValueError, match=why):
        told(folder, details)


def test_details_that_are_no_json_are_refused_by_the_files_name(folder: Path) -> None:
    (folder / "told.json").write_text("{")
    with pytest.raises(ValueError, match=r"told\.json is not JSON"):
        gathered([folder / "a.pdf"], folder, folder / "told.json")


def test_papers_keep_their_ids_and_others_count_on(folder: Path) -> None:
    both = [folder / "a.pdf", folder / "b.pdf"]
    assert [p.id for p in gathered(both, folder, known={"b": 2, "gone": 7})] == [8, 2]
    assert [p.id for p in gathered(both, folder, {"b": {"id": 5}}, {"b": 2})] == [3, 5]
    with pytest.raises(ValueError, match="two papers have the id 7"):
        gathered(both, folder, {"a": {"id": 7}}, {"gone": 7})


def test_a_name_that_no_file_can_keep_is_refused(folder: Path) -> None:
    odd = folder / "\udcff.pdf"
    odd.write_text("x")
    with pytest.raises(ValueError, match="Rename the file"):
        gathered([odd], folder)


def test_records_are_read_as_written_and_none_is_guessed(tmp_path: Path) -> None:
    path = tmp_path / "texts.jsonl"
    assert read_texts(path) == {}
    write_texts(path, {"a": {"id": 1, "title": "one\u2028line"}, "b": {"id": 2}})
    assert list(read_texts(path)) == ["a", "b"]
    assert read_texts(path)["a"] == {"id": 1, "title": "one\u2028line", "paper": "a"}


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("{", "is no JSON"),
        ("[]", "no record"),
        ('{"id": 2}', "no record with the name"),
        ('{"paper": "b", "id": "2"}', "whole number"),
        ('{"paper": "a", "id": 2}', "a line before"),
        ('{"paper": "b", "id": 1}', "a line before"),
    ],
)
def test_a_file_of_records_that_cannot_be_added_to_is_refused(
    tmp_path: Path, line: str, why: str
) -> None:
    path = tmp_path / "texts.jsonl"
    path.write_text('{"paper": "a", "id": 1}\n' + line + "\n")
    with pytest.raises(ValueError, match=f"line 2 .*{why}.*Correct it, move the file away"):
        read_texts(path)
