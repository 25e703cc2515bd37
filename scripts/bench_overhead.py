"""CPU time per model call of a WhyBench task against a bare Inspect task.

Run it with `python scripts/bench_overhead.py`. Both sides: same provider, same loop, three tools,
the same messages, ten calls a sample, ending by an answer. The bare side has no episode, no trace
and a constant score.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

from inspect_ai import Task
from inspect_ai import eval as inspect_eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageUser,
    GenerateConfig,
    ModelAPI,
    ModelOutput,
    ModelUsage,
    execute_tools,
    get_model,
    modelapi,
)
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.tool import ToolCall, ToolChoice, ToolDef, ToolInfo, ToolParam, ToolParams

from whybench.episode.registry import load_suite
from whybench.interfaces.inspectai.build import build
from whybench.interfaces.inspectai.instance_selection import listed
from whybench.interfaces.inspectai.record import LIVE

CALLS = 10
SUITE = load_suite("causallink/advanced", parameters={"n": 6, "graphs": 50})


@modelapi(name="bench")
class Bench(ModelAPI):
    """Nine interventions, then an answer, whoever asks."""

    async def generate(
        self,
        input: list[ChatMessage],
        tools: list[ToolInfo],
        tool_choice: ToolChoice,
        config: GenerateConfig,
    ) -> ModelOutput:
        done = sum(message.role == "assistant" for message in input)
        live = LIVE.get(None)
        names = live.episode.world.view.names if live else ("circle",)
        if done < CALLS - 1:
            call = ToolCall(
                id=str(done), function="hold", arguments={"shape": names[done % len(names)]}
            )
        else:
            call = ToolCall(id=str(done), function="answer", arguments={"answer": "yes"})
        output = ModelOutput.from_message(ChatMessageAssistant(content="", tool_calls=[call]))
        output.usage = ModelUsage(input_tokens=100, output_tokens=10, total_tokens=110)
        return output


@solver
def bare_loop() -> Solver:
    async def solve(state: TaskState, generate: Generate) -> TaskState:
        ended = False

        def tool(name: str, argument: str) -> ToolDef:
            async def act(**args: str) -> str:
                nonlocal ended
                ended = name == "answer"
                return SHOWN

            parameters = ToolParams(
                properties={
                    argument: ToolParam(type="string", description="the name of one shape")
                },
                required=[argument],
            )
            return ToolDef(
                act, name=name, description="Make a shape moving.", parameters=parameters
            )

        tools = [tool("move", "shape"), tool("hold", "shape"), tool("answer", "answer")]
        model = get_model()
        state.messages = [ChatMessageUser(content=state.input_text)]
        while not ended:
            state.output = await model.generate(state.messages, tools=tools)
            state.messages.append(state.output.message)
            result = await execute_tools([state.output.message], tools)
            state.messages.extend(result.messages)
        return state

    return solve


@scorer(metrics=[mean()])
def constant() -> Scorer:
    async def score(state: TaskState, target: Target) -> Score:
        return Score(value=1.0)

    return score


def shown() -> str:
    episode = SUITE.family.open(SUITE[0])
    return episode.describe(episode.step(SUITE.family.agent("exact", SUITE[0]).__next__()), "plain")


SHOWN = shown()


def bare() -> Task:
    instructions = [(i.id, SUITE.family.open(i).instructions("plain")) for i in SUITE]
    samples = [Sample(id=name, input=instructions) for name, instructions in instructions]
    return Task(dataset=MemoryDataset(samples), solver=bare_loop(), scorer=constant())


def ours() -> Task:
    found = listed([SUITE])
    for position in found.positions:  # made before the clock starts, as for the bare task
        found.rows.instance(position)
    return build(found, "tools", "plain", "own", None, False)


def cpu_per_call(task: Task, samples: int) -> float:
    with tempfile.TemporaryDirectory() as folder:
        began = time.process_time()
        log = inspect_eval(
            task, model="bench/x", limit=samples, display="none", log_dir=folder,
            log_realtime=False, score_display=False,
        )[0]  # fmt: skip
        spent = time.process_time() - began
        assert log.status == "success", log.error
        calls = [sum(m.role == "assistant" for m in sample.messages) for sample in log.samples]
    assert calls == [CALLS] * samples, set(calls)
    return spent / (samples * CALLS)


def measured(side: str, samples: int) -> float:
    """Measure one side in a process of its own: a growing heap would burden whoever runs later."""
    words = [sys.executable, __file__, "--side", side, "--samples", str(samples)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    return float(done.stdout.splitlines()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=150)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--bar", type=float, default=1.10)
    parser.add_argument("--side", choices=SIDES)
    options = parser.parse_args()
    if options.side:
        with tempfile.TemporaryDirectory() as folder:
            os.environ["XDG_DATA_HOME"] = folder
            task = SIDES[options.side]()
            cpu_per_call(task, 10)
            print(1000 * cpu_per_call(task, options.samples))
        return
    spent: dict[str, list[float]] = {side: [] for side in SIDES}
    for repeat in range(options.repeats):
        for side in sorted(SIDES, reverse=repeat % 2 == 1):
            spent[side].append(measured(side, options.samples))
    ratios = [b / a for a, b in zip(spent["bare"], spent["whybench"], strict=True)]
    report = {
        "cpu_ms_per_call": {side: [round(x, 3) for x in values] for side, values in spent.items()},
        "ratios": [round(ratio, 4) for ratio in ratios],
        "ratio": round(statistics.median(ratios), 4),
        "samples": options.samples,
        "calls_per_sample": CALLS,
    }
    print(json.dumps(report, indent=2))
    if report["ratio"] > options.bar:
        sys.exit(f"the overhead misses its bar of {options.bar}")


SIDES = {"bare": bare, "whybench": ours}

if __name__ == "__main__":
    main()
