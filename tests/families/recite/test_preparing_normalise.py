"""The start/end/replacement tool: its strict semantics, its bounds and its loop."""

import asyncio
import json
from collections.abc import Iterator
from dataclasses import replace

import pytest

from whybench.families.recite.extras.preparing.limits import limits
from whybench.families.recite.extras.preparing.model_client import Asker, RefusedError, StepError
from whybench.families.recite.extras.preparing.text.normalise import (
    Edit,
    apply,
    leftovers,
    normalise,
    read_edits,
)

USUAL = limits().normalise
TEXT = "Heat dries soil. As Fig. 2 shows, heat dries soil. Loop R1 has heat. Soil feeds all."
EDGES = (("heat", "soil"), ("soil", "farms"))


def reply(*edits: tuple[str, str, str]) -> str:
    keys = ("start", "end", "replacement")
    return json.dumps({"normalizations": [dict(zip(keys, edit, strict=True)) for edit in edits]})


def after(*edits: tuple[str, str, str]) -> str:
    return apply(TEXT, [Edit(*edit) for edit in edits], USUAL).text


def test_the_span_includes_both_strings() -> None:
    assert after(("Loop", "heat. ", "")) == TEXT.replace("Loop R1 has heat. ", "")


def test_the_first_place_of_start_counts() -> None:
    assert after(("eat dries", "soil", "eat cracks clay")).startswith("Heat cracks clay. As")


def test_the_end_is_searched_behind_the_start() -> None:
    assert after(("As Fig. 2 shows, heat", "heat", "The")) == (
        "Heat dries soil. The. Soil feeds all."
    )
    with pytest.raises(RefusedError, match="does not follow"):
        after(("feeds all", "all", ""))  # only inside the start
    with pytest.raises(RefusedError, match="does not follow"):
        after(("Loop R1", "Fig. 2", ""))  # only before the start


def test_an_empty_end_means_the_start_alone() -> None:
    assert after(("Loop R1 has heat. ", "", "")) == TEXT.replace("Loop R1 has heat. ", "")


def test_edits_see_what_earlier_ones_left() -> None:
    assert after(("As Fig", "heat", "Heat"), ("Heat dries soil. Heat", "soil. ", "")) == (
        "Loop R1 has heat. Soil feeds all."
    )
    with pytest.raises(RefusedError, match=r"edit 2: the paper has no"):
        after(("As Fig. 2 shows, ", "", ""), ("Fig. 2", "shows", ""))


def test_one_miss_refuses_all() -> None:
    with pytest.raises(RefusedError, match="edit 2"):
        after(("Loop R1 has heat. ", "", ""), ("nowhere", "soil", ""))


@pytest.mark.parametrize("missing", ["start", "end", "replacement"])
def test_all_three_keys_are_needed(missing: str) -> None:
    edit = {"start": "a", "end": "b", "replacement": "c"}
    assert len(read_edits(json.dumps({"normalizations": [edit]}))) == 1
    del edit[missing]
    with pytest.raises(RefusedError, match="start, end, replacement"):
        read_edits(json.dumps({"normalizations": [edit]}))
    with pytest.raises(RefusedError, match="start, end, replacement"):
        read_edits(json.dumps({"normalizations": [edit | {missing: None}]}))


@pytest.mark.parametrize(
    "bad", ["no JSON", "{}", '{"normalizations": {}}', '{"normalizations": 1}']
)
def test_replies_without_a_list_are_refused(bad: str) -> None:
    with pytest.raises(RefusedError, match="list"):
        read_edits(bad)


def test_an_empty_start_would_match_anywhere() -> None:
    with pytest.raises(RefusedError, match="empty start"):
        read_edits(reply(("", "soil", "")))


def test_an_edit_may_not_take_too_much() -> None:
    long = "Pumps run. " * 200
    text = f"Begin. {long}End. {'Other text. ' * 900}"
    edit = Edit("Begin.", "End.", "")
    with pytest.raises(RefusedError, match="characters at once"):
        apply(text, [edit], USUAL)
    assert apply(text, [edit], replace(USUAL, edit_share=0.5)).text.startswith(" Other")


def test_all_edits_together_may_not_take_too_much() -> None:
    text = "".join(f"Sentence number {n} is here to be read by all of you. " for n in range(100))
    edits = [Edit(f"Sentence number {n} ", "of you. ", "") for n in range(90)]
    with pytest.raises(RefusedError, match="may go"):
        apply(text, edits, USUAL)
    assert len(apply(text, edits, replace(USUAL, all_share=1.0)).spans) == 90


