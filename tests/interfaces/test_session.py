"""What interfaces share: sessions, lines, rewards."""

import json

import pytest

from whybench.episode.action import ActionSpec, Argument
from whybench.episode.registry import families, load_suite
from whybench.interfaces.lines import read_action
from whybench.interfaces.reward import PENALTY, Meter
from whybench.interfaces.session import Session

SPECS = (
    ActionSpec("hold", "Hold a shape.", (Argument("shape", "its name"),)),
    ActionSpec("mix", "Mix.", (Argument("a", "one"), Argument("b", "other", optional=True))),
)


@pytest.mark.parametrize(
    ("line", "name", "args"),
    [
        ("hold circle", "hold", {"shape": "circle"}),
        ('{"name": "hold", "args": {"shape": "circle"}}', "hold", {"shape": "circle"}),
        ('  {"name": "hold"}', "hold", {}),
        ('{"name": "nope", "args": {"n": 2}}', "nope", {"n": "2"}),
        ('mix {"x": 1} {"y": 2}', "mix", {"a": '{"x": 1}', "b": '{"y": 2}'}),
    ],
)
def test_a_line_is_read_as_words_or_as_a_call(line: str, name: str, args: dict) -> None:
    action = read_action(line, SPECS)
    assert (action.name, action.args.asdict()) == (name, args)


@pytest.mark.parametrize("line", ["", "nope circle", '{"name": 3}', '{"name"', "{}", "[" * 9999])
def test_a_line_that_says_nothing_is_malformed(line: str) -> None:
    assert read_action(line, SPECS).name == "malformed"


def test_tools_are_the_actions_in_the_words_of_the_world() -> None:
    session = Session(load_suite("causallink/core")[0])
    assert [tool["name"] for tool in session.tools] == [s.name for s in session.episode.actions]
    for tool, spec in zip(session.tools, session.episode.actions, strict=True):
        assert list(tool["parameters"]["properties"]) == [a.name for a in spec.arguments]
        assert tool["description"] == spec.meaning
    json.dumps(session.tools)


def test_a_session_refuses_a_template_that_is_not_there() -> None:
    with pytest.raises(ValueError, match="no template 'nope'"):
        Session(load_suite("causallink/core")[0], "nope")


@pytest.mark.parametrize("family", families())
def test_an_episode_that_was_left_stays_as_it_stands(family: str) -> None:
    instance = families()[family].suite(next(iter(families()[family].suites)))[0]
    session = Session(instance)
    session.call("no_such_action", {})
    trace, score = session.trace, session.score()
    assert not session.done
    session.leave()
    assert session.done
    for action in session.family.exact_run(instance).actions:
        reply = session.act(action)
        assert (reply.done, reply.observation.code) == (True, "over")
    assert session.say("no such line").text == session.call("answer", {"answer": "yes"}).text
    assert (session.trace, session.score()) == (trace, score)
    assert score.outcome == "unfinished"


def test_leaving_an_episode_that_has_ended_changes_nothing() -> None:
    session = Session(load_suite("causallink/core")[0])
    session.call("answer", {"answer": "yes"})
    score = session.score()
    session.leave()
    assert session.score() == score
    assert score.outcome == "answered"


@pytest.mark.parametrize("family", families())
def test_sparse_pays_the_headline_at_the_end_and_dense_evidence_on_the_way(family: str) -> None:
    suites = {"causalab": "main_3", "replayscm": "lab", "causalgame": "antenna"}
    suite = families()[family].suite(suites.get(family, next(iter(families()[family].suites))))
    for instance in (suite[0], suite[1]):
        moves = suite.family.exact_run(instance).actions
        paid = {}
        for pay in ("sparse", "dense"):
            session = Session(instance)
            meter = Meter(session, pay)
            first = [meter.after(session.call("no_such_action", {}))]
            paid[pay] = first + [meter.after(session.act(action)) for action in moves]
        best = session.score().values[suite.family.headline]
        assert paid["sparse"] == [*[0.0] * len(moves), best]
        assert paid["dense"][0] == -PENALTY
        gained = sum(paid["dense"]) - best + PENALTY
        assert -1e-9 <= gained <= 1 + 1e-9
