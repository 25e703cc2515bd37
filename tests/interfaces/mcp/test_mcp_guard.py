"""What is turned away on HTTP, and with what words. No socket is opened."""

import json
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest

pytest.importorskip("mcp")

from whybench.interfaces.mcp.backlog import MOST_OF_ONE
from whybench.interfaces.mcp.catalogue import Offer
from whybench.interfaces.mcp.limits import Limits
from whybench.interfaces.mcp.scoring_policy import Rules
from whybench.interfaces.mcp.server import Interface
from whybench.interfaces.mcp.session_queue import SLOW_WORKERS
from whybench.interfaces.mcp.sessions import Sessions
from whybench.interfaces.mcp.store.protocol import hashed, patience
from whybench.interfaces.mcp.store.sqlite import SqliteStore
from whybench.interfaces.mcp.transport.http import _sweep, bound, security
from whybench.interfaces.mcp.transport.middleware import Guard
from whybench.interfaces.mcp.transport.tokens import Tokens

pytestmark = pytest.mark.wire

TOKEN, OTHER = "first-token-of-the-operator", "second-token-of-the-operator"
PLACE = "suite=causallink/core&index=3"
INITIALIZE = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "1"},
}


@dataclass
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Wire:
    """A client that speaks to the application directly."""

    guard: Guard
    headers: dict[str, str] = field(default_factory=dict)

    def send(
        self, body: bytes = b"", *, method: str = "POST", path: str = "/mcp", query: str = "",
        headers: dict[str, str | None] | None = None,
    ) -> Answer:  # fmt: skip
        lines = {
            "host": "127.0.0.1:1", "content-type": "application/json", **self.headers,
            **(headers or {}),
        }  # fmt: skip
        scope = {
            "type": "http", "method": method, "path": path, "query_string": query.encode(),
            "headers": [(k.encode(), v.encode()) for k, v in lines.items() if v is not None],
        }  # fmt: skip
        sent: list[Any] = []

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message: Any) -> None:
            sent.append(message)

        anyio.run(self.guard, scope, receive, send)
        start, content = sent
        names = {k.decode(): v.decode() for k, v in start["headers"]}
        return Answer(start["status"], names, content["body"])

    def ask(self, method: str, params: Any = None, **more: Any) -> Answer:
        message = {"jsonrpc": "2.0", "id": 7, "method": method, "params": params or {}}
        return self.send(json.dumps(message).encode(), **more)

    def session(self, query: str = PLACE) -> str:
        answer = self.ask("initialize", INITIALIZE, query=query)
        assert answer.status == 200, answer
        return answer.headers["mcp-session-id"]

    def call(self, session: str, name: str, args: Any = None) -> Any:
        params = {"name": name, "arguments": args or {}}
        answer = self.ask("tools/call", params, headers={"mcp-session-id": session})
        return answer.json["result"]


Make = Callable[..., Wire]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    store = SqliteStore(tmp_path / "store.sqlite")

    def made(tokens: tuple[str, ...] = (), rules: Rules | None = None, **limits: Any) -> Wire:
        file = tmp_path / "tokens"
        file.write_text("\n".join(("# tokens", *tokens)))
        table = Sessions(store, Offer(), rules or Rules(), Limits(**limits))
        known = Tokens.read(file) if tokens else Tokens()
        return Wire(Guard(Interface(table), known, security("127.0.0.1")))

    yield made
    store.shut()


def test_every_request_needs_the_token_if_there_is_one(make: Make) -> None:
    wire = make((TOKEN, OTHER))
    for shown in (None, "", "Bearer", f"Basic {TOKEN}", "Bearer x", f"Bearer {TOKEN}x"):
        answer = wire.ask("initialize", INITIALIZE, headers={"authorization": shown})
        assert (answer.status, answer.headers["www-authenticate"]) == (401, "Bearer")
    wire.headers = {"authorization": f"Bearer {TOKEN}"}
    assert wire.session()


