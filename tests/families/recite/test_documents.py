"""Generated documents: the grammar has one reading, and the text determines the graph."""

import re
from collections import Counter
from dataclasses import replace

import pytest

from whybench.causal.seeds import Stream
from whybench.families.recite.agents.correlations import printed_regressions
from whybench.families.recite.parameters import levels, matched
from whybench.families.recite.proof import certify
from whybench.families.recite.proof.checker.verification_parser import reread
from whybench.families.recite.proof.document_parser import read, study, verdict_rows
from whybench.families.recite.proof.scanner import scanner
from whybench.families.recite.proof.sentence_parser import parses
from whybench.families.recite.world.compose import Composer, Speaker, number_of
from whybench.families.recite.world.generate import Order, made, system_of
from whybench.families.recite.world.grammar import Production, productions, words
from whybench.families.recite.world.say import Say
from whybench.families.recite.world.world import World

EVERY = [one for own in productions().values() for one in own]
SPOKEN = {
    "why": "", "delay": "months", "n": "three", "k": "four", "label": "primary",
    "cluster": "public finance", "topic": "public finance", "place": "Lower Tarn",
    "other": "the Baltic provinces", "units": "municipalities",
    "periods": "months", "tags": "H1, R22 and H3",
    **{f"#{name}": "0.31" for name in ("beta", "se", "r", "mean", "sd", "n", "da", "year", "db",
       "sdb", "lo", "hi", "slo", "shi", "count", "T", "units", "missing", "k", "r2", "t")},
    "#p": "< 0.001",
}  # fmt: skip


def document(graph: int, source: str = "short", grammar: str = "held_out", level: int = 0) -> World:
    shares = levels()[level - 1] if level else matched()
    return made(Order(source, "documents", graph, shares, level, grammar=grammar))


def composer(stream: Stream) -> Composer:
    system, _ = system_of(Order("short", "documents", 0, matched(), field="economy", nodes=9))
    speaker = Speaker(stream, system.concepts, frozenset(), frozenset(range(9)), frozenset())
    speaker.number = {v: concept.number for v, concept in enumerate(system.concepts)}
    return Composer(stream, system, speaker, {}, frozenset({True, False}))


@pytest.mark.parametrize(
    "production",
    [
        pytest.param(one, id=one.id, marks=[pytest.mark.slow] if number % 8 else [])
        for number, one in enumerate(EVERY)
    ],
)
def test_a_production_has_one_reading_and_both_readers_find_it(production: Production) -> None:
    if production.role == "title":
        return
    stream = Stream("production", production.id)
    for turn in range(4):
        writer = composer(stream)
        system = writer.system
        why = next(p.mechanism for p in system.field.pairs.values() if p.admissible)
        units = {"unit_a": system.concepts[0].said_unit, "unit_b": system.concepts[1].said_unit}
        slots = SPOKEN | units | {"why": why}
        concepts = {"a": 0, "b": 1, "c": 2, "d": 3, "cs": (0, 2, 3), "es": (1, 2), "ms": (4, 5, 6)}
        signs = {name: 1 if (turn >> k) % 2 else -1 for k, name in enumerate("xyz")}
        say = Say(production.role, concepts, tags=("one", "two", "three"))
        text = " ".join("".join(writer._parts(production.parts, say, slots, signs)).split())
        text = text[0].upper() + text[1:]
        tokens = scanner("economy").scan(text)
        found = parses(tuple(token.kind for token in tokens))
        meanings = {(one.production.role, one.slots, one.signs) for one in found}
        assert len(meanings) == 1, (text, found)
        assert production in {one.production for one in found}
        for name, at in found[0].slots:
            if name in "abcd":
                assert tokens[at].value == system.concepts[concepts[name]].name
        assert all(signs[name] == sign for name, sign in found[0].signs)
        heard = reread(f"{text}\n", "economy")
        assert heard.unread == []
        assert heard.sentences[0][0].role == production.role


