"""Every metric on episodes made by hand, where one can count."""

import json
import math
from dataclasses import replace

import pytest
from tests.tables import together

from whybench.causal.equivalence import class_size
from whybench.causal.graph import Graph
from whybench.episode.action import Action
from whybench.episode.episode import play
from whybench.episode.registry import families
from whybench.families.causalab.hypothesis import Guess, written
from whybench.families.causalab.score import METRICS, score
from whybench.families.causalab.world.world import FREQUENCY, Law, Reading, Term, World

FAMILY = families()["causalab"]

# a → b → frequency and a → frequency; c stands apart with an effect on a: c → a.
LAW = Law(((Term(1, 2.0), Term(2, 3.0)), (Term(3, 1.0),), (Term(1, 1.0),), ()), 20.0)
BASES = (0.0, 10.0, 20.0, 30.0)
REACTOR = (0.0, 1.0, 2.0, 3.0)
TRUE = frozenset({(3, 1), (1, 2), (1, 0), (2, 0)})
TRUTH = Guess(TRUE, 20.0, ((1, 2.0), (2, 3.0)))
TARGET = 20 + 2 * 4 + 3 * 6


def lab(law: Law = LAW, *, suite: str = "main_4", records: int = 2, **told: object):
    instance = FAMILY.suite(suite)[0]
    view = FAMILY.world(instance).view
    bases = ((0.0, 70.0, 11.0, 5.0), (0.0, 3.0, 90.0, 41.0), (0.0, 9.0, 3.0, 77.0))
    view = replace(
        view,
        records=tuple(Reading(i, law.readings(own)) for i, own in enumerate(bases[:records])),
        baseline=Reading(records, law.readings(BASES)),
        **told,
    )
    return FAMILY.open_world(instance, World(view, law, BASES, REACTOR))


def done(episode, guess: Guess, frequency: float = TARGET, settings=(), unsettled=frozenset()):
    """Make experiments (node, value, hypothesis), submit, and score."""
    view = episode.view
    for v, value, *held in settings:
        args = {"hypothesis": json.dumps(written(view, held[0]))} if held else {}
        made = episode.step(Action.of("intervene", property=view.names[v], value=value, **args))
        assert not made.is_error
    episode.step(Action.of("open_reactor"))
    final = json.dumps(written(view, guess))
    assert not episode.step(Action.of("submit", frequency=frequency, hypothesis=final)).is_error
    return score(episode, unsettled)


# The graph and the equation.


@together("suite", FAMILY.suites)
def test_the_oracle_has_everything_right(suite: str) -> None:
    instance = FAMILY.suite(suite)[7]
    result = FAMILY.score(instance, play(FAMILY.open(instance), FAMILY.agent("oracle", instance)))
    values = result.values
    right = ("accuracy", "exact_prediction", "edge_precision", "edge_recall", "edge_f1", "root_f1")
    for name in (*right, "freq_edge_f1", "freq_weight_f1", "final_consistent"):
        assert values[name] == 1.0, name
    for name in ("shd", "bad_experiments", "bad_inference", "without_mechanism", "parse_failures"):
        assert values[name] == 0.0, name
    assert values["fit_error"] < (20 if suite.startswith("hidden") else 0.03)


def test_an_empty_hypothesis() -> None:
    values = done(lab(), Guess(frozenset(), 20.0)).values
    for name in ("edge_precision", "edge_recall", "edge_f1", "root_f1", "freq_edge_f1"):
        assert values[name] == 0, name
    assert (values["shd"], values["freq_weight_f1"], values["final_consistent"]) == (4, 0, 0)
    assert values["accuracy"] == values["without_mechanism"] == 1


def test_a_reversed_edge_costs_one_step_and_moves_the_root() -> None:
    reversed_ = Guess(TRUE - {(3, 1)} | {(1, 3)}, 20.0, TRUTH.linear)
    values = done(lab(), reversed_).values
    assert (values["edge_precision"], values["edge_recall"], values["edge_f1"]) == (0.75,) * 3
    assert values["shd"] == 1
    assert values["root_f1"] == 0  # 1 instead of 3
    assert (values["freq_edge_f1"], values["freq_weight_f1"]) == (1, 1)


