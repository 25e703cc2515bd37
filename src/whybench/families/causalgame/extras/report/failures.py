"""CausalGame: fleets lost by bad experiments or bad inference."""

from __future__ import annotations

from itertools import islice

import pandas as pd

from whybench.families.causalgame.extras.report.rows import (
    Games,
    Group,
    differing,
    manner,
)
from whybench.families.causalgame.proof.failure_attribution import SORTS, Sort, failure_attribution
from whybench.report.forms import Row, Shown

MOST, LEAST = 90, 6
"""Number of episodes analysed in all, and the minimum for each run."""

KINDS: dict[Sort, str] = {
    "won": "won, as its flights showed",
    "unshown": "won, beyond what its flights showed",
    "inference": "lost: bad inference",
    "experiments": "lost: bad experiments",
    "unwinnable": "lost: cannot be won",
    "no_fleet": "no fleet flew",
}
"""Labels of the kinds of episodes in the figure."""


def split(games: Games) -> Shown:
    """Return why fleets were lost, as judged with the exact agent's choice."""
    each = max(LEAST, MOST // max(1, sum(len(group.runs) for group in games.every)))
    view, rows = games.view, list[Row]()
    for group in games.every:
        sorts: list[Sort] = []
        for run in group.runs:
            for _, instance, trace in islice(view.episodes(run), each):
                best = float(view.family.covariates(instance)["best_known"])
                seen = failure_attribution(view.family.world(instance), trace, best, timed=False)
                sorts.append(seen.sort)
        rows += [
            {"system": f"{_full(group)}, n {len(sorts)}", "what": words,
             "share": sorts.count(kind) / len(sorts), "episodes": sorts.count(kind)}
            for kind, words in KINDS.items()
            if kind in sorts
        ]  # fmt: skip
    meanings = "; ".join(f"{KINDS[kind]}: {what}" for kind, what in SORTS.items())
    return Shown(pd.DataFrame(rows), {"meanings": meanings, "most": each})


def _full(group: Group) -> str:
    """Return a group's name and its profile."""
    name = group.name.removesuffix(" (reference agent)")
    who = f"agent {name}" if group.first.reference else name
    return f"{who}, {group.first.profile}"


def evidence(games: Games) -> list[Row]:
    """Compare wins with own, optimal and yoked experiments."""
    models: dict[tuple[object, ...], list[Group]] = {}
    for group in games.every:
        run, how = group.first, manner(group.first)
        key = (run.model, run.profile, run.seed)
        models.setdefault((*key, how["protocol"], how["template"], how["parameters"]), []).append(
            group
        )
    compared = [found for found in models.values() if len({g.first.evidence for g in found}) > 1]
    rows: list[Row] = []
    for found in compared:
        shared = set.intersection(*(set(group.frame["instance"]) for group in found))
        run = found[0].first
        firsts = [other[0].first for other in compared]
        alike = [o for o in firsts if (o.model, o.profile) == (run.model, run.profile)]
        apart = [told for told in differing(run, alike) if not told.startswith("evidence=")]
        name = ", ".join([run.model, run.profile, *apart])
        for group in found if shared else ():
            cells = group.measured("win", "win", group.frame["instance"].isin(shared))
            rows.append({"evidence": group.first.evidence, **cells, "system": name})
    return rows
