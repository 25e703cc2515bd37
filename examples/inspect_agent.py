"""A solver of one's own on a task of WhyBench: Inspect keeps its logs, limits and parallel runs.

inspect eval whybench/causallink --solver examples/inspect_agent.py --model none/none

The task's own solver asks a model through tools or in a dialogue. This one asks `choose`. An agent
that needs the model of the evaluation calls `get_model().generate(...)` in the loop.
"""

from agent import choose
from inspect_ai.solver import Generate, Solver, TaskState, solver

from whybench.interfaces.inspectai.record import EPISODE, located, to_store
from whybench.interfaces.session import Session


@solver
def own_agent() -> Solver:
    """Play a sample's episode, and leave its record for the task's scorer."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        _, instance = located(state.metadata)
        session = Session(instance)
        texts = [session.brief]
        try:
            while not session.done:
                name, args = choose(session.tools, texts)
                texts.append(session.call(name, args).text)
        finally:  # a limit of Inspect's may end the loop: what was done until then counts
            state.store.set(EPISODE, to_store(session.trace, crashed=False))
        return state

    return solve
