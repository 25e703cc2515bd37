"""Records in turns: one JSON object each, read with good will, and what is told again."""

import json
import re

import pytest
from tests.tables import together

from whybench import CANARY
from whybench.causal.seeds import Stream
from whybench.episode.action import Action
from whybench.episode.episode import play
from whybench.episode.prompts.conversation import Conversation
from whybench.episode.registry import families
from whybench.families.causalab.world.names import pool
from whybench.families.causalab.world.world import Law, Term

FAMILY = families()["causalab"]


def opened(suite: str = "main_4", index: int = 0, template: str = "plain", **parameters: object):
    profile = parameters.pop("profile", "certified")
    evidence = parameters.pop("evidence", "own")
    instance = FAMILY.suite(suite, profile=profile, parameters=parameters)[index]
    episode = FAMILY.open(instance, evidence=evidence)
    return instance, episode, FAMILY.conversation(episode, template)


def record(**fields: object) -> dict[str, object]:
    empty = {"memory": "", "thought": "", "past_data": [], "hypothesis": None, "experiment": {}}
    return empty | fields


def say(talk: Conversation, **fields: object) -> None:
    talk.reply(json.dumps(record(**fields)))


def setting(episode, value: object = 50) -> dict[str, object]:
    return {"target_prop": episode.view.names[1], "target_value": value}


def claim(episode) -> dict[str, object]:
    name = episode.view.names[1]
    return {
        "edges": [{"from": name, "to": "frequency"}],
        "coefficients": {"base": 1, f"c_{name}": 2},
    }


# Reading.


def test_an_episode_in_records() -> None:
    _, episode, talk = opened()
    say(talk, experiment=setting(episode), hypothesis=claim(episode))
    assert episode.used == 1
    assert episode.guess.linear == ((1, 2),)
    say(talk)
    assert episode.in_reactor
    assert "prediction" in talk.turn().schema["required"]
    say(talk, prediction=123.5, hypothesis=claim(episode))
    assert talk.turn() is None
    assert (episode.outcome, episode.prediction) == ("answered", 123.5)
    names = [action.name for action in episode.trace.actions]
    assert names == ["intervene", "open_reactor", "submit"]
    assert all(action.form == "strict" for action in episode.trace.actions)


@pytest.mark.parametrize("empty", [{}, None, [], ""])
def test_an_empty_experiment_opens_the_reactor(empty: object) -> None:
    _, episode, talk = opened()
    say(talk, experiment=empty)
    assert episode.opened


@pytest.mark.parametrize(
    "wrapped",
    [
        "```json\n{}\n```",
        "<think>{{maybe}}</think> I set it: {} and wait.",
        '{{"experiment": {{"target_prop": "colour", "target_value": 1}}}} no, rather {}',
        '{{"experiment": {{}}}}\n{}\n{{"note": "done"}}',
    ],
)
def test_text_around_is_forgiven_and_the_last_object_wins(wrapped: str) -> None:
    _, episode, talk = opened()
    talk.reply(wrapped.format(json.dumps(record(experiment=setting(episode, 37)))))
    assert episode.used == 1
    assert episode.bases[1] == 37
    assert episode.trace.actions[0].form == "lenient"


def test_a_record_without_all_its_fields_is_lenient() -> None:
    _, episode, talk = opened()
    talk.reply(json.dumps({"experiment": setting(episode)}))
    assert (episode.used, episode.trace.actions[0].form) == (1, "lenient")


def test_notes_that_look_like_records_do_not_act() -> None:
    """An experiment quoted in past_data is not made again: the outermost object counts."""
    _, episode, talk = opened()
    old = {"props": {}, "freq": 1, "experiment": setting(episode, 99), "prediction": 7}
    say(talk, past_data=[old, old], experiment=setting(episode, 11))
    assert episode.bases[1] == 11
    say(talk, past_data=[old])
    assert episode.opened
    say(talk, past_data=[old], prediction=8, hypothesis=claim(episode))
    assert episode.prediction == 8


def test_arguments_are_told_apart_from_numbers_nowhere() -> None:
    """A number and its text are one action, the one that the tools make."""
    traces = []
    for value in (50, "50"):
        _, episode, talk = opened()
        say(talk, experiment=setting(episode, value))
        traces.append(episode.trace)
    assert traces[0] == traces[1]
    assert traces[0].actions[0].args["value"] == "50"


