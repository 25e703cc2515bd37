"""Extraction and validation of answers: our rules, the release's, and hostile texts."""

import json
from dataclasses import asdict
from typing import Any

import pytest
from tests.effort import calls
from tests.tables import together

from whybench.causal.seeds import Stream
from whybench.families.recite.answer import (
    LONGEST_NAME,
    MOST,
    Answer,
    AnswerError,
    Found,
    final_part,
    find,
    read,
    read_released,
    tidy,
)
from whybench.families.recite.world.world import View

FREE = View("text", 3)
TOLD = View("text", 3, "told", ("Crop yield", "Income", "Rain"))


def pair(source: object, sink: object, end: str = "sink") -> dict[str, object]:
    return {"source": source, end: sink}


def text(*pairs: dict[str, object]) -> str:
    return json.dumps({"relationships": list(pairs)})


GOOD = text(pair("rain", "yield"))
GOOD_EDGES = (("rain", "yield"),)
OTHER = text(pair("old", "thought"))


# Finding.


@together(
    ("reply", "strict"),
    [
        (GOOD, True),
        (f"\n {GOOD}\n", True),
        (json.dumps(json.loads(GOOD), indent=2), True),
        (f"```json\n{GOOD}\n```", False),
        (f"```\n{GOOD}\n```", False),
        (f"\\boxed{{{GOOD}}}", False),
        (f"\\boxed{{```json\n{GOOD}\n```}}", False),
        (f"<think>Rain {{matters}} a lot.</think>\n{GOOD}", False),
        (f"{GOOD}\nThis is because {{rain}} feeds crops.", False),
        (f"First {OTHER}, but no:\n{GOOD}\nDone.", False),
        (f'{GOOD}\n{{"relationships": "as above"}}', False),
        (f'{GOOD}\n{{"relationships": [{{"source": "rain"}}]}}', False),
        (f'{GOOD}\n{{"relationships": ["rain -> yield"]}}', False),
        (f'{GOOD}\n{{"confidence": 0.9}}', False),
        (f'{GOOD}\nThe key "relationships" holds the graph.', False),
        (f'{{"answer": {GOOD}}}', False),
        (f'{OTHER}\n{{"nodes": [{{"name": "rain"}}], {GOOD[1:]}', False),
        (f'{{"nodes": [{{"name": "rain"}}], {GOOD[1:]}', True),
        (f'{OTHER} {GOOD} {{"relationships": [{{"source": "cut', False),
        (text(pair("rain", "yield", "target")), True),
    ],
)
def test_the_last_object_of_the_right_shape_is_found(reply: str, strict: bool) -> None:
    found = find(reply)
    assert found is not None
    assert found.strict == strict
    assert read(FREE, reply).edges == GOOD_EDGES
    assert read(FREE, found.value).edges == GOOD_EDGES


def test_an_empty_list_is_an_answer() -> None:
    assert find('{"relationships": []}') == Found({"relationships": []}, True)
    assert read(FREE, f"{GOOD} or rather {text()}") == Answer((), 0, 0, ())
    assert read(TOLD, text()) == Answer((), 0, 0, ())


@pytest.mark.parametrize("ends", [("", ""), ("I say: ", " and that is all.")])
def test_thousands_of_relationships_are_found(ends: tuple[str, str]) -> None:
    long = text(*(pair(f"a cause with a longer name {i}", f"effect {i}") for i in range(MOST)))
    found = find(ends[0] + long + ends[1])
    assert found is not None
    assert len(read(FREE, found.value).edges) == MOST


# Reading names.


def test_names_are_tidied_and_duplicates_and_self_loops_removed_and_counted() -> None:
    reply = text(
        pair("Rain", "Crop yield"),
        pair(" Rain ", "Crop\n  yield"),
        pair("Income", "Income"),
        pair("Income", " Income"),
        pair("Crop yield", "Rain"),
        pair("rain", "Crop yield"),
        pair("Snow", "Snow"),
        pair("Rain", "Crop yield"),
    )
    assert asdict(read(FREE, reply)) == {
        "edges": (("Rain", "Crop yield"), ("Crop yield", "Rain"), ("rain", "Crop yield")),
        "duplicates": 2,
        "self_loops": 3,
        "nodes": ("Rain", "Crop yield", "Income", "rain", "Snow"),
    }


@pytest.mark.parametrize(
    ("name", "tidied"),
    [
        (" a  b ", "a b"),
        ("a\u00a0b\tc\nd", "a b c d"),
        ("a\u200bb\ufeff", "ab"),
        ("a\x00b", "a b"),
        ("\ud800x", "x"),
        ("Größe", "Größe"),
        ("\u202e \u200b", ""),
    ],
)
def test_what_cannot_be_seen_is_no_part_of_a_name(name: str, tidied: str) -> None:
    assert tidy(name) == tidied
    assert tidy(tidied) == tidied