def test_a_session_is_its_owners_alone(make: Make) -> None:
    wire = make((TOKEN, OTHER))
    wire.headers = {"authorization": f"Bearer {TOKEN}"}
    session = wire.session()
    mine = wire.ask("tools/list", headers={"mcp-session-id": session})
    assert mine.status == 200
    wire.headers = {"authorization": f"Bearer {OTHER}"}
    theirs = wire.ask("tools/list", headers={"mcp-session-id": session})
    unknown = wire.ask("tools/list", headers={"mcp-session-id": "x" * 43})
    assert (theirs.status, theirs.body) == (404, unknown.body)
    assert wire.send(method="DELETE", headers={"mcp-session-id": session}).status == 404


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"host": "evil.example"}, 421),
        ({"host": None}, 421),
        ({"host": "127.0.0.1.evil.example:1"}, 421),
        ({"origin": "http://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"content-type": "text/plain"}, 400),
        ({"content-length": "999999999"}, 413),
        ({"content-length": "9" * 5000}, 413),
        ({"content-length": "-1"}, 413),
        ({"mcp-session-id": "none"}, 404),
        ({"mcp-session-id": "../../x"}, 404),
        ({"mcp-protocol-version": "2026-07-28"}, 400),
        ({"mcp-protocol-version": "zzz"}, 400),
    ],
)
def test_what_headers_get_turned_away(make: Make, headers: dict[str, Any], status: int) -> None:
    assert make().ask("initialize", INITIALIZE, headers=headers).status == status


def test_a_client_of_the_newest_era_learns_which_versions_are_spoken(make: Make) -> None:
    answer = make().ask("server/discover", headers={"mcp-protocol-version": "2026-07-28"})
    error = answer.json["error"]
    assert (error["code"], answer.json["id"]) == (-32022, 7)
    assert "2025-11-25" in error["data"]["supported"]
    assert "2026-07-28" not in error["data"]["supported"]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"\xff\xfe",
        '{"jsonrpc":"2.0","id":1,"method":"initialize"}'.encode("utf-16"),
        b"[]",
        b'"text"',
        b"[" * 100_000,
        b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"a":NaN}}',
        b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"a":"\\uD800"}}',
        b'{"jsonrpc":"2.0","id":' + b"9" * 5000 + b',"method":"initialize"}',
        b'{"jsonrpc":"2.0","id":null,"method":"initialize"}',
        b'{"jsonrpc":"2.0","id":true,"method":"initialize"}',
        b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":[1]}',
        b'{"jsonrpc":"1.0","id":1,"method":"initialize"}',
        b'[{"jsonrpc":"2.0","id":1,"method":"initialize"}]',
    ],
)
def test_malformed_messages_are_turned_away_and_begin_no_session(make: Make, body: bytes) -> None:
    wire = make()
    answer = wire.send(body)
    assert answer.status == 400
    assert "error" in answer.json
    assert "mcp-session-id" not in answer.headers
    assert wire.guard.sessions.store.count() == 0


def test_a_bad_handshake_or_order_begins_no_session(make: Make) -> None:
    wire = make()
    for query in ("suite=no/such", "suite=causallink/core&index=999", "suite=%ff", "index=x"):
        answer = wire.ask("initialize", INITIALIZE, query=query)
        assert answer.status == 400
        assert "mcp-session-id" not in answer.headers
    assert "error" in wire.ask("initialize", {"protocolVersion": 7}).json
    assert wire.guard.sessions.store.count() == 0


def test_methods_and_paths(make: Make) -> None:
    wire = make()
    assert wire.send(method="GET").headers["allow"] == "POST, DELETE"
    assert wire.send(method="PUT").status == 405
    for path in ("/", "/mcp/", "/mcp/../mcp", "/MCP", "/mcp%00"):
        assert wire.ask("initialize", INITIALIZE, path=path).status == 404
    session = wire.session()
    assert wire.ask("tools/list").status == 400
    assert wire.send(method="DELETE", headers={"mcp-session-id": session}).status == 200
    assert wire.ask("tools/list", headers={"mcp-session-id": session}).status == 404


def test_too_much_is_refused_with_the_time_to_wait(make: Make) -> None:
    slow = make(session_rate=1.0)
    session = slow.session()
    answers = [slow.ask("ping", headers={"mcp-session-id": session}) for _ in range(4)]
    assert [answer.status for answer in answers[:2]] == [200, 200]
    assert (answers[3].status, answers[3].headers["retry-after"]) == (429, "1")
    full = make(sessions=1)
    answer = full.ask("initialize", INITIALIZE)
    assert (answer.status, answer.headers["retry-after"]) == (503, "60")
    busy = make(rate=1.0)
    assert [busy.send(method="GET").status for _ in range(4)][2:] == [429, 429]
    small = make(body=2000)
    assert small.send(b" " * 2001).status == 413