def test_roots_are_those_of_the_scored_graph() -> None:
    """Without 3 → 1 the roots above frequency are 1 alone; with 3 → 2 added also 3."""
    more = Guess(TRUE - {(3, 1)} | {(3, 2)}, 20.0, TRUTH.linear)
    assert done(lab(), more).values["root_f1"] == pytest.approx(2 * 1 / (1 + 2))
    apart = Guess(TRUE - {(3, 1)}, 20.0, TRUTH.linear)
    assert done(lab(), apart).values["root_f1"] == 0


@pytest.mark.parametrize(
    ("linear", "f1"),
    [
        (((1, 2.039), (2, 2.941)), 1.0),
        (((1, 2.05), (2, 3.0)), 0.5),
        (((1, -2.0), (2, 3.0)), 0.5),
        (((2, 3.0),), 2 / 3),
        (((1, 2.0), (2, 3.0), (3, 1.0)), 0.8),
    ],
)
def test_weights_count_within_two_per_cent(linear: tuple, f1: float) -> None:
    edges = frozenset((p, FREQUENCY) for p, _ in linear)
    values = done(lab(), Guess(edges, 999.0, linear)).values
    assert values["freq_weight_f1"] == pytest.approx(f1)


def test_both_terms_count_in_quadratic_worlds() -> None:
    instance = FAMILY.suite("quad_hard")[0]
    world = FAMILY.world(instance)
    terms = world.law.terms[FREQUENCY]
    edges = frozenset(world.law.graph.edges())
    for linear, square, good in ((1.019, 0.981, True), (1.021, 1, False), (1, 1.021, False)):
        guess = Guess(
            edges,
            world.law.base,
            tuple((t.cause, t.linear * linear) for t in terms),
            tuple((t.cause, t.square * square) for t in terms),
        )
        values = done(FAMILY.open(instance), guess).values
        assert (values["freq_weight_f1"] == 1.0) == good
        assert (values["freq_weight_f1"] == 0.0) == (not good)


# The released rules.


def released(suite: str, coefficients: dict[str, float], edges: list[object] | None = None):
    instance = FAMILY.suite(suite, profile="published")[0]
    episode = FAMILY.open(instance)
    episode.step(Action.of("open_reactor"))
    said = json.dumps({"edges": edges or [], "coefficients": coefficients})
    for _ in range(2):
        episode.step(Action.of("submit", frequency=-1, hypothesis=said))
    return FAMILY.score(instance, episode.trace).values


def test_released_weights_must_agree_to_six_decimals() -> None:
    world = FAMILY.world(FAMILY.suite("main_4", profile="published")[0])
    true = {f"c_{world.view.names[t.cause]}": t.linear for t in world.law.terms[FREQUENCY]}
    assert released("main_4", true)["freq_weight_f1"] == 1
    off = {key: value + 1e-5 for key, value in true.items()}
    assert released("main_4", off)["freq_weight_f1"] == 0
    count = len(true)
    padded = released("main_4", true | {"c_x": 1, "coeff_y": 2})["freq_weight_f1"]
    assert padded == pytest.approx(2 * count / (2 * count + 2))


def test_released_quadratic_weights_score_nothing_if_written_as_asked() -> None:
    """A declared defect: only the linear term is looked up, under the name of a linear world."""
    world = FAMILY.world(FAMILY.suite("quad_hard", profile="published")[0])
    terms = {world.view.names[t.cause]: t for t in world.law.terms[FREQUENCY]}
    as_asked = {f"c_{n}_1": t.square for n, t in terms.items()}
    as_asked |= {f"c_{n}_2": t.linear for n, t in terms.items()}
    assert released("quad_hard", as_asked)["freq_weight_f1"] == 0
    linear = {f"c_{n}": t.linear for n, t in terms.items()}
    assert released("quad_hard", linear)["freq_weight_f1"] == 1


def test_released_strangers_and_self_loops_count_as_predictions() -> None:
    world = FAMILY.world(FAMILY.suite("main_4", profile="published")[0])
    names = world.view.names
    true = [[names[a], names[b]] for a, b in world.law.graph.edges()]
    n = len(true)
    for strange in ([["x", "y"]], [["frequency", "freq"]], [[names[1], names[1]]]):
        values = released("main_4", {}, true + strange)
        assert values["edge_precision"] == n / (n + 1)
        assert (values["edge_recall"], values["shd"]) == (1, 1)
        into = world.law.graph.parents()[FREQUENCY].bit_count()
        loop = strange[0][0] == "frequency"
        assert values["freq_edge_f1"] == pytest.approx(2 * into / (2 * into + loop))


