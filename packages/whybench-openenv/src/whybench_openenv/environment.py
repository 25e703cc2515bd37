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

from whybench import (
    Action,
    Instance,
    Json,
    Meter,
    Observation,
    Reply,
    Session,
    canonical_json,
    find_instance,
)
from whybench_openenv import __version__
from whybench_openenv.models import (
    WhyBenchAction,
    WhyBenchObservation,
    WhyBenchState,
    sendable,
)
from whybench_openenv.options import Options

_LOG = logging.getLogger(__name__)

WALKS = 64
"""So many lists a session can walk side by side; the one left longest begins again."""


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
        self._next: dict[Options, int] = {}
        self._closed = False

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
            session = Session(found, options.template)
            meter = Meter(session, options.reward)
            instructions, tools = session.instructions, session.tools
        state.episode_id = uuid4().hex if episode_id is None else episode_id
        state.instance = {k: v for k, v in found.to_json().items() if k != "cluster"}
        state.split, state.reward, state.template = options.split, options.reward, session.template
        self._session, self._meter, self._state = session, meter, state
        return WhyBenchObservation(text=instructions, tools=tools)

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
                session.leave()
                reply = Reply("", Observation("ok"), True)
            elif not (action.finish is None or isinstance(action.finish, bool)):
                reply = session.act(Action.malformed("`finish` is true or false"))
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
            parameters = suite.parameters.asdict()
            found = find_instance(
                name, profile=suite.profile, seed=suite.seed, parameters=parameters
            )
            options.choice.check(found)
            return found, WhyBenchState()
        if seed is None and index is None and options.endless:
            seed = next(self._seeds)
        if seed is not None:
            if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
                raise ValueError("`seed` is a whole number, 0 or more")
            return next(options.choice.seeded(seed)), WhyBenchState(seed=seed)
        place = self._next.get(options, 0) if index is None else index
        if index is None and options.choice.find(place) is None:
            place = 0
        found = options.choice.at(place)
        self._next.pop(options, None)
        self._next[options] = place + 1
        if len(self._next) > WALKS:
            del self._next[next(iter(self._next))]
        return found, WhyBenchState(index=place)

    def _check_open(self) -> None:
        if self._closed:
            raise ValueError("this session was closed, perhaps for being idle: connect again")


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
