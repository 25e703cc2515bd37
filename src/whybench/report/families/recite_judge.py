"""ReCITE's judges: their exams, and their scores, which are shown only with the exam."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pandas as pd
from inspect_ai.log import read_eval_log

from whybench.families.recite.judging.judged_report import (
    Exam,
    JudgedTable,
    JudgeScores,
    judged_report,
)
from whybench.interfaces.inspectai.exam import exam_in
from whybench.interfaces.inspectai.judged import SCORER, scores_in
from whybench.report import charts
from whybench.report.episodes import HEAVY
from whybench.report.families.recite_beside import STANDARD, beside, not_beside, opposite
from whybench.report.families.recite_rows import Row, framed, in_words, series
from whybench.report.runs import ExamLog, Run
from whybench.report.section import Figure, Part, Remark, Section, Table
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
"""The judge's scores that are corrected, and what Table 3 of the paper calls them."""

RULE = (
    "A judge's scores are shown only with its own exam, corrected by it, and never as plain means."
)


def judge_section(view: View) -> Section:
    """Show exams, then what they let be said of the scores."""
    exams, parts = read_exams(view.exams)
    parts = [*exam_parts(exams), *parts]
    judged = [run for run in view.runs if is_judged(run)]
    scores = [part for one in series(judged) for part in _scores(view, *one, exams)]
    parts += scores
    if any(isinstance(part, Table) for part in scores) and STANDARD not in opposite(judged):
        parts.append(not_beside("Table 3", more=" -T judge=JUDGE"))
    if not parts:
        parts.append(
            Remark(
                f"No graph was judged. {RULE} These would give them: `inspect eval whybench/recite "
                "-T judge=JUDGE --model MODEL` and `inspect eval whybench/recite_exam --model "
                "JUDGE`."
            )
        )
    return Section("recite-judge", "The judge and its exam", RULE, tuple(parts))


def is_judged(run: Run) -> bool:
    """Tell whether a judge scored graphs of a run."""
    return any(str(column).startswith(SCORER) for column in run.frame.columns)


# Exams.


def exam_section(logs: Sequence[ExamLog]) -> Section:
    """Show exams alone."""
    exams, refused = read_exams(logs)
    return Section("recite-exam", "The judge's exam", parts=(*exam_parts(exams), *refused))


def read_exams(logs: Sequence[ExamLog]) -> tuple[dict[str, Exam], list[Part]]:
    """Read a judge's exam from each log; one that is void, or a judge's second, is refused."""
    found: dict[str, Exam] = {}
    refused: list[Part] = []
    twice: set[str] = set()
    for log in logs:
        try:
            exam = exam_in(log.path)
        except ValueError as error:
            refused.append(Remark(f"An exam of {log.model} is left out: {error}.", "warning"))
            continue
        if exam.judge in found:
            twice.add(exam.judge)
        found[exam.judge] = exam
    for judge in sorted(twice):
        del found[judge]
        told = f"There are two exams of {judge}: give one, since the choice would be yours."
        refused.append(Remark(told, "warning"))
    return found, refused


def exam_parts(exams: Mapping[str, Exam]) -> list[Part]:
    """Show how far each judge's labels are right, by family of labels."""
    rows: list[Row] = []
    for judge, exam in exams.items():
        for family, marks in {"all": exam.report.overall, **exam.report.families}.items():
            rows.append({
                "judge": judge, "labels": family, "given": marks.n, "accuracy": marks.accuracy,
                "kappa": marks.kappa, "bias": marks.bias, "one label always": marks.constant,
                "papers": exam.report.papers, "unreadable passes": exam.report.unreadable,
            })  # fmt: skip
    if not rows:
        return []
    frame = pd.DataFrame(rows)
    parts: list[Part] = []
    drawn = frame[frame["kappa"].notna()].reset_index(drop=True)
    if len(drawn):
        told = "; ".join(
            f"{row['judge']} {row['kappa']:.2f} on {row['papers']} papers"
            for row in drawn[drawn["labels"] == "all"].to_dict("records")
        )
        chart = charts.dots(
            drawn, x="kappa", y="labels", color="judge", domain=(-0.2, 1),
            x_title="kappa: 0 guesses, 1 is perfect", y_sort=list(dict.fromkeys(frame["labels"])),
        )  # fmt: skip
        alt = f"Agreement beyond chance of each judge with the exam's key. Over all labels: {told}."
        parts.append(Figure("recite-exam-kappa", "The judge's exam", alt, chart, drawn))
    note = "Bias: what the labels given are worth, minus the worth of the right ones."
    parts.append(Table("recite-exam-marks", "Marks by family of labels", frame, note))
    constant = sorted({row["judge"] for row in rows if row["one label always"]})
    if constant:
        told = f"{', '.join(constant)} gives one label always in some family of labels."
        parts.append(Remark(told, "warning"))
    return parts


