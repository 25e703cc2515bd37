"""A gymnasium environment: an action is a line of text, an observation is text or JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import lru_cache, partial
from typing import Any, TypeAlias

import gymnasium
from gymnasium.spaces import Dict

from whybench.episode.action import Action, ActionSpec
from whybench.episode.family import PUBLIC_SEED
from whybench.episode.instance import Instance
from whybench.episode.observation import Observation
from whybench.episode.registry import find_instance, load_suite
from whybench.episode.split import Part
from whybench.interfaces.gym.spaces import Lines, Prose
from whybench.interfaces.lines import read_action
from whybench.interfaces.reward import Meter, Pay
from whybench.interfaces.sampling import Choice, Seeded
from whybench.interfaces.session import Session

Observed: TypeAlias = dict[str, str]
"""`text` is what a language model reads. `json` is the same content as data."""

MAX_STEPS = 500
"""Default of `max_steps`. It is more than the budget and the allowed errors of any suite."""

SHORT, KEPT = 120, 4096
"""Lines of up to SHORT characters are cached, KEPT of them, because training loops repeat lines."""

_as_json = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False).encode
_OPTIONS = frozenset({"index", "instance"})
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")


class EpisodeEnv(gymnasium.Env[Observed, str]):
    """Episodes of one suite, one after another.

    >>> env = EpisodeEnv("causallink/core")
    >>> observation, info = env.reset(seed=7)
    >>> observation, reward, terminated, truncated, info = env.step("answer yes")
    >>> terminated, info["score"].outcome
    (True, 'answered')
    """

    metadata = {"render_modes": ["ansi"], "render_fps": 1}  # noqa: RUF012 - gymnasium's own form

    def __init__(
        self,
        suite: str,
        *,
        reward: Pay = "sparse",
        template: str | None = None,
        split: Part | None = None,
        rows: int | None = None,
        endless: bool = False,
        profile: str = "certified",
        suite_seed: str = PUBLIC_SEED,
        parameters: Mapping[str, Any] | None = None,
        where: str | None = None,
        data: str | None = None,
        max_steps: int = MAX_STEPS,
        render_mode: str | None = None,
    ) -> None:
        if max_steps < 1:
            raise ValueError(f"max_steps is {max_steps}. It must be 1 or more.")
        self._suite = load_suite(suite, profile=profile, seed=suite_seed, parameters=parameters)
        self._named = partial(
            find_instance, profile=profile, seed=suite_seed, parameters=parameters
        )
        self._choice = Choice.of(self._suite, split, rows, endless, where=where, data=data)
        self._stream: Seeded | None = None
        self._pay, self._template, self.max_steps = reward, template, max_steps
        self.render_mode = render_mode
        self._specs: tuple[ActionSpec, ...] = ()
        self._lines: dict[str, Action] = {}
        self._open(self._suite[0])
        space: Any = Dict({"json": Prose(), "text": Prose()})
        self.observation_space = space
        calls = [(spec.name, len(spec.arguments)) for spec in self.session.episode.actions]
        self.action_space = Lines(calls, sorted({"yes", "no", *_WORD.findall(self._said)}))

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observed, dict[str, Any]]:
        """Open the next episode of the stream, or the episode that the options select.

        A seed restarts the stream, and without a seed the stream continues. If the first call has
        no seed, the operating system provides one, which is in `np_random_seed`.
        """
        super().reset(seed=seed)
        if seed is not None or self._stream is None:
            self._stream = self._choice.seeded(self.np_random_seed if seed is None else seed)
        data = self._open(self._chosen(options) or next(self._stream))
        info = {**self._info(), "tools": self.session.tools}
        return {"json": data, "text": self._said}, info

    def step(self, action: str) -> tuple[Observed, float, bool, bool, dict[str, Any]]:
        """Run a line of text. No line raises an exception."""
        reply = self.session.act(self._read(action if isinstance(action, str) else str(action)))
        self._said = reply.text
        self._steps += 1
        terminated = self.session.episode.done
        truncated = self._steps >= self.max_steps and not terminated
        reward = self._meter.after(reply, last=truncated)
        if truncated:
            self.session.leave()
        info = self._info()
        if self._meter.score is not None:
            info["score"] = self._meter.score
        observed = {"json": _seen(reply.observation), "text": reply.text}
        return observed, reward, terminated, truncated, info

    def render(self) -> str | None:
        """Return the latest text if the mode is `ansi`."""
        return self._said if self.render_mode == "ansi" else None

    def _open(self, instance: Instance) -> str:
        """Open an episode, and return its start as JSON."""
        self.session = Session(instance, self._template)
        self._meter = Meter(self.session, self._pay)
        self._name = f"{instance.family}/{instance.id}"
        self._steps = 0
        self._said, data = _opening(instance, self.session.template)
        return data

    def _chosen(self, options: Mapping[str, Any] | None) -> Instance | None:
        """Return the instance that the options select, or None."""
        given = options or {}
        if given.keys() - _OPTIONS or len(given) > 1:
            raise ValueError(
                'Unknown options of reset. Use {"index": 3} or {"instance": "family/…"}.'
            )
        if "index" in given:
            return self._choice.at(given["index"])
        if "instance" not in given:
            return None
        if not isinstance(given["instance"], str):
            raise ValueError("`instance` must be a string such as family/suite-0003-0123456789ab.")
        instance = self._named(given["instance"])
        if (instance.family, instance.suite) != (self._suite.family.name, self._suite.name):
            raise ValueError(
                f"{given['instance']} is not in {self._suite.path}. Make the id of its own suite."
            )
        self._choice.check(instance)
        return instance

    def _read(self, line: str) -> Action:
        """Return the action of a line, as `Session.say` reads it. Short lines are cached."""
        specs = self.session.episode.actions
        if specs is not self._specs or len(self._lines) >= KEPT:
            self._specs, self._lines = specs, {}
        action = self._lines.get(line)
        if action is None:
            action = read_action(line, specs)
            if len(line) <= SHORT:
                self._lines[line] = action
        return action

    def _info(self) -> dict[str, Any]:
        return {"instance": self._name, "step": self._steps}


@lru_cache(maxsize=512)
def _seen(observation: Observation) -> str:
    """Return an observation as JSON. The latest results are cached."""
    return _as_json(observation.to_json())


@lru_cache(maxsize=128)
def _opening(instance: Instance, template: str) -> tuple[str, str]:
    """Return the start of an episode as text and as JSON. The latest results are cached."""
    session = Session(instance, template)
    return session.instructions, _as_json({"code": "ok", "data": {}, "tools": session.tools})