def test_a_sink_counts_before_a_target() -> None:
    item = {"source": "a", "target": "c", "sink": "b"}
    assert read(FREE, {"relationships": [item]}).edges == (("a", "b"),)


@together(
    ("answer", "stage"),
    [
        ("", "no_object"),
        ("no graph here", "no_object"),
        ("{}", "no_object"),
        ('{"edges": []}', "no_object"),
        ('[{"source": "a", "sink": "b"}]', "no_object"),
        ("12", "no_object"),
        (GOOD[:-1], "no_object"),
        ('{"relationships": {}}', "schema"),
        ('{"relationships": [["a", "b"]]}', "schema"),
        ('{"relationships": [{"source": "a"}]}', "schema"),
        ('{"relationships": [{"sink": "a"}]}', "schema"),
        (text(pair("a", 3)), "schema"),
        (text(pair(None, "a")), "schema"),
        (text(pair(["a"], "b")), "schema"),
        (text(pair({"name": "a"}, "b")), "schema"),
        (text(pair("a", " \n")), "schema"),
        (text(pair("\u200b", "a")), "schema"),
        (text(pair("a", "n" * (LONGEST_NAME + 1))), "size"),
        (text(*[pair("a", "b")] * (MOST + 1)), "size"),
        (None, "schema"),
        (12, "schema"),
        (["relationships"], "schema"),
        ({}, "schema"),
        ({"relationships": None}, "schema"),
    ],
)
def test_what_is_no_graph_fails_at_its_stage(answer: object, stage: str) -> None:
    with pytest.raises(AnswerError) as error:
        read(FREE, answer)
    assert error.value.stage == stage


def test_a_name_of_just_the_longest_length_is_taken() -> None:
    long = "n" * LONGEST_NAME
    assert read(FREE, text(pair(f"  {long} ", "a"))).edges == ((long, "a"),)


# Reading ids.


def test_ids_become_names() -> None:
    reply = text(pair(3, 1), pair(1, 2), pair(3, 1), pair(2, 2))
    assert read(TOLD, reply) == Answer(
        (("Rain", "Crop yield"), ("Crop yield", "Income")), 1, 1, ("Rain", "Crop yield", "Income")
    )


@together(
    ("given", "reason"),
    [
        (0, "there is no node 0: ids go from 1 to 3"),
        (4, "there is no node 4"),
        (99, "there is no node 99"),
        (-1, "there is no node -1"),
        (10**50, "there is no node 1000"),
        (True, "True is no id"),
        (False, "False is no id"),
        ("3", "'3' is a text: write the id as an integer"),
        (" 3 ", "write the id as an integer"),
        ("Rain", "write the id 3, not 'Rain'"),
        (" Crop  yield", "write the id 1"),
        ("Snow", "'Snow' is no id: write integers from 1 to 3"),
        (3.0, "3.0 is no id"),
        (None, "None is no id"),
        ([3], "a list is no id"),
        ("\ud800\n" * 100, "is no id"),
    ],
)
def test_nothing_but_the_ids_of_nodes_is_taken(given: object, reason: str) -> None:
    for reply in (text(pair(given, 1)), text(pair(1, 2), pair(1, given))):
        with pytest.raises(AnswerError) as error:
            read(TOLD, reply)
        assert error.value.stage == "ids"
        assert reason in str(error.value)
        assert str(error.value).isascii() or "…" in str(error.value)
        assert len(str(error.value)) < 200


# Reading as the release does.


def test_the_release_takes_one_box_and_one_fence_around_the_whole() -> None:
    for reply in (
        GOOD,
        f"  {GOOD}\n",
        f"```json\n{GOOD}\n```",
        f"\\boxed{{{GOOD}}}",
        f"\\boxed{{```json\n{GOOD}\n```}}",
    ):
        assert read_released(FREE, reply).edges == GOOD_EDGES


@together(
    ("reply", "stage"),
    [
        ("", "no_object"),
        (f"Here: {GOOD}", "no_object"),
        (f"{GOOD} Done.", "no_object"),
        (f"```\n{GOOD}\n```", "no_object"),
        (f"```json\n{GOOD}\n``` ok", "no_object"),
        (f"\\boxed{{ ```json\n{GOOD}\n```}}", "no_object"),
        (f"```json\n```json\n{GOOD}\n```\n```", "no_object"),
        (f"```json\n\\boxed{{{GOOD}}}\n```", "no_object"),
        (None, "no_object"),
        (12, "no_object"),
        ("12", "schema"),
        ("null", "schema"),
        ('"relationships"', "schema"),
        ('["relationships"]', "schema"),
        ("[]", "schema"),
        ('{"relationships": {}}', "schema"),
        ('{"relationships": ["a"]}', "schema"),
        (text(pair("a", "b", "target")), "schema"),
        (text(*[pair("a", "b")] * (MOST + 1)), "size"),
    ],
)
def test_the_release_refuses_all_else(reply: object, stage: str) -> None:
    for view in (FREE, TOLD):
        with pytest.raises(AnswerError) as error:
            read_released(view, reply)
        assert error.value.stage == stage


