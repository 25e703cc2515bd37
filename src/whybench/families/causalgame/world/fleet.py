"""A fleet: all random numbers of its drones, drawn before any design is known.

Layout. A fleet of n drones is n rows of `Layout.width` numbers, row after row from one stream. The
columns of a row are the purposes of the physics in their order, then `detection`, then one number
for each round that a fight can last. A fleet is therefore a prefix of every larger fleet of the
same stream, and all designs of a physics fly with the same random numbers: wind, zone and
temperature of drone i depend only on the stream.

One number u serves for a whole round (see `combat`). It is a hit if u is below the hit probability.
The rest of u, again uniform, then gives target, critical hit and damage.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from whybench.causal.seeds import Stream, uniforms_of

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Bools: TypeAlias = NDArray[np.bool_]
Words: TypeAlias = NDArray[np.uint64]

Path: TypeAlias = tuple[str | int, ...]
"""The path that names a stream of random numbers."""

Stage = Literal["stage1", "stage2"]
"""`stage1`: exploration; `stage2`: the fleet that is scored. Two physics differ between them."""

DETECTION = "detection"
"""The purpose of the number that decides whether a drone is detected."""


@dataclass(frozen=True, slots=True)
class Layout:
    """What a drone's random numbers are for."""

    purposes: tuple[str, ...]
    """What the physics draws for."""
    rounds: int
    """The most rounds that a fight can last."""

    @property
    def columns(self) -> tuple[str, ...]:
        """All purposes but the rounds."""
        return (*self.purposes, DETECTION)

    @property
    def width(self) -> int:
        """Random numbers of a drone."""
        return len(self.columns) + self.rounds


@dataclass(frozen=True, slots=True, eq=False)
class Fleet:
    """The random numbers of some drones; treat them as read-only."""

    draws: Mapping[str, Floats]
    """One number of each drone for each purpose."""
    rounds: Words
    """Drone × round. Raw words: most are only compared, so few are converted to uniform numbers."""

    def __len__(self) -> int:
        return len(self.rounds)

    def first(self, n: int) -> Fleet:
        """Return the fleet of the first n drones."""
        if not 0 <= n <= len(self):
            raise ValueError(f"a fleet of {len(self)} has no first {n}: draw a larger one")
        return self.rows(slice(n))

    def rows(self, rows: Ints | slice) -> Fleet:
        """Return the drones in these rows."""
        return Fleet({name: draw[rows] for name, draw in self.draws.items()}, self.rounds[rows])


def fleet(layout: Layout, stream: Stream, n: int) -> Fleet:
    """Draw a fleet; a second call with the same stream gives the next drones.

    >>> layout = Layout(("wind",), 3)
    >>> large, small = (fleet(layout, Stream("fleet"), n) for n in (5, 2))
    >>> bool((large.first(2).rounds == small.rounds).all())
    True
    """
    rows = stream.words(n * layout.width).reshape(n, layout.width)
    columns = layout.columns
    head = uniforms_of(np.ascontiguousarray(rows[:, : len(columns)].T))
    return Fleet(dict(zip(columns, head, strict=True)), rows[:, len(columns) :])


def together(parts: Sequence[Fleet], layout: Layout) -> Fleet:
    """Return one fleet of several; of none, an empty one."""
    if not parts:
        return fleet(layout, Stream(), 0)
    draws = {name: np.concatenate([part.draws[name] for part in parts]) for name in layout.columns}
    return Fleet(draws, np.concatenate([part.rounds for part in parts]))


def fleets(layout: Layout, stream: Stream, n: int, batch: int = 4096) -> Iterator[Fleet]:
    """Yield the fleet of n drones in parts, so that large fleets need little memory."""
    for start in range(0, n, batch):
        yield fleet(layout, stream, min(batch, n - start))
