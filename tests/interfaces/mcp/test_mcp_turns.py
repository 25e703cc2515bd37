"""Whose turn it is: one session's calls in order, different sessions side by side."""

import threading
import time
from functools import partial

import anyio
import pytest

from whybench.interfaces.mcp.backlog import EVER, MOST, MOST_OF_ONE, SOON, Backlog
from whybench.interfaces.mcp.hangup import listening, while_connected
from whybench.interfaces.mcp.refusal import Busy
from whybench.interfaces.mcp.session_queue import (
    LONG,
    PATIENCE,
    QUICK,
    SLOW_WORKERS,
    STACKED,
    TRIALS,
    Turns,
)
from whybench.interfaces.mcp.store.protocol import Waiting, patience


def where() -> str:
    return threading.current_thread().name


def slow() -> str:
    started = time.thread_time()
    while time.thread_time() - started <= 2 * QUICK:
        pass
    return where()


def test_the_calls_of_one_session_never_overlap() -> None:
    turns, order, inside = Turns(), [], []

    def work(number: int) -> None:
        inside.append(number)
        time.sleep(0.002)
        order.append((number, list(inside)))
        inside.remove(number)

    async def run() -> None:
        async with anyio.create_task_group() as group:
            for number in range(6):
                group.start_soon(turns.take, "a", lambda n=number: work(n), "kind" * (number % 2))

    anyio.run(run)
    assert order == [(number, [number]) for number in range(6)]


def test_different_sessions_do_not_wait_for_each_other() -> None:
    turns, met = Turns(), threading.Barrier(2)

    async def run() -> None:
        async with anyio.create_task_group() as group:
            for key in "ab":
                group.start_soon(turns.take, key, lambda: met.wait(10))

    anyio.run(run)
    assert not met.broken


def test_slow_work_leaves_threads_for_the_rest() -> None:
    turns, done = Turns(), threading.Event()

    async def run() -> bool:
        async with anyio.create_task_group() as group:
            for number in range(20):
                slowly = partial(turns.take, str(number), lambda: done.wait(10), slow=True)
                group.start_soon(slowly)
            await anyio.sleep(0.05)
            await turns.take("another", done.set)
        return done.is_set()

    started = time.monotonic()
    assert anyio.run(run)
    assert time.monotonic() - started < 9


def test_only_what_has_proven_quick_is_done_without_a_thread() -> None:
    turns = Turns()

    async def run() -> list[str]:
        names = [await turns.take("a", where, "kind") for _ in range(TRIALS + 1)]
        names.append(await turns.take("a", where))
        names.append(await turns.take("a", where, "another"))
        await turns.take("a", slow, "kind")
        names.append(await turns.take("a", where, "kind"))
        return names

    names = anyio.run(run)
    here = [name == threading.current_thread().name for name in names]
    assert here == [False] * TRIALS + [True, False, False, False]


def test_work_that_waits_is_no_quick_work() -> None:
    """Waiting takes no processor time, and holds up everybody all the same."""
    turns = Turns()

    async def run() -> str:
        for _ in range(TRIALS):
            await turns.take("a", where, "kind")
        await turns.take("a", lambda: time.sleep(2 * LONG), "kind")
        return await turns.take("a", where, "kind")

    assert anyio.run(run) != threading.current_thread().name


def test_quick_work_waits_for_the_store_in_a_thread() -> None:
    turns, seen = Turns(), []

    def work() -> str:
        seen.append(patience.get())
        if patience.get() == PATIENCE:
            raise Waiting
        return where()

    async def run() -> str:
        for _ in range(TRIALS):
            await turns.take("a", where, "kind")
        return await turns.take("a", work, "kind")

    assert anyio.run(run) != threading.current_thread().name
    assert seen == [PATIENCE, patience.get()]


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def filled(backlog: Backlog, owner: str = "") -> int:
    """Return how much more work is let in."""
    for count in range(2 * EVER):
        try:
            backlog.enter(owner)
        except Busy as busy:
            return count if busy.wait >= 1 else -1
    return -1


@pytest.mark.parametrize(
    ("seconds", "owner", "most"),
    [
        (0.0, "", EVER),
        (0.001, "", EVER),
        (6.0, "", MOST),
        (12.0, "x", MOST_OF_ONE),
        (SOON, "x", MOST_OF_ONE),
        (20 * SOON, "", MOST),
    ],
)
def test_so_much_work_waits_as_is_worked_off_soon(seconds: float, owner: str, most: int) -> None:
    clock = Clock()
    backlog = Backlog(4, clock)

    def work() -> None:
        clock.now += seconds
        assert filled(backlog, owner) == most

    backlog.timed(work)


def test_how_long_work_takes_is_learnt_from_what_is_done() -> None:
    clock = Clock()
    backlog = Backlog(4, clock)
    for _ in range(20):
        backlog.timed(lambda: setattr(clock, "now", clock.now + 12.0))
    assert [filled(backlog, "x"), filled(backlog, "y"), filled(backlog)] == [8, 8, MOST - 16]
    backlog.leave("x")
    backlog.enter("x")


def test_what_nobody_waits_for_is_not_begun() -> None:
    turns, go, begun = Turns(), threading.Event(), []
    gone = 0

    async def hung_up() -> dict[str, str]:
        await anyio.sleep(0.05)
        return {"type": "http.disconnect"}

    async def ask(number: int) -> None:
        nonlocal gone
        listening.set(hung_up)

        def work() -> None:
            begun.append(number)
            go.wait(10)

        try:
            await while_connected(partial(turns.take, str(number), work, slow=True, owner=""))
        except Busy:
            gone += 1

    async def run() -> None:
        async with anyio.create_task_group() as group:
            for number in range(SLOW_WORKERS + 5):
                group.start_soon(ask, number)
            await anyio.sleep(0.2)
            go.set()

    anyio.run(run)
    assert len(begun) == SLOW_WORKERS
    assert gone >= 5
    assert not turns._backlog._waiting.total()
    assert not turns._locks


def test_sessions_that_are_open_are_scored_however_many_episodes_wait() -> None:
    turns, done = Turns(), []
    turns._backlog._takes = 60.0
    assert filled(turns._backlog) == MOST

    async def run() -> None:
        await turns.take("a", lambda: done.append(1), slow=True)
        with pytest.raises(Busy):
            await turns.take("b", lambda: done.append(2), slow=True, owner="")

    anyio.run(run)
    assert done == [1]


def test_one_session_stacks_no_endless_slow_work() -> None:
    turns, go, refused = Turns(), threading.Event(), []

    async def ask() -> None:
        try:
            await turns.take("a", lambda: go.wait(10), slow=True)
        except Busy:
            refused.append(1)

    async def run() -> None:
        async with anyio.create_task_group() as group:
            for _ in range(STACKED + 3):
                group.start_soon(ask)
            await anyio.sleep(0.05)
            go.set()

    anyio.run(run)
    assert len(refused) == 3


def test_a_failure_of_watched_work_is_raised_as_it_is() -> None:
    async def silent() -> dict[str, str]:
        await anyio.sleep_forever()
        raise AssertionError

    async def fail() -> None:
        raise LookupError("mine")

    async def run() -> None:
        listening.set(silent)
        await while_connected(fail)

    with pytest.raises(LookupError, match="mine"):
        anyio.run(run)
