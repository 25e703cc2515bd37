"""The report judge: other models read the report at the end of an episode and apply a rubric.

`inspect score LOG --scorer whybench/report_judge -S judges=openai/gpt-x,google/gemini-y`, or the
model role `judge`. A judge that is the model under test is rejected.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from inspect_ai.model import Model
from inspect_ai.scorer import Metric, Scorer, metric, scorer
from inspect_ai.solver import TaskState

from whybench.episode.score import Kind
from whybench.families.causalgame.claims import claims as claims_of
from whybench.families.causalgame.extras.judge.case import JudgedCase, judged_case
from whybench.families.causalgame.extras.judge.prompt import claims_question, rubric_question
from whybench.families.causalgame.extras.judge.replies import (
    distance_from,
    numbered,
    read_answers,
    read_verdict,
)
from whybench.families.causalgame.extras.judge.rubric import rubric as rubric_named
from whybench.families.causalgame.extras.judge.verdict import judged
from whybench.judge.panel import ask
from whybench.judge.question import Asked
from whybench.judge.scorer import Judgement, clustered_means, judge_scorer, replayed

MAIN: dict[str, Kind] = {"rubric_normalised": "share", "claim_distance": "amount"}
"""Metrics with an interval."""

ReportSource = Callable[[TaskState], JudgedCase | None]
"""Finds the report of a sample and the truth of its episode; None if there is no report."""

Reply = tuple[dict[str, float] | None, int | None]
"""A judge's verdict on each criterion, and the distance of the claims; None if unreadable."""


def stored_case(state: TaskState) -> JudgedCase | None:
    """Replay the stored episode and find its report."""
    found = replayed(state)
    return None if found is None else judged_case(*found)


@metric
def judgements() -> Metric:
    """Mean of every figure, with a clustered 95 % interval for those in `MAIN`; never raises."""
    return clustered_means(MAIN)


@scorer(metrics=[judgements()])
def report_judge(
    judges: Sequence[str | Model] | str | None = None,
    rubric: str = "six",
    claims: bool = True,
    schema: bool = True,
    allow_self: bool = False,
    source: ReportSource = stored_case,
) -> Scorer:
    """Judge reports: rubric, claims, numbers checked by rule, agreement of several judges.

    Args:
        judges: Models that judge: a list, or names separated by commas; default: the role `judge`.
        rubric: `six` (16 points) or `full` (17 items).
        claims: Also ask each judge which claims the report makes.
        schema: Constrain replies by a JSON schema.
        allow_self: Let a model judge its own reports, to test the setup; labelled `self_judged`.
        source: Function that finds a sample's report.

    """
    items = rubric_named(rubric)

    async def asked(judge: Model, case: JudgedCase) -> Asked[Reply]:
        question = rubric_question(case, items)
        ruled = await ask(
            judge, question, schema, lambda text: read_verdict(items, question.word, text)
        )
        if not claims:
            return Asked((ruled.answer, None), ruled.unreadable)
        known = case.known or claims_of(case.physics)
        listed, about = numbered(case.instance_id, known), claims_question(case, known)
        told = await ask(
            judge,
            about,
            schema,
            lambda text: distance_from(known, read_answers(listed, about.word, text)).total,
        )
        return Asked((ruled.answer, told.answer), ruled.unreadable + told.unreadable)

    def combined(case: JudgedCase, replies: list[Asked[Reply]]) -> Judgement:
        said = [reply.answer or (None, None) for reply in replies]
        read = [verdict for verdict, _ in said if verdict is not None]
        far = [distance for _, distance in said if distance is not None]
        found = judged(case, items, read)
        value = found.value | {
            "judge_unreadable": sum(reply.unreadable for reply in replies),
            "judges": len(read),
        }
        if claims:
            value["claim_distance"] = sum(far) / len(far) if far else math.nan
        verdicts = {"verdicts": [verdict for verdict, _ in said]}
        return Judgement(value, found.answer, verdicts | found.metadata)

    return judge_scorer(
        judges,
        source,
        asked,
        combined,
        allow_self=allow_self,
        early=True,
        nothing="there is no report",
    )
