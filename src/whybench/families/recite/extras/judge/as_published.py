"""Table 3 of the paper from logs: judge scores as given, without an exam of the judge."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import ClassVar

from inspect_ai.log import EvalLog, read_eval_log

from whybench.episode.episode import ANSWERED
from whybench.families.recite.extras.analyses.table import UNDEFINED, Row, number, table
from whybench.judge.judged_logs import scores_in
from whybench.judge.judged_report import JudgeScores

COLUMNS = {
    "Node Precision": ("node_precision", 3),
    "Node Recall": ("node_recall", 3),
    "Edge Precision": ("judged_edge_precision", 3),
    "Edge Recall": ("judged_edge_recall", 3),
    "F1": ("f1", 3),
    "SHD": ("judged_shd", 1),
    "Normalized SHD": ("judged_nshd", 3),
}
"""Column of Table 3 → figure of the judge, and its decimals."""

MARK = (
    "As published: mean ± standard deviation (of the population) over the judged answers, in the "
    "columns of Table 3. No exam supports these scores, so the errors of the judge are unknown and "
    "not corrected. Missing answers are left out, as in the paper."
)


@dataclass(frozen=True, slots=True)
class AsPublished(Row):
    """A model's row of Table 3: the mean and the standard deviation of each column."""

    HEAD: ClassVar[tuple[str, ...]] = ("Model", "Judge", "n", *COLUMNS)

    model: str
    judge: str
    n: int
    figures: tuple[tuple[float, float], ...]

    def cells(self) -> tuple[str, ...]:
        """Return the row as printed in the paper."""
        shown = [
            UNDEFINED if math.isnan(mean) else f"{number(mean, digits)} ± {number(sd, digits)}"
            for (mean, sd), (_, digits) in zip(self.figures, COLUMNS.values(), strict=True)
        ]
        return (self.model, self.judge, str(self.n), *shown)


def table_3(paths: Sequence[str]) -> str:
    """Return Table 3 for logs, one row for each judge of each log, and the missing answers."""
    logs = [read_eval_log(path) for path in paths]
    found = [row(log, scores) for log in logs for scores in scores_in(log)]
    missing = [line for log in logs for line in missing_lines(log)]
    return "\n".join([MARK, "", table(found), "", *(missing or ["No answer is missing."])])


def row(log: EvalLog, scores: JudgeScores) -> AsPublished:
    """Return the row of one judge of a log."""
    there = [not missing for missing in scores.values["judged_missing"]]
    figures = tuple(
        mean_sd(list(compress(scores.values[name], there))) for name, _ in COLUMNS.values()
    )
    own = " (self-judged)" if scores.self_judged else ""
    return AsPublished(log.eval.model, scores.judge + own, sum(there), figures)


def mean_sd(values: Sequence[float | None]) -> tuple[float, float]:
    """Return mean and population SD of the known values.

    >>> mean_sd([1.0, 3.0, None, math.nan])
    (2.0, 1.0)
    """
    known = [value for value in values if value is not None and not math.isnan(value)]
    if not known:
        return math.nan, math.nan
    return statistics.fmean(known), statistics.pstdev(known)


def missing_lines(log: EvalLog) -> Iterator[str]:
    """Yield a line for each reason why answers of a log are missing, with their samples."""
    by_reason: dict[str, list[str]] = {}
    for sample in log.samples or ():
        scored = (sample.scores or {}).get("episode_score")
        outcome = (scored.answer if scored else None) or "unscored"
        if outcome != ANSWERED:
            by_reason.setdefault(outcome, []).append(str(sample.id))
    for outcome, samples in sorted(by_reason.items()):
        yield f"- {log.eval.model}: {len(samples)} {outcome}: {', '.join(samples)}"
