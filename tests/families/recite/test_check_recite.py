"""The checker behind `whybench certify PATH`: silent on true certificates, and on no false one."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from tests.tables import sampled
from tests.twins.spoiled import changed, unnoticed

from whybench.causal.seeds import Stream
from whybench.episode.certificate import Certificate
from whybench.episode.instance import Instance
from whybench.episode.registry import families
from whybench.families.recite.proof.checker.check import flaws
from whybench.families.recite.proof.checker.graph_shape import cycles, shape
from whybench.families.recite.world.knowledge import field_named
from whybench.families.recite.world.topology import topology
from whybench.families.recite.world.world import World

FAMILY = families()["recite"]
SCENE = {"0.001"}
"""The bound of small p-values is text, not a result."""


def checker(instance: Instance) -> Callable[[Certificate], list[str]]:
    return lambda certificate: flaws(instance, FAMILY.world(instance), certificate)


@pytest.mark.parametrize(
    ("suite", "indices"),
    [
        ("short", range(0, 200, 50)),
        ("ladder", range(5, 10)),
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
        instance = FAMILY.suite("short", profile=profile, parameters=parameters)[7]
        assert checker(instance)(FAMILY.certify(instance)) == []


@pytest.mark.parametrize(
    ("suite", "index"), sampled([("short", 0), ("ladder", 4), ("name_assisted", 7)])
)
def test_every_spoiled_certificate_is_noticed(suite: str, index: int) -> None:
    instance = FAMILY.suite(suite)[index]
    certificate = FAMILY.certify(instance)
    assert certificate.identified
    assert unnoticed(certificate, checker(instance)) == []
    data = certificate.to_json()
    for status in ("statistical", "none"):
        assert checker(instance)(changed(data, status=status))
    for claim in ("solvable", "identified", "exact_steps", "bits"):
        assert checker(instance)(changed(data, **{claim: None})), claim


def test_the_certificate_of_another_instance_is_noticed_even_under_this_ones_name() -> None:
    here, there = FAMILY.suite("short")[0], FAMILY.suite("short")[1]
    other = FAMILY.certify(there).to_json()
    assert checker(here)(Certificate.from_json(other))
    assert checker(here)(changed(other, instance=here.id))


def rewritten(world: World, text: str) -> World:
    return replace(world, view=replace(world.view, text=text))


def test_a_text_that_says_more_less_or_something_else_is_noticed() -> None:
    instance = FAMILY.suite("short")[0]
    world, certificate = FAMILY.world(instance), FAMILY.certify(instance)
    text = world.view.text
    known = {
        concept.name: concept.full for concept in field_named(world.domains[0].lower()).concepts
    }
    a, b = next(
        (known[first.name], known[second.name])
        for k, first in enumerate(world.nodes)
        for j, second in enumerate(world.nodes)
        if k != j and not {(k, j), (j, k)} & world.pairs
    )
    (start, end) = next(e for e in world.edges if len(e.frames) == 1).spans[-1]
    claim = f"{a[0].upper()}{a[1:]} has a direct positive effect on {b} (standardised coefficient"
    cases = {
        "not given": text[:start].rstrip() + text[end:],
        "not gold": f"{text}\n{claim} 0.30, SE 0.04).\n",
        "no sentence": f"{text}\nThat is all.\n",
    }
    for flaw, other in cases.items():
        found = flaws(instance, rewritten(world, other), certificate)
        assert any(flaw in sentence for sentence in found), flaw


def test_every_number_that_is_a_result_is_checked() -> None:
    """Change one digit of each number: the checker notices, unless it belongs to the scene."""
    instance = FAMILY.suite("ladder")[1]
    world, certificate = FAMILY.world(instance), FAMILY.certify(instance)
    text = world.view.text
    body = text.index("## Abstract")
    lines = re.compile(r"^[^#\n].*", re.MULTILINE)  # numbers of headings are no results
    spans = [line.span() for line in lines.finditer(text, body)]
    figures = re.compile(r"\d\.\d+")
    results = [match for span in spans for match in figures.finditer(text, *span)]
    gaps = re.search(r"(\d\.\d)%", text)
    checked = 0
    for match in Stream("digits").sample(results, 25):
        if (gaps and gaps.start() <= match.start() <= gaps.end()) or match[0] in SCENE:
            continue
        last = match.end() - 1
        other = text[:last] + str((int(text[last]) + 1) % 10) + text[last + 1 :]
        found = flaws(instance, rewritten(world, other), certificate)
        assert any(sentence.startswith("number:") for sentence in found), text[last - 60 : last + 9]
        checked += 1
    assert checked > 15


def test_gold_edges_that_were_turned_round_are_noticed() -> None:
    instance = FAMILY.suite("short")[0]
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
