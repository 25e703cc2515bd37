"""Papers of the judge's exam: the key is right, and says so of every label."""

import dataclasses
from collections import Counter
from functools import cache

import pytest

from whybench.causal.seeds import Stream
from whybench.families.recite.agents.words import forms_of
from whybench.families.recite.extras.judge.elements import elements
from whybench.families.recite.extras.judge.exam.alterations import Altered, altered_nodes
from whybench.families.recite.extras.judge.exam.altered_edges import alter_edges
from whybench.families.recite.extras.judge.exam.papers import paper
from whybench.families.recite.extras.judge.exam.spoken import concepts, field_of, spoken, stems
from whybench.families.recite.extras.judge.labels import LABELS, PASSES, fields, no_counterpart
from whybench.families.recite.extras.judge.score import f1, figures
from whybench.families.recite.extras.judge.verdict import complete
from whybench.families.recite.parameters import Shares
from whybench.families.recite.proof.document_parser import read
from whybench.families.recite.world.generate import Order, made
from whybench.families.recite.world.world import World
from whybench.judge.label_judge import Paper
from whybench.judge.scripted import judged_by, perfect

pytestmark = pytest.mark.slow  # judges are models of the engine

OPENLY = Shares(0.877, 0.4, 0.2)
COUNT = 24

NEVER_ALONE = {
    "SEMANTIC_MODERATE", "SEMANTIC_WEAK", "SEMANTIC_PARTIAL", "SEMANTIC_MINIMAL",
    "DIRECTION_UNCLEAR", "INFERENCE_STRETCHED",
}  # fmt: skip
"""Labels that no construction makes the only right one."""


@cache
def document(k: int) -> World:
    field = ("health", "water")[k % 2]
    return made(Order("short", "exam", k, OPENLY, distractors=1.5, field=field))


@cache
def sat(k: int) -> Paper:
    return paper(document(k), Stream("exam", k), f"paper-{k}")


@cache
def altered(k: int) -> Altered:
    """Return the answer of a paper with all that is known about it."""
    stream = Stream("exam", k)
    found = altered_nodes(document(k), stream)
    alter_edges(found, stream)
    return found


def labels_of(k: int, pass_name: str, number: int) -> dict[str, str]:
    return {name: right[0] for name, right in sat(k).key[pass_name][number].items()}


def test_the_same_stream_makes_the_same_paper_and_another_stream_another() -> None:
    again = paper(document(0), Stream("exam", 0), "paper-0")
    assert again == sat(0)
    assert paper(document(0), Stream("exam", "other"), "paper-0").case != sat(0).case


def test_every_right_label_is_allowed_and_importance_is_left_out() -> None:
    for k in range(COUNT):
        for name in PASSES:
            allowed = {field.name: field.labels for field in fields(name)}
            for rights in sat(k).key[name].values():
                assert "importance" not in rights
                for field, labels in rights.items():
                    assert labels
                    assert set(labels) <= set(allowed[field])


def test_every_element_has_a_key_and_no_name_is_withheld_or_cut() -> None:
    for k in range(COUNT):
        listed = elements(sat(k).case)
        assert not listed.lost_nodes
        assert not any("…" in name for name in listed.answer_nodes)
        assert listed.answer_nodes == tuple(sorted(listed.answer_nodes))
        assert {name for edge in listed.answer_edges for name in edge} == set(listed.answer_nodes)
        for name in PASSES:
            numbers = list(range(1, listed.count(name) + 1))
            assert list(sat(k).key[name]) == numbers


def test_nothing_goes_with_nothing() -> None:
    for k in range(COUNT):
        for name in PASSES:
            nothing = no_counterpart(name)
            for rights in sat(k).key[name].values():
                for block in {field.block for field in fields(name)}:
                    own = {
                        field.name: rights[field.name][0]
                        for field in fields(name)
                        if field.block == block and field.name in rights
                    }
                    presence = f"{block}_presence" if block else "presence"
                    if own.get(presence) == "PRESENCE_NO_MATCH":
                        assert own == {field: nothing[field] for field in own}
                    elif presence in own:
                        assert not any(own[f] == nothing[f] for f in own)


