"""The paper's four turns, and replies read with good will but never twice."""

import json

import pytest

from whybench.causal.seeds import Stream
from whybench.episode.episode import play
from whybench.episode.registry import families

FAMILY = families()["causallink"]


def opened(index: int = 30, template: str = "plain", **options: object):
    profile = options.pop("profile", "certified")
    instance = FAMILY.suite("core", profile=profile, parameters=options.pop("parameters", None))[
        index
    ]
    episode = FAMILY.open(instance, **options)
    return instance, episode, FAMILY.conversation(episode, template)


def say(talk, **fields: object) -> None:
    talk.reply(json.dumps(fields))


def test_the_four_turns() -> None:
    _, episode, talk = opened()
    view = episode.world.view
    assert talk.turn().name == "first"
    assert "The question:" in talk.turn().prompt
    say(talk, shape=view.names[view.x], action="move")
    assert talk.turn().name == "choice"
    say(talk, next="experiment")
    assert talk.turn().name == "interaction"
    say(talk, shape=view.names[view.x], action="hold")
    say(talk, next="answer")
    assert talk.turn().name == "answer"
    say(talk, answer="no")
    assert talk.turn() is None
    assert [action.name for action in episode.trace.actions] == ["move", "hold", "answer"]
    assert all(action.form == "strict" for action in episode.trace.actions)


def test_the_schema_of_each_turn_admits_just_what_is_legal() -> None:
    _, episode, talk = opened()
    schema = talk.turn().schema
    assert schema["properties"]["shape"]["enum"] == list(episode.world.view.names)
    assert schema["required"] == ["shape", "action"]
    assert schema["additionalProperties"] is False


@pytest.mark.parametrize(
    "wrapped",
    [
        "```json\n{}\n```",
        'Perhaps {{"shape": "x"}}? Or {{"answer": "yes"}}? No. <think>{{}}</think> So: {} Done.',
        "{}\n\nThat is my choice.",
        '{{"shape": "nothing", "action": "move"}} no, rather {}',
    ],
)
def test_the_last_valid_object_wins(wrapped: str) -> None:
    _, episode, talk = opened()
    name = episode.world.view.names[0]
    talk.reply(wrapped.format(json.dumps({"Shape": name.upper(), "ACTION": "Move"})))
    assert talk.turn().name == "choice"
    assert episode.trace.actions[0].args["shape"] == name
    assert episode.trace.actions[0].form == "lenient"


def test_a_valid_object_is_preferred_to_a_later_invalid_one() -> None:
    _, episode, talk = opened()
    name = episode.world.view.names[0]
    talk.reply(
        json.dumps({"shape": name, "action": "move"}) + ' as in {"shape": "...", "action": "..."}'
    )
    assert not episode.trace.steps[0].observation.is_error


def test_strict_and_lenient_validity_are_told_apart() -> None:
    for reply, strict, lenient in (
        ('{"shape": "%s", "action": "move"}', 1, 1),
        ('{"Shape": "%s", "action": "move"}', 0, 1),
        ('{"shape": "%s", "action": "MOVE"}', 0, 1),
        ('{"shape": "%s", "action": "move", "why": "so"}', 0, 1),
        ('{"reply": {"shape": "%s", "action": "move"}}', 0, 1),
        ('Well: {"shape": "%s", "action": "move"}', 0, 1),
        ('shape %s, action "move"', 0, 0),
    ):
        instance, episode, talk = opened()
        talk.reply(reply % episode.world.view.names[0])
        values = FAMILY.score(instance, episode.trace).values
        assert (values["strict_format"], values["lenient_format"]) == (strict, lenient)


def test_a_loose_choice_marks_the_action_that_follows() -> None:
    _, episode, talk = opened()
    say(talk, shape=episode.world.view.names[0], action="move")
    talk.reply('I am sure: {"next": "answer"}')
    say(talk, answer="no")
    assert [action.form for action in episode.trace.actions] == ["strict", "lenient"]


