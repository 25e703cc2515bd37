"""The directions in which weights may move, against the same conditions solved on fractions."""

from fractions import Fraction
from itertools import combinations

import pytest

from whybench.families.causalab.family import CausaLab
from whybench.families.causalab.proof import certify
from whybench.families.causalab.proof.ambiguity import all_experiments, verdicts
from whybench.families.causalab.world.world import FREQUENCY, World

FAMILY = CausaLab()
SETTING = 83
"""Another setting than the proof's, in no special relation to any base."""


def independent(columns: list[list[Fraction]]) -> bool:
    """Whether no sum of multiples of the columns is zero."""
    kept: list[tuple[int, list[Fraction]]] = []
    for column in columns:
        for lead, other in kept:
            factor = column[lead] / other[lead]
            column = [a - factor * b for a, b in zip(column, other, strict=True)]
        lead = next((i for i, value in enumerate(column) if value), -1)
        if lead < 0:
            return False
        kept.append((lead, column))
    return True


def is_forced(world: World, touched: tuple[int, ...]) -> bool:
    """Whether n = a (I − B) is 0 for all a that the readings allow, node by node."""
    view, law = world.view, world.law
    k, reach = law.k, law.graph.reach()
    rows = [[Fraction(int(p == v)) for p in range(k)] for v in range(k)]
    for v, terms in enumerate(law.terms):
        for term in terms:
            rows[v][term.cause] -= Fraction(term.linear)
    bases = [Fraction(base) for base in (law.base, *world.bases[1:])]
    records = [certify.bases_of(law, r.values) for r in view.records if r.passive]
    for v in range(k):
        effects = [p for p in range(k) if reach[v] >> p & 1]
        if view.sink and v != FREQUENCY and FREQUENCY not in effects:
            effects.append(FREQUENCY)
        columns = []
        for u in (u for u in range(k) if u != v and u not in touched):
            own = rows[u][v]  # taken out again by as much of v's own row
            column = [rows[u][p] - own * rows[v][p] for p in effects]
            if v == FREQUENCY:
                column += [Fraction(bases_[u]) - bases[u] for bases_ in records]
            elif v in touched and view.semantics == "shift":
                column.append(bases[u] - own * SETTING)
            columns.append(column)
        if not independent(columns):
            return False
    return True


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("main_4", {}),
        ("main_5", {}),
        ("main_5", {"semantics": "set"}),
        ("main_4", {"signs": "mixed", "regime": "0o9i"}),
        ("partial_6", {}),
        ("freqparent_4", {}),
    ],
)
def test_every_set_of_properties_forces_what_fractions_say(
    name: str, parameters: dict[str, str]
) -> None:
    suite, seen = FAMILY.suite(name, seed="freedom", parameters=parameters), set()
    for i in range(0, 50, 10):
        world = FAMILY.world(suite[i])
        freedom, targets = certify.Freedom(world), world.view.targets()
        forced = []
        for count in range(len(targets) + 1):
            for touched in combinations(targets, count):
                found = freedom.is_forced(sum(1 << v for v in touched))
                assert found == is_forced(world, touched), (i, touched)
                seen.add(found)
                forced += [count] * found
        assert certify.fewest(world) == min(forced, default=None)
    assert False in seen


@pytest.mark.parametrize("profile", ["certified", "published"])
def test_the_best_score_is_that_of_the_exact_run(profile: str) -> None:
    for name in ("main_4", "quad_hard", "hidden_freq_3"):
        suite = FAMILY.suite(name, profile=profile, seed="best")
        for i in (0, 7):
            reached = FAMILY.score(suite[i], FAMILY.exact_run(suite[i]))
            assert FAMILY.certify(suite[i]).best_score == reached.values["accuracy"]


def test_where_all_can_be_forced_all_experiments_decide_all_edges() -> None:
    for parameters in ({}, {"semantics": "set"}, {"signs": "mixed"}, {"limit": 1e6}):
        for i in (1, 20):
            world = FAMILY.world(FAMILY.suite("main_6", seed="all", parameters=parameters)[i])
            assert certify.all_can_be_forced(world.view)
            assert verdicts(all_experiments(world)).sometimes == frozenset()
