"""The report judge: other models read the report at the end of an episode and apply a rubric.

`inspect score LOG --scorer whybench/report_judge -S judges=openai/gpt-x,google/gemini-y`, or the
model role `judge`. A judge that is the model under test is rejected.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from inspect_ai.model import Model
from inspect_ai.scorer import Metric, Scorer, metric, scorer
from inspect_ai.solver import TaskState

from whybench.episode.score import Kind
from whybench.families.causalgame.claims import claims as claims_of
from whybench.families.causalgame.claims import distance_of
from whybench.families.causalgame.extras.judge.case import JudgedCase, judged_case
from whybench.families.causalgame.extras.judge.paper_claims import (
    DEPLOY,
    group_of,
    held,
    paper_claims,
    words_before_deployments,
)
from whybench.families.causalgame.extras.judge.prompt import claims_question, rubric_question
from whybench.families.causalgame.extras.judge.replies import (
    Answer,
    distance_from,
    numbered,
    read_answers,
    read_details,
    read_verdict,
)
from whybench.families.causalgame.extras.judge.rubric import Rubric, as_published
from whybench.families.causalgame.extras.judge.rubric import rubric as rubric_named
from whybench.families.causalgame.extras.judge.verdict import judged
from whybench.judge.panel import ask
from whybench.judge.question import Asked
from whybench.judge.scorer import Judgement, clustered_means, judge_scorer, replayed

MAIN: dict[str, Kind] = {
    "rubric_normalised": "share",
    "claim_distance": "amount",
    "claims_golden": "share",
    "claims_distractor": "share",
}
"""Metrics with an interval."""

ReportSource = Callable[[TaskState], JudgedCase | None]
"""Finds the report of a sample and the truth of its episode; None if there is no report."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What one judge said of a report; None where the judge was not asked or not understood."""

    verdicts: dict[str, float] | None = None
    details: dict[str, dict[str, Any]] | None = None
    claims: dict[str, Answer] | None = None
    before: tuple[dict[str, Answer] | None, ...] = ()
    """The claims in what the author wrote before each deployment."""


def stored_case(state: TaskState) -> JudgedCase | None:
    """Replay the stored episode and find its report."""
    found = replayed(state)
    case = None if found is None else judged_case(*found)
    if found is None or case is None or not paper_claims(case.scenario):
        return case
    legal = [not s.observation.is_error for s in found[2].steps if s.action.name == DEPLOY]
    return replace(case, words=words_before_deployments(state.messages, legal))


@metric
def judgements() -> Metric:
    """Mean of every figure, with a clustered 95 % interval for those in `MAIN`; never raises."""
    return clustered_means(MAIN)


@scorer(metrics=[judgements()])
def report_judge(
    judges: Sequence[str | Model] | str | None = None,
    rubric: str = "six",
    claims: bool = True,
    deployments: bool = True,
    schema: bool = True,
    allow_self: bool = False,
    source: ReportSource = stored_case,
) -> Scorer:
    """Judge reports: rubric, claims, numbers checked by rule, agreement of several judges.

    Args:
        judges: Models that judge: a list, or names separated by commas; default: the role `judge`.
        rubric: `six` (16 points) or `full` (17 items).
        claims: Also ask each judge which claims the report makes.
        deployments: In scenarios of the paper, also ask which claims the author made before each
            deployment: one more question for each.
        schema: Constrain replies by a JSON schema.
        allow_self: Let a model judge its own reports, to test the setup; labelled `self_judged`.
        source: Function that finds a sample's report.

    """
    items = rubric_named(rubric)

    async def asked(judge: Model, case: JudgedCase) -> Asked[Reply]:
        own = _rubric_for(case, items)
        question = rubric_question(case, own)
        ruled = await ask(
            judge,
            question,
            schema,
            lambda text: (
                read_verdict(own, question.word, text, case.profile == "published"),
                read_details(own, question.word, text),
            ),
        )
        verdicts, details = ruled.answer or (None, None)
        if not claims:
            return Asked(Reply(verdicts, details), ruled.unreadable)
        known = case.known or claims_of(case.physics)
        listed = numbered(case.instance_id, known)
        told = []
        for notes in (None, *(case.words if deployments else ())):
            about = claims_question(case, known, notes)
            read = partial(read_answers, listed, about.word)
            told.append(await ask(judge, about, schema, read))
        said, *before = (one.answer for one in told)
        unreadable = ruled.unreadable + sum(one.unreadable for one in told)
        return Asked(Reply(verdicts, details, said, tuple(before)), unreadable)

    def combined(case: JudgedCase, replies: list[Asked[Reply]]) -> Judgement:
        said = [reply.answer or Reply() for reply in replies]
        read = [one.verdicts for one in said if one.verdicts is not None]
        found = judged(case, _rubric_for(case, items), read)
        value = found.value | {
            "judge_unreadable": sum(reply.unreadable for reply in replies),
            "judges": len(read),
        }
        if claims:
            value |= claim_figures(case, [(one.before, one.claims) for one in said])
        told = {
            "verdicts": [one.verdicts for one in said],
            "details": [one.details for one in said],
            "claims": [one.claims for one in said],
            "claims_before_deployments": [list(one.before) for one in said],
        }
        return Judgement(value, found.answer, told | found.metadata)

    return judge_scorer(
        judges,
        source,
        asked,
        combined,
        allow_self=allow_self,
        early=True,
        nothing="there is no report",
    )


def _rubric_for(case: JudgedCase, items: Rubric) -> Rubric:
    return as_published(items) if case.profile == "published" else items


def claim_figures(
    case: JudgedCase,
    said: Sequence[tuple[Sequence[Mapping[str, Answer] | None], Mapping[str, Answer] | None]],
) -> dict[str, float]:
    """Return means over the judges: the distance, the shares of claims, and each of the paper's.

    `distance_NN` is the distance after deployment NN. A text that no judge could read changes
    nothing.
    """
    known = case.known or claims_of(case.physics)
    group = group_of(case.scenario) if case.known else None
    golden = [c.id for c in known if c.golden]
    distractors = [c.id for c in known if not c.golden]
    found: dict[str, list[float]] = {
        name: [] for name in ("claim_distance", "claims_golden", "claims_distractor")
    }
    for before, last in said:
        path = [answers or {} for answers in before]
        for number, made in enumerate(held(path), 1):
            found.setdefault(f"distance_{number:02}", []).append(distance_of(known, made).total)
        if last is None:
            continue
        made = {key for key, answer in last.items() if answer == "asserted"}
        found["claim_distance"].append(distance_from(known, last).total)
        found["claims_golden"].append(len(made.intersection(golden)) / len(golden))
        found["claims_distractor"].append(len(made.intersection(distractors)) / len(distractors))
        for key in (*golden, *distractors) if group else ():
            found.setdefault(f"claim_{group}_{key}", []).append(float(key in made))
    return {name: sum(all_) / len(all_) if all_ else math.nan for name, all_ in found.items()}
