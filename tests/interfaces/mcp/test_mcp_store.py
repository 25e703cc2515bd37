"""One store, several processes: what one of them ended, no other goes on with."""

import json
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from typer.testing import CliRunner

pytest.importorskip("mcp")

from whybench.cli import app
from whybench.interfaces.mcp.catalogue import Offer, Order
from whybench.interfaces.mcp.limits import Limits
from whybench.interfaces.mcp.refusal import Busy, Refused
from whybench.interfaces.mcp.scoring_policy import Rules
from whybench.interfaces.mcp.sessions import Sessions
from whybench.interfaces.mcp.store.protocol import Conflict, Waiting, hashed, patience
from whybench.interfaces.mcp.store.receipts import results
from whybench.interfaces.mcp.store.sqlite import SqliteStore
from whybench.interfaces.mcp.transport import stdio
from whybench.interfaces.session import Session

pytestmark = pytest.mark.wire

PLACE = Order("causallink/core", 3)
OFFER = Offer(("causallink",))
PIPE = Limits(idle=0)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.sqlite"


@pytest.fixture
def stores(path: Path) -> Iterator[tuple[SqliteStore, SqliteStore]]:
    """Return two connections, as two processes have them."""
    both = SqliteStore(path), SqliteStore(path)
    yield both
    for store in both:
        store.shut()


