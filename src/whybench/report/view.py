"""Give a family's section access to its runs and to what can be computed from them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from whybench.causal.canonical import thaw
from whybench.episode.family import Family
from whybench.interfaces.solve import metric_interval
from whybench.report.chapters.bounds import Bounds, bounds
from whybench.report.episodes import Played, episodes, places, rebuilt
from whybench.report.published.figures import Published
from whybench.report.runs import ExamLog, Run
from whybench.stats.interval import Interval, interval

FEWEST_REPLAYED = 6
"""Fewest episodes of each run that are replayed, however many runs there are."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits on the work of a report; the page states what was left out."""

    certified: int = 4
    """Instances per setting that are certified, for the ceiling."""
    floored: int = 48
    """Instances per setting that guessers without a log play, for the floor."""
    rebuilt: int = 1000
    """Instances per setting that are rebuilt to group them by covariates."""
    replayed: int = 24
    """Episodes per run that are replayed, for results that need a trace."""
    replayed_in_all: int = 120
    """Episodes per family that are replayed; with many runs, each run gets fewer."""
    told: int = 4
    """Episodes per run that can be opened in the page."""


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """The runs of one family, and what can be computed from them."""

    family: Family[Any]
    runs: tuple[Run, ...]
    published: Published
    exams: tuple[ExamLog, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    """Options of the user for single sections, such as `cutoffs` (model → date)."""
    limits: Limits = Limits()
    _covariates: dict[tuple[str, ...], pd.DataFrame] = field(default_factory=dict)
    _joined: dict[Run, pd.DataFrame] = field(default_factory=dict)
    _bounds: dict[tuple[object, ...], Bounds] = field(default_factory=dict)
    _episodes: dict[Run, list[Played]] = field(default_factory=dict)

    def estimate(self, run: Run, metric: str, where: pd.Series | None = None) -> Interval:
        """Return a metric's mean and interval: epochs averaged first, then clustered."""
        return estimate(run, metric, where)

    def joined(self, run: Run) -> pd.DataFrame:
        """Return a run's rows with covariates of the instances that can be rebuilt."""
        if run not in self._joined:
            known = self._known(run)
            fresh = [name for name in known.columns if name not in run.frame.columns]
            joined = run.frame.join(known[fresh], on="instance") if fresh else run.frame
            self._joined[run] = joined
        return self._joined[run].copy()

    def bounds(self, run: Run) -> Bounds:
        """Return floor and ceiling of a run on its instances."""
        key = (*run.setting, run.protocol, frozenset(run.frame["instance"]))
        if key not in self._bounds:
            limits = self.limits
            self._bounds[key] = bounds(run, self.runs, limits.certified, limits.floored)
        return self._bounds[key]

    def episodes(self, run: Run) -> Iterator[Played]:
        """Yield replayed episodes of a run, at most `replayed`."""
        if run not in self._episodes:
            self._episodes[run] = list(episodes(run, self.replayed))
        yield from self._episodes[run]

    @property
    def replayed(self) -> int:
        """Largest number of episodes replayed per run."""
        each = self.limits.replayed_in_all // max(1, len(self.runs))
        return min(self.limits.replayed, max(FEWEST_REPLAYED, each))

    @property
    def traced(self) -> tuple[Run, ...]:
        """Runs with replayed episodes."""
        return tuple(self._episodes)

    def _known(self, run: Run) -> pd.DataFrame:
        """Return covariates by instance, computed once for runs of one setting."""
        found = self._covariates.setdefault(run.setting, pd.DataFrame())
        rows = {}
        for row in places(run, self.limits.rebuilt):
            if row["instance"] not in found.index:
                try:
                    rows[row["instance"]] = thaw(self.family.covariates(rebuilt(run, row)))
                except ValueError:
                    break  # if one cannot be rebuilt, none can
        if rows:
            self._covariates[run.setting] = pd.concat(
                [found, pd.DataFrame.from_dict(rows, "index")]
            )
        return self._covariates[run.setting]


def estimate(run: Run, metric: str, where: pd.Series | None = None) -> Interval:
    """Return a metric's mean and interval over all rows, or over those selected."""
    rows = run.frame if where is None else run.frame[where.to_numpy(bool)]
    values = [None if pd.isna(value) else float(value) for value in rows.get(metric, ())]
    declared = {m.name: m for m in run.family.metrics}
    clusters = list(rows["cluster"]) if values else []
    instances = list(rows["instance"]) if values else []
    if metric in declared:
        return metric_interval(declared[metric], values, clusters, instances)
    return interval(values, clusters, instances=instances)
