"""One store, several processes: what one of them ended, no other goes on with."""

import json
import sqlite3
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest
from typer.testing import CliRunner

pytest.importorskip("mcp")

from whybench.cli import app
from whybench.episode.observation import OVER, Observation
from whybench.episode.registry import load_suite
from whybench.interfaces.mcp.catalogue import Offer, Order
from whybench.interfaces.mcp.limits import Limits
from whybench.interfaces.mcp.refusal import Busy, Gone, Refused
from whybench.interfaces.mcp.scoring_policy import Rules
from whybench.interfaces.mcp.sessions import Sessions
from whybench.interfaces.mcp.store import sql, sqlite_file
from whybench.interfaces.mcp.store.opened import opened
from whybench.interfaces.mcp.store.protocol import Conflict, Store, Waiting, hashed, patience
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


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, path: Path) -> str:
    """Return the name of an empty store of each kind."""
    return str(path) if request.param == "sqlite" else request.getfixturevalue("database")


@pytest.fixture
def stores(place: str) -> Iterator[tuple[Store, Store]]:
    """Return two stores in one place, as two processes have them."""
    both = opened(place), opened(place)
    yield both
    for store in both:
        store.shut()


@pytest.fixture
def files(path: Path) -> Iterator[tuple[SqliteStore, SqliteStore]]:
    """Return two stores in one file, for tests that look into it."""
    both = SqliteStore(path), SqliteStore(path)
    yield both
    for store in both:
        store.shut()


@pytest.fixture
def two(stores: tuple[Store, Store]) -> tuple[Sessions, Sessions]:
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


def test_an_attempt_that_is_over_elsewhere_does_not_go_on(two: tuple[Sessions, Sessions]) -> None:
    one, other = two
    other.score("a")
    reply, step = one.act("a", "answer", {"answer": "yes"})
    assert (reply.observation, step) == (Observation(OVER), 1)
    [first] = results(one.store)
    assert (first["over"], len(first["trace"]["steps"])) == (True, 1)


def test_an_attempt_that_was_reset_elsewhere_goes_on_as_the_new_one(
    two: tuple[Sessions, Sessions],
) -> None:
    one, other = two
    other.reset("a")
    assert one.act("a", "answer", {"answer": "yes"})[1] == 1
    first, second = results(one.store)
    assert (first["over"], len(first["trace"]["steps"])) == (True, 1)
    assert (second["attempt"], second["counts"], len(second["trace"]["steps"])) == (2, False, 1)


@pytest.mark.parametrize("call", ["act", "score", "state", "record", "instructions", "tools"])
@pytest.mark.parametrize("how", ["end", "expire"])
def test_a_session_that_ended_elsewhere_is_gone(
    two: tuple[Sessions, Sessions], how: str, call: str
) -> None:
    one, other = two
    if how == "end":
        other.end("a")
    else:
        other.clock = lambda: time.time() + 4000
        assert other.expire() == 1
    with pytest.raises(Gone):
        getattr(one, call)("a", *(("answer", {"answer": "yes"}) if call == "act" else ()))
    [first] = results(one.store)
    assert (first["over"], len(first["trace"]["steps"])) == (True, 1)


def test_a_score_is_of_what_is_stored(two: tuple[Sessions, Sessions]) -> None:
    one, other = two
    other.act("a", "answer", {"answer": "yes"})
    assert one.score("a")["score"] == other.score("a")["score"]
    assert one.score("a")["score"]["outcome"] != "unfinished"


def test_reads_are_of_what_is_stored_whichever_process_is_asked(
    two: tuple[Sessions, Sessions],
) -> None:
    one, other = two
    for step in range(2, 5):
        one.act("a", "no_such_tool", {})
        assert other.state("a") == one.state("a")
        assert other.state("a")["step"] == step
        assert other.record("a") == one.record("a")
        assert other.instructions("a") == one.instructions("a")
    one.reset("a")
    assert other.record("a")["steps"] == []


def test_processes_that_take_turns_make_every_action_once(two: tuple[Sessions, Sessions]) -> None:
    steps = [two[number].act("a", "no_such_tool", {})[1] for number in (1, 0, 1)]
    assert steps == [2, 3, 4]
    [only] = results(two[0].store)
    assert len(only["trace"]["steps"]) == 4


