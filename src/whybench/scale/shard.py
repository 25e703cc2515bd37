"""One shard: a pure function of a plan and a number, and its way into a set."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

import pyarrow as pa
import pyarrow.parquet as parquet

from whybench import CANARY
from whybench.causal.canonical import Json, Record, canonical_json, digest, freeze
from whybench.episode.certificate import Certificate
from whybench.episode.family import Family
from whybench.episode.instance import Instance
from whybench.interfaces.stored.manifest import Shard
from whybench.interfaces.stored.place import Place
from whybench.interfaces.stored.plan import NOTE, PARTS, Plan, tools

GROUP = 250
"""Rows that are compressed together: what one look at a row must unpack."""

FIGURES = ("solvable", "identified", "best_score", "fewest", "minimax", "exact_steps", "bits")
"""What of a certificate has a column of its own, to be counted without reading the rest."""

Promised = Mapping[int, Record]
"""Shard → the hashes of its files in a manifest that stood there before."""

WITHHELD: dict[str, Json] = {"witness": None, "facts": {}}
"""What a certificate may tell of the truth, left out of sets that are handed out."""

INSTANCES = pa.schema(
    [
        ("row", pa.int64()),
        ("id", pa.string()),
        ("block", pa.int32()),
        ("index", pa.int32()),
        ("cluster", pa.string()),
        ("instructions", pa.string()),
        ("solvable", pa.bool_()),
        ("identified", pa.bool_()),
        ("best_score", pa.float64()),
        ("fewest", pa.int32()),
        ("minimax", pa.int32()),
        ("exact_steps", pa.int32()),
        ("bits", pa.float64()),
        ("certificate", pa.string()),
    ]
)
TRUTH = pa.schema(
    [
        ("row", pa.int64()),
        ("id", pa.string()),
        ("system", pa.binary(16)),
        ("problem", pa.binary(16)),
        ("covariates", pa.string()),
        ("truth", pa.string()),
    ]
)
SCHEMAS: Mapping[str, pa.Schema] = dict(zip(PARTS, (INSTANCES, TRUTH), strict=True))


def made(plan: Plan, number: int) -> tuple[dict[str, bytes], Shard]:
    """Make a shard: its files' bytes by part, and what vouches for them."""
    suite = plan.opened()
    family = suite.family
    rows: dict[str, list[dict[str, Any]]] = {part: [] for part in plan.names(number)}
    refused: Counter[str] = Counter()
    discarded: Counter[str] = Counter()
    for row in plan.numbers(number):
        instance = suite.row(row)
        discarded.update(family.discarded(instance).asdict())
        certificate = family.certify(instance)
        if defects := certificate.defects():
            refused[defects[0]] += 1
            continue
        rows["instances"].append(shown_row(family, instance, certificate, row, plan))
        if plan.truth:
            rows["truth"].append(hidden_row(family, instance, row))
    counts = {
        "refused": dict(sorted(refused.items())),
        "discarded": dict(sorted(discarded.items())),
    }
    asked = len(plan.numbers(number))
    note = {"plan": plan.lasting(), "key": plan.key, "shard": number, "asked": asked, **counts}
    files = {part: _file(part, found, note) for part, found in rows.items()}
    return files, _entry(number, files, len(rows["instances"]), counts)


def settled(plan: Plan, place: Place, promised: Promised, number: int) -> Shard:
    """Make a shard if it is not there yet, and commit it; the same however often it is tried.

    What a manifest has promised is made again if other bytes are found in its place.
    """
    here = tools()
    if here != plan.made_with:
        told = [
            f"{name} {here.get(name)} not {v}" for name, v in plan.made_with if here.get(name) != v
        ]
        raise ValueError(f"this set is made with other versions: here is {', '.join(told)}")
    found = _there(plan, place, number)
    if found is not None and promised.get(number, found.hashes) == found.hashes:
        return found
    files, shard = made(plan, number)
    for part in reversed(PARTS):  # instances come last: where they are, all is there
        if part in files:
            place.commit(plan.names(number)[part], files[part])
    return shard


def _there(plan: Plan, place: Place, number: int) -> Shard | None:
    """Return a shard that was committed before, if all its files are whole and its own."""
    names = plan.names(number)
    if not all(place.has(name) for name in names.values()):
        return None
    files = {part: place.read(name) for part, name in names.items()}
    try:
        notes = [noted(data) for data in files.values()]
    except (pa.ArrowException, LookupError, ValueError):
        return None
    (rows, note), *others = notes
    wanted = {"key": plan.key, "shard": number, "asked": len(plan.numbers(number))}
    if any(other != (rows, note) for other in others) or not wanted.items() <= note.items():
        return None
    return _entry(number, files, rows, note)


def noted(data: bytes) -> tuple[int, dict[str, Json]]:
    """Return how many rows a file of ours has, and the note in its footer."""
    footer = parquet.read_metadata(pa.BufferReader(data))
    if footer.metadata[b"canary"] != CANARY.encode():
        raise ValueError("the file has no canary")
    return footer.num_rows, json.loads(footer.metadata[NOTE])


def _entry(number: int, files: Mapping[str, bytes], rows: int, note: Mapping[str, Json]) -> Shard:
    hashes = Record((part, sha256(data).hexdigest()) for part, data in files.items())
    return Shard(number, rows, hashes, freeze(note["refused"]), freeze(note["discarded"]))


def shown_row(
    family: Family[Any], instance: Instance, certificate: Certificate, row: int, plan: Plan
) -> dict[str, Any]:
    """Return the row of an instance in the part that may be shown."""
    proof = certificate.to_json()
    if not plan.truth:
        proof |= WITHHELD
    return {
        "row": row,
        "id": instance.id,
        "block": instance.block,
        "index": instance.index,
        "cluster": instance.cluster,
        "instructions": family.open(instance).instructions(family.templates[0]),
        **{name: proof[name] for name in FIGURES},
        "certificate": canonical_json(proof),
    }


def hidden_row(family: Family[Any], instance: Instance, row: int) -> dict[str, Any]:
    """Return the row of an instance in the part that may not."""
    world = family.world(instance)
    return {
        "row": row,
        "id": instance.id,
        "system": digest([family.name, "system", family.system(world)])[:16],
        "problem": digest([family.name, "problem", family.problem(world)])[:16],
        "covariates": canonical_json(family.covariates(instance)),
        "truth": canonical_json(family.truth(instance)),
    }


def _file(part: str, rows: list[dict[str, Any]], note: Mapping[str, Json]) -> bytes:
    words = {NOTE: canonical_json(note).encode(), b"canary": CANARY.encode()}
    table = pa.Table.from_pylist(rows, schema=SCHEMAS[part].with_metadata(words))
    sink = pa.BufferOutputStream()
    parquet.write_table(
        table, sink, compression="zstd", compression_level=6, row_group_size=GROUP,
        use_dictionary=["cluster"],
    )  # fmt: skip
    data: bytes = sink.getvalue().to_pybytes()
    return data
