"""Justifications are checked exactly: against all systems that fit, listed one by one."""

import json
from dataclasses import replace
from fractions import Fraction

import pytest
from tests.families.prism.drawn_worlds import drawn, placed

from whybench.causal.boolean import render
from whybench.causal.canonical import Record
from whybench.causal.seeds import Stream
from whybench.causal.version_space import Rule, Space, System, VersionSpace
from whybench.families.prism.justification import fits, justified, needed, possible, truths_in
from whybench.families.prism.prompts.surface import numbers, surface_of
from whybench.families.prism.submission import Submission, SubmissionError, read
from whybench.families.prism.world.world import KINDS, Kind, Question, Trial, World

MOST = 1500


def listed(world: World, rows: list) -> set[int] | None:
    """Return the answers that are possible, from the list of all systems that fit."""
    found = VersionSpace.of(world.space, rows, MOST)
    if found is None:
        return None
    answers: set[int] = set()
    for i in range(len(found)):
        system = found.system(i)
        told = [world.rows[world.question.trial]] if world.question.kind == "had" else []
        if fits(world.space, system, told):
            answers |= truths_in(world.space, world.question, system, world.rows)
    return answers


def compared(kind: Kind, seeds: range) -> int:
    count = 0
    for seed in seeds:
        hidden = int(kind == "had" or seed % 3 == 0)
        world = drawn(seed, 4 + seed % 2, kind, hidden, "mono" if hidden else "any")
        stream = Stream("some trials", seed)
        rows = [row for row in world.rows if stream.below(4)]
        expected = listed(world, rows)
        if expected is not None:
            assert {v for v in (0, 1) if possible(world, rows, v)} == expected, (kind, seed)
            count += 1
    return count


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_possible_equals_the_list(kind: Kind) -> None:
    assert compared(kind, range(3)) >= 1


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_possible_equals_the_list_often(kind: Kind) -> None:
    assert compared(kind, range(100, 220)) >= 60


# The example of the documentation: inputs W, S (0, 1), driven H, L, F (2, 3, 4).

ROWS = {"cannot": (0, 1, 1, 0, 0), "yes": (0, 1, 1, 0, 1), "no": (0, 1, 1, 1, 1)}


def example(answer: str) -> World:
    """Return a member of the triple that PRISM's design derives by hand: does W act on L?"""
    trials = (
        Trial((0, 1), ((2, 1),), ROWS[answer]),
        Trial((1, 0), ((4, 1),), (1, 0, 0, 0, 1)),
        Trial((1, 1), ((2, 0), (3, 1)), (1, 1, 0, 1, 1)),
    )
    truth: System = (Rule((0, 1), 8), Rule((0, 1), 8), Rule((0,), 2))
    question = Question("direct", 3, x=0)
    return World(5, 2, "mono", 0, trials, question, truth, answer, Fraction(1, 2), "b")  # type: ignore[arg-type]


@pytest.mark.parametrize(("answer", "expected"), [("cannot", {0, 1}), ("yes", {1}), ("no", {0})])
def test_the_example_by_hand(answer: str, expected: set[int]) -> None:
    world = example(answer)
    assert {v for v in (0, 1) if possible(world, world.rows, v)} == expected
    for said in ("yes", "no"):
        every = Submission(said, trials=(0, 1, 2))
        assert justified(world, world.rows, every) == (said == answer)
    if answer != "cannot":
        # Rows 1 and 2 are enough, as the derivation says; row 3 holds L and is not.
        assert justified(world, world.rows, Submission(answer, trials=(0, 1)))
        assert not justified(world, world.rows, Submission(answer, trials=(2,)))
        assert not justified(world, world.rows, Submission(answer))


def answered(world: World, first: dict[str, str], second: dict[str, str]) -> Submission:
    args = Record.of(answer="cannot", systems=json.dumps([first, second]))
    names = dict(zip("wshlf", range(5), strict=True))
    return read(args, world.space, names, 3)