def test_unreadable_replies_end_the_episode_in_time() -> None:
    instance, episode, talk = opened(max_errors=2)
    talk.reply("I would rather not.")
    assert "no JSON object with `experiment`" in talk.turn().prompt
    say(talk, experiment="density to 5")
    assert talk.turn() is None
    assert FAMILY.score(instance, episode.trace).outcome == "invalid_format"


def test_a_hypothesis_is_sent_back_with_the_reason() -> None:
    _, episode, talk = opened(max_errors=1)
    bad = {"edges": [{"from": "colour", "to": "frequency"}], "coefficients": {}}
    for _ in range(2):
        say(talk, hypothesis=bad, experiment=setting(episode))
        assert "there is no quantity 'colour'" in talk.turn().prompt
        assert "colour" in talk.turn().prompt.split("hypothesis:")[1]
    say(talk, hypothesis=bad, experiment=setting(episode))
    assert (episode.used, episode.sent_back, episode.parse_failures) == (1, 2, 1)


def test_candidates_are_read_inside_and_beside_the_hypothesis() -> None:
    for inside in (True, False):
        _, episode, talk = opened(candidates=True)
        assert "`candidates`" in talk.system
        graphs = [claim(episode)["edges"], []]
        own = claim(episode) | ({"candidates": graphs} if inside else {})
        beside = {} if inside else {"candidates": graphs}
        say(talk, hypothesis=own, experiment=setting(episode), **beside)
        assert episode.guess.candidates == (frozenset({(1, 0)}), frozenset())
    assert "`candidates`" not in opened()[2].system


# Telling.


def test_with_context_state_a_turn_stands_alone() -> None:
    _, episode, talk = opened(context="state")
    first = talk.turn()
    assert not first.fresh
    assert "Earlier measurements" in first.prompt
    kept = {"props": {"x": 1}, "freq": 987654}
    say(
        talk,
        memory="Ünïque note",
        thought="not handed on",
        past_data=[kept],
        hypothesis=claim(episode),
        experiment=setting(episode),
    )
    turn = talk.turn()
    assert turn.fresh
    for part in ("Ünïque note", "987654", f'"c_{episode.view.names[1]}": 2', "New readings:"):
        assert part in turn.prompt
    assert "Earlier measurements" not in turn.prompt
    assert "not handed on" not in turn.prompt
    say(talk, memory="another", experiment=setting(episode, 3))
    assert "Ünïque" not in talk.turn().prompt
    talk.reply(json.dumps({"experiment": setting(episode, 4)}))
    assert "another" in talk.turn().prompt
    say(talk)
    assert "The reactor is open" in talk.turn().prompt


def test_with_context_full_turns_follow_one_another() -> None:
    _, episode, talk = opened(context="full")
    say(talk, memory="a note", experiment=setting(episode))
    turn = talk.turn()
    assert not turn.fresh
    assert "a note" not in turn.prompt
    assert turn.prompt.startswith("New readings:")


def test_after_an_error_nothing_is_lost() -> None:
    """A turn that stands alone tells the records, or the last readings, again."""
    _, episode, talk = opened()
    first = talk.turn().prompt
    talk.reply("?")
    again = talk.turn().prompt
    assert all(line in again for line in first.splitlines())
    say(talk, experiment=setting(episode))
    reading = next(line for line in talk.turn().prompt.splitlines() if "New readings" in line)
    talk.reply("?")
    assert reading in talk.turn().prompt
    assert "That did not work" in talk.turn().prompt
    assert "Earlier measurements" not in talk.turn().prompt
    assert talk.turn().prompt.count("Interventions left: 11.") == 1


def test_after_an_error_with_given_evidence_it_is_all_told_again() -> None:
    _, episode, talk = opened(evidence="optimal")
    first = talk.turn().prompt
    assert first.count("was set to") == episode.trace.given > 0
    talk.reply("?")
    again = talk.turn().prompt
    assert all(line in again for line in first.splitlines())
    assert again.count("The reactor is open") == 1


def test_every_turn_says_what_cannot_be_set() -> None:
    _, episode, talk = opened("partial_4")
    for value in (1, 2):
        assert "only measured" in talk.turn().prompt
        target = episode.view.names[episode.view.targets()[0]]
        say(talk, experiment={"target_prop": target, "target_value": value})


