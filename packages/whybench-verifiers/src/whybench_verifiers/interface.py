"""The interface for WhyBench's parity test: the loop of `verifiers` with a scripted model."""

from __future__ import annotations

import asyncio
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import verifiers.v1 as vf

from whybench import Instance, Json
from whybench_verifiers.env import load_environment
from whybench_verifiers.scripted import Called, Line, serving
from whybench_verifiers.task import INFO, task_of

if TYPE_CHECKING:
    from whybench import ParityCase

AT_ONCE = 16
"""Number of episodes that are played in parallel."""


class VerifiersInterface:
    """An interface that plays cases as rollouts of an environment."""

    name = "verifiers"
    leaves = True
    """True: a rollout may stop in the middle of an episode, here by the seat's `max_turns`."""

    def play(self, cases: Iterable[ParityCase]) -> Iterator[tuple[Json, Json, list[str]]]:
        """Yield the trace and the score of each case, as JSON data, and the texts shown."""
        played = [
            (case.instance, [Called(((name, args),)) for name, args in case.calls])
            for case in cases
        ]
        for trace in asyncio.run(roll_out(played)):
            record = trace.info[INFO]
            yield json.loads(record["trace"]), json.loads(record["score"]), told(trace)


def told(trace: vf.Trace) -> list[str]:
    """Return the instructions and the answer to each call, as in the model's requests.

    The answer to the last call is in the record, because a request seldom contains it.
    """
    record = trace.info[INFO]
    texts = [str(m.content) for m in trace.messages if m.role in {"user", "tool"}]
    shown = [*(texts or [str(trace.task.data.prompt)]), record["last"]]
    return shown[: len(json.loads(record["trace"])["steps"]) + 1]


async def roll_out(
    played: Sequence[tuple[Instance, Sequence[Line]]], **options: Any
) -> list[vf.Trace]:
    """Let scripted models play instances. A model without further replies is stopped."""
    scripts = {str(number): script for number, (_, script) in enumerate(played)}
    lengths: dict[int, list[str]] = defaultdict(list)
    for model, script in scripts.items():
        lengths[len(script)].append(model)
    found: dict[str, vf.Trace] = {}
    gate = asyncio.Semaphore(AT_ONCE)
    async with serving(lambda model, _: scripts[model]) as client:
        for turns, models in lengths.items():
            env = load_environment(agent={"max_turns": turns})

            async def run(model: str, env: vf.Env[Any] = env) -> None:
                task = task_of(played[int(model)][0], **options)
                context = vf.ModelContext(model=model, client=client)
                [slot] = env.slots(task)
                episode = await env.run_slot(slot, context, gate)
                if not episode.ok:
                    errors = [*episode.errors, *(e for t in episode.traces for e in t.errors)]
                    raise RuntimeError("; ".join(f"{e.type}: {e.message}" for e in errors))
                [found[model]] = episode.traces

            async with env.serving():
                await asyncio.gather(*map(run, models))
    return [found[model] for model in scripts]


INTERFACE = VerifiersInterface()
