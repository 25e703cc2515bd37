"""Certificates: what was shown about an instance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from whybench.causal.canonical import EMPTY, Json, Record, freeze, thaw


@dataclass(frozen=True, slots=True)
class Certificate:
    """What was shown about an instance, and the class of hidden systems for which it holds.

    Examples:
        >>> import whybench as wb
        >>> certificate = wb.certify(wb.load_suite("causallink/core")[3])
        >>> certificate.identified, certificate.defects()
        (True, [])

    """

    instance: str
    """The id of the instance."""
    hypotheses: str
    """The class of hidden systems that the instructions state."""
    solvable: bool
    """Whether the exact agent reaches `best_score` within the budget."""
    identified: bool
    """Whether some experiments within the budget force the answer."""
    best_score: float
    """The best attainable value of the headline metric."""
    fewest: int | None = None
    """The fewest experiments that force the answer on this hidden system."""
    minimax: int | None = None
    """The worst case of the best plan that does not know the hidden system; None if only a bound is
    known."""
    minimax_upper: int | None = None
    """A proven upper bound of `minimax`."""
    exact_steps: int | None = None
    """The number of experiments of the exact agent on this instance."""
    bits: float = 0.0
    """What the evidence leaves open, in bits; 0 if the answer is forced."""
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
        bound = self.worst_case
        checks = {
            "the exact experimenter does not reach the best score": self.solvable,
            "not identified, and no witness pair shows why": self.identified or self.witness,
            "the exact experimenter needs more than the worst case": bound is None
            or self.exact_steps is None
            or self.exact_steps <= bound,
            "fewer experiments than `fewest` sufficed": self.fewest is None
            or self.exact_steps is None
            or self.fewest <= self.exact_steps,
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
