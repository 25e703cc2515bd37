"""The episode behind a rollout, kept in the rollout's state.

`verifiers` neither saves nor sends this state anywhere; what is worth keeping is written to the
trace's `info` at the end (`record`).
"""

from __future__ import annotations

import json
from typing import Any

import verifiers.v1 as vf
from pydantic import PrivateAttr

from whybench.episode.action import Action
from whybench.episode.instance import Instance
from whybench.interfaces.reward import Meter, Pay
from whybench.interfaces.session import Reply, Session


class Playing(vf.State):
    """One session, and what evidence was paid so far."""

    _session: Session | None = PrivateAttr(None)
    _meter: Meter | None = PrivateAttr(None)
    _evidence: float = PrivateAttr(0.0)

    def open(self, instance: Instance, skin: str, pay: Pay) -> None:
        """Begin the episode; one that is open already goes on."""
        if self._session is None:
            self._session = Session(instance, skin)
            self._meter = Meter(self._session, pay) if pay == "dense" else None

    @property
    def session(self) -> Session:
        """The episode as seen from outside."""
        if self._session is None:
            raise ValueError("no episode is open: run the task's setup first")
        return self._session

    def call(self, name: str, arguments: str | None) -> Reply:
        """Carry out a call as a model made it: the episode judges it, whatever it is."""
        try:
            args = json.loads(arguments or "{}")
        except (ValueError, RecursionError) as error:
            return self._paid(self.session.act(Action.malformed(str(error)[:200])))
        return self._paid(self.session.call(name, args))

    def without_call(self) -> Reply:
        """Carry out what a reply without a call is: a step that no door can read."""
        names = " or ".join(str(tool["name"]) for tool in self.session.tools)
        return self._paid(self.session.act(Action.malformed(f"call {names}")))

    def record(self) -> dict[str, Any]:
        """Return what replays and scores the episode again without a model.

        The trace is the text of its JSON: a model may send what no file of `verifiers` can hold.
        """
        trace = json.dumps(self.session.trace.to_json())
        return {"trace": trace} | ({} if self._meter is None else {"evidence": self._evidence})

    def _paid(self, reply: Reply) -> Reply:
        if self._meter is not None:
            headline = self._meter.headline() if reply.done else 0.0
            self._evidence += self._meter.after(reply) - headline
        return reply
