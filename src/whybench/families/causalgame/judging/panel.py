"""What several judges make of a report together; free of any engine."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from whybench.families.causalgame.judging.checks import Checks, checked, mechanical
from whybench.families.causalgame.judging.modes import later_mode, mode
from whybench.families.causalgame.judging.packet import JudgedCase
from whybench.families.causalgame.judging.rubric import Graded, Rubric, graded, six_of
from whybench.families.causalgame.judging.tampering import tampering
from whybench.stats.agreement import icc_2k, krippendorff_alpha


@dataclass(frozen=True, slots=True)
class Judged:
    """A report, judged."""

    graded: Graded | None
    """None: no judge gave a verdict that could be read, which is not a zero."""
    verdicts: Mapping[str, float]
    """Mean verdict on each criterion, those decided by rule included."""
    alpha: float
    """Krippendorff's alpha (ordinal) of the judges over the criteria; nan with fewer than two."""
    icc: float
    """ICC(2,k) of the judges over the criteria; nan with fewer than two."""
    mode: str | None
    later_mode: str | None
    checks: Checks
    tampering: tuple[str, ...]


def judged(case: JudgedCase, rubric: Rubric, panel: Sequence[Mapping[str, float]]) -> Judged:
    """Average what judges found, decide by rule what needs no judge, and name the failure mode."""
    checks = checked(case.report, case.outcome)
    signs = tampering(case.report)
    if not panel:
        return Judged(None, {}, math.nan, math.nan, None, None, checks, signs)
    asked = [criterion.id for criterion in rubric.judged]
    verdicts = {key: sum(one[key] for one in panel) / len(panel) for key in asked}
    verdicts |= {
        c.id: mechanical(c.mechanical, checks) for c in rubric.criteria if c.mechanical is not None
    }
    table = [[one[key] for key in asked] for one in panel]
    six = six_of(rubric, verdicts)
    return Judged(
        graded=graded(rubric, verdicts),
        verdicts=verdicts,
        alpha=krippendorff_alpha(table, "ordinal"),
        icc=icc_2k(table),
        mode=mode(six, case.outcome.survival_rate),
        later_mode=later_mode(six),
        checks=checks,
        tampering=signs,
    )
