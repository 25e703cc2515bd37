"""Which runs of A belong to which runs of B, and which must not be mixed.

Two sides meet on a suite with equal family version, profile and parameters; anything else is
refused, as the instances differ or the scores mean something else. Within it, runs that were
played in the same manner (protocol, template, evidence and all other task arguments) are paired; if
just one is left on each side the two are paired too, and what they differ in is named, since then
it is settings that are compared.

Several logs of one side are pooled if one model played them and no instance is in two of them:
other seeds, other parts of a suite. Otherwise somebody must choose (`chosen`).
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
"""What runs can be chosen by, beside any other task argument."""


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """All that one system did on a suite in one manner."""

    runs: tuple[Run, ...]

    @property
    def model(self) -> str:
        """Who played."""
        return self.runs[0].model

    @property
    def frame(self) -> pd.DataFrame:
        """The rows of all its logs."""
        return pd.concat([run.frame for run in self.runs], ignore_index=True)

    @property
    def versions(self) -> tuple[str, ...]:
        """The versions of WhyBench that made the logs."""
        return tuple(sorted({run.version.partition("-")[2] for run in self.runs}))


@dataclass(frozen=True, slots=True, eq=False)
class Pair:
    """Two sides that may be compared."""

    suite: str
    first: Side
    second: Side
    apart: Mapping[str, tuple[Any, Any]]
    """Task arguments in which they differ; empty if only the model does."""


@dataclass(frozen=True, slots=True)
class Pairs:
    """What can be compared, and what stands alone."""

    pairs: tuple[Pair, ...]
    alone: tuple[str, ...]
    """A sentence for everything that only one side has."""


def chosen(runs: Iterable[Run], wanted: Mapping[str, str]) -> list[Run]:
    """Keep the runs whose model, suite or task arguments are the ones wanted.

    A model may be named without its provider, a suite without its family.
    """
    runs = list(runs)
    found = [run for run in runs if all(_is(run, key, value) for key, value in wanted.items())]
    if not found:
        asked = ", ".join(f"{key}={value}" for key, value in wanted.items()) or "anything"
        raise ValueError(f"no run is {asked}; there are:\n{listed(runs)}")
    return found


def paired(first: Sequence[Run], second: Sequence[Run]) -> Pairs:
    """Pair the runs of two sides, or say why that cannot be done."""
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
            alone.append(f"{suite} is only in {'A' if ours else 'B'}.")
    if not pairs:
        raise ValueError(f"A and B share no suite.\nA:\n{listed(first)}\nB:\n{listed(second)}")
    return Pairs(tuple(pairs), tuple(alone))


def listed(runs: Iterable[Run]) -> str:
    """Return runs a line each, with all that they can be chosen by."""
    return "\n".join(
        "  " + " ".join(f"{key}={_value(run, key)}" for key in KEYS if _value(run, key))
        for run in runs
    )


PLACE = ("suite", "seed", "profile")
"""Task arguments that say which instances were played, not how."""


def manner(run: Run) -> dict[str, Any]:
    """Return how a run was played: its task arguments without those that say on what."""
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
                f"{suite}: several runs differ in how they were played; choose one for each "
                f"side with --a KEY=VALUE and --b KEY=VALUE:\n{listed(several)}"
            )
        else:
            alone += [
                f"{suite}: {run.log} ({run.model}) has no partner played on the same in the "
                f"same manner; it is only in {name}."
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
            f"{suite}: A and B are the same log, {ours[0].log}; choose with --a KEY=VALUE and "
            "--b KEY=VALUE, such as --a model=NAME"
        )
    one, two = manner(ours[0]), manner(theirs[0])
    apart = {
        key: (one.get(key), two.get(key))
        for key in sorted(one.keys() | two.keys())
        if one.get(key) != two.get(key)
    }
    return Pair(suite, first, second, apart)


def _side(name: str, option: str, runs: Sequence[Run]) -> Side:
    """Pool the runs of one side if nothing speaks against it."""
    how = f"choose one with --{option} KEY=VALUE"
    if len({run.model for run in runs}) > 1:
        raise ValueError(f"{name} holds several models on {runs[0].suite}; {how}:\n{listed(runs)}")
    side = Side(tuple(runs))
    if len(runs) > 1 and sum(run.frame["instance"].nunique() for run in runs) > (
        side.frame["instance"].nunique()
    ):
        raise ValueError(
            f"{name} holds several runs of the same instances of {runs[0].suite}; "
            f"{how}, such as log=NAME:\n{listed(runs)}"
        )
    return side


def _by_manner(runs: Iterable[Run]) -> dict[str, list[Run]]:
    groups: dict[str, list[Run]] = {}
    for run in runs:
        groups.setdefault(canonical_json(manner(run)), []).append(run)
    return groups


def _place(run: Run) -> tuple[str, str, str]:
    """Return what must be equal: family version, profile and parameters; seeds are pooled."""
    return run.version.partition("-")[0], run.profile, canonical_json(run.parameters)


def _mismatch(suite: str, ours: Run, theirs: Run) -> str:
    names = ("family version", "profile", "parameters")
    differing = [
        f"{name} {one} in A and {two} in B"
        for name, one, two in zip(names, _place(ours), _place(theirs), strict=True)
        if one != two
    ]
    return (
        f"{suite}: {', '.join(differing)}; such scores are not comparable. "
        "Run both sides with the same, or choose with --a KEY=VALUE and --b KEY=VALUE."
    )


def _value(run: Run, key: str) -> str:
    value = getattr(run, key) if key in KEYS else run.args.get(key, run.parameters.get(key))
    return "" if value is None else str(value)


def _is(run: Run, key: str, value: str) -> bool:
    found = _value(run, key)
    short = found.partition("/")[2] if key in ("model", "suite") else found
    return value in (found, short)
