"""Find the edges that readings decide if they do not force every equation.

A law fits the readings if, in some order of the nodes, every node has an equation with causes among
the nodes before it. Dynamic programming over all sets of nodes finds the sets that can come first
and the sets that can be completed. Each edge is then checked in every position that it can take.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from weakref import WeakKeyDictionary

import numpy as np

from whybench.causal.graph import members
from whybench.families.causalab.proof.equations import EXACT, Solution
from whybench.families.causalab.proof.evidence import Evidence, inferred
from whybench.families.causalab.world.world import (
    DECIMALS,
    FREQUENCY,
    Reading,
    View,
    World,
    moved_base,
    solver,
)

Pairs = frozenset[tuple[int, int]]

Fits = Callable[[int, int], bool]
"""Whether a node has an equation with causes in a set."""

LOOSE = 1e-6
"""Weights below this count as zero."""

MOST = 8
"""Maximum number of nodes for which all orders are searched."""


@dataclass(frozen=True, slots=True)
class Verdicts:
    """Edges (cause, effect), by whether all laws that fit agree on them."""

    always: Pairs
    """Edges in every law that fits."""
    sometimes: Pairs
    """Undecided edges: in some laws that fit, but not in others."""


def answers(view: View, found: Verdicts) -> dict[tuple[int, int], str]:
    """Return yes, no or cannot for each pair of cause and effect; a stated sink is not asked."""
    causes = range(1 if view.sink else 0, view.k)
    return {
        (p, v): "yes" if (p, v) in found.always else "cannot" if (p, v) in found.sometimes else "no"
        for v in range(view.k)
        for p in causes
        if p != v
    }


def verdicts(evidence: Evidence) -> Verdicts:
    """Return the edges that readings force, and those that they leave open.

    Exact for linear laws without a disturbance; the time grows with 2**k. Above `MOST` nodes, every
    edge that single equations do not force counts as open.
    """
    if evidence not in _KNOWN:
        _KNOWN[evidence] = _worked_out(evidence)
    return _KNOWN[evidence]


_KNOWN: WeakKeyDictionary[Evidence, Verdicts] = WeakKeyDictionary()
"""Cached verdicts, kept as long as their evidence."""


def _worked_out(evidence: Evidence) -> Verdicts:
    found = inferred(evidence)
    k = evidence.view.k
    allowed = found.causes
    certain = frozenset(found.edges())
    if found.complete:
        return Verdicts(certain, frozenset())
    if k > MOST:
        loose = (v for v in range(k) if not found.settled >> v & 1)
        return Verdicts(certain, frozenset((p, v) for v in loose for p in members(allowed[v])))

    @cache
    def look(v: int, parents: int) -> tuple[bool, int]:
        solution = evidence.solved(v, parents)
        return solution.fits, _possible(solution, k)

    def fits(v: int, before: int) -> bool:
        return look(v, before & allowed[v])[0]

    nodes = [v for v in range(k) if v != FREQUENCY or not evidence.view.sink]
    first, last = _prefixes(nodes, fits), _completions(nodes, fits)
    there, absent = [0] * k, [0] * k
    places = [(v, before) for before in first for v in nodes if not before >> v & 1]
    if evidence.view.sink:  # frequency comes last, wherever it stands in the graph
        places.append((FREQUENCY, sum(1 << v for v in nodes)))
    for v, before in places:
        if v in nodes and before | 1 << v not in last:
            continue
        found_one, possible = look(v, before & allowed[v])
        if not found_one:
            continue
        there[v] |= possible
        absent[v] |= ~before
        for p in members(before & ~absent[v]):
            if fits(v, before & ~(1 << p)):
                absent[v] |= 1 << p
    return Verdicts(
        frozenset((p, v) for v in range(k) for p in members(there[v] & ~absent[v])),
        frozenset((p, v) for v in range(k) for p in members(there[v] & absent[v])),
    )


def _possible(solution: Solution, k: int) -> int:
    """Return the parents that may have a weight in some solution."""
    fixed = np.abs(solution.weights) > np.maximum(solution.error, LOOSE)
    loose = (np.abs(solution.free) > EXACT).any(axis=0)
    return sum(1 << p for p in {int(c) % k for c in np.flatnonzero(fixed | loose)})


def _prefixes(nodes: Sequence[int], fits: Fits) -> set[int]:
    """Return the sets of nodes that can come first."""
    found, grown = {0}, {0}
    while grown:
        grown = {
            before | 1 << v
            for before in grown
            for v in nodes
            if not before >> v & 1 and fits(v, before)
        }
        found |= grown
    return found


def _completions(nodes: Sequence[int], fits: Fits) -> set[int]:
    """Return the sets of nodes after which all others can follow."""
    every = sum(1 << v for v in nodes)
    found, shrunk = {every}, {every}
    while shrunk:
        shrunk = {
            after ^ 1 << v for after in shrunk for v in members(after) if fits(v, after ^ 1 << v)
        }
        found |= shrunk
    return found


def all_experiments(world: World) -> Evidence:
    """Return the readings of every experiment that could matter, as if there were no budget.

    Each controllable property is set to three values; further settings add nothing.
    """
    top = min(world.view.limit or 100.0, 100.0)  # larger ones would cost precision
    shares = (round(share * top, DECIMALS) for share in (1.0, 0.0, 0.37))
    return unrounded(world, [(v, setting) for setting in shares for v in world.view.targets()])


def unrounded(world: World, settings: Sequence[tuple[int, float]]) -> Evidence:
    """Return what settings would show if readings were not rounded.

    What exact values leave open, rounded readings leave open too: two laws that give the same
    values give the same readings.
    """
    view, lab = world.view, solver(world.law)
    show = lab.values if view.rounded else lab.readings
    bases = list(world.bases)
    now = show(bases) if view.rounded else view.baseline.values
    records = list(view.records)
    for i, own in enumerate(world.records if view.rounded else ()):
        records[i] = replace(records[i], values=show(own))
    readings = [*records, replace(view.baseline, values=now)]
    for v, setting in settings:
        bases[v] = moved_base(lab, view.semantics, v, setting, now)
        now = show(bases)
        readings.append(Reading(view.baseline.crystal, now, v, setting))
    return Evidence(replace(view, rounded=False), readings)
