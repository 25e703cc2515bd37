"""The solver: one episode, played by a model through tools or in the family's conversation.

Annotations are evaluated here, not postponed: Inspect reads those of a tool at every call, and
would compile postponed ones each time.
"""

from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageTool,
    ChatMessageUser,
    GenerateConfig,
    Model,
    ResponseSchema,
    execute_tools,
    get_model,
)
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.tool import ToolCall, ToolDef, ToolParam, ToolParams
from inspect_ai.util import JSONSchema, LimitExceededError

from whybench.core.canonical import Record
from whybench.episode.action import Action, ActionSpec
from whybench.episode.conversation import Conversation, Turn
from whybench.episode.episode import Episode
from whybench.episode.trace import Evidence
from whybench.interfaces.inspectai.record import (
    EPISODE,
    GIVEN,
    LIVE,
    Live,
    located,
    to_store,
)

TOOLS = "tools"
"""The protocol of function calling; any other is a name that a family gives its conversation."""


@solver
def play_episode(
    protocol: str = TOOLS,
    skin: str = "plain",
    evidence: Evidence = "own",
    schema: bool = False,
) -> Solver:
    """Play a sample's episode.

    The episode lives here and its actions go into the store once, at the end, whatever ends it.
    """

    async def solve(state: TaskState, generate: Generate) -> TaskState:  # noqa: ARG001
        family, instance = located(state.metadata)
        given = [Action.from_json(action) for action in state.metadata.get(GIVEN, ())]
        episode = family.open(instance, evidence=evidence, given=given)
        live = Live(family, instance, episode)
        token = LIVE.set(live)
        crashed = False
        try:
            if protocol == TOOLS:
                await _use_tools(state, episode, skin)
            else:
                live.talk = family.conversation(episode, skin)
                await _converse(state, live.talk, schema)
        except Exception as error:
            crashed = not isinstance(error, LimitExceededError)
            raise
        finally:
            LIVE.reset(token)
            state.store.set(EPISODE, to_store(episode.trace, crashed))
        return state

    return solve


async def _converse(state: TaskState, talk: Conversation, schema: bool) -> None:
    model = get_model()
    state.messages = [ChatMessageSystem(content=talk.system)]
    while (turn := talk.turn()) is not None:
        if turn.fresh:
            state.messages = state.messages[:1]
        state.messages.append(ChatMessageUser(content=turn.prompt))
        config = _with_schema(turn) if schema else GenerateConfig()
        state.output = await model.generate(state.messages, config=config)
        state.messages.append(state.output.message)
        talk.reply(state.output.completion)


def _with_schema(turn: Turn) -> GenerateConfig:
    shape = JSONSchema.model_validate(turn.schema)
    return GenerateConfig(response_schema=ResponseSchema(name=turn.name, json_schema=shape))


async def _use_tools(state: TaskState, episode: Episode, skin: str) -> None:
    model: Model = get_model()
    tools = [_tool(episode, spec, skin) for spec in episode.actions]
    state.messages = [ChatMessageUser(content=episode.brief(skin))]
    while not episode.done:
        state.output = await model.generate(state.messages, tools=tools)
        message = state.output.message
        state.messages.append(message)
        for call in message.tool_calls or ():
            if not episode.done:
                await _call(state, episode, message, call, tools)
        if not message.tool_calls:
            names = " or ".join(spec.name for spec in episode.actions)
            observation = episode.step(Action.malformed(f"call {names}"))
            state.messages.append(ChatMessageUser(content=episode.describe(observation, skin)))


async def _call(
    state: TaskState,
    episode: Episode,
    message: ChatMessageAssistant,
    call: ToolCall,
    tools: list[ToolDef],
) -> None:
    """Run one call; one that Inspect rejects before it reaches a tool is an episode's error."""
    before = episode.count
    alone = message if len(message.tool_calls or ()) == 1 else _alone(message, call)
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
