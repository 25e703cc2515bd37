"""Clients of the MCP server that play prepared episodes: what `bench_mcp.py` loads a server with.

An episode is prepared by playing it on a bare session, so that every reply can be held against what
should come back. A session whose connection breaks goes on over a new one with the same id, after
reading in its record whether the call that was under way had been carried out.
"""

from __future__ import annotations

import gc
import json
import logging
import time
from collections import Counter, deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count, cycle, islice
from multiprocessing.connection import Connection
from typing import Any
from urllib.parse import urlencode

import anyio
from anyio import to_thread
from mcp import MCPError
from mcp_wires import WIRES, Wire, broke, gone

from whybench.causal.canonical import canonical_json, thaw
from whybench.causal.seeds import Stream
from whybench.episode.action import Action
from whybench.episode.episode import play
from whybench.episode.instance import Instance
from whybench.episode.registry import families, load_suite
from whybench.interfaces.session import Session

Call = tuple[str, dict[str, Any]]

SUITES = {
    "causallink/core": ("random", 70),
    "causalab/main_3": ("random", 10),
    "replayscm/lab": ("exact", 10),
    "causalgame/antenna": ("one_factor", 10),
}
"""Suite → whose experiments are made, and how many of a hundred sessions play it."""

INSTRUCTIONS, RESET, SCORE = "episode_brief", "episode_reset", "episode_score"
ABREAST = 16
"""Sessions that are opened, or compared with their records, at once."""

SETTLING = 2.0
"""Seconds in which the SDK's clients give up asking for a stream that the server does not have."""

PAUSE = 0.1
"""Seconds until a broken connection is tried again."""


@dataclass(frozen=True, slots=True)
class Script:
    """An instance, what is called on it, and the steps of the plain episode."""

    instance: Instance
    calls: tuple[Call, ...]
    """The instructions first, the score last, actions between."""
    steps: tuple[dict[str, Any], ...]

    def played_directly(self, count: int) -> str:
        """Return the trace after some actions, made again from them alone."""
        actions = [Action.from_json(step["action"]) for step in self.steps[:count]]
        family = families()[self.instance.family]
        return canonical_json(
            family.replay_episode(self.instance, actions, 0, "own").trace.to_json()
        )


def scripts(instances: int, suites: Mapping[str, tuple[str, int]] = SUITES) -> list[Script]:
    """Prepare episodes of suites, in the mixture asked for, each with experiments to repeat."""
    made = {
        path: cycle(islice(filter(None, _all(path, agent)), min(instances, share)))
        for path, (agent, share) in suites.items()
    }
    order = [path for path, (_, share) in suites.items() for _ in range(share)]
    return [next(made[path]) for path in Stream("load", instances).shuffled(order)]


def _all(path: str, agent: str) -> Iterator[Script | None]:
    return (_script(path, index, agent) for index in range(len(load_suite(path))))


def _script(path: str, index: int, agent: str) -> Script | None:
    """Repeat an agent's experiments 8 to 24 times in all, then finish as it does."""
    suite, stream = load_suite(path), Stream("load", path, index)
    instance = suite[index]
    trace = play(suite.family.open(instance), suite.family.agent(agent, instance))
    session = Session(instance)
    final = {spec.name for spec in session.episode.actions if spec.final}
    asked: list[Call] = [(action.name, thaw(action.args)) for action in trace.actions]
    experiments = [call for call in asked if call[0] not in final]
    if not experiments:
        return None
    calls: list[Call] = []
    for _ in range(8 + stream.below(17)):
        calls.append(stream.choice(experiments))
        if session.call(*calls[-1]).observation.is_error or session.done:
            break
    for call in asked:
        if call[0] in final and not session.done:
            calls.append(call)
            session.call(*call)
    steps = json.loads(canonical_json(session.trace.to_json()))["steps"]
    return Script(instance, ((INSTRUCTIONS, {}), *calls, (SCORE, {})), tuple(steps))


@dataclass(slots=True, eq=False)
class Talk:
    """A session as its client knows it."""

    script: Script
    session: str = ""
    done: int = 0
    """Calls that were answered, or found in the record."""
    due: float | None = None
    """When the call that is under way should have been sent."""
    sent: bool = False
    """Whether it may have reached the server."""
    opened: float = 0.0
    followed: bool = False
    """Whether another session took its place."""
    ending: bool = False
    tries: int = 0
    """How often in a row no connection could be had."""
    turn: anyio.Event = field(default_factory=anyio.Event)

    @property
    def acted(self) -> int:
        """How many actions are acknowledged."""
        return max(0, min(self.done, len(self.script.calls) - 1) - 1)


