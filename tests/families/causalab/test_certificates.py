"""What certificates claim, and what reference agents reach, on the real suites."""

from functools import cache
from itertools import combinations, islice
from statistics import fmean
from typing import Any

import numpy as np
import pytest

from whybench.causal.equivalence import class_size
from whybench.causal.graph import members
from whybench.episode.certificate import Certificate
from whybench.episode.episode import play
from whybench.episode.instance import Instance
from whybench.families.causalab import FAMILY
from whybench.families.causalab.parameters import PLANS
from whybench.families.causalab.proof import certify as proofs
from whybench.families.causalab.proof.evidence import Evidence, inferred
from whybench.families.causalab.world.world import FREQUENCY, World

HIDDEN = tuple(name for name, plan in PLANS.items() if plan.disturbance)


@cache
def instances(name: str, count: int = 50, **parameters: Any) -> tuple[Instance, ...]:
    return tuple(islice(FAMILY.suite(name, parameters=parameters), count))


@cache
def worlds(name: str, count: int = 50, **parameters: Any) -> tuple[World, ...]:
    return tuple(FAMILY.world(instance) for instance in instances(name, count, **parameters))


@cache
def values(instance: Instance, agent: str = "exact") -> dict[str, float]:
    trace = play(FAMILY.open(instance), FAMILY.agent(agent, instance))
    return FAMILY.score(instance, trace).values.asdict()


def mean(name: str, agent: str, metric: str, count: int = 50, **parameters: Any) -> float:
    return fmean(values(i, agent)[metric] for i in instances(name, count, **parameters))


def proven(instance: Instance) -> Certificate:
    found = FAMILY.certify(instance)
    assert found.defects() == []
    return found


# The exact agent


def check_perfect(instance: Instance) -> dict[str, float]:
    found = values(instance)
    assert (found["accuracy"], found["edge_f1"], found["shd"]) == (1.0, 1.0, 0.0)
    assert found["freq_weight_f1"] == 1.0
    view = FAMILY.world(instance).view
    if not (view.quadratic or view.rounded):
        assert found["exact_prediction"] == 1.0
    return found


@pytest.mark.parametrize("k", [3, 4, 5, 6, 7])
def test_exact_is_perfect_on_every_main_instance_and_near_fewest(k: int) -> None:
    made = []
    for instance in instances(f"main_{k}"):
        interventions = check_perfect(instance)["interventions"]
        least = proofs.fewest(FAMILY.world(instance))
        assert least == k - 2 <= interventions <= k
        made.append(interventions)
    assert len(made) == 50
    assert fmean(made) <= k - 2 + 0.1


@pytest.mark.parametrize("k", [3, 4, 5, 6, 7])
def test_main_certificates_say_the_same(k: int) -> None:
    for instance in instances(f"main_{k}")[::10]:
        found = proven(instance)
        assert (found.identified, found.solvable, found.best_score) == (True, True, 1.0)
        assert found.bits == 0.0
        assert found.minimax is None  # rounding hides the weights of some laws, whatever is set
        assert found.exact_steps == values(instance)["interventions"]
        assert found.fewest == proofs.fewest(FAMILY.world(instance))


def test_exact_solves_every_quadratic_world_in_six() -> None:
    for instance in instances("quad_hard"):
        assert check_perfect(instance)["interventions"] <= 6


@pytest.mark.parametrize("name", HIDDEN)
def test_exact_overcomes_a_hidden_disturbance_within_the_settings_allowed(name: str) -> None:
    assert all(world.view.limit == 100.0 for world in worlds(name, 10))
    assert mean(name, "exact", "accuracy", 10) == 1.0
    assert mean(name, "exact", "edge_f1", 10) >= 0.99
    assert mean(name, "exact", "interventions", 10) <= 12


def test_certificates_of_hidden_suites_carry_the_best_estimator() -> None:
    for name in ("hidden_count_3", "hidden_range_50"):
        found = proven(FAMILY.suite(name)[0])
        assert found.facts["expected_edge_f1"] >= 0.99
        assert 0.0 <= found.facts["error_probability"] <= 0.2


def test_exact_is_perfect_on_twelve_nodes() -> None:
    for instance in instances("fresh", 2, k=12):
        assert len(FAMILY.world(instance).view.names) == 12
        assert check_perfect(instance)["interventions"] <= 11


# Observation alone


