"""Modes, answers and labels of an episode."""

import json
from typing import Any

import pytest

from whybench.episode.action import Action
from whybench.episode.episode import Episode, play
from whybench.episode.instance import Instance
from whybench.episode.prompts.conversation import Turn
from whybench.episode.registry import families
from whybench.families.prism.prompts.surface import TEMPLATES, surface_of
from whybench.families.prism.world.world import ANSWERS

FAMILY = families()["prism"]
TEACHING = FAMILY.suite("teaching")
FIRST = TEACHING[0]
LAB = FAMILY.suite("lab")[0]


def of_answer(answer: str, **parameters: Any) -> Instance:
    """Return an instance with this right answer."""
    suite = FAMILY.suite("teaching", parameters=parameters)
    return next(one for one in suite if FAMILY.world(one).answer == answer)


def ended(instance: Instance, evidence: str = "own", **args: str) -> Any:
    episode = FAMILY.open(instance, evidence=evidence)
    episode.step(Action.of("answer", **args))
    return FAMILY.score_episode(episode)


# Modes.


def test_without_a_laboratory_trials_are_given() -> None:
    episode = FAMILY.open(FIRST)
    assert (episode.evidence, episode.mode) == ("given", "given")
    assert [spec.name for spec in episode.actions] == ["answer"]
    assert len(episode.seen) == len(FAMILY.world(FIRST).trials)
    assert FAMILY.open(FIRST, evidence="given").instructions("table") == episode.instructions(
        "table"
    )
    for refused in ("next", "try", "open_record"):
        assert FAMILY.open(FIRST).step(Action.of(refused)).code == "invalid_action"


@pytest.mark.parametrize("template", TEMPLATES)
def test_fetched_trials_are_the_given_ones(template: str) -> None:
    world, given = FAMILY.world(FIRST), FAMILY.open(FIRST).situation(template)
    episode = FAMILY.open(FIRST, evidence="fetched")
    surface = episode.surface(template)
    hidden = surface.trial(1, world.trials[0])
    assert hidden in given
    assert hidden not in episode.instructions(template)
    told = []
    for number in range(1, len(world.trials) + 1):
        observation = episode.step(Action.of("next"))
        told.append(episode.describe(observation, template))
        assert observation.data["trial"] == number
    assert all(surface.trial(i, one) in told[i - 1] for i, one in enumerate(world.trials, 1))
    assert episode.seen == world.trials
    after = episode.step(Action.of("next"))
    assert not after.is_error
    assert "no more" in episode.describe(after, template)
    assert episode.step(Action.of("open_record")).is_error
    assert FAMILY.replay(FIRST, episode.trace) == episode.trace


def test_fetched_share_and_accuracy() -> None:
    episode = FAMILY.open(FIRST, evidence="fetched")
    play(episode, FAMILY.agent("exact", FIRST, episode.evidence_given))
    values = FAMILY.score_episode(episode).values
    assert values["accuracy"] == values["fetched"] == 1
    assert values["experiments"] == len(FAMILY.world(FIRST).trials)
    early = ended(FIRST, "fetched", answer="yes").values
    assert early["fetched"] == early["experiments"] == 0
    assert ended(FIRST, answer="yes").values["fetched"] is None


def test_a_trial_that_was_not_fetched_cannot_be_named() -> None:
    instance = of_answer("yes", justify=True)
    episode = FAMILY.open(instance, evidence="fetched")
    answer = Action.of("answer", answer="yes", trials="[1]")
    assert episode.step(answer).code == "invalid_answer"
    episode.step(Action.of("next"))
    assert episode.step(answer).code == "ok"


def test_a_laboratory_has_no_record() -> None:
    for evidence in ("given", "fetched"):
        with pytest.raises(ValueError, match="own, optimal or yoked"):
            FAMILY.open(LAB, evidence=evidence)
    other = families()["causallink"]
    with pytest.raises(ValueError, match="has no evidence 'fetched'"):
        other.open(other.suite("core")[0], evidence="fetched")


# The laboratory.


def trial_of(template: str, **changes: Any) -> Action:
    world = FAMILY.world(LAB)
    names = surface_of(LAB, world.n, template).names
    inputs = {names[v]: 1 for v in range(world.roots)}
    args = {"inputs": inputs, "held": {names[world.lab.holdable[0]]: 0}} | changes
    return Action.of("try", **{name: json.dumps(value) for name, value in args.items()})


def test_the_same_trial_in_the_names_of_any_surface() -> None:
    shown = [FAMILY.open(LAB).step(trial_of(template)) for template in TEMPLATES]
    assert all(one == shown[0] and not one.is_error for one in shown)
    world = FAMILY.world(LAB)
    assert shown[0].data["trial"] == len(world.trials) + 1
    held = surface_of(LAB, world.n, "table").names[world.lab.holdable[0]]
    assert shown[0].data["held"] == (held,)
    assert shown[0].data["values"][held] == 0


def test_illegal_trials_are_rejected_and_cost_nothing() -> None:
    world = FAMILY.world(LAB)
    names = surface_of(LAB, world.n, "table").names
    fixed = [v for v in range(world.roots, world.n) if v not in world.lab.holdable]
    every = {names[v]: 1 for v in range(world.roots)}
    wrong = [
        trial_of("table", inputs={}),
        trial_of("table", inputs={**every, names[world.roots]: 1}),
        trial_of("table", inputs=dict.fromkeys(every, 2)),
        trial_of("table", inputs=[1]),
        trial_of("table", held={"nobody": 1}),
        trial_of("table", held={names[0]: 1}),
        *(trial_of("table", held={names[v]: 1}) for v in fixed),
        Action.of("try", inputs="{", held="x"),
        Action.of("try"),
    ]
    for action in wrong:
        episode = FAMILY.open(LAB)
        assert episode.step(action).code == "invalid_action", action
        assert episode.left == world.lab.budget