@dataclass(slots=True)
class Told:
    """What the clients of one process saw; times are those of the machine's steady clock."""

    answers: list[tuple[float, float]] = field(default_factory=list)
    """When a call was due, and when it was answered."""
    opens: list[float] = field(default_factory=list)
    breaks: list[tuple[float, float]] = field(default_factory=list)
    """Of each connection that broke off: when it was asked for, and when that was found out."""
    spans: list[tuple[float, float]] = field(default_factory=list)
    """Of each session that was compared with its record: when it was opened and last answered."""
    slowest: dict[str, float] = field(default_factory=dict)
    """Suite and tool → the longest that a call took."""
    counts: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Fleet:
    """Sessions that are kept open, and called when it is time."""

    address: str
    wire: str
    prepared: Iterator[Script]
    records: bool
    """Whether each session is compared with its record before it ends, and another one follows.

    Else it is kept: its episode is reset when it is over.
    """
    told: Told = field(default_factory=Told)
    idle: deque[Talk] = field(default_factory=deque)
    came: anyio.Event = field(default_factory=anyio.Event)
    abreast: anyio.CapacityLimiter = field(default_factory=lambda: anyio.CapacityLimiter(ABREAST))
    workers: anyio.Semaphore | None = None
    closing: bool = False

    async def take_up(self, group: anyio.abc.TaskGroup) -> None:
        """Open a session when there are not too many at it."""
        up = anyio.Event()
        async with self.abreast:
            group.start_soon(self.attend, group, up)
            await up.wait()

    async def attend(self, group: anyio.abc.TaskGroup, up: anyio.Event) -> None:
        """Keep one session up until its episode is over, then see that another one is."""
        talk = Talk(next(self.prepared))
        while True:
            began = time.monotonic()
            try:
                await self._connected(talk, group, up)
                return
            except Exception as error:
                if gone(error):
                    if talk.ending:  # it was ended, and the answer got lost
                        return
                    self.told.counts["lost"] += 1
                    self._differs(talk, "lost")
                    talk = Talk(next(self.prepared))
                    continue
                if not broke(error):
                    raise
                if not talk.tries:
                    self.told.counts["broken_calls"] += talk.sent
                    self.told.breaks.append((began, time.monotonic()))
                await anyio.sleep(min(1.0, PAUSE * 1.5**talk.tries))
                talk.tries += 1

    async def _connected(self, talk: Talk, group: anyio.abc.TaskGroup, up: anyio.Event) -> None:
        def heard(session: str) -> None:
            talk.session = session

        instance, began = talk.script.instance, time.monotonic()
        place = {"suite": f"{instance.family}/{instance.suite}", "index": instance.index}
        url, resumed = f"{self.address}?{urlencode(place)}", bool(talk.session)
        async with WIRES[self.wire](url, talk.session, heard) as wire:
            if resumed:
                await self._settle(talk, wire)
            else:
                talk.opened = time.monotonic()
                self.told.opens.append(talk.opened - began)
            up.set()
            over = await self._converse(talk, wire)
            if over and not self.closing and not talk.followed:
                talk.followed, follower = True, anyio.Event()
                group.start_soon(self.attend, group, follower)
                await follower.wait()
            if self.records or self.closing:
                async with self.abreast:
                    self._compare(talk, await wire.record())
                    self.told.spans.append((talk.opened, time.monotonic()))
            talk.ending = True
            await wire.end()

    async def _converse(self, talk: Talk, wire: Wire) -> bool:
        """Make the calls of the script when it is time; False: there is no time left."""
        calls, steps = talk.script.calls, talk.script.steps
        if not self.records:
            calls = (*calls[:-1], (RESET, {}))
        while talk.done < len(calls):
            if talk.due is None:
                await self._turn(talk)
                if talk.due is None:
                    return False
            talk.sent = True
            try:
                reply = await wire.call(*calls[talk.done])
            except MCPError as error:
                if broke(error) or gone(error):
                    raise
                self.told.counts["errors"] += 1
                self.told.wrong.append(f"{calls[talk.done][0]}: {error}")
                self._answered(talk)
                continue
            wanted = steps[talk.acted]["observation"] if 0 < talk.done <= len(steps) else None
            if wanted is not None and reply.get("observation") != wanted:
                self._differs(talk, f"reply {talk.acted}")
            self._answered(talk)
            talk.done = 1 if calls[talk.done][0] == RESET else talk.done + 1
        return True

    async def _turn(self, talk: Talk) -> None:
        if self.closing:
            return
        talk.turn = anyio.Event()
        self.idle.append(talk)
        self.came.set()
        try:
            await talk.turn.wait()
        except BaseException:
            if talk in self.idle:
                self.idle.remove(talk)
            raise

    def _answered(self, talk: Talk) -> None:
        assert talk.due is not None
        now, instance = time.monotonic(), talk.script.instance
        what = f"{instance.family}/{instance.suite} {talk.script.calls[talk.done][0]}"
        self.told.answers.append((talk.due, now))
        self.told.slowest[what] = max(now - talk.due, self.told.slowest.get(what, 0.0))
        talk.due, talk.sent = None, False
        if self.workers is not None:
            self.workers.release()

    async def _settle(self, talk: Talk, wire: Wire) -> None:
        """Find out from the record whether the call that was under way had been carried out."""
        async with self.abreast:
            record = await wire.record()
        self.told.counts["resumed"] += 1
        if talk.sent and 0 < talk.done < len(talk.script.calls) - 1:
            carried = len(record["steps"]) == talk.acted + 1
            self.told.counts["carried_out" if carried else "not_carried_out"] += 1
            if carried:
                self._answered(talk)
                talk.done += 1
        talk.sent, talk.tries = False, 0
        self._compare(talk, record)

    def _compare(self, talk: Talk, record: dict[str, Any]) -> None:
        """Hold a record against the acknowledged actions, replayed."""
        self.told.counts["compared"] += 1
        if canonical_json(record) != talk.script.played_directly(talk.acted):
            self._differs(talk, f"record of {len(record['steps'])} steps, {talk.acted} known")

    def _differs(self, talk: Talk, what: str) -> None:
        self.told.counts["differences"] += 1
        self.told.wrong.append(f"{talk.script.instance.id}: {what}")

    async def turn_limits(self, start: float, end: float, rate: float) -> None:
        """Give turns at fixed times, whether or not earlier calls were answered."""
        for number in count():
            due = start + number / rate
            if due >= end:
                return
            await anyio.sleep(max(0.0, due - time.monotonic()))
            (await self._next()).due = due

    async def saturate(self, end: float, workers: int) -> None:
        """Give turns as fast as calls are answered."""
        self.workers = anyio.Semaphore(workers)
        while time.monotonic() < end:
            await self.workers.acquire()
            (await self._next()).due = time.monotonic()

    async def _next(self) -> Talk:
        """Return the session that has been idle longest, and let it go on."""
        while not self.idle:
            self.came = anyio.Event()
            await self.came.wait()
        talk = self.idle.popleft()
        talk.turn.set()
        return talk

    def close(self) -> None:
        """Let every session end."""
        self.closing = True
        for talk in self.idle:
            talk.turn.set()


