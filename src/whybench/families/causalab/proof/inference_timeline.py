"""Exact inference from an episode's readings, independent of the agent's conclusions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from whybench.causal.graph import members
from whybench.episode.trace import Trace
from whybench.families.causalab.hypothesis import Edge, Guess
from whybench.families.causalab.numbers import reading_of
from whybench.families.causalab.proof.ambiguity import Verdicts, verdicts
from whybench.families.causalab.proof.disturbance import options
from whybench.families.causalab.proof.evidence import Evidence, evidence_of, inferred, predicted
from whybench.families.causalab.world.world import FREQUENCY, Reading, View

SAME = 0.5
"""A hypothesis explains a frequency if its error is smaller than this, in Hz."""

NOTHING_OPEN = Verdicts(frozenset(), frozenset())


@dataclass(frozen=True, slots=True)
class Forced:
    """What readings force: the frequency of the reactor's crystal, and the graph."""

    frequency: float | None
    edges: frozenset[Edge]
    complete: bool
    possible: tuple[tuple[float, float], ...] | None = None
    """Values that the frequency can have, each with its error bound; None if any value fits."""

    def allows(self, frequency: float, tolerance: float) -> bool:
        """Tell whether some law that fits gives a frequency within the tolerance of this one."""
        return self.possible is None or any(
            abs(frequency - value) < tolerance + error for value, error in self.possible
        )


class InferenceTimeline:
    """The readings of an episode in order, with exact inference after each of them."""

    def __init__(self, view: View, trace: Trace) -> None:
        self.view = view
        self.readings: list[Reading] = [*view.records, view.baseline]
        self.start = len(self.readings)
        """Readings before the first intervention."""
        for step in trace.steps:
            if step.action.name == "intervene" and not step.observation.is_error:
                self.readings.append(reading_of(view, step.action, step.observation))
        self._evidence: dict[int, Evidence] = {}

    def evidence(self, interventions: int | None = None) -> Evidence:
        """Return the readings up to an intervention; by default all."""
        end = len(self.readings) if interventions is None else self.start + interventions
        if end not in self._evidence:
            self._evidence[end] = evidence_of(self.view, tuple(self.readings[:end]))
        return self._evidence[end]

    def forced(self, shown: Sequence[float], interventions: int | None = None) -> Forced:
        """Return what exact inference derives from the readings up to an intervention."""
        view, evidence = self.view, self.evidence(interventions)
        if view.disturbance:
            return _forced_under_disturbance(evidence, shown)
        known = inferred(evidence)
        solution = evidence.solved(FREQUENCY, known.causes[FREQUENCY])
        said = predicted(evidence, solution, shown)
        value = said.value if said.forced else None
        possible = ((said.value, said.error),) if said.not_free else None
        return Forced(value, frozenset(known.edges()), known.complete, possible)

    def left_open(self) -> Verdicts:
        """Return the edges that all readings force, and those that they leave undecided."""
        return NOTHING_OPEN if self.view.disturbance else verdicts(self.evidence())

    def sufficed_after(self) -> int | None:
        """Return the number of interventions after which everything was forced."""
        low, high = 0, len(self.readings) - self.start
        if not self._complete(high):
            return None
        while low < high:
            middle = (low + high) // 2
            if self._complete(middle):
                high = middle
            else:
                low = middle + 1
        return low

    def _complete(self, interventions: int) -> bool:
        evidence, size = self.evidence(interventions), self.view.disturbance
        if size:
            return all(options(evidence, v, size).settled for v in range(self.view.k))
        return inferred(evidence).complete

    def explained_by(self, guess: Guess, interventions: int) -> bool:
        """Tell whether a hypothesis agreed with the data at that time.

        Its equation must give every frequency, and its graph must fit for some weights.
        """
        view, evidence = self.view, self.evidence(interventions)
        for reading in evidence.readings:
            moved = view.frequency_disturbed and not reading.passive
            slack = SAME + (view.disturbance if moved else 0.0)
            said = guess.frequency(reading.values)
            if said is not None and abs(said - reading.values[FREQUENCY]) > slack:
                return False
        parents = [0] * view.k
        for cause, effect in guess.edges | guess.undetermined:
            if max(cause, effect) < view.k and cause != effect:
                parents[effect] |= 1 << cause
        if view.disturbance:
            return all(_possible(evidence, v, parents[v]) for v in range(view.k))
        return all(_fits(evidence, v, parents[v]) for v in range(view.k))


def _forced_under_disturbance(evidence: Evidence, shown: Sequence[float]) -> Forced:
    view = evidence.view
    found = [options(evidence, v, view.disturbance) for v in range(view.k)]
    settled = [each.found[0] if each.settled else None for each in found]
    edges = frozenset(
        (p, v)
        for v, option in enumerate(settled)
        if option is not None
        for p in members(option.parents())
    )
    own = found[FREQUENCY]
    values = tuple(
        (each.base + sum(w * x for w, x in zip(each.weights, shown, strict=True)), 0.0)
        for each in own.found
    )
    value = values[0][0] if own.settled else None
    return Forced(value, edges, None not in settled, None if own.open_ else values)


def _fits(evidence: Evidence, v: int, parents: int) -> bool:
    """Tell whether some equation with these parents fits; a forced one needs no solving."""
    found, quadratic = inferred(evidence), evidence.view.quadratic
    forced = found.parents[v]
    if forced is not None and not quadratic and not forced & ~parents:
        return evidence.solved(v, found.causes[v]).fits
    return evidence.solved(v, parents).fits


def _possible(evidence: Evidence, v: int, parents: int) -> bool:
    """Tell whether some equation with these parents fits under the disturbance."""
    found = options(evidence, v, evidence.view.disturbance)
    return found.open_ or any(not option.parents() & ~parents for option in found.found)


def misfit(guess: Guess, readings: Sequence[Reading]) -> float | None:
    """Return the mean error on the frequencies; None without a complete equation."""
    errors = []
    for reading in readings:
        said = guess.frequency(reading.values)
        if said is None:
            return None
        errors.append(abs(said - reading.values[FREQUENCY]))
    return sum(errors) / len(errors) if errors else None
