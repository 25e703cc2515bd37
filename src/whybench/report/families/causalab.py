"""The report's section on CausaLab."""

from __future__ import annotations

from whybench.report.families.causalab_commitment import commitment
from whybench.report.families.causalab_controls import controls
from whybench.report.families.causalab_failures import failures, understood
from whybench.report.families.causalab_regimes import frontiers
from whybench.report.families.causalab_rows import unscored
from whybench.report.families.causalab_sizes import sizes
from whybench.report.section import Part, Remark, Section
from whybench.report.view import View


def section(view: View) -> Section:
    """Return all that is shown of CausaLab."""
    parts: list[Part] = [
        Remark(
            f"{entry.row}: none of its {len(entry.run.frame)} episodes was scored, so it is in no "
            "figure.",
            "warning",
        )
        for entry in unscored(view)
    ]
    return Section(
        "causalab",
        "CausaLab",
        "A system experiments on one crystal, predicts the frequency of another, and says what "
        "causes what. Prediction and mechanism are scored apart, and both are held against what "
        "the system's own data force.",
        tuple(parts),
        (mechanism(view), understood(view), sizes(view), failures(view), commitment(view)),
    )


def mechanism(view: View) -> Section:
    """Return regimes and controls in the plane of both scores."""
    return Section(
        "causalab-mechanism",
        "Prediction against mechanism recovery",
        "Accuracy needs the frequency's equation alone, edge F1 the whole graph. What lies to the "
        "right and low predicts without knowing the mechanism.",
        (*frontiers(view), *controls(view)),
    )