def test_a_true_prediction_that_the_released_dial_refuses_is_not_bad_inference() -> None:
    law = Law(((Term(2, 9000.0),), (), (), ()), 20.0)
    episode = lab(law, records=3, released=True, rounded=False, limit=None)
    target = episode.world.target
    values = done(episode, Guess(frozenset(), 20.0), target).values
    assert (values["accuracy"], values["unfinished"]) == (0, 1)
    episode.step(Action.of("submit", frequency=target))
    values = score(episode, frozenset()).values
    assert (values["accuracy"], values["exact_prediction"], values["inferable"]) == (0, 1, 1)
    assert (values["bad_experiments"], values["bad_inference"]) == (0, 0)


# Fit and consistency.


def test_fit_error_is_the_mean_misprediction_of_all_data() -> None:
    off = Guess(TRUE, 21.5, TRUTH.linear)
    values = done(lab(), off, settings=[(1, 50)]).values
    assert values["fit_error"] == values["fit_error_right"] == pytest.approx(1.5)
    assert values["fit_error_wrong"] is None
    assert values["final_consistent"] == 0
    values = done(lab(), off, frequency=0.0).values
    assert (values["fit_error_right"], values["fit_error_wrong"]) == (None, pytest.approx(1.5))
    assert (values["unused_budget_right"], values["unused_budget_wrong"]) == (None, 1.0)


def test_consistency_is_judged_by_the_data_of_the_time() -> None:
    """Before 1 is set nothing speaks against 2 having no cause; afterwards 2 has moved."""
    loose = Guess(TRUE - {(1, 2)}, 20.0, TRUTH.linear)
    values = done(lab(), loose, settings=[(1, 50, loose), (3, 60, loose), (3, 70, TRUTH)]).values
    assert values["consistent"] == 0.5
    assert values["final_consistent"] == 0
    unknown = Guess(TRUE, None, ((1, None), (2, None)))
    assert done(lab(), TRUTH, settings=[(1, 50, unknown)]).values["consistent"] == 1.0


def test_an_undetermined_edge_may_explain_what_moves() -> None:
    episode = lab()
    names = episode.view.names
    data = written(episode.view, Guess(TRUE - {(1, 2)}, 20.0, TRUTH.linear))
    data["edges"].append({"from": names[1], "to": names[2], "undetermined": True})
    episode.step(Action.of("intervene", property=names[1], value=50))
    episode.step(Action.of("propose", hypothesis=json.dumps(data)))
    result = score(episode, frozenset())
    assert result.labels["trajectory"][0]["consistent"] is True
    assert result.labels["trajectory"][0]["shd"] == 1


# Experiments and inference.


def test_when_the_evidence_sufficed() -> None:
    """All three properties must be set but one that depends on all others: 3 and 1 do."""
    values = done(lab(), TRUTH, settings=[(3, 50), (1, 60), (2, 70), (2, 80)]).values
    assert (values["sufficed_after"], values["stopped_late"], values["stopped_early"]) == (2, 2, 0)
    assert values["interventions"] == 4
    assert values["unused_budget"] == pytest.approx(1 - 4 / 12)
    values = done(lab(), TRUTH, settings=[(3, 50)]).values
    assert (values["sufficed_after"], values["stopped_late"], values["stopped_early"]) == (
        None,
        None,
        1,
    )


def test_a_wrong_frequency_is_bad_experiments_or_bad_inference() -> None:
    names = ("inferable", "bad_experiments", "bad_inference")
    cases = [
        (lab(records=0), [], 0.0, (0, 1, 0)),
        (lab(records=3), [], 0.0, (1, 0, 1)),
        (lab(records=2), [(3, 50)], 0.0, (1, 0, 1)),
        (lab(records=3), [], TARGET, (1, 0, 0)),
        (lab(records=0), [], TARGET, (0, 0, 0)),
    ]
    for episode, settings, frequency, expected in cases:
        values = done(episode, TRUTH, frequency, settings).values
        assert tuple(values[name] for name in names) == expected


