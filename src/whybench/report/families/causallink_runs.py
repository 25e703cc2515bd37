"""Which runs of CausalLink a figure shows, and under what names."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import pandas as pd

from whybench.core.canonical import canonical_json
from whybench.episode.family import PUBLIC_SALT
from whybench.report.frames import salt_tag
from whybench.report.mapping import runs_of
from whybench.report.runs import Run
from whybench.report.section import Remark
from whybench.report.unlike import sentence
from whybench.report.unlike import unlike as differing
from whybench.report.view import View
from whybench.stats.interval import Interval

SUITES = ("core", "core_distinct", "collider", "advanced", "large")
"""Suites in the order in which they are shown."""

ASKED = ("basic", "step_limited")
"""The paper's prompts, each with a table of its own."""

OWN = " · evidence=own"
"""What a system's name need not say where it holds of all."""

COMMAND = "inspect eval whybench/causallink -T suite={suite}{more} --model MODEL"


def suite_of(run: Run) -> str:
    """Return the name of a run's suite without the family."""
    return run.suite.partition("/")[2]


def own(view: View, suite: str) -> list[tuple[str, Run]]:
    """Return the named runs on a suite in which a system experimented itself."""
    runs = [run for run in view.runs if suite_of(run) == suite and run.evidence == "own"]
    return named([replace(run, system=run.system.replace(OWN, "")) for run in runs])


def named(runs: Sequence[Run]) -> list[tuple[str, Run]]:
    """Give runs names that differ: the system, and the setting of those that share it.

    Reference agents come last, so that a model has the same colour with and without them.
    """
    runs = sorted(runs, key=lambda run: run.reference)
    plain = [f"{run.system} (reference agent)" if run.reference else run.system for run in runs]
    shared = Counter(plain)
    fuller = [
        f"{name} · {setting(run)}" if shared[name] > 1 else name
        for name, run in zip(plain, runs, strict=True)
    ]
    seen: Counter[str] = Counter()
    found = []
    for name, run in zip(fuller, runs, strict=True):
        seen[name] += 1
        found.append((f"{name} · log {seen[name]}" if seen[name] > 1 else name, run))
    return found


def setting(run: Run) -> str:
    """Say on what a run was played, as far as it is not the usual."""
    facts = [suite_of(run), run.profile]
    facts += [salt_tag(run.salt)] if run.salt != PUBLIC_SALT else []
    facts += [canonical_json(run.knobs)] if run.knobs else []
    return ", ".join(facts)


def unlike(run: Run) -> str:
    """Name the arguments in which a run on core differs from the paper's runs on it."""
    asked = (runs_of("causallink", f"core_{prompt}", "").runs[0] for prompt in ASKED)
    return ", ".join(differing(run, asked))


def unlike_in_words(frame: pd.DataFrame) -> str:
    """Say which systems of a frame were not asked as in the paper, and what was otherwise."""
    ours = frame[(frame["unlike"] != "") & ~frame["published"]]
    return sentence(
        {names: list(rows["system"]) for names, rows in ours.groupby("unlike", sort=False)}
    )


def traited(view: View, run: Run, *needed: str) -> pd.DataFrame:
    """Return a run's scored rows with traits; empty if its instances cannot be rebuilt."""
    rows = view.joined(run)
    if any(name not in rows for name in (*needed, "accuracy")):
        return rows.iloc[:0].reindex(columns=[*rows.columns, *needed])
    return rows.dropna(subset=["accuracy", *needed])


def bounds(found: Interval) -> dict[str, float]:
    """Return an interval as columns; one latent world alone has no spread to show."""
    alone = found.clusters < 2
    return {"low": math.nan if alone else found.low, "high": math.nan if alone else found.high}


def positive(found: dict[str, float]) -> dict[str, float]:
    """Cut bounds off at zero: no mean of counts lies below."""
    return {name: value if math.isnan(value) else max(0.0, value) for name, value in found.items()}


def unbarred(frame: pd.DataFrame) -> pd.DataFrame:
    """Take the bounds of reference agents out of a crowded chart; its table keeps them."""
    bare = frame["system"].str.contains("(reference agent)", regex=False)
    return frame.assign(low=frame["low"].mask(bare), high=frame["high"].mask(bare))


def spoken(value: float, digits: int = 2) -> str:
    """Return a figure for a sentence."""
    return "unknown" if math.isnan(value) else f"{value:.{digits}f}"


def wanted(what: str, suite: str, more: str = "") -> Remark:
    """Say which command gives what is missing."""
    return Remark(f"{what}: no run here. `{COMMAND.format(suite=suite, more=more)}` gives it.")