def test_every_role_has_sentences_on_both_sides_of_the_split() -> None:
    for role, own in productions().items():
        for held_out in (True, False):
            assert sum(one.held_out == held_out for one in own) >= 2, role
    texts = [lemma.forms for own in words().values() for lemma in own]
    assert all(texts)


@pytest.mark.parametrize("grammar", ["seen", "held_out"])
def test_documents_use_only_their_side_of_the_grammar(grammar: str) -> None:
    for graph in range(6):
        found = read(document(graph, grammar=grammar).view.text)
        sides = {one.parse.production.held_out for one in found.sentences if one.parse}
        assert sides == {grammar == "held_out"}


@pytest.mark.parametrize(
    ("source", "graphs", "level"),
    [("short", 12, 0), pytest.param("matched", 6, 0, marks=pytest.mark.slow), ("ladder", 3, 1)],
)
def test_both_readers_find_the_graph_without_seeing_it(
    source: str, graphs: int, level: int
) -> None:
    for graph in range(graphs):
        for grammar in ("seen", "held_out", "all"):
            world = document(graph, source, grammar, level)
            assert certify.proof(world).defects == ()
            gold = set(world.named())
            assert set(read(world.view.text).edges) == gold
            again = reread(world.view.text, world.domains[0].lower())
            assert set(again.arrows) == gold
            assert again.unread == []
            names = {node.name for node in world.nodes}
            denied = {pair for pair in again.denied if names.issuperset(pair)}
            assert denied == {(world.nodes[a].name, world.nodes[b].name) for a, b in world.denied}


def test_an_arrow_disappears_with_its_passages_and_only_then() -> None:
    """Cut out all passages of an arrow: it is gone, or its loss leaves a sentence unread."""
    seen = 0
    for graph in range(8):
        world = document(graph)
        text = world.view.text
        for edge in world.edges:
            pair = world.nodes[edge.cause].name, world.nodes[edge.effect].name
            left = text
            for start, end in sorted(set(edge.spans), reverse=True):
                left = left[:start] + left[end:]
            found = read(left)
            assert pair not in found.edges
            one_less = text[: edge.spans[0][0]] + text[edge.spans[0][1] :]
            if edge.status == "stated" and len(edge.frames) > 1:
                seen += 1
                assert pair in read(one_less).edges
    assert seen > 20


def test_statuses_mentions_and_repeats_are_as_ordered() -> None:
    world = document(3, "matched")
    shares = {name: sum(e.status == name for e in world.edges) / len(world.edges)
              for name in ("stated", "implied", "derivable")}  # fmt: skip
    assert shares["stated"] == pytest.approx(0.5, abs=0.05)
    assert shares["implied"] == pytest.approx(0.3, abs=0.05)
    assert all(1 <= len(edge.frames) <= 4 for edge in world.edges)
    assert sum(len(edge.frames) > 1 for edge in world.edges) > len(world.edges) / 2
    for node in world.nodes:
        named = re.search(rf"\b{re.escape(node.name)}\b", world.view.text, re.IGNORECASE)
        assert bool(named) == (node.mention == "explicit"), node.name
    facts = dict(certify.document_facts(world, read(world.view.text)))
    assert facts["bearing"] > 0.4
    assert facts["letters_margin"] > 0
    assert facts["meaning_margin"] > 0


@pytest.mark.parametrize("role", ["unreplicated", "rejected", "retracted"])
def test_a_claim_is_denied_by_its_label_alone(role: str) -> None:
    text, verdict = next(
        (world.view.text, one)
        for world in map(document, range(20))
        for one in read(world.view.text).sentences
        if one.parse and one.parse.production.role == role
    )
    assert verdict.named == ()
    called = {study(cite) for cite in verdict.cites} | set(verdict.held("tags"))
    claims = [
        one for one in read(text).sentences if one.labels & called and one.span[0] < verdict.span[0]
    ]
    assert len(claims) == len(called)
    assert {one.span for one in claims} <= read(text).rejected
    without = text[: verdict.span[0]] + text[verdict.span[1] :]
    told, again = read(without), reread(without, read(text).field)
    spans = {one.span for one in claims}
    assert again.refused.isdisjoint(spans) == (role != "rejected")
    if role == "rejected":  # a hypothesis without a verdict does not count, and is no document
        assert {without[slice(*span)] for span in spans} <= set(told.unread)
    else:
        assert told.rejected.isdisjoint(spans)


