"""An OpenEnv environment that plays episodes. One environment is one session of the server."""

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
"""Number of lists whose position a session remembers. The least recently used starts again."""


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
        """Open an episode by `seed`, `index` or `instance`. The default is the next one.

        Other arguments replace the server's `Options` for this episode.
        """
        self._check_open()
        index, instance = kwargs.pop("index", None), kwargs.pop("instance", None)
        if self._pinned and (kwargs or instance is not None):
            raise ValueError(
                "This server is pinned. Pass only `seed`, `index` and `episode_id` to reset."
            )
        if episode_id is not None and not isinstance(episode_id, str):
            raise ValueError("`episode_id` must be a string.")
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
        """Run an action in the episode. No content of an action raises an exception."""
        self._check_open()
        session = self._session
        if session is None:
            raise ValueError("No episode is open. Call reset first, on the same connection.")
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
        """The state of the episode, without hidden data."""
        return self._state

    def get_metadata(self) -> EnvironmentMetadata:
        """Return the description of the server."""
        return EnvironmentMetadata(
            name="whybench",
            description=f"Find out why: episodes of {self._options.found.path}, each proven.",
            version=__version__,
            author="The WhyBench authors",
        )

    def close(self) -> None:
        """End the session. The library also closes sessions that were idle for long."""
        self._session, self._closed = None, True

    def _told(self, session: Session, reply: Reply) -> WhyBenchObservation:
        """Return a reply with its reward. Score and trace come only at the end."""
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
        """Return the requested or the next instance, and the state that records the choice."""
        if sum(given is not None for given in (seed, index, name)) > 1:
            raise ValueError("Give only one of `seed`, `index` and `instance`.")
        if name is not None:
            if not isinstance(name, str):
                raise ValueError(
                    "`instance` must be a string such as family/suite-0003-0123456789ab."
                )
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
                raise ValueError("`seed` must be an integer of 0 or more.")
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
            raise ValueError("This session was closed, perhaps because it was idle. Connect again.")


def _text(text: str) -> str:
    found: str = sendable(text)
    return found


@contextmanager
def _unspoken(but: type[Exception] | tuple[()] = ()) -> Iterator[None]:
    """Hide the text of an unexpected error from the client, because it could reveal hidden data."""
    try:
        yield
    except but:
        raise
    except Exception:  # noqa: BLE001 - whatever it is
        _LOG.exception("An episode failed.")
        raise RuntimeError("The episode failed. See the server's log.") from None
