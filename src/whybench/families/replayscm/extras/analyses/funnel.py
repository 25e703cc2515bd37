"""Where submissions stop being executable: the stages of validation (Table C.1)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from whybench.families.replayscm.extras.analyses.attempt import Attempt, rows
from whybench.families.replayscm.extras.analyses.conditional import Conditional

FORM = "strict_json"
"""The reply is only the requested JSON: a diagnostic of form, not a gate, as JSON is extracted."""
GATES = ("extracted", "schema", "keys", "parse", "legal", "acyclic", "valid")
"""The stages in order; a submission passes a gate only if it passed those before."""


@dataclass(frozen=True, slots=True)
class Stage:
    """One column of the funnel."""

    name: str
    passed: Conditional
    """Submissions that pass, of those that the stage applies to."""
    lost: int
    """Submissions that fail here and at no earlier gate; 0 for `strict_json`, not a gate."""


@dataclass(frozen=True, slots=True)
class Funnel:
    """One row of Table C.1."""

    system: str
    pool: str
    n: int
    stages: tuple[Stage, ...]

    def stage(self, name: str) -> Stage:
        """Return one stage."""
        return next(stage for stage in self.stages if stage.name == name)


def funnels(attempts: Iterable[Attempt]) -> list[Funnel]:
    """Table C.1: the share of submissions that reach each stage, by system and pool.

    >>> values = {"strict_json": 0, **dict.fromkeys(GATES[:4], 1), **dict.fromkeys(GATES[4:], 0)}
    >>> [row] = funnels([Attempt("s", "hid_match", "m1", values)])
    >>> [(stage.name, stage.passed.rate, stage.lost) for stage in row.stages][4:6]
    [('parse', 1.0, 0), ('legal', 0.0, 1)]
    """
    return [_funnel(system, pool, group) for (system, pool), group in rows(attempts).items()]


def _funnel(system: str, pool: str, group: list[Attempt]) -> Funnel:
    failed = [next((gate for gate in GATES if attempt.value(gate) == 0), None) for attempt in group]
    stages = tuple(
        Stage(name, Conditional.of(attempt.value(name) for attempt in group), failed.count(name))
        for name in (FORM, *GATES)
    )
    return Funnel(system, pool, len(group), stages)