@pytest.mark.parametrize("profile", ["certified", "published"])
def test_in_the_reactor_every_turn_shows_its_crystal_once(profile: str) -> None:
    _, episode, talk = opened(profile=profile, max_errors=9)
    say(talk)
    for reply in ({"prediction": "?"}, {"prediction": -1}, {}):
        assert talk.turn().prompt.count("The crystal in the reactor:") == 1
        say(talk, **reply)
        if talk.turn() is None:
            break
    if profile == "published":
        assert not episode.done
        assert episode.tries == 1


def test_the_check_is_a_turn() -> None:
    _, episode, talk = opened(verify=True)
    say(talk, hypothesis=claim(episode))
    assert "One check before the reactor opens" in talk.turn().prompt
    assert not episode.opened
    say(talk)
    assert episode.opened


@pytest.mark.parametrize("template", FAMILY.templates)
@pytest.mark.parametrize("suite", ["main_4", "quad_hard", "hidden_freq_2", "golden_4", "partial_4"])
def test_every_template_says_everything(suite: str, template: str) -> None:
    tolerance = 0 if suite.startswith("hidden") else 1  # elsewhere readings are rounded
    _, episode, talk = opened(suite, 1, template, verify=True, candidates=True, tolerance=tolerance)
    texts = [talk.system, talk.turn().prompt, episode.instructions(template)]
    for _ in range(2):
        say(talk)
        texts.append(talk.turn().prompt)
    assert episode.opened
    assert not any("$" in text or "  " in text for text in texts)


def test_a_record_without_experiment_only_proposes() -> None:
    _, episode, talk = opened()
    text, carried_out = talk.say(Action.of("propose", hypothesis=json.dumps(claim(episode))))
    assert carried_out
    talk.reply(text)
    assert [step.action.name for step in episode.trace.steps] == ["propose"]
    assert not episode.opened
    assert len(episode.guesses) == 1


# Schema.


@pytest.mark.parametrize("suite", ["main_4", "quad_hard"])
def test_the_schema_admits_what_agents_say(suite: str) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    instance, _, talk = opened(suite)
    for action in play(FAMILY.open(instance), FAMILY.agent("exact", instance)).actions:
        schema = talk.turn().schema
        jsonschema.Draft202012Validator.check_schema(schema)
        text, _ = talk.say(action)
        jsonschema.validate(json.loads(text), schema)
        talk.reply(text)
    assert talk.turn() is None


def test_the_schema_admits_nothing_else() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    for candidates in (False, True):
        _, episode, talk = opened(candidates=candidates)
        own = claim(episode) | ({"candidates": [[]]} if candidates else {})
        say(talk)
        valid = jsonschema.Draft202012Validator(talk.turn().schema).is_valid
        assert valid(record(prediction=1, hypothesis=own))
        assert not valid(record(hypothesis=own))
        assert not valid(record(prediction="1", hypothesis=own))
        assert not valid(record(prediction=1, hypothesis=own | {"more": 1}))
        stranger = {"edges": [{"from": "colour", "to": "frequency"}]}
        assert not valid(record(prediction=1, hypothesis=own | stranger))


# Agents speak.


@pytest.mark.parametrize("agent", FAMILY.agents)
def test_agents_reach_the_same_trace_in_words(agent: str) -> None:
    for suite, parameters in (
        ("main_4", {"verify": True}),
        ("quad_hard", {}),
        ("hidden_freq_2", {}),
    ):
        instance, episode, talk = opened(suite, 1, **parameters)
        played = play(FAMILY.open(instance), FAMILY.agent(agent, instance))
        moves = FAMILY.agent(agent, instance)
        action = next(moves)
        while talk.turn() is not None:
            text, carried_out = talk.say(action)
            assert carried_out
            talk.reply(text)
            if not episode.done:
                action = moves.send(episode.trace.steps[-1].observation)
        told = episode.trace
        assert told.outcome == played.outcome == "answered"
        for here, there in zip(told.steps, played.steps, strict=True):
            assert here.observation == there.observation
            assert here.action.name == there.action.name
            mine, theirs = here.action.args.asdict(), there.action.args.asdict()
            assert json.loads(mine.pop("hypothesis", "0")) == json.loads(
                theirs.pop("hypothesis", "0")
            )
            assert mine == theirs
        ours, expected = (FAMILY.score(instance, trace) for trace in (told, played))
        assert ours.values == expected.values


