"""Compute places of marks: the bar of a cell, and the plane of score and understanding.

A bar stretches with its column, so its places are in per cent. The plane has units of its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from whybench.report.front.verdicts import at_floor
from whybench.report.standings.model import Cell, Estimate, System
from whybench.report.standings.words import between, per_cent, two

LENGTH = 97.0
"""Length of a track in per cent of its column."""
LEAST, LAST = -0.08, 1.03
"""Marks outside these scores are drawn at them."""


@dataclass(frozen=True, slots=True)
class Bar:
    """One cell: the texts above its bar, and the places in the bar."""

    score: str
    share: str
    alt: str
    quiet: bool = False
    """Whether the score is not shown to be above the floor."""
    drawn: bool = True
    """Whether there is a track."""
    sure: float = 0.0
    """Length of the understood part."""
    lucky: float = 0.0
    """Length of the lucky part, which follows."""
    plain: float = 0.0
    """Length of a score whose share understood is not known."""
    tick: float | None = None
    """Place of a score that is not shown to be above the floor."""
    low: float | None = None
    high: float | None = None


def cell_bar(cell: Cell | None) -> Bar:
    """Return the bar of a system in a family; None if it was not run."""
    if cell is None:
        return Bar("not run", "", "not run", quiet=True, drawn=False)
    few = "too few" if cell.understood.known or not cell.right else "–"
    return _bar(cell.score, cell.share, cell.is_floor, few)


def overall_bar(system: System, families: int) -> Bar:
    """Return the bar of the overall score; `5 of 6` instead if families are missing."""
    if not system.overall.known:
        said = f"{families - len(system.missing)} of {families}"
        return Bar(said, "families", f"{said} families were run", quiet=True, drawn=False)
    return _bar(system.overall, system.understood, at_floor(system), "too few")


def _bar(score: Estimate, share: Estimate, floor: bool, few: str) -> Bar:
    if not score.known:
        return Bar("–", "", "no score", quiet=True, drawn=False)
    low, high = (None if end != end else _place(end) for end in (score.low, score.high))
    said = two(score.value) + (f", interval {between(score)}" if low is not None else "")
    if floor:
        said += "; not shown to be above the floor"
        tick = _place(score.value)
        return Bar(two(score.value), "floor", said, quiet=True, tick=tick, low=low, high=high)
    whole = _place(score.value)
    if not share.known:
        said += "; the share understood is not known"
        return Bar(two(score.value), few, said, plain=whole, low=low, high=high)
    said += f"; {per_cent(share.value)} of it understood"
    sure = whole * min(1.0, max(0.0, share.value))
    percent = per_cent(share.value)
    return Bar(two(score.value), percent, said, sure=sure, lucky=whole - sure, low=low, high=high)


def _place(score: float) -> float:
    return LENGTH * min(LAST, max(LEAST, score))


# The plane.

LEFT, TOP, SIDE = 50.0, 14.0, 336.0
WIDTH, HEIGHT = 472, 396
LETTER, LINE = 7.4, 16.0
"""Width of a letter and height of a label."""
MUCH_LUCK = 0.1
"""Least luck for which a family's mark is labelled."""


@dataclass(frozen=True, slots=True)
class Spot:
    """A system in the plane."""

    system: str
    x: float
    y: float
    diagonal: float
    """Where its score would be if all of it were understood."""
    cross: tuple[float, float, float, float]
    """Ends of the intervals: left, right, lower, upper."""
    label: tuple[float, float, str]
    """Place of its name, and the anchor."""


@dataclass(frozen=True, slots=True)
class Plane:
    """Score against the part of it that was understood."""

    spots: tuple[Spot, ...]
    families: tuple[tuple[str, float, float], ...]
    """System and place of each small mark."""
    lucky: tuple[str, float, float, str] | None
    """Family with the most luck: name, place and anchor of its label."""
    luck: tuple[float, float] | None
    """Place of the word for the longest drop."""
    alt: str
    missing: tuple[str, ...] = field(default=())
    """Systems with a score whose share understood is not known."""


def plane(systems: Iterable[System]) -> Plane:
    """Return the places of all systems and families."""
    whole = [system for system in systems if system.overall.known]
    known = [one for one in whole if at_floor(one) or one.understood.known]
    boxes = [_box(*_point(one), 10, 10) for one in known]
    spots = [_spot(one, boxes) for one in known]
    small, luck = [], []
    for system in known:
        for name, cell in system.cells.items():
            if cell.is_floor or not cell.share.known:
                continue
            part = cell.score.value * cell.share.value
            place = (_x(cell.score.value), _y(part))
            small.append((system.name, *place))
            luck.append((cell.score.value - part, name, *place))
    most = max(luck, default=(0.0, "", 0.0, 0.0))
    label = (most[1], most[2], most[3] + 17, "middle") if most[0] >= MUCH_LUCK else None
    drop = max(spots, key=lambda spot: spot.y - spot.diagonal, default=None)
    word = None
    if drop is not None and drop.y - drop.diagonal > 40:
        word = (drop.x - 5, (drop.y + drop.diagonal) / 2)
    said = [f"{one.name}: score {two(one.overall.value)}, of it {two(_part(one))}" for one in known]
    left_out = tuple(one.name for one in whole if one not in known)
    alt = f"{' understood. '.join(said)} understood." if said else "No system has both figures."
    return Plane(tuple(spots), tuple(small), label, word, alt, left_out)


def _part(system: System) -> float:
    """Return the part of the overall score that was understood; none at the floor."""
    return 0.0 if at_floor(system) else system.overall.value * system.understood.value


def _point(system: System) -> tuple[float, float]:
    return _x(system.overall.value), _y(_part(system))


def _spot(system: System, boxes: list[tuple[float, ...]]) -> Spot:
    """Place a system, with its name where it covers no mark and no other name."""
    x, y = _point(system)
    score, share = system.overall, system.understood
    ends = (0.0, 0.0) if at_floor(system) else (score.value * share.low, score.value * share.high)
    wide = len(system.name) * LETTER
    tries = (
        (x + 13, y + 5, "start"), (x - 13, y + 5, "end"), (x, y + 25, "middle"),
        (x, y - 17, "middle"), (x + 13, y - 13, "start"), (x + 13, y + 22, "start"),
        (x - 13, y + 22, "end"), (x - 13, y - 13, "end"), (x + 13, y - 34, "start"),
    )  # fmt: skip
    free = [at for at in tries if _fits(_named(at, wide), boxes)]
    label = (free or tries)[0]
    boxes.append(_named(label, wide))
    cross = (_x(score.low), _x(score.high), _y(ends[0]), _y(ends[1]))
    return Spot(system.name, x, y, _y(score.value), cross, label)


def _named(at: tuple[float, float, str], wide: float) -> tuple[float, ...]:
    left = at[0] - wide * {"start": 0.0, "middle": 0.5, "end": 1.0}[at[2]]
    return left, at[1] - 12, left + wide, at[1] + LINE - 12


def _box(x: float, y: float, wide: float, tall: float) -> tuple[float, ...]:
    return x - wide, y - tall, x + wide, y + tall


def _fits(box: tuple[float, ...], boxes: Iterable[tuple[float, ...]]) -> bool:
    left, top, right, bottom = box
    if left < 4 or right > WIDTH or top < 0 or bottom > TOP + SIDE + 20:
        return False
    return not any(left < r and right > x and top < b and bottom > t for x, t, r, b in boxes)


def _x(score: float) -> float:
    return LEFT + SIDE * min(LAST, max(LEAST, score))


def _y(part: float) -> float:
    return TOP + SIDE * (1 - min(LAST, max(-0.02, part)))
