"""Hidden systems of documents: pairs of the tables, the published statistics, true numbers."""

import itertools
from statistics import mean

import numpy as np
import pytest

from whybench.families.recite.parameters import matched
from whybench.families.recite.proof.checker.recompute import Recomputed, shown
from whybench.families.recite.world.generate import PERIODS, Order, system_of
from whybench.families.recite.world.say import Findings
from whybench.families.recite.world.simulate import printed, simulated
from whybench.families.recite.world.topology import topology

TABLE_12 = {
    "nodes": (25.0, 15.8), "edges": (37.0, 23.9), "density": (0.094, 0.089),
    "average_degree": (3.0, 0.8), "sources": (4.8, 6.6), "sinks": (1.8, 4.2),
    "clustering": (0.146, 0.167), "cycles": (50.7, 245.2), "in_cycles": (0.636, 0.317),
    "sccs": (11.9, 13.9), "largest_scc": (13.4, 9.4), "path_length": (3.49, 1.20),
    "betweenness_variance": (0.014, 0.014), "chains": (57.7, 47.3), "forks": (24.1, 26.8),
    "colliders": (31.5, 32.8),
}  # fmt: skip
"""Mean and standard deviation over the published graphs."""


def order(graph: int, source: str = "matched") -> Order:
    return Order(source, "drawing", graph, matched())


def test_arrows_are_pairs_of_the_tables_and_a_fifth_goes_against_knowledge() -> None:
    shares = []
    for graph in range(40):
        system, _ = system_of(order(graph))
        assert {v for link in system.arrows for v in link} == set(range(system.n))
        names = [concept.name for concept in system.concepts[: system.n]]
        assert names == sorted(names)
        keys = {concept.key for concept in system.concepts[: system.n]}
        assert all(system.keys(link) in system.field.pairs for link in system.arrows)
        admitted = sum(
            pair.admissible and keys.issuperset(ends) for ends, pair in system.field.pairs.items()
        )
        assert admitted >= 2 * len(system.arrows)
        shares.append(mean(not system.plausible(link) for link in system.arrows))
        outside = {concept.key for concept in system.concepts[system.n :]}
        assert len(outside) >= 2
        assert not outside & keys
    assert 0.17 < mean(shares) < 0.24


def test_means_are_within_one_standard_deviation_of_the_published_ones() -> None:
    found = []
    for graph in range(80):
        system, _ = system_of(order(graph))
        found.append(topology(system.n, system.arrows))
    for name, (middle, spread) in TABLE_12.items():
        assert abs(mean(one[name] for one in found) - middle) < spread, name
    assert 0.82 < mean(one["cycles"] > 0 for one in found) < 0.98


@pytest.mark.parametrize("graph", range(3))
def test_simulation_and_regression_agree_with_plain_arithmetic(graph: int) -> None:
    one = order(graph, "short")
    system, _ = system_of(one)
    study = simulated(one.path, system, PERIODS[system.field.name])
    names = [concept.name for concept in system.concepts]
    signs = {link: system.sign(link) for link in system.arrows}
    twin = Recomputed(one.path, system.field.name, names, system.n, signs)
    assert twin.weights == pytest.approx(study.weights)
    assert pytest.approx(study.values, abs=1e-9) == np.array(twin.series).T
    assert twin.units[0] == pytest.approx(study.means)
    effect = max(range(system.n), key=lambda b: sum(end == b for _, end in system.arrows))
    causes = [a for a, b in system.arrows if b == effect]
    estimates, share = study.regression(effect, causes)
    past = np.column_stack([np.ones(len(study.values) - 1), study.values[:-1, [effect, *causes]]])
    solved, *_ = np.linalg.lstsq(past, study.values[1:, effect], rcond=None)
    assert [e.value for e in estimates] == pytest.approx(solved[1:])
    again, also = twin.regression(effect, causes)
    assert [e.value for e in estimates] == pytest.approx([value for value, _ in again])
    assert [e.error for e in estimates] == pytest.approx([error for _, error in again])
    assert share == pytest.approx(also)


def test_reported_correlations_without_arrow_have_a_path_or_a_common_cause() -> None:
    for graph in range(10):
        one = order(graph)
        system, _ = system_of(one)
        findings = Findings(simulated(one.path, system, 300))
        arrows = set(system.arrows)
        for found in findings.correlated():
            ends = found.first, found.second
            assert not {ends, ends[::-1]} & arrows
            if found.reason == "path":
                ways = [(a, *found.through, b) for a, b in (ends, ends[::-1])]
                assert any(arrows.issuperset(itertools.pairwise(w)) for w in ways)
            else:
                assert len(found.through) == 1


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (0.125, 2, "0.12"), (0.125000001, 2, "0.12"), (0.126, 2, "0.13"), (-0.126, 2, "−0.13"),
        (-0.004, 2, "0.00"), (12.5, 0, "12"), (1234.56, 1, "1234.6"), (0.95, 1, "0.9"),
    ],
)  # fmt: skip
def test_numbers_near_a_tie_are_rounded_towards_zero(value: float, digits: int, text: str) -> None:
    assert printed(value, digits) == shown(value, digits) == text
