"""The validation funnel and extraction: every stage, both profiles, and hostile answers."""

import json
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.effort import calls
from tests.tables import sampled, together

from whybench.causal.boolean import OPERATORS
from whybench.episode.episode import ANSWERED
from whybench.families.replayscm.score import Handed, values
from whybench.families.replayscm.submission import STAGES, Judged, extract, judge
from whybench.families.replayscm.world.replay import Sheet, replay
from whybench.families.replayscm.world.world import Disclosure, Table, Task, Told, View, World

N = 6
ROOTS = 0b000011
FORMULAS = ("", "", "(xor X1 X2)", "(and X1 X3)", "(or X2 X4)", "(iff X3 X4 X5)")
ORDER = (0, 1, 2, 3, 4, 5)
BLOCKS = ((1, 0, 2), (4, 5, 3))
GOLD = {"X3": "(xor X1 X2)", "X4": "(and X1 X3)", "X5": "(or X2 X4)", "X6": "(iff X3 X4 X5)"}
OTHER = GOLD | {"X6": "(xor X3 X5)"}

ADMISSIBLE: dict[Disclosure, tuple[int, ...]] = {
    "ordered": (0, 0, 0b000011, 0b000111, 0b001111, 0b011111),
    "block": (0, 0, 0b000011, 0b110111, 0b101111, 0b011111),
    "hidden": (0, 0, 0b111011, 0b110111, 0b101111, 0b011111),
    "roots": (0b111110, 0b111101, 0b111011, 0b110111, 0b101111, 0b011111),
}

EVERY: list[tuple[Task, Disclosure]] = [
    ("induce", "ordered"),
    ("induce", "block"),
    ("induce", "hidden"),
    ("induce", "roots"),
    ("alternative", "ordered"),
    ("alternative", "hidden"),
]
PROFILES = [False, True]


def gold_row(a: int, b: int) -> int:
    c = a ^ b
    d = a & c
    e = b | d
    f = int(c == d == e)
    return a | b << 1 | c << 2 | d << 3 | e << 4 | f << 5


TABLE = Table.of(N, 0, "none", [gold_row(0, 0), gold_row(1, 0), gold_row(0, 1), gold_row(1, 1)])


@cache
def view(task: Task = "induce", disclosure: Disclosure = "hidden", released: bool = False) -> View:
    known = None if disclosure == "roots" else ROOTS
    told = Told(N, 3, 2, known, ADMISSIBLE[disclosure], disclosure == "ordered")
    return View(
        task,
        disclosure,
        told,
        (3, 1, 0, 5, 4, 2),
        ORDER if disclosure == "ordered" else (),
        BLOCKS if disclosure == "block" else (),
        (TABLE,),
        1,
        FORMULAS if task == "alternative" else (),
        released,
    )


def world(seen: View) -> World:
    return World(seen, FORMULAS, (TABLE,), "test")


def answer(seen: View, mechanisms: object, roots: object = ("X1", "X2")) -> dict[str, Any]:
    """An answer of the task's form with these mechanisms."""
    scm: dict[str, Any] = {"mechanisms": mechanisms}
    if seen.disclosure == "roots":
        scm["roots"] = list(roots) if isinstance(roots, tuple) else roots
    if seen.task == "induce":
        return scm
    return {
        "alternative": scm,
        "experiment": {"type": "hard_do", "assignments": {"X3": 1}},
        "witness": {"rootAssignment": {"X1": 0, "X2": 0}, "differences": []},
    }


def stage(seen: View, mechanisms: object, roots: object = ("X1", "X2")) -> str | None:
    """The stage at which an answer fails; checks that the funnel is one."""
    return funnel(judge(seen, json.dumps(answer(seen, mechanisms, roots))))


def funnel(judged: Judged) -> str | None:
    passed = [name for name in STAGES if judged.passed(name)]
    assert passed == list(STAGES[: len(passed)])
    if judged.failed is None:
        assert len(passed) == len(STAGES)
        assert judged.candidate is not None
        assert judged.reason == ""
    else:
        assert len(passed) == STAGES.index(judged.failed)
        assert judged.candidate is None
        assert judged.reason
    return judged.failed


every = together(("task", "disclosure"), EVERY)
both = together("released", PROFILES)


# The stages, for every task and disclosure.


