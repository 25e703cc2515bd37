"""ReCITE's label judge, and its exam as a task.

`inspect eval whybench/recite_exam --model openai/gpt-x`; a small one for a small model:
`-T papers=1 -T nodes=5 -T length=700`.
"""

from __future__ import annotations

from typing import Any

from inspect_ai import Task, task

from whybench.causal.seeds import Stream
from whybench.episode.instance import Instance
from whybench.families.recite import FAMILY
from whybench.families.recite.extras.judge.case import Case
from whybench.families.recite.extras.judge.credit import points
from whybench.families.recite.extras.judge.exam.alterations import settings
from whybench.families.recite.extras.judge.exam.papers import paper
from whybench.families.recite.extras.judge.labels import LABELS
from whybench.families.recite.extras.judge.prompt import questions
from whybench.families.recite.extras.judge.score import F1
from whybench.judge.exam import exam_task
from whybench.judge.label_judge import LabelJudge, Paper

LADDER = "ladder"
"""The suite whose level determines the explicitness of documents."""


def _paper(instance: Instance) -> Paper[Case]:
    return paper(FAMILY.world(instance), Stream(FAMILY.name, "exam", instance.id), instance.id)


JUDGE: LabelJudge[Case] = LabelJudge(
    family=FAMILY.name,
    scorer="graph_judge",
    task="recite_exam",
    labels=LABELS,
    questions=questions,
    paper=_paper,
    points=points,
    means=F1,
    unasked=("judged_missing", "judged_too_large"),
)


@task
def recite_exam(
    suite: str = "short",
    papers: int = 20,
    seed: str = "exam",
    schema: bool = True,
    reasons: bool = True,
    **parameters: Any,
) -> Task:
    """Examine a judge of graphs on answers whose right labels are known.

    Args:
        suite: Source of the documents: short, ladder or standard.
        papers: Number of documents; each makes four samples, one per pass.
        seed: Suite seed; the default differs from that of the judged documents.
        schema: Constrain replies by a JSON schema; set it as in real judging.
        reasons: Ask for a few words on each element; set it as in real judging.
        **parameters: Parameters of the family, such as nodes, length, distractors or stated.

    """
    openly = {} if suite == LADDER else dict(settings()["documents"])
    found = FAMILY.suite(suite, seed=seed, parameters=openly | parameters)
    return exam_task(JUDGE, found, papers, schema, reasons)