def test_a_wrong_graph_is_bad_experiments_or_bad_inference() -> None:
    wrong = Guess(frozenset({(1, 0), (2, 0)}), 20.0, TRUTH.linear)
    for settings, names in (
        ([], ("graph_bad_experiments", "graph_bad_inference")),
        ([(3, 50), (1, 60)], ("graph_bad_inference", "graph_bad_experiments")),
    ):
        values = done(lab(), wrong, settings=settings).values
        assert [values[name] for name in names] == [1, 0]
        assert values["inferable_edge_f1"] == 1.0 or not settings
        assert values["without_mechanism"] == 1


@pytest.mark.parametrize("touched", [(), (1,), (3, 3), (1, 2), (1, 2, 3)])
def test_imec_and_bits_follow_the_touched_targets(touched: tuple[int, ...]) -> None:
    values = done(lab(), TRUTH, settings=[(v, 50 + i) for i, v in enumerate(touched)]).values
    graph = Graph.from_edges(4, TRUE)
    size = class_size(graph, sum({1 << v for v in touched}))
    assert values["imec"] == size
    if touched:
        bits = math.log2(class_size(graph) / size) / len(touched)
        assert values["bits_per_intervention"] == pytest.approx(bits)
    else:
        assert values["bits_per_intervention"] is None
        assert size > 1


def test_a_given_chain_is_nobodys_bits() -> None:
    instance = FAMILY.suite("golden_4", parameters={"regime": "2o3i"})[0]
    episode = FAMILY.open(instance)
    view = episode.view
    chained = {r.target for r in view.records} - {None}
    assert chained
    step = Action.of("intervene", property=view.names[min(chained)], value=50)
    assert not episode.step(step).is_error
    values = FAMILY.score(instance, episode.trace).values
    assert (values["interventions"], values["bits_per_intervention"]) == (1, 0)
    assert values["sufficed_after"] == 0
    assert values["stopped_late"] == 1


def test_fitting_without_a_mechanism() -> None:
    """The paper's gap: the frequency is right and the graph is not."""
    right = f1 = without = 0.0
    for index in range(0, 50, 10):
        instance = FAMILY.suite("main_6")[index]
        trace = play(FAMILY.open(instance), FAMILY.agent("regression", instance))
        values = FAMILY.score(instance, trace).values
        assert values["freq_weight_f1"] == 1
        right += values["accuracy"]
        f1 += values["edge_f1"]
        without += values["without_mechanism"]
    assert right == 5
    assert f1 / 5 < 0.6
    assert without == 5


def test_given_evidence_is_not_the_agents_own() -> None:
    instance = FAMILY.suite("main_4")[3]
    episode = FAMILY.open(instance, evidence="optimal")
    trace = play(episode, FAMILY.agent("exact", instance, episode.evidence_given))
    assert trace.given > 0
    values = FAMILY.score(instance, trace).values
    assert (values["interventions"], values["edge_f1"], values["imec"]) == (0, 1, 1)
    for name in ("unused_budget", "stopped_early", "stopped_late", "bits_per_intervention"):
        assert values[name] is None, name


# What is left out, and what is shown.


def test_an_episode_left_open_claims_nothing() -> None:
    episode = lab()
    episode.step(Action.of("propose", hypothesis=json.dumps(written(episode.view, TRUTH))))
    result = score(episode, frozenset())
    assert (result.outcome, result.values["unfinished"]) == ("unfinished", 1)
    for name in ("accuracy", "edge_f1", "freq_weight_f1", "bad_inference", "bad_experiments"):
        assert result.values[name] == 0, name
    for name in ("fit_error", "final_consistent", "stopped_early"):
        assert result.values[name] is None, name
    assert result.values["consistent"] == 1
    values = FAMILY.score_episode(episode).values
    assert list(values.asdict()) == [metric.name for metric in METRICS]