def test_each_label_is_right_somewhere_and_most_are_the_only_right_one_somewhere() -> None:
    anywhere: dict[str, set[str]] = {}
    alone: dict[str, set[str]] = {}
    for k in range(COUNT):
        for name in PASSES:
            for rights in sat(k).key[name].values():
                for field, labels in rights.items():
                    anywhere.setdefault(f"{name}.{field}", set()).update(labels)
                    if len(labels) == 1:
                        alone.setdefault(f"{name}.{field}", set()).update(labels)
    for name in PASSES:
        for field in fields(name):
            if field.family == "importance":
                continue
            own = f"{name}.{field.name}"
            assert anywhere[own] == set(field.labels), own
            lacking = set(field.labels) - alone[own] - NEVER_ALONE
            if own == "edge_precision.text_abstraction":  # open wherever presence is
                lacking -= {"ABSTRACTION_BROADER", "ABSTRACTION_NARROWER"}
            assert not lacking, own


def test_no_label_is_so_common_that_naming_it_always_would_pass() -> None:
    counts: dict[str, Counter[str]] = {}
    for k in range(COUNT):
        for name, own in sat(k).key.items():
            for rights in own.values():
                for field, labels in rights.items():
                    counts.setdefault(f"{name}.{field}", Counter())[labels[0]] += 1
    assert len(counts) == sum(field.nothing != "" for name in PASSES for field in fields(name))
    assert max(max(own.values()) / own.total() for own in counts.values()) < 0.8


def test_every_way_of_altering_occurs() -> None:
    every = [altered(k) for k in range(COUNT)]
    nodes = {node.origin for one in every for node in one.nodes}
    assert nodes == {
        "exact", "synonym", "broader", "narrower", "split", "merged",
        "plausible", "spurious", "mentioned",
    }  # fmt: skip
    assert {"unlisted", "missing"} <= {how for one in every for how in one.treatment.values()}
    edges = {how for one in every for how in one.edges.values()}
    assert {"kept", "reversed", "both_ways", "unlisted", "unsaid", "indirect", "foreign"} <= edges
    assert {"hedged", "denied", "elsewhere", "corr"} <= edges
    dropped = [
        ends
        for one in every
        for ends in one.reference_edges
        if one.by_node(ends[0]) and one.by_node(ends[1])
        and not any(
            {a.name, b.name} == set(edge)
            for a in one.by_node(ends[0]) for b in one.by_node(ends[1]) for edge in one.edges
        )
    ]  # fmt: skip
    assert dropped


def test_names_alone_give_the_same_labels_where_they_can() -> None:
    """A twin that knows nothing of the construction but names and synonyms."""
    for k in range(COUNT):
        world, case = document(k), sat(k).case
        known = concepts(field_of(world).name)
        same = {
            form.removeprefix("the ").casefold(): node.name
            for node in world.nodes
            for form in forms_of(known[node.name])
        }
        meant = {name: same.get(name.casefold()) for name in case.answer_nodes}
        for number, name in enumerate(case.answer_nodes, 1):
            strong = labels_of(k, "node_precision", number)["graph_presence"]
            assert (strong == "PRESENCE_STRONG_MATCH") == (meant[name] in case.gold_nodes)
        for number, name in enumerate(case.gold_nodes, 1):
            presence = labels_of(k, "node_recall", number)["presence"]
            assert (presence == "PRESENCE_STRONG_MATCH") == (name in meant.values())
        for number, (cause, effect) in enumerate(case.answer_edges, 1):
            found = labels_of(k, "edge_precision", number)
            there = (meant[cause], meant[effect]) in case.gold_edges
            back = (meant[effect], meant[cause]) in case.gold_edges
            strong = found["graph_presence"] == "PRESENCE_STRONG_MATCH"
            assert strong == (there or back)
            if strong:
                right = "DIRECTION_CORRECT" if there else "DIRECTION_REVERSED"
                assert found["graph_direction"] == right
            assert (found.get("text_presence") == "PRESENCE_GRAPH_ONLY") == there


