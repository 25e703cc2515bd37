"""An episode as an OpenEnv environment: one environment is one session of the server."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any
from uuid import uuid4

from openenv.core.env_server.interfaces import Environment
from openenv.core.env_server.types import EnvironmentMetadata

from whybench.core.canonical import Json, canonical_json
from whybench.episode.instance import Instance
from whybench.episode.naming import named
from whybench.episode.observation import OK, OVER, Observation
from whybench.interfaces.reward import Meter
from whybench.interfaces.session import Reply, Session
from whybench_openenv import __version__
from whybench_openenv.choosing import placed, seeded
from whybench_openenv.models import (
    WhyBenchAction,
    WhyBenchObservation,
    WhyBenchState,
    sendable,
)
from whybench_openenv.options import Options

_LOG = logging.getLogger(__name__)


class WhyBenchEnvironment(Environment[WhyBenchAction, WhyBenchObservation, WhyBenchState]):
    """Episodes of a suite, one after another.

    >>> environment = WhyBenchEnvironment()
    >>> _ = environment.reset(seed=7)
    >>> environment.step(WhyBenchAction(name="answer", args={"answer": "yes"})).done
    True
    """

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(
        self,
        options: Options | None = None,
        seeds: Iterator[int] | None = None,
        *,
        pinned: bool = False,
    ) -> None:
        super().__init__()
        self._options = options or Options()
        self._seeds = count() if seeds is None else seeds
        self._pinned = pinned
        self._session: Session | None = None
        self._state = WhyBenchState()
        self._next = 0
        self._left = self._closed = False

    def reset(
        self,
        seed: int | None = None,
        episode_id: str | None = None,
        **kwargs: Any,
    ) -> WhyBenchObservation:
        """Open an episode: by `seed`, `index` or `instance`, else the next one.

        Other arguments stand for this episode in place of the server's `Options`.
        """
        self._check_open()
        index, instance = kwargs.pop("index", None), kwargs.pop("instance", None)
        if self._pinned and (kwargs or instance is not None):
            raise ValueError("this server is pinned: reset takes `seed`, `index` and `episode_id`")
        if episode_id is not None and not isinstance(episode_id, str):
            raise ValueError("`episode_id` is a text")
        if isinstance(instance, str):
            kwargs["suite"] = instance.partition("-")[0]
        with _unspoken(but=ValueError):
            options = self._options.changed(kwargs)
            found, state = self._choose(options, seed, index, instance)
            session = Session(found, options.skin)
            meter = Meter(session, options.reward)
            brief, tools = session.brief, session.tools
        state.episode_id = uuid4().hex if episode_id is None else episode_id
        state.instance = {k: v for k, v in found.to_json().items() if k != "cluster"}
        state.split, state.reward, state.skin = options.split, options.reward, session.skin
        self._session, self._meter, self._state, self._left = session, meter, state, False
        return WhyBenchObservation(text=brief, tools=tools)

    def step(
        self,
        action: WhyBenchAction,
        timeout_s: float | None = None,  # noqa: ARG002 - the protocol's; no step takes long
        **kwargs: Any,  # noqa: ARG002 - likewise
    ) -> WhyBenchObservation:
        """Give an action to the episode; nothing that it may say raises."""
        self._check_open()
        session = self._session
        if session is None:
            raise ValueError("no episode is open: call reset first, on the same connection")
        with _unspoken():
            if action.finish is True and not session.done:
                reply, self._left = Reply("", Observation(OK), True), True
            elif self._left:
                over = Observation(OVER)
                reply = Reply(session.episode.describe(over, session.skin), over, True)
            elif action.name is None and isinstance(action.line, str):
                reply = session.say(action.line)
            else:
                reply = session.call(action.name, action.args)
            self._state.step_count = session.episode.count
            self._state.done = reply.done
            return self._told(session, reply)

    @property
    def state(self) -> WhyBenchState:
        """Where the episode stands, without anything that is hidden."""
        return self._state

    def get_metadata(self) -> EnvironmentMetadata:
        """Return what the server says of itself."""
        return EnvironmentMetadata(
            name="whybench",
            description=f"Find out why: episodes of {self._options.found.path}, each proven.",
            version=__version__,
            author="The WhyBench authors",
        )

    def close(self) -> None:
        """End the session; the library closes one that was idle for long, too."""
        self._session, self._closed = None, True

    def _told(self, session: Session, reply: Reply) -> WhyBenchObservation:
        """Return a reply with its reward; score and trace come with the end, not before."""
        reward = self._meter.after(reply)
        score = self._meter.score
        return WhyBenchObservation(
            text=_text(reply.text),
            result=sendable(reply.observation.to_json()),
            reward=reward,
            done=reply.done,
            score=None if score is None else sendable(score.to_json()),
            trace=None if score is None else canonical_json(session.trace.to_json()),
        )

    def _choose(
        self, options: Options, seed: Json, index: Json, name: Json
    ) -> tuple[Instance, WhyBenchState]:
        """Return the instance that is asked for, or the next one, and how it was found."""
        if sum(given is not None for given in (seed, index, name)) > 1:
            raise ValueError("give one of `seed`, `index` and `instance`")
        if name is not None:
            if not isinstance(name, str):
                raise ValueError("`instance` is a text like family/suite-0003-0123456789ab")
            suite = options.found
            knobs = suite.knobs.asdict()
            found = named(name, profile=suite.profile, salt=suite.salt, knobs=knobs)
            return found, WhyBenchState()
        if seed is None and index is None and options.endless:
            seed = next(self._seeds)
        if seed is not None:
            return seeded(options, _whole("seed", seed)), WhyBenchState(seed=seed)
        if options.endless:
            raise ValueError("an endless list has seeds, not places: give `seed`")
        place = self._next if index is None else _whole("index", index)
        at = placed(options, place)
        if at is None and index is None and place:
            place, at = 0, placed(options, 0)
        if at is None:
            raise ValueError(f"the list ends before place {place}: begin again at index 0")
        self._next = place + 1
        return at, WhyBenchState(index=place)

    def _check_open(self) -> None:
        if self._closed:
            raise ValueError("this session was closed, perhaps for being idle: connect again")


def _whole(name: str, value: Json) -> int:
    """Return a whole number, 0 or more."""
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ValueError(f"`{name}` is a whole number, 0 or more")
    return value


def _text(text: str) -> str:
    found: str = sendable(text)
    return found


@contextmanager
def _unspoken(but: type[Exception] | tuple[()] = ()) -> Iterator[None]:
    """Keep the words of an unforeseen error from the wire: they might tell what is hidden."""
    try:
        yield
    except but:
        raise
    except Exception:  # noqa: BLE001 - whatever it is
        _LOG.exception("an episode broke")
        raise RuntimeError("the episode broke: the server's log says how") from None
