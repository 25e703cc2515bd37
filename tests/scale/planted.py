"""Sets whose rows are made up, to be counted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

import pyarrow as pa
import pyarrow.parquet as parquet

from whybench.causal.canonical import Record, canonical_json, digest
from whybench.episode.registry import load_suite
from whybench.interfaces.stored.manifest import Manifest, Shard, write_manifest
from whybench.interfaces.stored.place import Place
from whybench.interfaces.stored.plan import Plan, write_plan
from whybench.scale.shard import SCHEMAS

Row = Mapping[str, Any]
"""Columns that matter; `system` and `problem` may be any JSON value."""

NOTHING: Row = {"solvable": True, "identified": True, "best_score": 1.0, "bits": 0.0}


def planted(
    address: str, rows: Sequence[Row | None], *, size: int = 10, seed: str = "public"
) -> list[dict[str, Any]]:
    """Write a set with these rows (None: refused), and return what was written."""
    plan = Plan.of(load_suite("causallink/core", seed=seed), len(rows), rows=size)
    place = Place(address)
    write_plan(place, plan)
    shards, everything = [], []
    for number in range(plan.shards):
        full = [_full(r, rows[r]) for r in plan.numbers(number) if rows[r] is not None]
        hashes = {}
        for part, name in plan.names(number).items():
            sink = pa.BufferOutputStream()
            parquet.write_table(pa.Table.from_pylist(full, schema=SCHEMAS[part]), sink)
            place.commit(name, sink.getvalue().to_pybytes())
            hashes[part] = sha256(sink.getvalue()).hexdigest()
        refused = len(plan.numbers(number)) - len(full)
        gone = Record.of(vague=refused) if refused else Record()
        shards.append(Shard(number, len(full), Record(hashes.items()), gone))
        everything += full
    write_manifest(place, Manifest.of(plan, shards))
    return everything


def _full(number: int, row: Row | None) -> dict[str, Any]:
    given = dict(row or {})
    for key in ("system", "problem"):
        given[key] = digest([key, given.get(key, number)])[:16]
    given["covariates"] = canonical_json(given.get("covariates", {}))
    block, index = divmod(number, 84)
    made = {"row": number, "id": f"row-{number}", "block": block, "index": index}
    return {**NOTHING, **made, "cluster": f"{block}-{given['system'].hex()[:4]}", **given}
