"""Read judge scores from a log; they are shown only with the exam of the same judge."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Sequence
from typing import Any

from inspect_ai.log import EvalLog, EvalSample, read_eval_log
from inspect_ai.scorer import Score

from whybench.interfaces.inspectai.record import CLUSTER, INSTANCE
from whybench.judge.exam import exam_at, exam_in
from whybench.judge.judged_report import Exam, JudgedTable, JudgeScores, judged_report
from whybench.judge.label_judge import LabelJudge
from whybench.judge.panel import same_model


def judged_tables(log: str, exams: Sequence[str]) -> list[JudgedTable]:
    """Return a table for each judge of a log; each judge needs its exam among the given logs.

    The table shows the scores that the exam covers.
    """
    known = exams_in(exams)
    tables = []
    for scores in scores_in(read_eval_log(log)):
        exam = known.get(scores.judge)
        if exam is not None:
            shown = {name: held for name, held in scores.values.items() if name in exam.points}
            scores = dataclasses.replace(scores, values=shown)
        tables.append(judged_report(scores, exam))
    return tables


def exams_in(logs: Sequence[str]) -> dict[str, Exam]:
    """Return exams by judge; a log may be given twice, but a judge has one exam."""
    read = {log.eval.eval_id: log for log in map(read_eval_log, logs)}
    known: dict[str, Exam] = {}
    for exam in map(exam_in, read.values()):
        if exam.judge in known:
            raise ValueError(
                f"There are two exams of {exam.judge}. Give one, because a choice between them "
                "would bias the result. For narrower intervals, run one exam with more papers."
            )
        known[exam.judge] = exam
    return known


def scores_in(log: EvalLog) -> list[JudgeScores]:
    """Return the scores of each judge in a log, including those appended later.

    Inspect adds a number to the scorer's key when scores are appended.
    """
    found: list[JudgeScores] = []
    if log.samples:
        about = exam_at(log.samples[0].metadata[INSTANCE])
        keys = {key for sample in log.samples for key in sample.scores or {}}
        own = re.compile(rf"{about.scorer}\d*")
        found = [s for key in sorted(filter(own.fullmatch, keys)) for s in _scores(about, log, key)]
    if not found:
        raise ValueError("This log has no judge scores. Run the task with judge=MODEL.")
    return found


def _scores(about: LabelJudge[Any], log: EvalLog, key: str) -> list[JudgeScores]:
    """Return the scores of each judge under one key."""
    seated = [sample for sample in log.samples or () if _held(sample, key, "judges")]
    panels = {tuple(_held(sample, key, "judges")) for sample in seated}
    if len(panels) > 1:
        raise ValueError(
            f"Different judges gave {key} in one log. Score the log again with the same judges for "
            "all samples."
        )
    panel = next(iter(panels), ())
    own = any((_score(one, key).metadata or {}).get("self_judged") for one in seated)
    found = []
    for place, judge in enumerate(panel):
        verdicts = [_held(sample, key, "verdicts")[place]["values"] for sample in seated]
        values = {name: [_number(verdict[name]) for verdict in verdicts] for name in verdicts[0]}
        found.append(
            JudgeScores(
                about,
                judge,
                values,
                [sample.metadata[CLUSTER] for sample in seated],
                [not any(verdict.get(name) for name in about.unasked) for verdict in verdicts],
                same_model(log.eval.model, judge) or (own and len(panel) == 1),
                key,
            )
        )
    return found


def _number(value: object) -> float:
    """Return a figure; a log may contain null for NaN."""
    return float(value) if isinstance(value, int | float) else math.nan


def _held(sample: EvalSample, key: str, name: str) -> list[Any]:
    """Return the metadata of a judge's score of a sample."""
    return list((_score(sample, key).metadata or {}).get(name, ()))


def _score(sample: EvalSample, key: str) -> Score:
    return (sample.scores or {}).get(key, Score.unscored())