# Scores.


def _scores(view: View, name: str, run: Run, exams: Mapping[str, Exam]) -> list[Part]:
    """Show a run's judge scores, corrected; say of judges without an exam that they lack one."""
    log = read_eval_log(run.path, exclude_fields={*HEAVY, "store"})
    try:
        given = scores_in(log)
    except ValueError as error:
        return [Remark(f"Judge scores of {name} are not shown: {error}.", "warning")]
    parts: list[Part] = []
    tables: list[JudgedTable] = []
    for scores in given:
        try:
            tables.append(judged_report(_spoken_of(scores, exams), exams.get(scores.judge)))
        except ValueError as error:
            parts.append(Remark(f"Scores of {name} are not shown: {error}.", "warning"))
    rows = [row for table in tables for row in judged_rows(name, table)]
    if rows:
        parts = [*judged_parts(view, run, name, rows), *parts]
    return parts


def _spoken_of(scores: JudgeScores, exams: Mapping[str, Exam]) -> JudgeScores:
    """Keep the scores that are shown and that the judge's exam can speak of."""
    exam = exams.get(scores.judge)
    known = {} if exam is None else exam.points
    kept = {name: scores.values[name] for name in SHOWN if name in scores.values and name in known}
    return replace(scores, values=kept)


def judged_rows(name: str, table: JudgedTable) -> list[Row]:
    """Return a row for each score of a judge, as judged and as its exam corrects it."""
    own = " (its own answers)" if table.self_judged else ""
    who = f"{name}, judged by {table.judge}{own}"
    rows = []
    for score, found in table.scores.items():
        if not found.judged.n:
            continue
        corrected = found.usable and not found.beyond
        rows.append({
            "system": who, "score": score, "metric": f"graph_judge.{score}, corrected",
            "value": found.estimate if corrected else math.nan, "low": found.low,
            "high": found.high, "as judged": found.judged.estimate,
            "bias in the exam": found.bias, "documents": found.judged.clusters,
            "corrected": "yes" if corrected else "cannot be",
            "few papers or documents": found.few, "published": False,
        })  # fmt: skip
    return rows


def judged_parts(view: View, run: Run, name: str, rows: list[Row]) -> list[Part]:
    """Draw corrected scores, published ones among them where they belong, and list both figures."""
    id = f"recite-judged-{_slug(run.log)}"  # noqa: A001 - a part's own word
    frame = pd.DataFrame(rows).drop(columns="published")
    note = (
        "Corrected: the mean that the answers deserve if the judge errs alike on like elements "
        "here and in its exam. Bounds from 0 to 1 say that the judge does not tell good from bad. "
        "What was judged stands here for the record and says nothing without its correction."
    )
    parts: list[Part] = [Table(f"{id}-table", f"Judge scores of {name}", frame, note)]
    cells = [
        row
        for score, metric in SHOWN.items()
        if metric
        for row in beside(view, [(name, run)], STANDARD, metric, score=score)
    ]
    usable = [row for row in rows if not math.isnan(row["value"])]
    if usable:
        drawn = framed([*usable, *cells])
        chart = charts.dots(
            drawn, x="value", y="score", low="low", high="high", published="published",
            y_sort=list(SHOWN), x_title="judge's score, corrected by its exam",
        )  # fmt: skip
        alt = f"Corrected judge scores. {in_words(drawn, 'score')}"
        told = "Published: Table 3, by another judge, never examined." if cells else ""
        parts.insert(0, Figure(id, f"Judge scores of {name}", alt, chart, drawn, told))
    return parts


def _slug(text: str) -> str:
    return "-".join("".join(c if c.isalnum() else " " for c in text.lower()).split())[-40:]
