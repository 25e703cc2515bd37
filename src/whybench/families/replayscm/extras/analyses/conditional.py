"""A rate among some of the attempts, which is not shown if they are too few."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

UNDEFINED = "–"
"""What is shown for a rate among none."""
SUPPRESSED = "*"
"""What is shown for a rate among one to `SUPPRESSED_UP_TO`."""
SUPPRESSED_UP_TO = 5
"""The largest denominator whose rate is not shown (caption of Table 1)."""


@dataclass(frozen=True, slots=True)
class Conditional:
    """A sum of values over the number of cases that meet a condition."""

    numerator: float
    denominator: int

    @classmethod
    def of(cls, values: Iterable[float | None]) -> Conditional:
        """Add up the values of the cases that meet the condition; None does not apply.

        >>> Conditional.of([1, 0, None, 0.5])
        Conditional(numerator=1.5, denominator=3)
        """
        applying = [value for value in values if value is not None]
        return cls(float(sum(applying)), len(applying))

    @property
    def rate(self) -> float | None:
        """The rate, even if it is not shown; None if there are no cases."""
        return self.numerator / self.denominator if self.denominator else None

    @property
    def suppressed(self) -> bool:
        """Whether the rate is defined but has too few cases to be shown."""
        return 1 <= self.denominator <= SUPPRESSED_UP_TO

    @property
    def shown(self) -> str:
        """The rate as a table shows it, with three decimals.

        It is rounded once. The paper's tables round to four decimals and then to three, so 8/38 is
        0.210 there.

        >>> Conditional(0, 0).shown, Conditional(1, 5).shown, Conditional(8, 38).shown
        ('–', '*', '0.211')
        """
        if not self.denominator:
            return UNDEFINED
        return SUPPRESSED if self.suppressed else f"{self.numerator / self.denominator:.3f}"


def change(before: Conditional, after: Conditional) -> float | None:
    """After minus before; None unless both rates can be shown.

    >>> change(Conditional(4, 8), Conditional(2, 8))
    -0.25
    >>> change(Conditional(4, 8), Conditional(1, 5))
    """
    if before.rate is None or after.rate is None or before.suppressed or after.suppressed:
        return None
    return after.rate - before.rate
