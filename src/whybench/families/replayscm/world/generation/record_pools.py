"""Records of problems: shipped for the public seed, generated on demand for other seeds.

Some records take long to generate, so those of the public seed ship as Parquet files with a
manifest of hashes. `python -m whybench.families.replayscm` builds the files again and compares.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path

from whybench.causal.canonical import Json, Record, digest
from whybench.causal.whole_files import whole, write_whole
from whybench.episode.family import PUBLIC_SEED
from whybench.episode.instance import Instance
from whybench.families.replayscm.lab import Lab
from whybench.families.replayscm.parameters import FAMILY, in_lab, place
from whybench.families.replayscm.world.generation.make import DERIVED, made
from whybench.families.replayscm.world.generation.source import Source, from_json, to_json

SIZES: Mapping[str, int] = {"match": 100, "ord": 150, "hid": 150}
"""The number of shipped records of each source."""
FOLDER = files(__package__) / "records"
MANIFEST = "manifest.json"


@cache
def _records(kind: str) -> tuple[Mapping[str, Json], ...]:
    import pyarrow.parquet as parquet

    path = FOLDER / f"{kind}.parquet"
    if not path.is_file():
        return ()
    with path.open("rb") as file:
        return tuple(parquet.ParquetFile(file).read().to_pylist())


def shipped(kind: str, index: int) -> Source | None:
    """Return a public record from its file; None if the file does not have it."""
    if kind not in SIZES:
        return None
    records = _records(kind)
    return from_json(records[index]) if index < len(records) else None


def source(kind: str, seed: str, index: int, wanted: str) -> Source:
    """Return a record with the wanted training worlds: shipped if possible, else generated."""
    found = shipped(kind, index) if seed == PUBLIC_SEED else None
    return found or _made(kind, seed, index, wanted if wanted in DERIVED else "base")


def lab_of(instance: Instance, budget: int) -> Lab | None:
    """Return the laboratory of an instance; None where the agent has no experiments."""
    if not in_lab(instance):
        return None
    kind, seed, index = place(instance)
    return Lab(source(kind, seed, index, "lab").latent, (FAMILY, "lab", seed, index), budget)


def discarded(kind: str, seed: str, index: int) -> Record:
    """Return the draws that were discarded before a record was accepted: reason → count."""
    return _made(kind, seed, index, "base").discarded


@lru_cache(maxsize=512)
def _made(kind: str, seed: str, index: int, wanted: str | None) -> Source:
    return made(kind, seed, index, wanted)


def _schema() -> Json:
    """Return the columns of a file: small integers, and tables as lists of them."""
    import pyarrow as pa

    table = pa.struct(
        [
            ("targets", pa.int16()),
            ("mode", pa.string()),
            ("size", pa.int8()),
            ("columns", pa.list_(pa.int16())),
        ]
    )
    small = pa.list_(pa.int8())
    return pa.schema(
        [
            ("n", pa.int8()),
            ("k", pa.int8()),
            ("order", small),
            ("formulas", pa.list_(pa.string())),
            ("display", small),
            ("blocks", pa.list_(small)),
            ("heldout", pa.list_(table)),
            ("worlds", pa.list_(pa.struct([("name", pa.string()), ("tables", pa.list_(table))]))),
            (
                "references",
                pa.list_(pa.struct([("name", pa.string()), ("formulas", pa.list_(pa.string()))])),
            ),
        ]
    )


def fingerprint(record: Mapping[str, Json]) -> str:
    """Return the hash of a record's content."""
    return digest(dict(record)).hex()[:16]


def build(kinds: Sequence[str], folder: Path) -> None:
    """Generate records from seeds alone and write them with their hashes."""
    import pyarrow as pa
    import pyarrow.parquet as parquet

    folder.mkdir(parents=True, exist_ok=True)
    manifest_path = folder / MANIFEST
    manifest = json.loads(manifest_path.read_text("utf-8")) if manifest_path.is_file() else {}
    for kind in kinds:
        records = []
        for index in range(SIZES[kind]):
            records.append(to_json(made(kind, PUBLIC_SEED, index)))
            print(f"{kind} {index + 1}/{SIZES[kind]}", file=sys.stderr)  # noqa: T201
        path = folder / f"{kind}.parquet"
        table = pa.Table.from_pylist(records, schema=_schema())
        with whole(path) as draft:
            parquet.write_table(table, draft, compression="zstd", compression_level=19)
        manifest = json.loads(manifest_path.read_text("utf-8")) if manifest_path.is_file() else {}
        manifest[f"{kind}.parquet"] = {
            "sha256": sha256(path.read_bytes()).hexdigest(),
            "records": [fingerprint(record) for record in records],
        }
        write_whole(manifest_path, json.dumps(manifest, indent=1, sort_keys=True) + "\n")


def check(kinds: Sequence[str], limit: int | None) -> list[str]:
    """Compare files, records and, up to a limit, regenerated records with the manifest."""
    manifest = json.loads((FOLDER / MANIFEST).read_text("utf-8"))
    faults = []
    for kind in kinds:
        name = f"{kind}.parquet"
        expected = manifest[name]
        if sha256((FOLDER / name).read_bytes()).hexdigest() != expected["sha256"]:
            faults.append(f"{name}: the file does not match its hash in the manifest")
        for index, want in enumerate(expected["records"]):
            if fingerprint(_records(kind)[index]) != want:
                faults.append(f"{name}: record {index} does not match its hash in the manifest")
            again = limit is None or index < limit
            if again and fingerprint(to_json(made(kind, PUBLIC_SEED, index))) != want:
                faults.append(f"{name}: record {index} is different when generated again")
    return faults
