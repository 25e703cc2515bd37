"""Test which of two systems is better, on the instances that both played (`whybench compare`).

The result has one row per suite and metric. For Holm's correction, the tests of all headlines are
one family of tests, and the tests of all other metrics are a second one. The corrected p-value
decides the verdict. The interval and the smallest detectable difference of a row use the alpha at
which Holm's procedure tests the row. The interval therefore contains 0 exactly if no difference is
shown.

Only a headline gets the verdict "better", because a higher headline is always better. Other metrics
get the verdict "higher".
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import pandas as pd

from whybench.episode.score import Metric
from whybench.report.decisions.difference import Difference, difference, fewest_worlds
from whybench.report.decisions.pairs import Pair, paired
from whybench.report.runs import Run
from whybench.stats.multiplicity import holm, holm_alphas

ALL = "all"
"""Selects every main metric."""

Winner = Literal["A", "B"]


@dataclass(frozen=True, slots=True)
class Comparison:
    """One metric of two systems on one suite."""

    suite: str
    metric: str
    headline: bool
    rate: bool
    found: Difference
    unscored: int
    """Shared instances without a score on one side or both."""
    p_holm: float = math.nan
    alpha: float = math.nan
    """Alpha at which Holm's procedure tests this row; also that of its interval."""
    winner: Winner | None = None
    """The higher side, if a difference is shown."""
    verdict: str = ""


