"""CausalGame: which claims are found, and how beliefs move towards the truth."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import pandas as pd

from whybench.families.causalgame.drawn_claims import known_claims
from whybench.families.causalgame.extras.annotated import held_in
from whybench.families.causalgame.extras.report.rows import NAME, Games, Group, percent
from whybench.report.entries import cells, labels_of
from whybench.report.forms import Row, Shown
from whybench.stats.interval import mean_interval

NAMES = {"golden_found": "golden claims found", "distractors_held": "distractors held"}
PRINTED = {"golden_claim_rate": "golden claims found", "distractor_claim_rate": "distractors held"}
FAR = "hypothesis_distance"


def _believers(games: Games) -> list[Group]:
    """Return the groups that recorded beliefs; a name that occurs twice includes the profile."""
    found = [group for group in games.own if FAR in group.frame and group.frame[FAR].notna().any()]
    names = [group.name for group in found]
    return [
        replace(group, name=f"{group.name}, {group.first.profile}")
        if names.count(group.name) > 1
        else group
        for group in found
    ]


def claim_rates(games: Games) -> list[Row]:
    """Return golden claims found and distractors held, with Table 4 beside runs by its rules."""
    found = _believers(games)
    rows: list[Row] = [
        {"what": what, **group.measured(metric, "share"), "published": False}
        for group in found
        for metric, what in NAMES.items()
    ]
    if any(group.first.profile == "published" for group in found):
        rows += [
            {"what": PRINTED[cell.metric], "system": f"{cell.system}, antenna_trap",
             "share": cell.share, "published": True}
            for cell in games.view.published.cells(NAME, table="4")
        ]  # fmt: skip
    return rows


def each_claim(games: Games) -> Shown:
    """Count for each claim how often it was believed at the end, over replayable episodes."""
    counts: dict[tuple[str, bool, str, str], list[bool]] = {}
    for group in _believers(games):
        for _, instance, trace in (e for run in group.runs for e in games.view.episodes(run)):
            world = games.view.family.world(instance)
            last = [held for step in trace.steps if (held := held_in(step)) is not None]
            physics = world.rules.physics
            for claim in known_claims(world) if last else ():
                key = (physics, not claim.golden, claim.id.replace("_", " "), group.name)
                counts.setdefault(key, []).append(any(map(claim.made_by, last[-1])))
    systems = {key[3]: place for place, key in reversed(list(enumerate(counts)))}
    ranked = sorted(counts, key=lambda key: (*key[:3], systems[key[3]]))
    rows = [
        {"claim": f"{physics} · {'distractor' if false else 'golden'} · {claim}", "system": system,
         "share": sum(made) / len(made), "episodes": len(made)}
        for physics, false, claim, system in ranked
        for made in [counts[physics, false, claim, system]]
    ]  # fmt: skip
    return Shown(pd.DataFrame(rows), {"replayed": games.view.replayed})


def distances(games: Games) -> Shown:
    """Return the mean distance after each deployment; beliefs count until new ones are recorded."""
    rows: list[Row] = []
    for group in _believers(games):
        known = [(row["cluster"], _path(row)) for row in group.frame.to_dict("records")]
        paths = [(cluster, path) for cluster, path in known if path]
        last = max((path[-1][0] for _, path in paths), default=-1)
        for made in range(last + 1):
            held = [_at(path, made) for _, path in paths]
            worlds = [cluster for cluster, _ in paths]
            score = mean_interval(held, worlds, bounds=(0, math.inf))
            if score.n:
                at = {"deployments": made, "system": group.name}
                rows.append(at | cells(score, "distance"))
    ends: dict[str, list[Row]] = {}
    for row in rows:
        ends.setdefault(row["system"], []).append(row)
    told = [
        f"{name}: from {path[0]['distance']:.1f} to {path[-1]['distance']:.1f} (n {path[-1]['n']})"
        for name, path in ends.items()
    ]
    return Shown(pd.DataFrame(rows), {"told": "; ".join(told)})


def _path(row: Row) -> list[tuple[int, float]]:
    return [(int(made), float(far)) for made, far in labels_of(row).get("distances") or ()]


def _at(path: Sequence[tuple[int, float]], made: int) -> float | None:
    known = [far for when, far in path if when <= made]
    return known[-1] if known else None


def blind_wins(games: Games) -> Iterator[Row]:
    """Find systems that won fleets while they believed less than half of the golden claims."""
    for group in _believers(games):
        found = group.frame["golden_found"]
        told = found[found.notna() & (group.frame["win"] == 1)]
        blind = int((told < 0.5).sum())
        if blind:
            share = percent(blind / len(told))
            yield {"system": group.name, "won": len(told), "blind": blind, "share": share}
