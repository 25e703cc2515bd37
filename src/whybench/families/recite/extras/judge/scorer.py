"""The judge of graphs: other models compare an answer's graph with the gold graph and the text.

`inspect score LOG --scorer whybench/graph_judge -S judges=openai/gpt-x,google/gemini-y`, or the
model role `judge`. A model may not judge its own answers.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

from inspect_ai.model import Model
from inspect_ai.scorer import Metric, Scorer, metric, scorer
from inspect_ai.solver import TaskState

from whybench.episode.score import Kind
from whybench.families.recite.extras.judge.case import Case, answered_edges, case_of
from whybench.families.recite.extras.judge.exam_task import JUDGE
from whybench.families.recite.extras.judge.verdict import mean_values, verdict
from whybench.interfaces.inspectai.record import lost_kind
from whybench.judge.labels import Entry, Given
from whybench.judge.question import Asked
from whybench.judge.scorer import Judgement, clustered_means, judge_scorer, replayed

MAIN: dict[str, Kind] = {"f1": "share", "precision": "share", "recall": "share"}
"""Figures with an interval."""

GraphSource = Callable[[TaskState], Case | None]
"""Finds the graphs of a sample; None: there is nothing to score, as when its solver crashed."""


def stored_case(state: TaskState) -> Case | None:
    """Replay the stored episode and find the submitted edges.

    An answer that is missing scores 0; unless the document was too long for the model, where the
    family leaves such samples out.
    """
    found = replayed(state)
    if found is None:
        return None
    family, instance, trace = found
    edges = answered_edges(family, instance, trace)
    if edges is None and lost_kind(state.store) in family.excluded:
        return None
    return case_of(family.world(instance), edges, instance.id)


@metric
def graph_judgements() -> Metric:
    """Mean of every figure, with a clustered 95 % interval of those in `MAIN`; never raises."""
    return clustered_means(MAIN)


@scorer(metrics=[graph_judgements()])
def graph_judge(
    judges: Sequence[str | Model] | str | None = None,
    schema: bool = True,
    reasons: bool = True,
    allow_self: bool = False,
    source: GraphSource = stored_case,
) -> Scorer:
    """Judge graphs in four passes; figures are means over the judges.

    An answer that is missing scores 0 without a judge being asked, and `judged_missing` is 1; so
    does one of more than 600 nodes and edges, or four times those of the gold graph if that is
    more, and `judged_too_large` is 1. Edges that read like an earlier one to a judge are left out,
    and `judged_repeated` counts them. A pass that stays unreadable leaves the figures that need it
    unscored (NaN), and `incomplete` counts such passes.

    Args:
        judges: Models that judge (a list, or names with commas); by default the role `judge`.
        schema: Constrain replies by a JSON schema.
        reasons: Ask for a few words on each element, before its labels.
        allow_self: Let a model judge its own answers, for tests; labelled `self_judged`.
        source: Where a sample's graphs are found.

    """

    async def asked(judge: Model, case: Case) -> Asked[Given]:
        return await JUDGE.ask_all(judge, case, schema, reasons)

    return judge_scorer(judges, source, asked, _combined, allow_self=allow_self)


def _combined(case: Case, replies: list[Asked[Given]]) -> Judgement:
    labels = [reply.answer or {} for reply in replies]
    verdicts = [verdict(case, given) for given in labels]
    unreadable = sum(reply.unreadable for reply in replies)
    return Judgement(
        mean_values(verdicts) | {"judge_unreadable": unreadable, "judges": len(replies)},
        "too_large" if case.too_large else "judged" if case.answered else "missing",
        {
            "verdicts": [dataclasses.asdict(one) for one in verdicts],
            "labels": [_logged(given) for given in labels],
        },
    )


def _logged(given: Given) -> dict[str, dict[str, Entry] | None]:
    """Return a judge's labels for a log, where keys are texts."""
    return {
        name: None if said is None else {str(number): entry for number, entry in said.items()}
        for name, said in given.items()
    }