def test_an_unknown_tool_is_an_illegal_action_of_the_episode(make: Make) -> None:
    wire = make()
    session = wire.session()
    result = wire.call(session, "no_such_tool", {"a": [1, None]})
    assert result["isError"] is True
    assert result["structuredContent"]["step"] == 1
    assert result["structuredContent"]["observation"]["code"] == "invalid_action"


def test_tools_change_when_an_episode_is_opened_by_a_call(make: Make) -> None:
    wire = make()
    session = wire.session(query="")

    def names() -> list[str]:
        listed = wire.ask("tools/list", headers={"mcp-session-id": session}).json["result"]
        return [tool["name"] for tool in listed["tools"]]

    assert names() == ["episode_open"]
    assert wire.call(session, "hold", {"shape": "x"})["isError"] is True
    instructions = wire.call(session, "episode_open", {"suite": "causallink/core", "index": 3})
    assert wire.call(session, "episode_brief") == instructions
    assert names() == ["move", "hold", "answer", "episode_brief", "episode_reset", "episode_score"]
    again = wire.call(session, "episode_open", {"suite": "causallink/core", "index": 4})
    assert again["isError"] is True


def test_blind_scores_look_the_same_for_right_and_wrong(make: Make) -> None:
    wire = make(rules=Rules(blind=True, attempts="session"))
    sizes = []
    for answer in ("yes", "no "):
        session = wire.session()
        replies = [wire.call(session, "answer", {"answer": answer}),
                   wire.call(session, "episode_score")]  # fmt: skip
        assert replies[1]["structuredContent"]["score"] is None
        sizes.append([len(json.dumps(reply)) for reply in replies])
    assert sizes[0] == sizes[1]


