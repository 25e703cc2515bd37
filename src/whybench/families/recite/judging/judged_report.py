"""A table of judge scores, which is never without the judge's own exam."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

from whybench.core.seeds import Stream
from whybench.families.recite.judging.correction import Corrected, corrected
from whybench.families.recite.judging.credit import Points, points
from whybench.families.recite.judging.marking import Report, Sitting, marked


@dataclass(frozen=True, slots=True)
class Exam:
    """A judge's exam: its marks, and what it says of scores."""

    judge: str
    report: Report
    points: Points


@dataclass(frozen=True, slots=True)
class JudgeScores:
    """Scores that a judge gave."""

    judge: str
    values: Mapping[str, Sequence[float | None]]
    """Score by name → a value for each answer; None or NaN is unscored."""
    clusters: Sequence[Hashable] | None = None
    """Which answers are on one graph."""


@dataclass(frozen=True, slots=True)
class JudgedTable:
    """Judge scores with their correction, and the exam that it rests on."""

    judge: str
    scores: Mapping[str, Corrected]
    report: Report

    def markdown(self) -> str:
        """Return the table in two parts, scores and exam."""
        lines = [
            f"Judge {self.judge}, examined on {self.report.papers} papers; unreadable passes: "
            + _number(self.report.unreadable),
            "",
            "| score | as judged | corrected | bias in the exam |",
            "|---|---|---|---|",
        ]
        for name, found in self.scores.items():
            given = found.judged
            lines.append(
                f"| {name} | {_span(given.estimate, given.low, given.high)} "
                f"| {_span(found.estimate, found.low, found.high)}{_remark(found)} "
                f"| {found.bias:+.3f} |"
            )
        lines += [
            "",
            "| exam | n | accuracy | kappa | bias | base rates (judge) | base rates (key) |",
            "|---|---|---|---|---|---|---|",
        ]
        for family, marks in self.report.families.items():
            said, right = (_rates(rates) for rates in (marks.judge_rates, marks.key_rates))
            always = " (one label always)" if marks.constant else ""
            lines.append(
                f"| {family} | {marks.n} | {_number(marks.accuracy)} | {_number(marks.kappa)}"
                f"{always} | {marks.bias:+.3f} | {said} | {right} |"
            )
        return "\n".join(lines)


def examined(judge: str, sittings: Sequence[Sitting]) -> Exam:
    """Put a judge's exam together.

    Args:
        judge: The judge's name, as its scores have it.
        sittings: Papers, and what the judge said of them.

    """
    return Exam(judge, marked(sittings), points(sittings))


def judged_report(scores: JudgeScores, exam: Exam | None) -> JudgedTable:
    """Show a judge's scores with its exam; refuse them without."""
    if exam is None:
        raise ValueError(
            f"scores of {scores.judge} need its exam: run `inspect eval whybench/recite_exam "
            f"--model {scores.judge}` and give what `exam_in` reads from its log"
        )
    if exam.judge != scores.judge:
        raise ValueError(
            f"scores of {scores.judge} cannot rest on the exam of {exam.judge}: examine "
            f"{scores.judge} with `inspect eval whybench/recite_exam --model {scores.judge}`"
        )
    unknown = [name for name in scores.values if name not in exam.points]
    if unknown:
        known = ", ".join(exam.points) or "none, as no paper was read"
        raise ValueError(
            f"the exam of {exam.judge} says nothing of {unknown[0]}: leave it out, or examine the "
            f"judge on more papers; known are {known}"
        )
    found = {
        name: corrected(
            values, scores.clusters, exam.points[name], Stream("recite", "correction", name)
        )
        for name, values in scores.values.items()
    }
    return JudgedTable(scores.judge, found, exam.report)


def _span(estimate: float, low: float, high: float) -> str:
    return f"{_number(estimate)} [{_number(low)}, {_number(high)}]"


def _number(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.3f}"


def _remark(found: Corrected) -> str:
    if not found.usable:
        return " (the judge does not tell good from bad)"
    return " (few papers or documents)" if found.few else ""


def _rates(rates: Mapping[str, float]) -> str:
    ordered = sorted(rates.items(), key=lambda item: -item[1])
    return ", ".join(f"{label.split('_', 1)[1].lower()} {share:.0%}" for label, share in ordered)
