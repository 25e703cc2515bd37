"""Groups of CausalGame runs: a group is one system under one set of rules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from whybench.causal.canonical import canonical_json
from whybench.families.causalgame.parameters import ALL
from whybench.families.causalgame.world.drawn.draw import stories
from whybench.families.causalgame.world.scenario import scenarios
from whybench.report.entries import AGENT, OURS, cells
from whybench.report.forms import Row
from whybench.report.naming import seed_tag
from whybench.report.runs import Run
from whybench.report.view import View
from whybench.stats.interval import Interval

NAME, RATE = "causalgame", "survival_rate"

_SHORT = (
    ("deployment_zone_trap_categorical", "zone"),
    ("deployment_zone_trap_env_shift", "zone, shifted"),
    ("antenna_trap", "antenna"),
    ("weather_noise", "weather noise"),
)


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """All runs of one system in one setting (see `manner`), over scenarios."""

    name: str
    """The system's name; reference agents are marked as such."""
    runs: tuple[Run, ...]
    frame: pd.DataFrame
    """The rows of all its runs, with covariates and `scenario`."""
    view: View

    @property
    def first(self) -> Run:
        """The first of its runs; use it for settings that all runs share."""
        return self.runs[0]

    @property
    def kind(self) -> str:
        """Kind of the group: a model or a reference agent."""
        return AGENT if self.first.reference else OURS

    def estimate(self, metric: str, where: pd.Series | None = None) -> Interval:
        """Return a metric's mean over the group's rows, or over some of them."""
        return self.view.estimate(replace(self.first, frame=self.frame), metric, where)

    def measured(self, metric: str, name: str, where: pd.Series | None = None) -> Row:
        """Return the same as cells, with the system's name."""
        return {"system": self.name, **cells(self.estimate(metric, where), name)}


@dataclass(frozen=True, slots=True, eq=False)
class Games:
    """All groups of a view, models before reference agents."""

    view: View
    every: tuple[Group, ...]

    @classmethod
    def of(cls, view: View) -> Games:
        """Group the runs of a view."""
        return cls(view, tuple(_groups(view, view.runs)))

    @property
    def own(self) -> list[Group]:
        """Groups that used their own experiments."""
        return [group for group in self.every if group.first.evidence == "own"]

    @property
    def profiles(self) -> dict[str, list[Group]]:
        """Groups by profile, `published` first, because the two have different rules."""
        kept: dict[str, list[Group]] = {}
        for group in sorted(self.own, key=lambda group: group.first.profile != "published"):
            kept.setdefault(group.first.profile, []).append(group)
        return kept


def _groups(view: View, runs: Iterable[Run]) -> list[Group]:
    found: dict[tuple[str, ...], list[Run]] = {}
    for run in runs:
        key = (run.system, run.profile, run.seed, *manner(run).values())
        found.setdefault(key, []).append(run)
    firsts = [runs[0] for runs in found.values()]
    made = []
    for group in found.values():
        frames = [_with_scenario(view, run) for run in group]
        name = _named(group[0], firsts)
        made.append(Group(name, tuple(group), pd.concat(frames, ignore_index=True), view))
    return sorted(made, key=lambda group: group.first.reference)


def manner(run: Run) -> dict[str, str]:
    """Return the settings, besides system and profile, that distinguish groups."""
    return {
        "evidence": run.evidence,
        "protocol": run.protocol,
        "template": run.template,
        "seed": seed_tag(run.seed),
        "parameters": canonical_json(run.parameters),
    }


def differing(run: Run, others: Iterable[Run]) -> list[str]:
    """Return the settings of a run that differ from those of other runs, in words."""
    manners = [manner(other) for other in others]
    return [
        f"{name}={value}"
        for name, value in manner(run).items()
        if any(other[name] != value for other in manners)
    ]


def _named(run: Run, firsts: Sequence[Run]) -> str:
    """Return a group's name, distinct from other groups of its system and profile."""
    alike = [o for o in firsts if (o.system, o.profile) == (run.system, run.profile)]
    told = [fact for fact in differing(run, alike) if fact not in run.system]
    return " · ".join([run.system, *told])


def _with_scenario(view: View, run: Run) -> pd.DataFrame:
    """Return a run's rows with covariates; the suite names the scenario if they are missing."""
    frame = view.joined(run)
    suite = run.suite.partition("/")[2]
    if "scenario" not in frame:
        frame["scenario"] = pd.Series([None] * len(frame), dtype=object, index=frame.index)
    if suite != ALL:
        frame["scenario"] = frame["scenario"].fillna(suite)
    return frame


def short(scenario: str) -> str:
    """Return a scenario's name for a row.

    >>> short("deployment_zone_trap_categorical_high_def"), short("antenna_trap")
    ('zone, high def', 'antenna')
    """
    for start, name in _SHORT:
        if scenario.startswith(start):
            rest = scenario.removeprefix(start).replace("_", " ").strip()
            return f"{name}, {rest}" if rest else name
    return scenario.replace("_", " ")


def played_in(found: Iterable[Group]) -> list[str]:
    """Return the scenarios that groups played, in the order of the catalogue."""
    there = {name for group in found for name in group.frame["scenario"].unique()}
    return [name for name in (*stories(), *scenarios()) if name in there]


def by_value(
    group: Group, metric: str, by: str, label: Mapping[Any, str], name: str = "value"
) -> Iterator[Row]:
    """Yield a row with estimate and interval for each value of a column that has any score."""
    for value, words in label.items():
        cells = group.measured(metric, name, group.frame[by] == value)
        if cells["n"]:
            yield {"row": words, "whose": group.kind, **cells}


def percent(share: float) -> str:
    """Return a share in per cent, in the format of the paper's tables."""
    return "–" if pd.isna(share) else f"{100 * share:.1f}"
