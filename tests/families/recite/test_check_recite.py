"""The checker behind `whybench certify PATH`: silent on true certificates, and on no false one."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from tests.twins.spoiled import changed, unnoticed

from whybench.causal.seeds import Stream
from whybench.episode.certificate import Certificate
from whybench.episode.instance import Instance
from whybench.episode.registry import families
from whybench.families.recite.proof.checker.check import flaws
from whybench.families.recite.proof.checker.graph_shape import cycles, shape
from whybench.families.recite.world.topology import topology
from whybench.families.recite.world.world import World

FAMILY = families()["recite"]


def checker(instance: Instance) -> Callable[[Certificate], list[str]]:
    return lambda certificate: flaws(instance, FAMILY.world(instance), certificate)


@pytest.mark.parametrize(
    ("suite", "indices"),
    [
        ("made_short", range(0, 200, 50)),
        ("made_long", (47,)),
        ("made_ladder", range(5, 10)),
        ("standard", (150,)),
        ("name_assisted", (290,)),
    ],
)
def test_true_certificates_of_every_suite_have_no_flaw(suite: str, indices: range) -> None:
    for index in indices:
        instance = FAMILY.suite(suite)[index]
        assert checker(instance)(FAMILY.certify(instance)) == []


def test_parameters_and_the_published_profile_have_no_flaw_either() -> None:
    for profile, parameters in (("published", {}), ("certified", {"names": "told", "nodes": 8})):
        instance = FAMILY.suite("made_short", profile=profile, parameters=parameters)[7]
        assert checker(instance)(FAMILY.certify(instance)) == []


@pytest.mark.parametrize(
    ("suite", "index"), [("made_short", 0), ("made_ladder", 4), ("name_assisted", 7)]
)
def test_every_spoiled_certificate_is_noticed(suite: str, index: int) -> None:
    instance = FAMILY.suite(suite)[index]
    certificate = FAMILY.certify(instance)
    assert certificate.identified == (index > 0)
    assert unnoticed(certificate, checker(instance)) == []
    data = certificate.to_json()
    for status in ("statistical", "none"):
        assert checker(instance)(changed(data, status=status))
    for claim in ("solvable", "identified", "exact_steps", "bits"):
        assert checker(instance)(changed(data, **{claim: None})), claim


def test_the_certificate_of_another_instance_is_noticed_even_under_this_ones_name() -> None:
    here, there = FAMILY.suite("made_short")[0], FAMILY.suite("made_short")[1]
    other = FAMILY.certify(there).to_json()
    assert checker(here)(Certificate.from_json(other))
    assert checker(here)(changed(other, instance=here.id))


def test_a_name_of_another_kind_or_one_that_the_text_speaks_of_is_no_witness() -> None:
    instance = FAMILY.suite("made_short")[0]
    world = FAMILY.world(instance)
    data = FAMILY.certify(instance).to_json()
    absent = data["witness"][0]
    spoken = next(node.name for node in world.nodes if node.mention == "explicit")
    for pair in ([absent, spoken], [spoken, absent], [absent, "Nobody's name"], [absent, absent]):
        assert checker(instance)(changed(data, witness=pair))


def rewritten(world: World, text: str) -> World:
    return replace(world, view=replace(world.view, text=text))


def test_a_text_that_says_more_less_or_something_else_is_noticed() -> None:
    instance = FAMILY.suite("made_short")[0]
    world, certificate = FAMILY.world(instance), FAMILY.certify(instance)
    text = world.view.text
    stated = next(
        edge
        for edge in world.edges
        if edge.frames[0].startswith("stated") and (edge.effect, edge.cause) not in world.pairs
    )
    (start, end) = stated.spans[0]
    a, b = (world.nodes[end].aliases[0] for end in (stated.cause, stated.effect))
    cases = {
        "does not give": text[:start].rstrip() + text[end:],
        "no such edge": f"{text}\n{b} does not affect {a}. Increases in {b} have been shown to "
        f"push up {a}.\n",
        "words of no frame": f"{text}\nThat is all.\n",
    }
    for flaw, other in cases.items():
        found = flaws(instance, rewritten(world, other), certificate)
        assert any(flaw in sentence for sentence in found), flaw
    silent = f"{text}\n{b} does not affect {a}.\n"
    found = flaws(instance, rewritten(world, silent), certificate)
    claims = [sentence.split(":")[0] for sentence in found]
    assert claims == ["solvable", "solvable", "facts.characters"]
    assert "disagree" in found[0]  # the hidden system does not know of this denial


def test_gold_edges_that_were_turned_round_are_noticed() -> None:
    instance = FAMILY.suite("made_short")[0]
    world = FAMILY.world(instance)
    first = world.edges[0]
    turned = replace(first, cause=first.effect, effect=first.cause)
    spoilt = replace(world, edges=(turned, *world.edges[1:]))
    found = flaws(instance, spoilt, FAMILY.certify(instance))
    assert any(sentence.startswith("solvable:") for sentence in found)


def test_shapes_of_random_graphs_are_those_of_networkx() -> None:
    for seed in range(60):
        luck = Stream("check", "shape", seed)
        n = 2 + luck.below(9)
        every = [(a, b) for a in range(n) for b in range(n) if a != b]
        pairs = luck.sample(every, luck.below(min(len(every), 2 * n)))
        known = topology(n, pairs)
        found = shape(n, pairs)
        assert found == pytest.approx({name: known[name] for name in found})
        assert cycles(n, pairs, 10_000, 1_000_000) == known["cycles"]
    full = [(a, b) for a in range(6) for b in range(6) if a != b]
    assert cycles(6, full, 100, 10_000) == 100
    assert cycles(6, full, 1_000, 50) is None


def test_of_a_text_by_another_hand_only_figures_of_the_record_are_checked(tmp_path: Path) -> None:
    record = {
        "id": 1,
        "title": "A text",
        "source": "PLOS",
        "url": "doi:1",
        "domains": ["Medicine"],
        "nodes": ["sleep", "stress", "income", "Work hours"],
        "edges": [
            {"source": "stress", "target": "sleep"},
            {"source": "sleep", "target": "stress"},
            {"source": "Work hours", "target": "income"},
        ],
        "node_explicitness": {"sleep": 1, "stress": 1, "income": 2, "Work hours": 3},
        "input_text": "Stress keeps people awake, and lost sleep adds to stress.",
        "abstract": "On sleep.",
        "publication_date": "2023-04-05",
    }
    path = tmp_path / "texts.jsonl"
    path.write_text(json.dumps(record))
    instance = FAMILY.suite("standard", profile="published", parameters={"data": str(path)})[0]
    certificate = FAMILY.certify(instance)
    assert checker(instance)(certificate) == []
    assert unnoticed(certificate, checker(instance)) == []
