"""How often sets repeat themselves and one another up to renaming, and which rows to keep."""

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
"""Points of a growth curve."""
LAW = ("suite", "version", "profile", "parameters")
"""What of a plan says how rows are drawn; the seed says which."""


@dataclass(frozen=True, slots=True)
class Counted:
    """One set, or all together."""

    address: str
    counted: int
    """Rows; by system: draws."""
    distinct: int

    @property
    def rate(self) -> float:
        """The duplicate rate: 1 − distinct / counted."""
        return 1 - self.distinct / self.counted if self.counted else 0.0


@dataclass(frozen=True, slots=True)
class Duplicates:
    """What was found in one set or several."""

    by: By
    sets: tuple[Counted, ...]
    all: Counted
    widths: tuple[int, ...]
    """Rows of a draw in each set: as many neighbouring rows ask about one system."""
    draws: int
    shared: tuple[tuple[int, ...], ...]
    """Keys of set i that are in set j too; on the diagonal its own."""
    largest: int
    """How often the commonest key was counted."""
    spectrum: tuple[tuple[int, int], ...]
    """Draws that show a key → how many such keys."""
    curve: tuple[tuple[int, int], ...]
    """Counted so far, in row order and set after set → distinct so far."""

    @property
    def pilot(self) -> Pilot:
        """These sets as a pilot for another one of their law."""
        return Pilot(self.all.counted, self.draws, self.spectrum)

    def to_json(self) -> dict[str, Any]:
        """Return JSON data, with rates."""
        told = asdict(self)
        told["all"]["rate"] = self.all.rate
        for entry, one in zip(told["sets"], self.sets, strict=True):
            entry["rate"] = one.rate
        return told


@dataclass(frozen=True, slots=True)
class Kept:
    """What `write_distinct` kept of a set."""

    by: By
    rows: int
    distinct: int
    """Keys of the set."""
    shared: int
    """Of those: found in the sets it must not share with."""
    kept: int
    """Rows to keep."""


def duplicates(paths: Sequence[str], by: By = "problem") -> Duplicates:
    """Count the keys of finished sets, each for itself and all together."""
    if not paths:
        raise ValueError("give at least one set")
    sets = [Keys.of(path, by) for path in paths]
    for i, one in enumerate(sets):
        for path, other in zip(paths[:i], sets, strict=False):
            if one.manifest.digest == other.manifest.digest:
                raise ValueError(
                    f"{path} and {paths[i]} are the same set, and every row of it would count as a "
                    "repeat: name it once"
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
    """Return what some sets make expect of others: the same law, but other draws.

    A pilot of the same seed has rows in common with the set: it would foretell what it has seen.
    """
    known = {path: read_manifest(Place(path)) for path in (*pilots, *paths)}
    for i, pilot in enumerate(pilots):
        for path in (*pilots[:i], *paths):
            one, other = known[pilot], known[path]
            differ = [name for name in LAW if getattr(one.plan, name) != getattr(other.plan, name)]
            if differ:
                raise ValueError(
                    f"{pilot} tells nothing of {path}, since they differ in {', '.join(differ)}: "
                    "make a pilot with another seed and all else the same"
                )
            if one.plan.seed == other.plan.seed or one.digest == other.digest:
                raise ValueError(
                    f"{pilot} has rows in common with {path} and cannot tell what to expect: "
                    f"make a pilot with another seed than {one.plan.seed!r}"
                )
    return duplicates(pilots, by).pilot


def write_distinct(path: str, by: By = "problem", against: Sequence[str] = ()) -> Kept:
    """Write which rows of a set to keep: the first of each key, and no key of a set in `against`.

    The file names what it was made from by digests, so it is the same whenever it is made again.
    """
    sets = [Keys.of(each, by) for each in (*against, path)]
    *others, own = sets
    if own.manifest.digest in {other.manifest.digest for other in others}:
        raise ValueError(f"{path} cannot be kept apart from itself: leave it out of `against`")
    tally = tallied(sets)  # the set comes last: a key whose first row it has is in no other
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
    """Return some sizes, evenly spaced in their logarithms, the last one all."""
    if not counted:
        return []
    sizes = np.logspace(math.log10(min(10, counted)), math.log10(counted), SIZES)
    return sorted({round(size) for size in sizes})
