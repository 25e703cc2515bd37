"""Read the keys of stored sets shard by shard, and count them in temporary files.

A key is 16 bytes of a digest, so the first byte distributes keys evenly. Keys are written to one
temporary file per first byte, and each file is then sorted and counted separately. Memory grows by
only one byte per row.

Rows come in *draws*: neighbouring rows that ask different questions about one system. By system, a
draw counts once, because its rows share their system by design. By problem, every row counts.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np
import pyarrow.parquet as parquet
from numpy.typing import NDArray

from whybench.interfaces.stored.manifest import Manifest, read_manifest
from whybench.interfaces.stored.place import Place

By = Literal["problem", "system"]

BATCH = 1 << 14
"""Number of rows that are counted in memory before they are written to temporary files."""
HEAPS = 256
RECORD = np.dtype(
    [("high", "u8"), ("low", "u8"), ("source", "i4"), ("row", "i8"), ("rows", "i8"),
     ("draws", "i8")]
)  # fmt: skip
"""A key in two halves, its set, its first row in the set, and its numbers of rows and draws."""

Records: TypeAlias = NDArray[np.void]
Ints: TypeAlias = NDArray[np.int64]
Words: TypeAlias = NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class Keys:
    """The keys of a finished set."""

    place: Place
    manifest: Manifest
    by: By
    width: int = 1
    """Rows per draw."""

    @classmethod
    def of(cls, path: str, by: By) -> Keys:
        """Open a set, and find the number of rows per draw."""
        if by not in ("problem", "system"):
            raise ValueError(f"Unknown key {by!r}. Use `problem` or `system`.")
        place = Place(path)
        manifest = read_manifest(place)
        if not manifest.plan.truth:
            raise ValueError(
                f"{path} has no keys, because it was made with --no-truth. Use a set with truth."
            )
        return cls(place, manifest, by, _width(cls(place, manifest, "system")))

    def shards(self) -> Iterator[tuple[Ints, Words]]:
        """Yield the rows of each shard, and their keys in two halves."""
        for shard in self.manifest.shards:
            if shard.rows:
                with self.place.open(self.manifest.plan.names(shard.number)["truth"]) as file:
                    table = parquet.ParquetFile(file).read(["row", self.by], use_threads=False)
                column = table[self.by].combine_chunks()
                words = np.frombuffer(column.buffers()[1], ">u8")[2 * column.offset :]
                keys = words[: 2 * len(column)].astype(np.uint64).reshape(-1, 2)
                yield table["row"].to_numpy(), keys

    def batches(self) -> Iterator[tuple[Ints, Words]]:
        """Yield the rows that count, and their keys, in order. No draw is split."""
        rows, keys = np.empty(0, np.int64), np.empty((0, 2), np.uint64)
        for more, their in self.shards():
            rows, keys = np.concatenate([rows, more]), np.concatenate([keys, their])
            cut = int(np.searchsorted(rows, rows[-1] // self.width * self.width))
            if cut >= BATCH:
                yield self._counting(rows[:cut], keys[:cut])
                rows, keys = rows[cut:], keys[cut:]
        if len(rows):
            yield self._counting(rows, keys)

    def _counting(self, rows: Ints, keys: Words) -> tuple[Ints, Words]:
        if self.by == "problem":
            return rows, keys
        first = np.diff(rows // self.width, prepend=-1) > 0
        return rows[first], keys[first]


class Tally:
    """The result of counting the keys of several sets together."""

    def __init__(self, sets: Sequence[Keys]) -> None:
        self.marks = [np.zeros(keys.manifest.plan.n, np.int8) for keys in sets]
        """For each row of each set: 0 if it does not count, 1 if it counts, 2 if its key is new."""
        self.shared = np.zeros((len(sets), len(sets)), np.int64)
        """Number of keys of one set that are in another. The diagonal holds all keys of a set."""
        self.distinct = 0
        self.draws = 0
        self.repeats: Counter[int] = Counter()
        """Number of rows that show a key → number of such keys."""
        self.spectrum: Counter[int] = Counter()
        """Number of draws that show a key → number of such keys."""

    def add(self, heap: Records) -> None:
        """Count a heap. None of its keys is in another heap."""
        each = _merged(heap)
        starts = _starts(each)
        firsts = each[starts]
        for i, marks in enumerate(self.marks):
            marks[firsts["row"][firsts["source"] == i]] = 2
        there = np.zeros((len(starts), len(self.marks)), np.int64)
        there[
            np.repeat(np.arange(len(starts)), np.diff(starts, append=len(each))), each["source"]
        ] = 1
        self.shared += there.T @ there
        self.distinct += len(starts)
        for name, counter in (("rows", self.repeats), ("draws", self.spectrum)):
            sums, keys = np.unique(np.add.reduceat(each[name], starts), return_counts=True)
            counter.update(dict(zip(sums.tolist(), keys.tolist(), strict=True)))


def tallied(sets: Sequence[Keys]) -> Tally:
    """Count the keys of sets. The first row of a key is in the first set that has it."""
    tally = Tally(sets)
    with _heaps() as heaps:
        for i, keys in enumerate(sets):
            for rows, words in keys.batches():
                tally.marks[i][rows] = 1
                drawn = rows // keys.width
                tally.draws += int(np.count_nonzero(np.diff(drawn, prepend=-1)))
                _deal(_batch(i, rows, words, drawn), heaps)
        for heap in heaps:
            if heap.exists():
                tally.add(np.fromfile(heap, RECORD))
    return tally


def _width(keys: Keys) -> int:
    """Return the rows per draw: every row at which the system changes is a multiple of it.

    The lengths of runs of equal systems are not enough, because neighbouring draws can have the
    same system.
    """
    width = 0
    last, its = np.empty(0, np.int64), np.empty((0, 2), np.uint64)
    for more, their in keys.shards():
        rows, words = np.concatenate([last, more]), np.concatenate([its, their])
        changed = (np.diff(rows) == 1) & (words[1:] != words[:-1]).any(axis=1)
        width = int(np.gcd.reduce(rows[1:][changed], initial=width))
        if width == 1:
            break
        last, its = rows[-1:], words[-1:]
    return max(1, width)


@contextmanager
def _heaps() -> Iterator[list[Path]]:
    """Yield the paths of temporary files, one for each first byte of a key."""
    with tempfile.TemporaryDirectory(prefix="whybench-") as folder:
        yield [Path(folder) / str(i) for i in range(HEAPS)]


def _deal(records: Records, heaps: Sequence[Path]) -> None:
    """Append records, sorted by key, to their temporary files."""
    ends = np.searchsorted(records["high"] >> np.uint64(56), np.arange(HEAPS + 1))
    for i in np.flatnonzero(np.diff(ends)).tolist():
        with heaps[i].open("ab") as file:
            file.write(records[ends[i] : ends[i + 1]].tobytes())


def _batch(source: int, rows: Ints, words: Words, drawn: Ints) -> Records:
    """Count a batch, and return one record per key."""
    order = np.lexsort((rows, words[:, 1], words[:, 0]))
    found = np.zeros(len(rows), RECORD)
    found["high"], found["low"] = words[order, 0], words[order, 1]
    found["source"], found["row"], found["rows"] = source, rows[order], 1
    again = np.diff(drawn[order], prepend=-1) == 0
    again[_starts(found)] = False
    found["draws"] = ~again
    return _merged(found)


def _merged(records: Records) -> Records:
    """Merge the records of the same key and set: take the first row, and add the counts."""
    records = records[np.lexsort([records[name] for name in ("row", "source", "low", "high")])]
    starts = _starts(records, "source")
    merged = records[starts]
    for name in ("rows", "draws"):
        merged[name] = np.add.reduceat(records[name], starts)
    return merged


def _starts(records: Records, *within: str) -> Ints:
    """Return the positions at which the key (or the set) changes in sorted records."""
    changes = np.zeros(len(records), np.bool_)
    changes[:1] = True
    for name in ("high", "low", *within):
        changes[1:] |= records[name][1:] != records[name][:-1]
    return np.flatnonzero(changes)
