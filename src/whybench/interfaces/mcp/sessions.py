"""Sessions: one episode each, whose every action is stored before its observation is told.

Free of wires. The calls of one session must come one after another (see `turns`); different
sessions may be served by different threads. The clock reaches no episode.
"""

from __future__ import annotations

import json
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from whybench.core.canonical import Json
from whybench.episode.action import Action, called
from whybench.episode.family import families
from whybench.episode.instance import Instance
from whybench.episode.observation import OVER, Observation
from whybench.interfaces.mcp.limits import Bucket, Limits
from whybench.interfaces.mcp.live import Live, Rules
from whybench.interfaces.mcp.offer import Offer, Order
from whybench.interfaces.mcp.refusal import Busy, Gone, Refused
from whybench.interfaces.mcp.store import Conflict, Store, StoredSession, hashed
from whybench.interfaces.session import Reply, Session

FEW = 200
"""Characters of an argument that are called few."""


@dataclass(slots=True)
class Sessions:
    """All sessions of a server: as many as the store holds, the latest of them in memory."""

    store: Store
    offer: Offer = field(default_factory=Offer)
    rules: Rules = field(default_factory=Rules)
    limits: Limits = field(default_factory=Limits)
    clock: Callable[[], float] = time.time
    _live: OrderedDict[str, Live] = field(default_factory=OrderedDict)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _entrance: threading.Lock = field(default_factory=threading.Lock)

    def begin(self, key: str, owner: str = "") -> None:
        """Begin a session in which nothing is open, or refuse if there are too many."""
        with self._entrance:
            if self.store.count() >= self.limits.sessions:
                self.expire()
                if self.store.count() >= self.limits.sessions:
                    raise Busy("this server has as many sessions as it takes", 60.0)
            self.store.begin(key, owner, self.clock())

    def greet(self, key: str, owner: str = "") -> Live:
        """Note that a session speaks; raise Gone unless it is this owner's and still open."""
        now = self.clock()
        with self._lock:
            live = self._live.get(key)
            if live is not None:
                self._live.move_to_end(key)
        if live is None:
            live = self._admitted(self._found(key), now)
        if live.owner != owner:
            raise Gone
        if self.limits.idle and now - live.spoke > self.limits.idle:
            self.end(key)
            raise Gone
        live.spoke = now
        if now - live.noted > self.limits.idle / 20:
            live.noted = now
            self.store.touch(key, now)
        return live

    def knows(self, key: str) -> bool:
        """Whether there is such a session that has not ended."""
        found = self.store.find(key)
        return found is not None and not found.ended

    def open(self, key: str, order: Order) -> None:
        """Open an episode in a session, once."""
        if self._ready(key).session is not None:
            raise Refused("an episode is open: a new session is a new episode")
        instance, skin = self.offer.instance(order)
        self._start(key, Session(instance, skin))

    def reset(self, key: str) -> dict[str, Json]:
        """Start the episode anew, as the next attempt; only a first attempt counts."""
        _, session = self._opened(key)
        live = self._start(key, Session(session.instance, session.skin))
        return {"attempt": live.attempt, "counts": self._counts(live)}

    def act(self, key: str, name: object, args: object) -> tuple[Reply, int]:
        """Carry out a call by name; return what comes back and the number of steps so far."""
        live, session = self._opened(key)
        episode = session.episode
        if live.over:
            over = Observation(OVER)
            return Reply(episode.describe(over, session.skin), over, True), episode.count
        action, number = called(name, args), episode.count
        text = json.dumps(action.to_json())
        if number >= self.limits.steps or live.volume + len(text) > self.limits.volume:
            raise Refused("this attempt has as many actions as the server takes: ask for its score")
        try:
            reply = session.act(action)
            self.store.append(key, live.attempt, number, text, reply.done, self.clock())
        except BaseException as error:
            self._forget(key)  # what was not stored did not happen
            if isinstance(error, Conflict):
                raise Refused("another process serves this session: ask again") from None
            raise
        live.over = reply.done
        live.volume += len(text)
        return reply, episode.count

    def score(self, key: str) -> dict[str, Json]:
        """Close the attempt as it stands and return its score, or a receipt alone if blind."""
        live, session = self._opened(key)
        self.store.close(key, live.attempt)
        live.over = True
        if not live.receipt:
            receipt = secrets.token_hex(24)
            self.store.keep_receipt(hashed("receipt", receipt), key, live.attempt, self.clock())
            live.receipt = receipt
        return {
            "score": None if self.rules.blind else session.score().to_json(),
            "attempt": live.attempt,
            "counts": self._counts(live),
            "receipt": live.receipt,
        }

    def is_live(self, key: str) -> bool:
        """Whether a session's episode is in memory, so that no world need be made."""
        live = self._live.get(key)
        return live is not None and live.restored

    def kind(self, key: str, name: str, args: Mapping[str, Any]) -> str:
        """Name the kind of work that an action is if it may be quick: in memory, few words."""
        live = self._live.get(key)
        if live is None or live.session is None:
            return ""
        if not all(isinstance(value, str) and len(value) < FEW for value in args.values()):
            return ""
        instance, specs = live.session.instance, live.session.episode.actions
        tool = name if any(spec.name == name for spec in specs) else ""
        return f"{instance.family}/{instance.suite} {tool}"

    def tools(self, key: str) -> list[dict[str, Json]] | None:
        """Return the actions as tools; None while nothing is open."""
        session = self._ready(key).session
        return None if session is None else session.tools

    def brief(self, key: str) -> str:
        """Return everything the agent is told before it acts, whatever it did since."""
        _, session = self._opened(key)
        fresh = session if not session.episode.count else Session(session.instance, session.skin)
        return fresh.brief

    def record(self, key: str) -> dict[str, Json]:
        """Return the trace so far."""
        return self._opened(key)[1].trace.to_json()

    def state(self, key: str) -> dict[str, Json]:
        """Return where a session stands: what everybody may know, and nothing of the world."""
        live = self._ready(key)
        if live.session is None:
            return {"open": False, "suites": list(self.offer.paths)}
        instance = live.session.instance
        return {
            "open": True,
            "suite": f"{instance.family}/{instance.suite}",
            "index": instance.index,
            **({"block": instance.block} if instance.block else {}),
            "instance": f"{instance.family}/{instance.id}",
            "skin": live.session.skin,
            "step": live.session.episode.count,
            "done": live.over,
            "attempt": live.attempt,
            "counts": self._counts(live),
        }

    def end(self, key: str) -> None:
        """End a session; what it did stays."""
        self._forget(key)
        self.store.end(key, self.clock())

    def expire(self) -> int:
        """End the sessions that were silent for too long; return how many they were."""
        if not self.limits.idle:
            return 0
        now = self.clock()
        with self._lock:
            unheard = [live for live in self._live.values() if live.spoke > live.noted]
        for live in unheard:
            live.noted = live.spoke
            self.store.touch(live.key, live.spoke)
        keys = self.store.expire(now - self.limits.idle, now)
        for key in keys:
            self._forget(key)
        return len(keys)

    def _start(self, key: str, session: Session) -> Live:
        """Begin the next attempt of a session."""
        live = self._ready(key)
        scope = f"session {key}" if self.rules.attempts == "session" else f"owner {live.owner}"
        live.attempt = self.store.open(
            key,
            session.instance.to_json(),
            session.skin,
            f"{scope} {self.rules.run}",
            self.rules.run,
            self.clock(),
        )
        live.session, live.over, live.volume, live.receipt = session, session.done, 0, ""
        return live

    def _counts(self, live: Live) -> bool:
        found = self.store.attempt(live.key, live.attempt)
        return found is not None and found.counts

    def _opened(self, key: str) -> tuple[Live, Session]:
        live = self._ready(key)
        if live.session is None:
            raise Refused("no episode is open: call episode_open first")
        return live, live.session

    def _ready(self, key: str) -> Live:
        """Return a session with its episode, restored from the store if it was not in memory."""
        with self._lock:
            live = self._live.get(key)
        if live is not None and live.restored:
            return live
        found = self._found(key)
        live = live or self._admitted(found, self.clock())
        if found.instance is not None:
            attempt = self.store.attempt(key, found.attempt)
            live.session = replayed(found, self.store)
            live.attempt = found.attempt
            live.volume = sum(map(len, self.store.actions(key, found.attempt)))
            live.over = live.session.done or (attempt is not None and attempt.over)
        live.restored = True
        return live

    def _found(self, key: str) -> StoredSession:
        found = self.store.find(key)
        if found is None or found.ended:
            raise Gone
        return found

    def _admitted(self, found: StoredSession, now: float) -> Live:
        """Keep a session in memory; the one that was silent longest makes room."""
        bucket = Bucket(self.limits.session_rate, now)
        fresh = Live(found.key, found.owner, found.spoke, found.spoke, bucket)
        with self._lock:
            live = self._live.setdefault(found.key, fresh)
            self._live.move_to_end(found.key)
            while len(self._live) > self.limits.live:
                _, silent = self._live.popitem(last=False)
                if silent.spoke > silent.noted:
                    self.store.touch(silent.key, silent.spoke)
        return live

    def _forget(self, key: str) -> None:
        with self._lock:
            self._live.pop(key, None)


def replayed(found: StoredSession, store: Store, attempt: int | None = None) -> Session:
    """Return a stored session's episode as it stands after its stored actions."""
    data: Mapping[str, Any] = found.instance or {}
    try:
        instance: Instance = families()[data["family"]].rebuilt(data)
    except (KeyError, ValueError):
        raise Refused(
            "this session was begun with another WhyBench, or its suite is no longer here"
        ) from None
    session = Session(instance, found.skin)
    for action in store.actions(found.key, found.attempt if attempt is None else attempt):
        session.episode.step(Action.from_json(json.loads(action)))
    return session
