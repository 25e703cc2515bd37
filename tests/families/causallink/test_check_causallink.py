"""The independent checker: silent on true certificates, and it notices every spoilt one."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import permutations
from pathlib import Path

import pytest
from tests.families.borrowed import followed, imported
from tests.twins import causallink_twin as twin

from whybench.causal.canonical import Record
from whybench.causal.graph import Graph, members
from whybench.episode.certificate import Certificate
from whybench.episode.instance import Instance
from whybench.episode.registry import families
from whybench.families.causallink.proof.checker import check
from whybench.families.causallink.proof.checker.worst import all_orders, tabled, worst_case
from whybench.families.causallink.world.world import View, World

FAMILY = families()["causallink"]

SAMPLES = [
    ("core", 1, {}),
    ("collider", 4, {}),
    ("advanced", 97, {}),
    ("advanced", 131, {"profile": "published"}),
    ("advanced", 23, {"parameters": {"n": 10}}),
    ("advanced", 37, {"parameters": {"n": 12}}),
    ("advanced", 53, {"profile": "published", "parameters": {"n": 12}}),
]


def certified(name: str, step: int, options: dict[str, object]) -> Iterator[Instance]:
    suite = FAMILY.suite(name, **options)
    return (suite[i] for i in range(0, len(suite), step))


def noticed(instance: Instance, certificate: Certificate) -> list[str]:
    return check.flaws(instance, FAMILY.world(instance), certificate)


@pytest.mark.parametrize(("name", "step", "options"), SAMPLES)
def test_true_certificates_have_no_flaw(name, step, options) -> None:
    for instance in certified(name, step, options):
        assert noticed(instance, FAMILY.certify(instance)) == []


def spoilt(certificate: Certificate) -> Iterator[tuple[str, Certificate]]:
    for field in ("fewest", "minimax", "minimax_upper", "best_score", "bits"):
        value = getattr(certificate, field)
        for change in (-1, 1) if value is not None else ():
            yield f"{field} {change:+}", replace(certificate, **{field: value + change})
    for field in ("fewest", "minimax_upper", "exact_steps"):
        yield f"no {field}", replace(certificate, **{field: None})
    yield "exact_steps too few", replace(certificate, exact_steps=certificate.fewest - 1)
    yield "exact_steps too many", replace(certificate, exact_steps=certificate.worst_case + 1)
    yield "identified", replace(certificate, identified=not certificate.identified)
    yield "solvable", replace(certificate, solvable=not certificate.solvable)
    yield "best_score", replace(certificate, best_score=0.5)
    yield "witness", replace(certificate, witness=Record.of(x="circle", y="square"))
    yield "instance", replace(certificate, instance="advanced-0000-000000000000")
    yield "hypotheses", replace(certificate, hypotheses="all total orders")
    for fact in ("n", "on_at_start"):
        facts = certificate.facts.asdict()
        for change in (-1, 1):
            moved = Record.of(**{**facts, fact: facts[fact] + change})
            yield f"{fact} {change:+}", replace(certificate, facts=moved)
        less = Record.of(**{name: value for name, value in facts.items() if name != fact})
        yield f"no {fact}", replace(certificate, facts=less)


@pytest.mark.parametrize(
    ("name", "index", "options"),
    [
        ("core", 50, {}),
        ("core", 20, {}),
        ("collider", 11, {}),
        ("advanced", 300, {}),
        ("advanced", 700, {"profile": "published"}),
        ("advanced", 5, {"parameters": {"n": 12}}),
    ],
)
def test_every_spoilt_certificate_is_noticed(name, index, options) -> None:
    instance = FAMILY.suite(name, **options)[index]
    for what, certificate in spoilt(FAMILY.certify(instance)):
        assert noticed(instance, certificate), what


def test_a_certificate_of_another_instance_is_noticed() -> None:
    suite = FAMILY.suite("advanced")
    for one, other in ((0, 1), (400, 401), (1190, 1191)):
        assert noticed(suite[one], FAMILY.certify(suite[other]))


def test_a_flaw_names_the_claim_the_stored_value_and_the_one_found() -> None:
    instance = FAMILY.suite("core")[50]
    wrong = replace(FAMILY.certify(instance), fewest=1)
    assert noticed(instance, wrong) == ["fewest: 1 is stored, 2 was found"]


def test_a_budget_that_is_too_small_makes_an_instance_not_identified() -> None:
    instance = FAMILY.suite("core", parameters={"budget": 1})[50]
    certificate = FAMILY.certify(instance)
    assert (certificate.identified, noticed(instance, certificate)) == (False, [])
    assert noticed(instance, replace(certificate, identified=True))
    assert noticed(instance, replace(certificate, bits=0.0))
    assert noticed(instance, replace(certificate, exact_steps=1, solvable=True))


def test_what_can_be_forced_within_the_budget_can_be_scored_even_if_the_plan_needs_more() -> None:
    """One lucky choice forces the answer here; the plan, which cannot know it, runs out."""
    instance = FAMILY.suite("core", parameters={"budget": 1})[24]
    certificate = FAMILY.certify(instance)
    assert (certificate.fewest, certificate.worst_case) == (1, 2)
    assert (certificate.identified, certificate.best_score) == (True, 1.0)
    assert not certificate.solvable
    assert noticed(instance, certificate) == []
    assert noticed(instance, replace(certificate, best_score=0.0))


def test_a_spoilt_world_does_not_show_the_shortest_proof() -> None:
    """The proof is carried out in an episode, so wrong dynamics do not pass unseen."""
    instance = FAMILY.suite("advanced")[300]
    world, certificate = FAMILY.world(instance), FAMILY.certify(instance)
    deaf = replace(world, above=(-1,) * world.view.n)
    assert any("episode" in flaw for flaw in check.flaws(instance, deaf, certificate))


# The parts, against the twin.


def test_fewest_agrees_with_the_twin_in_every_world_of_three() -> None:
    for edges in twin.partial_orders(3):
        graph = Graph.from_edges(3, edges)
        for start in range(8):
            if not twin.is_closed(edges, frozenset(members(start))):
                continue
            for x, y in permutations(range(3), 2):
                view = View("shapes", ("circle", "square", "triangle"), start, x, y, 6)
                least, _ = check._fewest(World.of(view, "any", graph))
                assert least == twin.fewest(3, edges, frozenset(members(start)), x, y)


def test_worst_cases_agree_with_the_twin() -> None:
    for n, start in ((2, 2), (2, 3), (3, 2), (3, 3), (3, 6), (3, 7), (4, 15)):
        on = (start.bit_count(), bool(start & 1), bool(start & 2))
        assert worst_case(n, *on) == twin.minimax(n, frozenset(members(start)), 0, 1)
        assert worst_case(n, *on) == tabled(*on)


def test_all_orders_are_counted() -> None:
    assert [len(set(all_orders(n))) for n in range(6)] == [1, 1, 3, 19, 219, 4231]


# Independence.

PACKAGE = "whybench.families.causallink"
CHECKER = Path(check.__file__).parent
FOLDER = CHECKER.parent.parent
MODULES = [CHECKER / "check.py", *(p for p in CHECKER.glob("*.py") if p.stem != "check")]
PROVER = {
    "agents.strategies",
    "family",
    "proof.certify",
    "proof.evidence",
    "proof.plan",
    "score",
    "world.generate",
}


def test_the_checker_takes_from_its_family_only_what_an_episode_needs() -> None:
    """All its modules together: each import is named here, and each part is used."""
    parts = {f"{PACKAGE}.proof.checker.{path.stem}" for path in MODULES[1:]}
    used = set().union(*map(imported, MODULES))
    assert parts - used == {f"{PACKAGE}.proof.checker.__init__"}
    assert used - parts == {
        "whybench.causal.canonical",
        "whybench.causal.graph",
        "whybench.episode.action",
        "whybench.episode.certificate",
        "whybench.episode.instance",
        "whybench.families.claims",
        f"{PACKAGE}.rules",
        f"{PACKAGE}.world.world",
    }


def test_the_checker_shares_no_code_with_the_prover() -> None:
    """Nor does what it imports, however far one follows."""
    known = followed(MODULES, PACKAGE, FOLDER)
    assert "rules" in known
    assert all((FOLDER / f"{name.replace('.', '/')}.py").is_file() for name in PROVER)
    assert not known & PROVER
