"""Judge scores out of a log, shown only with the exam of the same judge."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from inspect_ai.log import EvalLog, EvalSample, read_eval_log

from whybench.families.recite.judging.judged_report import (
    Exam,
    JudgedTable,
    JudgeScores,
    judged_report,
)
from whybench.interfaces.inspectai.exam import exam_in
from whybench.interfaces.inspectai.record import CLUSTER

SCORER = "graph_judge"


def judged_tables(log: str, exams: Sequence[str]) -> list[JudgedTable]:
    """Return a table for each judge of a log; each needs its exam among the exams' logs."""
    known = {exam.judge: exam for exam in map(exam_in, exams)}
    return [_table(scores, known.get(scores.judge)) for scores in scores_in(read_eval_log(log))]


def scores_in(log: EvalLog) -> list[JudgeScores]:
    """Return the scores that each judge gave in a log."""
    judged = [sample for sample in log.samples or () if SCORER in (sample.scores or {})]
    seated = [sample for sample in judged if _held(sample, "judges")]
    if not seated:
        raise ValueError("no graph was judged in this log: run the task with judge=MODEL")
    clusters = [sample.metadata[CLUSTER] for sample in seated]
    found = []
    for place, judge in enumerate(_held(seated[0], "judges")):
        verdicts = [_held(sample, "verdicts")[place]["values"] for sample in seated]
        values = {name: [verdict[name] for verdict in verdicts] for name in verdicts[0]}
        found.append(JudgeScores(judge, values, clusters))
    return found


def _table(scores: JudgeScores, exam: Exam | None) -> JudgedTable:
    """Show the scores that an exam can speak of."""
    if exam is not None:
        known = {name: values for name, values in scores.values.items() if name in exam.points}
        scores = JudgeScores(scores.judge, known, scores.clusters)
    return judged_report(scores, exam)


def _held(sample: EvalSample, key: str) -> list[Any]:
    """Return what the judge's score of a sample keeps beside its value."""
    score = (sample.scores or {})[SCORER]
    return list((score.metadata or {}).get(key, ()))
