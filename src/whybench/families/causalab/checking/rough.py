"""What rounded or disturbed readings force, for the check of certificates."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from whybench.families.causalab.checking.algebra import Row, only_zero
from whybench.families.causalab.checking.readings import grounds, whole
from whybench.families.causalab.world import FREQUENCY, Reading, View, World

FINEST = (0.05, 0.0005)
"""Linear and square weights of a quadratic law that are smaller count as none."""


def sharp(view: View, v: int, own: Sequence[int], readings: Sequence[Reading]) -> bool:
    """Tell whether rounded readings leave no room for another quadratic equation of v.

    What fits is off by at most 0.005 at every reading, so it is that near to the best fit.
    """
    placed = grounds(view, v, readings)
    places = sorted({place for place in placed if place is not None})
    table = np.array(
        [
            [reading.values[u] ** power for power in (1, 2) for u in own]
            + [float(place == ground) for place in places]
            for reading, ground in zip(readings, placed, strict=True)
        ]
    )
    if np.linalg.matrix_rank(table / abs(table).max(axis=0)) < table.shape[1]:
        return False
    room = 0.005 * abs(np.linalg.pinv(table)).sum(axis=1)
    d = len(own)
    return bool((room[:d] < FINEST[0]).all() and (room[d : 2 * d] < FINEST[1]).all())


def settled(world: World, v: int, own: Sequence[int], readings: Sequence[Reading]) -> bool:
    """Tell whether no other linear equation of v fits, each reading being off by −s, 0 or s."""
    view, hidden = world.view, world.disturbance
    size = round(100 * view.disturbance)
    first = len(view.records)
    placed = grounds(view, v, readings)
    movable = v != FREQUENCY or view.frequency_disturbed
    places = [place for place in set(placed) if place is not None and placed.count(place) > 1]
    table: list[tuple[Row, list[int]]] = []
    for t, (reading, ground) in enumerate(zip(readings, placed, strict=True)):
        if ground is not None and ground not in places:
            continue
        x, off = whole(reading.values), [0]
        if not reading.passive and movable and hidden is not None:
            true = round(100 * hidden.after(t - first))
            true = true if hidden.affected >> v & 1 else 0
            off = [true - guess for guess in (0, size, -size)]
        table.append(((*(x[u] for u in own), *(int(p == ground) for p in places)), off))
    table.sort(key=lambda line: len(line[1]))
    return not own or (bool(table) and only_zero(table, len(own)))
