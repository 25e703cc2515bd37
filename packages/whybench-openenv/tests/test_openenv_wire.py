"""A real server and real clients: the same scores, and nothing told before the end."""

import asyncio
import json
from contextlib import contextmanager
from importlib.metadata import entry_points
from pathlib import Path

import pytest
import requests
from openenv.cli._validation import validate_multi_mode_deployment, validate_running_environment
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from whybench import (
    Meter,
    ParityCase,
    Session,
    canonical_json,
    installed_families,
    load_suite,
    parity_cases,
    parity_differences,
    thaw,
)
from whybench_openenv import interface
from whybench_openenv.client import WhyBenchAction, WhyBenchEnv
from whybench_openenv.interface import coordinates
from whybench_openenv.running import running

FAMILIES = sorted(installed_families())
EXACT = {
    "causalab": "causalab/main_4",
    "causalgame": "causalgame/antenna_no_history",
    "causallink": "causallink/large",
    "prism": "prism/lab",
    "recite": "recite/short",
    "replayscm": "replayscm/lab",
}


@pytest.fixture(scope="module")
def address():
    """One server for all: its libraries take seconds to load."""
    with running("--seed", "1000") as found:
        yield found


@pytest.fixture
def client(address):
    with WhyBenchEnv(address, connect_timeout_s=60, message_timeout_s=120).sync() as found:
        yield found


def calls_of(trace):
    return tuple((action.name, thaw(action.args)) for action in trace.actions)


def headline(family, score):
    return score.values.get(family.headline) or 0.0


@pytest.mark.parametrize("name", FAMILIES)
def test_the_reward_is_the_headline_of_the_familys_score(client, name):
    family = installed_families()[name]
    for played in parity_cases(family, 4, seed="openenv"):
        client.reset(**coordinates(played.instance))
        paid = [client.step(WhyBenchAction(name=n, args=a)).reward for n, a in played.calls]
        last = client.step(WhyBenchAction(finish=True))
        trace, score, _ = played.expected()
        assert sum(paid) + last.reward == headline(family, score)
        assert last.done
        assert last.observation.trace == canonical_json(trace.to_json())
        assert canonical_json(last.observation.score) == canonical_json(score.to_json())


@pytest.mark.parametrize("name", FAMILIES)
def test_the_exact_agents_actions_get_its_score_which_is_the_best_if_that_is_known(client, name):
    family = installed_families()[name]
    for row in (0, 1):
        instance = load_suite(EXACT[name])[row]
        client.reset(**coordinates(instance))
        trace = family.exact_run(instance)
        for call, args in calls_of(trace):
            result = client.step(WhyBenchAction(name=call, args=args))
        assert result.done
        assert result.reward == headline(family, family.score(instance, trace)) > 0
        certificate = family.certify(instance)
        if certificate.status == "proven":
            assert certificate.best_score in (None, result.reward)


def test_dense_rewards_are_the_meters(client):
    instance = load_suite("causallink/large")[3]
    calls = [("no_such", {}), *calls_of(installed_families()["causallink"].exact_run(instance))]
    session = Session(instance)
    meter = Meter(session, "dense")
    client.reset(**coordinates(instance), reward="dense")
    for name, args in calls:
        paid = client.step(WhyBenchAction(name=name, args=args)).reward
        assert paid == meter.after(session.call(name, args))


@pytest.mark.parametrize("name", FAMILIES)
def test_nothing_is_told_before_the_end_but_what_the_episode_says(client, name):
    family = installed_families()[name]
    instance = load_suite(EXACT[name])[2]
    session = Session(instance)
    first = client.reset(**coordinates(instance)).observation
    assert (first.text, first.tools) == (session.instructions, session.tools)
    told = [first]
    for call, args in [("no_such_action", {}), *calls_of(family.exact_run(instance))[:-1]]:
        result = client.step(WhyBenchAction(name=call, args=args))
        reply = session.call(call, args)
        assert (result.observation.text, result.done) == (reply.text, False)
        assert result.observation.result == reply.observation.to_json()
        told.append(result.observation)
    assert all(o.score is None and o.trace is None and not o.reward for o in told)
    state = client.state()
    where = {"family", "version", "suite", "profile", "seed", "index", "parameters", "id"}
    assert set(state.instance) == where
    shown = "episode_id step_count instance done seed index split reward template"
    assert set(state.model_dump()) == set(shown.split())
    assert (state.step_count, state.done) == (len(told) - 1, False)


