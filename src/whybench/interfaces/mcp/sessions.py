"""Sessions of one episode each. Every action is stored before its observation is returned.

This module knows no transport. The calls of one session must come one after another (see
`session_queue`); different threads may serve different sessions. No episode depends on the clock.
"""

from __future__ import annotations

import json
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

from whybench.causal.canonical import Json
from whybench.episode.action import parse_call
from whybench.episode.observation import OVER, Observation
from whybench.interfaces.mcp.catalogue import Offer, Order
from whybench.interfaces.mcp.limits import Bucket, Fair, Limits
from whybench.interfaces.mcp.refusal import Busy, Gone, Refused
from whybench.interfaces.mcp.scoring_policy import Live, Rules
from whybench.interfaces.mcp.store.protocol import Conflict, Store, StoredSession, hashed
from whybench.interfaces.mcp.store.replay import replayed
from whybench.interfaces.session import Reply, Session

FEW = 200
"""Maximum length of an argument that counts as short, in characters."""

TRIES = 3
"""How often a call is made if other processes serve the same session at the same time."""

T = TypeVar("T")


@dataclass(slots=True)
class Sessions:
    """All sessions of a server. The store holds all of them, and memory the latest ones."""

    store: Store
    offer: Offer = field(default_factory=Offer)
    rules: Rules = field(default_factory=Rules)
    limits: Limits = field(default_factory=Limits)
    clock: Callable[[], float] = time.time
    _live: OrderedDict[str, Live] = field(default_factory=OrderedDict)
    _spoken: dict[str, float] = field(default_factory=dict)
    """Time of the last call of sessions, if the store does not have it yet."""
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _entrance: threading.Lock = field(default_factory=threading.Lock)
    fair: Fair = field(init=False)

    def __post_init__(self) -> None:
        """Start to count what owners use."""
        self.fair = Fair(self.limits)

    def begin(self, key: str, owner: str = "", lasting: bool = False) -> None:
        """Begin a session without an open episode, or reject it if there are too many.

        A lasting session belongs to the operator. It does not count against the limit, and it does
        not expire.
        """
        with self._entrance:
            if not lasting and self.store.count() >= self.limits.sessions:
                self.expire()
                if self.store.count() >= self.limits.sessions:
                    raise Busy("this server has as many sessions as it takes", 60.0)
            if owner and self.store.count(owner) >= self.limits.owner_sessions:
                raise Busy("this owner has as many open sessions as it may have", 60.0)
            self.store.begin(key, owner, self.clock(), lasting)

    def greet(self, key: str, owner: str = "") -> Live:
        """Note a call of a session. Raise Gone unless it belongs to this owner and is still open.

        The store is read only for a session that is not in memory. `expire` writes the time of the
        call to the store.
        """
        now = self.clock()
        with self._lock:
            if (live := self._live.get(key)) is not None:
                self._live.move_to_end(key)
        if live is None:
            live = self._admitted(self._found(key), now)
        if live.owner != owner:
            raise Gone
        if self.limits.idle and now - live.spoke > self.limits.idle:
            raise Gone
        live.spoke = now
        if self.limits.idle:
            self._spoken[key] = now
        return live

    def remembers(self, key: str) -> bool:
        """Return whether a session is in memory, so that `greet` does not need the store."""
        return key in self._live

    def owner(self, key: str) -> str:
        """Return the owner of a session in memory."""
        live = self._live.get(key)
        return "" if live is None else live.owner

    def knows(self, key: str) -> bool:
        """Return whether there is such a session and it has not ended."""
        found = self.store.find(key)
        return found is not None and not found.ended

    def open(self, key: str, order: Order) -> None:
        """Open an episode in a session. A session opens only one."""
        self._again(key, partial(self._open, key, order))

    def _open(self, key: str, order: Order) -> None:
        if self._ready(key).session is not None:
            raise Refused("an episode is open: a new session is a new episode")
        instance, template = self.offer.instance(order)
        self._start(key, Session(instance, template))

    def reset(self, key: str) -> dict[str, Json]:
        """Restart the episode as the next attempt. Only a first attempt counts."""
        return self._again(key, partial(self._reset, key))

    def _reset(self, key: str) -> dict[str, Json]:
        _, session = self._opened(key)
        live = self._start(key, Session(session.instance, session.template))
        return {"attempt": live.attempt, "counts": self._counts(live)}

    def act(self, key: str, name: object, args: object) -> tuple[Reply, int]:
        """Run a call by name, and return the reply and the number of steps so far."""
        return self._again(key, partial(self._act, key, name, args))

    def _act(self, key: str, name: object, args: object) -> tuple[Reply, int]:
        live, session = self._opened(key, fresh=False)
        episode = session.episode
        if live.over:
            over = Observation(OVER)
            return Reply(episode.describe(over, session.template), over, True), episode.count
        action, number = parse_call(name, args), episode.count
        text = json.dumps(action.to_json())
        if number >= self.limits.steps or live.volume + len(text) > self.limits.volume:
            raise Refused("this attempt has as many actions as the server takes: ask for its score")
        try:
            reply = session.act(action)
            self.store.append(live.id, number, text, reply.done, self.clock())
        except BaseException:
            live.restored = False  # an action that was not stored did not happen
            raise
        live.over = reply.done
        live.volume += len(text)
        return reply, episode.count

    def score(self, key: str) -> dict[str, Json]:
        """Close the attempt and return its score, or only a receipt if the server is blind."""
        return self._again(key, partial(self._score, key))

    def _score(self, key: str) -> dict[str, Json]:
        live, session = self._opened(key)
        self.store.close(live.id, session.episode.count)
        live.over = True
        if not live.receipt:
            receipt = secrets.token_hex(24)
            self.store.keep_receipt(hashed("receipt", receipt), live.id, self.clock())
            live.receipt = receipt
        if live.score is None and not self.rules.blind:
            live.score = session.score().to_json()
        return {
            "score": live.score,
            "attempt": live.attempt,
            "counts": self._counts(live),
            "receipt": live.receipt,
        }

    def is_live(self, key: str) -> bool:
        """Return whether a session's episode is in memory, so that nothing has to be rebuilt."""
        live = self._live.get(key)
        return live is not None and live.restored

    def kind(self, key: str, name: str, args: Mapping[str, Any]) -> str:
        """Return the kind of an action that may be fast: episode in memory, short arguments."""
        live = self._live.get(key)
        if (
            self.store.durable
            or live is None
            or live.session is None
            or not all(len(text) < FEW for _, text in parse_call(name, args).args)
        ):
            return ""
        instance, specs = live.session.instance, live.session.episode.actions
        tool = name if any(spec.name == name for spec in specs) else ""
        return f"{instance.family}/{instance.suite} {tool}"

    def tools(self, key: str) -> list[dict[str, Json]] | None:
        """Return the actions as tools, or None if no episode is open."""
        session = self._ready(key).session
        return None if session is None else session.tools

    def instructions(self, key: str) -> str:
        """Return the instructions of the episode. They do not depend on later actions."""
        _, session = self._opened(key)
        begun = session.episode.count
        return (Session(session.instance, session.template) if begun else session).instructions

    def record(self, key: str) -> dict[str, Json]:
        """Return the trace so far."""
        return self._opened(key)[1].trace.to_json()

    def state(self, key: str) -> dict[str, Json]:
        """Return the public state of a session. It reveals nothing about the hidden system."""
        live = self._ready(key)
        if live.session is None:
            return {"open": False, "suites": list(self.offer.paths)}
        return live.told(live.session, self._counts(live))

    def end(self, key: str) -> None:
        """End a session. Its record stays in the store."""
        self._forget(key)
        self.store.end(key, self.clock())

    def expire(self) -> int:
        """End the sessions that were idle for too long, and return their number."""
        if not self.limits.idle:
            return 0
        now = self.clock()
        with self._lock:
            spoken = dict(self._spoken)
        if spoken:
            self.store.note(spoken)
        with self._lock:
            for key, when in spoken.items():
                if self._spoken.get(key) == when:
                    del self._spoken[key]
        keys = self.store.expire(now - self.limits.idle, now)
        for key in keys:
            self._forget(key)
        return len(keys)

    def _start(self, key: str, session: Session) -> Live:
        """Begin the next attempt of a session."""
        live = self._ready(key)
        scope = f"session {key}" if self.rules.attempts == "session" else f"owner {live.owner}"
        most = self.limits.owner_day
        if live.owner and not self.store.use(live.owner, "opening", most, self.clock()):
            raise Busy("this owner opened as many episodes as it may on one day", 3600.0)
        instance = session.instance
        shared = session.family.clusters_are_systems and instance.cluster
        made = self.store.open(
            key,
            live.id,
            instance.to_json(),
            session.template,
            f"{scope} {self.rules.run}",
            self.rules.run,
            self.clock(),
            f"{instance.family}/{instance.cluster}" if shared else "",
        )
        live.id, live.attempt, live.session = made.id, made.number, session
        live.over, live.volume, live.receipt, live.score = session.done, 0, "", None
        return live

    def _again(self, key: str, work: Callable[[], T]) -> T:
        """Run work that changes a session. If another process was faster, read the store first."""
        for _ in range(TRIES):
            try:
                return work()
            except Conflict:
                with self._lock:
                    if (live := self._live.get(key)) is not None:
                        live.restored = False
        raise Refused("other processes serve this session at the same time: ask again")

    def _counts(self, live: Live) -> bool:
        found = self.store.attempt(live.id)
        return found is not None and found.counts

    def _opened(self, key: str, *, fresh: bool = True) -> tuple[Live, Session]:
        live = self._ready(key, fresh=fresh)
        if live.session is None:
            raise Refused("no episode is open: call episode_open first")
        return live, live.session

    def _ready(self, key: str, *, fresh: bool = True) -> Live:
        """Return a session with its episode. Restore it from the store if memory is behind.

        Without `fresh`, an open episode in memory is taken as it is: `append` compares its number.
        """
        with self._lock:
            live = self._live.get(key)
        if live is not None and live.restored and live.session is not None:
            if not fresh:
                return live
            attempt = self.store.attempt(live.id)
            if attempt is not None and live.agrees(attempt):
                return live
        found = self._found(key)
        live = live or self._admitted(found, self.clock())
        if found.instance is not None:
            with self.fair.restoring(live.owner):
                self._restore(live, found)
        live.restored = True
        return live

    def _restore(self, live: Live, found: StoredSession) -> None:
        """Replay the stored actions of a session's attempt."""
        if not self.offer.holds(found.instance or {}):
            raise Refused("this session is of suites, a profile or a seed not served here now")
        attempt = self.store.attempt(found.attempt)
        if attempt is None:
            raise Gone
        live.session = replayed(found, self.store, attempt.id)
        if attempt.id != live.id:
            live.receipt, live.score = "", None
        live.id, live.attempt = attempt.id, attempt.number
        live.volume = sum(map(len, self.store.actions(attempt.id)))
        live.over = live.session.done or attempt.over

    def _found(self, key: str) -> StoredSession:
        found = self.store.find(key)
        if found is None or found.ended:
            self._forget(key)
            raise Gone
        return found

    def _admitted(self, found: StoredSession, now: float) -> Live:
        """Keep a session in memory. If memory is full, drop the session that was idle longest."""
        bucket = Bucket(self.limits.session_rate, now)
        with self._lock:
            spoke = max(found.spoke, self._spoken.get(found.key, 0.0))
            fresh = Live(found.key, found.owner, spoke, bucket)
            live = self._live.setdefault(found.key, fresh)
            self._live.move_to_end(found.key)
            while len(self._live) > self.limits.live:
                self._live.popitem(last=False)
        return live

    def _forget(self, key: str) -> None:
        with self._lock:
            self._live.pop(key, None)