# Hostile replies.


def _deep(depth: int, around: str = "%s") -> str:
    return around % ("[" * depth + "]" * depth)


HOSTILE = [
    "",
    "{" * 100_000,
    '{"experiment": ' * 5_000,
    "x" * 100_000 + '{"experiment": {}, "memory": "' + "y" * 100_000 + '"}',
    '{"experiment": {"target_prop": "ph", "target_value": NaN}}',
    '{"experiment": {"target_prop": "ph", "target_value": 1%s}}' % ("0" * 400),
    '{"experiment": {"target_prop": "ph", "target_value": 1%s}}' % ("0" * 5000),
    '{"experiment": {"target_prop": {"a": [1]}, "target_value": [[1]]}}',
    '{"experiment": {}, "hypothesis": {"edges": [], "coefficients": {"base": 1%s}}}' % ("0" * 400),
    '{"experiment": {}, "hypothesis": {"edges": [[1, NaN]], "coefficients": {"\\ud800": null}}}',
    '{"experiment": {}, "hypothesis": {"edges": [], "coefficients": {"\\ud800": "\\udfff"}}}',
    '{"experiment": {"target_prop": "\\ud800", "target_value": 1}, "memory": "\\udc00"}',
    '{"experiment": {}, "prediction": 1e999, "candidates": 5, "hypothesis": "?"}',
    '{"experiment": [], "prediction": 1%s, "hypothesis": {"\\u0000": 1}}' % ("0" * 400),
    _deep(40, '{"experiment": {"target_prop": %s}}'),
    *(
        _deep(depth, f'{{"experiment": {{}}, "{field}": %s}}')
        for depth in (300, 800, 900, 930, 960, 990)
        for field in ("memory", "past_data", "hypothesis")
    ),
]  # fmt: skip


@together("profile", ["certified", "published"])
@together("number", range(len(HOSTILE)))
def test_hostile_replies_never_raise_and_can_be_sent_on(number: int, profile: str) -> None:
    instance, episode, talk = opened(profile=profile, candidates=True)
    for _ in range(12):
        turn = talk.turn()
        if turn is None:
            break
        turn.prompt.encode("utf-8")
        assert len(turn.prompt) < 60_000
        talk.reply(HOSTILE[number])
        talk.reply(HOSTILE[number].replace("experiment", "prediction"))
    json.dumps(episode.trace.to_json(), allow_nan=False)
    json.dumps(FAMILY.score(instance, episode.trace).to_json(), allow_nan=False)


def test_random_words_never_break_a_dialogue() -> None:
    stream = Stream("causalab", "dialogue", "fuzz")
    pieces = ['{"experiment":', '"hypothesis":', '"edges":', '"coefficients":', '{"target_prop":']
    pieces += ['"target_value":', '{"prediction":', "{", "}", "[", "]", ",", "null", "1e999", "5"]
    pieces += ['"base":', "{}", "}}", "\\", "\u2028", "\ud800", '"from":', '"to":', '"frequency"']
    for index in range(60):
        profile = ("certified", "published")[index % 2]
        instance, episode, talk = opened(index=index % 50, profile=profile, verify=True)
        words = [*pieces, *(f'"{name}"' for name in episode.view.names)]
        for _ in range(12):
            if talk.turn() is None:
                break
            talk.reply("".join(stream.choice(words) for _ in range(stream.below(14))))
        FAMILY.score(instance, episode.trace)


def test_a_sent_back_record_can_be_followed_by_the_end() -> None:
    _, episode, talk = opened()
    say(talk)
    say(talk, prediction=5)
    assert "there is no hypothesis yet" in talk.turn().prompt
    say(talk, prediction=5, hypothesis=claim(episode))
    assert talk.turn() is None
    assert episode.trace.actions[-1] == Action.of(
        "submit", frequency="5", hypothesis=json.dumps(claim(episode))
    )


# As the paper has it.


def turns(talk: Conversation, episode, count: int) -> str:
    """Let an agent only propose, and return the prompt of the last turn."""
    for _ in range(count - 1):
        talk.reply(json.dumps({"hypothesis": claim(episode), "memory": "nothing"}))
    return talk.turn().prompt