@every
@both
def test_gold_is_valid(task: Task, disclosure: Disclosure, released: bool) -> None:
    seen = view(task, disclosure, released)
    judged = judge(seen, json.dumps(answer(seen, GOLD)))
    assert funnel(judged) is None
    assert judged.candidate is not None
    assert judged.candidate.order == (2, 3, 4, 5)
    assert judged.candidate.parents == (0, 0, 0b11, 0b101, 0b1010, 0b11100)
    assert judged.roots == judged.candidate.roots == ROOTS


@every
@both
@together(
    "text",
    [
        "",
        " ",
        "X1",
        "{",
        "[1]",
        "[]",
        "null",
        "true",
        "3",
        '"{}"',
        "{'a': 1}",
        "{} {}",
        '{"a": 1,}',
    ],
)
def test_what_is_not_one_json_object_is_not_extracted(
    task: Task, disclosure: Disclosure, released: bool, text: str
) -> None:
    assert funnel(judge(view(task, disclosure, released), text)) == "extracted"


@pytest.mark.parametrize("given_", [None, 3, 1.5, True, b"{}", bytearray(b"{}"), [], {}, object()])
def test_what_is_no_text_is_not_extracted(given_: object) -> None:
    assert funnel(judge(view(), given_)) == "extracted"


@every
@both
@together("mechanisms", [None, [], "X1", 3, [["X3", "X1"]]])
def test_mechanisms_must_be_an_object(
    task: Task, disclosure: Disclosure, released: bool, mechanisms: object
) -> None:
    seen = view(task, disclosure, released)
    assert stage(seen, mechanisms) == "schema"
    assert funnel(judge(seen, "{}")) == "schema"
    assert funnel(judge(seen, json.dumps(GOLD))) == "schema"


@every
@both
@together("formula", [None, 1, True, ["and", "X1", "X2"], {"and": ["X1", "X2"]}])
def test_a_mechanism_must_be_a_text(
    task: Task, disclosure: Disclosure, released: bool, formula: object
) -> None:
    assert stage(view(task, disclosure, released), GOLD | {"X3": formula}) == "schema"


@both
@together("part", ["alternative", "experiment", "witness"])
@together("instead", [None, [], "x", 1])
def test_an_alternative_has_three_parts_that_are_objects(
    released: bool, part: str, instead: object
) -> None:
    seen = view("alternative", "ordered", released)
    full = answer(seen, OTHER)
    assert funnel(judge(seen, json.dumps(full))) is None
    assert funnel(judge(seen, json.dumps(full | {part: instead}))) == "schema"
    del full[part]
    assert funnel(judge(seen, json.dumps(full))) == "schema"


@both
@pytest.mark.parametrize("roots", [None, "X1", {"X1": 1, "X2": 1}, 2])
def test_hidden_roots_must_be_a_list(released: bool, roots: object) -> None:
    seen = view("induce", "roots", released)
    assert stage(seen, GOLD, roots) == "schema"
    assert funnel(judge(seen, json.dumps({"mechanisms": GOLD}))) == "schema"


@both
@together(
    "roots",
    [
        ("X1",),
        ("X1", "X2", "X3"),
        ("X1", "X1"),
        ("X1", "X1", "X2"),
        ("X1", "X7"),
        ("X1", 2),
        ("X1", ["X2"]),
        ("X1", {"X2": 1}),
        (),
        (None, None),
    ],
)
def test_hidden_roots_must_be_the_right_number_of_different_variables(
    released: bool, roots: tuple[object, ...]
) -> None:
    assert stage(view("induce", "roots", released), GOLD, roots) == "keys"


@both
def test_roots_named_are_kept_once_they_and_the_keys_are_in_order(released: bool) -> None:
    seen = view("induce", "roots", released)

    def named(mechanisms: object, roots: tuple[str, ...]) -> int | None:
        return judge(seen, json.dumps(answer(seen, mechanisms, roots))).roots

    assert named(GOLD | {"X3": "(and X1"}, ("X1", "X2")) == ROOTS
    swapped = {"X1": "X3", "X4": "X1", "X5": "X4", "X6": "X5"}
    assert named(swapped | {"X4": "nonsense"}, ("X2", "X3")) == 0b110
    assert named({"X1": "X3", "X4": "X1"}, ("X2", "X3")) is None
    assert stage(seen, swapped, ("X2", "X3")) is None


