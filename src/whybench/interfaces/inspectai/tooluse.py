"""How a model that calls tools plays an episode, left alone or led in turns.

Annotations are evaluated here, not postponed: Inspect reads those of a tool at every call, and
would compile postponed ones each time.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import replace

from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageTool,
    ChatMessageUser,
    Model,
    execute_tools,
    get_model,
)
from inspect_ai.solver import TaskState
from inspect_ai.tool import ToolCall, ToolCallError, ToolDef, ToolParam, ToolParams

from whybench.core.canonical import Record
from whybench.episode.action import Action, ActionSpec
from whybench.episode.episode import Episode
from whybench.episode.pace import Pace

_CLIENT = re.compile(r"\bclient\s*\.\s*\w+\s*\(")
"""Text that calls a client, as a model does that takes itself to be writing programs."""


async def use_tools(state: TaskState, episode: Episode, skin: str) -> None:
    """Offer the episode's actions as tools until it ends."""
    model: Model = get_model()
    tools = [_tool(episode, spec, skin) for spec in episode.actions]
    state.messages = [ChatMessageUser(content=episode.brief(skin))]
    while not episode.done:
        state.output = await model.generate(state.messages, tools=tools)
        message = state.output.message
        state.messages.append(message)
        if is_full(state):
            return
        for call in message.tool_calls or ():
            if not episode.done:
                await _call(state, episode, message, call, tools)
        if not message.tool_calls:
            names = " or ".join(spec.name for spec in episode.actions)
            observation = episode.step(Action.malformed(f"call {names}"))
            state.messages.append(ChatMessageUser(content=episode.describe(observation, skin)))


async def use_tools_in_turns(
    state: TaskState, episode: Episode, skin: str, pace: Pace, extra: Sequence[ToolDef]
) -> None:
    """Lead a model in turns: words, then calls; at last only what ends the episode is offered.

    `extra` tools serve the model but are no actions of the episode.
    """
    tools = [_tool(episode, spec, skin) for spec in episode.actions]
    final = {spec.name for spec in episode.actions if spec.final}
    state.messages = [ChatMessageUser(content=episode.brief(skin))]
    for turn in range(1, pace.turns + pace.grace + 1):
        late = turn > pace.turns
        words = pace.late(pace.turns + pace.grace + 1 - turn) if late else pace.opening(turn)
        state.messages.append(ChatMessageUser(content=words))
        offered = [tool for tool in tools if tool.name in final] if late else [*tools, *extra]
        closed = {tool.name for tool in (*tools, *extra)} - {tool.name for tool in offered}
        await _turn(state, episode, pace, offered, {tool.name for tool in extra}, closed)
        if episode.done or is_full(state):
            return


async def _turn(
    state: TaskState,
    episode: Episode,
    pace: Pace,
    tools: list[ToolDef],
    extra: set[str],
    closed: set[str],
) -> None:
    """Let the model call tools; those that are closed by now are refused like calls too many."""
    model, made = get_model(), 0
    while made < pace.calls and not episode.done:
        state.output = await model.generate(state.messages, tools=tools)
        message = state.output.message
        state.messages.append(message)
        if is_full(state):
            return
        for call in message.tool_calls or ():
            made += 1
            if call.function in closed:
                state.messages.append(_refusal(call, pace.closed))
            elif made > pace.calls or episode.done:
                state.messages.append(_refusal(call, pace.spent))
            elif call.function in extra:
                answers = (await execute_tools([_alone(message, call)], tools)).messages
                state.messages.extend(answers)
            else:
                await _call(state, episode, message, _as_text(call), tools)
        if not message.tool_calls:
            if _CLIENT.search(message.text):
                state.messages.append(ChatMessageUser(content=pace.redirect))
                made += 1
                continue
            return


def is_full(state: TaskState) -> bool:
    """Tell whether the model could not take in its last prompt, so that it wrote nothing.

    A reply that was cut off because it was long itself is a reply.
    """
    output = state.output
    written = 0 if output.usage is None else output.usage.output_tokens
    return bool(output.choices) and output.stop_reason == "model_length" and not written


def _as_text(call: ToolCall) -> ToolCall:
    """Return a call as our tools take it: other values as their JSON text, nulls left out."""
    given = {name: value for name, value in call.arguments.items() if value is not None}
    texts = {
        n: value if isinstance(value, str) else json.dumps(value) for n, value in given.items()
    }
    return replace(call, arguments=texts)


def _refusal(call: ToolCall, reason: str) -> ChatMessageTool:
    return ChatMessageTool(
        content=reason,
        tool_call_id=call.id,
        function=call.function,
        error=ToolCallError("limit", reason),
    )


async def _call(
    state: TaskState,
    episode: Episode,
    message: ChatMessageAssistant,
    call: ToolCall,
    tools: list[ToolDef],
) -> None:
    """Run one call; one that Inspect rejects before it reaches a tool is an episode's error."""
    before = episode.count
    alone = message if message.tool_calls == [call] else _alone(message, call)
    result = await execute_tools([alone], tools)
    state.messages.extend(result.messages)
    if episode.count == before:
        episode.step(_rejected(call, result.messages, tools))


def _rejected(call: ToolCall, answers: list[ChatMessage], tools: list[ToolDef]) -> Action:
    """Return the action that stands for a call which never reached a tool."""
    if call.parse_error is None and call.function not in {tool.name for tool in tools}:
        try:
            return Action.of(call.function, **call.arguments)
        except ValueError:
            return Action.malformed("the arguments are nested too deeply")
    errors = [m.error.message for m in answers if isinstance(m, ChatMessageTool) and m.error]
    return Action.malformed(errors[-1][:200] if errors else "the call was rejected")


def _alone(message: ChatMessageAssistant, call: ToolCall) -> ChatMessageAssistant:
    return message.model_copy(update={"tool_calls": [call]})


def _tool(episode: Episode, spec: ActionSpec, skin: str) -> ToolDef:
    """Offer an action as a tool with plain strings: the episode judges them, not Inspect."""

    async def act(**args: str) -> str:
        return episode.describe(episode.step(Action(spec.name, Record(args.items()))), skin)

    parameters = ToolParams(
        properties={
            argument.name: ToolParam(type="string", description=argument.meaning)
            for argument in spec.arguments
        },
        required=[argument.name for argument in spec.arguments if not argument.optional],
    )
    return ToolDef(act, name=spec.name, description=spec.meaning, parameters=parameters)
