"""A tool call that a model writes as text is run if it can mean one thing only."""

import json

import pytest
from tests.effort import calls

from whybench.episode.action import ActionSpec, Argument
from whybench.episode.registry import families, load_suite
from whybench.interfaces.calls_in_text import call_in_text
from whybench.interfaces.lines import read_action
from whybench.interfaces.session import Session

SPECS = (
    ActionSpec("hold", "Hold a shape.", (Argument("shape", "its name"),)),
    ActionSpec("next", "Go on."),
)
CALL = '{"name": "hold", "arguments": {"shape": "circle"}}'

READ = {
    "bare": CALL,
    "other words": '{"tool": "hold", "args": {"shape": "circle"}}',
    "mixed words": '{"tool": "hold", "arguments": {"shape": "circle"}}',
    "a code block": f"```json\n{CALL}\n```",
    "a code block without a language": f"I hold it.\n\n```\n{CALL}\n```\nThen we will see.",
    "indented": json.dumps(json.loads(CALL), indent=2),
    "tags": f"<tool_call>\n{CALL}\n</tool_call>",
    "an open tag": f"<tool_call>{CALL}",
    "a sentence": f"So my move is {CALL}.",
    "arguments as text": '{"name": "hold", "arguments": "{\\"shape\\": \\"circle\\"}"}',
    "the form of an interface": (
        '{"type": "function", "function": {"name": "hold", "arguments": {"shape": "circle"}}}'
    ),
    "a list of one": f'{{"tool_calls": [{CALL}]}}',
    "more keys": '{"id": 3, "name": "hold", "arguments": {"shape": "circle"}, "thought": "x"}',
    "another object beside": f'The state is {{"circle": 1}}. {CALL}',
}
"""Replies that hold the call of `hold` for the circle, and nothing else that could be one."""

LEFT = {
    "nothing": "",
    "prose": "I hold the circle.",
    "words": "hold circle",
    "two calls": f"{CALL}\n{CALL.replace('circle', 'square')}",
    "the same call twice": f"{CALL} that is {CALL}",
    "an unknown name": CALL.replace("hold", "push"),
    "a known and an unknown name": f"{CALL} {CALL.replace('hold', 'push')}",
    "no arguments": '{"name": "next"}',
    "arguments that are no object": '{"name": "hold", "arguments": "circle"}',
    "a list as arguments": '{"name": "hold", "arguments": ["circle"]}',
    "both words": '{"name": "hold", "tool": "hold", "args": {"shape": "circle"}}',
    "a name that is no text": '{"name": ["hold"], "arguments": {}}',
    "the tool's own description": '{"name": "hold", "description": "x", "parameters": {}}',
    "cut off": CALL[:-2],
    "not JSON": CALL.replace('"', "'"),
    "too deep": '{"name": "hold", "arguments": {"shape": ' + "[" * 50 + "]" * 50 + "}}",
}


@pytest.mark.parametrize("text", READ.values(), ids=READ)
def test_one_call_is_read_from(text: str) -> None:
    action = call_in_text(text, SPECS)
    assert action is not None
    assert (action.name, action.args.asdict()) == ("hold", {"shape": "circle"})
    assert action.form == "in_text"
    assert read_action(text, SPECS) == action


@pytest.mark.parametrize("text", LEFT.values(), ids=LEFT)
def test_no_call_is_read_from(text: str) -> None:
    assert call_in_text(text, SPECS) is None
    assert read_action(text, SPECS).form == "strict"


def test_what_lies_in_arguments_is_no_other_call() -> None:
    inner = {"name": "next", "arguments": {"x": [{"tool": "hold", "args": {}}]}}
    text = json.dumps({"name": "hold", "arguments": {"shape": inner}})
    action = call_in_text(text, SPECS)
    assert action is not None
    assert json.loads(action.args["shape"]) == inner


def test_many_calls_cost_little() -> None:
    short, long = (calls(call_in_text, CALL * n, SPECS) for n in (100, 2000))
    assert long < 25 * short


@pytest.mark.parametrize("family", families())
def test_a_call_in_text_is_the_same_step_with_a_mark_and_is_counted(family: str) -> None:
    instance = families()[family].suite(next(iter(families()[family].suites)))[0]
    called, wrote = Session(instance), Session(instance)
    for action in called.family.exact_run(instance).actions:
        reply = called.act(action)
        call = json.dumps({"name": action.name, "arguments": action.args.asdict()})
        assert wrote.without_call(f"```json\n{call}\n```") == reply
    assert [s.observation for s in wrote.trace.steps] == [s.observation for s in called.trace.steps]
    score, again = wrote.score(), wrote.family.score(instance, wrote.trace)
    assert score == again
    assert score.labels["call_in_text"] == len(wrote.trace.steps)
    assert score.values[wrote.family.headline] == called.score().values[wrote.family.headline]
    assert "call_in_text" not in called.score().labels


def test_a_reply_without_a_call_is_an_error_that_names_the_tools() -> None:
    session = Session(load_suite("causallink/core")[0])
    reply = session.without_call("I think it is yes.")
    assert reply.observation.code == "invalid_format"
    assert "answer" in reply.text
    assert "call_in_text" not in session.score().labels