@pytest.fixture
def two(stores: tuple[SqliteStore, SqliteStore]) -> tuple[Sessions, Sessions]:
    """Return two servers; the first began a session, and both have its episode in memory."""
    one, other = (Sessions(store, OFFER) for store in stores)
    one.begin("a")
    one.open("a", PLACE)
    one.act("a", "no_such_tool", {})
    other.state("a")
    return one, other


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Let another process write for a while."""
    base = sqlite3.connect(path, isolation_level=None)
    base.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        base.execute("ROLLBACK")
        base.close()


@pytest.mark.parametrize("how", ["score", "reset", "end"])
def test_an_attempt_that_is_over_elsewhere_does_not_go_on(
    two: tuple[Sessions, Sessions], how: str
) -> None:
    one, other = two
    getattr(other, how)("a")
    with pytest.raises(Refused, match="another process"):
        one.act("a", "answer", {"answer": "yes"})
    [first, *_] = results(one.store)
    assert (first["over"], len(first["trace"]["steps"])) == (True, 1)


def test_an_attempt_that_expired_elsewhere_does_not_go_on(two: tuple[Sessions, Sessions]) -> None:
    one, other = two
    other.clock = lambda: time.time() + 4000
    assert other.expire() == 1
    with pytest.raises(Refused, match="another process"):
        one.act("a", "answer", {"answer": "yes"})


def test_a_score_is_of_what_is_stored_or_of_nothing(two: tuple[Sessions, Sessions]) -> None:
    one, other = two
    other.act("a", "answer", {"answer": "yes"})
    with pytest.raises(Refused, match="another process"):
        one.score("a")
    assert one.score("a")["score"] == other.score("a")["score"]
    assert one.score("a")["score"]["outcome"] != "unfinished"


def test_a_session_opens_one_episode_whichever_process_is_asked(
    stores: tuple[SqliteStore, SqliteStore],
) -> None:
    one, other = (Sessions(store, OFFER) for store in stores)
    one.begin("a")
    other.state("a")
    one.open("a", PLACE)
    with pytest.raises(Refused, match="another process"):
        other.open("a", Order("causallink/core", 4))
    assert other.state("a")["index"] == 3


def test_attempts_of_one_session_stay_apart_whatever_their_numbers(
    stores: tuple[SqliteStore, SqliteStore],
) -> None:
    """A restart with another run numbers attempts from 1 again."""
    one = Sessions(stores[0], OFFER)
    one.begin("a")
    one.open("a", PLACE)
    for _ in range(2):
        one.act("a", "no_such_tool", {})
    first = one.score("a")["receipt"]
    again = Sessions(stores[1], OFFER, Rules(run="second"))
    assert again.reset("a") == {"attempt": 1, "counts": False}
    assert Sessions(stores[1], OFFER).state("a")["step"] == 0
    assert again.act("a", "answer", {"answer": "yes"})[1] == 1
    second = again.score("a")["receipt"]
    counted = [
        len(stores[0].actions(found.id))
        for receipt in (first, second)
        if (found := stores[0].claimed(hashed("receipt", receipt)))
    ]
    assert counted == [2, 1]
    assert [len(r["trace"]["steps"]) for r in results(stores[0])] == [2, 1]


def test_a_pipe_is_not_ended_by_a_servers_sweep_and_takes_no_place(
    stores: tuple[SqliteStore, SqliteStore],
) -> None:
    pipe = Sessions(stores[0], OFFER, limits=PIPE)
    stdio.prepare(pipe, "mine", PLACE)
    web = Sessions(stores[1], OFFER, limits=Limits(sessions=1), clock=lambda: time.time() + 4000)
    assert web.expire() == 0
    web.begin("a")
    pipe.act("mine", "no_such_tool", {})
    again = Sessions(stores[0], OFFER, limits=PIPE)
    stdio.prepare(again, "mine", PLACE)
    assert again.state("mine")["step"] == 1
    with pytest.raises(Busy):
        web.begin("b")
    for number in range(3):
        stdio.prepare(Sessions(stores[0], OFFER, limits=Limits(sessions=1)), f"n{number}", None)


def test_a_named_pipe_that_was_ended_is_refused_in_words(
    stores: tuple[SqliteStore, SqliteStore],
) -> None:
    pipe = Sessions(stores[0], OFFER, limits=PIPE)
    stdio.prepare(pipe, "mine", None)
    pipe.end("mine")
    with pytest.raises(ValueError, match=r"has ended\. Give another --session"):
        stdio.prepare(pipe, "mine", None)


def test_a_pipe_without_a_name_ends_with_its_process(path: Path) -> None:
    """Also one whose order was refused."""
    words = ["arena", "serve", "--store", str(path), "--suite", "causallink/core"]
    assert CliRunner().invoke(app, words, input="").exit_code == 0
    assert CliRunner().invoke(app, [*words, "--index", "999"]).exit_code == 2
    assert CliRunner().invoke(app, [*words, "--session", "mine"], input="").exit_code == 0
    with sqlite3.connect(path) as base:
        found = base.execute("SELECT ended IS NULL FROM sessions ORDER BY began").fetchall()
        over = base.execute("SELECT over, counts FROM attempts ORDER BY id").fetchall()
    assert found == [(0,), (0,), (1,)]
    assert over == [(1, 1), (0, 0)]


def test_a_session_that_is_no_longer_offered_is_refused(
    stores: tuple[SqliteStore, SqliteStore],
) -> None:
    Sessions(stores[0], OFFER).begin("a")
    Sessions(stores[0], OFFER).open("a", PLACE)
    for other in (Offer(("recite",)), Offer(seed="another"), Offer(profile="published")):
        with pytest.raises(Refused, match="not served here"):
            Sessions(stores[1], other).act("a", "answer", {"answer": "yes"})
    assert Sessions(stores[1], OFFER).state("a")["step"] == 0


def test_a_score_is_computed_once(
    two: tuple[Sessions, Sessions], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, _ = two
    first = one.score("a")
    monkeypatch.delattr(Session, "score")
    assert one.score("a") == first


def test_greeting_writes_nothing_and_the_sweep_writes_all(
    stores: tuple[SqliteStore, SqliteStore], path: Path
) -> None:
    now = [1000.0]
    sessions = Sessions(stores[0], OFFER, limits=Limits(live=1, idle=100.0), clock=lambda: now[0])
    for key in "ab":
        sessions.begin(key)
    with writing(path):
        now[0] = 1090.0
        for key in "aba":
            sessions.greet(key)
    now[0] = 1150.0
    sessions.greet("b")  # was out of memory: the store alone would call it silent
    assert sessions.expire() == 0
    found = stores[1].find("a"), stores[1].find("b")
    assert [session.spoke for session in found if session] == [1090.0, 1150.0]
    forever = Sessions(stores[0], OFFER, limits=Limits(idle=0), clock=lambda: 9e9)
    forever.greet("a")
    assert not forever._spoken


def test_a_store_in_use_is_waited_for_as_long_as_there_is_patience(
    stores: tuple[SqliteStore, SqliteStore], path: Path
) -> None:
    token = patience.set(0.02)
    try:
        with writing(path):
            started = time.monotonic()
            with pytest.raises(Waiting):
                stores[0].begin("a", "", 0.0)
            assert time.monotonic() - started < 2
            assert stores[0].find("a") is None
        stores[0].begin("a", "", 0.0)
    finally:
        patience.reset(token)
    with pytest.raises(Conflict):
        stores[0].begin("a", "", 0.0)


def test_a_transaction_that_cannot_be_committed_leaves_the_store_usable(
    stores: tuple[SqliteStore, SqliteStore],
) -> None:
    class Full:
        """A connection on which nothing can be committed."""

        def __init__(self, base: sqlite3.Connection) -> None:
            self.base = base

        def __getattr__(self, name: str) -> object:
            return getattr(self.base, name)

        def execute(self, statement: str, *values: object) -> object:
            if statement == "COMMIT":
                raise sqlite3.OperationalError("database or disk is full")
            return self.base.execute(statement, *values)

    store, whole = stores[0], stores[0]._base
    store.begin("a", "", 0.0)
    store._base = Full(whole)  # type: ignore[assignment]
    with pytest.raises(sqlite3.OperationalError):
        store.end("a", 1.0)
    store._base = whole
    found = store.find("a")
    assert found is not None
    assert not found.ended
    store.end("a", 1.0)


def claimed(path: Path, *words: str) -> tuple[int, str, str]:
    done = CliRunner().invoke(app, ["arena", "claim", "--store", str(path), *words])
    return done.exit_code, done.stdout, done.stderr


def test_one_attempt_that_cannot_be_replayed_does_not_hide_the_others(path: Path) -> None:
    store = SqliteStore(path)
    sessions = Sessions(store, OFFER)
    for number in range(2):
        sessions.begin(str(number))
        sessions.open(str(number), Order("causallink/core", number))
        receipt = sessions.score(str(number))["receipt"]
    old = {**(store.find("0").instance or {}), "version": "0"}  # type: ignore[union-attr]
    store._run("UPDATE sessions SET instance = ? WHERE key = '0'", json.dumps(old))
    store.shut()
    code, told, why = claimed(path, "--all")
    broken, whole = json.loads(told)
    assert (code, "1 of 2" in why) == (1, True)
    assert "another WhyBench" in broken["error"]
    assert (broken["index"], "score" in broken, "error" in whole) == (0, False, False)
    assert whole["score"]["outcome"] == "unfinished"
    assert claimed(path, str(receipt))[0] == 0


@pytest.mark.parametrize("kind", ["text", "foreign", "old", "numbered"])
def test_a_file_that_is_no_store_of_ours_is_refused_and_left_alone(path: Path, kind: str) -> None:
    if kind == "text":
        path.write_text("this is no database, and long enough to be looked at" * 20)
    else:
        with sqlite3.connect(path) as base:
            base.execute("CREATE TABLE sessions (mine TEXT)")
            version = {"foreign": 0, "old": 1, "numbered": 2}[kind]
            base.execute(f"PRAGMA user_version = {version}")
        base.close()
    before = path.read_bytes()
    with pytest.raises(ValueError, match="Give another --store"):
        SqliteStore(path)
    code, _, why = claimed(path, "--all")
    assert (code, "Give another --store" in why) == (2, True)
    assert path.read_bytes() == before
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_claiming_makes_no_store(path: Path) -> None:
    assert "does not exist" in claimed(path, "--all")[2]
    assert not path.exists()
    path.touch()
    assert "empty file" in claimed(path, "--all")[2]
    assert path.read_bytes() == b""


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--http", "--suite", "causallink/core"], "work with stdio only"),
        (["--http", "--index", "0"], "work with stdio only"),
        (["--http", "--instance", "causallink/core-0003-0123456789ab"], "work with stdio only"),
        (["--http", "--template", "plain"], "work with stdio only"),
        (["--http", "--session", "mine"], "work with stdio only"),
        (["--index", "3"], "Give --suite"),
        (["--index", "3", "--instance", "causallink/core-0003-0123456789ab"], "Give --suite"),
        (["--template", "plain"], "Give --suite or --instance"),
    ],
)
def test_options_that_would_be_ignored_are_refused(path: Path, words: list[str], told: str) -> None:
    done = CliRunner().invoke(app, ["arena", "serve", "--store", str(path), *words], input="")
    assert (done.exit_code, told in done.stderr) == (2, True)
    assert not path.exists()
