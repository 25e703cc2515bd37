"""The battery: legal, deterministic, blind to the truth; a remembered design does not win."""

import pytest

from whybench.episode.episode import play
from whybench.episode.guesser import Guesser
from whybench.families.causalgame import FAMILY
from whybench.families.causalgame.agents import battery
from whybench.families.causalgame.agents.battery import BATTERY

SUITES = ("zone", "env_shift")
BY_NAME = {guesser.name: guesser for guesser in BATTERY}


@pytest.fixture(autouse=True)
def few_training_worlds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(battery, "TRAINED", 4)


def test_the_family_declares_it_with_unique_names_and_reasons() -> None:
    assert FAMILY.capability("battery") is BATTERY
    assert len(BY_NAME) == len(BATTERY)
    assert {"constant", "prior_only", "memory", *FAMILY.audit["named"]} <= BY_NAME.keys()
    assert all(guesser.counts != bool(guesser.reason) for guesser in BATTERY)


@pytest.mark.parametrize("suite", SUITES)
@pytest.mark.parametrize("guesser", BATTERY, ids=lambda guesser: guesser.name)
def test_every_guesser_ends_without_an_error_and_plays_the_same_each_time(
    guesser: Guesser, suite: str
) -> None:
    train, test = (FAMILY.suite(suite, seed=seed) for seed in ("fit", "held-out"))
    instance = test.row(1619)
    traces = [play(FAMILY.open(instance), guesser.fit(train)(instance)) for _ in range(2)]
    assert traces[0] == traces[1]
    assert traces[0].outcome == "answered"
    assert not any(step.observation.is_error for step in traces[0].steps)
    made = FAMILY.score(instance, traces[0]).values["experiments"]
    if guesser.experiments == 0:
        assert made == 1, "the rules require one deployment; its result is ignored"
    else:
        assert 10 <= made <= 20


@pytest.mark.parametrize(
    "guesser", [g for g in BATTERY if g.experiments == 0], ids=lambda guesser: guesser.name
)
def test_a_guesser_without_experiments_does_not_use_how_the_system_works(guesser: Guesser) -> None:
    suite = FAMILY.suite("antenna", seed="fit")
    instance = suite[50]
    player, (other,) = guesser.fit(suite), FAMILY.look_alikes(instance)
    first, second = (play(e, player(instance)).actions for e in (FAMILY.open(instance), other))
    assert first[:-1] == second[:-1]


def test_a_remembered_design_does_not_win_elsewhere() -> None:
    player = BY_NAME["memory"].fit(FAMILY.suite("antenna", seed="fit"))
    won = 0
    for row in range(20):
        instance = FAMILY.suite("antenna", seed="held-out")[row]
        episode = FAMILY.open(instance)
        play(episode, player(instance))
        won += episode.won
    assert won <= 3
