"""What a public server needs: bounded heads, strict names, readiness, and fair shares."""

import asyncio
import time
from typing import Any

import pytest

pytest.importorskip("mcp")

import uvicorn
from tests.interfaces.mcp.test_mcp_guard import INITIALIZE, OTHER, TOKEN, Make, make  # noqa: F401
from uvicorn.server import ServerState

from whybench.interfaces.mcp.limits import Bucket, Fair, Limits
from whybench.interfaces.mcp.refusal import Busy
from whybench.interfaces.mcp.transport import bounded
from whybench.interfaces.mcp.transport.http import Draining
from whybench.interfaces.mcp.transport.names import Names, Turned

pytestmark = pytest.mark.wire

AS, AS_OTHER = ({"authorization": f"Bearer {token}"} for token in (TOKEN, OTHER))
HELLO = b"POST /mcp HTTP/1.1\r\nHost: localhost\r\n"


def heard(*parts: bytes, pause: float = 0.0, most: int = 1 << 20) -> tuple[bytes, int, float]:
    """Send parts to a bounded connection, the last one over and over.

    Return what came back, how many bytes the server read, and after how many seconds it hung up.
    """
    read = 0

    class Counting(bounded.Bounded):
        def data_received(self, data: bytes) -> None:
            nonlocal read
            read += len(data)
            super().data_received(data)

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    async def run() -> tuple[bytes, int, float]:
        loop = asyncio.get_running_loop()
        config = uvicorn.Config(app, lifespan="off", log_level="critical")
        config.load()
        state = ServerState()
        server = await loop.create_server(lambda: Counting(config, state, {}), "127.0.0.1", 0)
        reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
        began, sent = time.monotonic(), 0
        try:
            for part in parts[:-1]:
                writer.write(part)
            while parts and sent < most and not reader.at_eof():
                writer.write(parts[-1])
                sent += len(parts[-1])
                await writer.drain()
                await asyncio.sleep(pause)
            answer = await asyncio.wait_for(reader.read(), 5)
        except OSError:
            answer = b""
        took = time.monotonic() - began
        server.close()
        return answer, read, took

    return asyncio.run(run())


def test_an_endless_head_is_cut_off() -> None:
    answer, read, _ = heard(HELLO + b"X: ", b"a" * 4096)
    assert answer[:12] in (b"HTTP/1.1 400", b"")  # a reset may overtake the answer
    assert bounded.HEAD < read < 128 * 1024


def test_endless_headers_are_cut_off() -> None:
    _, read, _ = heard(HELLO, b"X: aaaaaaaaaaaaaaaaaaaa\r\n" * 100)
    assert read < 128 * 1024


@pytest.mark.parametrize("parts", [(), (HELLO + b"X:",)], ids=["nothing", "half a head"])
def test_a_silent_head_is_cut_off(parts: tuple[bytes, ...], monkeypatch: Any) -> None:
    monkeypatch.setattr(bounded, "SECONDS", 0.3)
    answer, _, took = heard(*parts, most=1)
    assert answer == b""
    assert 0.2 < took < 4


def test_a_slow_head_is_cut_off_however_it_trickles(monkeypatch: Any) -> None:
    monkeypatch.setattr(bounded, "SECONDS", 0.3)
    _, read, took = heard(HELLO + b"X: ", b"a", pause=0.05)
    assert took < 4
    assert read < 200


def test_requests_on_one_connection_are_counted_apart(monkeypatch: Any) -> None:
    monkeypatch.setattr(bounded, "HEAD", 400)
    whole = HELLO + b"X: " + b"a" * 200 + b"\r\nContent-Length: 2\r\n\r\n{}"
    answer, _, _ = heard(whole, whole, whole + HELLO + b"Connection: close\r\n\r\n", most=1)
    assert answer.count(b"HTTP/1.1 204") == 4


@pytest.mark.parametrize(
    ("host", "origin", "status"),
    [
        ("localhost", None, 0),
        ("LOCALHOST:8765", "http://LocalHost:1", 0),
        ("[::1]:80", "https://[::1]", 0),
        ("arena.example:443", "https://arena.example", 0),
        ("", None, 421),
        ("localhost:80@evil", None, 421),
        ("localhost:", None, 421),
        ("localhost:99999", None, 421),
        ("localhost:evil.com", None, 421),
        ("localhost.evil", None, 421),
        ("evil", None, 421),
        ("localhost", "null", 403),
        ("localhost", "http://localhost:evil.com", 403),
        ("localhost", "http://localhost/", 403),
        ("localhost", "http://a@localhost", 403),
        ("localhost", "ftp://localhost", 403),
        ("localhost", "localhost", 403),
        ("localhost", "http://127.0.0.1.evil", 403),
    ],
)
def test_hosts_and_origins_are_parsed_strictly(host: str, origin: str | None, status: int) -> None:
    headers = {b"host": host, b"content-type": "application/json"}
    names = Names(("127.0.0.1", "localhost", "::1", "Arena.example"))
    headers |= {} if origin is None else {b"origin": origin}
    if not status:
        names.check(headers, post=True)
        return
    with pytest.raises(Turned) as turned:
        names.check(headers, post=True)
    assert turned.value.status == status


def test_a_proxy_learns_whether_the_server_is_ready(make: Make) -> None:  # noqa: F811
    wire = make((TOKEN,))
    for path in ("/livez", "/readyz"):
        assert wire.send(method="GET", path=path).status == 200
    wire.guard.ready = False
    assert wire.send(method="GET", path="/livez").status == 200
    assert wire.send(method="GET", path="/readyz").status == 503


def test_a_signal_stops_the_server_after_the_proxy_knows(make: Make) -> None:  # noqa: F811
    guard = make().guard
    web = Draining(uvicorn.Config(guard), guard, 0.2)

    async def run() -> None:
        web.handle_exit(15, None)
        assert (guard.ready, web.should_exit) == (False, False)
        await asyncio.sleep(0.4)
        assert web.should_exit

    asyncio.run(run())


def test_one_owner_cannot_use_up_the_requests_of_others(make: Make) -> None:  # noqa: F811
    wire = make((TOKEN, OTHER), owner_rate=1.0)
    statuses = [wire.send(b"{}", headers=AS).status for _ in range(4)]
    assert statuses == [400, 400, 429, 429]
    assert wire.send(b"{}", headers=AS_OTHER).status == 400


@pytest.mark.parametrize("limit", ["owner_sessions", "owner_day"])
def test_one_owner_cannot_use_up_the_sessions_of_others(
    make: Make,  # noqa: F811
    limit: str,
) -> None:
    wire = make((TOKEN, OTHER), **{limit: 2})
    wire.headers = AS
    for _ in range(2):
        wire.session()
    refused = wire.ask("initialize", INITIALIZE, query="suite=causallink/core&index=0")
    assert (refused.status, "retry-after" in refused.headers) == (503, True)
    wire.headers = AS_OTHER
    wire.session()


def test_one_owner_cannot_restore_without_end() -> None:
    fair = Fair(Limits(owner_restore=0.001))
    fair._restores["a"] = Bucket(0.001, time.monotonic(), most=0.02)

    def restored(owner: str) -> None:
        with fair.restoring(owner):
            until = time.thread_time() + 0.03
            while time.thread_time() < until:
                pass

    restored("a")
    with pytest.raises(Busy) as busy:
        restored("a")
    assert 5 < busy.value.wait < 60
    restored("b")
    restored("")
    restored("")
