"""The pattern agent reads plain statements, and keeps silent where nothing is stated.

The sentences are our own, written before the rules were fitted to them, in three rounds.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.effort import calls
from tests.tables import together

from whybench.causal.seeds import Stream
from whybench.families.recite.agents.pattern import relations
from whybench.families.recite.agents.pattern_rules import forms


def sample(name: str) -> str:
    """Read sentences: one a line, each with its pairs indented below it."""
    return (Path(__file__).parent / "pattern_samples" / f"{name}.txt").read_text("utf-8")


STATED = sample("stated")
"""Sentences, each with its pairs below it: cause > effect."""

NOT_STATED = sample("not_stated")
"""Denied, guessed at, true elsewhere, bare correlation, or no matter of cause at all."""

Case = tuple[str, list[tuple[str, str]]]


def _cases() -> list[Case]:
    cases: list[Case] = []
    for line in STATED.strip().splitlines():
        if line.startswith("  "):
            cause, effect = line.strip().split(" > ")
            cases[-1][1].append((cause, effect))
        else:
            cases.append((line, []))
    return cases


NAMES = sorted({end for _, pairs in _cases() for pair in pairs for end in pair})
MODES = pytest.mark.parametrize("names", [None, NAMES], ids=["free", "told"])


@MODES
def test_nearly_all_stated_pairs_are_found_and_nothing_besides(names: list[str] | None) -> None:
    cases = _cases()
    wrong = [case for case in cases if sorted(relations(case[0], names)) != sorted(case[1])]
    assert len(cases) >= 200
    assert len(wrong) <= 0.04 * len(cases), wrong


@MODES
def test_nothing_is_read_from_sentences_that_state_no_cause(names: list[str] | None) -> None:
    lines = NOT_STATED.strip().splitlines()
    assert len(lines) >= 90
    assert {line: found for line in lines if (found := relations(line, names))} == {}


def test_a_document_is_read_in_its_order_without_headings_and_each_pair_once() -> None:
    text = (
        "# Rain raises flow\n\nSoil moisture raises crop yield. Rain is recorded\ndaily.\n\n"
        "## Results\n\n- **Rain** raises soil moisture.\n- Crop yield is raised by soil moisture.\n"
    )
    want = [("soil moisture", "crop yield"), ("rain", "soil moisture")]
    assert relations(text) == want


def test_told_names_are_given_back_as_told_and_other_ends_are_dropped() -> None:
    text = "The soil  moisture of the field raises crop yield. Rainfall raises soil moisture."
    assert relations(text, ["The Soil Moisture", "Crop yield"]) == [
        ("The Soil Moisture", "Crop yield")
    ]
    assert relations(text, []) == []


def test_a_longer_told_name_wins_and_may_hold_words_that_look_like_a_cue() -> None:
    names = ["yield", "crop yield", "wear and tear", "use of reduced tillage"]
    text = "Use of reduced tillage lowers wear and tear. Wear and tear affects the crop yield."
    assert relations(text, names) == [
        ("use of reduced tillage", "wear and tear"),
        ("wear and tear", "crop yield"),
    ]


def test_capital_letters_inside_a_name_are_kept() -> None:
    assert relations("The CO2 level raises GDP growth.") == [("CO2 level", "GDP growth")]


def test_only_the_part_that_is_denied_is_left_out() -> None:
    text = "Rain raises river flow but does not affect soil salinity; fog lowers visibility."
    assert relations(text) == [("rain", "river flow"), ("fog", "visibility")]


ODD = (
    *(
        "",
        " ",
        "....",
        "# ",
        "|a|b|",
        "⟦1⟧ raises ⟦2⟧.",
        "\x00",
        "İ raises ǅ.",
        "raises",
        "By.",
    ),
    *("which raises which lowers which.", "((((", "🙂 raises 🙃.", "by raising", ", and , or"),
    *("a" * 20000, "a, " * 9000, "a rises and " * 40, "the rise in a rises as a falls, " * 15),
    *(
        "x is " * 99,
        "a raises " * 55,
        "a of b on c " * 40,
        "effect of " * 49,
        "has the the " * 40,
    ),
)
"""Texts that no document holds."""


@together("text", ODD)
def test_odd_texts_are_read_without_an_error(text: str) -> None:
    for names in (None, [], ["a", "", "the", "x(", "⟦1⟧"]):
        assert all(cause != effect for cause, effect in relations(text, names))
        assert calls(relations, text, names) < 50_000


def test_jumbled_words_raise_no_error_and_told_names_stay_told() -> None:
    glue = [",", ".", ";", ":", "(", ")", "#", "|", "*", "?", "soil moisture", "crop yield", "if"]
    words = [*STATED.split()[:400], *NOT_STATED.split()[:200], *glue * 5]
    names = ["soil moisture", "crop yield", "a"]
    for number in range(60):
        stream = Stream("pattern-jumble", number)
        text = " ".join(stream.choice(words) for _ in range(5 + stream.below(40)))
        relations(text)
        assert {end for pair in relations(text, names) for end in pair} <= set(names)


def longest() -> str:
    """Return a text as long as the longest documents."""
    lines = [case[0] for case in _cases()] + NOT_STATED.strip().splitlines()
    plain = " The figures of the second year were checked by hand and are given in the annex. "
    paragraph = plain.join(lines) + "\n\n"
    return (paragraph * (170_000 // len(paragraph) + 1))[:170_000]


def test_the_longest_documents_are_read_in_linear_time() -> None:
    text = longest()
    assert len(relations(text, NAMES)) > 80
    spent = [calls(relations, text[:size], NAMES) for size in (20_000, 40_000)]
    assert spent[1] < 2.2 * spent[0]


@pytest.mark.parametrize(
    ("verb", "want"),
    [
        ("modify", ("modify", "modifies", "modified", "modified", "modifying")),
        ("sway", ("sway", "sways", "swayed", "swayed", "swaying")),
        ("cut cut cut cutting", ("cut", "cuts", "cut", "cut", "cutting")),
        ("lie lay lain", ("lie", "lies", "lay", "lain", "lying")),
        ("diminish", ("diminish", "diminishes", "diminished", "diminished", "diminishing")),
    ],
)
def test_verb_forms(verb: str, want: tuple[str, ...]) -> None:
    assert forms(verb) == want
