"""Attacks on the wire: frames, floods, limits, and the pipe (see `test_mcp_attacks.py`)."""

import json
import os
import re
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from itertools import count
from typing import Any

import pytest
from tests.interfaces.mcp.test_mcp_attacks import (
    CORE,
    GAME,
    HELLO,
    LAB,
    Client,
    Server,
    at_once,
)

pytestmark = pytest.mark.wire

SLOW = "recite/standard"
"""A suite whose instances take long to make."""

OPEN = ("--rate", "0", "--session-rate", "0")


def suites(*paths: str) -> tuple[str, ...]:
    return tuple(word for path in paths for word in ("--suites", path))


@pytest.fixture(scope="module")
def open_interface(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server without tokens or rates."""
    options = (*OPEN, *suites(CORE, LAB, GAME, SLOW), "--body", "65536")
    server = Server(tmp_path_factory.mktemp("interface"), options).start()
    yield server
    server.stop()


@pytest.fixture
def interface(open_interface: Server) -> Iterator[Server]:
    yield open_interface
    open_interface.goes_on()


@pytest.fixture(scope="module")
def small_interface(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that takes eight sessions, and ten requests a second of each."""
    options = ("--rate", "0", "--session-rate", "10", "--sessions", "8", *suites(CORE, GAME))
    server = Server(tmp_path_factory.mktemp("small"), options).start()
    yield server
    server.stop()


@pytest.fixture
def small(small_interface: Server) -> Iterator[Server]:
    yield small_interface
    small_interface.goes_on()


_INDICES = count()


def player(server: Server) -> Client:
    """Begin a session on some instance."""
    return Client.begun(server, "", f"?suite={CORE}&index={next(_INDICES) % 84}")


def frame(arguments: str = '{"answer": "yes"}', number: str = "1") -> bytes:
    """Return the text of a call that answers, with any JSON inside."""
    return (
        f'{{"jsonrpc": "2.0", "id": {number}, "method": "tools/call", '
        f'"params": {{"name": "answer", "arguments": {arguments}}}}}'
    ).encode("utf-8", "surrogatepass")


def raw(server: Server, data: bytes, patience: float = 5.0) -> bytes:
    """Send bytes as they are; return what comes back until the server hangs up or says no more."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=patience) as line:
        heard = b""
        try:
            line.sendall(data)
            while part := line.recv(65536):
                heard += part
        except OSError:
            pass
    server.heard += heard
    return heard


def head(client: Client, *lines: str, method: str = "POST") -> bytes:
    """Return the head of a request with further lines."""
    own = [f"{method} /mcp HTTP/1.1", f"Host: 127.0.0.1:{client.server.port}"]
    own += ["Content-Type: application/json", "Connection: close"]
    own += [f"{name}: {value}" for name, value in client.headers.items()]
    return "\r\n".join([*own, *lines, "", ""]).encode()


def statuses(heard: bytes) -> list[int]:
    return [int(code) for code in re.findall(rb"HTTP/1\.1 (\d{3})", heard)]


def played(client: Client) -> list[Any]:
    return list(client.read("record")["steps"])


# Frames


MALFORMED = {
    "nothing": b"",
    "a blank": b" ",
    "no JSON": b"episode_score",
    "cut off": frame()[:-3],
    "too much": frame() + b"}",
    "two frames": frame() + b"\n" + frame(),
    "a comment": b"/* */" + frame(),
    "single quotes": frame().replace(b'"', b"'"),
    "NaN": frame('{"answer": NaN}'),
    "Infinity": frame('{"answer": -Infinity}'),
    "an integer of 5000 digits": frame('{"answer": %s}' % ("9" * 5000)),
    "an id of 5000 digits": frame(number="9" * 5000),
    "invalid UTF-8": frame().replace(b"yes", b"y\xffes"),
    "overlong UTF-8": frame().replace(b"yes", b"\xc1\xb9es"),
    "half a surrogate pair, escaped": frame('{"answer": "\\ud800"}'),
    "half a surrogate pair as a key": frame('{"\\udfff": "yes"}'),
    "nested 1,500 deep": frame('{"answer": %s}' % ("[" * 1500 + "]" * 1500)),
    "nested 30,000 deep": frame('{"answer": %s' % ("[" * 30_000)),
    "a batch": b"[" + frame() + b"," + frame() + b"]",
    "an empty batch": b"[]",
    "a number": b"7",
    "null": b"null",
    "JSON-RPC 1.0": frame().replace(b"2.0", b"1.0"),
    "no version": frame().replace(b'"jsonrpc": "2.0", ', b""),
    "an id that is null": frame(number="null"),
    "an id that is a list": frame(number="[1]"),
    "an id that is an object": frame(number='{"$gt": 0}'),
    "an id that is true": frame(number="true"),
    "an id that is no whole number": frame(number="1e999"),
    "an id of 5,000 letters": frame(number='"%s"' % ("a" * 5000)),
    "params that are a list": frame().replace(b'{"name"', b'[{"name"').replace(b"}}}", b"}}]}"),
    "a method that is a number": frame().replace(b'"tools/call"', b"7"),
}  # fmt: skip


@pytest.mark.parametrize("kind", MALFORMED)
def test_a_malformed_frame_is_turned_away(interface: Server, kind: str) -> None:
    client = player(interface)
    answer = client.post(MALFORMED[kind])
    assert answer.status == 400
    assert json.loads(answer.body).keys() == {"jsonrpc", "id", "error"}
    assert played(client) == []


@pytest.mark.parametrize(
    "body",
    [
        frame().replace(b"yes", b"\xed\xa0\x80"),
        frame('{"answer": "\\ud800"}').decode().encode("utf-16"),
        frame('{"answer": "\\ud800"}').decode().encode("utf-32"),
    ],
    ids=["raw bytes of a surrogate", "UTF-16", "UTF-32"],
)
def test_half_a_surrogate_pair_does_not_come_in_by_another_coding(
    interface: Server, body: bytes
) -> None:
    client = player(interface)
    assert client.post(body).status == 400
    assert played(client) == []


ODD = {
    "a huge number": frame('{"answer": 1e999}'),
    "an integer of 4,000 digits": frame('{"answer": %s}' % ("9" * 4000)),
    "nested 300 deep": frame('{"answer": %s}' % ("[" * 300 + "]" * 300)),
    "nested 900 deep": frame('{"answer": %s}' % ('{"a":' * 900 + "1" + "}" * 900)),
    "an object": frame('{"answer": {"$ne": "no"}}'),
    "a list of both": frame('{"answer": ["yes", "no"]}'),
    "nulls": frame('{"answer": null}'),
    "50,000 letters": frame('{"answer": "%s"}' % ("y" * 50_000)),
    "control characters": frame('{"answer": "\\u0000\\u001b[2J"}'),
    "true": frame('{"answer": true}'),
    "full-width letters": frame('{"answer": "ｙｅｓ"}'),
    "another spelling of the key": frame('{"Answer": "yes"}'),
    "a second argument": frame('{"answer": "maybe", "truth": "yes"}'),
}  # fmt: skip


@pytest.mark.parametrize("kind", ODD)
def test_an_odd_argument_is_the_agents_error_and_nothing_more(interface: Server, kind: str) -> None:
    client = player(interface)
    answer = client.post(ODD[kind])
    assert answer.status == 200
    assert answer.failed
    assert len(answer.body) < 2000
    [step] = played(client)
    assert step["observation"]["code"].startswith("invalid")
    assert client.call("episode_score").data["score"]["values"]["accuracy"] == 0


def test_of_keys_given_twice_the_last_one_is_carried_out_once(interface: Server) -> None:
    client = player(interface)
    assert client.post(frame('{"answer": "yes", "answer": "no"}')).data["done"] is True
    assert [step["action"]["args"] for step in played(client)] == [{"answer": "no"}]


def test_no_depth_of_nesting_breaks_the_server(interface: Server) -> None:
    client, answers = Client.begun(interface), []
    for depth in (940, 950, *range(954, 976)):
        nested = '{"a":' * depth + "1" + "}" * depth
        body = frame(f'{{"suite": "{CORE}", "index": {nested}}}')
        answers.append(client.post(body.replace(b'"answer"', b'"episode_open"')))
    log = interface.news()
    assert "Traceback" not in log
    assert all(answer.failed and b"went wrong" not in answer.body for answer in answers)
    assert client.read("state")["open"] is False


@pytest.mark.parametrize(
    "message",
    [
        {"id": 1, "result": {"tools": []}},
        {"id": 1, "error": {"code": 1, "message": "{truth}"}},
        {"method": "notifications/cancelled", "params": {"requestId": 1}},
        {"method": "notifications/initialized"},
        {"method": "tools/call", "params": {"name": "answer", "arguments": {"answer": "yes"}}},
        {"method": "tools/call", "params": {"name": "episode_score", "arguments": {}}},
        {"id": 1},
        {},
    ],
    ids=repr,
)
def test_what_is_no_request_is_not_carried_out(interface: Server, message: dict[str, Any]) -> None:
    client = player(interface)
    answer = client.post(json.dumps({"jsonrpc": "2.0", **message}).encode())
    assert (answer.status, answer.body) == (202, b"")
    state = client.read("state")
    assert (state["step"], state["done"]) == (0, False)


@pytest.mark.parametrize(
    "method",
    [
        "prompts/list", "prompts/get", "completion/complete", "logging/setLevel", "roots/list",
        "resources/unsubscribe", "resources/subscribe", "sampling/createMessage", "tasks/list",
        "elicitation/create", "server/discover", "TOOLS/CALL", "tools/call ", "tools/__class__",
        "rpc.discover", "../tools/list", "{truth}", "", "\x00",
    ],
)  # fmt: skip
def test_other_methods_give_nothing(interface: Server, method: str) -> None:
    answer = player(interface).rpc(method, {"name": "answer", "arguments": {"answer": "yes"}})
    assert json.loads(answer.body)["error"]["message"] in (
        "Method not found",
        "Invalid request parameters",
    )


@pytest.mark.parametrize(
    "version", ["2099-01-01", "", "../..", "2025-06-18, 2025-03-26", "x" * 999]
)
def test_a_strange_protocol_version_begins_nothing(interface: Server, version: str) -> None:
    before = interface.rows("SELECT count(*) FROM sessions")
    answer = Client(interface).rpc("initialize", HELLO, mcp_protocol_version=version)
    assert answer.status == 400
    assert len(answer.body) < 500
    assert interface.rows("SELECT count(*) FROM sessions") == before


# HTTP


@pytest.mark.parametrize(
    "headers",
    [
        {"host": "evil.example"},
        {"host": "127.0.0.1.evil.example"},
        {"host": "localhost.evil.example:80"},
        {"host": "2130706433"},
        {"host": "0x7f.1"},
        {"host": ""},
        {"origin": "http://evil.example"},
        {"origin": "http://localhost.evil.example"},
        {"origin": "https://evil.example:443"},
        {"origin": "null"},
        {"origin": "file://"},
        {"origin": "chrome-extension://abcdef"},
    ],
    ids=repr,
)
def test_a_web_page_that_rebinds_its_name_is_turned_away(
    interface: Server, headers: dict[str, str]
) -> None:
    client = player(interface)
    assert client.post(frame(), **headers).status in (403, 421)
    assert Client(interface).rpc("initialize", HELLO, **headers).status in (403, 421)
    preflight = interface.send("OPTIONS", origin="http://evil.example")
    assert not any(name.startswith("access-control") for name in preflight.headers)
    assert played(client) == []


@pytest.mark.parametrize(
    "kind",
    ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "text/json", ""],
)
def test_what_a_web_form_can_send_is_turned_away(interface: Server, kind: str) -> None:
    client = player(interface)
    assert client.post(frame(), content_type=kind).status == 400
    assert played(client) == []


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "PATCH", "OPTIONS", "TRACE", "CONNECT"])
def test_other_http_methods_do_nothing(interface: Server, method: str) -> None:
    client = player(interface)
    heard = raw(interface, head(client, method=method))
    assert statuses(heard) in ([405], [404], [400])
    assert client.session.encode() not in heard
    assert client.read("state")["step"] == 0


@pytest.mark.parametrize(
    "target",
    ["/", "/mcp/", "/mcp/..", "/mcp/../../etc/passwd", "//mcp", "/MCP", "/mcp%00", "/mcp;x",
     "/mcp/record", "/docs", "/openapi.json", "/metrics", "/%2e%2e/%2e%2e/etc/passwd", "*"],
)  # fmt: skip
def test_there_is_one_endpoint(interface: Server, target: str) -> None:
    client = player(interface)
    assert client.post(frame(), target).status == 404
    assert played(client) == []


@pytest.mark.parametrize(
    "query",
    ["suite=%ff", "suite=%ED%A0%80", "&".join(f"a{i}=1" for i in range(50)), "suite=%00&index=%00"],
    ids=["no UTF-8", "a surrogate", "fifty fields", "null bytes"],
)
def test_a_strange_address_is_a_clients_error(interface: Server, query: str) -> None:
    answer = Client(interface).rpc("initialize", HELLO, target=f"/mcp?{query}")
    assert "Traceback" not in interface.news()
    assert answer.status in (200, 400)
    assert b"something went wrong" not in answer.body


def test_a_header_given_twice_is_turned_away(interface: Server) -> None:
    victim, thief = player(interface), player(interface)
    for first, second in ((thief, victim), (victim, thief)):
        extra = f"Mcp-Session-Id: {second.session}"
        sent = head(first, extra, f"Content-Length: {len(frame())}") + frame()
        assert statuses(raw(interface, sent)) == [400]
    assert played(victim) == played(thief) == []


def test_an_oversized_body_is_not_read(interface: Server) -> None:
    client = player(interface)
    assert statuses(raw(interface, head(client, "Content-Length: 65537") + b" " * 100)) == [413]
    assert statuses(raw(interface, head(client, "Content-Length: 99999999999") + b" ")) == [413]
    assert client.post(frame() + b" " * 70_000).status == 413
    assert played(client) == []


def test_an_oversized_chunked_body_is_not_read(interface: Server) -> None:
    client = player(interface)
    chunks = (b"4000\r\n" + b" " * 0x4000 + b"\r\n") * 6
    sent = head(client, "Transfer-Encoding: chunked") + chunks + b"0\r\n\r\n"
    assert statuses(raw(interface, sent))[:1] == [413]
    assert played(client) == []


@pytest.mark.parametrize(
    "lines",
    [
        ("Content-Length: {n}", "Content-Length: 4"),
        ("Content-Length: {n}, 4",),
        ("Content-Length: -{n}",),
        ("Content-Length: +{n}",),
        ("Content-Length: 0x10",),
        ("Transfer-Encoding: xchunked",),
        ("Transfer-Encoding: gzip, chunked",),
        ("Content-Length : {n}",),
        ("Content-Length: {n}", "X: a\r b"),
    ],
    ids=lambda lines: " + ".join(lines)[:40],
)
def test_ambiguous_lengths_and_broken_heads_are_turned_away(
    interface: Server, lines: tuple[str, ...]
) -> None:
    client = player(interface)
    sent = head(client, *(line.format(n=len(frame())) for line in lines)) + frame()
    assert statuses(raw(interface, sent)) in ([400], [501])
    assert played(client) == []


def test_a_request_smuggled_in_a_body_has_no_session(interface: Server) -> None:
    client = player(interface)
    inner = b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    inner += b"Content-Length: %d\r\n\r\n" % len(frame()) + frame()
    ping = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
    chunked = b"%x\r\n" % len(ping) + ping + b"\r\n0\r\n\r\n"
    lines = (f"Content-Length: {len(chunked + inner)}", "Transfer-Encoding: chunked")
    outer = head(client, *lines).replace(b"Connection: close\r\n", b"")
    found = statuses(raw(interface, outer + chunked + inner, patience=1.0))
    assert found in ([200, 400], [200], [400])
    assert played(client) == []


@pytest.mark.parametrize(
    "data",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x00" * 64,
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"\x00" * 1000,
        b"POST\r\n\r\n",
        b"POST /mcp HTTP/9.9\r\n\r\n",
        b"POST /mcp\r\n\r\n",
        b"GET " + b"/" * 500_000 + b" HTTP/1.1\r\n\r\n",
        b"POST /mcp HTTP/1.1\r\nX: " + b"long" * 100_000 + b"\r\n\r\n",
    ],
    ids=["TLS", "HTTP/2", "zeros", "no target", "HTTP/9.9", "HTTP/0.9", "long target", "long head"],
)
def test_what_is_no_http_is_turned_away(interface: Server, data: bytes) -> None:
    found = statuses(raw(interface, data, patience=1.0))
    assert found
    assert set(found) <= {400, 404, 421, 431, 505}


def test_an_upgrade_to_a_websocket_gets_nowhere(interface: Server) -> None:
    client = player(interface)
    key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="
    lines = ("Upgrade: websocket", "Sec-WebSocket-Version: 13", key)
    sent = head(client, *lines, method="GET").replace(b"Connection: close", b"Connection: Upgrade")
    heard = raw(interface, sent, patience=1.0)
    assert statuses(heard) in ([405], [400], [403], [404])
    assert b"101 Switching" not in heard


def test_slow_bodies_hold_nobody_up(interface: Server) -> None:
    client = player(interface)
    lines = [socket.create_connection(("127.0.0.1", interface.port), timeout=5) for _ in range(40)]
    try:
        for number, line in enumerate(lines):
            full = head(client, f"Content-Length: {len(frame())}") + frame()
            line.sendall(full[: 30 if number % 2 else -5])
        started = time.monotonic()
        interface.goes_on()
        assert time.monotonic() - started < 10
        assert played(client) == []
    finally:
        for line in lines:
            line.close()


def test_hanging_up_neither_loses_nor_doubles_an_answer(interface: Server) -> None:
    client = player(interface)
    full = head(client, f"Content-Length: {len(frame())}") + frame()
    for _ in range(3):
        with socket.create_connection(("127.0.0.1", interface.port), timeout=5) as line:
            line.sendall(full)
    code = client.call("answer", answer="no").data["observation"]["code"]
    [carried_out] = [step["action"]["args"]["answer"] for step in played(client)]
    assert (carried_out, code) in (("yes", "over"), ("no", "ok"))


# Floods


def on_one_line(client: Client, body: bytes, times: int) -> Counter[int]:
    """Send the same request many times as fast as one connection can; count statuses."""
    line = HTTPConnection("127.0.0.1", client.server.port, timeout=30)
    found: Counter[int] = Counter()
    for _ in range(times):
        line.request("POST", "/mcp", body, {"content-type": "application/json"} | client.headers)
        answer = line.getresponse()
        answer.read()
        found[answer.status] += 1
        if answer.status in (429, 503):
            assert int(answer.headers["retry-after"]) >= 1
    line.close()
    return found


def test_a_flood_of_one_session_stops_that_session_alone(small: Server) -> None:
    flooder = Client.begun(small)
    found = on_one_line(flooder, b'{"jsonrpc":"2.0","id":1,"method":"ping"}', 150)
    assert found[200] >= 1
    assert found[429] >= 50
    assert found.keys() == {200, 429}
    small.goes_on()
    time.sleep(1.1)
    assert flooder.end().status == 200


def test_a_thousand_initialises_find_a_limit(small: Server) -> None:
    guest = Client.begun(small)
    hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO}
    found = on_one_line(Client(small), json.dumps(hello).encode(), 1000)
    assert found == {200: 6, 503: 994}
    assert guest.rpc("ping").status == 200
    small.goes_on()
    guest.end()
    begun = at_once([lambda: Client(small).rpc("initialize", HELLO)] * 8)
    assert sorted(answer.status for answer in begun) == [200] + [503] * 7
    assert small.rows("SELECT count(*) FROM sessions WHERE ended IS NULL") == [(8,)]


def test_one_attempt_cannot_fill_the_store(interface: Server) -> None:
    client = Client.begun(interface, "", f"?suite={GAME}&index=1")
    codes = [client.call("get_status", padding="a" * 60_000).failed for _ in range(120)]
    assert codes[0] is False
    assert codes[-1] is True
    record = client.rpc("resources/read", {"uri": "whybench://record"})
    assert len(record.body) < 6_000_000
    assert client.call("episode_score").data["score"]["outcome"] == "unfinished"


def test_slow_openings_hold_nobody_up(interface: Server) -> None:
    finished: list[int] = []

    def guess(number: int) -> None:
        query = f"?instance={SLOW}-{number + 1}.0000-000000000000"
        assert Client(interface).rpc("initialize", HELLO, target=f"/mcp{query}").status == 400
        finished.append(number)

    with ThreadPoolExecutor(16) as pool:
        jobs = [pool.submit(guess, number) for number in range(16)]
        time.sleep(0.5)
        before = len(finished)
        assert not interface.bystander.call("episode_brief").failed
        waited_for = len(finished) - before
        for job in jobs:
            job.result()
    assert waited_for <= 4


# Expiry


@pytest.fixture(scope="module")
def hasty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server whose sessions end when they were silent for a second."""
    options = (*OPEN, "--idle", "1", *suites(CORE, GAME))
    server = Server(tmp_path_factory.mktemp("hasty"), options).start()
    yield server
    server.stop()


def _silence(chatty: Client, seconds: float) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        assert chatty.rpc("ping").status == 200
        time.sleep(0.2)


def test_an_expired_session_cannot_be_woken(hasty: Server) -> None:
    silent = Client.begun(hasty, "", f"?suite={CORE}&index=0")
    chatty = Client.begun(hasty, "", f"?suite={CORE}&index=1")
    _silence(chatty, 1.6)
    tried = [
        silent.call("answer", answer="yes"),
        silent.call("episode_score"),
        silent.rpc("initialize", HELLO),
        silent.end(),
    ]
    assert {answer.status for answer in tried} == {404}
    assert chatty.call("answer", answer="yes").data["done"] is True
    assert "Traceback" not in hasty.news()


def test_an_expired_attempt_cannot_be_withdrawn_by_opening_again(hasty: Server) -> None:
    Client.begun(hasty, "", f"?suite={CORE}&index=2").call("answer", answer="maybe")
    chatty = Client.begun(hasty)
    _silence(chatty, 1.6)
    assert Client.begun(hasty, "", f"?suite={CORE}&index=2").read("state")["counts"] is False
    found = hasty.rows("SELECT number, counts FROM attempts WHERE instance LIKE '%core-0002-%'")
    assert sorted(found) == [(1, 1), (2, 0)]


# The pipe


def test_garbage_on_the_pipe_neither_kills_nor_tells() -> None:
    command = [sys.executable, "-m", "whybench", "arena", "serve", "--store", ":memory:"]
    lines = [
        b"garbage", b"", b"{", b"[]", b"null", b"7", b"\xff\xfe\x00", b"[" * 5000,
        b'{"jsonrpc": "2.0"}', b"x" * 100_000, frame(number="[1]"), frame('{"answer": NaN}'),
        frame('{"answer": "\\ud800"}'), frame().replace(b"yes", b"\xed\xa0\x80"),
        frame('{"answer": %s}' % ("9" * 5000)), frame(number="77"),
    ]  # fmt: skip
    hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO}
    state = {"jsonrpc": "2.0", "id": 99, "method": "resources/read"}
    state["params"] = {"uri": "whybench://state"}
    first, last = json.dumps(hello).encode(), json.dumps(state).encode()
    began = b'{"jsonrpc": "2.0", "method": "notifications/initialized"}'
    with subprocess.Popen(
        [*command, "--suite", CORE, "--index", "0"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ,
    ) as process:
        assert process.stdin
        assert process.stdout
        process.stdin.write(b"\n".join([*lines[:6], first, began, *lines, last, b""]))
        process.stdin.flush()
        told = []
        while line := process.stdout.readline():
            told.append(json.loads(line))
            if told[-1].get("id") == 99:
                break
        rest, log = process.communicate(timeout=30)
    assert told[-1]["id"] == 99
    assert json.loads(told[-1]["result"]["contents"][0]["text"])["open"] is True
    shown = json.dumps(told) + rest.decode()
    for trace_of_code in ("Traceback", "site-packages", 'File \\"', ".py"):
        assert trace_of_code not in shown
    assert process.returncode == 0
    assert b"Traceback" not in log
