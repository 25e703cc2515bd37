"""The judge: other models read the report at an episode's end and judge it by a rubric.

`inspect score LOG --scorer whybench/report_judge -S judges=openai/gpt-x,google/gemini-y`, or the
model role `judge`. A judge that is the subject itself is refused.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageUser,
    GenerateConfig,
    Model,
    ResponseSchema,
    get_model,
)
from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, Value, metric, scorer
from inspect_ai.solver import TaskState
from inspect_ai.util import JSONSchema

from whybench.families.causalgame.judging.claims import claims as claims_of
from whybench.families.causalgame.judging.packet import JudgedCase
from whybench.families.causalgame.judging.panel import Judged, judged
from whybench.families.causalgame.judging.prompt import (
    Question,
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
from whybench.families.causalgame.judging.verdict import UnreadableError, read_verdict
from whybench.interfaces.inspectai.record import (
    CLUSTER,
    EPISODE,
    crashed,
    from_store,
    located,
)
from whybench.stats.interval import FEW_CLUSTERS, mean_interval

ROLE = "judge"
"""The model role of a judge when none is named."""

MAIN = ("rubric_normalised", "claim_distance")
"""Figures with an interval."""

TRIES = 2
"""A reply that cannot be read is asked for once more."""

ReportSource = Callable[[TaskState], JudgedCase | None]
"""Finds the report of a sample and the truth of its episode; None: there is no report."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Asked(Generic[T]):
    """A judge's answer, if it could be read, and how often it could not."""

    answer: T | None
    unreadable: int


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
        judged = [score for score in scores if isinstance(score.score.value, Mapping)]
        clusters = [(s.sample_metadata or {}).get(CLUSTER) or str(s.sample_id) for s in judged]
        found: dict[str, float] = {}
        for name in judged[0].score.as_dict() if judged else ():
            values = [_number(score.score.as_dict().get(name)) for score in judged]
            bounds = mean_interval(values, clusters)
            found[name] = bounds.estimate
            if name in MAIN:
                found |= {f"{name}_low": bounds.low, f"{name}_high": bounds.high}
        found["judged"] = len(judged)
        return found | ({"few_clusters": 1.0} if len(set(clusters)) < FEW_CLUSTERS else {})

    return compute


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None


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
    named = judges.split(",") if isinstance(judges, str) else judges
    if named is not None and not named:
        raise ValueError("no judges: name at least one model, or leave judges out and set the role")
    items = rubric_named(rubric)
    if not allow_self and named is not None and (subject := _ambient()) is not None:
        _apart(subject, [_spelled(one) for one in named])

    async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001
        panel = _panel(named)
        names = [str(one) for one in panel]
        subject = str(state.model)
        if not allow_self:
            _apart(subject, names)
        case = source(state)
        if case is None:
            return Score.unscored(reason="scoring_failed", explanation="there is no report")
        verdicts, distances, unreadable = [], [], 0
        question = rubric_question(case, items)
        for one in panel:
            ruled = await _ask(one, question, schema, _verdict_reader(items, question))
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
                "judges": names,
                "self_judged": any(_same(subject, name) for name in names),
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


async def _claim_distance(judge: Model, case: JudgedCase, schema: bool) -> _Asked[int]:
    known = claims_of(case.physics)
    listed = numbered(case.instance_id, known)
    question = claims_question(case, known)

    def distance(text: str) -> int:
        return distance_from(known, read_answers(listed, question.word, text)).total

    return await _ask(judge, question, schema, distance)


async def _ask(
    judge: Model, question: Question, schema: bool, read: Callable[[str], T]
) -> _Asked[T]:
    """Ask a judge, and once more if its reply cannot be read."""
    config = GenerateConfig()
    if schema:
        shape = JSONSchema.model_validate(question.schema)
        config = GenerateConfig(response_schema=ResponseSchema(name=ROLE, json_schema=shape))
    messages: list[ChatMessage] = [ChatMessageUser(content=question.prompt)]
    for failed in range(TRIES):
        said = (await judge.generate(messages, config=config)).completion
        try:
            return _Asked(read(said), failed)
        except UnreadableError as error:
            messages += [
                ChatMessageAssistant(content=said),
                ChatMessageUser(content=retry(error)),
            ]
    return _Asked(None, TRIES)


def _panel(named: Sequence[str | Model] | None) -> list[Model]:
    if named is None:
        return [get_model(role=ROLE, required=True)]
    return [get_model(one.strip() if isinstance(one, str) else one) for one in named]


def _ambient() -> str | None:
    """Return the subject, if a run is on already."""
    try:
        return str(get_model())
    except ValueError:
        return None


def _spelled(judge: str | Model) -> str:
    return str(judge).strip()


def _same(subject: str, judge: str) -> bool:
    """Tell whether two names mean one model: also through another provider."""
    return subject.rsplit("/", 1)[-1].lower() == judge.rsplit("/", 1)[-1].lower()


def _apart(subject: str, judges: Sequence[str]) -> None:
    own = [name for name in judges if _same(subject, name)]
    if own:
        raise ValueError(
            f"{own[0]} cannot judge reports of {subject}, which is the same model: choose another "
            "judge, or allow_self=true to try the plumbing"
        )
