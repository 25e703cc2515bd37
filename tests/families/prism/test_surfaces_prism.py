"""The surfaces say the same: every prompt can be read back, and nothing else differs."""

import re
from dataclasses import replace

import pytest
from tests.families.prism.drawn_worlds import drawn, placed
from tests.families.prism.reading_back import ReadingError, as_read, read_back

from whybench import CANARY
from whybench.families.prism.prompts.surface import (
    TEMPLATES,
    joined,
    numbers,
    rules,
    surface_of,
    template_named,
)
from whybench.families.prism.rules import PrismEpisode
from whybench.families.prism.world.world import KINDS

OWN_WORDS = TEMPLATES[:5]


@pytest.mark.parametrize("template", TEMPLATES)
@pytest.mark.parametrize("kind", KINDS)
def test_every_prompt_is_read_back(template: str, kind: str) -> None:
    for seed in range(8):
        world = drawn(seed, kind=kind, hidden=int(kind == "had" or seed % 4 == 3))
        episode = PrismEpisode(placed(seed), world, 4)
        read, surface = (
            read_back(episode.instructions(template), template),
            episode.surface(template),
        )
        assert read.names == tuple(surface.names[v] for v in surface.order)
        assert {surface.order[v] for v in read.inputs} == {*range(world.roots)}
        expected = as_read(surface.order, world.roots, world.trials, world.question)
        assert (read.trials, read.question) == expected


@pytest.mark.parametrize("template", TEMPLATES)
def test_another_trial_or_question_reads_otherwise(template: str) -> None:
    """The check can fail: a changed value, order, question or number is noticed."""
    world = drawn(3, n=6, kind="case")
    flipped = replace(world.question, value=1 - world.question.value)
    first, *rest = world.trials
    free = next(v for v in range(world.roots, 6) if v not in dict(first.held))
    values = tuple(x ^ (v == free) for v, x in enumerate(first.values))
    others = (
        replace(world, question=flipped),
        replace(world, trials=(*rest, first)),
        replace(world, trials=(replace(first, values=values), *rest)),
        replace(world, trials=tuple(rest)),
    )
    surface = surface_of(placed(3), 6, template)
    expected = as_read(surface.order, world.roots, world.trials, world.question)
    for other in others:
        read = read_back(PrismEpisode(placed(3), other, 4).instructions(template), template)
        assert (read.trials, read.question) != expected
    text = PrismEpisode(placed(3), world, 4).instructions(template)
    with pytest.raises(ReadingError):
        read_back(text.replace("Question: ", "Question: Perhaps "), template)


@pytest.mark.parametrize("hidden", [0, 1])
@pytest.mark.parametrize("cls", ["any", "mono", "mono3"])
def test_the_rules_have_the_same_sentences(cls: str, hidden: int) -> None:
    """Sentence by sentence, each surface says what the table says."""
    world = drawn(1, cls=cls, hidden=hidden)
    told = [rules(template_named(template), world) for template in OWN_WORDS]
    shapes = [[len(re.findall(r"[.] |[.]$", part)) for part in text.split("\n\n")] for text in told]
    assert all(shape == shapes[0] for shape in shapes), shapes
    for text in told:
        for said in ("equally likely", "fair coin", "cannot be known", '"yes"', '"no"', '"cannot"'):
            assert said in text
        assert ("never see" in text) == bool(hidden)
    assert len({*told}) == len(OWN_WORDS)


def test_templates_have_the_same_passages() -> None:
    own = {name: {*template_named(name).passages} for name in OWN_WORDS}
    assert all(passages == own["table"] for passages in own.values())


def test_names_of_all_surfaces_are_different() -> None:
    """So that an episode understands the names of each; a load keeps the names of its surface."""
    for index in range(40):
        n = 4 + index % 5
        surfaces = {name: surface_of(placed(index), n, name) for name in TEMPLATES}
        names = {name.casefold() for one in surfaces.values() for name in one.names}
        assert len(names) == 6 * n == len(numbers(placed(index), n))
        assert surfaces["board_numbers"].names == surfaces["board"].names
        assert surfaces["prose_long"].order == surfaces["prose"].order


def test_names_do_not_depend_on_the_hidden_system() -> None:
    for seed in (1, 2):
        shown = surface_of(placed(7), 6, "board")
        assert shown.names == surface_of(placed(7), 6, "board").names
        episode = PrismEpisode(placed(7), drawn(seed, n=6), 4)
        assert episode.surface("board").names == shown.names
    assert surface_of(placed(8), 6, "board").names != surface_of(placed(7), 6, "board").names


def test_readings_reach_their_mark_if_and_only_if_lit() -> None:
    surface = surface_of(placed(2), 7, "board_numbers")
    for v in range(7):
        for number in range(9):
            assert (
                surface.reading(v, 1, number)
                >= surface.marks[v]
                > surface.reading(v, 0, number)
                > 0
            )


def test_irrelevant_sentences_are_all_that_a_long_report_adds() -> None:
    world = drawn(5, n=6)
    episode = PrismEpisode(placed(5), world, 4)
    short, long = (episode.instructions(name) for name in ("prose", "prose_long"))
    added = 0
    for aside in template_named("prose_long").passages["asides"].splitlines():
        added += long.count(aside)
        long = long.replace(f" {aside}", "")
    assert long == short
    assert len(world.trials) <= added <= 2 * len(world.trials)


def test_instructions_carry_the_canary_once() -> None:
    for template in TEMPLATES:
        assert PrismEpisode(placed(1), drawn(1), 4).instructions(template).count(CANARY) == 1


def test_names_are_joined_as_in_a_sentence() -> None:
    assert joined(["a and b were lit", "c was dark"]) == "a and b were lit, and c was dark"
