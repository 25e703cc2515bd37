"""Attacks on a served episode: on its session, its truth, its score and its store.

Every attack goes over the wire to a real server, raw where a client would be too polite. The
fixtures check after every test that the server lives, that a bystander's session goes on where it
was, and that the server's log holds no traceback. `test_mcp_attacks_wire.py` has the attacks on
the wire itself; `docs/explanation/mcp-attacks.md` lists all.
"""

import http.client
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from whybench.causal.suite_seeds import revealed
from whybench.cli import app
from whybench.episode.episode import play
from whybench.episode.instance import Instance
from whybench.episode.registry import load_suite
from whybench.interfaces.session import Session

pytestmark = pytest.mark.wire

pytest.importorskip("mcp")

ALICE, MALLORY, CAROL = (f"{name}-0123456789abcdef" for name in ("alice", "mallory", "carol"))
CORE, LAB, GAME = "causallink/core", "causalab/main_3", "causalgame/antenna"
HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "attacker", "version": "1"},
}


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back over HTTP."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def result(self) -> Any:
        return json.loads(self.body)["result"]

    @property
    def text(self) -> str:
        """The words of a tool's answer."""
        return str(self.result["content"][0]["text"])

    @property
    def data(self) -> Any:
        """The data of a tool's answer."""
        return self.result["structuredContent"]

    @property
    def failed(self) -> bool:
        """Whether nothing was given: turned away, an error of the protocol, or of a tool."""
        if self.status != 200:
            return True
        message = json.loads(self.body)
        return "error" in message or bool(message["result"].get("isError"))


@dataclass(slots=True)
class Server:
    """A server under attack, and all that it ever answered."""

    folder: Path
    options: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)
    owner: str = ""
    """The token of the bystander."""
    heard: bytearray = field(default_factory=bytearray)
    port: int = 0
    process: Any = None
    bystander: Any = None
    _read: int = 0
    _steps: int = 0

    def start(self) -> "Server":
        self.folder.mkdir(exist_ok=True)
        command = [sys.executable, "-m", "whybench", "arena", "serve", "--http", "--port", "0"]
        self.process = subprocess.Popen(
            [*command, "--store", str(self.store), *self.options],
            stdout=subprocess.PIPE,
            stderr=self.logged.open("ab"),
            env=os.environ | {"PYTHONUNBUFFERED": "1"} | self.env,
        )
        told = self.process.stdout.readline().decode()
        self.port = int(re.findall(r":(\d+)/mcp", told)[0])
        if self.bystander is None:
            self.bystander = Client.begun(self, self.owner, f"?suite={GAME}&index=7")
        return self

    def stop(self, how: signal.Signals = signal.SIGTERM) -> None:
        self.process.send_signal(how)
        self.process.wait(20)
        self.process.stdout.close()

    @property
    def store(self) -> Path:
        return self.folder / "store.sqlite"

    @property
    def logged(self) -> Path:
        return self.folder / "log"

    def send(
        self, method: str = "POST", target: str = "/mcp", body: bytes = b"", **headers: str
    ) -> Answer:
        """Send one request of any form; underscores in names of headers are hyphens."""
        line = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        sent = {"content-type": "application/json", "accept": "application/json"}
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        try:
            line.request(method, target, body, sent)
            got = line.getresponse()
            answer = Answer(got.status, {n.lower(): v for n, v in got.getheaders()}, got.read())
        finally:
            line.close()
        self.heard += answer.body
        return answer

    def rows(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        """Look into the store, as an operator can."""
        base = sqlite3.connect(f"file:{self.store}?mode=ro", uri=True)
        try:
            return base.execute(statement, values).fetchall()
        finally:
            base.close()

    def news(self) -> str:
        """Return what was logged since the last look."""
        text = self.logged.read_text("utf-8", errors="replace")
        new, self._read = text[self._read :], len(text)
        return new

    def goes_on(self) -> None:
        """Check that the server lives, that the bystander goes on, and that nothing broke."""
        assert self.process.poll() is None
        answer = self.bystander.call("get_status")
        self._steps += 1
        assert answer.data["step"] == self._steps
        assert answer.data["observation"]["code"] == "ok"
        assert "Traceback" not in self.news()


@dataclass(slots=True)
class Client:
    """One session, or what pretends to be one."""

    server: Server
    token: str = ""
    session: str = ""

    @classmethod
    def begun(cls, server: Server, token: str = "", query: str = "") -> "Client":
        client = cls(server, token)
        answer = client.rpc("initialize", HELLO, target=f"/mcp{query}")
        assert answer.status == 200, answer.body
        client.session = answer.headers["mcp-session-id"]
        return client

    @property
    def headers(self) -> dict[str, str]:
        token = {"authorization": f"Bearer {self.token}"} if self.token else {}
        return token | ({"mcp-session-id": self.session} if self.session else {})

    def post(self, body: bytes, target: str = "/mcp", **headers: str) -> Answer:
        return self.server.send("POST", target, body, **(self.headers | headers))

    def rpc(
        self, method: str, params: Any = None, *, target: str = "/mcp", **headers: str
    ) -> Answer:
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params or {}}
        return self.post(json.dumps(message).encode(), target, **headers)

    def call(self, tool: str, /, **args: Any) -> Answer:
        return self.rpc("tools/call", {"name": tool, "arguments": args})

    def read(self, name: str) -> Any:
        """Read one of the session's own resources."""
        found = self.rpc("resources/read", {"uri": f"whybench://{name}"})
        return json.loads(found.result["contents"][0]["text"])

    def end(self) -> Answer:
        return self.server.send("DELETE", **self.headers)


