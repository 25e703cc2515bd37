"""An index file with all ids of a set, so that reading ids does not open every shard."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pyarrow.parquet as parquet

from whybench import CANARY
from whybench.interfaces.stored.manifest import Manifest
from whybench.interfaces.stored.place import Place
from whybench.interfaces.stored.plan import NOTE, PARTS, Plan

INDEX = "ids.parquet"
GROUP = 10_000
"""Number of ids that are compressed together. Only the last group is shorter."""


def write_index(place: Place, plan: Plan, digest: str) -> None:
    """Write the ids of a set with all its shards, in row order.

    `digest` is the digest of the manifest. It ties the file to these shards. At most one group of
    ids is in memory at a time.
    """
    note = json.dumps({"digest": digest})
    schema = pa.schema(
        [("id", pa.string())], metadata={b"canary": CANARY.encode(), NOTE: note.encode()}
    )
    with TemporaryDirectory() as folder:
        path = Path(folder) / INDEX
        with parquet.ParquetWriter(path, schema, compression="zstd", use_dictionary=False) as file:
            for ids in _groups(place, plan):
                file.write_table(pa.table([ids], schema=schema), row_group_size=GROUP)
        place.commit_file(INDEX, path)


def indexed(place: Place, manifest: Manifest) -> parquet.ParquetFile | None:
    """Open the index of a set. Return None if it is missing or belongs to other shards."""
    if not place.has(INDEX):
        return None
    try:
        file = parquet.ParquetFile(place.open(INDEX))
    except pa.ArrowInvalid:
        return None
    note = json.loads((file.metadata.metadata or {}).get(NOTE, b"{}"))
    own = note.get("digest") == manifest.digest and file.metadata.num_rows == manifest.rows
    return file if own else None


def ids_between(file: parquet.ParquetFile, start: int, stop: int) -> Iterator[str]:
    """Yield the ids of a range of rows. Only the groups that contain them are read."""
    groups = range(start // GROUP, min(-(-stop // GROUP), file.num_row_groups))
    for group in groups if start < stop else ():
        found = file.read_row_group(group, columns=["id"], use_threads=False).column("id")
        first = group * GROUP
        skipped = max(0, start - first)
        yield from found.slice(skipped, stop - first - skipped).to_pylist()


def index_flaws(place: Place, manifest: Manifest) -> list[str]:
    """Compare the index with the ids in the shards, and return its flaws.

    A set without an index is complete, because its ids can be read from the shards.
    """
    if not place.has(INDEX):
        return []
    file = indexed(place, manifest)
    if file is None:
        return [
            "the index belongs to other shards: run `whybench data generate` again, or remove it"
        ]
    flaws = []
    try:
        for number, wanted in enumerate(_groups(place, manifest.plan)):
            if not _holds(file, number, wanted):
                first = number * GROUP
                flaws.append(f"ids {first} … {first + len(wanted) - 1} differ from the shards")
    except (OSError, KeyError, pa.ArrowInvalid) as error:
        flaws.append(f"the index cannot be compared, because a shard cannot be read: {error}")
    return flaws


def _holds(file: parquet.ParquetFile, group: int, ids: pa.ChunkedArray) -> bool:
    try:
        found = file.read_row_group(group, columns=["id"], use_threads=False)
    except (OSError, IndexError, pa.ArrowInvalid):
        return False
    return bool(found.column("id").equals(ids))


def _groups(place: Place, plan: Plan) -> Iterator[pa.ChunkedArray]:
    """Yield the ids of the shards in groups of the same size as in the index."""
    held = pa.chunked_array([], pa.string())
    for shard in range(plan.shards):
        with place.open(plan.names(shard)[PARTS[0]]) as opened:
            file = parquet.ParquetFile(opened)
            for batch in file.iter_batches(GROUP, columns=["id"], use_threads=False):
                held = pa.chunked_array([*held.chunks, batch.column("id")], pa.string())
                if len(held) >= GROUP:
                    yield _whole(held.slice(0, GROUP))
                    held = held.slice(GROUP)
    if len(held):
        yield _whole(held)


def _whole(ids: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return ids as one chunk, so that the bytes written do not depend on how they were read."""
    return pa.chunked_array([ids.combine_chunks()], pa.string())
