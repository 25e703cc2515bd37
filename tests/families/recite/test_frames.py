"""Sentence frames: many, all different, a fifth of them held out, none worn out in a document."""

import re
from collections import Counter
from functools import cache
from itertools import chain

import numpy as np
import pytest
from rapidfuzz import fuzz, process
from tests.tables import together

from whybench.families.recite.parameters import levels, matched
from whybench.families.recite.world.frames import (
    FILES,
    HELD_OUT,
    MOST_USES,
    Frame,
    frames,
    furniture,
)
from whybench.families.recite.world.generate import Order, made
from whybench.families.recite.world.language import language, pattern, sentences
from whybench.families.recite.world.vocabulary import FIELDS, field_named
from whybench.families.recite.world.world import World

FEWEST = 700
ALIKE = 88
SIGNS = ("+", "-", "0")
SIGNED = ("stated", "implied", "counterfactual")
SETTING = {"place", "body", "year"}
NEEDED = {
    "stated": {"cause", "effect"},
    "causes": {"causes", "effect"},
    "effects": {"cause", "effects"},
    "mutual": {"a", "b"},
    "implied": {"cause", "effect"},
    "through": {"first", "middle", "last"},
    "define": {"members", "label"},
    "acts": {"label", "effect"},
    "receives": {"label", "cause"},
    "except": {"members", "exception", "effect"},
    "counterfactual": {"cause", "effect"},
    "from": {"kind", "cause"},
    "to": {"kind", "effect"},
    "between": {"cause", "kind", "effect"},
    "correlated": {"a", "b"},
    "denied": {"cause", "effect"},
    "hedged": {"cause", "effect"},
    "elsewhere": {"elsewhere", "cause", "effect"},
    "mention": {"a"},
    "plain": set[str](),
}
"""Role → slots that each of its frames has."""

SENTENCE = re.compile(r"(?:\{[a-z]+\}|[A-Z])[^.?!:\"“”()\[\]\d\n]*\.")

every_role = together("role", NEEDED)


def every_frame() -> list[Frame]:
    return list(chain.from_iterable(frames().values()))


def test_there_are_at_least_seven_hundred_frames() -> None:
    assert len(every_frame()) >= FEWEST
    assert set(frames()) == set(NEEDED)
    assert len({frame.id for frame in every_frame()}) == len(every_frame())
    assert len(set(FILES)) == len(FILES)


def test_no_two_frames_have_a_sentence_in_common() -> None:
    counts = Counter(pattern(s)[0] for frame in every_frame() for s in frame.sentences)
    assert [shown for shown, count in counts.items() if count > 1] == []


def test_no_two_frames_are_nearly_the_same() -> None:
    texts = [frame.text for frame in every_frame()]
    ratios = process.cdist(texts, texts, scorer=fuzz.ratio, score_cutoff=ALIKE)
    ones, others = np.nonzero(np.triu(ratios, 1))
    assert [(texts[a], texts[b]) for a, b in zip(ones, others, strict=True)] == []


@every_role
def test_frames_have_the_slots_of_their_role(role: str) -> None:
    for frame in frames()[role]:
        own = [slot for slot in frame.slots if slot not in SETTING]
        assert set(own) == NEEDED[role], frame.id
        assert len(own) == len(set(own)), f"{frame.id} fills a slot twice: forms may differ"


@every_role
def test_frames_are_plain_sentences(role: str) -> None:
    for frame in frames()[role]:
        assert frame.role == role == frame.id.rpartition("-")[0]
        for sentence in frame.sentences:
            assert SENTENCE.fullmatch(sentence), f"{frame.id}: {sentence}"
            assert "  " not in sentence
            assert sentence.count("{") == len(pattern(sentence)[1])


@every_role
def test_signs_are_told_only_where_they_are_asked(role: str) -> None:
    counts = Counter(frame.sign for frame in frames()[role])
    if role not in SIGNED:
        assert set(counts) == {"0"}
    else:
        total = counts.total()
        assert 0.3 <= counts["0"] / total <= 0.5
        assert min(counts["+"], counts["-"]) / total >= 0.2


