"""The episode of a rollout, in the state of the rollout.

`verifiers` neither saves nor sends this state. At the end, `record` writes the data to keep to the
`info` of the trace.
"""

from __future__ import annotations

import json
from typing import Any, Literal

import verifiers.v1 as vf
from pydantic import PrivateAttr

from whybench import Action, Instance, Meter, Reply, Score, Session

Pay = Literal["sparse", "dense"]
"""The reward: only the score at the end, or also evidence during the episode."""


def sendable(text: str) -> str:
    r"""Return a text that UTF-8 can encode. A lone surrogate from a model would stop the transfer.

    >>> sendable("no shape \ud800")
    'no shape \\ud800'
    """
    return text.encode("utf-8", "backslashreplace").decode()


class Playing(vf.State):
    """One session, and the evidence paid so far."""

    _session: Session | None = PrivateAttr(None)
    _meter: Meter | None = PrivateAttr(None)
    _pay: Pay = PrivateAttr("sparse")
    _evidence: float = PrivateAttr(0.0)
    _last: str | None = PrivateAttr(None)

    def open(self, instance: Instance, template: str, pay: Pay) -> None:
        """Open the episode, unless it is already open."""
        if self._session is None:
            self._session = Session(instance, template)
            self._meter = Meter(self._session, pay)
            self._pay = pay

    @property
    def session(self) -> Session:
        """The session of the episode."""
        if self._session is None:
            raise ValueError("No episode is open. Run the task's setup first.")
        return self._session

    def call(self, name: str, arguments: str | None) -> Reply:
        """Run a call as the model made it. Only the episode validates it."""
        try:
            args = json.loads(arguments or "{}")
        except (ValueError, RecursionError) as error:
            return self._paid(self.session.act(Action.malformed(str(error)[:200])))
        return self._paid(self.session.call(name, args))

    def without_call(self, text: str) -> Reply:
        """Run a reply without a call: the one call that it holds in text, else an error."""
        return self._paid(self.session.without_call(text))

    def score(self) -> Score | None:
        """Return the score that was paid, or the score of the episode as it is.

        Return None if no episode was played here. A saved rollout is scored from its record.
        """
        if self._session is None:
            return None
        paid = self._meter.score if self._meter else None
        return paid or self._session.score()

    def record(self) -> dict[str, Any]:
        """Return the data that replays and scores the episode without a model.

        The trace is JSON text, because a model may send characters that files of `verifiers` cannot
        store. No call runs after this.
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
            if meter.score is not None:  # the headline is a separate reward
                self._evidence -= meter.score.values.get(family.headline) or 0.0
        return reply
