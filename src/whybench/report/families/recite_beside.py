"""Published figures of ReCITE stand only beside runs on the published texts (`mapping.json`)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from whybench.report.families.recite_rows import Row, Series, printed
from whybench.report.mapping import matching, rules
from whybench.report.runs import Run
from whybench.report.section import Remark
from whybench.report.view import View

STANDARD = "standard"
"""The published suite whose texts the paper's analyses are about."""

OTHER_SCORE = (
    "Published figures (grey, hollow) are the judge's F1, another score: compare how they rise and "
    "fall, not how high they lie. Runs on made documents have other texts, too."
)


def opposite(runs: Iterable[Run]) -> frozenset[str]:
    """Return the published suites that belong beside at least one of the runs."""
    return frozenset(suite for run in runs for suite in _opposite(run))


def _opposite(run: Run) -> list[str]:
    try:
        return [suite for suite, _ in matching(run.suite, _settings(run))]
    except ValueError:
        return []  # settings of another version: nothing is known to stand opposite


def _settings(run: Run) -> dict[str, Any]:
    """Return arguments and knobs that the mapping knows; another task may have more of its own."""
    how = rules("recite")
    named = {*how.defaults.asdict(), *how.free, *how.told, *run.family.knobs}
    given = {**run.args.get("knobs", {}), **run.args, **run.knobs, "profile": run.profile}
    return {name: value for name, value in given.items() if name in named}


def beside(
    view: View, drawn: Iterable[Series], suite: str, metric: str, **more: Any
) -> list[Row | None]:
    """Return a published suite's cells as rows if it belongs beside one of the runs drawn."""
    if suite not in opposite(run for _, run in drawn):
        return []
    return [printed(cell, **more) for cell in view.published.cells("recite", suite=suite,
                                                                   metric=metric)]  # fmt: skip


def not_beside(tables: str, suite: str = STANDARD, more: str = "") -> Remark:
    """Say why published tables are left out, and which run would bring them."""
    return Remark(
        f"Left out: {tables} of the paper, since no run here is on the published texts. This "
        f"would bring one: `inspect eval whybench/recite -T suite={suite} -T profile=published "
        f"-T data=hub{more} --model MODEL`."
    )
