"""What a rollout makes of odd replies, limits and pay: the same as the plain episode."""

import asyncio
import json
from importlib.metadata import entry_points
from types import SimpleNamespace
from typing import Any

import pytest
import verifiers.v1 as vf

from whybench import Action, Meter, Session, canonical_json, installed_families, load_suite
from whybench_verifiers import load_environment
from whybench_verifiers.interface import INTERFACE, roll_out
from whybench_verifiers.playing import sendable
from whybench_verifiers.scripted import Called, Full, Line, Said, serving
from whybench_verifiers.task import INFO, task_of

INSTANCE = load_suite("causallink/core")[3]
SUITES = {"replayscm": "lab"}
"""Suites that are played instead of a family's first."""
ANSWER = Called((("answer", {"answer": "yes"}),))


def rolled(*script: Line, **options: Any) -> vf.Trace:
    [trace] = asyncio.run(roll_out([(INSTANCE, script)], **options))
    return trace


def episode_of(trace: vf.Trace) -> Any:
    return json.loads(trace.info[INFO]["trace"])


def test_the_interface_is_registered_and_plays_legal_and_illegal_calls_alike() -> None:
    [point] = entry_points(group="whybench.interfaces", name="verifiers")
    assert point.load() is INTERFACE
    cases = []
    for family in installed_families().values():
        instance = family.suite(SUITES.get(family.name, next(iter(family.suites))))[2]
        legal = [(a.name, a.to_json()["args"]) for a in family.exact_run(instance).actions]
        odd = [
            ("no_such_tool", {"x": [1, None, {"é": 2.5}]}),
            ("", {}),
            (legal[0][0], {}),
            (legal[0][0], {**legal[0][1], "further": "\ud800"}),
        ]
        cases += [
            SimpleNamespace(instance=instance, calls=tuple(calls))
            for calls in (odd, [*odd[:1], *legal], legal[:1], [])
        ]
    played = list(INTERFACE.play(cases))
    assert len(played) == len(cases)
    outcomes = set()
    for case, (trace, score, told) in zip(cases, played, strict=True):
        session = Session(case.instance)
        texts = [session.instructions]
        for name, args in case.calls:
            if not session.done:
                texts.append(sendable(session.call(name, args).text))
        assert told == texts
        assert canonical_json(trace) == canonical_json(session.trace.to_json())
        assert canonical_json(score) == canonical_json(session.score().to_json())
        outcomes.add(score["outcome"])
    assert {"answered", "unfinished", "invalid_action"} <= outcomes


def test_a_reply_without_a_call_is_a_malformed_step() -> None:
    session = Session(INSTANCE)
    first = session.act(Action.malformed("call move or hold or answer"))
    session.call("answer", {"answer": "yes"})
    trace = rolled(Said("I think it is yes."), ANSWER)
    assert episode_of(trace) == session.trace.to_json()
    assert [m.content for m in trace.messages if m.role == "user"] == [
        session.instructions,
        first.text,
    ]


def test_a_call_in_text_is_run_as_in_a_session() -> None:
    said = 'So: ```json\n{"name": "answer", "arguments": {"answer": "yes"}}\n```'
    session = Session(INSTANCE)
    session.without_call(said)
    trace = rolled(Said(said))
    assert episode_of(trace) == session.trace.to_json()
    assert json.loads(trace.info[INFO]["score"])["labels"]["call_in_text"] == 1


def test_arguments_that_are_no_json_are_a_step_that_can_be_mended() -> None:
    trace = rolled(Called((("answer", '{"answer": '),)), Called((("answer", "[]"),)), ANSWER)
    names = [step["action"]["name"] for step in episode_of(trace)["steps"]]
    assert names == ["malformed", "malformed", "answer"]


