"""The checker behind `whybench certify PATH`: silent on true certificates, and on no false one."""

import json
from collections.abc import Callable
from dataclasses import replace
from math import log2
from pathlib import Path
from typing import Any, get_args

import pytest
from tests.twins import replayscm_twin as twin
from tests.twins.spoiled import changed, unnoticed

from whybench.causal.seeds import Stream
from whybench.episode.certificate import Certificate
from whybench.episode.instance import Instance
from whybench.episode.registry import families
from whybench.families.replayscm.proof.checker.check import flaws
from whybench.families.replayscm.proof.checker.parsed_scm import parse_scm
from whybench.families.replayscm.proof.checker.recount import Recount, admissible, root_sets
from whybench.families.replayscm.world.world import Disclosure, Table, Told, View

FAMILY = families()["replayscm"]
COUNTS = json.loads(
    (Path(__file__).parents[2] / "data" / "replayscm_counts.json").read_text("utf-8")
)["instances"]


def checker(instance: Instance) -> Callable[[Certificate], list[str]]:
    return lambda certificate: flaws(instance, FAMILY.world(instance), certificate)


@pytest.mark.parametrize("suite", FAMILY.suites)
def test_true_certificates_of_every_suite_have_no_flaw(suite: str) -> None:
    instance = FAMILY.suite(suite)[41]
    assert checker(instance)(FAMILY.certify(instance)) == []


@pytest.mark.parametrize("suite", ["ord_full", "block", "hid_roots", "alt_ord", "alt_hid"])
def test_without_a_bound_on_parents_there_is_no_flaw_either(suite: str) -> None:
    instance = FAMILY.suite(suite, profile="published")[77]
    assert checker(instance)(FAMILY.certify(instance)) == []


@pytest.mark.parametrize(
    ("suite", "index"),
    [
        ("ord_cert", 77),
        ("block", 12),
        ("hid_roots", 77),
        ("bits_8", 30),
        ("alt_ord", 5),
        ("alt_hid", 77),
        ("lab", 9),
    ],
)
def test_every_spoiled_certificate_is_noticed(suite: str, index: int) -> None:
    instance = FAMILY.suite(suite)[index]
    assert unnoticed(FAMILY.certify(instance), checker(instance)) == []


def test_other_experiments_than_those_of_the_exact_agent_are_noticed() -> None:
    instance = FAMILY.suite("lab")[9]
    data = FAMILY.certify(instance).to_json()
    settings = data["facts"]["exact_worlds"]
    for at in range(len(settings)):
        other = [*settings[:at], "{}", *settings[at + 1 :]]
        assert checker(instance)(changed(data, facts={**data["facts"], "exact_worlds": other}))


@pytest.mark.slow
@pytest.mark.parametrize("suite", ["lab", "alt_ord", "alt_hid"])
def test_fifty_certificates_of_suites_that_were_checked_least_have_no_flaw(suite: str) -> None:
    for index in range(0, 100, 2):
        instance = FAMILY.suite(suite)[index]
        assert checker(instance)(FAMILY.certify(instance)) == []


def test_a_laboratory_that_leaves_more_than_one_scm_is_checked_too() -> None:
    instance = FAMILY.suite("lab", parameters={"budget": 2})[3]
    certificate = FAMILY.certify(instance)
    assert not certificate.identified
    assert checker(instance)(certificate) == []
    assert unnoticed(certificate, checker(instance)) == []


def test_the_certificate_of_another_instance_is_noticed_even_under_this_ones_name() -> None:
    here, there = FAMILY.suite("hid_match")[50], FAMILY.suite("hid_match")[51]
    other = FAMILY.certify(there).to_json()
    assert checker(here)(Certificate.from_json(other))
    assert checker(here)(changed(other, instance=here.id))


def test_a_second_scm_that_does_not_fit_or_is_not_of_the_class_is_no_witness() -> None:
    instance = FAMILY.suite("ord_match")[50]
    data = FAMILY.certify(instance).to_json()
    gold, other = data["witness"]
    order = FAMILY.world(instance).view.order
    last, late = (f"X{v + 1}" for v in (order[-1], order[-2]))
    for formulas in (
        {**gold, last: f"(not {gold[last]})"},
        {**other, late: last},
        {name: text for name, text in other.items() if name != last},
        {**other, last: "(and"},
        {**other, last: "(nand X1 X2)"},
    ):
        assert checker(instance)(changed(data, witness=[gold, formulas]))
    respelled = {**gold, last: f"(or {gold[last]} {gold[last]})"}
    found = checker(instance)(changed(data, witness=[gold, respelled]))
    assert found == ["witness: the second SCM is gold again"]


def test_gold_that_does_not_replay_its_worlds_is_noticed() -> None:
    instance = FAMILY.suite("hid_cert")[50]
    world = FAMILY.world(instance)
    first = world.heldout[0]
    v = next(v for v in range(world.view.n) if not (first.targets | world.gold.roots) >> v & 1)
    columns = tuple(c ^ (u == v) for u, c in enumerate(first.columns))
    spoilt = replace(world, heldout=(replace(first, columns=columns), *world.heldout[1:]))
    found = flaws(instance, spoilt, FAMILY.certify(instance))
    assert any(flaw.startswith("gold: 1 of") for flaw in found)


