"""Read stored sets: any row by number, and ids as a stream, with few row groups in memory."""

from __future__ import annotations

import json
import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import Any

import pyarrow as pa
import pyarrow.parquet as parquet

from whybench.causal.canonical import Json
from whybench.curriculum.columns import COLUMNS
from whybench.episode.instance import Instance
from whybench.interfaces.stored.index import ids_between, indexed
from whybench.interfaces.stored.manifest import MANIFEST, Manifest, read_manifest
from whybench.interfaces.stored.place import Place
from whybench.interfaces.stored.plan import DISTINCT, NOTE, PARTS, PLAN, Plan

OPENED = 4
"""Number of shards that are kept open."""
GROUPS = 8
"""Number of row groups that are cached in memory."""
NUMBERED = 64
"""Number of shards with gaps whose row numbers are cached."""
SPARSE = 50
"""If less than one row in this many is selected, its id is read separately."""

COORDINATES = ("id", "block", "index", "cluster")
ID = re.compile(r"(?P<suite>.+)-(?:(?P<block>\d+)\.)?(?P<index>\d+)-[0-9a-f]+")
"""Pattern of ids (`Family.instance`)."""


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a set: an instance, its instructions and its certificate."""

    number: int
    """Its index in the endless list of the suite. Rejected rows are missing."""
    instance: Instance
    instructions: str
    certificate: Mapping[str, Json]
    """The certificate, in the form that `Certificate.from_json` reads."""


class StoredSet:
    """A finished stored set, as `whybench data generate` writes it.

    Rows are numbered from 0. Discarded rows are not counted.

    Examples:
        >>> from tempfile import mkdtemp
        >>> import whybench as wb
        >>> from whybench.interfaces.stored.place import Place
        >>> from whybench.interfaces.stored.plan import Plan
        >>> from whybench.scale.generate import generate
        >>> folder = mkdtemp()
        >>> made = generate(Plan.of(wb.load_suite("causallink/core"), 3), Place(folder))
        >>> rows = wb.StoredSet(folder)
        >>> len(rows), rows[2].instance == wb.load_suite("causallink/core")[2]
        (3, True)

    Args:
        address: The folder, or a URL such as `s3://bucket/set`.

    """

    def __init__(self, address: str) -> None:
        self.place = Place(address)
        """Where the set is."""
        self.manifest: Manifest = read_manifest(self.place)
        """What the set says about itself."""
        self.plan: Plan = self.manifest.plan
        """What was generated, and how."""
        self.suite = self.plan.opened()
        """The suite that the set continues."""
        self._starts = [0, *accumulate(shard.rows for shard in self.manifest.shards)]
        self._index = indexed(self.place, self.manifest)
        self._file = lru_cache(OPENED)(self._opened)
        self._group = lru_cache(GROUPS)(self._unpacked)
        self._numbers = lru_cache(NUMBERED)(self._numbered)

    def __len__(self) -> int:
        return self._starts[-1]

    def __getitem__(self, position: int) -> Row:
        found = self._record(
            PARTS[0], position, ("row", *COORDINATES, "instructions", "certificate")
        )
        proof = json.loads(found["certificate"])
        return Row(found["row"], self._instance(found), found["instructions"], proof)

    def instance(self, position: int) -> Instance:
        """Return the coordinates of a row.

        Args:
            position: The row.

        Returns:
            The instance.

        """
        return self._instance(self._record(PARTS[0], position, COORDINATES))

    def figures(self, position: int) -> dict[str, float | None]:
        """Return the columns of difficulty of a row.

        Args:
            position: The row.

        Returns:
            Column → figure. Columns that the set omits are missing.

        """
        found = self._record(PARTS[0], position, tuple(COLUMNS))
        return {name: value for name, value in found.items() if value is not None}

    def ids(self) -> Iterator[str]:
        """Yield all ids in order.

        Returns:
            An iterator of ids.

        """
        return self.names(range(len(self)))

    def names(self, positions: Sequence[int]) -> Iterator[str]:
        """Yield the ids of some rows. Only the ids are read.

        Args:
            positions: The rows.

        Returns:
            An iterator of ids.

        """
        if isinstance(positions, range) and positions.step == 1:
            return self._between(positions.start, positions.stop)
        if len(positions) * SPARSE < len(self):
            return (self.instance(position).id for position in positions)
        known = list(self.ids())
        return (known[position] for position in positions)

    def find(self, name: str) -> Row:
        """Return the row with an id.

        Args:
            name: The id.

        Returns:
            The row.

        """
        return self[self.position(name)]

    def position(self, name: str) -> int:
        """Return the number of the row with an id.

        Args:
            name: The id.

        Returns:
            The number.

        Raises:
            ValueError: The set has no such row.

        """
        read = ID.fullmatch(name)
        if read is None or read["suite"] != self.suite.name:
            raise ValueError(
                f"{name!r} is not an id of {self.suite.path}, which {self.place.address} holds."
            )
        number = int(read["block"] or 0) * len(self.suite) + int(read["index"])
        at = self._at(number)
        if at is None:
            raise ValueError(f"{self._named} has no row {number}, so it does not have {name}.")
        if (found := self.instance(at).id) != name:
            raise ValueError(
                f"{self._named} has {found} in row {number}, not {name}. Check the seed."
            )
        return at

    def kept(self) -> list[int]:
        """Return the rows that `whybench data distinct --write` keeps.

        Returns:
            The row numbers.

        Raises:
            ValueError: The command has not been run on this set.

        """
        if not self.place.has(DISTINCT):
            raise ValueError(
                f"{self._named} has no {DISTINCT}. Run `whybench data distinct --write`."
            )
        with self.place.open(DISTINCT) as file:
            found = parquet.ParquetFile(file)
            note = json.loads(found.metadata.metadata[NOTE])
            numbers = found.read(use_threads=False).column("row").to_pylist()
        if note["digest"] != self.manifest.digest:
            raise ValueError(
                f"{DISTINCT} belongs to another set. Run `whybench data distinct --write` again."
            )
        return [at for number in numbers if (at := self._at(number)) is not None]

    def truth(self, position: int) -> Json:
        """Return the hidden system of a row. Only files that hold nothing else are read.

        Args:
            position: The row.

        Returns:
            JSON data.

        Raises:
            ValueError: The set was stored without hidden systems.

        """
        if not self.plan.truth:
            raise ValueError(f"{self._named} was stored without truth. Generate it with --truth.")
        found: Json = json.loads(self._record(PARTS[1], position, ("truth",))["truth"])
        return found

    @property
    def _named(self) -> str:
        return f"The set {self.place.address}"

    def _instance(self, record: Mapping[str, Any]) -> Instance:
        plan, suite = self.plan, self.suite
        return Instance(
            suite.family.name, plan.version, suite.name, suite.profile, plan.seed,
            record["index"], plan.parameters, record["id"], record["cluster"], record["block"],
        )  # fmt: skip

    def _at(self, number: int) -> int | None:
        """Return the position of a row of the endless list, or None if the row is missing."""
        shard = number // self.plan.rows
        if not 0 <= number < self.plan.n:
            return None
        numbers, start = self.plan.numbers(shard), self._starts[shard]
        if self.manifest.shards[shard].rows == len(numbers):
            return start + number - numbers.start
        kept = self._numbers(shard)
        at = bisect_left(kept, number)
        return start + at if at < len(kept) and kept[at] == number else None

    def _between(self, start: int, stop: int) -> Iterator[str]:
        if self._index is not None:
            yield from ids_between(self._index, start, stop)
            return
        for shard in range(self._shard(start), len(self.manifest.shards)):
            first = self._starts[shard]
            if first >= stop:
                return
            skipped = max(0, start - first)
            ids = self._column(shard, "id").slice(skipped, stop - first - skipped)
            yield from ids.to_pylist()

    def _shard(self, position: int) -> int:
        return bisect_right(self._starts, position) - 1

    def _record(self, part: str, position: int, columns: tuple[str, ...]) -> dict[str, Any]:
        if not 0 <= position < len(self):
            raise IndexError(f"{self._named} has rows 0 … {len(self) - 1}, not {position}.")
        shard = self._shard(position)
        offset, group = position - self._starts[shard], 0
        footer = self._file(part, shard).metadata
        while offset >= (held := footer.row_group(group).num_rows):
            offset, group = offset - held, group + 1
        table = self._group(part, shard, group, columns)
        found: dict[str, Any] = table.slice(offset, 1).to_pylist()[0]
        return found

    def _column(self, shard: int, name: str) -> pa.ChunkedArray:
        return self._file(PARTS[0], shard).read(columns=[name], use_threads=False).column(name)

    def _numbered(self, shard: int) -> array[int]:
        return array("q", self._column(shard, "row").to_pylist())

    def _unpacked(self, part: str, shard: int, group: int, columns: tuple[str, ...]) -> pa.Table:
        file = self._file(part, shard)
        return file.read_row_group(group, columns=list(columns), use_threads=False)

    def _opened(self, part: str, shard: int) -> parquet.ParquetFile:
        name = self.plan.names(shard)[part]
        try:
            return parquet.ParquetFile(self.place.open(name))
        except (OSError, pa.ArrowInvalid) as error:
            raise ValueError(f"{name} of {self.place.address} cannot be read: {error}") from error


def find_set(address: str) -> StoredSet | None:
    """Open a set. Return None if there is none, and raise an error if it is not finished."""
    place = Place(str(address))
    for name in (MANIFEST, PLAN):
        if place.has(name):
            return StoredSet(place.address) if "canary" in json.loads(place.read(name)) else None
    return None
