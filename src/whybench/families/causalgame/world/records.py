"""Records: the visible part of flights, with measurement noise, as tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from string import ascii_uppercase

import numpy as np

from whybench.causal.canonical import Record
from whybench.causal.seeds import Stream
from whybench.families.causalgame.world.fleet import Bools, Floats, Path
from whybench.families.causalgame.world.physics.flight import STATUS
from whybench.families.causalgame.world.physics.physics import Column
from whybench.families.causalgame.world.scenario import Noise
from whybench.families.causalgame.world.variables import variables
from whybench.families.causalgame.world.world import Batch, World

DECIMALS = 2
"""Number of decimals of measured values."""

RELEASED_RESULTS = ("wind_speed", "humidity", "temperature", "uv_index")
"""What the release shows of the environment in the results of a deployment."""

SAMPLE = 5
"""Number of survivors shown for a batch whose survivors are not counted."""

EARLIER, OWN = "earlier", "own"
"""Whose flights a row of counts is about."""
COUNTS = ("returned", "lost")
"""Columns of counts."""
OUTCOMES = ("was_detected", "hit_count")

Cell = str | bool | int | float


@dataclass(frozen=True, slots=True)
class Table:
    """Records as rows."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]

    @property
    def frozen(self) -> Record:
        """The table as part of an observation."""
        return Record.of(columns=self.columns, rows=self.rows)


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """A batch as the instruments report it, with all its drones."""

    returned: Bools
    columns: dict[str, Column]
    """Detection, hits, the environment, and the variables that were asked for."""


def measured(
    world: World, batch: Batch, discovered: Sequence[str], *, results: bool = False
) -> Measured:
    """Read the instruments; if noise is not everywhere, only `results` have it, not records."""
    flights, where = batch.flights, batch.flights.environment
    path: Path = (*world.path, batch.name)
    exact: dict[str, Column] = {name: where.column(name) for name in where.visible}
    known = variables(world.physics.name)
    exact |= {name: known[name].column(name, path, flights) for name in discovered}
    noise = world.rules.noise
    if noise is None or not (noise.everywhere or results):
        return Measured(flights.returned, _with_outcomes(batch, flights.hit_count, exact))
    level = np.where(where["is_storm"], noise.storm, noise.clear)
    noisy = {
        name: np.maximum(0, _blurred(column, level, (*path, "noise", name)))
        if column.dtype == np.float64
        else column
        for name, column in exact.items()
    }
    hits = np.maximum(0, _blurred(flights.hit_count, level, (*path, "noise", "hit_count")))
    returned = flights.returned ^ _flipped(noise, level, path)
    return Measured(returned, _with_outcomes(batch, np.rint(hits).astype(np.int64), noisy))


def _with_outcomes(batch: Batch, hits: Column, environment: dict[str, Column]) -> dict[str, Column]:
    return {"was_detected": batch.flights.was_detected, "hit_count": hits, **environment}


def _blurred(values: Column, level: Floats, path: Path) -> Floats:
    from scipy.special import ndtri  # heavy, and only noisy instruments need it

    normal = ndtri(np.maximum(Stream(*path).uniforms(len(values)), 2.0**-54))
    found: Floats = values + np.abs(values) * level * normal
    return found


def _flipped(noise: Noise, level: Floats, path: Path) -> Bools:
    found: Bools = Stream(*path, "noise", "status").uniforms(len(level)) < noise.flip * level
    return found


def visible(world: World, batch: Batch, seen: Measured) -> list[int]:
    """Return the drones whose records are shown, in their order.

    If survivors are not counted, a deployment shows a sample of them whose size carries no
    information. If too few returned, further flights of the design fill the sample.
    """
    if batch is world.history or world.rules.counts:
        return [int(drone) for drone in np.flatnonzero(seen.returned | batch.kept)]
    survivors = [int(drone) for drone in np.flatnonzero(seen.returned)]
    own = [drone for drone in survivors if drone < len(batch)]
    rng = Stream(*world.path, batch.name, "sample")
    shown = rng.sample(own, min(SAMPLE, len(own)))
    return sorted(shown) + survivors[len(own) : len(own) + SAMPLE - len(shown)]


def table(
    batch: Batch,
    seen: Measured,
    drones: Iterable[int],
    *,
    names: Sequence[str],
    letters: Sequence[str],
    only: Sequence[str] | None = None,
) -> Table:
    """Arrange records: name, design, status, then measurements (`only` limits them)."""
    shown = {
        name: column
        for name, column in seen.columns.items()
        if only is None or name in ("was_detected", "hit_count", *only)
    }
    rows = tuple(
        (
            name,
            letters[int(batch.which[drone])],
            STATUS[int(seen.returned[drone])],
            *(_cell(column[drone]) for column in shown.values()),
        )
        for name, drone in zip(names, drones, strict=True)
    )
    return Table(("id", "design", "status", *shown), rows)


def tallied(
    batch: Batch, seen: Measured, drones: Sequence[int], *, flown: str, letters: Sequence[str]
) -> Table:
    """Count records: one row for each design and each reading of the instruments."""
    shown = {name: column for name, column in seen.columns.items() if name not in OUTCOMES}
    rows: dict[tuple[Cell, ...], list[int]] = {}
    for drone in drones:
        read = (_cell(column[drone]) for column in shown.values())
        key = (flown, letters[int(batch.which[drone])], *read)
        rows.setdefault(key, [0, 0])[int(not seen.returned[drone])] += 1
    found = tuple((*key, *count) for key, count in sorted(rows.items(), key=str))
    return Table(("flown", "design", *shown, *COUNTS), found)


def pooled(found: Table) -> Table:
    """Add counts up over designs.

    >>> pooled(Table(("flown", "design", *COUNTS), (("own", "A", 3, 1), ("own", "B", 2, 0)))).rows
    (('own', 5, 1),)
    """
    rows: dict[tuple[Cell, ...], list[int]] = {}
    for flown, _, *read in found.rows:
        count = rows.setdefault((flown, *read[:-2]), [0, 0])
        count[0] += int(read[-2])
        count[1] += int(read[-1])
    kept = (found.columns[0], *found.columns[2:])
    return Table(kept, tuple((*key, *count) for key, count in rows.items()))


def _cell(value: object) -> Cell:
    if isinstance(value, np.floating):
        return round(float(value), DECIMALS)
    if isinstance(value, np.bool_):
        return bool(value)
    return int(value) if isinstance(value, np.integer) else str(value)


def letter(place: int) -> str:
    """Return the name of a design: A … Z, then A2, B2 and so on.

    >>> letter(0), letter(27)
    ('A', 'B2')
    """
    again, place = divmod(place, len(ascii_uppercase))
    return ascii_uppercase[place] + (str(again + 1) if again else "")