# The counter behind it.


def view_of(n: int, k: int, disclosure: Disclosure, roots: int, **shown: Any) -> View:
    known = None if disclosure == "roots" else roots
    told = Told(n, k, roots.bit_count(), known, (0,) * n)
    given = {"order": (), "blocks": (), **shown}
    return View("induce", disclosure, told, tuple(range(n)), train=(), heldout=0, **given)


@pytest.mark.parametrize("at", range(0, len(COUNTS), 5))
def test_counts_are_those_of_the_independent_program(at: int) -> None:
    known = COUNTS[at]
    n, roots = known["n"], sum(1 << v for v in known["roots"])
    rows = [
        (sum(1 << v for v in world["targets"]), int(row[::-1], 2))
        for world in known["worlds"]
        for row in world["rows"]
    ]
    for disclosure, told in (("ordered", "ordered"), ("hidden", "hidden_order")):
        view = view_of(n, known["k"], disclosure, roots, order=tuple(range(n)))
        assert Recount(n, known["k"], admissible(view), rows).count(roots) == int(known[told])


@pytest.mark.parametrize("disclosure", get_args(Disclosure))
def test_counts_and_determined_rows_are_those_of_plain_enumeration(disclosure: Disclosure) -> None:
    counts = []
    for seed in range(12):
        luck = Stream("check", "twin", seed)
        n, k, own = 4, 1 + luck.below(3), 1 + luck.below(2)
        order = tuple(luck.shuffled(range(n)))
        roots = frozenset(order[: n - own])
        blocks = (order[: n - 1], order[n - 1 :])
        worlds = []
        for _ in range(3 + luck.below(4)):
            targets = frozenset(luck.sample(range(n), luck.below(3)))
            worlds.append((targets, [seen(luck, order, roots, targets) for _ in range(5)]))
        *worlds, (aims, rows) = worlds
        given = {"roots": roots, "root_count": len(roots), "order": order, "blocks": blocks}
        fitting = list(twin.consistent(n, k, worlds, disclosure, **given))
        counts.append(len(fitting))
        view = view_of(n, k, disclosure, mask(roots), order=order, blocks=blocks)
        recount = Recount(
            n, k, admissible(view), [(mask(t), bits(row)) for t, rs in worlds for row in rs]
        )
        found = {roots: recount.count(roots) for roots in root_sets(view)}
        assert sum(found.values()) == len(fitting)
        held = [(mask(aims), bits(row)) for row in rows]
        undetermined = {r for s, c in found.items() if c for r in recount.undetermined(s, held)}
        assert undetermined == {
            r
            for r, row in enumerate(rows)
            if any(twin.replay(scm, n, aims, row) != row for scm in fitting)
        }
    assert len(set(counts)) > 3
    assert max(counts) > 10


def seen(
    luck: Stream, order: tuple[int, ...], roots: frozenset[int], targets: frozenset[int]
) -> twin.Row:
    """Return a row in which every endogenous variable copies or negates the first."""
    row = [0] * len(order)
    for at, v in enumerate(order):
        free = v in roots or v in targets
        row[v] = luck.below(2) if free else row[order[0]] ^ (at & 1)
    return tuple(row)


def mask(variables: Any) -> int:
    return sum(1 << v for v in variables)


def bits(row: twin.Row) -> int:
    return sum(value << v for v, value in enumerate(row))


def test_formulas_are_read_as_the_language_has_it() -> None:
    names = ("X1", "X2", "X3", "X4")
    texts = {
        "(and X1 X2 X3)": {7},
        "(xor X1 X2 X3)": {1, 2, 4, 7},
        "(iff X1 X2 X3)": {0, 7},
        "(or X1 (and X2 (not X2)))": {1},
        "(not (or X1 (X2)))": {0},
    }
    for text, ones in texts.items():
        parsed = parse_scm(names, {"X4": text})
        assert parsed.functions[3][1] == ones
    assert parse_scm(names, {"X4": "(or X1 (and X2 (not X2)))"}).parents(3) == 1
    assert parse_scm(names, {"X4": "(not (and X1 X2))"}).mechanisms[3].size == 4
    assert parse_scm(names, {"X4": "(not (and X1 X2))"}).mechanisms[3].depth == 3


def test_no_evidence_leaves_all_functions_of_the_class() -> None:
    """Of two possible parents: 2 constants, 2 · 2 functions of one, and 10 of both."""
    for k, functions in ((0, 2), (1, 6), (2, 16)):
        assert Recount(3, k, (0, 0, 3), []).count(3) == functions
    assert log2(Recount(5, 4, (0, 0, 0, 0, 15), []).count(15)) == 16
    table = Table.of(3, 0, "none", [0, 7])
    assert table.rows() == (0, 7)
