"""PostgreSQL is killed while actions are stored: each acknowledged action is there, once."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

pytest.importorskip("mcp")

from whybench.interfaces.mcp.store.opened import opened
from whybench.interfaces.mcp.store.protocol import Waiting, patience

pytestmark = pytest.mark.wire

KILLS = 3


def test_a_killed_database_loses_no_acknowledged_action(cluster: Any, database: str) -> None:
    store, stop = opened(database), threading.Event()
    attempts = []
    for name in range(8):
        store.begin(str(name), "", 0.0)
        where = {"family": "f", "suite": "s", "id": f"s-{name}"}
        attempts.append(store.open(str(name), 0, where, "", "x", "", 0.0).id)
    kept = dict.fromkeys(attempts, 0)

    def appended(attempt: int) -> None:
        patience.set(150.0)
        while not stop.is_set():
            store.append(attempt, kept[attempt], str(kept[attempt]), False, time.time())
            kept[attempt] += 1

    with ThreadPoolExecutor(8) as pool:
        jobs = [pool.submit(appended, attempt) for attempt in attempts]
        try:
            for _ in range(KILLS):
                before = sum(kept.values())
                until = time.monotonic() + 60
                while sum(kept.values()) < before + 50 and time.monotonic() < until:
                    time.sleep(0.01)
                assert sum(kept.values()) >= before + 50
                cluster.kill()
        finally:
            stop.set()
    for job in jobs:
        job.result()
    for attempt in attempts:
        found = store.attempt(attempt)
        assert found is not None
        assert found.count == kept[attempt]
        assert store.actions(attempt) == [str(number) for number in range(kept[attempt])]
    store.shut()


def test_a_database_that_is_away_is_waited_for_as_long_as_there_is_patience(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = opened(database)
    store.shut()
    monkeypatch.setattr(store, "_url", "postgresql://nobody@127.0.0.1:1/none")
    token = patience.set(0.2)
    try:
        started = time.monotonic()
        with pytest.raises(Waiting):
            store.find("a")
        assert time.monotonic() - started < 5
    finally:
        patience.reset(token)
