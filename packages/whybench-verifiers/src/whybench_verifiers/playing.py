"""The episode behind a rollout, kept in the rollout's state.

`verifiers` neither saves nor sends this state anywhere; what is worth keeping is written to the
trace's `info` at the end (`record`).
"""

from __future__ import annotations

import json
from typing import Any, Literal

import verifiers.v1 as vf
from pydantic import PrivateAttr

from whybench import Action, Instance, Meter, Reply, Score, Session

Pay = Literal["sparse", "dense"]
"""What is rewarded: the score at the end, or also evidence as it comes in."""


def sendable(text: str) -> str:
    r"""Return a text that UTF-8 can carry; half a character of a model's own would stop the wire.

    >>> sendable("no shape \ud800")
    'no shape \\ud800'
    """
    return text.encode("utf-8", "backslashreplace").decode()


class Playing(vf.State):
    """One session, and what evidence was paid so far."""

    _session: Session | None = PrivateAttr(None)
    _meter: Meter | None = PrivateAttr(None)
    _pay: Pay = PrivateAttr("sparse")
    _evidence: float = PrivateAttr(0.0)
    _last: str | None = PrivateAttr(None)

    def open(self, instance: Instance, template: str, pay: Pay) -> None:
        """Begin the episode; one that is open already goes on."""
        if self._session is None:
            self._session = Session(instance, template)
            self._meter = Meter(self._session, pay)
            self._pay = pay

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
        """Carry out what a reply without a call is: a step that no interface can read."""
        names = " or ".join(str(tool["name"]) for tool in self.session.tools)
        return self._paid(self.session.act(Action.malformed(f"call {names}")))

    def score(self) -> Score | None:
        """Return the score that was paid for, or that of the episode as it stands.

        None if no episode was played here: what was saved is scored from its record.
        """
        if self._session is None:
            return None
        paid = self._meter.score if self._meter else None
        return paid or self._session.score()

    def record(self) -> dict[str, Any]:
        """Return what replays and scores the episode again without a model.

        The trace is the text of its JSON: a model may send what no file of `verifiers` can hold.
        Nothing is carried out after this.
        """
        self.session.leave()
        trace = json.dumps(self.session.trace.to_json())
        paid = {"evidence": self._evidence} if self._pay == "dense" else {}
        return {"trace": trace, "last": self._last, **paid}

    def _paid(self, reply: Reply) -> Reply:
        self._last = sendable(reply.text)
        meter, family = self._meter, self.session.family
        if meter is not None and meter.score is None:
            self._evidence += meter.after(reply)
            if meter.score is not None:  # the headline is a reward of its own
                self._evidence -= meter.score.values.get(family.headline) or 0.0
        return reply
