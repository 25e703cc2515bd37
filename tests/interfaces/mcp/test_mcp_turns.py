"""Whose turn it is: one session's calls in order, different sessions side by side."""

import threading
import time
from functools import partial

import anyio

from whybench.interfaces.mcp.turns import QUICK, TRIALS, Turns


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