@pytest.mark.parametrize("kind", ["R", "study"])
def test_a_row_of_a_table_denies_a_claim(kind: str) -> None:
    text, row, label = next(
        (world.view.text, row, label)
        for world in map(document, range(20))
        for row, (label, holds) in verdict_rows(world.view.text).items()
        if not holds and label.startswith("R") == (kind == "R") and row[2:4] != "Ro"
    )
    claim = next(one for one in read(text).sentences if label in one.labels)
    assert claim.span in read(text).rejected
    assert claim.span in reread(text, read(text).field).refused
    without = text.replace(f"{row}\n", "")
    assert claim.span not in read(without).rejected
    assert claim.span not in reread(without, read(text).field).refused


def test_about_half_of_the_hypotheses_hold() -> None:
    for graph in range(12):
        found = read(document(graph).view.text)
        own = [one for one in found.sentences if one.tag.startswith("H")]
        held = sum(one.span not in found.rejected for one in own)
        assert 2 * held == len(own)
        assert len(own) <= 20


def test_most_significant_coefficients_are_not_arrows() -> None:
    """A reader that takes regressions for arrows draws more false arrows than true ones."""
    true = false = 0
    for graph in range(8):
        world = document(graph, "matched")
        view = replace(world.view, names="told", nodes=tuple(node.name for node in world.nodes))
        drawn = {pair for pair, ratio in printed_regressions(view).items() if ratio > 2}
        true += len(drawn & set(world.named()))
        false += len(drawn - set(world.named()))
    assert false > 1.2 * true > 30


@pytest.mark.parametrize("seed", ["a", "b", "c"])
def test_a_document_is_as_long_as_asked_for(seed: str) -> None:
    for nodes, length in ((40, 60_000), (24, 45_000)):
        text = made(Order("matched", seed, 0, matched(), nodes=nodes, length=length)).view.text
        assert abs(len(text) / length - 1) < 0.05


def test_true_and_false_claims_have_the_same_sentences() -> None:
    """What a document rejects by its label uses the productions of what it accepts."""
    used: dict[bool, Counter[str]] = {True: Counter(), False: Counter()}
    for graph in range(40):
        found = read(document(graph).view.text)
        for one in found.sentences:
            if one.parse and (one.tag or one.parse.production.role == "cited"):
                used[one.span in found.rejected][one.parse.production.id] += 1
    assert used[True].total() > used[False].total() > 200
    for production, count in used[True].items():
        assert used[False][production] > 0 or count < 12, production


def test_documents_of_a_ladder_share_graph_and_data_but_no_text() -> None:
    worlds = [document(1, "ladder", level=level) for level in (1, 3, 5)]
    assert len({world.pairs for world in worlds}) == 1
    assert len({world.view.text for world in worlds}) == 3
    tables = [world.view.text.split("Table 1. ")[1].split("\n\n")[1] for world in worlds]
    figures = [sorted(line.split("|")[-3:-1] for line in table.splitlines()) for table in tables]
    assert figures[0] == figures[1] == figures[2]


def test_the_same_order_gives_the_same_document() -> None:
    first = document(2, "matched")
    assert first == document(2, "matched")
    other = made(replace(Order("matched", "other", 2, matched())))
    assert other.view.text != first.view.text


@pytest.mark.parametrize(
    ("phrase", "number"),
    [
        ("the funds that investors move abroad", "p"), ("the number of offices", "s"),
        ("the open vacancies", "p"), ("how long water stays", "s"),
        ("the dominance of lenders", "s"),
        ("the capital outflows", "p"), ("the volume pumped from wells", "s"),
    ],
)  # fmt: skip
def test_the_number_of_a_phrase_is_that_of_its_head(phrase: str, number: str) -> None:
    assert number_of(phrase) == number
