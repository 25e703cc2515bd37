"""Rollouts through `verifiers`; needs the distribution `whybench-verifiers`.

python examples/verifiers_rollout.py                                  # a model that always says no
python examples/verifiers_rollout.py http://127.0.0.1:8000/v1 MODEL   # any OpenAI-like endpoint
"""

import asyncio
import sys

import verifiers.v1 as vf
from whybench_verifiers import load_environment
from whybench_verifiers.scripted import Called, serving


async def roll_out(client: vf.EvalClientConfig, model: str) -> None:
    """Let a model play every instance of a split once, and print what each rollout was paid."""
    env = load_environment("causallink/core", split="eval")
    context, gate = vf.ModelContext(model=model, client=client), asyncio.Semaphore(4)
    async with env.serving():
        for task in env.taskset.load():
            [slot] = env.slots(task)
            [trace] = (await env.run_slot(slot, context, gate)).traces
            print(task.key, trace.reward)


async def main() -> None:
    """Ask the endpoint that was named, or a scripted one."""
    if len(sys.argv) == 3:
        address, model = sys.argv[1:]
        await roll_out(vf.EvalClientConfig(base_url=address, api_key_var="API_KEY"), model)
        return
    async with serving(
        lambda _model, _instructions: [Called((("answer", {"answer": "no"}),))]
    ) as client:
        await roll_out(client, "always-no")


if __name__ == "__main__":
    asyncio.run(main())
