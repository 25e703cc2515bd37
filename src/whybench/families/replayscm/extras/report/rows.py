"""ReplaySCM's runs as the paper's rows: systems by pool, beside the published figures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from whybench.episode.family import PUBLIC_SEED
from whybench.families.replayscm.extras.analyses.attempt import Attempt
from whybench.families.replayscm.extras.analyses.cohorts import base_pool
from whybench.families.replayscm.parameters import POOLS
from whybench.report import entries as naming
from whybench.report.published.figures import Cell
from whybench.report.published.setup_differences import beside, differences_in_words
from whybench.report.runs import REFERENCE, Run
from whybench.report.view import View
from whybench.stats.interval import Interval

FAMILY = "replayscm"

COHORT = "disambiguation"
"""The parameter that is false for the base cohort."""


@dataclass(frozen=True, slots=True, eq=False)
class Entry(naming.Entry):
    """One run, with its rows in the form that the analyses need."""

    attempts: tuple[Attempt, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Tried:
    """All that was tried: models first, each with its pools in their order."""

    view: View
    listed: tuple[Entry, ...]
    base: tuple[Entry, ...] = ()
    """Runs of the cohort without disambiguation."""

    @classmethod
    def of(cls, view: View) -> Tried:
        """Return what was tried of the family's pools."""
        pools = list(POOLS)
        asking = [pool for pool in POOLS if POOLS[pool].task != "rows"]
        kept = [r for r in view.runs if r.suite.partition("/")[2] in asking and not r.frame.empty]
        named = naming.entries(kept, ("evidence", "yoke", COHORT))
        every = [Entry(e.run, e.system, _attempts(view, e)) for e in named]
        base = [e for e in every if e.run.parameters.get(COHORT) is False]
        found = [e for e in every if e not in base]
        places = {e.system: place for place, e in reversed(list(enumerate(found)))}
        found.sort(key=lambda e: (e.run.reference, places[e.system], pools.index(e.suite)))
        return cls(view, tuple(found), tuple(base))

    def chosen(self, pools: Iterable[str]) -> list[Entry]:
        """Return the entries of some pools, in the order of the pools."""
        wanted = list(pools)
        kept = [entry for entry in self.listed if entry.suite in wanted]
        return sorted(kept, key=lambda entry: wanted.index(entry.suite))

    def own(self, pools: Iterable[str]) -> list[Entry]:
        """Return the entries in which a system used its own experiments, or needed none."""
        return [entry for entry in self.chosen(pools) if entry.run.evidence == "own"]

    def induced(self) -> list[Entry]:
        """Return the entries that ask for mechanisms, pools in their order."""
        return self.chosen(
            p for p in POOLS if POOLS[p].task == "induce" and POOLS[p].worlds != "lab"
        )

    def drawn(self, listed: Iterable[Entry]) -> list[Entry]:
        """Return the entries for a figure: no floors and no oracle, unless nothing else is left."""
        floors = (*self.view.family.floor_ceiling, "oracle")
        aside = {f"{REFERENCE}{agent}" for agent in floors}
        kept = list(listed)
        return [entry for entry in kept if entry.run.model not in aside] or kept

    def estimate(self, entry: Entry, metric: str) -> Interval:
        """Return a metric's mean with its interval."""
        return self.view.estimate(entry.run, metric)

    def published(self, pool: str, metric: str, like: Iterable[Entry]) -> list[Cell]:
        """Return the published cells of a pool under our name of a metric, one for each system.

        It returns only cells that are comparable with one of the entries.
        """
        found: dict[str, Cell] = {}
        for cell in beside(self.view, f"{FAMILY}/{pool}", [e.run for e in like], metric):
            if cell.system_kind:
                found.setdefault(cell.system, cell)
        return list(found.values())

    def origin(self, system: str) -> str:
        """Return where the rows of a system come from."""
        return next(entry.origin for entry in self.listed if entry.system == system)


def attempts(listed: Iterable[Entry]) -> list[Attempt]:
    """Return the attempts of all entries."""
    return [attempt for entry in listed for attempt in entry.attempts]


def paper_differences(listed: Iterable[Entry]) -> str:
    """Return a text that names the systems whose setup differs from the paper, and how."""
    return differences_in_words((entry.system, entry.run) for entry in listed)


def with_covariates(view: View, run: Run) -> pd.DataFrame:
    """Return a run's rows, with the covariates of their problems if the seed is public.

    Records of the public seed ship; generating a record of another seed takes about a second.
    """
    return view.joined(run) if run.seed == PUBLIC_SEED else run.frame


def _attempts(view: View, entry: naming.Entry) -> tuple[Attempt, ...]:
    frame = with_covariates(view, entry.run)
    metrics = [*(metric.name for metric in entry.run.family.metrics), "bits"]
    known = [name for name in metrics if name in frame.columns]
    rows = []
    base = entry.run.parameters.get(COHORT) is False
    pool = base_pool(entry.suite) if base else entry.suite
    for row in frame.to_dict("records"):
        values: dict[str, float | None] = {name: _number(row[name]) for name in known}
        if POOLS[entry.suite].disclosure == "roots":
            # Logs leave these two out: replay scores mechanisms whatever the roots.
            values["mechanism_train_exact"] = values.get("train_exact")
            values["mechanism_heldout_exact"] = values.get("heldout_exact")
        labels: Mapping[str, Any] = naming.labels_of(row)
        rows.append(Attempt(entry.system, pool, str(row["cluster"]), values, labels))
    return tuple(rows)


def _number(value: Any) -> float | None:
    return None if value is None or pd.isna(value) else float(value)