def test_a_replacement_may_not_be_much_longer_than_what_it_replaces() -> None:
    edit = Edit("Loop R1 has heat.", "", "Loop R1 has heat. " * 3)
    with pytest.raises(RefusedError, match="more than it takes out"):
        apply(TEXT, [edit], USUAL)
    assert apply(TEXT, [edit], replace(USUAL, longer=100, new_words=10))


def test_a_replacement_may_not_bring_words_of_its_own() -> None:
    edit = Edit("As Fig. 2 shows, heat dries soil.", "", "It is a fact that we burn.")
    with pytest.raises(RefusedError, match="words of your own"):
        apply(TEXT, [edit], USUAL)
    assert apply(TEXT, [edit], replace(USUAL, new_words=9))


CLAIM = (
    "As Fig. 2 shows, rainfall does not increase yield. Rain increases crops, unless it freezes."
)


@pytest.mark.parametrize(
    ("start", "end", "replacement", "word"),
    [
        ("Rain increases", "", "Rain does not increase", "not"),
        ("Rain increases", "", "Rain doesn't raise", "t"),
        ("Rain increases", "", "Rain harms", "increases"),
        (" in", "", " de", "decrease"),
        (" not", "", "", "not"),
        ("As Fig", "not", "It will", "not"),
        ("rainfall does not increase yield", "", "rain helps", "not"),
        ("unless", "", "when", "unless"),
    ],
)
def test_claims_are_not_turned_round(start: str, end: str, replacement: str, word: str) -> None:
    with pytest.raises(RefusedError, match=f"'{word}', which changes what is claimed"):
        apply(CLAIM, [Edit(start, end, replacement)], USUAL)


@pytest.mark.parametrize(
    ("start", "end", "replacement", "left"),
    [
        ("As Fig. 2 shows, r", "", "R", "Rainfall does not increase yield. Rain"),
        ("As Fig", "yield. ", "", "Rain increases crops, unless"),
        (", unless it freezes", "", "", "Rain increases crops."),
        ("shows, rainfall", "Rain", "shows, rain", "As Fig. 2 shows, rain increases crops"),
    ],
)
def test_a_turning_word_may_stay_or_go_with_its_clause(
    start: str, end: str, replacement: str, left: str
) -> None:
    assert left in apply(CLAIM, [Edit(start, end, replacement)], USUAL).text


def test_a_turning_word_may_go_in_a_long_stretch_of_words() -> None:
    text = "Yield is low as drawn by the loop that shows more people in red."
    edit = Edit(" as drawn", "red", "")
    assert apply(text, [edit], USUAL).text == "Yield is low."
    with pytest.raises(RefusedError, match="'more'"):
        apply(text, [edit], replace(USUAL, turning_alone=20))


def test_signs_of_the_drawing_may_go_but_not_come() -> None:
    text = "This is a negative feedback loop that calms demand."
    edit = Edit("This is", "that", "This")
    assert apply(text, [edit], USUAL).text == "This calms demand."
    with pytest.raises(RefusedError, match="'negatively'"):
        apply(text, [Edit("that calms", "", "that negatively calms")], USUAL)


def test_cause_and_effect_do_not_change_places() -> None:
    text = "As the figure shows, rain causes floods in spring."
    with pytest.raises(RefusedError, match="another place"):
        apply(text, [Edit("rain", "floods", "floods causes rain")], USUAL)
    assert apply(text, [Edit("As the figure shows, r", "", "R")], USUAL)


def test_all_edits_together_bring_few_new_words() -> None:
    text = "".join(f"Sentence {n} is here to be read. " for n in range(100))
    edits = [Edit(f"Sentence {n} is here", "", f"Line {n} stands here") for n in range(11)]
    with pytest.raises(RefusedError, match="20 new words"):
        apply(text, edits, USUAL)
    assert apply(text, edits[:10], USUAL).added == 20
    assert apply(text, edits, replace(USUAL, all_new_share=0.1)).added == 22


@pytest.mark.parametrize("field", ["start", "end", "replacement"])
def test_half_a_character_in_an_edit_is_refused(field: str) -> None:
    edit = {"start": "a", "end": "b", "replacement": "c"} | {field: "\ud800"}
    with pytest.raises(RefusedError, match="half a character"):
        read_edits(json.dumps({"normalizations": [edit]}))


