"""Let a model that calls tools play an episode, freely or in turns.

Annotations are evaluated in this module, not postponed. Inspect reads the annotations of a tool at
every call and would compile postponed ones each time.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from inspect_ai.model import (
    ChatMessageAssistant,
    ChatMessageTool,
    ChatMessageUser,
    GenerateConfig,
    execute_tools,
    get_model,
)
from inspect_ai.solver import TaskState
from inspect_ai.tool import ToolCall, ToolCallError, ToolDef, ToolParam, ToolParams

from whybench.causal.canonical import Record, thaw
from whybench.episode.action import Action, ActionSpec, parse_call
from whybench.episode.episode import Episode
from whybench.episode.prompts.turn_limits import TurnLimits
from whybench.interfaces.calls_in_text import call_in_text, read_text
from whybench.interfaces.clean_output import TOO_MANY, guarded, notes_of
from whybench.interfaces.inspectai.record import LIVE
from whybench.interfaces.replies import is_full

_CLIENT = re.compile(r"\bclient\s*\.\s*\w+\s*\(")
"""Text that calls a client. Some models write it because they believe they write a program."""

WHOLE = 0
"""An observation is never cut, so that an agent sees the same text through every interface."""


async def use_tools(state: TaskState, episode: Episode, template: str) -> None:
    """Offer the episode's actions as tools until it ends."""
    offered = [_tool(episode, spec, template) for spec in episode.actions]
    tools = [_untyped(tool) for tool in offered]
    state.messages = [ChatMessageUser(content=episode.instructions(template))]
    while not episode.done:
        message = await next_reply(state, offered)
        if is_full(state.output):
            return
        for call in message.tool_calls or ():
            if not episode.done:
                await _call(state, episode, template, message, call, tools)
        if "calls" in notes_of(state.output) and not episode.done:
            _answer(state, episode, template, Action.malformed(TOO_MANY))
        if not message.tool_calls:
            _answer(state, episode, template, read_text(message.text, episode.actions))


async def use_tools_in_turns(
    state: TaskState,
    episode: Episode,
    template: str,
    turn_limits: TurnLimits,
    extra: Sequence[ToolDef],
) -> None:
    """Lead a model in turns: first text, then calls. Near the end, only final actions are offered.

    `extra` tools help the model but are not actions of the episode.
    """
    tools = [_tool(episode, spec, template) for spec in episode.actions]
    final = {spec.name for spec in episode.actions if spec.final}
    state.messages = [ChatMessageUser(content=episode.instructions(template))]
    for turn in range(1, turn_limits.turns + turn_limits.grace + 1):
        late = turn > turn_limits.turns
        words = (
            turn_limits.late(turn_limits.turns + turn_limits.grace + 1 - turn)
            if late
            else turn_limits.opening(turn)
        )
        state.messages.append(ChatMessageUser(content=words))
        offered = [tool for tool in tools if tool.name in final] if late else [*tools, *extra]
        closed = {tool.name for tool in (*tools, *extra)} - {tool.name for tool in offered}
        await _turn(
            state, episode, template, turn_limits, offered, {tool.name for tool in extra}, closed
        )
        if episode.done or is_full(state.output):
            return


async def _turn(
    state: TaskState,
    episode: Episode,
    template: str,
    turn_limits: TurnLimits,
    tools: list[ToolDef],
    extra: set[str],
    closed: set[str],
) -> None:
    """Let the model call tools. Closed tools and surplus calls are rejected in the same way."""
    made = 0
    offered, tools = tools, [tool if tool.name in extra else _untyped(tool) for tool in tools]
    while made < turn_limits.calls and not episode.done:
        message = await next_reply(state, offered)
        if is_full(state.output):
            return
        for call in message.tool_calls or ():
            made += 1
            if call.function in closed:
                state.messages.append(_refusal(call, turn_limits.closed))
            elif made > turn_limits.calls or episode.done:
                state.messages.append(_refusal(call, turn_limits.spent))
            elif reason := turn_limits.guarded(call.function):
                state.messages.append(_refusal(call, reason))
            elif call.function in extra:
                answers = (await execute_tools([_alone(message, call)], tools)).messages
                state.messages.extend(answers)
            else:
                await _call(state, episode, template, message, call, tools)
        if not message.tool_calls:
            written = call_in_text(message.text, episode.actions)
            if written is not None:
                made += 1
                if written.name in closed:
                    state.messages.append(ChatMessageUser(content=turn_limits.closed))
                elif reason := turn_limits.guarded(written.name):
                    state.messages.append(ChatMessageUser(content=reason))
                else:
                    _answer(state, episode, template, written)
                continue
            if _CLIENT.search(message.text):
                state.messages.append(ChatMessageUser(content=turn_limits.redirect))
                made += 1
                continue
            return


