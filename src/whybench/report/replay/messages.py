"""Compare the actions of a record with the messages of its sample.

Programs, reformatted replies and given experiments are not compared: the messages do not determine
their actions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from inspect_ai.log import EvalSample

from whybench.episode.action import MALFORMED, Action, parse_call
from whybench.episode.episode import Episode
from whybench.episode.prompts.conversation import Coding, Conversation
from whybench.episode.trace import Trace

Told = tuple[str, Any, Any]
"""What differs, as stored and as replayed."""


def in_tools(sample: EvalSample, trace: Trace, told: Sequence[str] | None) -> Iterator[Told]:
    """Yield an action that no message asks for, and an observation that no message tells.

    Args:
        sample: The sample.
        trace: The replayed trace.
        told: The replayed observations as texts; None if they are not compared.

    """
    asked = [
        parse_call(call.function, call.arguments)
        for message in sample.messages
        if message.role == "assistant"
        for call in message.tool_calls or ()
        if call.parse_error is None
    ]
    calls, texts = iter(asked), iter([m.text for m in sample.messages if m.role != "assistant"])
    for number, step in enumerate(trace.steps[trace.given :]):
        action = step.action
        plain = action.form == "strict" and action.name != MALFORMED and not action.cleaned
        if plain and not any(_key(one) == _key(action) for one in calls):
            yield "actions", action.to_json(), "no message asks for it"
            return
        if told is not None and not any(text == told[number] for text in texts):
            yield "observations", "no message tells it", told[number][:80]
            return


def in_turns(
    sample: EvalSample, talk: Conversation, episode: Episode, trace: Trace
) -> Iterator[Told]:
    """Let the replies of a sample play the conversation again. The last one may be unused."""
    replies = sum(message.role == "assistant" for message in sample.messages)
    if isinstance(talk, Coding) or replies < len(trace.steps):
        return  # a fresh turn drops the messages before it
    asked = ""
    for message in sample.messages:
        if message.role == "user":
            asked = message.text
        elif message.role == "assistant":
            turn = talk.turn()
            if turn is None or turn.fresh:
                return
            if asked != turn.prompt:
                yield "observations", asked[-80:], turn.prompt[-80:]
                return
            talk.reply(message.text)
    again = episode.trace.actions
    same = [_key(one) for one in again[: len(trace.steps)]] == [_key(a) for a in trace.actions]
    if not same or len(again) > len(trace.steps) + 1:
        yield "actions", [a.to_json() for a in trace.actions][-1:], "the messages ask for others"


def _key(action: Action) -> tuple[Any, ...]:
    return action.name, action.args.asdict()  # Inspect passes arguments in the order of the tool
