"""Draw the crystals of a system: the manipulator's, those of the records, the reactor's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from whybench.causal.linear import rank
from whybench.causal.seeds import Stream
from whybench.families.causalab.agents.design import next_setting
from whybench.families.causalab.parameters import (
    LIMIT,
    NAME,
    RECORDS,
    TOLERANCE,
)
from whybench.families.causalab.proof.evidence import Evidence, inferred, predicted
from whybench.families.causalab.world import observed
from whybench.families.causalab.world.world import (
    DECIMALS,
    FREQUENCY,
    Law,
    Reading,
    Readings,
    View,
)

PATIENCE = 256
"""Most draws of a reactor's crystal; if none is precise, the most precise one is taken."""
APART = 10
"""Distance of the bases of the manipulator's crystal from 0, from the largest setting and from the
records' bases, in linear systems with real numbers: smaller steps drown in rounding."""
MOVED = 0.25
"""A reactor's crystal is drawn again if rounding can move its prediction by more, in Hz."""
HIGHEST = 100
"""Bases of properties go from 0 to this value; the manipulator's from 1 to one less."""


@dataclass(frozen=True, slots=True)
class Place:
    """What the draws of a system depend on; suites with the same k share them."""

    k: int
    seed: str
    graph: int
    kind: str = "linear"
    real: bool = False
    """Whether the system is linear with real numbers."""
    causes: int = 1
    """Least number of causes of the frequency."""

    def stream(self, *purpose: str | int) -> Stream:
        """Return the stream for one purpose."""
        return Stream(NAME, self.seed, self.k, self.kind, self.graph, *purpose)


def between(stream: Stream, bounds: tuple[float, float], decimals: int = DECIMALS) -> float:
    """Return a number with so many decimals, bounds included."""
    low, high = (round(bound * 10**decimals) for bound in bounds)
    return float((low + stream.below(high - low + 1)) / 10**decimals)


def _bases(stream: Stream, place: Place, margin: int) -> Readings:
    """Return bases: with two decimals if readings are rounded, otherwise whole numbers."""
    step = observed.STEP if place.kind == "observed" else 1
    low, high = margin * step, HIGHEST - margin * step
    drawn = [
        between(stream, (low, high))
        if place.kind == "quadratic" or place.real
        else float(low + step * stream.below((high - low) // step + 1))
        for _ in range(place.k - 1)
    ]
    return (0.0, *drawn)


class Crystals(NamedTuple):
    """Bases, and how many draws of records were rejected."""

    manipulator: Readings
    records: tuple[Readings, ...]
    shared: int
    """Draws that share a base with the manipulator's crystal, or nearly."""
    dependent: int
    """Draws that are affinely dependent on earlier ones."""


@lru_cache(maxsize=256)
def drawn_crystals(place: Place, count: int) -> Crystals:
    """Return the manipulator's bases, and those of the records.

    A draw that is not affinely independent of the earlier ones is repeated, as far as the dimension
    allows. N records and the baseline then determine as much as N + 1 readings can. Every record
    differs from the manipulator's crystal in every base, by more than `APART` if readings are
    rounded.
    """
    apart = APART if place.real else 0
    manipulator = _bases(place.stream("manipulator"), place, max(1, apart))
    kept: list[Readings] = []
    shared = dependent = 0
    stream = place.stream("records")
    while len(kept) < count:
        bases = _bases(stream, place, 0)
        if any(abs(a - b) <= apart for a, b in zip(bases[1:], manipulator[1:], strict=True)):
            shared += 1
            continue
        if len(kept) < place.k - 1 and not _independent([manipulator, *kept, bases]):
            dependent += 1
            continue
        kept.append(bases)
    return Crystals(manipulator, tuple(kept), shared, dependent)


class Reactor(NamedTuple):
    """The bases of the reactor's crystal, and how many draws were rejected."""

    bases: Readings
    refused: int


@lru_cache(maxsize=256)
def drawn_reactor(place: Place, law: Law, held: int) -> Reactor:
    """Draw the reactor's crystal; its prediction must be precise, although readings are rounded.

    The precision is that of the exact agent's experiments with the default regime and `shift`, so
    suites that share a system share the reactor's crystal.
    """
    stream = place.stream("reactor")
    if not place.real:
        return Reactor(_bases(stream, place, 0), 0)
    return precise_reactor(place, law, rehearsed(place, law, held))


def precise_reactor(place: Place, law: Law, evidence: Evidence) -> Reactor:
    """Draw a reactor's crystal whose prediction from the evidence is precise."""
    stream = place.stream("reactor")
    solution = evidence.solved(FREQUENCY, inferred(evidence).causes[FREQUENCY])
    drawn: list[tuple[float, Readings]] = []
    while len(drawn) < PATIENCE:
        bases = _bases(stream, place, 0)
        drawn.append((predicted(evidence, solution, law.readings(bases)).error, bases))
        if drawn[-1][0] <= MOVED:
            break
    return Reactor(min(drawn)[1], len(drawn) - 1)


def rehearsed(place: Place, law: Law, held: int, given: tuple[Reading, ...] = ()) -> Evidence:
    """Return the readings of the exact agent's experiments in the default regime.

    The records are those of the default regime, or `given`.
    """
    bases, records, *_ = drawn_crystals(place, max(RECORDS["certified"], held.bit_count()))
    view = View(
        names=("",) * place.k,
        display=tuple(range(1, place.k)),
        controllable=(1 << place.k) - 2 & ~held,
        semantics="shift",
        quadratic=False,
        sink=not law.graph.children[FREQUENCY],
        disturbance=0.0,
        frequency_disturbed=False,
        limit=LIMIT,
        budget=4 * (place.k - 1),
        tolerance=TOLERANCE["certified"],
        records=given or tuple(Reading(i, law.readings(own)) for i, own in enumerate(records)),
        baseline=Reading(len(records), law.readings(bases)),
        rounded=True,
    )
    now, readings = list(bases), [*view.records, view.baseline]
    while True:
        evidence = Evidence(view, readings)
        found = inferred(evidence)
        step = None if found.complete else next_setting(evidence, found)
        if step is None:
            return evidence
        now[step[0]] = step[1]
        readings.append(Reading(view.baseline.crystal, law.readings(now), *step))


def _independent(points: Sequence[Readings]) -> bool:
    return rank([(1, *(round(x * 100) for x in point[1:])) for point in points]) == len(points)