@pytest.mark.parametrize(
    "mark",
    [
        "[REDACTED]", "(removed)", "[...]", "[…]", "███", "XXX", "____", "<omitted>",
        "[text removed]", "(figure omitted)", "Content removed.", "*deleted*", "[]", ".....",
    ],
)  # fmt: skip
def test_redaction_marks_are_refused(mark: str) -> None:
    with pytest.raises(RefusedError, match="mark"):
        after(("As Fig. 2", "shows, ", f"{mark} "))


@pytest.mark.parametrize("fine", ["Heat removed the water.", "And (as said) the", "", "so ... "])
def test_plain_words_are_no_redaction_marks(fine: str) -> None:
    assert fine in apply(TEXT, [Edit("As Fig. 2 shows, ", "", fine)], USUAL).text


def test_a_mark_that_the_paper_has_itself_may_stay() -> None:
    text = "In figure one we quote [...] from a book that nobody knows."
    assert apply(text, [Edit("In figure one we", "[...]", "We quote [...]")], USUAL)


def test_an_edit_that_changes_nothing_is_refused() -> None:
    with pytest.raises(RefusedError, match="changes nothing"):
        after(("Loop", "heat.", "Loop R1 has heat."))


class Script:
    """A model that says given things, and remembers what it was asked."""

    def __init__(self, *replies: str) -> None:
        self.left: Iterator[str] = iter(replies)
        self.prompts: list[str] = []

    async def __call__(self, prompt: str) -> str:
        self.prompts.append(prompt)
        return next(self.left)


def test_the_loop_ends_with_an_empty_list_and_lists_every_change() -> None:
    model = Script(
        reply(("As Fig. 2 shows, h", "", "H")),
        reply(("nowhere", "", "")),
        reply(("Loop R1 has heat. ", "", "")),
        reply(),
    )
    text, changes = asyncio.run(normalise(TEXT, EDGES, Asker(model, "m", 2), USUAL))
    assert text == "Heat dries soil. Heat dries soil. Soil feeds all."
    assert [(c.kind, c.where, c.before, c.after) for c in changes] == [
        ("replaced", "round 1, edit 1", "As Fig. 2 shows, h", "H"),
        ("refused", "round 2", "", ""),
        ("replaced", "round 2, edit 1", "Loop R1 has heat. ", ""),
    ]
    assert '{"source": "heat", "sink": "soil"}' in model.prompts[0]
    assert "Fig. 2 shows" not in model.prompts[-1]


def test_the_loop_ends_at_its_cap_with_a_doubt() -> None:
    model = Script(reply(("Heat", "", "heat")), reply(("heat", "", "Heat")), reply())
    two = replace(USUAL, rounds=2)
    text, changes = asyncio.run(normalise(TEXT, EDGES, Asker(model, "m", 1), two))
    assert text == TEXT
    assert changes[-1].kind == "doubt"
    assert len(model.prompts) == 2


def test_rounds_share_one_budget() -> None:
    text = "".join(f"Sentence number {n} is here to be read by all of you. " for n in range(100))
    rounds = [
        reply(*((f"Sentence number {n} ", "of you. ", "") for n in range(first, first + 25)))
        for first in (0, 25)
    ]
    with pytest.raises(StepError, match="may go"):
        asyncio.run(normalise(text, EDGES, Asker(Script(*rounds), "m", 1), USUAL))
    wide = replace(USUAL, all_share=0.6)
    model = Script(*rounds, reply())
    assert len(asyncio.run(normalise(text, EDGES, Asker(model, "m", 1), wide))[1]) == 50


def test_rounds_share_one_budget_of_new_words() -> None:
    rounds = [reply(("Heat dries", "", "Heat cracks")), reply(("Heat cracks", "", "Heat burns"))]
    one = replace(USUAL, all_new_free=1)
    with pytest.raises(StepError, match="0 new words"):
        asyncio.run(normalise(TEXT, EDGES, Asker(Script(*rounds), "m", 1), one))
    two = replace(USUAL, all_new_free=2)
    model = Script(*rounds, reply())
    text, _ = asyncio.run(normalise(TEXT, EDGES, Asker(model, "m", 1), two))
    assert text.startswith("Heat burns")


def test_lines_that_still_draw_an_edge_are_doubts() -> None:
    text = "Heat dries soil.\n| heat → soil |\nheat → rain\nMoney -> soil and heat"
    assert [c.where for c in leftovers(text, EDGES)] == ["line 2", "line 4"]
