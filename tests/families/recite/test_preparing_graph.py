"""Annotated edge lists: reading, repair of spellings, and clean-up of names by a model."""

import asyncio
import json
from dataclasses import replace

import pytest
from tests.tables import together

from whybench.families.recite.extras.preparing.annotation.checks import Annotation, read_annotation
from whybench.families.recite.extras.preparing.annotation.edgelist import read_list
from whybench.families.recite.extras.preparing.annotation.variables import (
    Group,
    clean,
    join,
    read_groups,
)
from whybench.families.recite.extras.preparing.limits import limits
from whybench.families.recite.extras.preparing.model_client import Asker, RefusedError, StepError

USUAL = limits().spelling
PAIRS = [("rain", "wet road"), ("wet road", "accidents, minor")]


def ends(text: str, suffix: str = "") -> list[tuple[str, str]]:
    found = read_list(text, suffix)
    assert not found.faults
    return [(entry.source, entry.sink) for entry in found.entries]


@pytest.mark.parametrize(
    ("text", "suffix"),
    [
        ("rain -> wet road\nwet road -> accidents, minor\n", ".txt"),
        ('# by Ann\n\n1. "rain" → “wet road”\n- wet road --> accidents, minor', ""),
        ('rain,wet road\nwet road,"accidents, minor"\n', ".csv"),
        ('Source,Sign,Target\nrain,+,wet road\nwet road,+,"accidents, minor"', ".csv"),
        ("cause\teffect\nrain\twet road\nwet road\taccidents, minor", ".tsv"),
        ("rain\twet road\n\nwet road\taccidents, minor", ""),
        ('[["rain", "wet road"], ["wet road", "accidents, minor"]]', ".json"),
        (json.dumps({"edges": [{"source": a, "target": b} for a, b in PAIRS]}), ".json"),
        (json.dumps({"relationships": [{"source": a, "sink": b} for a, b in PAIRS]}), ""),
        ("\ufeffrain => wet road\r\nwet road ⇒ accidents, minor", ".txt"),
    ],
)
def test_edge_lists_are_read_in_many_forms(text: str, suffix: str) -> None:
    assert ends(text, suffix) == PAIRS


@pytest.mark.parametrize(
    ("text", "suffix", "where", "why"),
    [
        ("a -> b\na b\n", ".txt", "line 2", "arrows"),
        ("a -> b -> c", ".txt", "line 1", "2 arrows"),
        ("a -> b\n -> c", ".txt", "line 2", "empty"),
        ("a,b\n\nc,d,e", ".csv", "line 3", "3 columns"),
        ("source,sign,sink\na,+,b\nc,+", ".csv", "line 3", "fewer columns"),
        ('source,sink\n"a",""', ".csv", "line 2", "empty"),
        ('[["a", "b"], ["a"]]', ".json", "entry 2", "pair"),
        ('[["a", "b"], {"source": "a"}]', ".json", "entry 2", "source and sink"),
        ('{"graph": []}', ".json", "line 1", "list of edges"),
        ('[["a", "b\\ud800"]]', ".json", "line 1", "half a character"),
        ('[\n["a", "b"],\n', ".json", "line 3", "no JSON"),
    ],
)
def test_what_cannot_be_read_is_a_fault_with_its_line(
    text: str, suffix: str, where: str, why: str
) -> None:
    (fault,) = read_list(text, suffix).faults
    assert fault.where == where
    assert why in fault.why


def mended(*edges: tuple[str, str], paper: str = "") -> Annotation:
    return read_annotation(json.dumps(edges), USUAL, ".json", paper)


def renamed(found: Annotation) -> dict[str, str]:
    return {c.before: c.after for c in found.changes if c.kind == "renamed"}


def test_blanks_and_case_are_mended_to_the_usual_spelling_and_listed() -> None:
    found = read_annotation(
        "rain ->  Wet  road\nWet road -> harm\nwet road -> cost\nWet road -> delay\n", USUAL, ".txt"
    )
    assert found.nodes == ("Wet road", "cost", "delay", "harm", "rain")
    assert not found.faults
    listed = {(c.before, c.after, c.where, c.note) for c in found.changes if c.kind == "renamed"}
    assert ("wet road", "Wet road", "line 3", "case") in listed
    assert ("Wet  road", "Wet road", "line 1", "blanks and unseen characters") in listed