@together(
    "reply",
    [
        GOOD,
        f"<think>a, or {{b}}?</think>\n```json\n{GOOD}\n```",
        f"First {text(pair('x', 'y'))}, no:\n```json\n{GOOD}\n```\nDone.",
        f"I think of {text(pair('x', 'y'))}. Rather {GOOD}",
        f"```json\n{text(pair('x', 'y'))}\n```\nNo.\n```json\n{GOOD}\n```",
        f"<think>no end {GOOD}",
    ],
)
def test_under_the_published_rules_the_answer_may_follow_thoughts(reply: str) -> None:
    assert read_released(FREE, final_part(reply)).edges == GOOD_EDGES


def test_thoughts_without_an_answer_are_none() -> None:
    for reply in ("", "<think>hm</think>", "A causes B.", "```json\n{}\n```"):
        with pytest.raises(AnswerError):
            read_released(FREE, final_part(reply))


def test_the_release_keeps_names_duplicates_and_self_loops_as_they_are() -> None:
    reply = text(pair(" a", "b"), pair("a", "b"), pair("a", "b"), pair("b", "b"), pair("", 7))
    assert read_released(FREE, reply) == Answer(
        ((" a", "b"), ("a", "b"), ("a", "b"), ("b", "b"), ("", "7")),
        1,
        1,
        (" a", "b", "a", "", "7"),
    )
    assert read_released(FREE, text()) == Answer((), 0, 0, ())


def test_the_release_takes_true_for_the_id_one() -> None:
    reply = text(pair(True, 2), pair(1, 2), pair(2, 2))
    edges = (("Crop yield", "Income"), ("Crop yield", "Income"), ("Income", "Income"))
    assert read_released(TOLD, reply) == Answer(edges, 1, 1, ("Crop yield", "Income"))


@pytest.mark.parametrize("given", [False, 0, 4, 99, -1, "3", "Rain", 1.0, None, [1], {}])
def test_the_release_refuses_other_ids(given: object) -> None:
    with pytest.raises(AnswerError) as error:
        read_released(TOLD, text(pair(1, given)))
    assert error.value.stage == "ids"


# Hostile texts.

PIECES = (
    *'{}[]":,\\`',
    '"relationships"',
    '"relationships": [',
    '{"relationships": ',
    '{"source": ',
    '"source"',
    '"sink": ',
    '"target": 2}',
    "\\boxed{",
    "```json",
    "```",
    "true",
    "null",
    "NaN",
    "-Infinity",
    "1",
    "1e999",
    "9" * 5000,
    "\\ud800",
    "\ud800",
    "\x00",
    " \n",
    "雨",
    "[" * 3000,
    '{"a":' * 100,
    GOOD,
    OTHER,
    text(pair(1, 2), pair(True, "Rain")),
    text(pair([[]], {"a": {}})),
)


def outcome(reader: Any, view: View, reply: str) -> str:
    """How reading ends; all it says can be written to a file."""
    try:
        answer = reader(view, reply)
        told, ended = json.dumps(asdict(answer), ensure_ascii=False), "read"
    except AnswerError as error:
        told, ended = str(error), error.stage
    assert told.encode()
    return ended


@pytest.mark.slow
def test_two_thousand_odd_texts_fail_only_at_a_stage() -> None:
    stream = Stream("recite", "odd answers")
    outcomes = set()
    for _ in range(2000):
        odd = "".join(stream.choice(PIECES) for _ in range(1 + stream.below(12)))
        for view in (FREE, TOLD):
            outcomes |= {outcome(read, view, odd), outcome(read_released, view, odd)}
    assert outcomes == {"read", "no_object", "schema", "ids"}


HOSTILE = (
    "{" * 200_000,
    '{"relationships": [' * 20_000,
    '{"relationships": [{"source": "a", "sink": "b"}, ' * 10_000,
    '{"a":' * 100_000 + "1" + "}" * 100_000,
    "[" * 1_000_000,
    '"relationships"' * 100_000,
    '{"relationships": "' + "x" * 3_000_000 + '"}',
    "\\boxed{" + "{" * 500_000 + "}",
    text(*[pair("a", "b")] * 100_000),
    text(pair("n" * 1_000_000, "m" * 1_000_000)),
)


@pytest.mark.parametrize("reply", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_texts_cost_little_time(reply: str) -> None:
    for view in (FREE, TOLD):
        for reading in (read, read_released):
            assert calls(outcome, reading, view, reply) < 100_000