@pytest.mark.parametrize(
    ("name", "regime", "enough"),
    [
        ("scaling_4", "3o0i", True),
        ("scaling_6", "5o0i", True),
        ("scaling_4", "2o0i", False),
        ("scaling_6", "4o0i", False),
        ("scaling_6", "0o0i", False),
    ],
)
def test_records_determine_the_frequency_and_never_the_graph(
    name: str, regime: str, enough: bool
) -> None:
    for instance in instances(name, 6, regime=regime):
        found = proven(instance)
        assert found.facts["frequency_identified"] in ((True, None) if enough else (False,))
        assert not found.facts["graph_identified"]
        assert not found.identified
        assert found.witness is not None
        assert found.bits >= 1.0
        assert found.facts["rank"] == int(regime[0]) + 1


@pytest.mark.parametrize("k", [4, 6])
def test_the_frequency_needs_as_many_interventions_as_records_are_missing(k: int) -> None:
    """Regression needs exactly k - 1 - N, one intervention for each record that is missing."""
    for records in range(k + 1):
        for instance in instances(f"main_{k}", 4, regime=f"{records}o{4 * k}i"):
            least = proofs.frequency_fewest(FAMILY.world(instance))
            assert least == max(0, k - 1 - records)
            found = values(instance, "regression")
            assert least <= found["interventions"] <= least + 2  # rounding may cost more
            assert found["accuracy"] == 1.0


def test_ranks_by_fractions_are_those_of_numpy() -> None:
    names = ("main_3", "main_7", "scaling_6", "freqparent_6", "partial_4", "quad_hard", "golden_6")
    for name in names:
        for world in worlds(name, 15):
            looks = [*(r for r in world.view.records if r.passive), world.view.baseline]
            rows = np.array([[1.0, *look.values[1:]] for look in looks])
            rank = proofs.exact_rank(world)
            assert rank == np.linalg.matrix_rank(rows)
            if not world.view.quadratic:  # no draw is deficient
                assert rank == min(len(looks), world.view.k)


@pytest.mark.parametrize(
    ("name", "parameters"),
    [("scaling_4", {"regime": "3o0i"}), ("scaling_6", {"regime": "5o0i"}), ("main_6", {})],
    ids=str,
)
def test_a_fit_without_a_graph_predicts_well_and_explains_little(
    name: str, parameters: dict[str, str]
) -> None:
    """The paper's central gap."""
    assert mean(name, "regression", "accuracy", 20, **parameters) >= 0.95
    assert mean(name, "regression", "edge_f1", 20, **parameters) <= 0.75
    assert mean(name, "regression", "without_mechanism", 20, **parameters) >= 0.6


@pytest.mark.parametrize("agent", ["null", "random", "by_size"])
def test_floors_are_low(agent: str) -> None:
    for name in ("main_4", "main_6", "quad_hard"):
        assert mean(name, agent, "accuracy", 20) <= FAMILY.floor_ceiling[agent]
        assert mean(name, agent, "freq_weight_f1", 20) <= 0.5
    # All weights are positive, so effects are larger than their causes: order by size says much.
    assert mean("main_6", agent, "edge_f1", 20) <= (0.8 if agent == "by_size" else 0.5)
    assert mean("main_6", agent, "shd", 20) >= 4


# What cannot be identified


@pytest.mark.parametrize("name", ["freqparent_4", "freqparent_6"])
def test_a_frequency_that_may_be_a_cause_hides_behind_its_own_causes(name: str) -> None:
    """Under `set` no experiment tells; under `shift` its base, which is not zero, does."""
    for instance in instances(name, 6, semantics="set"):
        found = proven(instance)
        parents = FAMILY.world(instance).law.graph.parents()[FREQUENCY]
        everything = parents == FAMILY.world(instance).view.properties
        assert found.identified == everything  # what causes the frequency is no effect of it
        assert (found.witness is None) == everything
        assert (found.facts["undecided_pairs"] == 0) == everything
        assert found.facts["frequency_identified"]
        check_right_where_decided(instance)
    for instance in instances(name, 6):
        assert FAMILY.world(instance).law.base != 0
        found = proven(instance)
        assert found.identified
        assert found.facts["undecided_pairs"] == 0
        check_perfect(instance)


def check_right_where_decided(instance: Instance) -> None:
    found = values(instance)
    for metric in ("accuracy", "freq_weight_f1", "freq_edge_f1", "edge_f1"):
        assert found[metric] == 1.0


