import json
import os
import signal
import socket
import subprocess
import sys
import time
from importlib.util import find_spec
from urllib.parse import urlsplit

import pytest

from whybench.interfaces import local_model

SCHEMA = {
    "type": "object",
    "properties": {
        "action": {"type": "string", "enum": ["place", "observe", "answer"]},
        "object": {"type": "string", "enum": ["red", "green", "blue"]},
    },
    "required": ["action", "object"],
    "additionalProperties": False,
}


def _absent() -> str | None:
    """What is missing for a real model, if anything."""
    missing = [name for name in ("openai", "xllamacpp") if find_spec(name) is None]
    try:
        local_model.weights()
    except RuntimeError as error:
        missing.append(str(error))
    return ", ".join(missing) or None


pytestmark = [
    pytest.mark.real_model,
    pytest.mark.skipif(_absent() is not None, reason=f"no local model: {_absent()}"),
]


def _is_open(base_url: str) -> bool:
    address = urlsplit(base_url)
    with socket.socket() as probe:
        probe.settimeout(2)
        return probe.connect_ex((address.hostname, address.port)) == 0


def test_a_schema_constrained_reply_is_valid_and_the_port_closes_afterwards() -> None:
    import openai

    with local_model.serve(context=1024) as server:
        assert urlsplit(server.base_url).hostname == "127.0.0.1"
        client = openai.OpenAI(base_url=server.base_url, api_key="x", max_retries=0)
        reply = client.chat.completions.create(
            model=server.model,
            messages=[{"role": "user", "content": "Choose an action and an object. Use JSON."}],
            max_tokens=200,
            temperature=0,
            response_format={
                "type": "json_schema",
                "json_schema": {"name": "action", "schema": SCHEMA, "strict": True},
            },
        )
    action = json.loads(reply.choices[0].message.content or "")
    assert action["action"] in {"place", "observe", "answer"}
    assert action["object"] in {"red", "green", "blue"}
    assert reply.usage is not None
    assert reply.usage.completion_tokens > 0
    assert not _is_open(server.base_url)
    assert server.process.returncode is not None


def test_a_taken_port_is_named() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with (
            pytest.raises(RuntimeError, match=f"did not start on port {port}"),
            local_model.serve(port=port, context=1024),
        ):
            pass


def test_the_network_is_not_served() -> None:
    with pytest.raises(ValueError, match="loopback"), local_model.serve(host="0.0.0.0"):
        pass


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_the_command_prints_how_to_connect_and_leaves_no_server_behind(how: signal.Signals) -> None:
    code = "from whybench.interfaces.local_model import run; run(context=1024)"
    command = subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(
            signal.SIGINT, signal.SIG_DFL
        ),  # a background job's is off
    )
    with command:
        try:
            assert command.stdout is not None
            lines = [command.stdout.readline().strip() for _ in range(3)]
            base_url = lines[1].removeprefix("export LOCAL_BASE_URL=")
            assert lines[0] == "export LOCAL_API_KEY=x"
            assert "--model openai-api/local/smollm2-135m" in lines[2]
            assert _is_open(base_url)
            os.kill(command.pid, how)
            assert command.wait(timeout=20) == (-how if how == signal.SIGKILL else 0)
        finally:
            command.kill()
    for _ in range(50):  # a killed caller leaves its child a moment to notice
        if not _is_open(base_url):
            break
        time.sleep(0.1)
    assert not _is_open(base_url)
