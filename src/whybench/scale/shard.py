"""Make one shard, a pure function of a plan and a number, and store it in a set."""

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
from whybench.curriculum.columns import COLUMNS, figure
from whybench.curriculum.where import Where
from whybench.episode.certificate import Certificate
from whybench.episode.family import Family
from whybench.episode.instance import Instance
from whybench.interfaces.stored.manifest import Shard
from whybench.interfaces.stored.place import Place
from whybench.interfaces.stored.plan import NOTE, PARTS, Plan, tools

GROUP = 250
"""Rows that are compressed together. Reading one row unpacks this many."""

CLAIMS = ("solvable", "identified", "best_score", "minimax")
"""Certificate fields with their own column, so that they are counted without reading the rest."""

FIGURES = (*CLAIMS, *COLUMNS)
"""All columns with figures: claims of the certificate, and the difficulty of the instance."""

LEFT_OUT = "the filter leaves it out"
"""Why a row is missing that has no defect."""

Promised = Mapping[int, Record]
"""Shard number → hashes of its files in an earlier manifest."""

WITHHELD: dict[str, Json] = {"witness": None, "facts": {}}
"""Certificate fields that could reveal the truth. Sets without truth omit them."""

REVEALING = ("characters", "tokens")
"""Columns that count the right answer too. Sets without truth omit them."""

INSTANCES = pa.schema(
    [
        ("row", pa.int64()),
        ("id", pa.string()),
        ("block", pa.int32()),
        ("index", pa.int32()),
        ("cluster", pa.string()),
        ("instructions", pa.string()),
        ("status", pa.string()),
        ("solvable", pa.bool_()),
        ("identified", pa.bool_()),
        ("best_score", pa.float64()),
        ("minimax", pa.int32()),
        *((name, pa.float64()) for name in COLUMNS),
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
    """Make a shard: the bytes of its files by part, and its entry in the manifest."""
    suite = plan.opened()
    family = suite.family
    rows: dict[str, list[dict[str, Any]]] = {part: [] for part in plan.names(number)}
    refused: Counter[str] = Counter()
    discarded: Counter[str] = Counter()
    for row in plan.numbers(number):
        instance = suite.row(row)
        discarded.update(family.discarded(instance).asdict())
        certificate = family.certify(instance)
        if (reason := why_missing(instance, certificate, plan)) is not None:
            refused[reason] += 1
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


def why_missing(instance: Instance, certificate: Certificate, plan: Plan) -> str | None:
    """Return why a set has no row for an instance; None if it has one."""
    if defects := certificate.defects():
        return defects[0]
    admitted = plan.where is None or Where(plan.where).admits(instance)
    return None if admitted else LEFT_OUT


def settled(plan: Plan, place: Place, promised: Promised, number: int) -> Shard:
    """Make and store a shard if it does not exist yet. Repeating this gives the same result.

    If a file differs from the hash in an earlier manifest, the shard is made again.
    """
    here = tools()
    if here != plan.made_with:
        told = [
            f"{name} {v} (here {here.get(name)})"
            for name, v in plan.made_with
            if here.get(name) != v
        ]
        raise ValueError(
            f"The set was made with {', '.join(told)}. Install these versions, or choose another "
            "--out."
        )
    found = _there(plan, place, number)
    if found is not None and promised.get(number, found.hashes) == found.hashes:
        return found
    files, shard = made(plan, number)
    for part in reversed(PARTS):  # instances come last, so they show that the shard is complete
        if part in files:
            place.commit(plan.names(number)[part], files[part])
    return shard


def _there(plan: Plan, place: Place, number: int) -> Shard | None:
    """Return the entry of a stored shard if all its files are complete and belong to the plan."""
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
    """Return the number of rows of a shard file, and the note in its footer."""
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
    """Return the row of an instance in the part `instances`, which can be published."""
    proof = certificate.to_json()
    if not plan.truth:
        proof |= WITHHELD
    return {
        "row": row,
        "id": instance.id,
        "block": instance.block,
        "index": instance.index,
        "cluster": instance.cluster,
        "instructions": family.open(instance).instructions(family.template_for(instance.profile)),
        **{name: proof[name] for name in ("status", *CLAIMS)},
        **{
            name: None if name in REVEALING and not plan.truth else figure(instance, name)
            for name in COLUMNS
        },
        "certificate": canonical_json(proof),
    }


def hidden_row(family: Family[Any], instance: Instance, row: int) -> dict[str, Any]:
    """Return the row of an instance in the part `truth`, which stays private."""
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
