"""Additions to the Inspect task of CausalGame: a sandbox for programs, and judges of the report."""

from __future__ import annotations

from whybench.families.causalgame.extras.judge.scorer import report_judge
from whybench.interfaces.inspectai.build import Parts
from whybench.interfaces.inspectai.solver import TOOLS
from whybench.sandbox.bubblewrap import NAME as BWRAP
from whybench.sandbox.code_execution import sandbox_named


def sandbox_and_judges(  # noqa: D417 - the arguments are the task's
    protocol: str,
    *,
    sandbox: str = BWRAP,
    analysis: bool = False,
    judge: str | list[str] | bool = False,
    rubric: str = "six",
    allow_self: bool = False,
) -> Parts:
    """Return the task's sandbox, and the scorer of reports if there is a judge.

    Args:
        sandbox: Where programs run: `bwrap`, or `docker` with the compose file that we ship.
        analysis: Whether a model that calls tools may run programs on the records. It needs the
            sandbox.
        judge: One or several models that judge the report; true: the model role `judge`.
        rubric: `six` criteria (16 points) or `full` (17 items).
        allow_self: Let a model judge itself, to test the setup; such scores are labelled.

    """
    judges = None if isinstance(judge, bool) else judge
    return {
        "sandbox": sandbox_named(sandbox) if analysis or protocol != TOOLS else None,
        "analysis": analysis,
        "scorers": [report_judge(judges, rubric, allow_self=allow_self)] if judge else [],
    }
