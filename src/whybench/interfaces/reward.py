"""What a training loop is paid: the score at the end, or evidence as it comes in.

`sparse` pays the family's headline metric when the episode ends, and nothing before. `dense` pays
the same, and for every action the share of the first uncertainty that it removed, minus a penalty
for an error. What evidence leaves open (`Family.bits_left`) hangs on what was seen alone, so the
sum of these shares is at most 1 and no reward tells more than the observation did.
"""

from __future__ import annotations

from typing import Literal, get_args

from whybench.episode.score import Score
from whybench.interfaces.session import Reply, Session

Pay = Literal["sparse", "dense"]

PAYS: tuple[Pay, ...] = get_args(Pay)

PENALTY = 0.05
"""What an action that was not carried out costs under `dense`."""


class Meter:
    """Keeps account of one session's rewards."""

    __slots__ = ("_left", "_pay", "_session", "_start", "score")

    def __init__(self, session: Session, pay: Pay = "sparse") -> None:
        if pay not in PAYS:
            raise ValueError(f"no reward {pay!r}: try {' or '.join(PAYS)}")
        self._session = session
        self._pay = pay
        self._start = self._left = self._bits()
        self.score: Score | None = None
        """The score that was paid for; None until the end."""

    def after(self, reply: Reply, *, last: bool = False) -> float:
        """Return the reward for the action that a reply answers; what comes after the end pays 0.

        `last` says that a limit of the interface ends the episode here: it is paid as it stands.
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
