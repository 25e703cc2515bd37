"""Whole episodes out of logs: stored actions, carried out again on the rebuilt world."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from hashlib import sha256
from typing import Any

from whybench.causal.canonical import canonical_json
from whybench.episode.family import Family
from whybench.episode.instance import Instance
from whybench.episode.trace import Trace
from whybench.interfaces.inspectai.record import EPISODE, crashed, from_store
from whybench.report.runs import Run

Played = tuple[Mapping[str, Any], Instance, Trace]
"""A row of a run's frame, its instance, and what happened."""

HEAVY = {"messages", "events", "attachments", "output", "timelines", "invocations"}
"""What of a stored sample an episode does not need."""


def spread_out(names: Sequence[str], most: int) -> list[str]:
    """Return at most so many names, chosen by their hashes: the same ones every time."""
    ranked = sorted(names, key=lambda name: sha256(name.encode()).digest())
    chosen = set(ranked[:most])
    return [name for name in names if name in chosen]


def places(run: Run, most: int) -> list[dict[str, Any]]:
    """Return rows of a run's frame, one for each of at most so many instances."""
    rows = {row["instance"]: row for row in run.frame.to_dict("records")}
    return [rows[name] for name in spread_out(sorted(rows), most)]


def rebuilt(run: Run, row: Mapping[str, Any]) -> Instance:
    """Rebuild the instance of a row, or raise ValueError if this installation cannot."""
    why = _hindrance(run.family, run.suite, run.profile, run.seed, canonical_json(run.parameters))
    if why:
        raise ValueError(why)
    return run.family.rebuilt(
        {
            "family": run.family.name,
            "version": run.version.partition("-")[0],
            "suite": run.suite.partition("/")[2],
            "profile": run.profile,
            "seed": run.seed,
            "block": int(row.get("block", 0)),
            "index": int(row["index"]),
            "parameters": dict(run.parameters),
            "id": row["instance"],
            "cluster": row["cluster"],
        }
    )


@lru_cache(maxsize=256)
def _hindrance(family: Family[Any], suite: str, profile: str, seed: str, parameters: str) -> str:
    """Return why a suite cannot be had here, such as texts that cannot be fetched; asked once."""
    try:
        family.suite(
            suite.partition("/")[2], profile=profile, seed=seed, parameters=json.loads(parameters)
        )
    except (ValueError, OSError, RuntimeError, ImportError) as error:
        return str(error)[:200] or type(error).__name__
    return ""


def episodes(run: Run, most: int) -> Iterator[Played]:
    """Yield the episodes of at most so many rows of a run, of instances chosen by their hashes."""
    chosen = set(spread_out(sorted(run.frame["instance"].unique()), most))
    rows = run.frame[run.frame["instance"].isin(chosen)].to_dict("records")
    yield from played(run, rows[:most])


def played(run: Run, rows: Iterable[Mapping[str, Any]]) -> Iterator[Played]:
    """Carry out the stored actions of rows again; nothing, if one cannot be rebuilt."""
    from inspect_ai.log import read_eval_log_sample

    for row in rows:
        try:
            instance = rebuilt(run, row)
        except ValueError:
            return
        sample = read_eval_log_sample(run.path, row["instance"], row["epoch"], exclude_fields=HEAVY)
        stored = sample.store.get(EPISODE)
        if stored is not None and not crashed(stored):
            yield row, instance, from_store(run.family, instance, stored)
