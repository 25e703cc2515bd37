"""The independent checker: silent on true certificates, and it notices every spoilt one."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import permutations, product
from pathlib import Path

import pytest
from tests.families.borrowed import followed, imported
from tests.twins import causallink_twin as twin
from tests.twins.spoiled import unnoticed

from whybench.causal.graph import Graph, members
from whybench.causal.seeds import Stream
from whybench.episode.certificate import Certificate
from whybench.episode.instance import Instance
from whybench.episode.registry import families
from whybench.families.causallink.proof.checker import check
from whybench.families.causallink.proof.checker.worst import all_orders, tabled, worst_case
from whybench.families.causallink.proof.plan import minimax
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
    certificate = FAMILY.certify(instance)
    assert unnoticed(certificate, lambda tampered: noticed(instance, tampered)) == []


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
    assert (certificate.best_score, certificate.solvable) == (None, False)
    assert noticed(instance, replace(certificate, best_score=1.0))


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


@pytest.mark.slow
def test_fifty_worst_cases_of_five_agree_with_a_search_over_all_beliefs() -> None:
    """Fifty starts: other numbers of entities that are on, other questions, in any order."""
    suite = FAMILY.suite("advanced", seed="minimax", parameters={"n": 5, "graphs": 9})
    for instance in (suite[i] for i in range(50)):
        certificate = FAMILY.certify(instance)
        assert noticed(instance, certificate) == []
        assert certificate.minimax == searched(5, 31, 0, 1) == 4
    luck, names = Stream("starts"), ("circle", "square", "star", "heart", "cross")
    for _ in range(50):
        start, (x, y) = luck.below(32), luck.sample(range(5), 2)
        assert minimax(View("shapes", names, start, x, y, 10)) == searched(5, start, x, y)


Below = tuple[int, ...]
"""What each entity drives, as a set."""


@cache
def drives(n: int) -> tuple[Below, ...]:
    """All orders: each renumbering of each transitive relation along the numbering."""
    pairs = [(a, b) for a in range(n) for b in range(a + 1, n)]
    found = set()
    for chosen in product((False, True), repeat=len(pairs)):
        links = {pair for pair, kept in zip(pairs, chosen, strict=True) if kept}
        if all((a, d) in links for a, b in links for c, d in links if b == c):
            for names in permutations(range(n)):
                renamed = {(names[a], names[b]) for a, b in links}
                found.add(
                    tuple(sum(1 << b for b in range(n) if (a, b) in renamed) for a in range(n))
                )
    return tuple(sorted(found))


@cache
def result(below: Below, state: int, v: int) -> int:
    """What the prompt says of an entity that is started if it is off, and stopped if it is on."""
    if not state >> v & 1:
        return state | 1 << v | below[v]
    driven = [u for u in members(state) if any(below[w] >> u & 1 for w in members(state))]
    if v in driven:
        return state
    stay = {u for u in members(state) if u not in driven} - {v}
    kept = {u for u in driven if any(below[w] >> u & 1 for w in stay)}
    return sum(1 << u for u in stay | kept)


@cache
def searched(n: int, start: int, x: int, y: int) -> int:
    """The worst case of the best plan: every intervention in every belief."""
    orders = [o for o in drives(n) if not any(o[v] & ~start for v in members(start))]

    @cache
    def suffices(state: int, belief: tuple[Below, ...], left: int) -> bool:
        if len({order[x] >> y & 1 for order in belief}) < 2:
            return True
        return left > 0 and any(tried(state, v, belief, left) for v in range(n))

    def tried(state: int, v: int, belief: tuple[Below, ...], left: int) -> bool:
        cells: dict[int, list[Below]] = {}
        for order in belief:
            cells.setdefault(result(order, state, v), []).append(order)
        parts = sorted(cells.items(), key=lambda cell: -len(cell[1]))
        useful = len(cells) > 1 or state not in cells
        return useful and all(suffices(after, tuple(cell), left - 1) for after, cell in parts)

    return next(left for left in range(2 * n) if suffices(start, tuple(orders), left))


def test_all_orders_are_counted() -> None:
    assert [len(set(all_orders(n))) for n in range(6)] == [1, 1, 3, 19, 219, 4231]
    assert len(drives(4)) == 219


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
        "whybench.episode.registry",
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