def test_the_budget_ends_the_episode() -> None:
    episode = FAMILY.open(LAB)
    for _ in range(FAMILY.world(LAB).lab.budget):
        assert not episode.step(trial_of("board")).is_error
    assert episode.left == 0
    assert episode.step(trial_of("board")).code == "timeout"
    assert episode.done
    assert FAMILY.score_episode(episode).values["timeout"] == 1


def test_labels_in_a_laboratory_follow_from_the_trials() -> None:
    exact = play(FAMILY.open(LAB), FAMILY.agent("exact", LAB))
    assert FAMILY.score(LAB, exact).values["understood"] == 1
    gold = FAMILY.world(LAB).answer
    at_once = ended(LAB, answer=gold).values
    assert (at_once["accuracy"], at_once["lucky"], at_once["understood"]) == (1, 1, 0)
    for other in {*ANSWERS} - {gold}:
        assert ended(LAB, answer=other).values["premature"] == 1
        changed = exact.actions[:-1]
        told = FAMILY.replay_episode(LAB, [*changed, Action.of("answer", answer=other)], 0, "own")
        assert FAMILY.score_episode(told).values["contradicted"] == 1


# Scores.


@pytest.mark.parametrize("gold", ANSWERS)
@pytest.mark.parametrize("said", ANSWERS)
def test_claims(said: str, gold: str) -> None:
    values = ended(of_answer(gold), answer=said).values
    assert values["accuracy"] == (said == gold) == values[f"accuracy_{gold}"]
    is_open, claims = gold == "cannot", said != "cannot"
    assert values["over_claim"] == (float(claims) if is_open else None)
    assert values["under_claim"] == (None if is_open else float(not claims))
    assert values["wrong_claim"] == (None if is_open else float(claims and said != gold))
    if said == gold:
        assert {values["understood"], values["lucky"]} == {None}, "no justification was asked for"
    else:
        assert values["premature"] == is_open
        assert values["contradicted"] == (not is_open)
        assert values["lucky"] == 0


def test_a_justification_decides_between_understood_and_lucky() -> None:
    for gold in ANSWERS:
        instance = of_answer(gold, justify=True)
        exact = FAMILY.score(instance, play(FAMILY.open(instance), FAMILY.agent("exact", instance)))
        assert exact.values["understood"] == exact.values["justified"] == 1
        bare = ended(instance, answer=gold).values
        assert (bare["understood"], bare["lucky"], bare["justified"]) == (0, 1, 0)
    over = ended(of_answer("cannot", justify=True), answer="yes", trials="[1]").values
    assert (over["lucky"], over["premature"], over["justified"]) == (0, 1, 0)


def test_probabilities_are_compared_with_the_posterior() -> None:
    instance = of_answer("cannot")
    best = float(FAMILY.world(instance).posterior)
    right = ended(instance, answer="cannot", probability=f"{best}").values
    assert right["stated"] == 1
    assert right["brier_regret"] == 0
    assert right["log_regret"] == pytest.approx(0, abs=1e-9)
    sure = ended(instance, answer="cannot", probability="1").values
    assert sure["brier_regret"] == pytest.approx((1 - best) ** 2)
    assert sure["log_regret"] > 0
    decided = ended(of_answer("yes"), answer="yes", probability="1").values
    assert decided["brier_regret"] == 0
    assert decided["log_regret"] < 0.02
    silent = ended(instance, answer="cannot").values
    assert silent["stated"] == 0
    assert silent["brier_regret"] is None


# Words.


def first_turn(episode: Episode, template: str) -> Turn:
    turn = FAMILY.conversation(episode, template).turn()
    assert turn is not None
    return turn


@pytest.mark.parametrize("template", TEMPLATES)
def test_a_dialogue_in_every_mode(template: str) -> None:
    """The exact agent, through the words of the dialogue, reaches the ceiling."""
    for instance, evidence in ((FIRST, "own"), (FIRST, "fetched"), (LAB, "own"), (LAB, "optimal")):
        episode = FAMILY.open(instance, evidence=evidence)
        talk = FAMILY.conversation(episode, template)
        moves = FAMILY.agent("exact", instance, episode.evidence_given)
        action = next(moves)
        while (turn := talk.turn()) is not None:
            assert "{" in turn.prompt or episode.count > episode.given
            text, carried = talk.say(action)
            known = episode.count
            talk.reply(f"Let me think.\n{text}")
            assert carried
            assert episode.count == known + 1
            if not episode.done:
                action = moves.send(episode.trace.steps[-1].observation)
        assert FAMILY.score_episode(episode).values["accuracy"] == 1


def test_unreadable_replies_are_errors_that_can_be_corrected() -> None:
    talk = FAMILY.conversation(episode := FAMILY.open(FIRST), "prose")
    talk.turn()
    for text in ("I do not know", '{"reply": "yes"}', '{"answer": "perhaps"}'):
        talk.reply(text)
        turn = talk.turn()
        assert turn is not None
        assert "not accepted" in turn.prompt
    talk.reply('{"answer": "No", "probability": 0.25}')
    assert episode.done
    assert episode.submission.answer == "no"
    assert episode.submission.probability == 0.25


def test_the_justification_is_asked_for_in_words() -> None:
    asked = FAMILY.open(FAMILY.suite("teaching", parameters={"justify": True})[0])
    for template in TEMPLATES:
        assert "Justify your answer" in asked.instructions(template)
        assert "systems" in json.dumps(first_turn(asked, template).schema)
        assert "Justify" not in FAMILY.open(FIRST).instructions(template)
    assert [argument.name for argument in asked.actions[-1].arguments][-2:] == ["trials", "systems"]
