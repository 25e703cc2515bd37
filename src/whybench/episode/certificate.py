"""Certificates: what was shown about an instance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from whybench.causal.canonical import EMPTY, Json, Record, freeze, thaw

Status = Literal["proven", "statistical", "none"]

STATUSES: tuple[Status, ...] = get_args(Status)


@dataclass(frozen=True, slots=True)
class Certificate:
    """What was shown about an instance, and the class of hidden systems for which it holds.

    Examples:
        >>> import whybench as wb
        >>> certificate = wb.certify(wb.load_suite("causallink/core")[3])
        >>> certificate.status, certificate.identified, certificate.defects()
        ('proven', True, [])

    """

    instance: str
    """The id of the instance."""
    hypotheses: str
    """The class of hidden systems that the instructions state."""
    status: Status = "none"
    """`proven`: exact, and checked by independent code. `statistical`: rates with intervals.
    `none`: no claim."""
    solvable: bool | None = None
    """Whether the exact agent reaches `best_score` within the budget; None if this is no claim."""
    identified: bool | None = None
    """Whether some experiments within the budget force the answer; None if this is no claim."""
    best_score: float | None = None
    """An upper bound of the headline metric that the exact agent attains; None if none is known.
    With status `statistical` it bounds the expected headline."""
    fewest: int | None = None
    """The fewest experiments that force the answer on this hidden system."""
    minimax: int | None = None
    """The worst case of the best plan that does not know the hidden system; None if only a bound is
    known."""
    minimax_upper: int | None = None
    """A proven upper bound of `minimax`."""
    exact_steps: int | None = None
    """The number of experiments of the exact agent on this instance."""
    bits: float | None = None
    """What all evidence leaves open at the end, in bits: 0 if the answer is forced, None if it has
    no meaning."""
    witness: Json = None
    """If the answer is not identified: two hidden systems that no experiment distinguishes."""
    facts: Record = EMPTY
    """Further figures of the family."""

    @property
    def worst_case(self) -> int | None:
        """`minimax`, or its proven upper bound."""
        return self.minimax if self.minimax is not None else self.minimax_upper

    def defects(self) -> list[str]:
        """Return the claims that fail.

        Returns:
            One sentence per failed claim; empty if all hold.

        """
        bound, steps, proven = self.worst_case, self.exact_steps, self.status == "proven"
        silent = (self.solvable, self.identified, self.best_score, self.bits, self.witness)
        checks = {
            f"status {self.status!r} is unknown": self.status in STATUSES,
            "it makes claims, but its status is `none`": self.status != "none"
            or all(claim is None for claim in silent),
            "it is statistical, but claims that evidence forces the answer": not (
                self.status == "statistical" and (self.identified or self.bits is not None)
            ),
            "it is proven, but does not say whether the answer is identified": not proven
            or self.identified is not None,
            "the exact agent does not reach the best score": self.solvable is not False
            and (self.solvable is not None or self.best_score is None or not proven),
            "not identified, and no witness pair shows why": self.identified is not False
            or self.witness is not None,
            "the exact agent needs more than the worst case": bound is None
            or steps is None
            or steps <= bound,
            "fewer experiments than `fewest` sufficed": self.fewest is None
            or steps is None
            or self.fewest <= steps,
        }
        return [defect for defect, passed in checks.items() if not passed]

    def to_json(self) -> dict[str, Json]:
        """Return the certificate as JSON data.

        Returns:
            The data, which `from_json` reads.

        """
        return {name: thaw(getattr(self, name)) for name in self.__slots__}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Certificate:
        """Rebuild a certificate from `to_json`.

        Args:
            data: JSON data of a certificate.

        Returns:
            The certificate.

        """
        return cls(**{name: freeze(data[name]) for name in cls.__slots__})


@dataclass(frozen=True, slots=True)
class SuiteProof:
    """What was shown about a suite as a whole: rates over many seeds, which no instance can show.

    Examples:
        >>> import whybench as wb
        >>> suite = wb.load_suite("causallink/core")
        >>> suite.family.prove(suite).flaws
        ()

    """

    figures: Mapping[str, Json] = field(default_factory=dict)
    """Name → figure."""
    flaws: tuple[tuple[str, str], ...] = ()
    """Each claim that fails, with the reason."""
