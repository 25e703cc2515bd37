"""Every episode has exactly one of nine endings, and the evidence decides which kind of right."""

import pytest

from whybench.causal.seeds import Stream
from whybench.episode.action import Action
from whybench.episode.registry import families
from whybench.families.causallink.score import ERROR_MODES, PROOF

FAMILY = families()["causallink"]


def named(structure: str, start: int, x: int, y: int) -> int:
    from whybench.families.causallink.world.generate import enumerated

    return next(
        index
        for index, case in enumerate(enumerated("core"))
        if (case.structure, case.start, case.x, case.y) == (structure, start, x, y)
    )


def played(index: int, *actions: tuple[str, str]) -> object:
    """Play a core case by roles: x and y are the asked pair, z the third entity."""
    instance = FAMILY.suite("core")[index]
    episode = FAMILY.open(instance)
    view = episode.world.view
    third = next((v for v in range(view.n) if v not in (view.x, view.y)), view.x)
    names = {"x": view.names[view.x], "y": view.names[view.y], "z": view.names[third]}
    for name, what in actions:
        args = {"answer": what} if name == "answer" else {"shape": names[what]}
        episode.step(Action.of(name, **args))
    return FAMILY.score(instance, episode.trace)


def test_understood_lucky_premature_and_contradicted() -> None:
    both_off = named("direct", 0, 0, 1)
    assert played(both_off, ("move", "x"), ("answer", "yes")).labels["proof"] == "understood"
    assert played(both_off, ("answer", "yes")).labels["proof"] == "lucky"
    assert played(both_off, ("answer", "no")).labels["proof"] == "premature"
    wrong = played(both_off, ("move", "x"), ("answer", "no"))
    assert wrong.labels["proof"] == "contradicted"
    assert wrong.labels["bias"] == "illusive_confounder_bias"
    assert wrong.values["illusive_confounder_bias"] == 1


def test_wasted_steps_and_regret() -> None:
    both_off = named("direct", 0, 0, 1)
    score = played(both_off, ("move", "x"), ("hold", "x"), ("move", "y"), ("answer", "yes"))
    assert score.values["wasted_steps"] == 2
    assert (score.values["experiments"], score.values["regret"]) == (3, 2)
    guessed = played(both_off, ("answer", "yes"))
    assert (guessed.values["experiments"], guessed.values["regret"]) == (0, None)
    at_once = named("direct", 0b10, 1, 0)
    score = played(at_once, ("move", "x"), ("answer", "no"))
    assert score.values["wasted_steps"] == 1
    assert score.labels["proof"] == "understood"


def test_the_papers_root_cause_example_in_a_mediation() -> None:
    score = played(named("mediation", 0b111, 1, 2), ("hold", "x"), ("hold", "z"), ("answer", "no"))
    assert score.labels["bias"] == "root_cause_bias"
    assert score.labels["proof"] == "premature"


def test_shares_sum_to_one_on_random_play() -> None:
    stream = Stream("shares")
    suite = FAMILY.suite("advanced")
    seen = set()
    for _ in range(400):
        instance = suite[stream.below(len(suite))]
        episode = FAMILY.open(instance)
        names = episode.world.view.names
        for _ in range(stream.below(14)):
            episode.step(
                stream.choice(
                    [
                        Action.of("move", shape=stream.choice(names)),
                        Action.of("hold", shape=stream.choice(names)),
                        Action.of("hold", shape=stream.choice(names)),
                        Action.of("hold", shape="nothing"),
                        Action.malformed("?"),
                        Action.of("answer", answer=stream.choice(["yes", "no", "hm"])),
                    ]
                )
            )
        score = FAMILY.score(instance, episode.trace)
        assert sum(score.values[name] for name in PROOF + ERROR_MODES) == 1
        seen.add(score.outcome)
        right = score.values["understood"] + score.values["lucky"]
        assert score.values["accuracy"] == right
    assert {"answered", "invalid_format", "invalid_action", "unfinished"} <= seen


@pytest.mark.parametrize("suite", ["core", "core_distinct", "collider", "advanced", "large"])
def test_the_exact_agent_proves_every_instance_within_its_bound(suite: str) -> None:
    from whybench.episode.episode import play

    steps = []
    for instance in FAMILY.suite(suite, parameters={"graphs": 10} if suite == "large" else None):
        trace = play(FAMILY.open(instance), FAMILY.agent("exact", instance))
        score = FAMILY.score(instance, trace)
        assert score.values["understood"] == 1
        assert score.values["wasted_steps"] == 0
        world = FAMILY.world(instance)
        if suite in ("advanced", "large"):
            assert score.values["experiments"] <= world.view.n - 1
        steps.append(score.values["experiments"])
    if suite == "core":
        assert sum(steps) / len(steps) <= 1.25


def test_the_exact_agent_never_sees_the_truth(monkeypatch: pytest.MonkeyPatch) -> None:
    """Started on a look_alike world, it acts the same until it has seen something different."""
    differed = 0
    for name, index in [("core", i) for i in range(0, 84, 3)] + [
        ("advanced", 700),
        ("advanced", 3),
    ]:
        instance = FAMILY.suite(name)[index]
        for look_alike in FAMILY.look_alikes(instance):
            own, moves = FAMILY.open(instance), FAMILY.agent("exact", instance)
            with monkeypatch.context() as patch:
                patch.setattr(type(FAMILY), "world", lambda _, __, world=look_alike.world: world)
                other = FAMILY.agent("exact", instance)
            here, there = next(moves), next(other)
            while True:
                assert here == there
                seen, shown = own.step(here), look_alike.step(there)
                if own.done or seen != shown:
                    differed += own.world.truth != look_alike.world.truth
                    break
                here, there = moves.send(seen), other.send(shown)
    assert differed > 20


def test_look_alikes_have_both_truths_wherever_the_start_allows() -> None:
    for instance in FAMILY.suite("core"):
        view = FAMILY.world(instance).view
        truths = {look_alike.world.truth for look_alike in FAMILY.look_alikes(instance)}
        settled = view.start >> view.x & 1 and not view.start >> view.y & 1
        assert truths == ({False} if settled else {True, False})


def test_equal_states_are_told_in_equal_words() -> None:
    """What an observation says depends on what is on, never on the world behind it."""
    for index in range(0, 1200, 150):
        instance = FAMILY.suite("advanced")[index]
        own = FAMILY.open(instance)
        for look_alike in FAMILY.look_alikes(instance):
            for name in own.world.view.names:
                action = Action.of("hold", shape=name)
                a, b = FAMILY.open(instance), FAMILY.open_world(instance, look_alike.world)
                seen, shown = a.step(action), b.step(action)
                for template in FAMILY.templates:
                    same = a.describe(seen, template) == b.describe(shown, template)
                    assert same == (seen == shown)


def test_a_trace_of_another_instance_is_refused() -> None:
    suite = FAMILY.suite("core")
    with pytest.raises(ValueError, match="this is a trace of"):
        FAMILY.score(suite[1], FAMILY.open(suite[0]).trace)