def test_blanks_and_hyphens_inside_long_names_are_mended() -> None:
    edges = [("carbon dioxide", "heat"), ("carbon dioxide", "ice"), ("carbondioxide", "storms")]
    assert renamed(mended(*edges)) == {"carbondioxide": "carbon dioxide"}
    short = [("sea ice", "heat"), ("sea ice", "cod"), ("seaice", "storms")]
    assert renamed(mended(*short)) == {}
    assert mended(*short).changes[-1].kind == "doubt"


TYPO = [("air pollution", "health"), ("cars", "air pollution"), ("ships", "air polution")]
PAPER = "Air pollution is bad. Contract work and contact are two things."


def test_a_wrong_letter_is_mended_if_the_paper_knows_the_right_word_only() -> None:
    assert renamed(mended(*TYPO, paper=PAPER)) == {"air polution": "air pollution"}
    for paper in ("", "Nothing on it.", PAPER + " Some write polution."):
        found = mended(*TYPO, paper=paper)
        assert renamed(found) == {}
        assert [(c.before, c.after) for c in found.changes if c.kind == "doubt"] == [
            ("air pollution", "air polution")
        ]


def test_a_wrong_letter_is_not_mended_in_a_name_used_twice_or_beside_a_name_used_once() -> None:
    assert renamed(mended(*TYPO, ("trains", "air polution"), paper=PAPER)) == {}
    assert renamed(mended(*TYPO[1:], paper=PAPER)) == {}


@together(
    ("right", "wrong", "paper"),
    [
        ("GDP", "GNP", "GDP"),
        ("growth of GDP", "growth of GNP", "growth of GDP"),
        ("US exports", "us exports", "US exports"),
        ("stock in stage 1", "stock in stage 2", "stock in stage 1"),
        ("labour imports", "labour exports", "labour imports"),
        ("emigration rate", "migration rate", "emigration rate"),
        ("typical weather", "atypical weather", "typical weather"),
        ("fertility (men)", "fertility (man)", "fertility men"),
        ("wealth of farms", "health of farms", "wealth of farms"),
        ("<water demand>", "water demand", "water demand"),
        ("<water demand>", "<Water demand>", "water demand"),
        ("cost of a contract", "cost of a contact", "contract and contact"),
        ("trust (+) level", "trust (-) level", "trust level"),
        ("model run 20201", "model run 20211", "model run 20201"),
        ("urban development", "urban devlopmnt", "urban development"),
        ("cost of cans", "cost of cats", "cost of cans"),
        ("prices of oil A", "prices of oil B", "prices of oil A"),
    ],
)
def test_names_that_look_alike_are_never_merged(right: str, wrong: str, paper: str) -> None:
    found = mended((right, "x"), ("y", right), ("z", wrong), paper=paper)
    assert renamed(found) == {}
    assert {right, wrong} <= set(found.nodes)


def test_two_names_that_an_edge_joins_are_two() -> None:
    edges = [("Number of cows", "milk"), ("hay", "Number of cows")]
    assert renamed(mended(*edges, ("number of cows", "fields"))) != {}
    assert renamed(mended(*edges, ("Number of cows", "number of cows"))) == {}


def test_duplicates_are_dropped_and_listed_and_self_loops_are_faults() -> None:
    found = read_annotation("a one -> b\nb -> c\nA one -> b\nc -> c\n", USUAL, ".txt")
    assert found.edges == (("a one", "b"), ("b", "c"))
    assert [c.where for c in found.changes if c.kind == "dropped"] == ["line 3"]
    assert [fault.where for fault in found.faults] == ["line 4"]


def test_an_empty_list_is_a_fault_and_a_huge_one_is_refused() -> None:
    assert "no edge" in str(read_annotation("[]", USUAL, ".json").faults[0])
    with pytest.raises(ValueError, match="too many"):
        read_annotation("[" + '["a","b"],' * 9 + '["a","b"]]', replace(USUAL, entries=9), ".json")


def test_nodes_without_edges_stay() -> None:
    text = json.dumps({"nodes": ["a", "b", " lonely "], "edges": [["a", "b"]]})
    assert read_annotation(text, USUAL, ".json").nodes == ("a", "b", "lonely")


# Clean-up of names by a model.

NODES = (
    "<dogs>", "Number of dog", "Number of dogs", "GDP", "GNP", "gdp", "exports", "imports",
    "stage 1 cost", "stage 2 cost", "environmental polution", "environmental polluton",
    "environmental pollution", "environmental pollutants", "moral hazard", "amoral hazard", "cats",
    "hounds",
)  # fmt: skip
EDGES = (
    ("Number of dog", "cats"), ("Number of dogs", "cats"), ("Number of dogs", "hounds"),
    ("cats", "hounds"),
)  # fmt: skip