@every
@both
def test_just_the_endogenous_variables_have_mechanisms(
    task: Task, disclosure: Disclosure, released: bool
) -> None:
    seen = view(task, disclosure, released)
    without = {name: text for name, text in GOLD.items() if name != "X5"}
    assert stage(seen, without) == "keys"
    assert stage(seen, {}) == "keys"
    for extra in ("X1", "X7", "x3", "", " X3", "Y"):
        assert stage(seen, GOLD | {extra: "X1"}) == "keys"
    assert stage(seen, without | {"X2": "X1"}) == "keys"


@every
@both
@together(
    "formula",
    [
        "",
        " ",
        "()",
        "((X1))",
        "(and X1)",
        "(not X1 X2)",
        "(if X1 X2 X1)",
        "(AND X1 X2)",
        "1",
        "(or X1 0)",
        "X7",
        "(and X1 X2",
        "(and X1 X2))",
        "X1 X2",
        "(and X1, X2)",
        "(and\tX1 X2)",
        "(and X1\nX2)",
    ],
)
def test_a_formula_that_does_not_parse_ends_everything(
    task: Task, disclosure: Disclosure, released: bool, formula: str
) -> None:
    assert stage(view(task, disclosure, released), GOLD | {"X3": formula}) == "parse"


@every
@both
def test_extra_keys_beside_the_answer_are_ignored(
    task: Task, disclosure: Disclosure, released: bool
) -> None:
    seen = view(task, disclosure, released)
    full = answer(seen, GOLD) | {"reasoningTrace": "x" * 1000, "notes": [1, {"mechanisms": 3}]}
    assert funnel(judge(seen, json.dumps(full, indent=2))) is None


@every
@both
def test_no_variable_may_depend_on_itself(
    task: Task, disclosure: Disclosure, released: bool
) -> None:
    seen = view(task, disclosure, released)
    for formula in ("X4", "(and X1 X4)", "(or X1 (and X4 (not X4)))"):
        assert stage(seen, GOLD | {"X4": formula}) == "legal"


@pytest.mark.parametrize("task", ["induce", "alternative"])
@both
def test_with_an_order_only_earlier_variables_may_be_mentioned(task: Task, released: bool) -> None:
    seen = view(task, "ordered", released)
    assert stage(seen, GOLD | {"X4": "(and X1 X2)"}) is None
    for later in ("X5", "(and X1 X6)", "(or X1 (and X5 (not X5)))"):
        assert stage(seen, GOLD | {"X4": later}) == "legal"


@both
def test_with_blocks_only_the_same_and_earlier_blocks_may_be_mentioned(released: bool) -> None:
    seen = view("induce", "block", released)
    assert stage(seen, GOLD | {"X4": "(and X1 X5)", "X5": "X2"}) is None
    for later in ("X4", "(and X1 X6)", "(or X1 (and X5 (not X5)))"):
        assert stage(seen, GOLD | {"X3": later}) == "legal"
    assert stage(seen, GOLD | {"X4": "X6", "X6": "X4"}) == "acyclic"


@pytest.mark.parametrize("disclosure", ["hidden", "roots"])
@both
def test_without_an_order_anything_but_a_cycle_is_legal(
    disclosure: Disclosure, released: bool
) -> None:
    seen = view("induce", disclosure, released)
    turned = {"X6": "(xor X1 X2)", "X5": "(and X1 X6)", "X4": "X5", "X3": "(or X4 X5)"}
    assert stage(seen, turned) is None
    assert stage(seen, turned | {"X6": "X3"}) == "acyclic"
    assert stage(seen, turned | {"X6": "X5"}) == "acyclic"


@both
def test_with_roots_of_its_own_an_answer_may_let_true_roots_depend_on_anything(
    released: bool,
) -> None:
    seen = view("induce", "roots", released)
    mechanisms = {"X1": "(xor X2 X3)", "X4": "(and X1 X3)", "X5": "(or X2 X4)", "X6": "X5"}
    assert stage(seen, mechanisms, ("X3", "X2")) is None
    assert stage(seen, mechanisms | {"X1": "X4"}, ("X3", "X2")) == "acyclic"


def test_stages_fail_in_order_whatever_else_is_wrong() -> None:
    seen = view("induce", "hidden")
    cycle = GOLD | {"X3": "X4", "X4": "X3"}
    assert stage(seen, cycle) == "acyclic"
    assert stage(seen, cycle | {"X5": "X5"}) == "legal"
    assert stage(seen, cycle | {"X5": "X5", "X6": "("}) == "parse"
    assert stage(seen, cycle | {"X5": "X5", "X6": "(", "X1": "X2"}) == "keys"
    assert stage(seen, cycle | {"X5": 5, "X6": "(", "X1": "X2"}) == "schema"


