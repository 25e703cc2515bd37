"""The keys of stored sets, read shard by shard and counted in scratch files.

A key is 16 bytes of a digest, so its first byte spreads keys evenly: they are dealt by it into
scratch files, and each file is then sorted and counted alone. Memory does not grow with the rows
but for one byte a row.

Rows come in *draws*: neighbouring rows that ask different things of one system. Counted by system,
a draw counts once, since its rows share their system by design; counted by problem, every row does.
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
"""Rows that are counted in memory before they are dealt out."""
HEAPS = 256
RECORD = np.dtype(
    [("high", "u8"), ("low", "u8"), ("source", "i4"), ("row", "i8"), ("rows", "i8"),
     ("draws", "i8")]
)  # fmt: skip
"""A key in two halves, its set, its first row there, and the rows and draws that show it."""

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
    """Rows of a draw."""

    @classmethod
    def of(cls, path: str, by: By) -> Keys:
        """Open a set, and find out how many rows a draw has."""
        if by not in ("problem", "system"):
            raise ValueError(f"rows repeat by `problem` or by `system`, not by {by!r}")
        place = Place(path)
        manifest = read_manifest(place)
        if not manifest.plan.truth:
            raise ValueError(
                f"{path} was made with --no-truth and has no keys: count a set with the truth"
            )
        return cls(place, manifest, by, _width(cls(place, manifest, "system")))

    def shards(self) -> Iterator[tuple[Ints, Words]]:
        """Yield the rows of each shard and their keys, in two halves."""
        for shard in self.manifest.shards:
            if shard.rows:
                with self.place.open(self.manifest.plan.names(shard.number)["truth"]) as file:
                    table = parquet.ParquetFile(file).read(["row", self.by], use_threads=False)
                column = table[self.by].combine_chunks()
                words = np.frombuffer(column.buffers()[1], ">u8")[2 * column.offset :]
                keys = words[: 2 * len(column)].astype(np.uint64).reshape(-1, 2)
                yield table["row"].to_numpy(), keys

    def batches(self) -> Iterator[tuple[Ints, Words]]:
        """Yield the rows that count, and their keys, in order; no draw is split."""
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
    """What comes of counting the keys of several sets together."""

    def __init__(self, sets: Sequence[Keys]) -> None:
        self.marks = [np.zeros(keys.manifest.plan.n, np.int8) for keys in sets]
        """For each row of each set: 0 does not count, 1 counts, 2 is the first with its key."""
        self.shared = np.zeros((len(sets), len(sets)), np.int64)
        """Keys of one set that are in another; on the diagonal its own."""
        self.distinct = 0
        self.draws = 0
        self.repeats: Counter[int] = Counter()
        """Rows that show a key → how many such keys."""
        self.spectrum: Counter[int] = Counter()
        """Draws that show a key → how many such keys."""

    def add(self, heap: Records) -> None:
        """Count a heap: no key of it is in another heap."""
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
    """Count the keys of sets; a key's first row is in the first set that has it."""
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
    """Return the rows of a draw: every row at which the system changes is a multiple of it.

    Runs of equal systems would not do: two neighbouring draws may have the same one.
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
    """Lend paths of scratch files, one for each first byte of a key."""
    with tempfile.TemporaryDirectory(prefix="whybench-") as folder:
        yield [Path(folder) / str(i) for i in range(HEAPS)]


def _deal(records: Records, heaps: Sequence[Path]) -> None:
    """Put records, sorted by key, where they belong."""
    ends = np.searchsorted(records["high"] >> np.uint64(56), np.arange(HEAPS + 1))
    for i in np.flatnonzero(np.diff(ends)).tolist():
        with heaps[i].open("ab") as file:
            file.write(records[ends[i] : ends[i + 1]].tobytes())


def _batch(source: int, rows: Ints, words: Words, drawn: Ints) -> Records:
    """Count a batch: a record for each key."""
    order = np.lexsort((rows, words[:, 1], words[:, 0]))
    found = np.zeros(len(rows), RECORD)
    found["high"], found["low"] = words[order, 0], words[order, 1]
    found["source"], found["row"], found["rows"] = source, rows[order], 1
    again = np.diff(drawn[order], prepend=-1) == 0
    again[_starts(found)] = False
    found["draws"] = ~again
    return _merged(found)


def _merged(records: Records) -> Records:
    """Merge records of one key and set: the first row, and sums."""
    records = records[np.lexsort([records[name] for name in ("row", "source", "low", "high")])]
    starts = _starts(records, "source")
    merged = records[starts]
    for name in ("rows", "draws"):
        merged[name] = np.add.reduceat(records[name], starts)
    return merged


def _starts(records: Records, *within: str) -> Ints:
    """Return where the key (and the set) changes in sorted records."""
    changes = np.zeros(len(records), np.bool_)
    changes[:1] = True
    for name in ("high", "low", *within):
        changes[1:] |= records[name][1:] != records[name][:-1]
    return np.flatnonzero(changes)
