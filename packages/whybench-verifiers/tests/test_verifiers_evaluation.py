"""Scripted models, evaluated by `verifiers`' own runner: rewards are the scorers' own."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
import verifiers.v1 as vf
from verifiers.v1.cli.eval.runner import run_eval
from verifiers.v1.cli.replay import run_replay
from verifiers.v1.cli.validate import run_validate
from verifiers.v1.configs.cli.eval import EvalConfig
from verifiers.v1.configs.cli.replay import ReplayConfig
from verifiers.v1.configs.cli.validate import ValidateConfig
from verifiers.v1.serve.client import EnvClient
from verifiers.v1.serve.server import EnvServer

from whybench import Instance, Json, Session, Trace, installed_families, load_suite, play, thaw
from whybench_verifiers.scripted import Called, Line, serving
from whybench_verifiers.task import INFO

Call = tuple[str, dict[str, Json]]

SUITES = ("causalab/main_4", "causalgame/antenna", "causallink/advanced", "recite/short")
SUITES += ("replayscm/lab",)


def calls(agent: str, instance: Instance) -> list[Call]:
    """Return what a reference agent does, as calls."""
    family = installed_families()[instance.family]
    actions = play(family.open(instance), family.agent(agent, instance)).actions
    return [(action.name, thaw(action.args)) for action in actions]


def played_plainly(instance: Instance, made: list[Call]) -> Session:
    """Play calls on a bare session."""
    session = Session(instance)
    for name, args in made:
        session.call(name, args)
    return session


def lines(made: list[Call]) -> list[Line]:
    return [Called((call,)) for call in made]


async def evaluated(
    scripts: dict[str, list[Line]], taskset: dict[str, Any], out: Path, **more: Any
) -> list[vf.Trace]:
    """Evaluate tasks whose instructions are scripted, as the command `vf-eval` does."""
    async with serving(lambda _, instructions: scripts[instructions]) as client:
        config = EvalConfig(
            env={"taskset": taskset},
            model="scripted",
            client=client,
            push=False,
            rich=None,
            output_dir=out,
            **more,
        )
        episodes = await run_eval(config)
    assert all(episode.ok for episode in episodes), [e.errors for e in episodes]
    return [trace for episode in episodes for trace in episode.traces]


@pytest.mark.parametrize("path", SUITES)
def test_rewards_are_the_headline_of_the_same_actions(path: str, tmp_path: Path) -> None:
    suite = load_suite(path)
    family, name = suite.family, suite.family.name
    made = {suite[0].id: calls("exact", suite[0]), suite[1].id: calls("null", suite[1])}
    scripts = {Session(i).instructions: lines(made[i.id]) for i in (suite[0], suite[1])}
    assert len(scripts) == 2
    taskset = {"id": f"whybench-{name}", "split": "all", "rows": 2}
    traces = asyncio.run(evaluated(scripts, taskset, tmp_path, run={"name": "run"}))
    assert len(traces) == 2
    sessions = {i.id: played_plainly(i, made[i.id]) for i in (suite[0], suite[1])}

    for trace in traces:
        session = sessions[trace.task.data.instance["id"]]
        score = session.score()
        assert trace.rewards.keys() == {family.headline}
        assert trace.reward == score.values[family.headline]
        applying = {n: v for n, v in score.values if v is not None and n != family.headline}
        assert trace.metrics == applying
        assert json.loads(trace.info[INFO]["score"]) == score.to_json()
        if session.instance == suite[0]:
            assert trace.reward > 0
            certificate = family.certify(suite[0])
            if certificate.status == "proven":
                assert certificate.best_score in (None, trace.reward)
        else:
            assert trace.reward < 1 or score.values["lucky"] == 1  # `null` may guess right

    # What was saved is enough to play the episodes again, and to score them again.
    for line in (tmp_path / "run/traces.jsonl").read_text().splitlines():
        [record] = json.loads(line)["traces"]
        instance = family.rebuilt(record["task"]["data"]["instance"])
        trace = Trace.from_json(json.loads(record["info"][INFO]["trace"]))
        assert family.replay(instance, trace) == trace == sessions[instance.id].trace
    again = ReplayConfig(taskset={"id": f"whybench-{name}"}, rich=False)
    rescored = asyncio.run(run_replay(again, tmp_path / "run", tmp_path / "again"))
    before = {trace.id: (trace.reward, trace.metrics) for trace in traces}
    assert {trace.id: (trace.reward, trace.metrics) for trace in rescored} == before


@pytest.mark.parametrize("path", SUITES)
def test_the_check_without_a_model_finds_every_task_valid(path: str, tmp_path: Path) -> None:
    config = ValidateConfig(
        taskset={"id": "whybench-verifiers", "suite": path, "split": "all", "rows": 2},
        runtime={"type": "subprocess"},
        rich=False,
        output_dir=tmp_path,
    )
    rows = asyncio.run(run_validate(config))
    assert [row["reason"] for row in rows] == ["valid", "valid"], rows


def test_the_server_of_a_trainer_returns_the_same_reward_and_record() -> None:
    instance = load_suite("causallink/core")[7]
    made = calls("exact", instance)
    script = lines(made)

    async def trained() -> Any:
        taskset = {"id": "whybench-causallink", "suite": "core", "split": "all", "rows": 8}
        config = vf.resolve_env_config({"taskset": taskset})
        server = EnvServer(config, address="tcp://127.0.0.1:0")
        serving_env = asyncio.create_task(server.run())
        env_client = EnvClient(server.address)
        task = list(vf.load_taskset(config.taskset))[7]
        try:
            async with serving(lambda *_: script) as client:
                return await env_client.run(
                    client, "scripted", vf.SamplingConfig(), task.data.model_dump(mode="json")
                )
        finally:
            await env_client.close()
            serving_env.cancel()
            await asyncio.gather(serving_env, return_exceptions=True)

    episode = asyncio.run(asyncio.wait_for(trained(), 60))
    [trace] = episode.traces
    assert (episode.ok, trace.reward) == (True, 1.0)
    played = played_plainly(instance, made).trace
    assert json.loads(trace.info[INFO]["trace"]) == played.to_json()


def test_an_endless_list_is_evaluated_up_to_a_limit_only(tmp_path: Path) -> None:
    taskset = {"id": "whybench-causallink", "endless": True}
    with pytest.raises(ValueError, match="infinite"):
        asyncio.run(evaluated({}, taskset, tmp_path))
    config = vf.resolve_env_config({"taskset": taskset}).taskset
    [task] = vf.load_taskset(config).take(1)
    script = lines(calls("exact", task._instance()))
    select = {"limit": 1}
    found = asyncio.run(evaluated({task.data.prompt: script}, taskset, tmp_path, select=select))
    assert [trace.reward for trace in found] == [1.0]
