"""The combined verdict of several judges on a report, and what is decided by rule."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence

from whybench.families.causalgame.extras.judge.case import JudgedCase
from whybench.families.causalgame.extras.judge.modes import later_mode, mode
from whybench.families.causalgame.extras.judge.rubric import Rubric, graded, mechanical, six_of
from whybench.families.causalgame.extras.judge.tampering import tampering
from whybench.families.causalgame.report_checks import checked
from whybench.judge.scorer import Judgement
from whybench.stats.agreement import icc_2k, krippendorff_alpha


def judged(case: JudgedCase, rubric: Rubric, panel: Sequence[Mapping[str, float]]) -> Judgement:
    """Average the judges' verdicts, add what is decided by rule, and name the failure mode.

    A criterion on which no judge gave a verdict is NaN: unscored, not zero. With fewer than two
    judges, their agreement over the criteria is NaN.
    """
    checks, signs = checked(case.report, case.outcome), tampering(case.report)
    dimensions = [f"rubric_{name}" for name, _ in rubric.dimensions]
    said = ("rubric_total", "rubric_normalised", "mandatory_met", *dimensions)
    value = dict.fromkeys((*said, "judge_alpha", "judge_icc"), math.nan)
    modes: tuple[str | None, str | None] = (None, None)
    if panel:
        asked = [criterion.id for criterion in rubric.judged]
        verdicts = {key: sum(one[key] for one in panel) / len(panel) for key in asked}
        verdicts |= {
            c.id: mechanical(c.mechanical, checks)
            for c in rubric.criteria
            if c.mechanical is not None
        }
        found, six = graded(rubric, verdicts), six_of(rubric, verdicts)
        shares = found.dimensions_normalised.values()
        sums = (found.total, found.normalised, float(found.mandatory_met), *shares)
        table = [[one[key] for key in asked] for one in panel]
        value |= dict(zip(said, sums, strict=True))
        value |= {f"verdict_{key}": verdict for key, verdict in verdicts.items()}
        value |= {"judge_alpha": krippendorff_alpha(table, "ordinal"), "judge_icc": icc_2k(table)}
        modes = mode(six, case.outcome.survival_rate), later_mode(six)
    value |= {"misreported": float(checks.wrong), "tampering": float(bool(signs))}
    metadata = {
        "failure_mode": modes[0],
        "later_failure_mode": modes[1],
        "checks": dataclasses.asdict(checks),
        "tampering": list(signs),
    }
    return Judgement(value, modes[0] or "unjudged", metadata)
