"""Suites of Prism: balance, matched triples, determinism, and what identifies a problem."""

from collections import Counter

import pytest

from whybench.causal.version_space import outcome
from whybench.episode.registry import families
from whybench.families.prism.justification import fits
from whybench.families.prism.parameters import PLANS, Parameters
from whybench.families.prism.world import generate
from whybench.families.prism.world.screen import score
from whybench.families.prism.world.world import ANSWERS

FAMILY = families()["prism"]

SMALL = {"main": {"n": 5}, "hidden": {"n": 6, "kind": "had"}, "lab": {"n": 5}, "teaching": {}}


def worlds(suite: str, triples: int = 1):
    made = FAMILY.suite(suite, parameters={**SMALL[suite], "triples": triples})
    return [(instance, FAMILY.world(instance)) for instance in made]


@pytest.mark.parametrize("suite", SMALL)
def test_every_kind_and_size_has_each_answer_equally_often(suite) -> None:
    cells = Counter((w.question.kind, w.n, w.answer) for _, w in worlds(suite))
    assert len(cells) == 3 * len(Parameters(**SMALL[suite]).cells(suite))
    assert set(cells.values()) == {1}


@pytest.mark.parametrize("suite", SMALL)
def test_members_of_a_triple_share_a_cluster_and_all_but_one_row(suite) -> None:
    clusters: dict[str, list] = {}
    for instance, world in worlds(suite):
        clusters.setdefault(instance.cluster, []).append(world)
    for triple in clusters.values():
        assert {world.answer for world in triple} == set(ANSWERS)
        assert len({world.question for world in triple}) == 1
        rows = list(zip(*(world.rows for world in triple), strict=True))
        different = [i for i, row in enumerate(rows) if len({*row}) > 1]
        assert different == ([] if suite == "lab" else [triple[0].last])


def test_named_columns_are_the_same_in_a_triple_of_many_variables() -> None:
    made = FAMILY.suite("main", parameters={"n": 7, "triples": 1})
    clusters: dict[str, set] = {}
    for instance in made:
        world = FAMILY.world(instance)
        named = [v for v in (world.question.x, world.question.y) if v is not None]
        columns = tuple(tuple(t.values[v] for v in named) for t in world.trials)
        clusters.setdefault(instance.cluster, set()).add(columns)
    assert [len(columns) for columns in clusters.values()] == [1] * 6


@pytest.mark.parametrize("suite", SMALL)
def test_the_hidden_system_shows_the_trials(suite) -> None:
    for _, world in worlds(suite):
        assert fits(world.space, world.truth, world.rows)
        for row in world.rows if not world.hidden_inputs else ():
            assert outcome(world.space, world.truth, world.space.design(row)) == row


def test_no_design_is_shown_twice_and_no_asked_design_is_shown() -> None:
    for _, world in worlds("main"):
        shown = [(trial.inputs, trial.held) for trial in world.trials]
        assert len({*shown}) == len(shown)
        if world.question.kind == "do":
            assert (world.question.inputs, world.question.held) not in shown


def test_a_problem_is_rebuilt_alone() -> None:
    made = [(instance, world) for instance, world in worlds("teaching")]
    generate.drawn_triple.cache_clear()
    params = Parameters(**SMALL["teaching"], triples=1)
    assert [generate.world(instance, params) for instance, _ in made[::-1]] == [
        world for _, world in made[::-1]
    ]


def test_other_cells_do_not_change_a_cell() -> None:
    """A triple depends on its own path alone, so a filter leaves its problems as they are."""
    few = FAMILY.suite("teaching", parameters={"kind": "do", "triples": 1})
    alone = {FAMILY.world(instance).base for instance in few}
    assert alone < {world.base for _, world in worlds("teaching")}


def test_a_parameter_that_leaves_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="n = 5, 6, 7, 8"):
        FAMILY.suite("main", parameters={"n": 4})
    with pytest.raises(ValueError, match="justify"):
        FAMILY.suite("lab", parameters={"justify": True})


def test_plans_name_every_suite() -> None:
    assert set(PLANS) == set(FAMILY.suites)


def test_the_score_of_a_triple_changes_its_sign_in_the_mirror() -> None:
    import numpy as np

    logits = np.array([[2.0, 0.0, 1.0], [0.0, 1.0, 0.0], [0.5, 0.0, 3.0]])
    assert score(logits) == pytest.approx(6 - 7.5 / 3)
    assert score(-logits) == -score(logits)
    assert score(logits + np.array([5.0, -1.0, 2.0])) == pytest.approx(score(logits))