@dataclass(frozen=True, slots=True)
class Played:
    """Instances and episodes of two systems on a suite."""

    suite: str
    systems: tuple[str, str]
    apart: Mapping[str, tuple[Any, Any]]
    """Task arguments in which the two differ."""
    shared: int
    """Instances that both systems played."""
    only: tuple[int, int]
    """Instances that only the first and only the second system played."""
    outcomes: Mapping[str, tuple[float, float]]
    """Outcome → its share of the episodes on shared instances."""
    logs: tuple[tuple[str, ...], tuple[str, ...]]
    versions: tuple[tuple[str, ...], tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Compared:
    """Result of a comparison."""

    rows: tuple[Comparison, ...]
    played: tuple[Played, ...]
    remarks: tuple[str, ...]
    alpha: float
    power: float

    def to_json(self) -> dict[str, Any]:
        """Return the result as JSON data; unknown values are null."""
        return {
            "alpha": self.alpha,
            "power": self.power,
            "rows": [_row(row) for row in self.rows],
            "played": [
                {
                    "suite": played.suite,
                    "systems": list(played.systems),
                    "apart": {key: list(two) for key, two in played.apart.items()},
                    "shared": played.shared,
                    "only": list(played.only),
                    "outcomes": {key: list(two) for key, two in played.outcomes.items()},
                    "logs": [list(logs) for logs in played.logs],
                    "versions": [list(versions) for versions in played.versions],
                }
                for played in self.played
            ],
            "remarks": list(self.remarks),
        }


def compare(
    first: Sequence[Run],
    second: Sequence[Run],
    metrics: Sequence[str] = (),
    *,
    alpha: float = 0.05,
    power: float = 0.8,
) -> Compared:
    """Compare the runs of two sides; without `metrics`, by each family's headline.

    Raises ValueError if versions, profiles or parameters differ, if one side has several runs of
    the same instances, and if the sides share no instance.
    """
    found = paired(first, second)
    rows: list[Comparison] = []
    played: list[Played] = []
    for pair in found.pairs:
        about = _played(pair)
        if not about.shared:
            seeds = [", ".join(sorted({r.seed for r in s.runs})) for s in (pair.first, pair.second)]
            raise ValueError(
                f"{pair.suite}: A ({about.only[0]} instances, seed {seeds[0]}) and B "
                f"({about.only[1]} instances, seed {seeds[1]}) share no instance. "
                "Run both with the same seed and the same part of the suite."
            )
        played.append(about)
        frames = [
            _on_shared(pair.first.frame, pair.second.frame),
            _on_shared(pair.second.frame, pair.first.frame),
        ]
        rows += [
            compared(
                pair.suite,
                frames[0],
                frames[1],
                name,
                rate=rate,
                headline=headline,
                alpha=alpha,
                power=power,
                span=span,
            )
            for name, rate, headline, span in _asked(pair.first.runs[0], frames[0], metrics)
        ]
    if not rows:
        known = sorted({m.name for p in found.pairs for m in p.first.runs[0].family.metrics})
        raise ValueError(f"No log contains {', '.join(metrics)}. Use {', '.join(known)}.")
    judged = decided(rows, alpha=alpha, power=power)
    return Compared(
        tuple(judged), tuple(played), (*found.alone, *_remarks(judged, played)), alpha, power
    )


def compared(
    suite: str,
    first: pd.DataFrame,
    second: pd.DataFrame,
    metric: str,
    *,
    rate: bool,
    headline: bool = True,
    alpha: float = 0.05,
    power: float = 0.8,
    span: float | None = None,
) -> Comparison:
    """Compare one metric of two frames with one row per sample and epoch; see `decided`."""
    found = difference(first, second, metric, rate=rate, alpha=alpha, power=power, span=span)
    shared = len(set(first["instance"].tolist()) & set(second["instance"].tolist()))
    return Comparison(suite, metric, headline, rate, found, shared - found.n)


def decided(
    rows: Sequence[Comparison], *, alpha: float = 0.05, power: float = 0.8
) -> list[Comparison]:
    """Apply Holm's correction to headlines and to other metrics, and add the verdicts."""
    judged: dict[int, Comparison] = {}
    for headline in (True, False):
        places = [at for at, row in enumerate(rows) if row.headline == headline]
        chances = [rows[at].found.p_value for at in places]
        steps = zip(places, holm(chances), holm_alphas(chances, alpha), strict=True)
        for at, p_holm, step in steps:
            own = alpha if math.isnan(step) else step
            row = replace(rows[at], p_holm=p_holm, alpha=own, found=rows[at].found.at(own, power))
            judged[at] = _judged(row, alpha, power)
    return [judged[at] for at in range(len(rows))]


def _judged(row: Comparison, alpha: float, power: float) -> Comparison:
    found, word = row.found, "better" if row.headline else "higher"
    among = ", corrected for the number of tests" if row.alpha < alpha else ""
    if row.p_holm <= alpha and found.estimate != 0:
        winner: Winner = "A" if found.estimate > 0 else "B"
        return replace(row, winner=winner, verdict=f"{winner} {word}")
    if found.n == 0:
        return replace(row, verdict="no shared instance has a score on both sides")
    if found.clusters < fewest_worlds(row.alpha):
        why = (
            f"{found.clusters} clusters are too few for any test "
            f"(at least {fewest_worlds(row.alpha)} are needed{among})"
        )
    elif found.error == 0 and found.estimate == 0:
        why = "both have the same score on every shared instance"
    elif found.detectable > found.span or math.isinf(found.detectable):
        why = f"this run is too small to detect any difference{among}"
    else:
        why = (
            f"a run of this size detects differences of at least {found.detectable:.2g} with "
            f"power {power:g}{among}"
        )
    return replace(row, verdict=f"no difference shown; {why}")


def _asked(
    run: Run, frame: pd.DataFrame, metrics: Sequence[str]
) -> list[tuple[str, bool, bool, float]]:
    """Return name, rate, headline and span of the requested metrics that the logs have."""
    known = {metric.name: metric for metric in run.family.metrics}
    names = list(metrics) or [run.family.headline]
    if ALL in names:
        names = [metric.name for metric in run.family.metrics if metric.role == "main"]
    held = [name for name in dict.fromkeys(names) if name in frame.columns]
    held = [name for name in held if pd.api.types.is_numeric_dtype(frame[name])]
    found = [(name, known.get(name, Metric(name, "", "number"))) for name in held]
    return [
        (name, metric.rate, name == run.family.headline, metric.range[1] - metric.range[0])
        for name, metric in found
    ]


def _on_shared(frame: pd.DataFrame, other: pd.DataFrame) -> pd.DataFrame:
    return frame[frame["instance"].isin(set(other["instance"]))]


def _played(pair: Pair) -> Played:
    frames = pair.first.frame, pair.second.frame
    ids = [set(frame["instance"]) for frame in frames]
    shares = [
        _on_shared(frames[at], frames[1 - at])["outcome"].value_counts(normalize=True).to_dict()
        for at in (0, 1)
    ]
    names = sorted(shares[0].keys() | shares[1].keys())
    return Played(
        pair.suite,
        (pair.first.model, pair.second.model),
        pair.apart,
        len(ids[0] & ids[1]),
        (len(ids[0] - ids[1]), len(ids[1] - ids[0])),
        {name: (float(shares[0].get(name, 0)), float(shares[1].get(name, 0))) for name in names},
        (tuple(run.log for run in pair.first.runs), tuple(run.log for run in pair.second.runs)),
        (pair.first.versions, pair.second.versions),
    )


def _remarks(rows: Sequence[Comparison], played: Sequence[Played]) -> list[str]:
    """Return remarks that a reader needs to interpret the rows."""
    found = []
    for one in played:
        if one.apart:
            apart = "; ".join(f"{key} {a} in A, {b} in B" for key, (a, b) in one.apart.items())
            what = "settings" if one.systems[0] == one.systems[1] else "settings besides the model"
            found.append(f"{one.suite}: {what} differ: {apart}.")
        for name, only in zip("AB", one.only, strict=True):
            if only:
                found.append(f"{one.suite}: {only} instances only in {name} are left out.")
        if one.versions[0] != one.versions[1]:
            made = " and ".join(", ".join(versions) for versions in one.versions)
            found.append(
                f"{one.suite}: the logs come from WhyBench {made}. Scores are comparable, because "
                "the family version is the same."
            )
    found += [
        f"{row.suite}: {row.unscored} shared instances have no {row.metric} on one side or both. "
        "They are left out."
        for row in rows
        if row.unscored
    ]
    few = {row.suite: row.found.clusters for row in rows if row.found.n and row.found.few_clusters}
    found += [
        f"{suite}: only {count} cluster{'' if count == 1 else 's'}. Read its intervals with care."
        for suite, count in few.items()
    ]
    return found


def _row(row: Comparison) -> dict[str, Any]:
    found = row.found
    return {
        "suite": row.suite,
        "metric": row.metric,
        "headline": row.headline,
        "a": _number(found.first),
        "b": _number(found.second),
        "difference": _number(found.estimate),
        "interval": [_number(found.low), _number(found.high)],
        "level": 1 - row.alpha,
        "p": _number(found.p_value),
        "p_holm": _number(row.p_holm),
        "instances": found.n,
        "unscored": row.unscored,
        "clusters": found.clusters,
        "epochs": found.epochs,
        "test": found.test,
        "detectable": _number(found.detectable),
        "winner": row.winner,
        "verdict": row.verdict,
    }


def _number(value: float) -> float | None:
    """Return a finite number, or None, because JSON has neither NaN nor infinity."""
    return value if math.isfinite(value) else None