@pytest.mark.parametrize("name", ["partial_4", "partial_6"])
def test_partial_control_is_scored_on_what_can_be_decided(name: str) -> None:
    decided = 0
    for instance in instances(name, 10):
        found = proven(instance)
        world = FAMILY.world(instance)
        assert world.view.controllable.bit_count() < world.view.k - 1
        assert found.identified == (found.witness is None)
        assert found.identified or found.facts["undecided_pairs"] > 0
        decided += found.identified
        assert values(instance)["accuracy"] == 1.0
        assert values(instance)["edge_f1"] == 1.0
    assert 0 < decided < 10


# Golden chains


@pytest.mark.parametrize(("name", "k"), [("golden_4", 4), ("golden_6", 6)])
def test_golden_chains_suffice_and_the_class_never_grows(name: str, k: int) -> None:
    for world in worlds(name):
        view = world.view
        chain = [record for record in view.records if not record.passive]
        assert 1 <= len(chain) <= k + 1  # rounding may hide what a setting moves
        assert view.budget == 0
        assert {record.crystal for record in chain} == {view.records[0].crystal}
        assert inferred(Evidence(view, (*view.records, view.baseline))).complete
        shorter = (*view.records[:-1], view.baseline)
        assert not inferred(Evidence(view, shorter)).complete
        touched, sizes = 0, [class_size(world.law.graph)]
        for record in chain:
            assert record.target is not None
            touched |= 1 << record.target
            sizes.append(class_size(world.law.graph, touched))
        assert sizes == sorted(sizes, reverse=True)


def test_the_exact_agent_reads_golden_chains() -> None:
    for instance in instances("golden_6", 10):
        assert check_perfect(instance)["interventions"] == 0
        assert proven(instance).identified


# Pairs of suites


def crystals(world: World) -> Any:
    """What a law's graph and weights, and the bases drawn, look like."""
    view = world.view
    return world.law, world.bases, view.records[0].values, view.names


@pytest.mark.parametrize("k", [4, 6])
def test_suites_of_a_size_share_laws_and_crystals(k: int) -> None:
    linear = [
        name
        for name, plan in PLANS.items()
        if plan.k == k
        and not (plan.quadratic or plan.frequency_parent or plan.fresh or plan.disturbance)
    ]
    assert len(linear) == {4: 5, 6: 4}[k]
    expected = [crystals(world) for world in worlds(f"main_{k}")]
    for name in linear:
        parameters = {"regime": "2o12i"} if PLANS[name].regimes else {}
        assert [crystals(world) for world in worlds(name, **parameters)] == expected
    scaling = FAMILY.suite(f"scaling_{k}")
    for index in range(0, len(scaling), 23):
        world = FAMILY.world(scaling[index])
        assert (world.law, world.bases) == expected[index % 50][:2]
        assert world.reactor == worlds(f"main_{k}")[index % 50].reactor


def test_quadratic_worlds_have_the_graphs_of_the_linear_ones() -> None:
    pairs = zip(worlds("quad_hard"), worlds("main_4"), strict=True)
    assert all(a.law.graph == b.law.graph for a, b in pairs)


def test_no_two_hidden_suites_are_the_same() -> None:
    """Released: two of nine were byte-identical. Draws differ even where place and size agree."""
    for a, b in combinations(HIDDEN, 2):
        apart = 0
        for one, other in zip(worlds(a), worlds(b), strict=True):
            assert one.disturbance is not None
            assert other.disturbance is not None
            ours, theirs = (
                (d.affected, d.values, tuple(d.after(i) for i in range(1, 13)))
                for d in (one.disturbance, other.disturbance)
            )
            apart += ours != theirs
        assert apart == 50
    affected = {
        name: tuple(w.disturbance.affected for w in worlds(name) if w.disturbance)
        for name in HIDDEN
    }
    assert affected["hidden_count_1"] != affected["hidden_range_5"]
    assert len(set(affected.values())) == 7  # the three sizes share a place


def test_disturbed_places_are_as_many_as_named_and_nested() -> None:
    for kind in ("count", "freq"):
        suites = [list(worlds(f"hidden_{kind}_{n}")) for n in (1, 2, 3)]
        for row in zip(*suites, strict=True):
            masks = [world.disturbance.affected for world in row if world.disturbance]
            assert [mask.bit_count() for mask in masks] == [1, 2, 3]
            assert masks[0] & ~masks[1] == masks[1] & ~masks[2] == 0
            assert all((FREQUENCY in members(mask)) == (kind == "freq") for mask in masks)
            assert {world.view.disturbance for world in row} == {5.0}
