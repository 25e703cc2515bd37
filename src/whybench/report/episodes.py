"""Replay episodes from logs: the stored actions on rebuilt instances."""

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
"""A row of a run's frame, its instance, and its trace."""

HEAVY = {"messages", "events", "attachments", "output", "timelines", "invocations"}
"""Fields of a stored sample that a replay does not need."""


def spread_out(names: Sequence[str], most: int) -> list[str]:
    """Return at most `most` names, selected by their hashes, so the same ones every time."""
    ranked = sorted(names, key=lambda name: sha256(name.encode()).digest())
    chosen = set(ranked[:most])
    return [name for name in names if name in chosen]


def places(run: Run, most: int) -> list[dict[str, Any]]:
    """Return one row of a run's frame for each of at most `most` instances."""
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
    """Return why a suite cannot be built here, such as texts that cannot be fetched."""
    try:
        family.suite(
            suite.partition("/")[2], profile=profile, seed=seed, parameters=json.loads(parameters)
        )
    except (ValueError, OSError, RuntimeError, ImportError) as error:
        return str(error)[:200] or type(error).__name__
    return ""


def episodes(run: Run, most: int) -> Iterator[Played]:
    """Yield at most `most` episodes of a run, on instances selected by their hashes."""
    chosen = set(spread_out(sorted(run.frame["instance"].unique()), most))
    rows = run.frame[run.frame["instance"].isin(chosen)].to_dict("records")
    yield from played(run, rows[:most])


def played(run: Run, rows: Iterable[Mapping[str, Any]]) -> Iterator[Played]:
    """Replay the stored actions of rows; stop if an instance cannot be rebuilt."""
    from inspect_ai.log import read_eval_log_sample

    for row in rows:
        try:
            instance = rebuilt(run, row)
        except ValueError:
            return
        sample = read_eval_log_sample(
            run.path, row.get("sample", row["instance"]), row["epoch"], exclude_fields=HEAVY
        )
        stored = sample.store.get(EPISODE)
        if stored is not None and not crashed(stored):
            yield row, instance, from_store(run.family, instance, stored)