# Where the profiles differ.


@pytest.mark.parametrize("disclosure", ["block", "hidden", "roots"])
def test_a_cycle_of_mentions_counts_in_published_one_of_essential_parents_in_certified(
    disclosure: Disclosure,
) -> None:
    mentioned = GOLD | {"X4": "(or (and X1 X3) (and X5 (not X5)))"}
    assert stage(view("induce", disclosure, True), mentioned) == "acyclic"
    assert stage(view("induce", disclosure, False), mentioned) is None
    real = GOLD | {"X4": "(or (and X1 X3) X5)"}
    assert stage(view("induce", disclosure, True), real) == "acyclic"
    assert stage(view("induce", disclosure, False), real) == "acyclic"


def test_a_mention_that_does_not_matter_leaves_the_replay_alone() -> None:
    mentioned = GOLD | {"X4": "(or (and X1 X3) (and X5 (not X5)))"}
    judged = judge(view(), json.dumps({"mechanisms": mentioned}))
    assert judged.candidate is not None
    train, held = replay(judged.candidate, Sheet.of(N, (TABLE,), (TABLE,)))
    assert train.exact
    assert held.exact


@every
def test_too_many_essential_parents_are_illegal_in_certified_alone(
    task: Task, disclosure: Disclosure
) -> None:
    four = GOLD | {"X6": "(xor X1 X2 X3 X4)"}
    assert stage(view(task, disclosure, False), four) == "legal"
    assert stage(view(task, disclosure, True), four) is None
    idle = GOLD | {"X6": "(xor X1 X2 X3 (and X4 (not X4)) (or X5 X5))"}
    assert stage(view(task, disclosure, False), idle) == "legal"
    three = GOLD | {"X6": "(or (xor X1 X2 X3) (and X4 X5 (not X4)))"}
    assert stage(view(task, disclosure, False), three) is None


@pytest.mark.parametrize(
    "text",
    [
        '{"mechanisms": {"X1": "X2"}, "mechanisms": %s}',
        '{"note": 1, "note": 2, "mechanisms": %s}',
        '{"mechanisms": %s, "note": [{"a": 1, "a": 1}]}',
    ],
)
def test_a_key_twice_breaks_the_schema_in_certified_and_the_last_wins_in_published(
    text: str,
) -> None:
    full = text % json.dumps(GOLD)
    assert funnel(judge(view(released=False), full)) == "schema"
    assert funnel(judge(view(released=True), full)) is None


def test_a_mechanism_twice_is_the_last_in_published() -> None:
    inner = json.dumps(GOLD)[:-1] + ', "X3": "(and X1 X2)"}'
    last = {"mechanisms": GOLD | {"X3": "(and X1 X2)"}}
    found, expected = (
        judge(view(released=True), text).candidate
        for text in (f'{{"mechanisms": {inner}}}', json.dumps(last))
    )
    assert found is not None
    assert found == expected
    refused = judge(view(released=False), f'{{"mechanisms": {inner}}}')
    assert (refused.failed, "'X3'" in refused.reason) == ("schema", True)


# Extraction: the policy of the paper's Table A.3.


def chosen(seen: View, reply: str) -> Any:
    found = extract(seen, reply)
    return None if found is None else json.loads(found.text)


@every
@both
def test_a_bare_answer_is_taken_as_it_is_and_is_strict_on_one_line(
    task: Task, disclosure: Disclosure, released: bool
) -> None:
    seen = view(task, disclosure, released)
    full = answer(seen, GOLD)
    for text, strict in (
        (json.dumps(full), True),
        (f"  {json.dumps(full)}\n", True),
        (json.dumps(full, indent=1), False),
    ):
        found = extract(seen, text)
        assert found is not None
        assert (found.text, found.strict) == (text, strict)


@every
@both
@together(
    ("before", "after"),
    [
        ("My answer: ", ""),
        ("", " That is it."),
        ("```json\n", "\n```"),
        ('The set {X1, X2} and {"a": {}} gave me:\n', "\nso {done}"),
        ("", '\n{"X3": "(xor X1 X2)"}'),
        ('{"X1": 1, "X2": 2, "X3": 3, "X4": 4, "X5": 5} ', ""),
    ],
)
def test_the_task_shaped_object_is_found_in_any_wrapping(
    task: Task, disclosure: Disclosure, released: bool, before: str, after: str
) -> None:
    seen = view(task, disclosure, released)
    full = answer(seen, GOLD)
    found = extract(seen, before + json.dumps(full) + after)
    assert found is not None
    assert (json.loads(found.text), found.strict) == (full, False)


