"""What ReCITE adds to Inspect: judges of graphs, their exam, and repair of unreadable replies."""

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
    """Return the second model that repairs replies, and the scorer of graphs if asked for.

    Args:
        repair: A second model that puts unreadable replies into form; true: the role `repair`.
        judge: A model, or several, that judge the graph; true: the model role `judge`.
        allow_self: Let a model judge itself, to test the plumbing; such scores are labelled.

    """
    judges = None if isinstance(judge, bool) else judge
    scorers = [graph_judge(judges, allow_self=allow_self)] if judge else []
    return {"repair": repair, "scorers": scorers}
