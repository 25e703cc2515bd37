"""Labels against a recomputation in fractions; experiments and regret."""

import json
from collections import Counter
from fractions import Fraction
from math import comb

import pytest

from whybench.causal.seeds import Stream
from whybench.episode.action import Action
from whybench.episode.episode import play
from whybench.families.causalgame import FAMILY
from whybench.families.causalgame.proof.established import LABELS, established
from whybench.families.causalgame.view import view
from whybench.families.causalgame.world.design import SUFFIX

SUITES = (
    "antenna_trap",
    "deployment_zone_trap_categorical",
    "weather_noise",
    "deployment_zone_trap_env_shift",
)
LEVEL = Fraction(1, 20)


def tails(flown: int, returned: int, bar: float) -> tuple[Fraction, Fraction]:
    """Return the probability of at least, and of at most, so many returns at the bar."""
    p = Fraction(str(bar))
    chance = [comb(flown, k) * p**k * (1 - p) ** (flown - k) for k in range(flown + 1)]
    return sum(chance[returned:], Fraction(0)), sum(chance[: returned + 1], Fraction(0))


def expected(steps, bar: float, known: bool) -> str | None:
    """Return the label from what the agent was shown."""
    flown: Counter[str] = Counter()
    returned: Counter[str] = Counter()
    for step in steps:
        data = step.observation.data
        text = json.dumps([step.action.args.get(name) for name in ("design", "equipment")])
        if step.action.name == "deploy":
            flown[text] += data["deployed"]
            returned[text] += data["survived"]
        elif step.action.name == "submit":
            if not known:
                return "unknown"
            more, less = tails(flown[text], returned[text], bar)
            level = LEVEL / len(flown)
            if data["survival_rate"] >= bar:
                return "understood" if more <= level else "lucky"
            return "contradicted" if less <= level else "premature"
    return None


def episode_of(number: int, luck: Stream):
    suite = SUITES[number % len(SUITES)]
    instance = FAMILY.suite(suite, seed="labels", profile="published").row(luck.below(1620))
    world = FAMILY.world(instance)
    told = view(world)
    best = FAMILY.truth(instance)["best_known"]
    names = [name + SUFFIX for name in told.components]
    pool = [
        (best["design"], best["equipment"]),
        (dict(zip(names, told.defaults, strict=True)), {}),
        (best["design"] | {luck.choice(names): 0}, best["equipment"]),
    ]
    args = [
        {"design": json.dumps(d)} | ({"equipment": json.dumps(e)} if e else {}) for d, e in pool
    ]
    episode = FAMILY.open(instance)
    for _ in range(1 + luck.below(5)):
        episode.step(Action.of("deploy", count=str(1 + luck.below(40)), **luck.choice(args)))
    if luck.below(20):
        episode.step(Action.of("submit", **luck.choice(args)))
    return episode, number % len(SUITES) < 2


@pytest.mark.parametrize("count", [60, pytest.param(1000, marks=pytest.mark.slow)])
def test_labels_equal_a_recomputation_in_fractions(count: int) -> None:
    luck, seen = Stream("labels of fleets"), Counter[str | None]()
    for number in range(count):
        episode, known = episode_of(number, luck)
        score = FAMILY.score_episode(episode)
        label = expected(episode.trace.steps, episode.view.threshold, known)
        assert score.labels["proof"] == label, number
        shown = [score.values[name] for name in LABELS]
        assert shown == [None if label == "unknown" else float(name == label) for name in LABELS]
        assert FAMILY.understood(score.values) == float(label == "understood")
        seen[label] += 1
    assert min(seen[label] for label in (*LABELS, "unknown", None)) > 0


def test_tails_are_those_of_fractions_for_all_small_samples() -> None:
    for bar in (0.55, 0.725, 0.85):
        for flown in range(0, 41, 4):
            for returned in range(flown + 1):
                more, less = tails(flown, returned, bar)
                said = established(flown, returned, bar)
                assert said == (more <= LEVEL and flown > 0, less <= LEVEL and flown > 0)


def test_uncounted_deployments_tell_nothing() -> None:
    instance = FAMILY.suite("antenna", parameters={"counts": False})[0]
    trace = play(FAMILY.open(instance), FAMILY.agent("oracle", instance))
    assert FAMILY.score(instance, trace).values["lucky"] is None


def test_regret_counts_experiments_beyond_those_of_the_exact_agent() -> None:
    instance = FAMILY.suite("antenna")[1]
    exact = len(FAMILY.experiments(FAMILY.exact_run(instance)))
    best = {k: json.dumps(v) for k, v in FAMILY.truth(instance)["best_known"].items() if v}
    episode = FAMILY.open(instance)
    for _ in range(5):
        episode.step(Action.of("deploy", count="40", **best))
    episode.step(Action.of("submit", **best))
    score = FAMILY.score_episode(episode)
    assert score.labels["proof"] == "understood"
    assert (score.values["experiments"], score.values["regret"]) == (5, 5 - exact)
    null = play(FAMILY.open(instance), FAMILY.agent("null", instance))
    assert FAMILY.score(instance, null).values["regret"] is None
    given = FAMILY.open(instance, evidence="optimal")
    given.step(Action.of("submit", design="{}"))
    values = FAMILY.score_episode(given).values
    assert (values["experiments"], values["regret"]) == (0.0, None)