@pytest.mark.parametrize("disclosure", ["ordered", "hidden"])
def test_the_outer_object_of_an_alternative_is_never_lost_to_mechanisms_inside_or_beside(
    disclosure: Disclosure,
) -> None:
    seen = view("alternative", disclosure)
    full = answer(seen, OTHER)
    inner = json.dumps({"mechanisms": GOLD})
    for reply in (f"so {json.dumps(full)}", f"{inner} {json.dumps(full)} {inner}"):
        assert chosen(seen, reply) == full


def test_the_first_executable_candidate_is_chosen() -> None:
    seen = view()
    broken = {"mechanisms": GOLD | {"X3": "(xor X1"}}
    good, later = {"mechanisms": OTHER}, {"mechanisms": GOLD}
    assert len(json.dumps(broken["mechanisms"])) < len(json.dumps(GOLD))
    longer = {"mechanisms": GOLD | {"X3": "(nonsense X1 X2 X3 X4 X5 X6 X1 X2 X3 X4 X5 X6)"}}
    assert chosen(seen, f"{json.dumps(longer)} or {json.dumps(good)}") == good
    assert chosen(seen, f"{json.dumps(good)} or {json.dumps(longer)}") == good
    same = {"mechanisms": GOLD | {"X6": "(iff X4 X3 X5)"}}
    assert chosen(seen, f"{json.dumps(same)} or {json.dumps(later)}") == same
    assert chosen(seen, f"{json.dumps(later)} or {json.dumps(same)}") == later


def test_of_executable_candidates_more_keys_come_first_then_length() -> None:
    seen = view()
    plain = {"mechanisms": GOLD}
    more = {"mechanisms": OTHER, "note": 1}
    longer = {"mechanisms": OTHER | {"X6": "(xor X3 X5 X5 X5)"}}
    for first, second in ((plain, more), (more, plain), (more, longer), (longer, more)):
        assert chosen(seen, f"{json.dumps(first)} or {json.dumps(second)}") == more
    for first, second in ((plain, longer), (longer, plain)):
        assert chosen(seen, f"{json.dumps(first)} or {json.dumps(second)}") == longer


def test_how_well_a_candidate_replays_never_counts() -> None:
    seen = view()
    wrong = {"mechanisms": GOLD | {"X3": "(and X1 X2)"}}
    right = {"mechanisms": GOLD}
    assert len(json.dumps(wrong)) == len(json.dumps(right))
    assert chosen(seen, f"{json.dumps(wrong)} {json.dumps(right)}") == wrong
    flipped = tuple(
        Table(t.targets, t.mode, t.size, tuple(c ^ 0b1111 for c in t.columns)) for t in seen.train
    )
    blind = replace(seen, train=flipped)
    for reply in (f"{json.dumps(wrong)} {json.dumps(right)}", f"x {json.dumps(right)}"):
        assert chosen(seen, reply) == chosen(blind, reply)


def test_if_no_candidate_is_executable_the_most_task_shaped_is_chosen() -> None:
    seen = view("induce", "roots")
    shaped = {"roots": ["X1"], "mechanisms": {"X3": "X1"}}
    assert chosen(seen, f"so {json.dumps(shaped)} and {json.dumps(GOLD)}") == shaped
    assert chosen(seen, 'maybe {"X1": "X2"}') == {"X1": "X2"}
    assert chosen(seen, "I do not know.") is None
    assert chosen(seen, "{X1, X2}") is None


def test_a_cut_off_answer_yields_a_fragment_that_is_not_valid() -> None:
    seen = view("alternative", "ordered")
    text = json.dumps(answer(seen, OTHER))
    found = extract(seen, text[:-1])
    assert found is not None
    assert judge(seen, found.text).failed == "schema"


# Hostile answers.


def all_of(formula: str) -> str:
    return json.dumps({"mechanisms": dict.fromkeys(GOLD, formula)})


MOST_CALLS = 400_000
"""What a hostile answer may cost, in calls of functions."""


