"""Sessions and their store, without a wire."""

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from whybench.causal.canonical import canonical_json
from whybench.episode.instance import Instance
from whybench.episode.registry import families
from whybench.interfaces.mcp.catalogue import Offer, Order
from whybench.interfaces.mcp.limits import Limits
from whybench.interfaces.mcp.refusal import Busy, Gone, Refused
from whybench.interfaces.mcp.scoring_policy import Rules
from whybench.interfaces.mcp.sessions import Sessions
from whybench.interfaces.mcp.store.protocol import hashed
from whybench.interfaces.mcp.store.receipts import claim, results
from whybench.interfaces.mcp.store.sqlite import SqliteStore
from whybench.interfaces.session import Session

SUITES = (
    "causalab/main_3",
    "causalgame/antenna",
    "causallink/core",
    "recite/short",
    "replayscm/lab",
)
FIRST = Order("causallink/core", 3)


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    base = SqliteStore(tmp_path / "store.sqlite")
    yield base
    base.shut()


def opened(sessions: Sessions, key: str = "a", order: Order = FIRST, owner: str = "") -> Sessions:
    sessions.begin(key, owner)
    sessions.open(key, order)
    return sessions


def calls(path: str) -> list[tuple[str, dict]]:
    """Return what the exact agent does, with nonsense before it."""
    family, _, suite = path.partition("/")
    instance = families()[family].suite(suite)[0]
    actions = families()[family].exact_run(instance).actions
    exact = [(action.to_json()["name"], action.to_json()["args"]) for action in actions]
    return [("no_such_tool", {"ünïcode": [1, None, {"a": 2.5}]}), *exact]


@pytest.mark.parametrize("path", SUITES)
def test_a_session_that_loses_its_memory_after_every_call_goes_on_alike(
    path: str, store: SqliteStore
) -> None:
    kept = opened(Sessions(store), "kept", Order(path, 0))
    opened(Sessions(store), "lost", Order(path, 0))
    plain = Session(families()[path.partition("/")[0]].suite(path.partition("/")[2])[0])
    for name, args in calls(path):
        reply, step = kept.act("kept", name, args)
        assert Sessions(store).act("lost", name, args) == (reply, step)
        assert plain.call(name, args) == reply
    lost = Sessions(store)
    assert canonical_json(lost.record("lost")) == canonical_json(plain.trace.to_json())
    assert lost.score("lost")["score"] == kept.score("kept")["score"] == plain.score().to_json()
    assert lost.state("lost")["done"] is True


def test_sessions_that_make_room_for_others_are_restored(store: SqliteStore) -> None:
    sessions = Sessions(store, limits=Limits(live=2))
    for number in range(5):
        opened(sessions, str(number), Order("causallink/core", number))
    for _ in range(2):
        for number in range(5):
            sessions.act(str(number), "no_such_tool", {})
    assert [sessions.state(str(number))["step"] for number in range(5)] == [2] * 5
    assert [sessions.state(str(number))["index"] for number in range(5)] == list(range(5))


