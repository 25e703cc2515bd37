"""Documents: as long as asked, in sections, and every span where it should be."""

import re
import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from itertools import pairwise

import networkx as nx
import pytest
from tests.tables import sampled

from whybench.families.recite.parameters import levels, matched
from whybench.families.recite.proof.document_parser import read
from whybench.families.recite.world.compose import PART, SECTIONED
from whybench.families.recite.world.distract import ROLES
from whybench.families.recite.world.frames import furniture
from whybench.families.recite.world.generate import Order, made
from whybench.families.recite.world.language import language, sentences
from whybench.families.recite.world.plan import Shares
from whybench.families.recite.world.vocabulary import FIELDS, field_named
from whybench.families.recite.world.world import World

SLACK, LAST = 0.06, 300
"""A length is kept to this share, and so many characters more: the last block, a title."""


@cache
def documents() -> tuple[World, ...]:
    ladder = [Order("ladder", "compose", k // 5, levels()[k % 5], k % 5 + 1) for k in range(20)]
    rest = [
        Order(source, "compose", k, matched())
        for source, count in (("short", 30), ("matched", 10), ("long", 3))
        for k in range(count)
    ]
    return tuple(made(order) for order in (*ladder, *rest))


def field_of(world: World) -> str:
    return next(name for name in FIELDS if (field_named(name).title,) == world.domains)


def headings(world: World) -> list[str]:
    return re.findall(r"^## (.*)$", world.view.text, re.MULTILINE)


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Fail what takes longer: a test that would not end is no test."""

    def late(*_: object) -> None:
        raise TimeoutError(f"not done within {seconds} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("length", [3_000, 10_000, 40_000, 170_000])
@pytest.mark.parametrize("source", ["short", "long"])
def test_a_document_is_as_long_as_asked(source: str, length: int) -> None:
    for number in range(4):
        world = made(Order(source, "length", number, matched(), length=length, nodes=10))
        assert len(world.view.text) == pytest.approx(length, abs=SLACK * length + LAST)


def test_few_characters_are_overrun_only_by_what_the_edges_need() -> None:
    """A document with more edges than its length allows says them, and nothing else."""
    world = made(Order("short", "length", 0, matched(), length=700, nodes=40))
    given = {span for edge in world.edges for span in edge.spans}
    told = sum(end - start for start, end in given)
    assert len(world.view.text) > 700
    assert told > 0.85 * len(world.view.text)


def test_the_largest_document_is_made() -> None:
    world = made(Order("long", "largest", 0, matched(), length=170_000, nodes=140))
    assert len(world.nodes) == 140
    assert len(world.view.text) == pytest.approx(170_000, rel=SLACK)


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_a_long_document_ends_though_it_has_but_one_sort_of_filler(share: float) -> None:
    order = Order("long", "filler", 0, matched(), length=170_000, nodes=30, distractors=share)
    with within(5):
        assert len(made(order).view.text) > 50_000


@pytest.mark.parametrize("nodes", [100, 140])
def test_many_edges_that_are_only_derivable_are_said_or_refused(nodes: int) -> None:
    """There are only so many labels and frames: what cannot be said is refused with a reason."""
    for number in range(6):
        order = Order("long", "labels", number, Shares(1.0, 0.0, 0.0, 0.0), nodes=nodes)
        refusal = ""
        statuses = {"derivable"}
        try:
            statuses = {edge.status for edge in made(order).edges}
        except ValueError as error:
            refusal = str(error)
        assert statuses == {"derivable"}
        assert not refusal or "ask for" in refusal


def test_a_document_begins_with_its_title() -> None:
    for world in documents():
        assert world.view.text.startswith(f"# {world.title}\n\n")
        assert world.title[0].isupper()
        assert "{" not in world.view.text
        assert world.view.text.endswith(".\n")


def test_long_documents_have_sections_and_short_ones_none() -> None:
    many = 0
    for world in documents():
        found = headings(world)
        assert len(set(found)) == len(found)
        if len(world.view.text) < PART:
            assert found == []
        if len(world.view.text) > 4 * max(PART, SECTIONED):
            assert len(found) >= 4
            many += 1
    assert many > 10


def test_text_is_in_paragraphs_of_plain_sentences() -> None:
    for world in documents():
        lines = world.view.text.split("\n")
        body = [line for line in lines if line and not line.startswith("#")]
        assert all(line.endswith(".") for line in body)
        assert max(len(line) for line in body) < 2_500
        for line in body:
            for sentence in re.split(r"(?<=\.) ", line):
                assert re.fullmatch(r"[A-Z][^.]*\.", sentence), sentence
        assert "\n\n\n" not in world.view.text
        assert "  " not in world.view.text


def test_spans_are_the_sentences_of_their_frames() -> None:
    """Each passage reads back as the very frame that the edge names for it, and nothing else."""
    for world in documents():
        known = language(field_of(world))
        for edge in world.edges:
            assert len(edge.spans) == len(edge.frames) > 0
            for (start, end), key in zip(edge.spans, edge.frames, strict=True):
                read = [known.read(sentence) for sentence in sentences(world.view.text[start:end])]
                found = [meaning for meaning in read if meaning is not None]
                assert len(found) == len(read)
                assert {meaning.frame.id for meaning, _ in found} == {key}
                assert [meaning.number for meaning, _ in found] == list(range(len(found)))
                assert len(found) == len(found[0][0].frame.sentences)


def test_an_edge_has_the_status_of_its_frames() -> None:
    status = {"stated": "stated", "causes": "stated", "effects": "stated", "mutual": "stated"}
    for world in documents():
        for edge in world.edges:
            roles = {key.rpartition("-")[0] for key in edge.frames}
            own = {status.get(role, role if role == "implied" else "derivable") for role in roles}
            assert own == {edge.status}


def test_spans_stand_in_the_order_of_the_text_and_do_not_overlap() -> None:
    for world in documents():
        every = sorted({span for edge in world.edges for span in edge.spans})
        assert all(a[1] < b[0] for a, b in pairwise(every))
        assert all(edge.spans == tuple(sorted(edge.spans)) for edge in world.edges)


def test_an_explicit_node_is_first_called_by_its_name() -> None:
    for world in documents():
        low = world.view.text.lower()
        for node in world.nodes:
            if node.mention == "explicit":
                assert node.aliases[0].lower() in low


def test_places_keep_their_capitals_behind_openers() -> None:
    places = [place for place in furniture()["places"] if place[0].isupper()]
    lowered = re.compile("|".join(rf"\b{place[0].lower()}{place[1:]}\b" for place in places))
    assert not any(lowered.search(world.view.text) for world in documents())


@pytest.mark.parametrize("source", sampled(["short", "ladder", "long"]))
def test_no_sentence_of_a_document_is_false_of_its_graph(source: str) -> None:
    """What is denied, conjectured, by chance or elsewhere is not so here, and said once."""
    for number in range(25 if source != "long" else 4):
        world = made(Order(source, "true", number, levels()[number % 5], level=1))
        names = [node.name for node in world.nodes]
        graph = nx.DiGraph((names[e.cause], names[e.effect]) for e in world.edges)
        said: Counter[frozenset[str]] = Counter()
        field = language(read(world.view.text).field)
        for sentence in sentences(world.view.text):
            found = field.read(sentence)
            assert found is not None
            meaning, fills = found
            if meaning.frame.role not in ROLES or len(meaning.frame.sentences) > 1:
                continue
            slots = ("a", "b") if meaning.frame.role == "correlated" else ("cause", "effect")
            first, second = (field.concept_of[fills[slot][0]] for slot in slots)
            said[frozenset((first, second))] += 1
            above = [
                {node, *nx.ancestors(graph, node)} if node in graph else {node}
                for node in (first, second)
            ]
            assert first not in above[1]
            if meaning.frame.role == "correlated":
                assert not above[0] & above[1]
        assert not said or max(said.values()) == 1