def test_the_trajectory_has_an_entry_for_every_recorded_hypothesis() -> None:
    empty = Guess(frozenset(), None)
    episode = lab()
    episode.step(Action.of("propose", hypothesis="?"))
    episode.step(Action.of("propose", hypothesis="?"))
    episode.step(Action.of("propose", hypothesis="?"))
    result = done(episode, TRUTH, settings=[(3, 50, empty), (1, 60), (2, 9, TRUTH)])
    steps = result.labels["trajectory"]
    assert [step["after"] for step in steps] == [0, 0, 2, 3]
    assert [step["f1"] for step in steps] == [None, 0, 1, 1]
    assert [step["shd"] for step in steps] == [None, 4, 0, 0]
    assert [step["consistent"] for step in steps] == [None, False, True, True]
    assert steps[0]["edges"] is None
    assert len(steps[2]["edges"].split()) == 4
    assert (result.values["parse_failures"], result.values["sent_back"]) == (1, 2)


def test_the_truth_is_shown_under_the_public_seed_alone() -> None:
    for seed in ("public", "hidden"):
        instance = FAMILY.suite("main_4", seed=seed)[0]
        trace = play(FAMILY.open(instance), FAMILY.agent("null", instance))
        labels = FAMILY.score(instance, trace).labels
        assert ("truth" in labels) == (seed == "public")
    public = FAMILY.suite("main_4")[0]
    trace = play(FAMILY.open(public), FAMILY.agent("oracle", public))
    labels = FAMILY.score(public, trace).labels
    assert labels["truth"] == labels["trajectory"][-1]["edges"]


@pytest.mark.parametrize(
    ("suite", "parameters"), [("partial_4", {}), ("freqparent_4", {"semantics": "set"})]
)
def test_edges_that_nothing_decides_do_not_count(suite: str, parameters: dict) -> None:
    """Another graph of the same class, shown by a law with the same readings, scores the same."""
    from whybench.families.causalab.family import undecided

    seen = 0
    for index in range(6):
        instance = FAMILY.suite(suite, parameters=parameters)[index]
        world = FAMILY.world(instance)
        unsettled = undecided(world)
        trace = play(FAMILY.open(instance), FAMILY.agent("exact", instance))
        values = FAMILY.score(instance, trace).values
        assert values["edge_f1"] == 1.0
        assert values["shd"] == 0
        assert values["accuracy"] == 1.0
        if not unsettled:
            continue
        seen += 1
        assert not FAMILY.certify(instance).identified
        truth = frozenset(world.law.graph.edges())
        terms = world.law.terms[FREQUENCY]
        linear = tuple((t.cause, t.linear) for t in terms)
        for pair in unsettled - truth:
            edges = truth | {pair}
            if pair[1] == FREQUENCY or not Graph.from_edges(world.law.k, edges).is_acyclic():
                continue
            guess = Guess(edges, world.law.base, linear)
            values = done(FAMILY.open(instance), guess, world.target, unsettled=unsettled).values
            assert (values["edge_f1"], values["shd"]) == (1.0, 0)
        decided = sorted(e for e in truth - unsettled if e[1] != FREQUENCY)
        if decided:
            guess = Guess(truth - {decided[0]}, world.law.base, linear)
            values = done(FAMILY.open(instance), guess, world.target, unsettled=unsettled).values
            assert values["shd"] == 1
    assert seen > 1


def test_candidates_are_counted_and_looked_through() -> None:
    instance = FAMILY.suite("main_4", parameters={"candidates": True})[0]
    world = FAMILY.world(instance)
    truth = frozenset(world.law.graph.edges())
    linear = tuple((t.cause, t.linear) for t in world.law.terms[FREQUENCY])
    for listed, hit in (((truth, frozenset()), 1), ((frozenset(),), 0)):
        guess = Guess(truth, world.law.base, linear, (), listed)
        values = done(FAMILY.open(instance), guess, world.target).values
        assert (values["candidates"], values["candidates_hit"]) == (len(listed), hit)
    guess = replace(guess, candidates=None)
    assert done(FAMILY.open(instance), guess, world.target).values["candidates_hit"] is None


def test_exact_inference_is_no_worse_than_the_exact_agent() -> None:
    for suite in ("partial_4", "scaling_4", "freqparent_4"):
        for index in range(0, 50, 12):
            instance = FAMILY.suite(suite)[index]
            trace = play(FAMILY.open(instance), FAMILY.agent("exact", instance))
            values = FAMILY.score(instance, trace).values
            assert values["inferable_edge_f1"] >= values["edge_f1"] - 1e-9
