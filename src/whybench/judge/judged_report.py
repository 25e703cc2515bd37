"""A table of judge scores, which is never without the judge's own exam."""

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

_OWN = " (its own answers: self-judged, no measure of anything)"

_ASSUMED = (
    "Corrected: the mean that the judged answers deserve if the judge errs alike on like elements "
    "here and in its exam, which the exam cannot show; the bounds hold for any mix of such "
    "elements, and are wide where the judge gives the same to what deserves different credit. F1 "
    "follows from the corrected precision and recall. Bounds of scores as judged know nothing of "
    "the judge's errors."
)


@dataclass(frozen=True, slots=True)
class Exam:
    """A judge's exam: its marks, and what it says of scores."""

    judge: str
    report: Report
    points: Points


@dataclass(frozen=True, slots=True)
class JudgeScores:
    """Scores that a judge gave."""

    about: LabelJudge[Any]
    """What the family says of its judges."""
    judge: str
    values: Mapping[str, Sequence[float | None]]
    """Score by name → a value for each answer; None or NaN is unscored."""
    clusters: Sequence[Hashable] | None = None
    """Which answers are on one graph."""
    asked: Sequence[bool] | None = None
    """Whether the judge was asked about each answer; one that is missing has its 0 by rule."""
    self_judged: bool = False
    """Whether the judge is the model that answered."""
    key: str = ""
    """Under which key a log has them, if a judge may have scored it twice."""


@dataclass(frozen=True, slots=True)
class JudgedTable:
    """Judge scores with their correction, and the exam that it rests on."""

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
            always = " (one label always)" if marks.constant else ""
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
    """Put a judge's exam together: its name as its scores have it, and what it said of papers."""
    return Exam(judge, marked(sittings, about.labels), about.points(sittings))


def judged_report(scores: JudgeScores, exam: Exam | None) -> JudgedTable:
    """Show a judge's scores with its exam; refuse them without."""
    about = scores.about
    command = f"`inspect eval whybench/{about.task} --model {scores.judge}`"
    if exam is None:
        raise ValueError(
            f"scores of {scores.judge} need its exam: run {command} and give what `exam_in` reads "
            "from its log"
        )
    if exam.judge != scores.judge:
        raise ValueError(
            f"scores of {scores.judge} cannot rest on the exam of {exam.judge}: examine "
            f"{scores.judge} with {command}"
        )
    if not exam.points:
        raise ValueError(
            f"in the exam of {exam.judge} no pass could be read, so it says nothing of its scores: "
            "examine it again, with schema=false if its provider takes no schema"
        )
    unknown = [name for name in scores.values if name not in exam.points]
    if unknown:
        raise ValueError(
            f"the exam of {exam.judge} says nothing of {unknown[0]}: leave it out, or examine the "
            f"judge on more papers; known are {', '.join(exam.points)}"
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
                f"{name} is corrected by way of {' and '.join(both)}: give {lacking[0]} as well"
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
        return " (no correction: beyond whatever the judge gave in the exam)"
    if not found.usable:
        return " (no correction: the judge does not tell good from bad)"
    return " (few papers or documents)" if found.few else ""


def _rates(rates: Mapping[str, float]) -> str:
    ordered = sorted(rates.items(), key=lambda item: -item[1])
    return ", ".join(f"{label.split('_', 1)[1].lower()} {share:.0%}" for label, share in ordered)