def groups(*given: tuple[list[str], str]) -> str:
    return json.dumps({"combined_variables": [{"old_names": o, "new_name": n} for o, n in given]})


def taken(*given: tuple[list[str], str]) -> tuple[Group, ...]:
    return read_groups(groups(*given), NODES, EDGES, USUAL)


def test_misspellings_are_joined_applied_and_listed() -> None:
    found = taken((["Number of dog", "Number of dogs"], "Number of dogs"), (["gdp"], "GDP"))
    nodes, edges, changes = join(NODES, EDGES, found, USUAL)
    assert set(NODES) - set(nodes) == {"Number of dog", "gdp"}
    assert edges == (("Number of dogs", "cats"), ("Number of dogs", "hounds"), ("cats", "hounds"))
    assert [(c.kind, c.before) for c in changes] == [
        ("renamed", "Number of dog"),
        ("renamed", "gdp"),
        ("dropped", "Number of dogs -> cats"),
    ]


def test_a_wider_difference_in_a_long_word_is_taken_but_a_doubt() -> None:
    found = taken((["environmental polution"], "environmental polluton"))
    changes = join(NODES, EDGES, found, USUAL)[2]
    assert [c.kind for c in changes] == ["renamed", "doubt"]


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ([(["Number of dog"], "Number of doggies")], "no variable"),
        ([(["Number of dogz"], "Number of dogs")], "no variable"),
        ([(["<dogs>"], "Number of dogs")], "angle bracket"),
        ([(["Number of dog"], "<dogs>")], "angle bracket"),
        ([(["gdp"], "GDP"), (["gdp"], "GNP")], "two groups"),
        ([(["gdp"], "GDP"), (["GDP"], "gdp")], "two groups"),
        ([(["GNP"], "GDP")], "abbreviation"),
        ([(["imports"], "exports")], "more than a misspelling"),
        ([(["environmental pollutants"], "environmental pollution")], "more than a misspelling"),
        ([(["cats"], "hounds")], "more than a misspelling"),
        ([(["stage 2 cost"], "stage 1 cost")], "different numbers"),
        ([(["amoral hazard"], "moral hazard")], "begin differently"),
        ([(["GDP"], "GDP")], "joins nothing"),
        ([([], "GDP")], "must have"),
    ],
)
def test_groups_that_break_a_rule_are_refused(given: list[tuple[list[str], str]], why: str) -> None:
    with pytest.raises(RefusedError, match=why):
        taken(*given)


@pytest.mark.parametrize(
    "bad",
    ["none", '{"combined_variables": 1}', '{"combined_variables": [1]}',
     '{"combined_variables": [{"old_names": ["GDP", 1], "new_name": "gdp"}]}',
     '{"combined_variables": [{"old_names": ["GDP"]}]}'],
)  # fmt: skip
def test_replies_of_another_shape_are_refused(bad: str) -> None:
    with pytest.raises(RefusedError):
        read_groups(bad, NODES, EDGES, USUAL)


def test_half_a_character_in_a_group_is_refused() -> None:
    with pytest.raises(RefusedError, match="half a character"):
        taken((["gdp"], "GDP\udfff"))


def test_names_that_an_edge_joins_are_not_joined() -> None:
    nodes, reply = ("milk yield", "milk yields"), groups((["milk yields"], "milk yield"))
    assert read_groups(reply, nodes, (), USUAL)
    with pytest.raises(RefusedError, match="two variables"):
        read_groups(reply, nodes, (("milk yield", "milk yields"),), USUAL)


def test_the_model_is_asked_again_and_then_given_up() -> None:
    said = [groups((["GNP"], "GDP")), groups((["gdp"], "GDP"))]

    async def ask(prompt: str) -> str:
        return said[prompt.count("was refused:")]

    nodes, edges, changes = asyncio.run(clean(NODES, EDGES, Asker(ask, "m", 2), USUAL))
    assert "gdp" not in nodes
    assert edges == EDGES
    assert [c.kind for c in changes] == ["refused", "renamed"]
    with pytest.raises(StepError, match="abbreviation"):
        asyncio.run(clean(NODES, EDGES, Asker(ask, "m", 1), USUAL))