def test_calls_in_one_reply_are_carried_out_in_order_until_the_end() -> None:
    shape = [("hold", {"shape": "rhombus"}), ("answer", {"answer": "no"}), ("move", {})]
    steps = episode_of(rolled(Called(tuple(shape))))["steps"]
    assert [step["action"]["name"] for step in steps] == ["hold", "answer"]


def test_a_stopped_rollout_is_scored_as_it_stands() -> None:
    trace = rolled(Called((("hold", {"shape": "rhombus"}),)))
    assert trace.ok
    assert trace.stop_condition == "max_turns"
    assert json.loads(trace.info[INFO]["score"])["outcome"] == "unfinished"
    assert trace.reward == 0.0
    assert trace.metrics["unfinished"] == 1.0


@pytest.mark.parametrize("full", [Full(), Full(refused=True)])
def test_a_model_whose_window_is_full_leaves_without_a_step(full: Full) -> None:
    trace = rolled(Called((("hold", {"shape": "rhombus"}),)), full, ANSWER)
    assert (trace.ok, trace.reward) == (True, 0.0)
    assert [step["action"]["name"] for step in episode_of(trace)["steps"]] == ["hold"]


def test_a_provider_that_fails_is_an_error_and_not_a_score() -> None:
    async def failed() -> vf.Episode:
        env = load_environment()
        async with serving(lambda *_: []) as client, env.serving():
            context = vf.ModelContext(model="scripted", client=client)
            return await env.run_slot(env.slots(task_of(INSTANCE))[0], context)

    episode = asyncio.run(failed())
    assert not episode.ok
    assert not episode.traces[0].rewards
    assert episode.traces[0].last_error.type == "ProviderError"


@pytest.mark.parametrize("path", ["causallink/large", "replayscm/lab"])
def test_dense_pay_adds_up_to_the_meters_rewards(path: str) -> None:
    instance = load_suite(path)[1]
    family = installed_families()[instance.family]
    session = Session(instance)
    meter = Meter(session, "dense")
    calls = [("no_such_tool", {})]
    calls += [(a.name, a.to_json()["args"]) for a in family.exact_run(instance).actions]
    paid = sum(meter.after(session.call(name, args)) for name, args in calls)
    script = [Called((call,)) for call in calls]
    [trace] = asyncio.run(roll_out([(instance, script)], pay="dense"))
    assert trace.rewards.keys() == {family.headline, "evidence"}
    assert trace.reward == pytest.approx(paid)
    assert trace.rewards["evidence"].score > 0 > trace.rewards["evidence"].score - 1


@pytest.mark.parametrize("pay", ["sparse", "dense"])
@pytest.mark.parametrize("script", [[ANSWER], [Called((("hold", {"shape": "rhombus"}),))]])
def test_a_rollout_is_scored_once(
    script: list[Line], pay: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    scored = []
    for name in ("score", "score_episode"):
        family = installed_families()["causallink"]
        kind, plain = type(family), getattr(family, name)

        def counted(_: Any, *args: Any, plain: Any = plain) -> Any:
            scored.append(args)
            return plain(*args)

        monkeypatch.setattr(kind, name, counted)
    rolled(*script, pay=pay)
    assert len(scored) == 1


def test_a_seat_that_cannot_play_is_refused() -> None:
    async def refused(agent: dict[str, Any]) -> str:
        env = load_environment(agent=agent)
        async with serving(lambda *_: [ANSWER]) as client, env.serving():
            context = vf.ModelContext(model="scripted", client=client)
            episode = await env.run_slot(env.slots(task_of(INSTANCE))[0], context)
        return episode.traces[0].last_error.message

    assert "Omit --env.agent.harness.id" in asyncio.run(refused({"harness": {"id": "null"}}))


def test_a_sandbox_is_refused() -> None:
    harness = vf.load_harness(vf.default_agent_harness("whybench-verifiers"))
    box = SimpleNamespace(config=vf.DockerConfig())
    with pytest.raises(ValueError, match=r"runtime\.type subprocess"):
        asyncio.run(harness.setup(box))