async def next_reply(
    state: TaskState, tools: Sequence[ToolDef] = (), config: GenerateConfig | None = None
) -> ChatMessageAssistant:
    """Return the next message of the model, and note the step at which it came."""
    config = config or GenerateConfig()
    model = guarded(get_model())
    state.output = await model.generate(state.messages, tools=list(tools), config=config)
    live = LIVE.get()
    live.episode.note(notes_of(state.output))
    live.before = live.episode.count
    state.messages.append(state.output.message)
    return state.output.message


def _refusal(
    call: ToolCall, reason: str, kind: Literal["limit", "parsing"] = "limit"
) -> ChatMessageTool:
    return ChatMessageTool(
        content=reason,
        tool_call_id=call.id,
        function=call.function,
        error=ToolCallError(kind, reason),
    )


async def _call(
    state: TaskState,
    episode: Episode,
    template: str,
    message: ChatMessageAssistant,
    call: ToolCall,
    tools: list[ToolDef],
) -> None:
    """Run one call. The episode handles calls that Inspect would reject before the tool runs."""
    action = _asked(call)
    if _fits(action, episode):
        before, fitting = episode.count, replace(call, arguments=thaw(action.args))
        ran = await execute_tools([_alone(message, fitting)], tools, max_output=WHOLE)
        state.messages.extend(ran.messages)
        if episode.count == before:  # an approver of Inspect rejected it
            episode.step(Action.malformed("the call was rejected"))
        return
    said = episode.describe(episode.step(action), template)
    state.messages.append(_refusal(call, said, "parsing"))


def _asked(call: ToolCall) -> Action:
    """Return the action of a call."""
    if call.parse_error is not None:
        return Action.malformed(call.parse_error[:200])
    return parse_call(call.function, call.arguments)


def _fits(action: Action, episode: Episode) -> bool:
    """Return whether Inspect passes the call of an action on to its tool."""
    spec = next((spec for spec in episode.actions if spec.name == action.name), None)
    if spec is None:
        return False
    given = {name for name, _ in action.args}
    needed = {argument.name for argument in spec.arguments if not argument.optional}
    return needed <= given <= {argument.name for argument in spec.arguments}


def _alone(message: ChatMessageAssistant, call: ToolCall) -> ChatMessageAssistant:
    return message.model_copy(update={"tool_calls": [call]})


def _answer(state: TaskState, episode: Episode, template: str, action: Action) -> None:
    """Run the action of a reply that called no tool, and answer with a message."""
    said = episode.describe(episode.step(action), template)
    state.messages.append(ChatMessageUser(content=said))


def _tool(episode: Episode, spec: ActionSpec, template: str) -> ToolDef:
    """Offer an action as a tool with typed arguments."""

    async def act(**args: str) -> str:
        return episode.describe(episode.step(Action(spec.name, Record(args.items()))), template)

    parameters = ToolParams.model_validate(spec.json_schema())
    return ToolDef(act, name=spec.name, description=spec.meaning, parameters=parameters)


def _untyped(tool: ToolDef) -> ToolDef:
    """Return the tool that runs a call: it takes the texts of an action, whatever they hold.

    Inspect validates arguments by the schema of the tool that runs. Only the episode may judge
    types, so that an invalid value gives the same trace through every interface.
    """
    texts = {name: ToolParam(type="string") for name in tool.parameters.properties}
    parameters = ToolParams(properties=texts, required=tool.parameters.required)
    return ToolDef(tool.tool, tool.name, tool.description, parameters=parameters)
