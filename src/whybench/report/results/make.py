"""Make a result of each system of the standings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from hashlib import file_digest
from pathlib import Path

import fsspec

from whybench.report.chapters.provenance import OPTIONS
from whybench.report.entries import displayed_without
from whybench.report.naming import manner, shown
from whybench.report.results.model import Result
from whybench.report.run import Run
from whybench.report.runs import Logs
from whybench.report.standings.build import ASIDE, counted, standings


def results(logs: Logs) -> tuple[Result, ...]:
    """Return a result for each system, in the order of the standings."""
    found = standings(logs)
    played: dict[str, list[Run]] = {}
    for run in counted(logs.runs)[0]:
        played.setdefault(displayed_without(run, ASIDE), []).append(run)
    digests: dict[str, str] = {}
    return tuple(
        Result(
            system,
            release=found.release,
            set=found.set,
            date=max(run.created for run in played[system.name])[:10],
            versions=versions(played[system.name]),
            settings=settings(played[system.name]),
            logs=_logs(played[system.name], digests),
        )
        for system in found.systems
    )


def versions(runs: Sequence[Run]) -> dict[str, str]:
    """Return the versions of packages and families; several versions are separated by commas."""
    return _gathered(
        pair
        for run in runs
        for pair in (
            *run.packages.items(),
            (run.family.name, run.version.partition("-")[0]),
            ("whybench", run.version.partition("-")[2]),
        )
    )


def settings(runs: Sequence[Run]) -> dict[str, dict[str, str]]:
    """Return family → setting → value, for all settings that are not left at their default."""
    found: dict[str, list[tuple[str, str]]] = {}
    for run in runs:
        given = {name: value for name, value in manner(run).items() if value != "default"}
        given |= {name: run.config[name] for name in OPTIONS if name in run.config}
        pairs = found.setdefault(run.family.name, [])
        pairs += [(name, shown(name, value)) for name, value in given.items()]
    return {family: _gathered(pairs) for family, pairs in sorted(found.items())}


def _gathered(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return name → value, in order of names; several values are separated by commas."""
    found: dict[str, set[str]] = {}
    for name, value in pairs:
        found.setdefault(name, set()).add(value)
    return {name: ", ".join(sorted(values - {""})) for name, values in sorted(found.items())}


def _logs(runs: Sequence[Run], known: dict[str, str]) -> Mapping[str, str]:
    """Return the SHA-256 of each log by its name; `known` has those of paths read before."""
    for path in {run.path for run in runs} - known.keys():
        with fsspec.open(path, "rb") as file:
            known[path] = file_digest(file, "sha256").hexdigest()
    return {Path(path).name: known[path] for path in sorted({run.path for run in runs})}