@dataclass(frozen=True, slots=True)
class Plan:
    """What the clients of one process shall do."""

    address: str
    wire: str
    sessions: int
    prepared: tuple[Script, ...]
    part: int
    seconds: float
    rate: float
    """Calls a second; 0: as fast as they are answered."""
    workers: int
    records: bool


def clients(link: Connection, plan: Plan) -> None:
    """Open sessions, say so, wait for the time to start, call, say so, compare, say what was."""
    logging.disable()  # the SDK tells of every broken connection, and so do we
    anyio.run(_clients, link, plan)


async def _clients(link: Connection, plan: Plan) -> None:
    turned = plan.prepared[plan.part :] + plan.prepared[: plan.part]
    fleet = Fleet(plan.address, plan.wire, cycle(turned), plan.records)
    async with anyio.create_task_group() as group:
        async with anyio.create_task_group() as opening:
            for _ in range(plan.sessions):
                opening.start_soon(fleet.take_up, group)
        await anyio.sleep(SETTLING)
        gc.collect()
        gc.freeze()  # clients live long: looking through them again and again is no one's work
        link.send(None)
        start = await to_thread.run_sync(link.recv)
        await anyio.sleep(max(0.0, start - time.monotonic()))
        if plan.rate:
            await fleet.turn_limits(start, start + plan.seconds, plan.rate)
        else:
            await fleet.saturate(start + plan.seconds, plan.workers)
        link.send(None)
        await to_thread.run_sync(link.recv)
        fleet.close()
    link.send(fleet.told)