def at_once(calls: list[Callable[[], Answer]]) -> list[Answer]:
    """Make calls side by side."""
    with ThreadPoolExecutor(len(calls)) as pool:
        return [job.result() for job in [pool.submit(call) for call in calls]]


def right(instance: Instance) -> str:
    """Return the right answer to a yes/no question."""
    session = Session(instance)
    session.call("answer", {"answer": "yes"})
    return "yes" if session.score().values["accuracy"] == 1 else "no"


def wrong(instance: Instance) -> str:
    return {"yes": "no", "no": "yes"}[right(instance)]


def claimed(server: Server, *receipts: str) -> Any:
    """Ask the operator's command for scores; None if it refuses."""
    words = ["arena", "claim", "--store", str(server.store), "--", *receipts]
    done = CliRunner().invoke(app, words, env=server.env)
    assert not isinstance(done.exception, Exception), done.exception
    return json.loads(done.stdout) if done.exit_code == 0 else None


@pytest.fixture(scope="module")
def secret(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """Make a secret seed as an operator does; know its secret while the tests run."""
    file = tmp_path_factory.mktemp("secrets") / "secrets"
    made = CliRunner().invoke(app, ["data", "secret"], env={"WHYBENCH_SECRETS": str(file)})
    with revealed(file.read_text().strip()) as name:
        assert name in made.output
        yield name, file


@pytest.fixture(scope="module")
def open_house(
    tmp_path_factory: pytest.TempPathFactory, secret: tuple[str, Path]
) -> Iterator[Server]:
    """A server that tells scores, with three owners, under a secret seed."""
    folder = tmp_path_factory.mktemp("house")
    (folder / "tokens").write_text("\n".join((ALICE, MALLORY, CAROL)))
    options = ["--token-file", str(folder / "tokens"), "--seed", secret[0]]
    options += ["--rate", "0", "--session-rate", "0"]
    for suite in (CORE, "causallink/core_distinct", LAB, GAME):
        options += ["--suites", suite]
    env = {"WHYBENCH_SECRETS": str(secret[1])}
    server = Server(folder, tuple(options), env, owner=CAROL).start()
    yield server
    server.stop()


@pytest.fixture
def house(open_house: Server) -> Iterator[Server]:
    yield open_house
    open_house.goes_on()


@pytest.fixture(scope="module")
def blind_house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that withholds scores, open to everybody on this machine."""
    options = ("--blind", "--rate", "0", "--session-rate", "0", "--suites", CORE)
    options += ("--suites", LAB, "--suites", GAME)
    server = Server(tmp_path_factory.mktemp("blind"), options).start()
    yield server
    server.stop()


@pytest.fixture
def blind(blind_house: Server) -> Iterator[Server]:
    yield blind_house
    blind_house.goes_on()


_ROWS = count(100)


@pytest.fixture
def fresh(secret: tuple[str, Path]) -> Callable[[], tuple[str, Instance]]:
    """Return how to get an instance that nobody has opened yet: its query and itself."""

    def one() -> tuple[str, Instance]:
        instance = load_suite(CORE, seed=secret[0]).row(next(_ROWS))
        return f"?instance=causallink/{instance.id}", instance

    return one


Fresh = Callable[[], tuple[str, Instance]]


# Other sessions


VARIANTS: dict[str, Callable[[str], str]] = {
    "guessed": lambda _: "A" * 43,
    "truncated": lambda s: s[:-1],
    "only the beginning": lambda s: s[:8],
    "longer": lambda s: s + "A",
    "case changed": str.swapcase,
    "a blank inside": lambda s: f"{s[:20]} {s[20:]}",
    "a tab inside": lambda s: f"{s[:20]}\t{s[20:]}",
    "quoted": lambda s: f'"{s}"',
    "a list": lambda s: f"{s}, {s}",
    "percent-coded": lambda s: "".join(f"%{ord(c):02x}" for c in s),
    "base64 padding": lambda s: s + "=",
    "look-alike letters": lambda s: f"{s[:-1]}à",
    "soft hyphen": lambda s: f"{s}\xad",
    "wildcard": lambda _: "%",
    "glob": lambda _: "*",
    "SQL": lambda s: f"' OR key IS NOT NULL -- {s}",
    "a path": lambda s: f"../{s}",
    "null": lambda _: "null",
    "zero": lambda _: "0",
    "empty": lambda _: "",
}


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_session_is_reached_by_its_exact_id_alone(
    house: Server, fresh: Fresh, variant: str
) -> None:
    victim = Client.begun(house, ALICE, fresh()[0])
    before = victim.read("state")
    thief = Client(house, ALICE)
    guess = VARIANTS[variant](victim.session)
    unknown = thief.rpc("tools/list", mcp_session_id="never-was")
    tried = [
        thief.rpc("tools/list", mcp_session_id=guess),
        thief.rpc("tools/call", {"name": "episode_score", "arguments": {}}, mcp_session_id=guess),
        house.send("DELETE", authorization=f"Bearer {ALICE}", mcp_session_id=guess),
    ]
    assert unknown.status == 404
    assert {(answer.status, answer.body) for answer in tried} == {(404, unknown.body)}
    assert victim.read("state") == before


def test_a_session_id_beside_the_header_reaches_nothing(house: Server, fresh: Fresh) -> None:
    victim = Client.begun(house, ALICE, fresh()[0])
    thief = Client(house, ALICE)
    score = {"name": "episode_score", "arguments": {}}
    hidden = score | {"_meta": {"Mcp-Session-Id": victim.session, "sessionId": victim.session}}
    tried = [
        thief.rpc("tools/call", score, target=f"/mcp?mcp-session-id={victim.session}"),
        thief.rpc("tools/call", score, cookie=f"mcp-session-id={victim.session}"),
        thief.rpc("tools/call", score, x_mcp_session_id=victim.session),
        thief.rpc("tools/call", score | {"sessionId": victim.session}),
        thief.rpc("tools/call", hidden),
    ]
    assert {answer.status for answer in tried} == {400}
    assert thief.rpc("ping", target=f"/mcp/{victim.session}").status == 404
    assert victim.read("state")["done"] is False


def test_another_owners_session_is_as_good_as_unknown(house: Server, fresh: Fresh) -> None:
    victim = Client.begun(house, ALICE, fresh()[0])
    thief = Client(house, MALLORY, victim.session)
    unknown = Client(house, MALLORY, "never-was").rpc("tools/list")
    tried = [
        thief.rpc("tools/list"),
        thief.rpc("resources/read", {"uri": "whybench://record"}),
        thief.call("answer", answer="yes"),
        thief.call("episode_score"),
        thief.call("episode_reset"),
        thief.rpc("initialize", HELLO),
        thief.end(),
    ]
    assert {(answer.status, answer.body) for answer in tried} == {(404, unknown.body)}
    state = victim.read("state")
    assert (state["step"], state["done"], state["attempt"]) == (0, False, 1)


def test_a_session_that_was_ended_is_gone_for_good(house: Server, fresh: Fresh) -> None:
    client = Client.begun(house, ALICE, fresh()[0])
    assert client.end().status == 200
    tried = [
        client.call("answer", answer="yes"),
        client.call("episode_score"),
        client.rpc("resources/read", {"uri": "whybench://record"}),
        client.rpc("initialize", HELLO),
        client.end(),
    ]
    assert {answer.status for answer in tried} == {404}


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"authorization": "Bearer wrong-0123456789abcdef"},
        {"authorization": f"Bearer {ALICE[:-1]}"},
        {"authorization": f"Bearer {ALICE}x"},
        {"authorization": f"Bearer {ALICE.upper()}"},
        {"authorization": f"Bearer {ALICE} {MALLORY}"},
        {"authorization": f"Basic {ALICE}"},
        {"authorization": ALICE},
        {"authorization": "Bearer"},
        {"authorization": "Bearer "},
        {"x-authorization": f"Bearer {ALICE}"},
        {"cookie": f"token={ALICE}"},
    ],
    ids=lambda headers: next(iter(headers.values()), "none")[:16],
)
def test_nobody_comes_in_without_a_token(
    house: Server, fresh: Fresh, headers: dict[str, str]
) -> None:
    victim = Client.begun(house, ALICE, fresh()[0])
    before = house.rows("SELECT count(*) FROM sessions")
    target = f"/mcp?token={ALICE}&access_token={ALICE}&authorization=Bearer%20{ALICE}"
    nobody = Client(house)
    tried = [
        nobody.rpc("initialize", HELLO, target=target, **headers),
        nobody.rpc("tools/list", mcp_session_id=victim.session, **headers),
        house.send("DELETE", mcp_session_id=victim.session, **headers),
        house.send("GET", **headers),
    ]
    assert {answer.status for answer in tried} == {401}
    assert house.rows("SELECT count(*) FROM sessions") == before
    assert victim.read("state")["step"] == 0


def test_hashes_from_the_store_open_nothing(house: Server, fresh: Fresh) -> None:
    Client.begun(house, ALICE, fresh()[0])
    stored = house.rows("SELECT key, owner FROM sessions")
    for key, owner in stored[:5]:
        assert Client(house, ALICE, key).rpc("tools/list").status == 404
        assert Client(house, owner).rpc("initialize", HELLO).status == 401
        assert claimed(house, key) is None


# Truth through errors, resources, schemas and sizes


HOSTILE = (
    "{truth}", "{0.__class__.__mro__}", "{self.world}", "%s%s%n", "%(truth)s", "${7*7}", "{{7*7}}",
    "../../etc/passwd", "..\\..\\truth", "/etc/passwd", "file:///etc/passwd", "whybench://truth",
    "causallink/../causallink/core", "causallink/core\x00", "causallink/core ", "CAUSALLINK/CORE",
    "causallink\u2215core", "ｃausallink/core", "causallink/core;", "causallink/core' OR '1'='1",
    "'; DROP TABLE sessions; --", "causallink/large", "replayscm/lab", "truth", "*", "\u202e",
    "\x00", "a" * 50_000,
)  # fmt: skip


@pytest.mark.parametrize("argument", ["suite", "instance", "template"])
def test_refusals_do_not_depend_on_the_hostile_words(house: Server, argument: str) -> None:
    client = Client.begun(house, MALLORY)
    given = {"suite": CORE, "index": 0} if argument == "template" else {}
    plain = client.call("episode_open", **(given | {argument: "nosuch"}))
    assert plain.failed
    for text in HOSTILE:
        answer = client.call("episode_open", **(given | {argument: text}))
        assert answer.body == plain.body, text
    assert client.read("state")["open"] is False


NUMBERS = (
    -1, 84, 10**9, 10**30, -(10**30), 1.5, 3.5, 1e30, "-1", "0x1", "1_0", " 1", "٣", "３", "1e3",
    "{truth}", "../1", "", [0], {"0": 0}, True, "NaN", "1\x00", "0 OR 1=1",
)  # fmt: skip


@pytest.mark.parametrize("index", NUMBERS, ids=repr)
def test_an_odd_index_is_refused_with_a_fixed_sentence(house: Server, index: Any) -> None:
    client = Client.begun(house, MALLORY)
    answer = client.call("episode_open", suite=CORE, index=index)
    assert answer.failed
    beyond = f"{CORE} ends before instance 84: begin at 0"
    assert answer.text in ("`index` is a number from 0 on", f"{CORE} has instances 0 … 83", beyond)
    assert client.read("state")["open"] is False


@pytest.mark.parametrize(
    "uri",
    [
        "whybench://truth", "whybench://certificate", "whybench://world", "whybench://score",
        "whybench://record/../truth", "whybench://record/", "whybench://record?session={other}",
        "whybench://record/{other}", "whybench://{other}/record", "whybench://record#{other}",
        "whybench://RECORD", "WHYBENCH://record", "whybench://record%00", "whybench://%72ecord",
        "whybench://record\x00", " whybench://record", "whybench://{{truth}}", "whybench://*",
        "file:///etc/passwd", "http://127.0.0.1/", "../../etc/passwd", "/etc/passwd", "", "%s",
    ],
)  # fmt: skip
def test_no_resource_but_the_sessions_own(house: Server, fresh: Fresh, uri: str) -> None:
    victim = Client.begun(house, ALICE, fresh()[0])
    thief = Client.begun(house, MALLORY, fresh()[0])
    answer = thief.rpc("resources/read", {"uri": uri.format(other=victim.session)})
    message = json.loads(answer.body)
    assert message["error"]["message"] in ("no such resource", "Invalid request parameters")
    assert "data" not in message["error"]


@pytest.mark.parametrize(
    "name",
    [
        "__class__", "__init__", "episode_reset ", " episode_reset", "EPISODE_RESET", "Answer",
        "episode_truth", "episode_certificate", "episode_claim", "episode_record", "score", "truth",
        "answer\x00", "ａnswer", "episode.open", "../answer", "{truth}", "%s",
        "'; DROP TABLE actions;", "", "malformed",
    ],
)  # fmt: skip
def test_a_tricky_tool_name_is_an_illegal_action(house: Server, fresh: Fresh, name: str) -> None:
    query, instance = fresh()
    client = Client.begun(house, MALLORY, query)
    answer = client.call(name, answer=right(instance), receipt="A" * 32)
    assert answer.failed
    assert answer.data["observation"]["code"].startswith("invalid")
    state = client.read("state")
    assert (state["step"], state["done"], state["attempt"]) == (1, False, 1)


@pytest.mark.parametrize("text", ["{truth}", "{0.__class__}", "%s%n", "${7*7}", "{{7*7}}", "\x00"])
def test_arguments_are_never_templates(house: Server, fresh: Fresh, text: str) -> None:
    client = Client.begun(house, MALLORY, fresh()[0])
    plain = client.call("move", shape="zzz").data["observation"]
    tried = client.call("move", shape=text).data["observation"]
    assert tried["code"] == plain["code"]
    assert tried["data"]["reason"] == plain["data"]["reason"].replace(
        "'zzz'", repr(text.replace("\x00", "\ufffd"))
    )


@pytest.mark.parametrize("tool", ["episode_brief", "episode_reset", "episode_score"])
def test_session_tools_take_no_hints(house: Server, fresh: Fresh, tool: str) -> None:
    one, other = (Client.begun(house, MALLORY, fresh()[0]) for _ in range(2))
    plain = one.call(tool)
    hints = {"session": one.session, "attempt": 0, "counts": True, "blind": False, "truth": True}
    tried = other.call(tool, **hints, suite=[1], index={"a": None}, owner=ALICE, key="x" * 999)
    if tool == "episode_brief":
        assert "truth" not in json.loads(tried.body)["result"].get("structuredContent", {})
    else:
        assert tried.data.keys() == plain.data.keys()
        assert (tried.data["attempt"], tried.data["counts"]) == (
            plain.data["attempt"],
            plain.data["counts"],
        )


def test_calls_with_parameters_of_wrong_types_do_nothing(house: Server, fresh: Fresh) -> None:
    client = Client.begun(house, MALLORY, fresh()[0])
    for params in (
        {"name": "answer", "arguments": ["yes"]},
        {"name": "answer", "arguments": "yes"},
        {"name": ["answer"], "arguments": {}},
        {"name": None},
        {"arguments": {"answer": "yes"}},
        {"uri": 7},
    ):
        assert client.rpc("tools/call", params).failed
        assert client.rpc("resources/read", params).failed
    assert client.read("record")["steps"] == []


def test_tools_and_resources_are_the_same_whatever_the_answer(
    house: Server, secret: tuple[str, Path]
) -> None:
    """Tools name the shapes, in the order of the prompt. But for the names they are the same."""
    seen: dict[int, set[bytes]] = {}
    answers = set()
    path = "causallink/core_distinct"
    for index in range(10):
        client = Client.begun(house, MALLORY, f"?suite={path}&index={index}")
        tools = client.rpc("tools/list").body
        told = tools + client.rpc("resources/list").body
        client.end()
        listed = {one["name"]: one for one in json.loads(tools)["result"]["tools"]}
        shapes = listed["move"]["inputSchema"]["properties"]["shape"]["enum"]
        instance = load_suite(path, seed=secret[0])[index]
        answers.add(right(instance))
        shown = Session(instance).instructions
        places = [shown.index(f"{shape} ") for shape in shapes]
        assert places == sorted(places)
        for number, shape in enumerate(shapes):
            told = told.replace(f'"{shape}"'.encode(), b'"shape %d"' % number)
        seen.setdefault(len(shapes), set()).add(told)
    assert answers == {"yes", "no"}
    assert all(len(bodies) == 1 for bodies in seen.values())


def test_the_reply_to_an_answer_does_not_tell_whether_it_is_right(
    house: Server, fresh: Fresh
) -> None:
    bodies, kinds = set(), set()
    for number in range(8):
        query, instance = fresh()
        chosen = (right if number % 2 else wrong)(instance)
        kinds.add((chosen, chosen == right(instance)))
        bodies.add(Client.begun(house, MALLORY, query).call("answer", answer=chosen).body)
    assert {was_right for _, was_right in kinds} == {True, False}
    assert len(bodies) == 1


def _lab_end(server: Server, frequency: str, hypothesis: str) -> list[bytes]:
    """Propose and submit in the laboratory; return all that comes back, without the receipt."""
    client = Client.begun(server, "", f"?suite={LAB}&index=3")
    bodies = [
        client.call("propose", hypothesis=hypothesis).body,
        client.call("open_reactor").body,
        client.call("submit", frequency=frequency, hypothesis=hypothesis).body,
    ]
    told = client.call("episode_score")
    return [*bodies, told.body.replace(told.data["receipt"].encode(), b"R" * 32)]


def test_blind_replies_to_right_and_wrong_laws_are_alike(blind: Server) -> None:
    suite = load_suite(LAB)
    trace = play(suite.family.open(suite[3]), suite.family.agent("oracle", suite[3]))
    submit = trace.actions[-1].to_json()["args"]
    law, frequency = submit["hypothesis"], submit["frequency"]
    assert isinstance(law, str)
    assert isinstance(frequency, str)
    false_law = law.translate(str.maketrans("123456789", "912345678"))
    false_frequency = frequency.translate(str.maketrans("123456789", "912345678"))
    Client.begun(blind, "", f"?suite={LAB}&index=3")  # so that neither of the next two counts
    true, false = (
        _lab_end(blind, *words) for words in ((frequency, law), (false_frequency, false_law))
    )
    assert law != false_law
    assert [re.sub(rb'"attempt\W+\d+', b"", body) for body in true] == [
        re.sub(rb'"attempt\W+\d+', b"", body) for body in false
    ]


def test_blind_scores_are_alike_for_right_and_wrong_answers(blind: Server) -> None:
    told: dict[bool, set[str]] = {True: set(), False: set()}
    for index in range(20, 28):
        instance = load_suite(CORE)[index]
        client = Client.begun(blind, "", f"?suite={CORE}&index={index}")
        client.call("answer", answer="yes")
        record = client.rpc("resources/read", {"uri": "whybench://record"})
        state = client.rpc("resources/read", {"uri": "whybench://state"})
        score = client.call("episode_score")
        assert score.data["score"] is None
        shown = f"{record.body!r}{state.body!r}{score.body!r}"
        shown = shown.replace(
            score.data["receipt"], f"{len(score.data['receipt'])} letters"
        ).replace(instance.id, "ID")
        told[right(instance) == "yes"].add(re.sub(r"(index\W+)\d+", r"\1", shown))
    assert told[True] == told[False]
    assert len(told[True]) == 1


def test_a_blind_score_stays_hidden_however_often_it_is_asked(blind: Server) -> None:
    client = Client.begun(blind, "", f"?suite={CORE}&index=30")
    client.call("answer", answer="yes")
    first = client.call("episode_score")
    assert client.call("episode_score", blind=False, reveal=True).body == first.body
    reset = client.call("episode_reset")
    assert reset.data == {"attempt": 2, "counts": False}
    again = client.call("episode_score")
    assert (again.data["score"], again.data["counts"]) == (None, False)
    assert client.read("record").keys() == {"instance", "evidence", "given", "outcome", "steps"}
    assert "score" not in client.read("state")
    own, foreign = first.data["receipt"], again.data["receipt"]
    for name in (own, foreign):
        tried = Client.begun(blind, "", f"?suite={CORE}&index=31").call(
            "episode_claim", receipt=name
        )
        assert tried.failed


def test_a_killed_and_restarted_blind_server_tells_no_score_either(
    tmp_path: Path,
) -> None:
    server = Server(tmp_path / "again", ("--blind", "--suites", CORE, "--suites", GAME)).start()
    client = Client.begun(server, "", f"?suite={CORE}&index=0")
    client.call("answer", answer="yes")
    before = client.call("episode_score").data
    server.stop(signal.SIGKILL)
    server.start()
    try:
        after = client.call("episode_score").data
        assert (after["score"], after["attempt"], after["counts"]) == (None, 1, True)
        assert client.call("answer", answer="no").data["observation"]["code"] == "over"
        assert client.call("episode_reset").data == {"attempt": 2, "counts": False}
        server.goes_on()
        scores = claimed(server, before["receipt"], after["receipt"])
        assert scores[0]["score"] == scores[1]["score"]
        assert [step["action"]["args"] for step in scores[0]["trace"]["steps"]] == [
            {"answer": "yes"}
        ]
    finally:
        server.stop()


# The score


def _kept(client: Client) -> list[dict[str, Any]]:
    """Return the actions that were carried out or refused, as the record tells them."""
    return [step["action"] for step in client.read("record")["steps"]]


def test_a_replayed_submission_is_carried_out_once(house: Server, fresh: Fresh) -> None:
    query, instance = fresh()
    client = Client.begun(house, MALLORY, query)
    call = {"name": "answer", "arguments": {"answer": wrong(instance)}}
    body = json.dumps({"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": call}).encode()
    assert client.post(body).data["observation"]["code"] == "ok"
    score = client.call("episode_score")
    assert client.post(body).data["observation"]["code"] == "over"
    assert client.call("answer", answer=right(instance)).data["observation"]["code"] == "over"
    assert client.call("episode_score").body == score.body
    assert score.data["score"]["values"]["accuracy"] == 0
    assert len(_kept(client)) == 1


def test_a_reset_after_the_score_gives_no_second_chance(house: Server, fresh: Fresh) -> None:
    query, instance = fresh()
    client = Client.begun(house, MALLORY, query)
    client.call("answer", answer=wrong(instance))
    first = client.call("episode_score").data
    assert first["counts"] is True
    for attempt in (2, 3):
        assert client.call("episode_reset").data == {"attempt": attempt, "counts": False}
        client.call("answer", answer=right(instance))
        assert client.call("episode_score").data["counts"] is False
    [kept] = claimed(house, first["receipt"])
    assert kept["counts"] is True
    assert kept["score"]["values"]["accuracy"] == 0


def test_a_score_asked_early_ends_the_attempt(house: Server, fresh: Fresh) -> None:
    query, instance = fresh()
    client = Client.begun(house, MALLORY, query)
    told = client.call("episode_score").data["score"]
    assert told["outcome"] == "unfinished"
    assert client.call("answer", answer=right(instance)).data["observation"]["code"] == "over"
    assert client.call("episode_score").data["score"] == told


@pytest.mark.parametrize("way", ["same words", "another template", "by index", "after DELETE"])
def test_a_second_session_on_a_scored_instance_does_not_count(
    house: Server, fresh: Fresh, secret: tuple[str, Path], way: str
) -> None:
    query, instance = fresh()
    if way == "by index":
        instance = load_suite(CORE, seed=secret[0])[50]
        query = f"?instance=causallink/{instance.id}"
    first = Client.begun(house, MALLORY, query)
    first.call("answer", answer=wrong(instance))
    receipt = first.call("episode_score").data["receipt"]
    if way == "after DELETE":
        first.end()
    queries = {
        "another template": f"{query}&template=notebook",
        "by index": f"?suite={CORE}&index=50",
    }
    second = Client.begun(house, MALLORY, queries.get(way, query))
    second.call("answer", answer=right(instance))
    told = second.call("episode_score").data
    assert (told["attempt"], told["counts"]) == (2, False)
    [kept] = claimed(house, receipt)
    assert (kept["counts"], kept["score"]["values"]["accuracy"]) == (True, 0)


def test_spying_in_a_second_session_costs_the_first_its_count(house: Server, fresh: Fresh) -> None:
    query, instance = fresh()
    first, spy = (Client.begun(house, MALLORY, query) for _ in range(2))
    spy.call("answer", answer="yes")
    spy.call("episode_score")
    first.call("answer", answer=right(instance))
    assert first.call("episode_score").data["counts"] is False
    found = house.rows("SELECT sum(counts) FROM attempts WHERE instance LIKE ?", f"%{instance.id}")
    assert found == [(0,)]


def test_nobody_spoils_the_count_of_another_owner(house: Server, fresh: Fresh) -> None:
    query, instance = fresh()
    victim = Client.begun(house, ALICE, query)
    for _ in range(2):
        thief = Client.begun(house, MALLORY, query)
        thief.call("answer", answer="yes")
        thief.call("episode_score")
    victim.call("answer", answer=right(instance))
    told = victim.call("episode_score").data
    assert (told["attempt"], told["counts"]) == (1, True)


def test_parallel_openings_of_one_instance_count_once_at_most(house: Server, fresh: Fresh) -> None:
    query, instance = fresh()
    begin = [lambda: Client(house, MALLORY).rpc("initialize", HELLO, target=f"/mcp{query}")] * 8
    assert {answer.status for answer in at_once(begin)} == {200}
    found = house.rows(
        "SELECT count(*), count(DISTINCT number), sum(counts) FROM attempts WHERE instance LIKE ?",
        f"%{instance.id}",
    )
    assert found == [(8, 8, 0)]


def test_of_parallel_answers_one_is_carried_out(house: Server, fresh: Fresh) -> None:
    client = Client.begun(house, MALLORY, fresh()[0])
    answers = at_once([partial(client.call, "answer", answer=word) for word in ("yes", "no") * 4])
    codes = [answer.data["observation"]["code"] for answer in answers]
    assert sorted(codes) == ["ok"] + ["over"] * 7
    assert len(_kept(client)) == 1


def test_parallel_steps_do_not_stretch_the_budget(house: Server, fresh: Fresh) -> None:
    query, instance = fresh()
    client = Client.begun(house, MALLORY, query)
    match = re.search(r"at most (\d+) interventions", Session(instance).instructions)
    shape = re.search(r"What you see now: (\w+)", Session(instance).instructions)
    assert match
    assert shape
    budget = int(match[1])
    answers = at_once([lambda: client.call("move", shape=shape[1])] * (budget + 6))
    codes = [answer.data["observation"]["code"] for answer in answers]
    assert codes.count("ok") <= budget
    carried = [step["observation"]["code"] for step in client.read("record")["steps"]]
    assert carried.count("ok") == codes.count("ok")
    assert client.read("state")["done"] is True


def test_score_and_answer_at_once_leave_one_truth(house: Server, fresh: Fresh) -> None:
    client = Client.begun(house, MALLORY, fresh()[0])
    calls = [lambda: client.call("episode_score"), lambda: client.call("answer", answer="yes")]
    scores = [a.data["score"] for a in at_once(calls * 3) if "score" in a.data]
    assert all(score == scores[0] for score in scores)
    carried_out = bool(_kept(client))
    assert (scores[0]["outcome"] == "answered") == carried_out


def test_an_episode_cannot_be_opened_over_another(house: Server, fresh: Fresh) -> None:
    client = Client.begun(house, MALLORY, fresh()[0])
    before = client.read("state")
    assert client.call("episode_open", suite=CORE, index=0).failed
    assert client.call("episode_open", instance=before["instance"]).failed
    client.rpc("initialize", HELLO, target=f"/mcp?suite={CORE}&index=1")
    assert client.read("state") == before


def test_parallel_openings_in_one_session_open_one_episode(house: Server, fresh: Fresh) -> None:
    client = Client.begun(house, MALLORY)
    names = [f"causallink/{fresh()[1].id}" for _ in range(4)]
    answers = at_once([partial(client.call, "episode_open", instance=name) for name in names])
    assert sorted(answer.failed for answer in answers) == [False, True, True, True]
    opened = house.rows(
        "SELECT count(*) FROM attempts WHERE session IN (SELECT session FROM attempts"
        " WHERE instance LIKE ?)",
        f"%{client.read('record')['instance']}",
    )
    assert opened == [(1,)]


@pytest.mark.parametrize(
    "receipt",
    ["A" * 32, "", "%", "*", "' OR '1'='1", "--all", "-", "../store.sqlite", "\u202e", "{truth}"],
)
def test_a_guessed_receipt_claims_nothing(blind: Server, receipt: str) -> None:
    assert claimed(blind, receipt) is None


def test_a_receipt_is_taken_whole_and_nothing_else_is_one(blind: Server) -> None:
    client = Client.begun(blind, "", f"?suite={CORE}&index=40")
    client.call("answer", answer="yes")
    receipt = client.call("episode_score").data["receipt"]
    hashes = [key for (key,) in blind.rows("SELECT receipt FROM receipts")]
    guesses = [receipt[:-1], receipt.swapcase(), f"{receipt}A", client.session, *hashes[-2:]]
    assert [claimed(blind, guess) for guess in guesses] == [None] * len(guesses)
    [kept] = claimed(blind, receipt)
    assert kept["index"] == 40


# The store, the seed and the log


def test_sql_in_every_text_changes_nothing(house: Server, fresh: Fresh) -> None:
    sql = "x'); UPDATE attempts SET counts = 1; DELETE FROM actions; --"
    before = house.rows("SELECT name FROM sqlite_master ORDER BY name")
    counted = house.rows("SELECT sum(counts) FROM attempts")
    client = Client.begun(house, MALLORY)
    for name in ("suite", "instance", "template", "index"):
        assert client.call("episode_open", **{"suite": CORE, name: sql}).failed
    bad = Client(house, MALLORY).rpc("initialize", HELLO | {"protocolVersion": sql}, target="/mcp")
    assert bad.status in (200, 400)
    client = Client.begun(house, MALLORY, fresh()[0])
    client.call(sql, **{sql: sql})
    client.call("answer", answer=sql)
    assert client.rpc("resources/read", {"uri": sql}).failed
    assert [action["name"] for action in _kept(client)] == [sql, "answer"]
    assert house.rows("SELECT name FROM sqlite_master ORDER BY name") == before
    assert house.rows("SELECT sum(counts) FROM attempts") == [(counted[0][0] + 1,)]


def test_private_instances_cannot_be_tested_by_guesses(
    house: Server, secret: tuple[str, Path]
) -> None:
    client = Client.begun(house, MALLORY)
    refused = client.call("episode_open", instance="causallink/core-0000-000000000000")
    name, file = secret
    for seed in ("public", name.removeprefix("private:")):
        for index in range(3):
            guess = load_suite(CORE, seed=seed)[index]
            tried = client.call("episode_open", instance=f"causallink/{guess.id}")
            assert tried.body == refused.body
    served = load_suite(CORE, seed=name)[0]
    for twisted in (served.id.upper(), served.id.replace("0000", "00000"), f"{served.id}\n"):
        assert client.call("episode_open", instance=f"causallink/{twisted}").failed
    client.call("episode_open", suite=CORE, index=0, seed="public", parameters={"n": 2}, block=1)
    assert client.read("state")["instance"] == f"causallink/{served.id}"
    query = f"?suite={CORE}&index=0&seed=public&profile=published"
    assert Client.begun(house, MALLORY, query).read("state")["instance"].endswith(served.id)
    assert file.read_text().strip().encode() not in house.heard


def _all_bytes(server: Server) -> bytes:
    return b"".join(path.read_bytes() for path in server.folder.glob("store.sqlite*"))


def test_the_store_holds_no_key_to_anything(
    house: Server, fresh: Fresh, secret: tuple[str, Path]
) -> None:
    client = Client.begun(house, ALICE, fresh()[0])
    client.call("move", shape="marker-of-this-test")
    receipt = client.call("episode_score").data["receipt"]
    stored = _all_bytes(house)
    assert b"marker-of-this-test" in stored
    keys = [client.session, house.bystander.session, receipt, ALICE, MALLORY, CAROL]
    keys.append(secret[1].read_text().strip())
    assert [key for key in keys if key.encode() in stored] == []
    assert {path.stat().st_mode & 0o077 for path in house.folder.glob("store.sqlite*")} == {0}


def test_the_log_and_the_replies_hold_no_secret(
    house: Server, fresh: Fresh, secret: tuple[str, Path]
) -> None:
    query, instance = fresh()
    client = Client.begun(house, ALICE, query)
    client.rpc("tools/list", host="evil.example")
    client.rpc("tools/list", content_type="text/plain")
    client.post(b"\xff{" + client.session.encode())
    client.call("answer", answer=right(instance))
    receipt = client.call("episode_score").data["receipt"]
    time.sleep(0.05)
    log = house.logged.read_text("utf-8")
    hidden = secret[1].read_text().strip()
    for key in (client.session, house.bystander.session, receipt, ALICE, MALLORY, hidden):
        assert key not in log
    assert instance.id not in log
    assert hidden.encode() not in house.heard
    assert ALICE.encode() not in house.heard
    for trace_of_code in (
        b"Traceback",
        b'File "',
        b"site-packages",
        b".py",
        str(Path.cwd()).encode(),
    ):
        assert trace_of_code not in house.heard
