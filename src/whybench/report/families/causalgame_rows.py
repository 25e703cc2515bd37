"""Runs of CausalGame put together: a group is one system under one set of rules."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from whybench.core.canonical import canonical_json
from whybench.families.causalgame.params import ALL, KNOBS
from whybench.families.causalgame.scenario import scenarios
from whybench.report.frames import salt_tag
from whybench.report.runs import REFERENCE, Run
from whybench.report.view import View
from whybench.stats.interval import Interval

OURS, AGENT, PUBLISHED = "this report", "reference agent", "published, other instances"

MODES = {"tools": "agentic", "code": "prompting"}
"""Protocol → what the paper calls it."""

NAME, COMMAND = "causalgame", "inspect eval whybench/causalgame"

_SHORT = (
    ("deployment_zone_trap_categorical", "zone"),
    ("deployment_zone_trap_env_shift", "zone, shifted"),
    ("antenna_trap", "antenna"),
    ("weather_noise", "weather noise"),
)


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """All that one system did in one setting (see `manner`), over scenarios."""

    name: str
    """The system, said to be a reference agent where it is one."""
    runs: tuple[Run, ...]
    frame: pd.DataFrame
    """The rows of all its runs, with traits and `scenario`."""

    @property
    def first(self) -> Run:
        """One of its runs; what is the same in all of them can be read off."""
        return self.runs[0]

    @property
    def kind(self) -> str:
        """Whose figures these are."""
        return AGENT if self.first.reference else OURS

    def estimate(self, view: View, metric: str, where: pd.Series | None = None) -> Interval:
        """Return a metric's mean over the group's rows, or over some of them."""
        return view.estimate(replace(self.first, frame=self.frame), metric, where)


def groups(view: View, *, generated: bool = False) -> list[Group]:
    """Return the groups of a view, models before reference agents.

    Generated worlds are another matter than scenarios: either the ones or the others.
    """
    found: dict[tuple[str, ...], list[Run]] = {}
    for run in view.runs:
        if run.suite.endswith(f"/{KNOBS}") == generated:
            key = (run.system, run.profile, run.salt, *manner(run).values())
            found.setdefault(key, []).append(run)
    firsts = [runs[0] for runs in found.values()]
    made = [
        Group(
            _named(runs[0], firsts),
            tuple(runs),
            pd.concat([with_scenario(view, run) for run in runs], ignore_index=True),
        )
        for runs in found.values()
    ]
    return sorted(made, key=lambda group: group.first.reference)


def manner(run: Run) -> dict[str, str]:
    """Return what besides system and profile sets groups apart, fit to be shown."""
    return {
        "evidence": run.evidence,
        "protocol": run.protocol,
        "skin": run.skin,
        "salt": salt_tag(run.salt),
        "knobs": canonical_json(run.knobs),
    }


def differing(run: Run, others: Iterable[Run]) -> list[str]:
    """Return in words in what manner a run was played, as far as others were played otherwise."""
    manners = [manner(other) for other in others]
    return [
        f"{name}={value}"
        for name, value in manner(run).items()
        if any(other[name] != value for other in manners)
    ]


def _named(run: Run, firsts: Sequence[Run]) -> str:
    """Return a group's name; other groups of its system and profile have other names."""
    alike = [
        other for other in firsts if (other.system, other.profile) == (run.system, run.profile)
    ]
    told = [fact for fact in differing(run, alike) if fact not in run.system]
    name = " · ".join([run.system, *told])
    return f"{name.removeprefix(REFERENCE)} (reference agent)" if run.reference else name


def with_scenario(view: View, run: Run) -> pd.DataFrame:
    """Return a run's rows with traits; the suite says the scenario where they cannot be rebuilt."""
    frame = view.joined(run)
    suite = run.suite.partition("/")[2]
    if "scenario" not in frame:
        frame["scenario"] = pd.Series([None] * len(frame), dtype=object, index=frame.index)
    if suite != ALL:
        frame["scenario"] = frame["scenario"].fillna(suite)
    return frame


def own(found: Iterable[Group]) -> list[Group]:
    """Keep the groups that worked from their own experiments."""
    return [group for group in found if group.first.evidence == "own"]


def profiles(found: Iterable[Group]) -> dict[str, list[Group]]:
    """Sort groups by profile, the published rules first: the rules of the two differ."""
    ranked = sorted(found, key=lambda group: group.first.profile != "published")
    kept: dict[str, list[Group]] = {}
    for group in ranked:
        kept.setdefault(group.first.profile, []).append(group)
    return kept


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


def ordered(names: Iterable[object]) -> list[str]:
    """Return scenarios in the order of the catalogue."""
    there = set(names)
    return [name for name in scenarios() if name in there]


def measured(
    view: View, group: Group, metric: str, by: str, values: Sequence[Any], label: Mapping[Any, str]
) -> list[dict[str, Any]]:
    """Return a row with estimate and interval for each value of a column that has any score."""
    rows = []
    for value in values:
        where = group.frame[by] == value
        found = group.estimate(view, metric, where)
        if where.any() and found.n:
            rows.append(
                {
                    "row": label[value],
                    "system": group.name,
                    "whose": group.kind,
                    "value": found.estimate,
                    "low": found.low,
                    "high": found.high,
                    "n": found.n,
                }
            )
    return rows


def landmarks(found: Sequence[Group], by: str, label: Mapping[Any, str]) -> pd.DataFrame:
    """Return bar, best known and default design for each value of a column, over instances."""
    columns = {"default": "default design", "threshold": "bar", "best_known": "best known design"}
    frame = pd.concat([group.frame for group in found], ignore_index=True)
    if not {*columns, by} <= set(frame.columns):
        return pd.DataFrame(columns=["row", "landmark", "value"])
    known = frame.dropna(subset=[*columns, by]).drop_duplicates("instance")
    means = known.groupby(by)[list(columns)].mean()
    return pd.DataFrame(
        [
            {"row": label[value], "landmark": name, "value": float(means.loc[value, column])}
            for value in means.index
            if value in label
            for column, name in columns.items()
        ],
        columns=["row", "landmark", "value"],
    )


def percent(share: float) -> str:
    """Return a share as it stands in the paper's tables."""
    return "–" if pd.isna(share) else f"{100 * share:.1f}"


def listed(names: Sequence[str]) -> str:
    """Return names in one breath."""
    return ", ".join(names)