def test_implied_frames_spread_their_ends_over_sentences() -> None:
    for frame in frames()["implied"]:
        together = [{"cause", "effect"} <= set(pattern(s)[1]) for s in frame.sentences]
        assert len(together) > 1, frame.id
        assert not any(together), frame.id


def test_stated_frames_are_one_sentence() -> None:
    for role in ("stated", "causes", "effects", "mutual"):
        assert {len(frame.sentences) for frame in frames()[role]} == {1}


@every_role
def test_a_fifth_of_each_role_and_sign_is_held_out(role: str) -> None:
    assert HELD_OUT == 5
    for sign in SIGNS:
        held = [frame.held_out for frame in frames()[role] if frame.sign == sign]
        assert sum(held) == round(len(held) / 5)


def test_furniture_is_unambiguous() -> None:
    """Places and bodies, other systems and labels: none twice, none part of another."""
    shelves = [furniture()[name] for name in ("places", "bodies", "elsewhere", "labels")]
    phrases = [f" {phrase.casefold()} " for phrase in chain.from_iterable(shelves)]
    assert len(set(phrases)) == len(phrases)
    assert [(a, b) for a in phrases for b in phrases if a != b and a in b] == []
    # an opener before a sentence lowers its first letter
    slots = ("bodies", "elsewhere", "labels")
    assert [p for name in slots for p in furniture()[name] if not p[0].islower()] == []


def test_only_a_place_may_begin_a_frame_with_a_proper_noun() -> None:
    """Openers lower the first letter: no frame may begin with a word that needs its capital."""
    first = {frame.text.split()[0] for frame in every_frame() if not frame.text.startswith("{")}
    inside = Counter(
        word for frame in every_frame() for word in re.findall(r"(?<=[a-z,;] )[A-Z]\w*", frame.text)
    )
    assert {word for word in first if inside[word]} == set()


@cache
def documents(source: str, count: int) -> tuple[World, ...]:
    return tuple(made(Order(source, "frames", k, matched())) for k in range(count))


def used(world: World) -> Counter[str]:
    """Count the frames that a document is written with."""
    field = next(name for name in FIELDS if (field_named(name).title,) == world.domains)
    read = [language(field).read(sentence) for sentence in sentences(world.view.text)]
    assert None not in read
    return Counter(found[0].frame.id for found in read if found and found[0].number == 0)


HELD = frozenset(frame.id for frame in every_frame() if frame.held_out)


def test_no_frame_occurs_more_than_three_times_in_a_document() -> None:
    assert MOST_USES == 3
    large = made(Order("long", "frames", 0, matched(), nodes=140, length=170_000, distractors=0.0))
    for world in (large, *documents("matched", 10), *documents("short", 30)):
        assert max(used(world).values()) <= 3
    assert max(used(large).values()) == 3


def test_held_out_frames_never_occur_in_short_documents() -> None:
    for world in documents("short", 60):
        assert used(world).keys() & HELD == set()
        assert not any(edge.held_out for edge in world.edges)


@pytest.mark.parametrize("source", ["matched", "ladder", "long"])
def test_held_out_frames_occur_in_other_documents(source: str) -> None:
    counts = sum((used(world) for world in documents(source, 8)), Counter[str]())
    share = sum(counts[key] for key in HELD) / counts.total()
    assert 0.12 < share < 0.28


def test_an_edge_is_marked_as_held_out_if_one_of_its_frames_is() -> None:
    ladder = [made(Order("ladder", "frames", 0, share, k)) for k, share in enumerate(levels(), 1)]
    edges = [edge for world in (*ladder, *documents("matched", 10)) for edge in world.edges]
    assert any(edge.held_out for edge in edges)
    assert all(edge.held_out == bool(HELD & set(edge.frames)) for edge in edges)


def test_wording_varies_widely_within_a_document() -> None:
    """A frame comes again only when its role has no fresh one: a matched text repeats few."""
    for world in documents("matched", 10):
        counts = used(world)
        assert len(counts) / counts.total() > 0.75