@cache
def hostile() -> dict[str, str]:
    return {
        "a hundred thousand nested nots": all_of("(not " * 100_000 + "X1" + ")" * 100_000),
        "as many nots as are read": all_of("(not " * 3_300 + "X7" + ")" * 3_300),
        "a formula of ten megabytes": all_of("(and " + "X1 " * 3_400_000 + ")"),
        "formulas of nothing but parentheses": all_of("(" * 10_000 + ")" * 10_000),
        "formulas of small pieces": all_of("(xor " + "(X1)(X2)" * 2_400),
        "objects nested without end": '{"a":' * 100_000,
        "objects nested deeply": '{"a":' * 100_000 + "1" + "}" * 100_000,
        "objects nested not quite too deeply": "so "
        + '{"a":' * 900
        + "1"
        + "}" * 900
        + "." * 99_999,
        "mechanisms in mechanisms": "so " + '{"mechanisms":' * 900 + "{}" + "}" * 900,
        "lists nested without end": "[" * 100_000,
        "lists nested in mechanisms": '{"mechanisms":' + "[" * 90_000 + "]" * 90_000 + "}",
        "a huge list": '{"mechanisms":{"X1":[' + "0," * 90_000 + "0]}}",
        "a list of ten megabytes": '{"mechanisms":{"X1":[' + "0," * 5_000_000 + "0]}}",
        "lists in nested objects": "so " + '{"a":[' * 450 + "[]," * 60_000 + "0" + "]}" * 450,
        "lists in objects not closed": '{"a":[' * 450 + "[]," * 60_000,
        "many opening braces": "{" * 1_000_000,
        "many opening braces on lines": "{\n" * 90_000,
        "many empty objects": "{}" * 99_000,
        "many small objects": 'so {"a":{}}' * 18_000,
        "many fragments": 'so {"mechanisms":{"a":"b"}}' * 7_000,
        "many wrong answers": ("so " + json.dumps({"mechanisms": GOLD | {"X1": "X2"}})) * 1_400,
        "many quotes": '{"' * 100_000,
        "braces in a string": '{"a":"' + "{" * 190_000,
        "a lone surrogate": '{"mechanisms":{"\ud800":"\udfff"}}',
        "an escaped lone surrogate": '{"mechanisms":{"X3":"\\ud800","\\udfff":"X1"}}',
        "a key many times": '{"mechanisms":{' + '"X3":"X1",' * 15_000 + '"X3":"X1"}}',
        "mechanisms many times": "{" + '"mechanisms":{},' * 12_000 + '"a":1}',
        "many keys": "{" + ",".join(f'"k{i}":1' for i in range(18_000)) + "}",
        "an integer of many digits": '{"mechanisms":{"X3":' + "9" * 190_000 + "}}",
        "many large integers": '{"mechanisms":{"X3":[' + ",".join(["9" * 4_299] * 40) + "]}}",
        "a float too large": '{"mechanisms":{"X3":1e999999}}',
        "not a number": '{"mechanisms":{"X3":NaN,"X4":-Infinity}}',
        "many escapes": '{"a":"' + "\\u0041" * 33_000 + '"}',
        "bytes as they come": "".join(chr(i * i % 256) for i in range(200_000)),
        "null bytes": "\x00" * 200_000,
        "characters of all planes": "".join(chr(i) for i in range(0x20, 0x11000)),
        "blanks": " " * 1_000_000,
    }


@both
@pytest.mark.parametrize(("task", "disclosure"), sampled(EVERY[2:5]))
@together("text", lambda: hostile().values())
def test_a_hostile_answer_is_refused_at_little_cost(
    task: Task, disclosure: Disclosure, released: bool, text: str
) -> None:
    seen = view(task, disclosure, released)
    assert funnel(judge(seen, text)) is not None
    assert calls(judge, seen, text) < MOST_CALLS


@pytest.mark.parametrize(("task", "disclosure"), sampled(EVERY[2:5]))
@together("text", lambda: hostile().values())
def test_nothing_valid_is_extracted_from_a_hostile_reply(
    task: Task, disclosure: Disclosure, text: str
) -> None:
    seen = view(task, disclosure)
    found = extract(seen, text)
    assert found is None or judge(seen, found.text).failed is not None
    assert calls(extract, seen, text) < MOST_CALLS


