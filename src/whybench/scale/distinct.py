"""Count repeats within and between sets, up to renaming, and choose the rows to keep."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet

from whybench import CANARY
from whybench.causal.canonical import canonical_json
from whybench.interfaces.stored.manifest import read_manifest
from whybench.interfaces.stored.place import Place
from whybench.interfaces.stored.plan import DISTINCT, NOTE
from whybench.scale.duplicate_forecast import Pilot
from whybench.scale.keys import By, Keys, tallied

SIZES = 10
"""Number of points of a growth curve."""
LAW = ("suite", "version", "profile", "parameters")
"""Fields of a plan that define how rows are drawn. The seed is not among them."""


@dataclass(frozen=True, slots=True)
class Counted:
    """Counts for one set, or for all sets together."""

    address: str
    counted: int
    """Number of rows, or of draws if systems are counted."""
    distinct: int

    @property
    def rate(self) -> float:
        """The duplicate rate: 1 − distinct / counted."""
        return 1 - self.distinct / self.counted if self.counted else 0.0


@dataclass(frozen=True, slots=True)
class Duplicates:
    """Repeats in one or several sets."""

    by: By
    sets: tuple[Counted, ...]
    all: Counted
    widths: tuple[int, ...]
    """Rows per draw of each set: the number of neighbouring rows that share one system."""
    draws: int
    shared: tuple[tuple[int, ...], ...]
    """Number of keys of set i that are also in set j. The diagonal holds the keys of each set."""
    largest: int
    """Count of the most frequent key."""
    spectrum: tuple[tuple[int, int], ...]
    """Number of draws that show a key → number of such keys."""
    curve: tuple[tuple[int, int], ...]
    """Pairs of rows (or draws) counted so far and distinct keys so far, in row order."""

    @property
    def pilot(self) -> Pilot:
        """These sets as a pilot for another set of the same distribution."""
        return Pilot(self.all.counted, self.draws, self.spectrum)

    def to_json(self) -> dict[str, Any]:
        """Return the counts as JSON data, with rates."""
        told = asdict(self)
        told["all"]["rate"] = self.all.rate
        for entry, one in zip(told["sets"], self.sets, strict=True):
            entry["rate"] = one.rate
        return told


@dataclass(frozen=True, slots=True)
class Kept:
    """The counts of what `write_distinct` kept of a set."""

    by: By
    rows: int
    distinct: int
    """Number of keys of the set."""
    shared: int
    """Number of these keys that are also in the sets of `against`."""
    kept: int
    """Number of rows to keep."""


def duplicates(paths: Sequence[str], by: By = "problem") -> Duplicates:
    """Count the keys of finished sets, for each set and for all together."""
    if not paths:
        raise ValueError("There is no set to count. Give at least one.")
    sets = [Keys.of(path, by) for path in paths]
    for i, one in enumerate(sets):
        for path, other in zip(paths[:i], sets, strict=False):
            if one.manifest.digest == other.manifest.digest:
                raise ValueError(
                    f"{path} and {paths[i]} are the same set, so every row would count as a "
                    "repeat. Give the set once."
                )
    tally = tallied(sets)
    entries = tuple(
        Counted(path, int(np.count_nonzero(marks)), int(own))
        for path, marks, own in zip(paths, tally.marks, tally.shared.diagonal(), strict=True)
    )
    marks = np.concatenate([marks[marks > 0] for marks in tally.marks])
    return Duplicates(
        by=by,
        sets=entries,
        all=Counted("all", len(marks), tally.distinct),
        widths=tuple(keys.width for keys in sets),
        draws=tally.draws,
        shared=tuple(tuple(line) for line in tally.shared.tolist()),
        largest=max(tally.repeats, default=0),
        spectrum=tuple(sorted(tally.spectrum.items())),
        curve=tuple((n, int(np.count_nonzero(marks[:n] == 2))) for n in _sizes(len(marks))),
    )


def as_pilot(pilots: Sequence[str], paths: Sequence[str], by: By = "problem") -> Pilot:
    """Return a pilot made of sets with the same distribution but different draws.

    A pilot with the same seed is rejected. It shares rows with the set, so it would predict
    rows that it has already seen.
    """
    known = {path: read_manifest(Place(path)) for path in (*pilots, *paths)}
    for i, pilot in enumerate(pilots):
        for path in (*pilots[:i], *paths):
            one, other = known[pilot], known[path]
            differ = [name for name in LAW if getattr(one.plan, name) != getattr(other.plan, name)]
            if differ:
                raise ValueError(
                    f"{pilot} is not a pilot for {path}, because they differ in "
                    f"{', '.join(differ)}. Generate a pilot that differs only in --seed."
                )
            if one.plan.seed == other.plan.seed or one.digest == other.digest:
                raise ValueError(
                    f"{pilot} is not a pilot for {path}, because they share rows. Generate a pilot "
                    f"with another seed than {one.plan.seed!r}."
                )
    return duplicates(pilots, by).pilot


def write_distinct(path: str, by: By = "problem", against: Sequence[str] = ()) -> Kept:
    """Write the rows of a set to keep: the first of each key, without keys of sets in `against`.

    The file records the digests of its inputs, so that writing it again gives the same bytes.
    """
    sets = [Keys.of(each, by) for each in (*against, path)]
    *others, own = sets
    if own.manifest.digest in {other.manifest.digest for other in others}:
        raise ValueError(f"{path} is also in `against`. Remove it there.")
    tally = tallied(sets)  # the set is last, so a key that is new in it is in no other set
    rows = np.flatnonzero(tally.marks[-1] == 2)
    distinct = int(tally.shared[-1, -1])
    kept = Kept(by, own.manifest.rows, distinct, distinct - len(rows), len(rows))
    note = {
        "plan": own.manifest.plan.to_json(),
        "digest": own.manifest.digest,
        "against": sorted(other.manifest.digest for other in others),
        **asdict(kept),
    }
    words = {NOTE: canonical_json(note).encode(), b"canary": CANARY.encode()}
    table = pa.table([pa.array(rows, pa.int64())], pa.schema([("row", pa.int64())], words))
    sink = pa.BufferOutputStream()
    parquet.write_table(
        table, sink, compression="zstd", compression_level=6, use_dictionary=False,
        column_encoding={"row": "DELTA_BINARY_PACKED"},
    )  # fmt: skip
    own.place.commit(DISTINCT, sink.getvalue().to_pybytes())
    return kept


def _sizes(counted: int) -> list[int]:
    """Return sizes that are evenly spaced on a logarithmic scale. The last one is the total."""
    if not counted:
        return []
    sizes = np.logspace(math.log10(min(10, counted)), math.log10(counted), SIZES)
    return sorted({round(size) for size in sizes})