def test_a_line_is_a_call_and_prose_is_an_error_of_the_agents(client):
    client.reset(seed=1, suite="causallink/core")
    prose = client.step(WhyBenchAction(line="I would rather think about it."))
    assert (prose.observation.result["code"], prose.done) == ("invalid_format", False)
    whole = client.step(WhyBenchAction(line='{"name": "answer", "args": {"answer": "no"}}'))
    assert whole.observation.score["outcome"] == "answered"


def test_an_episode_that_is_left_is_scored_as_it_stands_and_stays_left(client):
    client.reset(seed=1, suite="causallink/core")
    left = client.step(WhyBenchAction(finish=True)).observation
    assert (left.text, left.done, left.score["outcome"]) == ("", True, "unfinished")
    after = client.step(WhyBenchAction(name="answer", args={"answer": "no"}))
    assert (after.reward, after.observation.result["code"]) == (0.0, "over")
    assert (after.observation.trace, after.observation.score) == (left.trace, left.score)


def test_what_comes_after_the_end_is_not_paid_again(client):
    instance = load_suite("causallink/core")[0]
    client.reset(**coordinates(instance))
    calls = calls_of(installed_families()["causallink"].exact_run(instance))
    rewards = [
        client.step(WhyBenchAction(name=n, args=a)).reward for n, a in (*calls, *calls, calls[-1])
    ]
    assert sum(rewards) == 1.0


def test_seeds_are_honoured_on_every_connection(address, client):
    with WhyBenchEnv(address).sync() as other:
        for seed in range(5):
            for options in ({"endless": True, "split": "train"}, {"suite": "causalab"}):
                one, two = (c.reset(seed=seed, **options) for c in (client, other))
                assert one.observation == two.observation
        client.reset(endless=True)
        seed = client.state().seed
        assert seed >= 1000
        other.reset(endless=True, seed=seed)
        assert other.state().instance == client.state().instance


def test_half_characters_break_no_reply(client):
    client.reset(seed=1)
    odd = client.step(WhyBenchAction(name="answer", args={"answer": "\ud800", "\udfff": "x"}))
    assert not odd.done
    assert client.step(WhyBenchAction(line="\ud800 circle")).observation.result["code"]
    last = client.step(WhyBenchAction(finish=True)).observation
    action = json.loads(last.trace)["steps"][0]["action"]
    assert (action["args"]["answer"], action["cleaned"]) == ("\ufffd", ["surrogates"])


def test_many_sessions_at_once_do_not_mix(address):
    four = [parity_cases(installed_families()[name], 4, "openenv at once") for name in FAMILIES]
    made = [played for together in zip(*four, strict=True) for played in together]
    assert len(made) == 4 * len(FAMILIES)

    async def play(played: ParityCase):
        async with WhyBenchEnv(address, connect_timeout_s=60) as client:
            await client.reset(**coordinates(played.instance))
            for name, args in played.calls:
                await client.step(WhyBenchAction(name=name, args=args))
            return (await client.step(WhyBenchAction(finish=True))).observation

    async def all_at_once():
        return await asyncio.gather(*map(play, made))

    for played, last in zip(made, asyncio.run(all_at_once()), strict=True):
        trace, score, _ = played.expected()
        assert last.trace == canonical_json(trace.to_json())
        assert canonical_json(last.score) == canonical_json(score.to_json())