def test_two_systems_that_fit_and_differ() -> None:
    world = example("cannot")
    uses = {"H": "(and W S)", "L": "(and W S)", "F": "W"}
    other = {"H": "(and W S)", "L": "(and S F)", "F": "W"}
    assert justified(world, world.rows, answered(world, uses, other))
    assert justified(world, world.rows, answered(world, other, uses))
    assert not justified(world, world.rows, answered(world, uses, uses)), "they do not differ"
    wrong = [
        {**other, "L": "(or S F)"},  # 1 in row 1, where L is 0
        {**other, "L": "(xor S F)"},  # not a rule of this class
        {**other, "F": "L", "L": "(and S F)"},  # a circle
        {**other, "H": "(and L (not L))"},  # a constant
    ]
    for system in wrong:
        assert not justified(world, world.rows, answered(world, uses, system)), system
    # How a formula is written does not matter.
    twice = {**other, "L": "(and S (and F S))"}
    assert justified(world, world.rows, answered(world, uses, twice))


@pytest.mark.parametrize(
    "systems",
    ["[]", "{}", '[{"H": "W"}]', '[{"H": "W"}, {"H": "W"}]', "no json", '[[1], "x"]', "7",
     '[{"H": "W", "L": "W", "F": "(and"}, {"H": "W", "L": "W", "F": "W"}]',
     '[{"H": "W", "L": "W", "F": "Q"}, {"H": "W", "L": "W", "F": "W"}]'],
)  # fmt: skip
def test_unreadable_systems_are_rejected_with_a_reason(systems: str) -> None:
    world = example("cannot")
    with pytest.raises(SubmissionError, match=r"system|formula"):
        read(Record.of(answer="cannot", systems=systems), world.space, {"w": 0}, 3)


@pytest.mark.parametrize(
    ("args", "why"),
    [
        ({"answer": "maybe"}, "not yes, no or cannot"),
        ({}, "not yes, no or cannot"),
        ({"answer": "yes", "probability": "1.2"}, "between 0 and 1"),
        ({"answer": "yes", "probability": "nan"}, "between 0 and 1"),
        ({"answer": "yes", "probability": "likely"}, "not a number"),
        ({"answer": "yes", "trials": "[0]"}, "not seen"),
        ({"answer": "yes", "trials": "[4]"}, "not seen"),
        ({"answer": "yes", "trials": '["1"]'}, "list of numbers"),
    ],
)
def test_unreadable_answers_are_rejected_with_a_reason(args: dict[str, str], why: str) -> None:
    with pytest.raises(SubmissionError, match=why):
        read(Record(args.items()), example("no").space, {}, 3)


def test_a_drawn_system_justifies_itself_in_any_surface() -> None:
    """The names of every surface are understood in formulas."""
    space = Space(6, 3, "any")
    for seed, template in enumerate(("table", "prose", "game", "shapes", "board", "table_again")):
        world = replace(drawn(seed, 6, "direct"), cls="any")
        names = surface_of(placed(seed), 6, template).names
        told = {}
        for v, rule in enumerate(world.truth, 3):
            parts = []
            for cell in range(1 << len(rule.arguments)):
                if rule.table >> cell & 1:
                    literals = [
                        a if cell >> i & 1 else ("not", a) for i, a in enumerate(rule.arguments)
                    ]
                    parts.append(("and", *literals) if len(literals) > 1 else literals[0])
            told[names[v]] = render(("or", *parts) if len(parts) > 1 else parts[0], names)
        args = Record.of(answer="cannot", systems=json.dumps([told, told]))
        said = read(args, space, numbers(placed(seed), 6), 3)
        assert said.systems == (world.truth, world.truth)


def test_named_trials_that_are_not_needed_are_counted() -> None:
    world = example("yes")
    # In row 1 all but W are 1 and L is 0, so the rule of L uses W: one trial is enough.
    assert needed(world, world.rows, Submission("yes", trials=(0,))) == 1.0
    assert needed(world, world.rows, Submission("yes", trials=(0, 1))) == 1 / 2
    assert needed(world, world.rows, Submission("yes", trials=(2,))) is None
    world = example("no")
    assert needed(world, world.rows, Submission("no", trials=(0, 1))) == 1.0
    assert needed(world, world.rows, Submission("no", trials=(0, 1, 2))) == 2 / 3
    assert needed(world, world.rows, Submission("cannot")) is None
