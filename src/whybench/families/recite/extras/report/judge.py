"""ReCITE's judges: their exams, and their scores, which are shown only with an exam."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import pandas as pd

from whybench.families.recite.extras.judge.exam_task import JUDGE
from whybench.families.recite.extras.report.rows import STANDARD, beside, series
from whybench.judge.exam import exam_in
from whybench.judge.judged_logs import scores_in
from whybench.judge.judged_report import (
    Exam,
    JudgedTable,
    JudgeScores,
    judged_report,
)
from whybench.report.entries import Entry
from whybench.report.episodes import HEAVY
from whybench.report.forms import Row, Shown
from whybench.report.runs import ExamLog, Run
from whybench.report.view import View

SHOWN = {
    "f1": "f1",
    "precision": "",
    "recall": "",
    "node_precision": "node_precision",
    "node_recall": "node_recall",
    "judged_edge_precision": "edge_precision",
    "judged_edge_recall": "edge_recall",
}
"""Judge scores that are corrected, and their names in Table 3 of the paper."""


@dataclass(frozen=True, slots=True)
class Judged:
    """The results of a view's judges, and why others are not shown."""

    exams: Mapping[str, Exam]
    scores: tuple[tuple[Entry, list[Row]], ...]
    refused: tuple[str, ...]


@lru_cache(maxsize=1)
def judged(view: View) -> Judged:
    """Read exams and judged runs once, because several parts need them."""
    exams, refused = _exams(view.exams)
    scores = []
    for entry in series(run for run in view.runs if is_judged(run)):
        rows, withheld = _scores(entry, exams)
        refused += withheld
        scores += [(entry, rows)] if rows else []
    return Judged(exams, tuple(scores), tuple(refused))


def is_judged(run: Run) -> bool:
    """Return whether a judge scored graphs of a run."""
    return any(str(column).startswith(JUDGE.scorer) for column in run.frame.columns)


# Exams.


def _exams(logs: Sequence[ExamLog]) -> tuple[dict[str, Exam], list[str]]:
    """Read a judge's exam from each log; reject void exams, and second exams of a judge."""
    found: dict[str, Exam] = {}
    refused: list[str] = []
    twice: set[str] = set()
    for log in logs:
        try:
            exam = exam_in(log.path)
        except ValueError as error:
            refused.append(f"An exam of {log.model} is left out: {error}")
            continue
        if exam.judge in found:
            twice.add(exam.judge)
        found[exam.judge] = exam
    for judge in sorted(twice):
        del found[judge]
        refused.append(
            f"There are two exams of {judge}: give one, so that nobody can pick the better one."
        )
    return found, refused


def marks(view: View) -> list[Row]:
    """Return how many labels of each judge are right, by label family."""
    return [
        {
            "judge": judge, "labels": family, "given": marks.n, "accuracy": marks.accuracy,
            "kappa": marks.kappa, "bias": marks.bias, "always one label": marks.constant,
            "papers": exam.report.papers, "unreadable passes": exam.report.unreadable,
        }
        for judge, exam in judged(view).exams.items()
        for family, marks in {"all": exam.report.overall, **exam.report.families}.items()
    ]  # fmt: skip


def kappas(view: View) -> Shown:
    """Return the marks that have a kappa."""
    rows = marks(view)
    drawn = [row for row in rows if not pd.isna(row["kappa"])]
    told = "; ".join(
        f"{row['judge']} {row['kappa']:.2f} on {row['papers']} papers"
        for row in drawn
        if row["labels"] == "all"
    )
    return Shown(pd.DataFrame(drawn), {"told": told, "order": [row["labels"] for row in rows]})


def constant(view: View) -> list[Row]:
    """Return one row with the judges that always give one label, if any."""
    found = sorted({row["judge"] for row in marks(view) if row["always one label"]})
    return [{"judges": ", ".join(found)}] if found else []


def refused(view: View) -> list[Row]:
    """Return what is not shown, and why."""
    return [{"why": why} for why in judged(view).refused]


# Scores.


def _scores(entry: Entry, exams: Mapping[str, Exam]) -> tuple[list[Row], list[str]]:
    """Return a run's corrected judge scores, and the reasons why others are not shown."""
    from inspect_ai.log import read_eval_log

    log = read_eval_log(entry.run.path, exclude_fields={*HEAVY, "store"})
    try:
        given = scores_in(log)
    except ValueError as error:
        return [], [f"Judge scores of {entry.system} are not shown: {error}"]
    rows: list[Row] = []
    withheld: list[str] = []
    for scores in given:
        try:
            table = judged_report(_spoken_of(scores, exams), exams.get(scores.judge))
            rows += judged_rows(entry.system, table)
        except ValueError as error:
            withheld.append(f"Scores of {entry.system} are not shown: {error}")
    return rows, withheld


def _spoken_of(scores: JudgeScores, exams: Mapping[str, Exam]) -> JudgeScores:
    """Keep the scores that are shown and that the judge's exam covers."""
    exam = exams.get(scores.judge)
    known = {} if exam is None else exam.points
    kept = {name: scores.values[name] for name in SHOWN if name in scores.values and name in known}
    return replace(scores, values=kept)


def judged_rows(name: str, table: JudgedTable) -> list[Row]:
    """Return a row for each score of a judge, as judged and as its exam corrects it."""
    own = " (its own answers)" if table.self_judged else ""
    rows: list[Row] = []
    for score, found in table.scores.items():
        if not found.judged.n:
            continue
        corrected = found.usable and not found.beyond
        rows.append({
            "system": f"{name}, judged by {table.judge}{own}", "score": score,
            "metric": f"graph_judge.{score}, corrected",
            "value": found.estimate if corrected else math.nan, "low": found.low,
            "high": found.high, "as judged": found.judged.estimate,
            "bias in the exam": found.bias, "documents": found.judged.clusters,
            "corrected": "yes" if corrected else "not possible",
            "few papers or documents": found.few, "published": False,
        })  # fmt: skip
    return rows


def corrected(view: View) -> Iterator[Shown]:
    """Return the corrected scores of each run, with published ones if they apply."""
    for entry, rows in judged(view).scores:
        yield with_table_3(view, entry, rows)


def with_table_3(view: View, entry: Entry, rows: Sequence[Row]) -> Shown:
    """Return scores that could be corrected, with Table 3 if it applies."""
    usable = [row for row in rows if not math.isnan(row["value"])]
    cells = [
        row
        for score, metric in SHOWN.items()
        if metric and usable
        for row in beside(view, [entry], STANDARD, metric, score=score)
    ]
    told = "Published: Table 3, by another judge that was never examined." if cells else ""
    words = {**_words(entry), "theirs": told, "order": list(SHOWN)}
    return Shown(pd.DataFrame([*usable, *cells]), words)


def as_judged(view: View) -> list[Shown]:
    """Return both figures of each score, for each run."""
    return [
        Shown(pd.DataFrame(rows).drop(columns="published"), _words(entry))
        for entry, rows in judged(view).scores
    ]


def _words(entry: Entry) -> dict[str, str]:
    letters = "".join(c if c.isalnum() else " " for c in entry.run.log.lower())
    return {"slug": "-".join(letters.split())[-40:], "name": entry.system}