def test_errors_are_named_and_the_turn_is_asked_again() -> None:
    _, episode, talk = opened()
    talk.reply("I do not know.")
    turn = talk.turn()
    assert turn.name == "first"
    assert "That did not work" in turn.prompt
    say(talk, shape="sphere", action="move")
    assert "there is no shape 'sphere'" in talk.turn().prompt
    assert [s.observation.code for s in episode.trace.steps] == ["invalid_format", "invalid_action"]


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "{}",
        '{"next": "experiment"}',
        '{"next": "neither"}',
        '{"answer": "yes"}',
        '{"shape": 7, "action": ["move"]}',
        '{"shape": "sphere", "action": "move"}',
        '{"shape": "sphere", "action": "malformed"}',
        '{"shape": "sphere", "action": "answer"}',
        '{"shape": ' + "[" * 40 + "]" * 40 + ', "action": "move"}',
        '{"answer": ' + "[" * 400 + "]" * 400 + "}",
        '{"x":[' * 900 + "0," * 96_000,
        "{" * 100_000,
        '{"a":' * 100_000,
        "[" * 100_000,
        '{"shape": "' + "x" * 3_000_000,
        "\ud800{\x00}",
    ],
)
@pytest.mark.parametrize("profile", ["certified", "published"])
def test_every_dialogue_ends_whatever_is_said(reply: str, profile: str) -> None:
    instance, episode, talk = opened(profile=profile)
    for _ in range(200):
        if talk.turn() is None:
            break
        talk.reply(reply)
    assert episode.done
    assert FAMILY.score(instance, episode.trace).outcome in (
        "invalid_format",
        "invalid_action",
        "answered",
        "timeout",
    )


def test_continuing_after_the_last_intervention_is_a_timeout() -> None:
    instance, episode, talk = opened()
    name = episode.world.view.names[0]
    for _ in range(50):
        turn = talk.turn()
        if turn is None:
            break
        if turn.name == "choice":
            say(talk, next="experiment")
        else:
            say(talk, shape=name, action="move")
    assert episode.outcome == "timeout"
    assert FAMILY.score(instance, episode.trace).values["experiments"] == 6


def test_given_evidence_goes_straight_to_the_answer() -> None:
    instance, episode, talk = opened(80, evidence="optimal")
    turn = talk.turn()
    assert turn.name == "answer"
    for step in episode.trace.steps:
        assert f"{step.action.name} {step.action.args['shape']}:" in turn.prompt
    trace = play(FAMILY.open(instance, evidence="optimal"), FAMILY.agent("oracle", instance))
    say(talk, **trace.actions[-1].args.asdict())
    assert episode.trace == trace


@pytest.mark.parametrize("theme", ["shapes", "workshop", "nonsense"])
@pytest.mark.parametrize("template", FAMILY.templates)
def test_every_template_speaks_every_theme(template: str, theme: str) -> None:
    _, episode, talk = opened(60, template, parameters={"theme": theme})
    words = episode.theme
    texts = [talk.system, talk.turn().prompt, episode.instructions(template)]
    talk.reply(json.dumps({words.noun: episode.world.view.names[0], "action": words.start}))
    texts.append(talk.turn().prompt)
    say(talk, next="experiment")
    texts.append(talk.turn().prompt)
    assert not any("$" in text or "  " in text or " ." in text for text in texts)
    if theme != "shapes":
        assert not any("shape" in text or "moving" in text for text in texts)


def test_where_reasons_are_invited_the_object_must_come_last() -> None:
    for reply, strict in (
        ('It could be either. {"shape": "%s", "action": "move"}', 1),
        ('{"shape": "%s", "action": "move"} because', 0),
    ):
        instance, episode, talk = opened(template="think_first")
        talk.reply(reply % episode.world.view.names[0])
        assert FAMILY.score(instance, episode.trace).values["strict_format"] == strict


def test_a_verb_that_is_a_word_of_the_protocol_is_an_unknown_action() -> None:
    for verb in ("answer", "malformed", "dance"):
        _, episode, talk = opened()
        say(talk, shape=episode.world.view.names[0], action=verb)
        assert episode.trace.steps[0].observation.code == "invalid_action"


def test_under_the_released_rules_an_unknown_name_goes_on_to_the_choice() -> None:
    _, episode, talk = opened(profile="published")
    say(talk, shape="sphere", action="move")
    assert talk.turn().name == "choice"
    assert episode.left == 5


def test_random_words_never_break_a_dialogue() -> None:
    stream = Stream("dialogue", "fuzz")
    pieces = ['{"shape":', '"action":', '"move"', "{", "}", "[", "]", '"', ",", ":", '"next"']
    pieces += ['"answer"', '"experiment"', '"yes"', "null", "1e999", "\\", "\u2028", "\ud800"]
    for _ in range(2_000):
        instance, episode, talk = opened(stream.below(84))
        words = [*pieces, *(f'"{name}"' for name in episode.world.view.names)]
        for _ in range(30):
            if talk.turn() is None:
                break
            talk.reply("".join(stream.choice(words) for _ in range(stream.below(12))))
        assert episode.done
        FAMILY.score(instance, episode.trace)
