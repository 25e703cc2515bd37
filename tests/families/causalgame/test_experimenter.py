"""The exact agent of published scenarios keeps to its budgets, sees no truth, and beats luck."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from whybench.causal.seeds import Stream
from whybench.episode.episode import play
from whybench.episode.instance import Instance
from whybench.episode.observation import Observation
from whybench.episode.trace import Trace
from whybench.families.causalgame.agents import experimenter as module
from whybench.families.causalgame.agents.agent_state import Acting, AgentState
from whybench.families.causalgame.agents.design_space import Space
from whybench.families.causalgame.agents.experimenter import choice, experimenter
from whybench.families.causalgame.episode import DroneEpisode
from whybench.families.causalgame.parameters import Parameters
from whybench.families.causalgame.world.design import Design
from whybench.families.causalgame.world.generate import world
from whybench.families.causalgame.world.physics.flight import survival
from whybench.families.causalgame.world.scenario import scenarios

ANTENNA = "antenna_trap"
ZONE = "deployment_zone_trap_categorical"
SHIFT = "deployment_zone_trap_env_shift"
WEATHER = "weather_noise"
OWN = ("design_space", "experimenter", "records_model", "surrogate")
REPORT = dict.fromkeys(("success", "determinants", "failures", "conclusion"), "it flew")


def episode(name: str, index: int = 0, **parameters: object) -> DroneEpisode:
    turned = Parameters.model_validate(parameters)
    rules = scenarios()[name].published.model_copy(update=turned.given)
    instance = Instance("causalgame", "1", name, "published", "public", index)
    return DroneEpisode(instance, world(name, rules, "public", index), turned)


def explored(found: DroneEpisode, luck: Stream | None = None) -> tuple[Design, AgentState, Trace]:
    """Let the experimenter play an episode up to its choice, then submit."""
    state, chosen = AgentState(found.view), []

    def agent() -> Acting[None]:
        design = yield from experimenter(state, luck or Stream("exact"))
        chosen.append(design)
        yield from state.submit(design, REPORT)

    trace = play(found, agent())
    return chosen[0], state, trace


def best_of_ten(found: DroneEpisode, luck: Stream) -> Design:
    """Return the design, of ten random ones, of which most drones came back."""
    space = Space(found.view)
    tried = space.scattered(10, luck)
    flown = [
        found.world.deploy(row, space.decode(tried, row), 20).flights.survival_rate
        for row in range(10)
    ]
    return space.decode(tried, flown.index(max(flown)))


@pytest.mark.parametrize("name", [ANTENNA, ZONE, SHIFT, WEATHER])
def test_the_same_luck_gives_the_same_run(name: str) -> None:
    (first, state, _), (second, again, _) = explored(episode(name)), explored(episode(name))
    assert first == second
    assert state.trials == again.trials


@pytest.mark.parametrize("name", [ANTENNA, ZONE, SHIFT, WEATHER])
def test_its_own_trials_as_given_evidence_lead_to_the_same_choice(name: str) -> None:
    found = episode(name)
    first, _, trace = explored(found)
    given = AgentState(found.view, given=trace.steps)
    acting = experimenter(given, Stream("another"))
    with pytest.raises(StopIteration) as end:
        next(acting)
    assert end.value.value == first


@pytest.mark.parametrize("name", [ANTENNA, ZONE, SHIFT, WEATHER])
def test_budgets_are_kept_and_no_action_is_refused(name: str) -> None:
    found = episode(name, 3)
    design, state, trace = explored(found)
    assert not any(step.observation.is_error for step in trace.steps)
    assert state.drones == 0
    assert len(state.trials) == found.view.deploys
    low, high = found.view.def_range
    for flown in (design, *(trial.design for trial in state.trials)):
        assert flown.total <= found.view.total_def_budget
        assert all(low <= value <= high for value in flown.defs)


@pytest.mark.parametrize(
    "parameters",
    [
        {"drones": 7, "deploys": 3},
        {"drones": 5, "deploys": 10},
        {"drones": 500, "deploys": 2},
        {"queries": 1},
        {"keep_failed": 0.0},
        {"counts": False},
    ],
)
@pytest.mark.parametrize("name", [ANTENNA, WEATHER])
def test_other_budgets_and_less_sight_are_coped_with(
    name: str, parameters: dict[str, object]
) -> None:
    found = episode(name, 1, **parameters)
    design, state, trace = explored(found)
    assert not any(step.observation.is_error for step in trace.steps)
    assert 0 < sum(trial.count for trial in state.trials) <= found.view.drones
    assert found.submitted == design


def test_a_refused_deployment_ends_the_exploration() -> None:
    view = episode(ANTENNA).view
    asked: list[str] = []

    def refusing() -> Acting[Design]:
        acting = experimenter(AgentState(view), Stream("exact"))
        answer = None
        while True:
            try:
                action = next(acting) if answer is None else acting.send(answer)
            except StopIteration as end:
                return end.value
            asked.append(action.name)
            answer = Observation.refused("invalid_action", "not today")
            yield action

    acting = refusing()
    chosen = None
    while chosen is None:
        try:
            next(acting)
        except StopIteration as end:
            chosen = end.value
    assert asked.count("deploy") == 1
    assert chosen == choice(view, [])


def _imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom):
            yield str(node.module)
        elif isinstance(node, ast.Import):
            yield from (name.name for name in node.names)


def test_it_imports_nothing_that_knows_the_truth() -> None:
    allowed = {"agent_state", "design", "view", *OWN}
    folder = Path(str(module.__file__)).parent
    for name in OWN:
        own = {
            found.rsplit(".", 1)[1]
            for found in _imports(folder / f"{name}.py")
            if found.startswith("whybench.families")
        }
        assert own <= allowed


@pytest.mark.slow
@pytest.mark.parametrize(("name", "bar", "margin"), [(ANTENNA, 0.83, 0.3)])
def test_it_wins_clearly_more_often_than_the_best_of_ten_random_designs(
    name: str, bar: float, margin: float
) -> None:
    seeds, wins, lucky = 40, 0, 0
    for index in range(seeds):
        found = episode(name, index)
        design, _, _ = explored(found, Stream("exact", index))
        other = best_of_ten(episode(name, index), Stream("random", index))
        physics = found.world.physics
        wins += survival(physics, design, "stage2", Stream("judge"), 1000) >= bar
        lucky += survival(physics, other, "stage2", Stream("judge"), 1000) >= bar
    assert wins >= lucky + margin * seeds


def test_every_design_it_thinks_of_is_allowed() -> None:
    for name in (ANTENNA, ZONE, SHIFT, WEATHER):
        space = Space(episode(name).view)
        luck = Stream("designs")
        some = space.scattered(200, luck)
        for found in (some, space.neighbours(some, 200, luck), space.balanced(200, some, luck)):
            low, high = space.view.def_range
            assert found.defs.sum(axis=1).max() <= space.view.total_def_budget
            assert found.defs.min() >= low
            assert found.defs.max() <= high
            designs = [space.decode(found, row) for row in range(200)]
            assert (space.encode(designs).options == found.options).all()


def test_actions_are_only_those_an_agent_may_take() -> None:
    found = episode(ZONE)
    _, _, trace = explored(found)
    names = {step.action.name for step in trace.steps}
    assert names == {"query_environment", "deploy", "submit", "report"}