def test_large_formulas_that_are_legal_are_scored_at_little_cost() -> None:
    seen = view("induce", "hidden", True)
    text = all_of("(xor " + "X1 X2 " * 3_200 + ")")
    judged = judge(seen, text)
    assert judged.failed is None
    handed = Handed(judged, 1, True, True)
    assert calls(values, world(seen), ANSWERED, handed, {}) < MOST_CALLS
    assert calls(judge, seen, text) < MOST_CALLS


def test_reasons_can_be_written_down_whatever_was_handed_in() -> None:
    for text in hostile().values():
        reason = judge(view(), text).reason
        assert reason.encode()
        assert len(reason) < 300


# Arbitrary answers.

words = st.sampled_from(
    ["mechanisms", "roots", "alternative", "experiment", "witness", "type", "hard_do"]
    + ["assignments", "rootAssignment", "differences", "variable", "reference"]
    + [f"X{v}" for v in range(1, 8)]
)
names = st.sampled_from([f"X{v}" for v in range(1, N + 1)])


def joined(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    several = st.lists(inner, min_size=1, max_size=3).map(" ".join)
    return st.builds("({} {})".format, st.sampled_from(OPERATORS), several)


formulas = st.recursive(names, joined, max_leaves=6)
scalars = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | words | formulas
)
jsonish = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(words | st.text(max_size=4), inner, max_size=4)
    ),
    max_leaves=12,
)


@st.composite
def mutated(draw: st.DrawFn, seen: View) -> Any:
    """A valid answer in which a few things were replaced, added or deleted."""
    full = answer(seen, dict(draw(st.sampled_from([GOLD, OTHER]))))
    for _ in range(draw(st.integers(0, 3))):
        place = full
        key = draw(st.sampled_from(sorted(place)))
        while isinstance(place[key], dict) and place[key] and draw(st.booleans()):
            place = place[key]
            key = draw(st.sampled_from(sorted(place)))
        kind = draw(st.sampled_from(["replace", "formula", "add", "delete"]))
        if kind == "delete":
            del place[key]
            if not full:
                break
        else:
            at = draw(words) if kind == "add" else key
            place[at] = draw(formulas if kind == "formula" else jsonish)
    return full


def check(seen: View, text: str) -> str | None:
    """Judge and score a text; return where it failed."""
    judged = judge(seen, text)
    failed = funnel(judged)
    found, _ = values(world(seen), ANSWERED, Handed(judged, 1, failed is None, True), {})
    assert found["valid"] == float(failed is None)
    for name in ("task_correct", "train_exact", "heldout_exact", "train_accuracy"):
        assert 0.0 <= found[name] <= 1.0
    assert failed is None or found["task_correct"] == 0.0
    return failed


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(EVERY), st.booleans(), jsonish, st.text(max_size=5))
def test_any_json_is_judged_and_scored_bare_and_wrapped(
    kind: tuple[Task, Disclosure], released: bool, value: Any, words_around: str
) -> None:
    seen = view(*kind, released)
    text = json.dumps(value)
    failed = check(seen, text)
    assert (failed == "extracted") == (not isinstance(value, dict))
    found = extract(seen, f"{words_around} {text}")
    assert found is not None or "{" not in text or not isinstance(value, dict)
    if found is not None:
        check(seen, found.text)


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(EVERY), st.booleans(), st.data())
def test_a_mutated_answer_is_judged_the_same_bare_and_wrapped(
    kind: tuple[Task, Disclosure], released: bool, data: st.DataObject
) -> None:
    seen = view(*kind, released)
    text = json.dumps(data.draw(mutated(seen)))
    failed = check(seen, text)
    found = extract(seen, f"I say: {text}!")
    assert found is not None
    if failed is None:
        assert json.loads(found.text) == json.loads(text)
    bare = extract(seen, text)
    assert bare is not None
    assert bare.text == text


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(EVERY), st.booleans(), st.data())
def test_an_answer_with_broken_characters_is_judged_and_scored(
    kind: tuple[Task, Disclosure], released: bool, data: st.DataObject
) -> None:
    seen = view(*kind, released)
    text = json.dumps(answer(seen, GOLD))
    at = data.draw(st.integers(0, len(text)))
    cut = data.draw(st.integers(0, 4))
    any_text = st.text(st.characters(), max_size=4) | st.sampled_from(['"', "{", "}", "(", ")"])
    reply = text[:at] + data.draw(any_text) + text[at + cut :]
    failed = check(seen, reply)
    found = extract(seen, reply)
    assert failed is not None or found is not None
    if found is not None:
        check(seen, found.text)
