"""The solver: a model plays one episode through tools or in the family's conversation.

Annotations are evaluated in this module, not postponed. Inspect reads the annotations of a tool at
every call and would compile postponed ones each time.
"""

from inspect_ai.model import (
    ChatMessageSystem,
    ChatMessageUser,
    GenerateConfig,
    Model,
    ResponseSchema,
    get_model,
)
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import JSONSchema, LimitExceededError, sandbox

from whybench.episode.action import Action
from whybench.episode.episode import Episode
from whybench.episode.prompts.conversation import Coding, Conversation, Mendable, Turn
from whybench.episode.trace import Evidence
from whybench.interfaces.clean_output import guarded
from whybench.interfaces.inspectai.record import (
    EPISODE,
    GIVEN,
    LIVE,
    REPLY,
    TEMPLATE,
    Live,
    located,
    to_store,
)
from whybench.interfaces.inspectai.tooluse import next_reply, use_tools, use_tools_in_turns
from whybench.interfaces.replies import is_full, lost_reply
from whybench.sandbox.code_execution import CodeRunner
from whybench.sandbox.episode_programs import analysis_tool, client_methods, noted

REPAIR = "repair"
"""Model role of a second model that reformats replies."""

TOOLS = "tools"
"""The protocol of function calling. Other protocols are names of a family's conversations."""


@solver
def play_episode(
    protocol: str = TOOLS,
    template: str | None = None,
    evidence: Evidence = "own",
    schema: bool = False,
    analysis: bool = False,
    repair: str | bool = False,
) -> Solver:
    """Play a sample's episode.

    With `analysis`, a model that calls tools may also run programs in the sample's sandbox. With
    `repair`, a second model reformats replies that cannot be read, if the family allows it. The
    value true selects the model role `repair`.

    The solver owns the episode. It writes the actions to the store once, at the end, whatever the
    reason for the end is.
    """

    async def solve(state: TaskState, generate: Generate) -> TaskState:  # noqa: ARG001
        family, instance = located(state.metadata)
        given = [Action.from_json(action) for action in state.metadata.get(GIVEN, ())]
        episode = family.open(instance, evidence=evidence, given=given)
        live = Live(family, instance, episode)
        token = LIVE.set(live)
        crashed = False
        try:
            words = state.metadata.get(TEMPLATE) or family.template_for(instance.profile, template)
            talk = family.conversation(episode, words)
            turn_limits = family.turn_limits(episode, words)
            if protocol != TOOLS:
                live.talk = talk
                await _converse(state, talk, episode, schema, repair)
            elif turn_limits is None:
                await use_tools(state, episode, words)
            else:
                extra = []
                if analysis and isinstance(talk, Coding):
                    extra = [analysis_tool(state, talk, turn_limits.redirect)]
                await use_tools_in_turns(state, episode, words, turn_limits, extra)
        except Exception as error:
            crashed = not isinstance(error, LimitExceededError)
            raise
        finally:
            LIVE.reset(token)
            tools = episode.actions if protocol == TOOLS else ()
            if lost := lost_reply(state.output, episode, live.before, tools):
                state.store.set(REPLY, lost)
            state.store.set(EPISODE, to_store(episode.trace, crashed))
        return state

    return solve


async def _converse(
    state: TaskState, talk: Conversation, episode: Episode, schema: bool, repair: str | bool
) -> None:
    """Exchange messages with the model, and run its programs in the sample's sandbox."""
    second = _second(repair)
    coding = talk if isinstance(talk, Coding) else None
    runner = None if coding is None else CodeRunner(sandbox(), client_methods(episode, coding))
    state.messages = [ChatMessageSystem(content=talk.system)]
    while (turn := talk.turn()) is not None:
        if turn.fresh:
            state.messages = state.messages[:1]
        state.messages.append(ChatMessageUser(content=turn.prompt))
        await next_reply(state, config=_with_schema(turn) if schema else None)
        if is_full(state.output):
            return
        said = state.output.completion
        program = None if coding is None else coding.program(said)
        if second is not None and isinstance(talk, Mendable):
            await _mended(talk, said, second)
            continue
        if coding is None or runner is None or program is None:
            talk.reply(said)
            continue
        ran = await runner.run(program, coding.data)
        noted(state, ran)
        coding.on_program_output(ran.output, ran.outcome)


def _second(repair: str | bool) -> Model | None:
    """Return the model that reformats replies, or None."""
    if isinstance(repair, bool):
        return guarded(get_model(role=REPAIR, required=True)) if repair else None
    return guarded(get_model(repair))


async def _mended(talk: Mendable, said: str, second: Model) -> None:
    """Read a reply. If it cannot be read, a second model reformats it first."""
    question = talk.broken(said)
    if question is None:
        talk.reply(said)
        return
    output = await second.generate(question, config=GenerateConfig(temperature=0.0))
    talk.mended(said, output.completion if output.stop_reason == "stop" else "")


def _with_schema(turn: Turn) -> GenerateConfig:
    shape = JSONSchema.model_validate(turn.schema)
    return GenerateConfig(response_schema=ResponseSchema(name=turn.name, json_schema=shape))
