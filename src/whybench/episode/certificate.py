"""What is provably true of an instance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from whybench.causal.canonical import EMPTY, Json, Record, freeze, thaw


@dataclass(frozen=True, slots=True)
class Certificate:
    """A proof's result, and the class of hypotheses in which it holds."""

    instance: str
    """The id of the instance."""
    hypotheses: str
    """The class the agent is told of: what worlds it must reckon with."""
    solvable: bool
    """The exact experimenter reaches `best_score` within the budget."""
    identified: bool
    """Some experiments within the budget force the answer."""
    best_score: float
    """The best attainable value of the family's headline metric."""
    fewest: int | None = None
    """Fewest experiments after which the answer is forced on this world: a lower bound."""
    minimax: int | None = None
    """Worst case of the best plan that does not know the world; None if only a bound is proven."""
    minimax_upper: int | None = None
    """A proven upper bound of `minimax`."""
    exact_steps: int | None = None
    """What the exact experimenter needed on this world."""
    bits: float = 0.0
    """Residual ambiguity of the evidence, in bits: 0 when the answer is forced."""
    witness: Json = None
    """When not identified: two worlds that no experiment tells apart."""
    facts: Record = EMPTY
    """Further figures of the family."""

    @property
    def worst_case(self) -> int | None:
        """`minimax`, or its proven upper bound."""
        return self.minimax if self.minimax is not None else self.minimax_upper

    def defects(self) -> list[str]:
        """Return what keeps this instance from being proven; empty when it is."""
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
        """Return the certificate as JSON data."""
        return {name: thaw(getattr(self, name)) for name in self.__slots__}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Certificate:
        """Rebuild a certificate from `to_json`."""
        return cls(**{name: freeze(data[name]) for name in cls.__slots__})


@dataclass(frozen=True, slots=True)
class SuiteProof:
    """What is proven of a suite as a whole: rates over many seeds, which no instance can show."""

    figures: Mapping[str, Json] = field(default_factory=dict)
    flaws: tuple[tuple[str, str], ...] = ()
    """What fails, and why."""
