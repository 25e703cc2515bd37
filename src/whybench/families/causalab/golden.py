"""Chains of interventions that suffice: the `golden` suites."""

from __future__ import annotations

from whybench.core.equivalence import class_size
from whybench.core.seeds import Stream
from whybench.families.causalab.evidence import Evidence, inferred
from whybench.families.causalab.world import Law, Reading, Readings, View, moved_base, solver


def chain(view: View, law: Law, bases: Readings, stream: Stream) -> tuple[Reading, ...]:
    """Intervene on the first record's crystal until every equation is forced.

    Greedy: the next target is the property that leaves the smallest interventional equivalence
    class of the true graph; once that class is a single graph, the one that settles most equations.
    """
    lab, graph = solver(law), law.graph
    state, now = list(bases), view.records[0].values
    made: list[Reading] = []
    touched = 0
    while not inferred(Evidence(view, (*view.records, *made, view.baseline))).complete:
        left = [v for v in view.targets() if not touched >> v & 1]
        if not left:
            raise ValueError("no chain of interventions forces every equation of this world")
        setting = float(stream.below(101))
        offers = []
        for v in stream.shuffled(left):
            changed = list(state)
            changed[v] = moved_base(lab, view.semantics, v, setting, now)
            if changed[v] == state[v]:
                continue
            reading = Reading(view.records[0].crystal, lab.readings(changed), v, setting)
            seen = inferred(Evidence(view, (*view.records, *made, reading, view.baseline)))
            worth = (class_size(graph, touched | 1 << v), -seen.settled.bit_count())
            offers.append((worth, v, changed, reading))
        if offers:
            _, v, state, reading = min(offers, key=lambda offer: offer[0])
            touched, now = touched | 1 << v, reading.values
            made.append(reading)
    return tuple(made)
