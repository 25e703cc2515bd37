"""Compute standings from runs.

Of each family, all rows of a system are pooled. Floor and ceiling of a family are the means of
those of its suites, weighted by rows. The overall score is the plain mean over families: every
family asks the question in its own way, so none counts more because it has more rows or suites. The
families share no hidden system, so their errors are independent.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any, TypeVar

import numpy as np
import pandas as pd
from scipy.special import stdtr, stdtrit

from whybench.episode.family import Family
from whybench.episode.registry import families
from whybench.episode.score import unusable
from whybench.interfaces.solve import metric_interval
from whybench.release.data import load_release
from whybench.report.decisions.difference import difference
from whybench.report.entries import displayed_without
from whybench.report.frames import APART
from whybench.report.published.figures import Published
from whybench.report.runs import Logs, Run
from whybench.report.standings.model import (
    NOTHING,
    Cell,
    Estimate,
    Gap,
    Pair,
    Standings,
    System,
)
from whybench.report.view import View
from whybench.stats.interval import Interval, interval
from whybench.stats.multiplicity import holm

K = TypeVar("K")

ASIDE = ("template",)
"""Settings that do not make another system: a release plays a family in several templates."""


def standings(logs: Logs) -> Standings:
    """Return the standings of all systems in logs.

    If some logs are of a release, only these count. Otherwise the suite of each family that most
    systems played counts.
    """
    runs, release, which, remarks = counted(logs.runs)
    if not runs:
        raise ValueError("The logs contain no run that can be compared.")
    columns = _columns(runs, release)
    cells: dict[str, dict[str, list[Run]]] = {}
    for run in runs:
        cells.setdefault(displayed_without(run, ASIDE), {}).setdefault(run.family.name, []).append(
            run
        )
    views = {
        family: View(
            families()[family],
            tuple(run for run in logs.runs if run.family.name == family),
            Published(),
        )
        for family in columns
    }
    systems = [_system(name, found, columns, views) for name, found in cells.items()]
    systems.sort(key=lambda one: (-_rank(one), one.name))
    remarks += _incomplete(systems, release, which)
    return Standings(
        columns,
        tuple(systems),
        tuple(_pairs(systems, cells)),
        release,
        which,
        tuple(remarks),
    )


def counted(runs: Sequence[Run]) -> tuple[list[Run], str, str, list[str]]:
    """Return the runs that count, with their release and set, and remarks on the others."""
    own = [run for run in runs if run.evidence == "own" and _agent(run) not in APART]
    frozen = Counter(
        (str(run.args["release"]), str(run.args["set"])) for run in own if run.args.get("release")
    )
    remarks = []
    if frozen:
        (release, which), _ = frozen.most_common(1)[0]
        kept = [
            run for run in own if (run.args.get("release"), run.args.get("set")) == (release, which)
        ]
        others = {run.path for run in runs} - {run.path for run in kept}
        if others:
            remarks.append(
                f"{len(others)} logs are left out, because they are not of release {release}, "
                f"set {which}."
            )
    else:
        release = which = ""
        own = [run for run in own if run.profile == "certified"]
        played = Counter(
            (run.family.name, run.suite) for run in {(r.model, r.suite): r for r in own}.values()
        )
        most = {
            family: max(
                (suite for name, suite in played if name == family),
                key=lambda suite: (played[family, suite], suite),
            )
            for family, _ in played
        }
        kept = [run for run in own if run.suite == most[run.family.name]]
    latest: dict[tuple[object, ...], Run] = {}
    for run in kept:
        latest[displayed_without(run, ASIDE), *run.setting, run.template] = run
    if len(latest) < len(kept):
        remarks.append("Of several runs of a system on the same rows, the latest counts.")
    return list(latest.values()), release, which, remarks


def _agent(run: Run) -> str:
    return run.model.removeprefix("whybench/") if run.reference else ""


def _columns(runs: Iterable[Run], release: str) -> tuple[str, ...]:
    if release:
        return tuple(load_release(release).families)
    found = {run.family.name for run in runs}
    return tuple(name for name in families() if name in found)


def _system(
    name: str,
    found: Mapping[str, Sequence[Run]],
    columns: Sequence[str],
    views: Mapping[str, View],
) -> System:
    cells = {family: _cell(found[family], views[family]) for family in columns if family in found}
    missing = tuple(family for family in columns if family not in found)
    some = next(iter(found.values()))[0]
    return System(
        name,
        some.model,
        some.reference,
        cells,
        Estimate() if missing else _overall(list(cells.values())),
        _part_understood(list(cells.values())),
        missing,
    )


def _rank(system: System) -> float:
    """Return the overall score. Systems that ran fewer families come after the others."""
    if system.overall.known:
        return system.overall.value
    known = [cell.score.value for cell in system.cells.values() if cell.score.known]
    return -10.0 + (math.fsum(known) / len(known) if known else -1.0)


def pooled(runs: Sequence[Run]) -> pd.DataFrame:
    """Return the rows of several runs. A row of another template counts as another instance."""
    several = len({run.template for run in runs}) > 1
    frames = [
        run.frame.assign(instance=run.frame["instance"] + f".{run.template}")
        if several
        else run.frame
        for run in runs
    ]
    return pd.concat(frames, ignore_index=True)


def _cell(found: Sequence[Run], view: View) -> Cell:
    family: Family[Any] = found[0].family
    frame = pooled(found)
    headline = next(metric for metric in family.metrics if metric.name == family.headline)
    raw = _estimate(
        metric_interval(
            headline, _values(frame, headline.name), list(frame["cluster"]), list(frame["instance"])
        )
    )
    weights = [len(run.frame) for run in found]
    bounds = [_bounds(run, view) for run in found]
    floor, ceiling = (
        float(np.average([one[place] for one in bounds], weights=weights)) for place in (0, 1)
    )
    understood, right = _understood(family, frame)
    outcomes = frame["outcome"].value_counts(normalize=True)
    return Cell(
        family.name,
        tuple(dict.fromkeys(run.suite for run in found)),
        headline.name,
        raw.mapped(floor, ceiling),
        raw,
        floor,
        ", ".join(dict.fromkeys(one[2] for one in bounds)),
        ceiling,
        ", ".join(dict.fromkeys(one[3] for one in bounds)),
        understood,
        right,
        _mean(frame, "experiments"),
        _efficiency(frame),
        _sum(frame, "input_tokens"),
        _sum(frame, "output_tokens"),
        _sum(frame, "cost"),
        float(frame["outcome"].map(unusable).mean()),
        {str(name): float(share) for name, share in sorted(outcomes.items())},
        len(frame),
        frame["instance"].nunique(),
        frame["cluster"].nunique(),
    )


def _bounds(run: Run, view: View) -> tuple[float, float, str, str]:
    """Return floor and ceiling, with their names."""
    found = view.bounds(run)
    best = max(found.floors, key=lambda name: found.floors[name], default="")
    return found.floor, found.ceiling, best, "exact"


def _values(frame: pd.DataFrame, name: str) -> list[float | None]:
    return [None if pd.isna(value) else float(value) for value in frame.get(name, ())]


def _estimate(found: Interval) -> Estimate:
    return Estimate(found.estimate, found.low, found.high)


def _understood(family: Family[Any], frame: pd.DataFrame) -> tuple[Estimate, int]:
    """Return the share of right answers that are understood, and how many can be classified."""
    rule = family.understanding
    if not rule or "lucky" not in rule or rule["success"] not in frame:
        return Estimate(), 0
    right = frame[(frame[rule["success"]] == 1) & frame[rule["lucky"]].notna()]
    if right.empty:
        return Estimate(), 0
    known = [1.0 - float(value) for value in right[rule["lucky"]]]
    found = interval(known, list(right["cluster"]), instances=list(right["instance"]))
    return _estimate(found), len(right)


def _efficiency(frame: pd.DataFrame) -> float:
    if not {"experiments", "regret"} <= set(frame):
        return NOTHING
    known = frame.dropna(subset=["experiments", "regret"])
    made = float(known["experiments"].sum())
    return float((known["experiments"] - known["regret"]).sum()) / made if made else NOTHING


def _mean(frame: pd.DataFrame, name: str) -> float:
    return float(frame[name].mean()) if name in frame else NOTHING


def _sum(frame: pd.DataFrame, name: str) -> float:
    return float(frame[name].sum(min_count=1)) if name in frame else NOTHING


def _overall(cells: Sequence[Cell]) -> Estimate:
    """Return the plain mean over families, with an interval from independent errors."""
    if not all(cell.score.known for cell in cells):
        return Estimate()
    value = math.fsum(cell.score.value for cell in cells) / len(cells)
    below, above = (
        math.hypot(*(cell.score.value - getattr(cell.score, side) for cell in cells)) / len(cells)
        for side in ("low", "high")
    )
    return Estimate(value, value - below, value + above)


def _part_understood(cells: Sequence[Cell]) -> Estimate:
    """Return the understood part of the overall score: shares weighted by scores above 0."""
    known = [cell for cell in cells if cell.share.known and cell.score.value > 0]
    whole = math.fsum(cell.score.value for cell in known)
    if not whole:
        return Estimate()
    weights = [cell.score.value / whole for cell in known]
    shares = [cell.share for cell in known]
    value = math.fsum(w * share.value for w, share in zip(weights, shares, strict=True))
    below, above = (
        math.hypot(
            *(w * (s.value - getattr(s, side)) for w, s in zip(weights, shares, strict=True))
        )
        for side in ("low", "high")
    )
    return Estimate(value, max(0.0, value - below), min(1.0, value + above))


def _pairs(
    systems: Sequence[System], runs: Mapping[str, Mapping[str, Sequence[Run]]]
) -> Iterable[Pair]:
    """Compare all pairs of systems on what both ran."""
    made = []
    for first, second in combinations(systems, 2):
        shared = [family for family in first.cells if family in second.cells]
        gaps = {family: _gap(first, second, family, runs) for family in shared}
        made.append((first, second, {f: gap for f, gap in gaps.items() if gap is not None}))
    overall = {
        (first.name, second.name): _total(list(found.values()))
        for first, second, found in made
        if not first.missing and not second.missing and len(found) == len(first.cells)
    }
    overall = _corrected(overall)
    for first, second, found in made:
        key = first.name, second.name
        yield Pair(*key, overall.get(key), _corrected(found))


def _corrected(gaps: Mapping[K, Gap]) -> dict[K, Gap]:
    ps = holm([gap.p for gap in gaps.values()])
    return {key: replace(gap, p_holm=p) for (key, gap), p in zip(gaps.items(), ps, strict=True)}


def _gap(
    first: System,
    second: System,
    family: str,
    runs: Mapping[str, Mapping[str, Sequence[Run]]],
) -> Gap | None:
    """Return the paired difference on the scale of scores."""
    cell = first.cells[family]
    room = cell.ceiling - cell.floor
    if not room > 1e-9:
        return None
    kind = runs[first.name][family][0].family
    rate = next(metric.rate for metric in kind.metrics if metric.name == cell.metric)
    found = difference(
        pooled(runs[first.name][family]),
        pooled(runs[second.name][family]),
        cell.metric,
        rate=rate,
        span=1.0,
    )
    scaled = Estimate(found.estimate / room, found.low / room, found.high / room)
    p = 1.0 if math.isnan(found.p_value) else found.p_value
    return Gap(scaled, p, p, found.n, found.clusters) if found.n else None


def _total(gaps: Sequence[Gap]) -> Gap:
    """Return the mean of independent differences, tested with Satterthwaite's freedom."""
    value = math.fsum(gap.difference.value for gap in gaps) / len(gaps)
    errors = [_error(gap) for gap in gaps]
    squares = [error**2 for error in errors]
    error = math.sqrt(math.fsum(squares)) / len(gaps)
    if not error:
        p = 0.0 if abs(value) > 1e-12 else 1.0
        return Gap(Estimate(value, value, value), p, p, len(gaps), 0)
    freedom = math.fsum(squares) ** 2 / math.fsum(
        square**2 / max(1, gap.clusters - 1) for square, gap in zip(squares, gaps, strict=True)
    )
    half = -float(stdtrit(freedom, 0.025)) * error
    p = min(1.0, 2 * float(stdtr(freedom, -abs(value) / error)))
    clusters = sum(gap.clusters for gap in gaps)
    return Gap(Estimate(value, value - half, value + half), p, p, len(gaps), clusters)


def _error(gap: Gap) -> float:
    """Return the standard error behind an interval."""
    if gap.clusters < 2 or math.isnan(gap.difference.low):
        return 0.0
    width = gap.difference.high - gap.difference.low
    return width / 2 / -float(stdtrit(gap.clusters - 1, 0.025))


def _incomplete(systems: Sequence[System], release: str, which: str) -> list[str]:
    """Return a remark on each system that did not play every row of the set."""
    found = []
    for system in systems:
        if system.missing:
            found.append(f"{system.name} did not run {', '.join(system.missing)}.")
        for family, cell in system.cells.items():
            rows = len(list(load_release(release).samples(family, which))) if release else 0
            if 0 < cell.instances < rows:
                found.append(f"{system.name} played {cell.instances} of {rows} rows of {family}.")
    return found
