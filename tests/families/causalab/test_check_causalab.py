"""The independent checker: silent on true certificates, and it notices every spoilt one."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import pytest
from tests.families.borrowed import followed, imported
from tests.twins import causalab_twin as twin

from whybench.causal import equivalence
from whybench.causal.canonical import Record, freeze
from whybench.causal.graph import Graph
from whybench.episode.certificate import Certificate
from whybench.episode.instance import Instance
from whybench.episode.registry import families
from whybench.families.causalab.proof.checker import check
from whybench.families.causalab.proof.checker.algebra import only_zero
from whybench.families.causalab.proof.checker.graphs import class_size
from whybench.families.causalab.proof.checker.lab import Lab
from whybench.families.causalab.proof.checker.readings import carried_out

FAMILY = families()["causalab"]

SAMPLES = [
    ("main_3", 7, {}),
    ("main_4", 7, {}),
    ("main_5", 7, {}),
    ("main_6", 9, {}),
    ("main_7", 9, {}),
    ("scaling_4", 37, {}),
    ("scaling_6", 41, {}),
    ("quad_hard", 17, {}),
    ("hidden_count_3", 25, {}),
    ("hidden_range_0p5", 49, {}),
    ("hidden_freq_2", 49, {}),
    ("freqparent_4", 11, {}),
    ("freqparent_6", 23, {}),
    ("partial_4", 9, {}),
    ("partial_6", 17, {}),
    ("golden_4", 11, {}),
    ("golden_6", 23, {}),
    ("small", 5, {}),
    ("small", 17, {"parameters": {"semantics": "set"}}),
    ("fresh", 23, {}),
    ("main_4", 13, {"parameters": {"semantics": "set"}}),
    ("partial_4", 11, {"parameters": {"semantics": "set"}}),
    ("freqparent_4", 23, {"parameters": {"semantics": "set"}}),
    ("main_6", 17, {"parameters": {"signs": "mixed"}}),
    ("main_4", 17, {"parameters": {"regime": "2o1i"}}),
    ("main_6", 13, {"parameters": {"regime": "0o5i"}}),
    ("main_7", 17, {"profile": "published"}),
    ("freqparent_4", 11, {"profile": "published"}),
    ("partial_4", 9, {"profile": "published"}),
    ("hidden_freq_1", 17, {"profile": "published", "parameters": {"signs": "mixed"}}),
]

ONCE_REFUSED = [
    ("hidden_freq_2", 34, {"seed": "4", "parameters": {"semantics": "set"}}),
    ("hidden_freq_1", 32, {"seed": "1", "profile": "published", "parameters": {"signs": "mixed"}}),
    (
        "hidden_freq_3",
        13,
        {
            "seed": "7",
            "profile": "published",
            "parameters": {"signs": "positive", "regime": "5o5i"},
        },
    ),
    ("main_5", 18, {"seed": "8", "parameters": {"signs": "mixed", "regime": "0o3i"}}),
    ("main_3", 45, {"seed": "6", "parameters": {"signs": "mixed"}}),
    ("main_4", 45, {"seed": "5", "profile": "published", "parameters": {"signs": "mixed"}}),
]
"""True certificates of which a claim was doubted: what a run of ours does not settle, a prediction
without its equation, a first reading of 0, and a frequency below the released dial."""

SPOILT = [
    ("main_3", 4, {}),
    ("main_5", 3, {}),
    ("scaling_4", 60, {}),
    ("scaling_6", 220, {}),
    ("quad_hard", 1, {}),
    ("hidden_count_2", 5, {}),
    ("freqparent_4", 2, {}),
    ("partial_4", 1, {}),
    ("golden_4", 6, {}),
    ("small", 8, {}),
    ("main_4", 1, {"parameters": {"semantics": "set"}}),
    ("main_4", 1, {"parameters": {"regime": "2o1i"}}),
]


def noticed(instance: Instance, certificate: Certificate) -> list[str]:
    return check.flaws(instance, FAMILY.world(instance), certificate)


@pytest.mark.parametrize(("name", "step", "options"), SAMPLES)
def test_true_certificates_have_no_flaw(name, step, options) -> None:
    suite = FAMILY.suite(name, **options)
    for index in range(0, len(suite), step):
        assert noticed(suite[index], FAMILY.certify(suite[index])) == []


@pytest.mark.parametrize(("name", "index", "options"), ONCE_REFUSED)
def test_rare_true_certificates_have_no_flaw(name, index, options) -> None:
    instance = FAMILY.suite(name, **options)[index]
    certificate = FAMILY.certify(instance)
    assert noticed(instance, certificate) == []
    assert certificate.defects() == []


def test_a_disturbed_law_is_not_forced_by_too_few_readings() -> None:
    """No run of one setting forces a law of six quantities: the claim is noticed."""
    instance = FAMILY.suite("hidden_count_2", parameters={"regime": "0o1i"})[5]
    certificate = FAMILY.certify(instance)
    assert not certificate.identified
    facts = Record.of(**{**certificate.facts.asdict(), "graph_identified": True})
    claimed = replace(certificate, identified=True, bits=0.0, witness=None, facts=facts)
    assert "identified: True is stored, False was found" in noticed(instance, claimed)


def spoilt(certificate: Certificate, budget: int) -> Iterator[tuple[str, Certificate]]:
    for change in (-0.3, 0.3):
        yield f"bits {change:+}", replace(certificate, bits=certificate.bits + change)
    for status in ("statistical", "none"):
        yield f"status {status}", replace(certificate, status=status)
    for field in ("fewest", "minimax", "bits", "best_score"):
        value = getattr(certificate, field)
        for change in (-1, 1) if value is not None else ():
            yield f"{field} {change:+}", replace(certificate, **{field: value + change})
    most = budget if certificate.worst_case is None else min(budget, certificate.worst_case)
    least = (certificate.fewest or 0) - 1
    for steps in (None, least, most + 1):
        yield f"exact_steps {steps}", replace(certificate, exact_steps=steps)
    other = 3 if certificate.minimax is None else None
    yield f"minimax {other}", replace(certificate, minimax=other)
    yield "minimax_upper", replace(certificate, minimax_upper=3)
    yield "identified", replace(certificate, identified=not certificate.identified)
    yield "solvable", replace(certificate, solvable=False)
    for best in {None, 0.0, 0.5, 1.0} - {certificate.best_score}:
        yield f"best_score {best}", replace(certificate, best_score=best)
    yield "instance", replace(certificate, instance="main_4-0000-000000000000")
    for word in ("linear", "quadratic", "`shift`", "`set`", "frequency", "added"):
        if word in certificate.hypotheses:
            other = certificate.hypotheses.replace(word, "any")
            yield f"hypotheses without {word}", replace(certificate, hypotheses=other)
    moved = None if certificate.fewest is not None else 1
    yield f"fewest {moved}", replace(certificate, fewest=moved)
    facts = certificate.facts.asdict()
    for fact, value in facts.items():
        if fact in check.UNVERIFIED_CLAIMS:
            continue
        near = (1,) if value is None else (value - 1, value + 1)
        for changed in (not value,) if isinstance(value, bool) else near:
            moved = replace(certificate, facts=Record.of(**{**facts, fact: changed}))
            yield f"{fact} {changed}", moved
        less = {name: kept for name, kept in facts.items() if name != fact}
        yield f"no {fact}", replace(certificate, facts=Record.of(**less))
    for fact in ("frequency_identified", "undecided_pairs"):
        if facts[fact] is None:
            continue
        wrong = not facts[fact] if isinstance(facts[fact], bool) else facts[fact] + 1
        yield fact, replace(certificate, facts=Record.of(**{**facts, fact: wrong}))
    yield from spoilt_witnesses(certificate)


def spoilt_witnesses(certificate: Certificate) -> Iterator[tuple[str, Certificate]]:
    if certificate.identified:
        yield "a witness", replace(certificate, witness=Record.of(node="frequency"))
        return
    witness = certificate.to_json()["witness"]
    changed = {
        "none": None,
        "no node": {"equation": witness["equation"], "rival": witness["rival"]},
        "unknown node": {**witness, "node": "luck"},
        "frequency": {**witness, "node": "frequency"},
        "no change": {**witness, "rival": witness["equation"]},
        "the other way round": {**witness, "equation": witness["rival"], "rival": {}},
        "a circle": {**witness, "rival": {**witness["rival"], witness["node"]: [1.0, 0.0]}},
        "frequency as a cause": {**witness, "rival": {"frequency": [0.5, 0.0]}},
    }
    for what, data in changed.items():
        yield f"witness: {what}", replace(certificate, witness=freeze(data))


@pytest.mark.parametrize(("name", "index", "options"), SPOILT)
def test_every_spoilt_certificate_is_noticed(name, index, options) -> None:
    instance = FAMILY.suite(name, **options)[index]
    budget = FAMILY.world(instance).view.budget
    for what, certificate in spoilt(FAMILY.certify(instance), budget):
        assert noticed(instance, certificate), what


def test_a_rival_that_shows_is_no_witness() -> None:
    """Some properties were set, so a rival must leave what they moved as it was."""
    instance = FAMILY.suite("partial_6")[3]
    certificate = FAMILY.certify(instance)
    witness = certificate.to_json()["witness"]
    lab = Lab(instance, FAMILY.world(instance))
    names = lab.view.names
    moved = {n for j in lab.controllable for n, d in zip(names, lab.effects[j], strict=True) if d}
    assert moved & {*witness["rival"]}
    for name in moved & {*witness["rival"]}:
        weight, _ = witness["rival"][name]
        rival = {**witness["rival"], name: [weight + 0.5, 0.0]}
        wrong = replace(certificate, witness=freeze({**witness, "rival": rival}))
        assert noticed(instance, certificate) == []
        assert any("witness" in flaw for flaw in noticed(instance, wrong))


def test_what_can_be_decided_does_not_hang_on_how_far_one_can_go() -> None:
    """Settings are read to two decimals, whatever part of the range they are."""
    found = set()
    for limit in (1.236, 2.5, 100.0, 1e6):
        instance = FAMILY.suite("partial_6", parameters={"limit": limit})[25]
        certificate = FAMILY.certify(instance)
        assert noticed(instance, certificate) == []
        found.add(certificate.facts["undecided_pairs"])
    assert len(found) == 1
    assert 0 not in found


def test_a_certificate_of_another_instance_is_noticed() -> None:
    for name in ("main_4", "main_7", "partial_6"):
        suite = FAMILY.suite(name)
        assert noticed(suite[2], FAMILY.certify(suite[3]))


def test_a_flaw_names_the_claim_the_stored_value_and_the_one_found() -> None:
    instance = FAMILY.suite("main_5")[3]
    wrong = replace(FAMILY.certify(instance), fewest=2)
    assert noticed(instance, wrong) == ["fewest: 2 is stored, 3 was found"]


# The parts, against others.


@pytest.mark.parametrize("semantics", ["shift", "set"])
def test_ranks_say_what_the_twin_finds_by_enumeration(semantics) -> None:
    """One rank for each quantity, against all acyclic graphs with all their weights."""
    for name, index in (("main_4", 1), ("main_4", 6), ("freqparent_4", 3), ("main_3", 2)):
        parameters = {"semantics": semantics}
        instance = FAMILY.suite(name, profile="published", parameters=parameters)[index]
        world = FAMILY.world(instance)
        lab = Lab(instance, world)
        for size in range(1, lab.k):
            for touched in list(combinations(lab.controllable, size))[:2]:
                readings = carried_out(instance, world, touched)
                steps = [(r.target, r.setting, r.values) for r in readings if not r.passive]
                records = [r.values for r in world.view.records]
                seen = (records, world.view.baseline.values, steps, semantics, world.view.sink)
                unique = twin.consistent_graphs(lab.k, *seen).whole_unique
                assert lab.shown(readings) == unique
                assert lab.forced(touched, lab.effects, lab.below) == unique


def test_class_sizes_agree_with_the_core() -> None:
    for name in ("main_4", "main_6"):
        for instance in list(FAMILY.suite(name))[:10]:
            lab = Lab(instance, FAMILY.world(instance))
            graph = Graph.from_edges(lab.k, lab.edges)
            for touched in ((), (1,), (1, 3)):
                mask = sum(1 << v for v in touched)
                assert class_size(lab.k, lab.edges, touched) == equivalence.class_size(graph, mask)


def test_a_guess_for_each_line_is_tried() -> None:
    """x + y is 0 or 1 and x − y is 0 or 1: three solutions are not 0. With 2x + y = 0, none."""
    lines = [((1, 1), [0, 1]), ((1, -1), [0, 1])]
    assert not only_zero(lines, 2)
    assert only_zero([*lines, ((2, 1), [0])], 2)
    assert not only_zero([((1, 1), [0])], 2)


# Independence.

PACKAGE = "whybench.families.causalab"
CHECKER = Path(check.__file__).parent
FOLDER = CHECKER.parent.parent
MODULES = [CHECKER / "check.py", *(p for p in CHECKER.glob("*.py") if p.stem != "check")]
PROVER = {
    "agents.design",
    "agents.strategies",
    "proof.inference_timeline",
    "extras.verdict",
    "family",
    "proof.ambiguity",
    "proof.certify",
    "proof.equations",
    "proof.evidence",
    "score",
    "world.generate",
}


def test_the_checker_takes_from_its_family_only_what_an_episode_needs() -> None:
    """All its modules together: each import is named here, and each part is used."""
    parts = {f"{PACKAGE}.proof.checker.{path.stem}" for path in MODULES[1:]}
    used = set().union(*map(imported, MODULES))
    assert parts - used == {f"{PACKAGE}.proof.checker.__init__"}
    assert used - parts == {
        "whybench.causal.graph",
        "whybench.episode.action",
        "whybench.episode.certificate",
        "whybench.episode.instance",
        f"{PACKAGE}.parameters",
        "whybench.families.claims",
        f"{PACKAGE}.rules",
        f"{PACKAGE}.episode",
        f"{PACKAGE}.world.world",
    }


def test_the_checker_shares_no_code_with_the_prover() -> None:
    """Nor does what it imports, however far one follows."""
    known = followed(MODULES, PACKAGE, FOLDER)
    assert "rules" in known
    assert all((FOLDER / f"{name.replace('.', '/')}.py").is_file() for name in PROVER)
    assert not known & PROVER
