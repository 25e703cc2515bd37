"""The judge: other models read the report at an episode's end and judge it by a rubric.

`inspect score LOG --scorer whybench/report_judge -S judges=openai/gpt-x,google/gemini-y`, or the
model role `judge`. A judge that is the subject itself is refused.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence

from inspect_ai.model import Model
from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, Value, metric, scorer
from inspect_ai.solver import TaskState

from whybench.episode.question import Question
from whybench.families.causalgame.judging.claims import claims as claims_of
from whybench.families.causalgame.judging.packet import JudgedCase
from whybench.families.causalgame.judging.panel import Judged, judged
from whybench.families.causalgame.judging.prompt import (
    claims_question,
    retry,
    rubric_question,
)
from whybench.families.causalgame.judging.questionnaire import (
    distance_from,
    numbered,
    read_answers,
)
from whybench.families.causalgame.judging.rubric import Rubric
from whybench.families.causalgame.judging.rubric import rubric as rubric_named
from whybench.families.causalgame.judging.verdict import read_verdict
from whybench.interfaces.inspectai.panel import Asked, ask, means, named_judges, seated
from whybench.interfaces.inspectai.record import (
    EPISODE,
    crashed,
    from_store,
    located,
)

MAIN = ("rubric_normalised", "claim_distance")
"""Figures with an interval."""

ReportSource = Callable[[TaskState], JudgedCase | None]
"""Finds the report of a sample and the truth of its episode; None: there is no report."""


def stored_case(state: TaskState) -> JudgedCase | None:
    """Play the stored episode again and let the family say what there is to judge."""
    family, instance = located(state.metadata)
    stored = state.store.get(EPISODE)
    if stored is None or crashed(stored):
        return None
    case_of: Callable[..., JudgedCase | None] | None = getattr(family, "judged_case", None)
    if case_of is None:
        raise ValueError(f"{family.name} has no reports to judge: score another family's log")
    return case_of(instance, from_store(family, instance, stored))


@metric
def judgements() -> Metric:
    """Mean of every figure, with a clustered 95 % interval of those in `MAIN`; never raises."""

    def compute(scores: list[SampleScore]) -> Value:
        return means(scores, MAIN)

    return compute


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
        judges: Models that judge (a list, or names with commas); the role `judge` if left out.
        rubric: `six` (16 points) or `full` (17 items).
        claims: Ask each judge too which claims the report makes.
        schema: Constrain replies by a JSON schema.
        allow_self: Let a model judge its own reports, to try the plumbing; labelled `self_judged`.
        source: Where a sample's report is found.

    """
    named = named_judges(judges, allow_self)
    items = rubric_named(rubric)

    async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001
        panel = seated(named, str(state.model), allow_self)
        case = source(state)
        if case is None:
            return Score.unscored(reason="scoring_failed", explanation="there is no report")
        verdicts, distances, unreadable = [], [], 0
        question = rubric_question(case, items)
        for one in panel.models:
            ruled = await ask(one, question, schema, _verdict_reader(items, question), retry)
            verdicts.append(ruled.answer)
            unreadable += ruled.unreadable
            if claims:
                told = await _claim_distance(one, case, schema)
                distances.append(told.answer)
                unreadable += told.unreadable
        read = [one for one in verdicts if one is not None]
        found = judged(case, items, read)
        known = [one for one in distances if one is not None]
        value = _value(items, found)
        value |= {"judge_unreadable": unreadable, "judges": len(read)}
        if claims:
            value["claim_distance"] = sum(known) / len(known) if known else math.nan
        return Score(
            value=value,
            answer=found.mode or "unjudged",
            metadata={
                "judges": panel.names,
                "self_judged": panel.self_judged,
                "verdicts": verdicts,
                "failure_mode": found.mode,
                "later_failure_mode": found.later_mode,
                "checks": dataclasses.asdict(found.checks),
                "tampering": list(found.tampering),
            },
        )

    return score


def _value(rubric: Rubric, found: Judged) -> dict[str, float]:
    """Return the figures of a judged report; what no judge said is NaN, which is unscored."""
    nothing = {f"rubric_{name}": math.nan for name, _ in rubric.dimensions}
    value = {"rubric_total": math.nan, "rubric_normalised": math.nan, "mandatory_met": math.nan}
    value |= nothing
    if found.graded is not None:
        value |= {
            "rubric_total": found.graded.total,
            "rubric_normalised": found.graded.normalised,
            "mandatory_met": float(found.graded.mandatory_met),
        }
        value |= {
            f"rubric_{name}": share for name, share in found.graded.dimensions_normalised.items()
        }
    return value | {
        "judge_alpha": found.alpha,
        "judge_icc": found.icc,
        "misreported": float(found.checks.wrong),
        "tampering": float(bool(found.tampering)),
    }


def _verdict_reader(rubric: Rubric, question: Question) -> Callable[[str], dict[str, float]]:
    return lambda text: dict(read_verdict(rubric, question.word, text).verdicts)


async def _claim_distance(judge: Model, case: JudgedCase, schema: bool) -> Asked[int]:
    known = claims_of(case.physics)
    listed = numbered(case.instance_id, known)
    question = claims_question(case, known)

    def distance(text: str) -> int:
        return distance_from(known, read_answers(listed, question.word, text)).total

    return await ask(judge, question, schema, distance, retry)