def test_a_failure_inside_is_told_in_one_sentence_with_a_number(
    make: Make, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    wire = make()
    session = wire.session()

    def fail(*_: object) -> None:
        raise RuntimeError("the answer is yes: /secret/path")

    monkeypatch.setattr(Sessions, "act", fail)
    params = {"name": "hold", "arguments": {}}
    answer = wire.ask("tools/call", params, headers={"mcp-session-id": session})
    told = answer.json["error"]["message"]
    assert "secret" not in answer.body.decode()
    assert told.rpartition(" ")[2] in caplog.text
    monkeypatch.setattr(Sessions, "greet", fail)
    answer = wire.ask("ping", headers={"mcp-session-id": session})
    assert answer.status == 500
    assert "secret" not in answer.body.decode()


def test_resources_are_those_three(make: Make) -> None:
    wire = make()
    told = {"mcp-session-id": wire.session()}
    listed = wire.ask("resources/list", headers=told).json["result"]["resources"]
    assert [r["uri"] for r in listed] == [
        "whybench://brief", "whybench://record", "whybench://state",
    ]  # fmt: skip
    for uri in ("whybench://truth", "whybench://brief/../truth", "file:///etc/passwd", "x"):
        assert "error" in wire.ask("resources/read", {"uri": uri}, headers=told).json


def test_lists_come_whole_and_there_are_no_templates(make: Make) -> None:
    wire = make()
    told = {"mcp-session-id": wire.session()}
    listed = wire.ask("resources/templates/list", headers=told).json["result"]
    assert listed["resourceTemplates"] == []
    for method in ("tools/list", "resources/list", "resources/templates/list"):
        assert "result" in wire.ask(method, {}, headers=told).json
        answer = wire.ask(method, {"cursor": "bogus"}, headers=told).json
        assert answer["error"]["code"] == -32602


def test_a_whole_number_may_be_written_with_a_point(make: Make) -> None:
    wire = make()
    session = wire.session(query="")
    opened = wire.call(session, "episode_open", {"suite": "causallink/core", "index": 3.0})
    assert not opened.get("isError")


def test_a_failing_store_does_not_end_the_sweep(
    make: Make, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    guard, tries = make(idle=0.1).guard, []

    def fail(*_: object) -> None:
        tries.append(1)
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(SqliteStore, "expire", fail)

    async def run() -> None:
        with anyio.move_on_after(5):
            async with anyio.create_task_group() as group:
                group.start_soon(_sweep, guard)
                while len(tries) < 2:
                    await anyio.sleep(0.02)
                group.cancel_scope.cancel()

    anyio.run(run)
    assert len(tries) >= 2
    assert "Idle sessions could not be ended" in caplog.text


def test_no_request_of_a_session_in_memory_waits_for_another_process(
    make: Make, tmp_path: Path
) -> None:
    wire = make(idle=600)
    told = {"mcp-session-id": wire.session()}
    assert wire.ask("ping", headers=told).status == 200
    base = sqlite3.connect(tmp_path / "store.sqlite", isolation_level=None)
    base.execute("BEGIN IMMEDIATE")
    started = time.monotonic()
    for _ in range(5):
        assert wire.ask("ping", headers=told).status == 200
        time.sleep(0.03)
    assert time.monotonic() - started < 3
    base.execute("ROLLBACK")
    base.close()


def test_a_store_in_use_is_a_reason_to_come_again(make: Make, tmp_path: Path) -> None:
    wire = make()
    base = sqlite3.connect(tmp_path / "store.sqlite", isolation_level=None)
    base.execute("BEGIN IMMEDIATE")
    waits = patience.set(0.02)
    try:
        answer = wire.ask("initialize", INITIALIZE)
    finally:
        patience.reset(waits)
        base.execute("ROLLBACK")
        base.close()
    assert (answer.status, answer.headers["retry-after"]) == (503, "1")
    assert wire.session()


def test_too_much_slow_work_is_refused_with_the_time_to_wait(make: Make) -> None:
    wire = make((TOKEN, OTHER))
    backlog = wire.guard.interface.turns._backlog
    backlog._takes = 12.0
    for _ in range(MOST_OF_ONE):
        backlog.enter(hashed("token", TOKEN))
    wire.headers = {"authorization": f"Bearer {TOKEN}"}
    answer = wire.ask("initialize", INITIALIZE, query=PLACE)
    assert (answer.status, answer.headers["retry-after"]) == (503, "24")
    assert wire.guard.sessions.store.count() == 0
    wire.headers = {"authorization": f"Bearer {OTHER}"}
    assert wire.session()


def test_a_client_that_hangs_up_in_the_queue_gets_no_session(make: Make) -> None:
    guard, go, sent = make().guard, threading.Event(), []
    message = {"jsonrpc": "2.0", "id": 7, "method": "initialize", "params": INITIALIZE}
    parts = [
        {"type": "http.request", "body": json.dumps(message).encode(), "more_body": False},
        {"type": "http.disconnect"},
    ]
    names = {"host": "127.0.0.1:1", "content-type": "application/json"}
    scope = {
        "type": "http", "method": "POST", "path": "/mcp", "query_string": PLACE.encode(),
        "headers": [(k.encode(), v.encode()) for k, v in names.items()],
    }  # fmt: skip

    async def receive() -> dict[str, Any]:
        return parts.pop(0)

    async def send(part: Any) -> None:
        sent.append(part)

    async def run() -> None:
        async with anyio.create_task_group() as group:
            for number in range(SLOW_WORKERS):
                wait = partial(
                    guard.interface.turns.take, str(number), lambda: go.wait(10), slow=True
                )
                group.start_soon(wait)
            await anyio.sleep(0.05)
            await guard(scope, receive, send)
            go.set()

    anyio.run(run)
    assert not parts
    assert sent[0]["status"] == 503
    assert guard.sessions.store.count() == 0


def test_an_address_others_can_reach_needs_a_token() -> None:
    for host in ("0.0.0.0", "192.0.2.1", "example.org", ""):
        with pytest.raises(ValueError, match="token"):
            bound(host, 0, Tokens())


def test_tokens_may_be_followed_by_remarks(tmp_path: Path) -> None:
    file = tmp_path / "tokens"
    file.write_text(f"# all\n{TOKEN}  # the first model\n  \n{OTHER}\t#second\na#b#{OTHER}\n")
    known = Tokens.read(file)
    assert len(known.owners) == 3
    for token in (TOKEN, OTHER, f"a#b#{OTHER}"):
        assert known.owner(f"Bearer {token}")
    assert known.owner("Bearer # all") is None


@pytest.mark.parametrize("text", ["", "# only a remark", "short", "two words that are long"])
def test_tokens_that_are_none_are_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "tokens").write_text(text)
    with pytest.raises(ValueError, match="token"):
        Tokens.read(tmp_path / "tokens")
