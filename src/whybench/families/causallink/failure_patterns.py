"""The four failure patterns of the paper (its section 5.3 and Table 2), by mechanical rules.

Only wrong answers are classified, and the first rule that fits applies. The order of the rules is
our choice, because the paper's patterns overlap.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from whybench.families.causallink.world.world import State

BIASES = (
    "illusive_confounder_bias",
    "root_cause_bias",
    "reverse_collider_bias",
    "other_fn",
    "correlation_bias",
    "other_fp",
)


@dataclass(frozen=True, slots=True)
class Change:
    """One intervention that was run."""

    starts: bool
    """Whether it was a start; otherwise it was a stop."""
    v: int
    before: State
    after: State


def bias(x: int, y: int, changes: Sequence[Change], said_yes: bool, verdict: str) -> str:
    """Classify a wrong answer about whether x drives y."""
    return _false_positive(x, y, changes) if said_yes else _false_negative(x, y, changes, verdict)


def _false_negative(x: int, y: int, changes: Sequence[Change], verdict: str) -> str:
    if verdict == "yes":
        return "illusive_confounder_bias"
    if any(c.before and not c.after for c in changes):
        return "root_cause_bias"
    for c in changes:
        stopped_x = not c.starts and c.v == x and c.before >> x & 1 and not c.after >> x & 1
        if stopped_x and c.after >> y & 1:
            return "reverse_collider_bias"
    return "other_fn"


def _false_positive(x: int, y: int, changes: Sequence[Change]) -> str:
    alike = [c.after >> x & 1 == c.after >> y & 1 for c in changes]
    if changes and all(alike):
        return "correlation_bias"
    for c in changes:
        moved_x = c.starts and c.v == x and not c.before >> x & 1
        if moved_x and c.before >> y & 1 and alike[-1]:
            return "correlation_bias"
    return "other_fp"
