"""Pair the runs of A with the runs of B, and reject runs that must not be mixed.

Two sides can be compared on a suite if family version, profile and parameters are equal. Otherwise
they are rejected, because the instances differ or the scores have another meaning. Runs with the
same settings (protocol, template, evidence and all other task arguments) are paired. If exactly one
run is left on each side, these two are paired as well, and their differences are named: the
comparison is then one of settings.

Several logs of one side are pooled if they have the same model and no instance is in two of them,
for example logs with other seeds or other parts of a suite. Otherwise the user must select runs
(`chosen`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from whybench.causal.canonical import canonical_json
from whybench.report.runs import Run

KEYS = ("model", "suite", "evidence", "protocol", "template", "profile", "seed", "log")
"""Keys for selecting runs, in addition to all task arguments."""


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """All runs of one system on a suite with the same settings."""

    runs: tuple[Run, ...]

    @property
    def model(self) -> str:
        """Model of the runs."""
        return self.runs[0].model

    @property
    def frame(self) -> pd.DataFrame:
        """Rows of all its logs."""
        return pd.concat([run.frame for run in self.runs], ignore_index=True)

    @property
    def versions(self) -> tuple[str, ...]:
        """Versions of WhyBench that wrote the logs."""
        return tuple(sorted({run.version.partition("-")[2] for run in self.runs}))


@dataclass(frozen=True, slots=True, eq=False)
class Pair:
    """Two sides that can be compared."""

    suite: str
    first: Side
    second: Side
    apart: Mapping[str, tuple[Any, Any]]
    """Task arguments in which they differ; empty if only the models differ."""


@dataclass(frozen=True, slots=True)
class Pairs:
    """Pairs to compare, and runs without a partner."""

    pairs: tuple[Pair, ...]
    alone: tuple[str, ...]
    """A sentence for each run or suite that only one side has."""


def chosen(runs: Iterable[Run], wanted: Mapping[str, str]) -> list[Run]:
    """Return the runs whose model, suite and task arguments have the wanted values.

    A model may be named without its provider, a suite without its family.
    """
    runs = list(runs)
    found = [run for run in runs if all(_is(run, key, value) for key, value in wanted.items())]
    if not found:
        asked = ", ".join(f"{key}={value}" for key, value in wanted.items()) or "anything"
        raise ValueError(f"No run matches {asked}. The runs are:\n{listed(runs)}")
    return found


def paired(first: Sequence[Run], second: Sequence[Run]) -> Pairs:
    """Pair the runs of two sides; raise ValueError if that is not possible."""
    pairs: list[Pair] = []
    alone: list[str] = []
    suites = dict.fromkeys(run.suite for run in (*first, *second))
    for suite in suites:
        ours = [run for run in first if run.suite == suite]
        theirs = [run for run in second if run.suite == suite]
        if ours and theirs:
            found, left = _on_one_suite(suite, ours, theirs)
            pairs += found
            alone += left
        else:
            alone.append(f"{suite} is only in {'A' if ours else 'B'}, so it is not compared.")
    if not pairs:
        raise ValueError(f"A and B share no suite.\nA:\n{listed(first)}\nB:\n{listed(second)}")
    return Pairs(tuple(pairs), tuple(alone))


def listed(runs: Iterable[Run]) -> str:
    """Return one line per run, with the keys by which it can be selected."""
    return "\n".join(
        "  " + " ".join(f"{key}={_value(run, key)}" for key in KEYS if _value(run, key))
        for run in runs
    )


PLACE = ("suite", "seed", "profile")
"""Task arguments that select instances."""


def manner(run: Run) -> dict[str, Any]:
    """Return the settings of a run: its task arguments without those that select instances."""
    told = {
        name: value
        for name, value in run.args.items()
        if name not in (*PLACE, "parameters") and name not in run.family.parameters
    }
    if told.get("yoke"):
        told["yoke"] = Path(str(told["yoke"])).name
    return told


def _on_one_suite(
    suite: str, ours: Sequence[Run], theirs: Sequence[Run]
) -> tuple[list[Pair], list[str]]:
    if not {_place(run) for run in ours} & {_place(run) for run in theirs}:
        raise ValueError(_mismatch(suite, ours[0], theirs[0]))
    pairs: list[Pair] = []
    alone: list[str] = []
    for place in dict.fromkeys(_place(run) for run in (*ours, *theirs)):
        sides = [_by_manner([r for r in runs if _place(r) == place]) for runs in (ours, theirs)]
        same = [key for key in sides[0] if key in sides[1]]
        left = [[key for key in side if key not in same] for side in sides]
        matched = [(key, key) for key in same]
        if len(left[0]) == len(left[1]) == 1:
            matched.append((left[0][0], left[1][0]))
        elif left[0] and left[1]:
            several = [
                run for side, keys in zip(sides, left, strict=True) for k in keys for run in side[k]
            ]
            raise ValueError(
                f"{suite}: several runs have different settings. Select one for each side with "
                f"--a KEY=VALUE and --b KEY=VALUE:\n{listed(several)}"
            )
        else:
            alone += [
                f"{suite}: {run.log} ({run.model}) is only in {name}. The other side has no run "
                "with the same settings."
                for name, side, keys in zip("AB", sides, left, strict=True)
                for key in keys
                for run in side[key]
            ]
        pairs += [_pair(suite, sides[0][one], sides[1][two]) for one, two in matched]
    return pairs, alone


def _pair(suite: str, ours: Sequence[Run], theirs: Sequence[Run]) -> Pair:
    first, second = _side("A", "a", ours), _side("B", "b", theirs)
    if {run.path for run in ours} & {run.path for run in theirs}:
        raise ValueError(
            f"{suite}: A and B are the same log, {ours[0].log}. Select runs with --a KEY=VALUE "
            "and --b KEY=VALUE, such as --a model=NAME."
        )
    one, two = manner(ours[0]), manner(theirs[0])
    apart = {
        key: (one.get(key), two.get(key))
        for key in sorted(one.keys() | two.keys())
        if one.get(key) != two.get(key)
    }
    return Pair(suite, first, second, apart)


def _side(name: str, option: str, runs: Sequence[Run]) -> Side:
    """Pool the runs of one side; raise ValueError if they overlap or models differ."""
    how = f"Select one with --{option} KEY=VALUE"
    if len({run.model for run in runs}) > 1:
        raise ValueError(f"{name} has several models on {runs[0].suite}. {how}:\n{listed(runs)}")
    side = Side(tuple(runs))
    if len(runs) > 1 and sum(run.frame["instance"].nunique() for run in runs) > (
        side.frame["instance"].nunique()
    ):
        raise ValueError(
            f"{name} has several runs of the same instances of {runs[0].suite}. "
            f"{how}, such as log=NAME:\n{listed(runs)}"
        )
    return side


def _by_manner(runs: Iterable[Run]) -> dict[str, list[Run]]:
    groups: dict[str, list[Run]] = {}
    for run in runs:
        groups.setdefault(canonical_json(manner(run)), []).append(run)
    return groups


def _place(run: Run) -> tuple[str, str, str]:
    """Return what must be equal: family version, profile and parameters, but not the seed."""
    return run.version.partition("-")[0], run.profile, canonical_json(run.parameters)


def _mismatch(suite: str, ours: Run, theirs: Run) -> str:
    names = ("family version", "profile", "parameters")
    differing = [
        f"{name} {one} in A and {two} in B"
        for name, one, two in zip(names, _place(ours), _place(theirs), strict=True)
        if one != two
    ]
    return (
        f"{suite}: the scores are not comparable ({', '.join(differing)}). "
        "Run both sides with the same settings, or select runs with --a and --b KEY=VALUE."
    )


def _value(run: Run, key: str) -> str:
    value = getattr(run, key) if key in KEYS else run.args.get(key, run.parameters.get(key))
    return "" if value is None else str(value)


def _is(run: Run, key: str, value: str) -> bool:
    found = _value(run, key)
    short = found.partition("/")[2] if key in ("model", "suite") else found
    return value in (found, short)
