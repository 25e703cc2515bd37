"""Laboratories: labels, plans and the exact experimenter."""

import pytest

from whybench.causal import experiments
from whybench.causal.version_space import outcome
from whybench.episode.registry import families
from whybench.families.prism.proof import closure

FAMILY = families()["prism"]


@pytest.fixture(scope="module")
def instances() -> list:
    return list(FAMILY.suite("lab", parameters={"n": 5, "triples": 1}))


def test_all_experiments_together_show_the_gold_answer(instances) -> None:
    for instance in instances:
        world = FAMILY.world(instance)
        designs = closure.closure_of(world).designs
        rows = [outcome(world.space, world.truth, design) for design in designs]
        assert closure.labels(world, [*world.rows, *rows]) == {world.answer}
        assert len(closure.labels(world, world.rows)) == 3
        p = closure.posterior(world, [*world.rows, *rows])
        assert {"yes": p == 1, "no": p == 0, "cannot": 0 < p < 1}[world.answer]


def test_the_exact_agent_stays_within_the_worst_case_on_every_cell(instances) -> None:
    for instance in instances[:4]:
        world = FAMILY.world(instance)
        found = closure.closure_of(world)
        depth = found.minimax()
        assert 2 <= depth == world.lab.minimax == world.lab.budget - 1
        steps = []
        for cell in range(len(found.labels)):
            state, count = found.every, 0
            while len(found.left(state)) > 1:
                part = found.parts[found.best(state)]
                state &= next(cells for cells in part.values() if cells >> cell & 1)
                count += 1
            assert found.left(state) == {found.labels[cell]}
            steps.append(count)
        assert max(steps) == depth
        assert all(found.fewest(c) <= steps[c] for c in range(0, len(steps), 9))


def test_a_deep_search_is_given_up(instances, monkeypatch) -> None:
    monkeypatch.setattr(experiments, "NODES", 1)
    world = FAMILY.world(instances[0])
    found = closure.closure_for.__wrapped__(world.space, world.rows, world.question, world.lab)
    with pytest.raises(experiments.TooDeepError):
        found.minimax()
