"""A solver of one's own on a task of WhyBench: Inspect keeps its logs, limits and parallel runs.

inspect eval whybench/causallink --solver examples/inspect_agent.py --model none/none

The task's own solver asks a model through tools or in a dialogue. This one asks `choose`. An agent
that needs the model of the evaluation calls `get_model().generate(...)` in the loop.
"""

from agent import choose
from inspect_ai.solver import Generate, Solver, TaskState, solver

import whybench as wb


@solver
def own_agent() -> Solver:
    """Play a sample's episode, and leave its record for the task's scorer."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        with wb.sample_session(state) as session:
            texts = [session.instructions]
            while not session.done:
                name, args = choose(session.tools, texts)
                texts.append(session.call(name, args).text)
        return state

    return solve
