"""Programs of a model in an episode: its client, the analysis tool, and how programs ended.

Annotations are evaluated here, not postponed: Inspect reads those of a tool at every call.
"""

from collections import Counter
from inspect import Parameter, Signature

from inspect_ai.solver import TaskState
from inspect_ai.tool import ToolDef, ToolParam, ToolParams
from inspect_ai.util import sandbox
from pydantic import JsonValue

from whybench.causal.canonical import Record, freeze
from whybench.episode.action import Action, ActionSpec
from whybench.episode.episode import Episode
from whybench.episode.prompts.conversation import Coding
from whybench.sandbox.code_execution import ClientError, CodeRunner, Method, Ran

PROGRAMS = "whybench:programs"
"""Key of the count of programs by outcome in a sample's store."""


def client_methods(episode: Episode, talk: Coding) -> dict[str, Method]:
    """Return what a program's client offers: one method for each action of the episode."""
    return {spec.name: _method(episode, talk, spec) for spec in episode.actions}


def _method(episode: Episode, talk: Coding, spec: ActionSpec) -> Method:
    async def call(**given: JsonValue) -> JsonValue:
        try:
            args = Record((n, freeze(value)) for n, value in given.items() if value is not None)
            answer: JsonValue = talk.answer(episode.step(Action(spec.name, args)))
        except ValueError as refusal:
            raise ClientError(str(refusal)) from None
        return answer

    kind = Parameter.POSITIONAL_OR_KEYWORD
    call.__signature__ = Signature(  # type: ignore[attr-defined]
        [
            Parameter(a.name, kind, default=None if a.optional else Parameter.empty)
            for a in spec.arguments
        ]
    )
    return call


def analysis_tool(state: TaskState, talk: Coding, redirect: str) -> ToolDef:
    """Return a tool that runs a program on the records; its client only points to the tools."""
    runner = CodeRunner(sandbox(), redirect=redirect)
    spec = talk.analysis

    async def analyse(program: str) -> str:
        fenced = talk.program(program) if program.lstrip().startswith("```") else None
        ran = await runner.run(fenced or program, talk.data)
        noted(state, ran)
        return ran.output if ran.outcome == "ok" else f"{ran.output}\n[{ran.outcome}]"

    meaning = spec.arguments[0].meaning
    parameters = ToolParams(
        properties={"program": ToolParam(type="string", description=meaning)}, required=["program"]
    )
    return ToolDef(analyse, name=spec.name, description=spec.meaning, parameters=parameters)


def noted(state: TaskState, ran: Ran) -> None:
    """Count a program by how it ended."""
    counts: Counter[str] = Counter(state.store.get(PROGRAMS, {}))
    counts[ran.outcome] += 1
    state.store.set(PROGRAMS, dict(counts))