FRAMES = [
    "",
    "nonsense",
    "[]",
    "null",
    '{"type": "no such"}',
    '{"type": {}}',
    '{"type": "step"}',
    '{"type": "step", "data": []}',
    '{"type": "step", "data": {"name": 5, "args": 7, "line": [], "finish": "x", "more": 1}}',
    '{"type": "step", "data": {"name": "answer", "args": {"answer": NaN}, "metadata": 3}}',
    '{"type": "step", "data": {"name": "__class__", "args": {"__init__": {}}}}',
    '{"type": "reset", "data": {"suite": "../../etc/passwd"}}',
    '{"type": "reset", "data": {"self": 1}}',
    '{"type": "reset", "data": {"seed": {"a": 1}}}',
    '{"type": "reset", "data": {"index": 1e400}}',
    '{"type": "reset", "data": {"parameters": ' + '{"a":' * 300 + "1" + "}" * 300 + "}}",
    '{"type": "state", "data": 1}',
    '{"type": "mcp", "data": {"jsonrpc": "2.0", "method": "tools/list", "id": 1}}',
    '{"type": "mcp", "data": {"jsonrpc": "2.0", "method": "openenv/session/close", "id": 1}}',
    "[" * 200_000,
    b"\x00\xff",
    "x" * (2 << 20),
]


@pytest.mark.parametrize("frame", FRAMES, ids=lambda frame: repr(frame[:40]))
def test_no_frame_kills_the_server_or_another_session(address, client, frame):
    client.reset(seed=2)
    with connect(f"{address.replace('http', 'ws')}/ws") as raw:
        raw.send(frame)
        try:
            json.loads(raw.recv(30))
            raw.send('{"type": "close"}')
        except ConnectionClosed:
            pass
    assert client.step(WhyBenchAction(line="answer no")).done
    assert requests.get(f"{address}/health", timeout=10).json() == {"status": "healthy"}


def test_any_object_is_an_action_and_the_episode_judges(address):
    with connect(f"{address.replace('http', 'ws')}/ws") as raw:

        def ask(kind, **data):
            raw.send(json.dumps({"type": kind, "data": data}))
            return json.loads(raw.recv(30))["data"]

        ask("reset", suite="causallink/core", seed=1)
        odd = [{}, {"name": 5}, {"name": "answer", "args": []}, {"line": 5, "more": 1}]
        codes = [ask("step", **data)["observation"]["result"]["code"] for data in odd]
    assert set(codes) == {"invalid_format"}


def test_plain_requests_are_bounded_and_say_how_to_mend(address):
    def post(path, **how):
        return requests.post(f"{address}{path}", timeout=30, **how)

    assert post("/reset", json={"seed": 1}).json()["observation"]["text"]
    for path, body in (("/reset", {"suite": "x"}), ("/step", {"action": {"line": "hi"}})):
        refused = post(path, json=body)
        assert (refused.status_code, set(refused.json())) == (400, {"detail"})
    assert post("/step", data="[[[").status_code == 422
    assert post("/reset", data="x" * (2 << 20)).status_code == 413
    assert post("/mcp", json={"jsonrpc": "2.0", "method": "tools/list", "id": 1}).ok
    assert requests.get(f"{address}/state", timeout=10).json()["step_count"] == 0
    assert requests.get(f"{address}/schema", timeout=10).json().keys() >= {"action", "state"}


def test_openenv_validates_the_server(address):
    report = validate_running_environment(address)
    assert report["passed"], report["summary"]


def test_openenv_validates_the_folder_but_for_a_lock_file_which_would_hold_addresses():
    _, issues = validate_multi_mode_deployment(Path(__file__).parents[1])
    assert [issue.partition(" - ")[0] for issue in issues] == ["Missing uv.lock"]


def test_the_interface_is_registered_and_has_parity(address, monkeypatch):
    @contextmanager
    def already_running():
        yield address

    monkeypatch.setattr(interface, "running", already_running)
    found = next(p for p in entry_points(group="whybench.interfaces") if p.name == "openenv").load()
    assert (found.name, found.leaves) == ("openenv", True)
    made = [played for name in FAMILIES for played in parity_cases(installed_families()[name], 5)]
    assert list(parity_differences(found, made)) == []
    for played, (_, _, told) in zip(made[::5], found.play(made[::5]), strict=True):
        assert told == played.expected()[2]