def test_a_conflict_that_does_not_end_is_refused_in_words(
    two: tuple[Sessions, Sessions], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, _ = two
    tries = []

    def never(*values: object) -> None:
        tries.append(values)
        raise Conflict

    with monkeypatch.context() as patch:
        patch.setattr(type(one.store), "append", never)
        with pytest.raises(Refused, match="other processes"):
            one.act("a", "no_such_tool", {})
    assert len(tries) == 3
    assert one.act("a", "no_such_tool", {})[1] == 2


def test_a_session_opens_one_episode_whichever_process_is_asked(
    stores: tuple[Store, Store],
) -> None:
    one, other = (Sessions(store, OFFER) for store in stores)
    one.begin("a")
    assert other.tools("a") is None
    one.open("a", PLACE)
    assert other.tools("a")
    with pytest.raises(Refused, match="an episode is open"):
        other.open("a", Order("causallink/core", 4))
    assert other.state("a")["index"] == 3


def test_threads_append_together_and_each_action_is_kept_once(stores: tuple[Store, Store]) -> None:
    """Twelve attempts, two processes; each number is asked for twice, and kept once."""
    made = []
    for name in range(12):
        stores[0].begin(str(name), "", 0.0)
        where = {"family": "f", "suite": "s", "id": f"s-{name}"}
        made.append(stores[0].open(str(name), 0, where, "", "x", "", 0.0).id)

    def tried(job: tuple[int, int]) -> list[int]:
        attempt, process = job
        kept = []
        for number in range(20):
            try:
                stores[process].append(attempt, number, f'"{process}"', False, 1.0 + process)
                kept.append(number)
            except Conflict:
                while len(stores[process].actions(attempt)) <= number:
                    time.sleep(0.001)
        return kept

    jobs = [(attempt, process) for attempt in made for process in (0, 1)]
    with ThreadPoolExecutor(24) as pool:
        kept = dict(zip(jobs, pool.map(tried, jobs), strict=True))
    for attempt in made:
        assert sorted(kept[attempt, 0] + kept[attempt, 1]) == list(range(20))
        owners = [0 if number in kept[attempt, 0] else 1 for number in range(20)]
        assert stores[1].actions(attempt) == [f'"{owner}"' for owner in owners]
        assert stores[1].attempt(attempt).count == 20  # type: ignore[union-attr]


def test_an_attempt_is_never_closed_at_another_number_of_actions(
    stores: tuple[Store, Store],
) -> None:
    """Close and append at once, in two processes: one of them is first, and the other conflicts."""
    for name in range(20):
        stores[0].begin(str(name), "", 0.0)
        where = {"family": "f", "suite": "s", "id": f"s-{name}"}
        attempt = stores[0].open(str(name), 0, where, "", "x", "", 0.0).id
        with ThreadPoolExecutor(2) as pool:
            jobs = (
                pool.submit(stores[0].append, attempt, 0, "{}", False, 1.0),
                pool.submit(stores[1].close, attempt, 0),
            )
        assert sorted(isinstance(job.exception(), Conflict) for job in jobs) == [False, True]
        found = stores[0].attempt(attempt)
        assert found is not None
        assert (found.count, found.over) in ((1, False), (0, True))
        assert len(stores[0].actions(attempt)) == found.count


def test_a_second_look_at_a_hidden_system_never_counts(stores: tuple[Store, Store]) -> None:
    """golden_4 has the systems of main_4, so its scores tell the answers there."""
    sessions = Sessions(stores[0], Offer(("causalab",)))
    told = []
    for key, suite in (("a", "golden_4"), ("b", "main_4"), ("c", "main_4")):
        sessions.begin(key)
        sessions.open(key, Order(f"causalab/{suite}", 1 if key == "c" else 0))
        sessions.score(key)
        state = sessions.state(key)
        told.append((state["attempt"], state["counts"]))
    assert told == [(1, True), (2, False), (1, True)]


def test_a_spy_in_another_suite_costs_the_first_its_count(stores: tuple[Store, Store]) -> None:
    sessions = Sessions(stores[0], Offer(("causalab",)))
    for key, suite in (("a", "main_4"), ("b", "golden_4")):
        sessions.begin(key)
        sessions.open(key, Order(f"causalab/{suite}", 0))
    assert not sessions.state("a")["counts"]
    assert not sessions.state("b")["counts"]


def test_a_suite_that_repeats_a_kind_of_system_counts_each_instance(
    stores: tuple[Store, Store],
) -> None:
    sessions = Sessions(stores[0], OFFER)
    for index in range(6):
        sessions.begin(str(index))
        sessions.open(str(index), Order("causallink/core", index))
        assert sessions.state(str(index))["counts"]


def test_openings_of_two_processes_at_once_get_numbers_of_their_own(
    stores: tuple[Store, Store],
) -> None:
    where = {"family": "f", "suite": "s", "id": "s-0"}
    for name in range(16):
        stores[0].begin(str(name), "", 0.0)

    def made(name: int) -> int:
        return stores[name % 2].open(str(name), 0, where, "", "x", "", 0.0).number

    with ThreadPoolExecutor(8) as pool:
        assert sorted(pool.map(made, range(16))) == list(range(1, 17))
    assert not any(found.counts for found in stores[0].attempts())


def test_uses_of_an_owner_are_counted_by_day(stores: tuple[Store, Store]) -> None:
    one, other = stores
    assert [s.use("o", "opening", 3, 0.0) for s in (one, other, one, other)] == [True] * 3 + [False]
    assert one.use("p", "opening", 3, 0.0)
    assert one.use("o", "restore", 3, 0.0)
    assert other.use("o", "opening", 3, 86400.0)


def test_attempts_of_one_session_stay_apart_whatever_their_numbers(
    stores: tuple[Store, Store],
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
    stores: tuple[Store, Store],
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
    stores: tuple[Store, Store],
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
    stores: tuple[Store, Store],
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
    files: tuple[SqliteStore, SqliteStore], path: Path
) -> None:
    now = [1000.0]
    sessions = Sessions(files[0], OFFER, limits=Limits(live=1, idle=100.0), clock=lambda: now[0])
    for key in "ab":
        sessions.begin(key)
    with writing(path):
        now[0] = 1090.0
        for key in "aba":
            sessions.greet(key)
    now[0] = 1150.0
    sessions.greet("b")  # was out of memory: the store alone would call it silent
    assert sessions.expire() == 0
    found = files[1].find("a"), files[1].find("b")
    assert [session.spoke for session in found if session] == [1090.0, 1150.0]
    forever = Sessions(files[0], OFFER, limits=Limits(idle=0), clock=lambda: 9e9)
    forever.greet("a")
    assert not forever._spoken


def test_a_store_in_use_is_waited_for_as_long_as_there_is_patience(
    files: tuple[SqliteStore, SqliteStore], path: Path
) -> None:
    token = patience.set(0.02)
    try:
        with writing(path):
            started = time.monotonic()
            with pytest.raises(Waiting):
                files[0].begin("a", "", 0.0)
            assert time.monotonic() - started < 2
            assert files[0].find("a") is None
        files[0].begin("a", "", 0.0)
    finally:
        patience.reset(token)
    with pytest.raises(Conflict):
        files[0].begin("a", "", 0.0)


def test_a_transaction_that_cannot_be_committed_leaves_the_store_usable(
    files: tuple[SqliteStore, SqliteStore],
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

    store, whole = files[0], files[0]._base
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


def test_an_older_store_is_migrated_after_a_copy(path: Path) -> None:
    """Sessions go on, attempts keep numbers and counts, and a second look is known as one."""
    folder = Path(sql.__file__).parent / "migrations" / "sqlite"
    where = load_suite("causalab/golden_4")[0].to_json()
    with sqlite3.connect(path) as base:
        base.executescript((folder / "2.sql").read_text())
        base.execute(f"PRAGMA application_id = {sqlite_file.OURS}")
        base.execute("PRAGMA user_version = 2")
        base.execute(
            "INSERT INTO sessions VALUES ('a', '', 1, 1, 0, NULL, ?, 'plain', 1)",
            (json.dumps(where),),
        )
        base.execute(
            "INSERT INTO attempts VALUES (1, 'owner  ', ?, 1, 'a', '', 1, 0, 1)",
            (f"causalab/{where['id']}",),
        )
        base.execute("""INSERT INTO actions VALUES (1, 0, '{"name": "x", "args": {}}', 1)""")
    base.close()
    with pytest.raises(ValueError, match="whybench arena upgrade"):
        SqliteStore(path)
    before = path.read_bytes()
    done = CliRunner().invoke(app, ["arena", "upgrade", "--store", str(path)])
    assert done.exit_code == 0, done.output
    store = SqliteStore(path)
    sessions = Sessions(store, Offer(("causalab",)))
    found = store.attempt(1)
    assert found is not None
    assert (found.number, found.counts, found.count, found.over) == (1, True, 1, False)
    store.append(1, 1, "{}", False, 2.0)
    sessions.begin("b")
    sessions.open("b", Order("causalab/main_4", 0))
    assert sessions.state("b")["attempt"] == 2
    store.shut()
    [copy] = path.parent.glob("*.format-2")
    assert copy.stat().st_mode & 0o777 == 0o600
    with sqlite3.connect(copy) as base:
        assert base.execute("SELECT count(*) FROM actions").fetchone() == (1,)
    assert before != path.read_bytes()
    again = CliRunner().invoke(app, ["arena", "upgrade", "--store", str(path)])
    assert (again.exit_code, "already" in again.stdout) == (0, True)


def test_a_commit_of_a_file_waits_for_the_disk(files: tuple[SqliteStore, SqliteStore]) -> None:
    assert files[0]._run("PRAGMA synchronous") == [(2,)]
    assert files[0].durable
    assert not SqliteStore(":memory:").durable


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