def test_what_could_not_be_stored_did_not_happen(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    sessions = opened(Sessions(store))
    sessions.act("a", "no_such_tool", {})

    def full(*_: object) -> None:
        raise sqlite3.OperationalError("disk is full")

    with monkeypatch.context() as broken:
        broken.setattr(SqliteStore, "append", full)
        with pytest.raises(sqlite3.OperationalError):
            sessions.act("a", "answer", {"answer": "yes"})
    assert sessions.state("a")["step"] == 1
    assert sessions.act("a", "answer", {"answer": "yes"})[0].done


def test_two_processes_on_one_session_never_mix_their_actions(store: SqliteStore) -> None:
    one = opened(Sessions(store))
    other = Sessions(store)
    other.state("a")
    one.act("a", "no_such_tool", {})
    assert other.act("a", "no_such_tool", {})[1] == 2
    assert one.record("a") == other.record("a")
    assert len(one.record("a")["steps"]) == 2


def test_a_session_opens_one_episode_once(store: SqliteStore) -> None:
    sessions = opened(Sessions(store))
    with pytest.raises(Refused, match="new session"):
        sessions.open("a", Order("causallink/core", 4))
    assert sessions.state("a")["index"] == 3


def test_nothing_can_be_done_before_an_episode_is_open(store: SqliteStore) -> None:
    sessions = Sessions(store)
    sessions.begin("a")
    assert sessions.tools("a") is None
    assert sessions.state("a")["open"] is False
    for ask in (sessions.instructions, sessions.record, sessions.reset, sessions.score):
        with pytest.raises(Refused, match="episode_open"):
            ask("a")


def test_after_the_score_nothing_changes(store: SqliteStore) -> None:
    sessions = opened(Sessions(store))
    first = sessions.score("a")
    assert first["score"]["outcome"] == "unfinished"
    reply, step = sessions.act("a", "answer", {"answer": "yes"})
    assert (reply.observation.code, reply.done, step) == ("over", True, 0)
    assert sessions.score("a") == first
    assert Sessions(store).act("a", "answer", {"answer": "yes"})[0].observation.code == "over"
    assert Sessions(store).score("a")["score"] == first["score"]


def test_only_a_first_attempt_counts(store: SqliteStore) -> None:
    sessions = opened(Sessions(store))
    sessions.act("a", "answer", {"answer": "yes"})
    assert sessions.score("a")["counts"] is True
    assert sessions.reset("a") == {"attempt": 2, "counts": False}
    assert sessions.state("a")["step"] == 0
    sessions.act("a", "answer", {"answer": "no"})
    second = sessions.score("a")
    assert (second["attempt"], second["counts"]) == (2, False)
    assert opened(Sessions(store), "b").score("b")["attempt"] == 3
    assert opened(Sessions(store), "c", Order("causallink/core", 4)).score("c")["counts"] is True
    assert [r["counts"] for r in results(store)] == [True, False, False, True]


def test_attempts_of_other_owners_runs_and_sessions_are_apart(store: SqliteStore) -> None:
    assert opened(Sessions(store), "a", owner="x").score("a")["attempt"] == 1
    assert opened(Sessions(store), "b", owner="y").score("b")["attempt"] == 1
    named = Sessions(store, rules=Rules(run="another model"))
    assert opened(named, "c", owner="x").score("c")["counts"] is True
    alone = Sessions(store, rules=Rules(attempts="session"))
    for key in "de":
        assert opened(alone, key, owner="x").score(key)["counts"] is True
    assert alone.reset("e") == {"attempt": 2, "counts": False}


def test_a_second_session_cannot_scout_for_a_first_that_is_still_open(store: SqliteStore) -> None:
    sessions = opened(Sessions(store), "a")
    assert sessions.state("a")["counts"] is True
    opened(sessions, "scout").score("scout")
    sessions.act("a", "answer", {"answer": "yes"})
    assert sessions.score("a")["counts"] is False


def test_an_abandoned_first_attempt_keeps_its_place(store: SqliteStore) -> None:
    sessions = opened(Sessions(store), "a")
    sessions.end("a")
    assert opened(sessions, "b").score("b")["counts"] is False
    assert [(r["counts"], r["score"]["outcome"]) for r in results(store)] == [
        (True, "unfinished"),
        (False, "unfinished"),
    ]


def test_blind_replies_are_the_same_for_right_and_wrong_answers(store: SqliteStore) -> None:
    sessions = Sessions(store, rules=Rules(blind=True, attempts="session"))
    seen = {}
    for answer in ("yes", "no"):
        opened(sessions, answer)
        reply = sessions.act(answer, "answer", {"answer": answer})
        told = sessions.score(answer)
        seen[answer] = (reply, {**told, "receipt": len(told["receipt"])}, sessions.state(answer))
    assert seen["yes"] == seen["no"]
    assert seen["yes"][1]["score"] is None


def test_a_receipt_is_claimed_from_stored_actions(store: SqliteStore, tmp_path: Path) -> None:
    sessions = Sessions(store, rules=Rules(blind=True, attempts="session"))
    receipts = {}
    for answer in ("yes", "no"):
        opened(sessions, answer)
        sessions.act(answer, "answer", {"answer": answer})
        receipts[answer] = sessions.score(answer)["receipt"]
    claimed = list(claim(store, receipts.values()))
    assert sorted(c["score"]["values"]["accuracy"] for c in claimed) == [0.0, 1.0]
    assert [c["trace"]["steps"][0]["action"]["args"]["answer"] for c in claimed] == ["yes", "no"]
    with pytest.raises(ValueError, match="no attempt"):
        list(claim(store, ["guessed"]))
    stored = b"".join(file.read_bytes() for file in tmp_path.glob("store.sqlite*"))
    assert receipts["yes"].encode() not in stored
    assert hashed("receipt", receipts["yes"]).encode() in stored


def test_silent_sessions_end_and_others_stay(store: SqliteStore) -> None:
    clock = Clock()
    sessions = Sessions(store, limits=Limits(idle=100.0), clock=clock)
    opened(sessions, "silent")
    opened(sessions, "busy", Order("causallink/core", 4))
    for _ in range(4):
        clock.now += 40.0
        sessions.greet("busy")
    assert sessions.expire() == 1
    assert [attempt.over for attempt in store.attempts()] == [True, False]
    with pytest.raises(Gone):
        sessions.greet("silent")
    with pytest.raises(Gone):
        Sessions(store).act("silent", "answer", {"answer": "yes"})
    assert sessions.greet("busy").key == "busy"
    clock.now += 101.0
    with pytest.raises(Gone):
        sessions.greet("busy")
    assert sessions.expire() == 1
    with pytest.raises(Gone):
        Sessions(store, clock=clock).greet("busy")


def test_a_foreign_owner_finds_no_session(store: SqliteStore) -> None:
    sessions = opened(Sessions(store), owner="x")
    for table in (sessions, Sessions(store)):
        for stranger in ("", "y"):
            with pytest.raises(Gone):
                table.greet("a", stranger)
        assert table.greet("a", "x").owner == "x"


def test_there_are_at_most_so_many_sessions(store: SqliteStore) -> None:
    sessions = Sessions(store, limits=Limits(sessions=2))
    sessions.begin("a")
    sessions.begin("b")
    with pytest.raises(Busy) as refused:
        sessions.begin("c")
    assert refused.value.wait > 0
    sessions.end("a")
    sessions.begin("c")


def test_an_attempt_has_at_most_so_many_actions(store: SqliteStore) -> None:
    """`get_status` is legal for ever."""
    sessions = Sessions(store, limits=Limits(steps=3))
    opened(sessions, order=Order("causalgame/antenna", 0))
    for _ in range(3):
        assert not sessions.act("a", "get_status", {})[0].observation.is_error
    with pytest.raises(Refused, match="ask for its score"):
        sessions.act("a", "get_status", {})
    assert sessions.state("a")["step"] == 3


def test_the_actions_of_an_attempt_have_at_most_so_many_bytes(store: SqliteStore) -> None:
    """`get_status` is legal whatever comes with it."""
    sessions = Sessions(store, limits=Limits(volume=3000))
    opened(sessions, order=Order("causalgame/antenna", 0))
    sessions.act("a", "get_status", {"more": "x" * 2000})
    for table in (sessions, Sessions(store, limits=sessions.limits)):
        with pytest.raises(Refused, match="ask for its score"):
            table.act("a", "get_status", {"more": "x" * 2000})
        assert table.state("a")["step"] == 1


def test_the_state_tells_coordinates_alone(store: SqliteStore) -> None:
    sessions = opened(Sessions(store))
    instance = families()["causallink"].suite("core")[3]
    told = json.dumps([sessions.state("a"), sessions.record("a")])
    assert instance.id in told
    assert instance.cluster not in told
    assert set(sessions.state("a")) == {
        "open", "suite", "index", "instance", "template", "step", "done", "attempt", "counts",
    }  # fmt: skip


def test_a_session_of_another_version_is_refused_not_replayed(store: SqliteStore) -> None:
    opened(Sessions(store))
    found = store.find("a")
    assert found is not None
    assert found.instance is not None
    changed = Instance.from_json({**found.instance, "version": "0"}).to_json()
    store._run("UPDATE sessions SET instance = ? WHERE key = 'a'", json.dumps(changed))
    with pytest.raises(Refused, match="another WhyBench"):
        Sessions(store).state("a")


@pytest.mark.parametrize(
    "given",
    [
        {"suite": "causallink/core", "index": "-1"},
        {"suite": "causallink/core", "index": "٣"},
        {"suite": "causallink/core", "index": True},
        {"suite": "causallink/core", "index": [[0]]},
        {"suite": "causallink/core", "index": 0.5},
        {"suite": "causallink/core", "index": float("inf")},
        {"suite": "causallink/core", "index": "84"},
        {"suite": "causallink/core", "template": "../plain"},
        {"suite": ["causallink/core"]},
        {"suite": "causallink/../core"},
        {"suite": "causallink/core", "instance": "causallink/core-0003-000000000000"},
        {"instance": "causallink/core-0003-000000000000"},
        {"instance": "causallink/core-0003-00000000000g"},
        {"instance": "causalgame/antenna-0003-000000000000"},
    ],
)
def test_orders_that_cannot_be_met_are_refused(given: dict) -> None:
    with pytest.raises(Refused):
        Offer(("causallink",)).instance(Order.read(given) or Order())


def test_an_instance_is_had_by_name_or_place() -> None:
    offer = Offer(("causallink/core",))
    by_place, template = offer.instance(Order("causallink/core", 3))
    assert offer.instance(Order(instance=f"causallink/{by_place.id}")) == (by_place, template)
    assert Order.read({"suite": ""}) is None
    assert Order.read({"suite": "causallink/core", "index": 3.0}) == Order("causallink/core", 3)


@pytest.mark.parametrize("wrong", [{"suites": ("nothing",)}, {"profile": "x"}, {"seed": ""}])
def test_an_offer_of_nothing_is_refused_at_once(wrong: dict) -> None:
    with pytest.raises(ValueError, match=r"suite|profile|seed"):
        Offer(**wrong)
