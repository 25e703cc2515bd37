"""What a server is told, on the command line and by variables of the environment."""

import pytest
from fastapi.testclient import TestClient

from whybench_openenv.server import app_from_environment, main, make_app


def test_variables_of_the_environment_are_options(monkeypatch):
    told = {"SUITE": "causalab", "SPLIT": "eval", "ROWS": "60", "SESSIONS": "2", "PINNED": "true"}
    for name, value in {**told, "PARAMETERS": "{}", "SUITE_SEED": "other"}.items():
        monkeypatch.setenv(f"WHYBENCH_OPENENV_{name}", value)
    client = TestClient(app_from_environment())
    assert "causalab/main_5" in client.get("/metadata").json()["description"]
    assert "pinned" in client.post("/reset", json={"split": "train"}).json()["detail"]
    with client.websocket_connect("/ws") as wire:
        wire.send_json({"type": "reset", "data": {"index": 1}})
        assert wire.receive_json()["data"]["observation"]["tools"]
        wire.send_json({"type": "state"})
        state = wire.receive_json()["data"]
    assert (state["split"], state["index"], state["instance"]["family"]) == ("eval", 1, "causalab")
    assert state["instance"]["seed"] == "other"


def test_sessions_are_bounded_and_room_comes_back():
    def first_reply(wire):
        wire.send_json({"type": "reset", "data": {"seed": 1}})
        return wire.receive_json()["data"]

    with TestClient(make_app(sessions=2)) as client:
        with client.websocket_connect("/ws") as one, client.websocket_connect("/ws") as two:
            assert all("observation" in first_reply(wire) for wire in (one, two))
            with client.websocket_connect("/ws") as refused:
                assert refused.receive_json()["data"]["code"] == "CAPACITY_REACHED"
            one.send_json({"type": "step", "data": {"line": "answer no"}})
            assert one.receive_json()["data"]["done"]
        with client.websocket_connect("/ws") as again:
            assert "observation" in first_reply(again)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--suite", "no/where"], "no suite"),
        (["--split", "test"], "Unknown split"),
        (["--parameters", "{"], "--parameters"),
        (["--sessions", "0"], "max_concurrent_envs"),
        (["--seed", "-1"], "0 or more"),
    ],
)
def test_a_bad_command_line_is_refused_with_reasons(arguments, said, capsys):
    with pytest.raises(SystemExit):
        main(arguments)
    assert said in capsys.readouterr().err
