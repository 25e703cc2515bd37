"""Select the runs of Prism that can be compared, with scores by instance."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import pandas as pd

from whybench.families.prism.extras.analysis import Gap
from whybench.report.entries import entries
from whybench.report.forms import Row
from whybench.report.runs import Run
from whybench.report.view import View
from whybench.stats.interval import Interval

LABS = ("prism/lab", "prism/small")
"""Suites with experiments."""

ASIDE = ("template", "evidence")
"""Arguments that tables show in columns of their own."""


@dataclass(frozen=True, eq=False)
class Arm:
    """The runs of one system on the same instances, in one mode."""

    system: str
    suite: str
    mode: str
    runs: dict[str, Run]
    """Template → run; the last one if there are several."""

    @property
    def columns(self) -> Row:
        """The first columns of a table."""
        return {"system": self.system, "suite": self.suite, "mode": self.mode}


def mode_of(run: Run) -> str:
    """Return how the system got its trials; without a laboratory, `own` trials are given ones."""
    return "given" if run.evidence == "own" and run.suite not in LABS else run.evidence


def arms(view: View) -> list[Arm]:
    """Group runs that differ only in the prompt template."""
    found: dict[tuple[Any, ...], Arm] = {}
    for entry in entries(view.runs, ASIDE):
        run, mode = entry.run, mode_of(entry.run)
        key = (run.model, *run.setting, run.protocol, mode)
        arm = found.setdefault(key, Arm(entry.system, entry.suite, mode, {}))
        arm.runs[run.template] = run
    return list(found.values())


def scores(run: Run, metric: str = "accuracy") -> dict[str, float]:
    """Return the mean of a metric by instance; unscored instances are left out."""
    frame = run.frame[["instance", metric]].dropna()
    means = frame.groupby("instance", sort=False)[metric].mean()
    return {str(one): float(value) for one, value in means.items()}


def clusters(runs: Iterable[Run]) -> dict[str, str]:
    """Return the cluster of every instance."""
    return {
        str(one): str(cluster)
        for run in runs
        for one, cluster in zip(run.frame["instance"], run.frame["cluster"], strict=True)
    }


def labels(run: Run, name: str) -> dict[str, Any]:
    """Return a label by instance, from its first epoch; missing labels are left out."""
    found: dict[str, Any] = {}
    for one, told in zip(run.frame["instance"], run.frame["labels"], strict=True):
        value = told.get(name) if isinstance(told, dict) else None
        if value is not None and not (isinstance(value, float) and pd.isna(value)):
            found.setdefault(str(one), value)
    return found


def bounds(found: Interval) -> Row:
    """Return an interval as columns."""
    return {"low": found.low, "high": found.high}


def each_run(view: View) -> Iterator[tuple[Row, Run]]:
    """Yield every run with the first columns of a table."""
    for arm in arms(view):
        for template, run in arm.runs.items():
            yield {**arm.columns, "surface": template}, run


def differences(columns: Row, what: str, found: Iterable[Gap]) -> Iterator[Row]:
    """Yield a row for each paired difference; the column `what` names its first side."""
    for gap in found:
        if gap.found.n:
            yield {
                **columns, what: gap.first, "minus": gap.second, "gap": gap.found.estimate,
                "low": gap.found.low, "high": gap.found.high, "p": gap.found.p_value,
                "p (Holm)": gap.p_holm, "instances": gap.found.n, "clusters": gap.found.clusters,
            }  # fmt: skip
