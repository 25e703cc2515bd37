"""What readings say about one equation, for the check of certificates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from whybench.episode.action import Action
from whybench.episode.instance import Instance
from whybench.families.causalab.episode import LabEpisode
from whybench.families.causalab.parameters import Parameters
from whybench.families.causalab.proof.checker.algebra import Row, cleared
from whybench.families.causalab.world.world import FREQUENCY, Reading, View, World, solver


def grounds(view: View, v: int, readings: Sequence[Reading]) -> list[int | None]:
    """Return for each reading which unknown base v has in it; None if its base was set."""
    at: dict[int, int | None] = {}
    found: list[int | None] = []
    for number, reading in enumerate(readings):
        place = -1 if v == FREQUENCY else reading.crystal
        if reading.target == v:
            at[place] = None if view.semantics == "shift" else number
        found.append(at.setdefault(place, number))
    return found


def rows(view: View, v: int, readings: Sequence[Reading]) -> list[Row]:
    """Return what a change of v's weights must be orthogonal to if readings stay the same."""
    first: dict[int, Row] = {}
    rows: list[Row] = []
    for reading, ground in zip(readings, grounds(view, v, readings), strict=True):
        x = whole(reading.values)
        if ground is None:
            rows.append(x)
        elif ground in first:
            rows.append(tuple(a - b for a, b in zip(x, first[ground], strict=True)))
        else:
            first[ground] = x
    return rows


def whole(values: Sequence[float]) -> Row:
    """Return readings, which have two decimals, in hundredths; whole numbers as they are."""
    return tuple(x if isinstance(x, int) else round(100 * x) for x in values)


def unrounded(world: World) -> list[Reading]:
    """Return the given readings without rounding, as whole numbers in one unit.

    Weights have four decimals and bases two, so this unit divides every value.
    """
    law, view = world.law, world.view
    unit = 10 ** (4 * law.k + 2)
    found = []
    drawn = {**dict(enumerate(world.records)), view.baseline.crystal: world.bases}
    crystals = {c: [Fraction(str(base)) for base in own] for c, own in drawn.items()}
    for reading in (*(view.records if world.records else ()), view.baseline):
        bases, x = crystals[reading.crystal], [Fraction(0)] * law.k
        bases[FREQUENCY] = Fraction(str(law.base))
        for v in law.order():
            moved = sum((Fraction(str(t.linear)) * x[t.cause] for t in law.terms[v]), Fraction(0))
            if reading.target == v:
                bases[v] = Fraction(str(reading.setting)) - moved * (view.semantics == "set")
            x[v] = bases[v] + moved
        found.append(replace(reading, values=tuple(int(value * unit) for value in x)))
    return found


def effects(world: World, j: int) -> Row:
    """Return how far every quantity moves per unit of j's base, up to a factor."""
    moved = [Fraction(0)] * world.law.k
    for v in world.law.order():
        causes = world.law.terms[v]
        moved[v] = sum((Fraction(str(t.linear)) * moved[t.cause] for t in causes), Fraction(v == j))
    return cleared(moved)


def carried_out(instance: Instance, world: World, targets: Sequence[int]) -> list[Reading]:
    """Set properties in an episode, each to a new value; return all readings."""
    view = world.view
    readings = [*view.records, view.baseline]
    count = view.controllable.bit_count()
    world = replace(world, view=replace(view, budget=len(targets)))
    episode = LabEpisode(instance, world, solver(world.law), Parameters.model_validate({}))
    top = min(100.0, view.limit or 100.0)
    values = [int(100 * top * part / 6) / 100 for part in (6, 0, 3, 2, 4)]
    for t, v in enumerate(targets):
        turn = t // count % 4
        now = (episode.bases[v], episode.now[v])
        setting = next(x for x in values[turn:] + values[:turn] if x not in now)
        seen = episode.step(Action.of("intervene", property=view.names[v], value=setting))
        shown = tuple(seen.data[name] for name in view.names)
        readings.append(Reading(view.baseline.crystal, shown, v, setting))
    return readings