def test_the_text_supports_just_the_edges_that_the_document_was_written_for() -> None:
    for k in range(COUNT):
        world, case = document(k), sat(k).case
        known = concepts(field_of(world).name)
        same = {
            form.removeprefix("the ").casefold(): v
            for v, node in enumerate(world.nodes)
            for form in forms_of(known[node.name])
        }
        for number, edge in enumerate(case.answer_edges, 1):
            found = labels_of(k, "edge_precision", number).get("text_presence")
            ends = tuple(same.get(name.casefold()) for name in edge)
            if found in ("PRESENCE_EXPLICIT", "PRESENCE_IMPLIED"):
                gold = next(e for e in world.edges if (e.cause, e.effect) == ends)
                assert (found == "PRESENCE_EXPLICIT") == (gold.status == "stated")
            if found == "PRESENCE_NO_MATCH":
                assert ends not in world.pairs


def test_outsiders_are_strangers_to_graph_and_text() -> None:
    for k in range(COUNT):
        world, case = document(k), sat(k).case
        gold = stems(*(node.name for node in world.nodes))
        for name, origin in ((node.name, node.origin) for node in altered(k).nodes):
            if origin in ("plausible", "spurious"):
                assert name.lower() not in case.document.lower()
                assert not stems(name) & gold
            if origin == "mentioned":
                assert name.lower() in case.document.lower()
                assert name not in case.gold_nodes


def test_relations_without_support_are_those_that_the_document_was_written_with() -> None:
    seen: Counter[str] = Counter()
    for k in range(COUNT):
        world = document(k)
        names = [node.name for node in world.nodes]
        lures = spoken(world.view.text).lures
        assert not set(lures) & set(world.named())
        assert {(names[a], names[b]) for a, b in world.denied} <= set(lures)
        reported = {frozenset((names[c.first], names[c.second])) for c in world.correlations}
        inside = {pair: role for pair, role in lures.items() if set(pair) <= set(names)}
        assert {frozenset(p) for p, role in inside.items() if role == "corr"} <= reported
        hedged = set(read(world.view.text).related.get("hedged", ()))
        assert {pair for pair, role in lures.items() if role == "hedged"} == hedged
        seen.update(lures.values())
    assert min(seen[role] for role in ("denied", "hedged", "elsewhere", "corr")) > 10


def test_a_perfect_judge_s_labels_make_a_whole_verdict() -> None:
    right = []
    for k in range(COUNT):
        judged = complete(sat(k).case, judged_by(perfect, LABELS, sat(k).key))
        found = figures(judged, len(sat(k).case.gold_nodes))
        assert found["incomplete"] == 0
        assert found["f1"] == pytest.approx(f1(found["precision"], found["recall"]))
        right.append(found["f1"])
    assert max(right) - min(right) > 0.3  # good answers and poor ones


def test_small_documents_make_small_papers() -> None:
    world = made(Order("short", "exam", 0, OPENLY, nodes=5, length=700))
    found = paper(world, Stream("exam", "small"))
    assert len(found.case.gold_nodes) == 5
    assert len(found.case.answer_nodes) <= 10
    assert found.case.instance_id == world.cluster


def test_a_document_of_140_nodes_makes_a_paper() -> None:
    world = made(Order("matched", "exam", 0, OPENLY, nodes=140, length=20_000))
    found = paper(world, Stream("exam", "large"))
    assert len(found.case.gold_nodes) >= 139
    origins = {node.origin for node in altered_nodes(world, Stream("exam", "large")).nodes}
    assert origins >= {"spurious", "exact", "merged"}


def test_a_published_document_is_refused() -> None:
    stranger = dataclasses.replace(document(0), domains=("Medicine",))
    with pytest.raises(ValueError, match="generated document"):
        paper(stranger, Stream("exam"))
