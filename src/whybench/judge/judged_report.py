"""Tables of judge scores, always with the judge's own exam."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from whybench.causal.seeds import Stream
from whybench.judge.corrected_f1 import corrected_f1
from whybench.judge.correction import Corrected, corrected
from whybench.judge.credit import Points
from whybench.judge.label_judge import LabelJudge, Sitting
from whybench.judge.marking import Report, marked

_OWN = " (self-judged: these scores of its own answers measure nothing)"

_ASSUMED = (
    "Corrected is the mean that the judged answers deserve if the judge makes the same errors on "
    "similar elements here and in its exam. The exam cannot show whether this holds. The bounds "
    "hold for any mixture of such elements. They are wide if the judge gives the same credit to "
    "elements that deserve different credit. F1 follows from the corrected precision and recall. "
    "Bounds of scores as judged ignore the judge's errors."
)


@dataclass(frozen=True, slots=True)
class Exam:
    """A judge's exam: its marks, and its points for each score."""

    judge: str
    report: Report
    points: Points


@dataclass(frozen=True, slots=True)
class JudgeScores:
    """Scores that a judge gave."""

    about: LabelJudge[Any]
    """The family's declaration of its judges."""
    judge: str
    values: Mapping[str, Sequence[float | None]]
    """Score by name → a value for each answer; None or NaN if unscored."""
    clusters: Sequence[Hashable] | None = None
    """The graph of each answer, as a cluster."""
    asked: Sequence[bool] | None = None
    """Whether the judge was asked about each answer; a missing answer has 0 by rule."""
    self_judged: bool = False
    """Whether the judge is the model that answered."""
    key: str = ""
    """The key of the scores in a log, if a judge may have scored it twice."""


@dataclass(frozen=True, slots=True)
class JudgedTable:
    """Judge scores with their correction and the exam that supports it."""

    judge: str
    scores: Mapping[str, Corrected]
    report: Report
    self_judged: bool = False
    key: str = ""

    def markdown(self) -> str:
        """Return the table in two parts, scores and exam."""
        lines = [
            self._title(),
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
            _ASSUMED,
            "",
            "| exam | n | accuracy | kappa | bias | base rates (judge) | base rates (key) |",
            "|---|---|---|---|---|---|---|",
        ]
        for family, marks in self.report.families.items():
            said, right = (_rates(rates) for rates in (marks.judge_rates, marks.key_rates))
            always = " (always one label)" if marks.constant else ""
            lines.append(
                f"| {family} | {marks.n} | {_number(marks.accuracy)} | {_number(marks.kappa)}"
                f"{always} | {marks.bias:+.3f} | {said} | {right} |"
            )
        return "\n".join(lines)

    def _title(self) -> str:
        own = (f", {self.key}" if self.key else "") + (_OWN if self.self_judged else "")
        unread = _number(self.report.unreadable)
        return (
            f"Judge {self.judge}{own}, examined on {self.report.papers} papers; "
            f"unreadable passes: {unread}"
        )


def examined(about: LabelJudge[Any], judge: str, sittings: Sequence[Sitting]) -> Exam:
    """Build a judge's exam from the judge's name in its scores and its labels of papers."""
    return Exam(judge, marked(sittings, about.labels), about.points(sittings))


def judged_report(scores: JudgeScores, exam: Exam | None) -> JudgedTable:
    """Show a judge's scores with its exam; without an exam they are rejected."""
    about = scores.about
    command = f"`inspect eval whybench/{about.task} --model {scores.judge}`"
    if exam is None:
        raise ValueError(
            f"The scores of {scores.judge} need its exam. Run {command} and give its log."
        )
    if exam.judge != scores.judge:
        raise ValueError(
            f"The exam of {exam.judge} says nothing about the scores of {scores.judge}. "
            f"Examine {scores.judge} with {command}."
        )
    if not exam.points:
        raise ValueError(
            f"No pass in the exam of {exam.judge} was readable. Examine the judge again, with "
            "schema=false if its provider does not support schemas."
        )
    unknown = [name for name in scores.values if name not in exam.points]
    if unknown:
        raise ValueError(
            f"The exam of {exam.judge} does not cover {unknown[0]}, only {', '.join(exam.points)}. "
            "Leave it out, or examine the judge on more papers."
        )
    found: dict[str, Corrected] = {}
    for name in sorted(scores.values, key=lambda name: name in about.means):
        values, points = scores.values[name], exam.points[name]
        if name not in about.means:
            stream = Stream(about.family, "correction", name)
            found[name] = corrected(values, scores.clusters, points, stream, asked=scores.asked)
            continue
        both = about.means[name]
        if lacking := [part for part in both if part not in found]:
            raise ValueError(
                f"{name} is corrected through {' and '.join(both)}. Give {lacking[0]} as well."
            )
        parts = [(scores.values[part], found[part]) for part in both]
        found[name] = corrected_f1(values, scores.clusters, parts, points, asked=scores.asked)
    ordered = {name: found[name] for name in scores.values}
    return JudgedTable(scores.judge, ordered, exam.report, scores.self_judged, scores.key)


def _span(estimate: float, low: float, high: float) -> str:
    return f"{_number(estimate)} [{_number(low)}, {_number(high)}]"


def _number(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.3f}"


def _remark(found: Corrected) -> str:
    if found.beyond:
        return " (no correction: outside the credits that the judge gave in the exam)"
    if not found.usable:
        return " (no correction: the judge does not distinguish good from bad)"
    return " (few papers or documents)" if found.few else ""


def _rates(rates: Mapping[str, float]) -> str:
    ordered = sorted(rates.items(), key=lambda item: -item[1])
    return ", ".join(f"{label.split('_', 1)[1].lower()} {share:.0%}" for label, share in ordered)
