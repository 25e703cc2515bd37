"""The limits that a family declares for its audit, in `[audit]` of `family.toml`.

- `zero`, `few`: the highest headline of a guesser without experiments, and with some
- `relative`: instead of these two and of `gap`, the highest share of the exact agent's score that a
  guesser may reach
- `gap`: the least distance between the best guesser and the exact agent
- `least`, `low`: the least score of the exact agent, and of its lower bound
- `prior`: the guesser that only knows the generator, against which `memory` is measured; default
  `prior_only`
- `[audit.named]`: guesser → a limit of its own
- `[audit.also]`: another metric → its limit for guessers without experiments
- `[audit.suites.SUITE]`: any of these keys, for one suite
- `[audit.exempt]`: suite → why it is known not to keep the limits, such as `enumerated`
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from whybench.causal.canonical import Json


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one family, or of one of its suites."""

    zero: float | None = None
    few: float | None = None
    relative: float | None = None
    gap: float = 0.5
    least: float = 0.8
    low: float = 0.75
    prior: str = "prior_only"
    named: Mapping[str, float] = field(default_factory=dict)
    also: Mapping[str, float] = field(default_factory=dict)
    exempt: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, declared: Mapping[str, Any], suite: str = "") -> Limits:
        """Read the limits of a suite, or say what is wrong with the declaration.

        >>> Limits.of({"zero": 0.55, "few": 0.6, "gap": 0.35}).gap
        0.35
        >>> Limits.of({"zero": 0.1, "few": 0.1, "suites": {"easy": {"zero": 0.5}}}, "easy").zero
        0.5
        """
        declared = {**declared, **declared.get("suites", {}).get(suite, {})}
        declared.pop("suites", None)
        known = [one.name for one in fields(cls)]
        if unknown := sorted(declared.keys() - set(known)):
            raise ValueError(f"[audit] has no key {unknown[0]!r}. Its keys are {', '.join(known)}.")
        found = cls(**declared)
        if (found.relative is None) == (found.zero is None or found.few is None):
            raise ValueError("[audit] needs either `zero` and `few`, or `relative`.")
        return found

    def of_guesser(self, name: str, experiments: int | None, exact: float) -> float:
        """Return the limit of a guesser: its own, or that of its kind.

        >>> limits = Limits(0.1, 0.15, named={"memory": 0.05})
        >>> [limits.of_guesser(n, e, 1.0) for n, e in [("a", 0), ("a", None), ("memory", 0)]]
        [0.1, 0.15, 0.05]
        >>> Limits(relative=0.5).of_guesser("a", 0, 0.9)
        0.45
        """
        if name in self.named:
            return self.named[name]
        if self.relative is not None:
            return self.relative * exact
        limit = self.zero if experiments == 0 else self.few
        return 0.0 if limit is None else limit

    def to_json(self) -> dict[str, Json]:
        """Return the limits that are set, without the suites that are exempt."""
        told = asdict(self)
        del told["exempt"]
        if self.relative is not None:
            del told["gap"]
        return {name: value for name, value in told.items() if value not in (None, {})}
