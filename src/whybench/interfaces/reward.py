"""Rewards for a training loop: the score at the end, or also the evidence of every action.

`sparse` pays the headline metric of the family when the episode ends, and nothing before. `dense`
pays the same. In addition, it pays for every action the share of the initial bits that the action
removed, and subtracts a penalty for an error. The bits that evidence leaves open
(`Family.bits_left`) depend only on what the agent saw. So the sum of these shares is at most 1, and
no reward reveals more than the observation did.
"""

from __future__ import annotations

from typing import Literal, get_args

from whybench.episode.score import Score
from whybench.interfaces.session import Reply, Session

Pay = Literal["sparse", "dense"]

PAYS: tuple[Pay, ...] = get_args(Pay)

PENALTY = 0.05
"""Penalty of `dense` for an action that was not run."""


class Meter:
    """The rewards of one session.

    `sparse` pays the headline metric when the episode ends. `dense` pays the same. In addition, it
    pays for every action the share of the initial uncertainty that the action removed, minus a
    penalty for errors.

    Examples:
        >>> import whybench as wb
        >>> session = wb.Session(wb.load_suite("causallink/core")[0])
        >>> meter = wb.Meter(session)
        >>> meter.after(session.say("wait"))
        0.0

    Args:
        session: The session.
        pay: `sparse` or `dense`.

    Raises:
        ValueError: `pay` is unknown.

    """

    __slots__ = ("_left", "_pay", "_session", "_start", "score")

    def __init__(self, session: Session, pay: Pay = "sparse") -> None:
        if pay not in PAYS:
            raise ValueError(f"Unknown reward {pay!r}. Use {' or '.join(PAYS)}.")
        self._session = session
        self._pay = pay
        self._start = self._left = self._bits()
        self.score: Score | None = None
        """The score that was paid for; None until the end."""

    def after(self, reply: Reply, *, last: bool = False) -> float:
        """Return the reward for the action that was just answered.

        Args:
            reply: The reply to the action.
            last: Whether a limit of the interface ends the episode here. The episode is then
                scored as it is.

        Returns:
            The reward; 0 after the end.

        """
        if self.score is not None:
            return 0.0
        paid = 0.0
        if reply.done or last:
            self.score = self._session.score()
            paid = self._headline_of(self.score)
        if self._pay == "sparse":
            return paid
        before, self._left = self._left, self._bits()
        if self._start:
            paid += (before - self._left) / self._start
        return paid - PENALTY * reply.observation.is_error

    def _headline_of(self, score: Score) -> float:
        value = score.values.get(self._session.family.headline)
        return 0.0 if value is None else float(value)

    def _bits(self) -> float:
        session = self._session
        return session.family.bits_left(session.episode) if self._pay == "dense" else 0.0
