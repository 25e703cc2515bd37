"""The levels of a suite: how many of its instances have how many bits, steps and tokens."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from math import inf
from statistics import median

from whybench.causal.canonical import Json, digest
from whybench.curriculum.columns import figure
from whybench.episode.family import Suite
from whybench.episode.instance import Instance

BOUNDS = (1.0, 2.0, 4.0, 6.0, 12.0, 24.0, 48.0, inf)
"""Upper bounds of the levels, in bits at the start."""


@dataclass(frozen=True, slots=True)
class Level:
    """The instances of a suite whose bits lie between two bounds."""

    suite: str
    bits_above: float
    bits_up_to: float
    instances: int
    systems: int
    """Distinct hidden systems up to renaming."""
    exact_steps: float
    """Median number of experiments of the exact agent."""
    tokens: float
    """Median tokens of the exact agent's episode."""

    @property
    def where(self) -> str:
        """The filter that selects the level."""
        upper = "" if self.bits_up_to == inf else f" and bits <= {self.bits_up_to:g}"
        lower = "bits >= 0" if self.bits_above < 0 else f"bits > {self.bits_above:g}"
        return lower + upper

    def to_json(self) -> dict[str, Json]:
        """Return the level as JSON data, with the filter that selects it."""
        shown = asdict(self) | {"where": self.where}
        return {name: None if value == inf else value for name, value in shown.items()}


def levels(suite: Suite, rows: int) -> list[Level]:
    """Return the levels of the first rows of a suite and its further blocks.

    Examples:
        >>> import whybench as wb
        >>> [level.where for level in levels(wb.load_suite("causallink/advanced"), 12)]
        ['bits > 6 and bits <= 12']

    Args:
        suite: The suite.
        rows: The number of rows to measure.

    Returns:
        The levels that have an instance, the easiest first.

    """
    found: dict[float, list[Instance]] = {}
    for row in range(rows):
        instance = suite.row(row)
        bits = figure(instance, "bits") or 0.0
        found.setdefault(next(bound for bound in BOUNDS if bits <= bound), []).append(instance)
    below = dict(zip(BOUNDS, (-1.0, *BOUNDS), strict=False))
    return [
        Level(
            suite.path, below[bound], bound, len(found[bound]), _systems(suite, found[bound]),
            _median(found[bound], "exact_steps"), _median(found[bound], "tokens"),
        )
        for bound in sorted(found)
    ]  # fmt: skip


def _systems(suite: Suite, instances: Iterable[Instance]) -> int:
    family = suite.family
    return len({digest([family.system(family.world(one))]) for one in instances})


def _median(instances: Iterable[Instance], column: str) -> float:
    return float(median(figure(one, column) or 0.0 for one in instances))
