"""ReCITE's additions to Inspect: graph judges, their exam, and repair of replies."""

from __future__ import annotations

from whybench.families.recite.extras.judge.exam_task import recite_exam
from whybench.families.recite.extras.judge.scorer import graph_judge
from whybench.interfaces.inspectai.build import Parts

__all__ = ["recite_exam", "repair_and_judges"]


def repair_and_judges(  # noqa: D417 - the arguments are the task's
    protocol: str,  # noqa: ARG001 - the same for every protocol
    *,
    repair: str | bool = False,
    judge: str | list[str] | bool = False,
    allow_self: bool = False,
) -> Parts:
    """Return the model that repairs replies, and the scorer of graphs if requested.

    Args:
        repair: A second model that reformats unreadable replies; true: the role `repair`.
        judge: One or several models that judge the graph; true: the model role `judge`.
        allow_self: Let a model judge its own answers, for tests; such scores are labelled.

    """
    judges = None if isinstance(judge, bool) else judge
    scorers = [graph_judge(judges, allow_self=allow_self)] if judge else []
    return {"repair": repair, "scorers": scorers}