@pytest.mark.parametrize("template", ["paper", "plain"])
def test_under_the_published_rules_every_turn_shows_the_records(template: str) -> None:
    _, episode, talk = opened("scaling_4", 0, template, profile="published", regime="24o0i")
    readings = [f"{reading.values[0]:g}" for reading in episode.view.records]
    assert len(readings) == 24
    told = turns(talk, episode, 5)
    assert talk.turn().fresh
    assert [value for value in readings if f"| {value}\n" not in f"{told}\n"] == []


def test_a_golden_chain_is_shown_in_every_turn() -> None:
    _, episode, talk = opened("golden_4", 0, "paper", profile="published")
    settings = [reading for reading in episode.view.records if reading.target is not None]
    assert settings
    assert turns(talk, episode, 4).count("was set to") == len(settings)


def test_certified_turns_are_as_the_prompt_says() -> None:
    _, episode, talk = opened("golden_4")
    assert "Measurements that you do not copy into past_data are lost." in talk.system
    assert "was set to" in talk.turn().prompt
    assert "was set to" not in turns(talk, episode, 2)


@pytest.mark.parametrize("profile", ["published", "certified"])
@pytest.mark.parametrize("k", [4, 6])
def test_the_prompt_paper_does_not_tell_freqparent_from_main(k: int, profile: str) -> None:
    def masked(suite: str) -> tuple[str, ...]:
        _, episode, talk = opened(f"{suite}_{k}", 1, "paper", profile=profile)
        texts = (talk.system, talk.turn().prompt, episode.instructions("paper"))
        names = "|".join(pool())
        return tuple(re.sub(rf"\b({names})\b|-?\d+(\.\d+)?", "#", text) for text in texts)

    assert masked("main") == masked("freqparent")


def test_the_prompt_paper_tells_the_record_before_the_task_as_the_paper_does() -> None:
    orders = []
    for template in ("paper", "plain"):
        told = opened(template=template, profile="published")[2].system
        parts = ('"edges"', '"past_data"', CANARY)
        orders.append(sorted(range(3), key=lambda n: told.index(parts[n])))
    assert orders == [[0, 1, 2], [2, 0, 1]]


@pytest.mark.parametrize("profile", ["published", "certified"])
@pytest.mark.parametrize("k", [4, 6])
def test_freqparent_differs_from_main_in_the_graph_alone(k: int, profile: str) -> None:
    moved = 0
    for index in range(6):
        main, other = (
            opened(f"{suite}_{k}", index, profile=profile)[1].world
            for suite in ("main", "freqparent")
        )
        assert (main.view.names, main.bases, main.reactor) == (
            other.view.names, other.bases, other.reactor,
        )  # fmt: skip
        assert (main.records, main.law.base) == (other.records, other.law.base)
        labels = next(found for found in _swaps(k) if _relabelled(main.law, found) == other.law)
        moved += labels[0] != 0
    assert moved >= 4


def _swaps(k: int) -> list[list[int]]:
    """Return the exchanges of the frequency with each property, and no exchange at all."""
    return [[v, *(0 if u == v else u for u in range(1, k))] for v in range(k)]


def _relabelled(law: Law, labels: list[int]) -> Law:
    terms: list[list[Term]] = [[] for _ in labels]
    for effect, own in enumerate(law.terms):
        terms[labels[effect]] = [Term(labels[t.cause], t.linear, t.square) for t in own]
    return Law(tuple(tuple(sorted(own, key=lambda t: t.cause)) for own in terms), law.base)


def test_an_equation_that_contradicts_the_edges_is_sent_back() -> None:
    one, two = opened()[1].view.names[1:3]
    for equation, is_right in (
        (f"frequency = base + c_{one}*{one}", True),
        (f"resonanceFreq = 12 + 1.5 * {one.upper()}", True),
        ("", True),
        (f"frequency = base + c_{two}*{two}", False),
        (f"frequency = base + c_{one}*{one} + c_{two}*{two}", False),
        ("frequency = base", False),
    ):
        _, episode, talk = opened()
        said = claim(episode) | {"freq_equation": equation}
        say(talk, experiment=setting(episode), hypothesis=said)
        text = talk.turn().prompt
        assert ("edges and freq_equation disagree" in text) != is_right, equation
