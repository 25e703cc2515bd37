"""The law and the problem of a hidden system, ignoring the names of properties."""

from __future__ import annotations

from whybench.causal.canonical import Json
from whybench.causal.labelled_graph_canon import labelled_form
from whybench.families.causalab.world.world import FREQUENCY, Law, World


def system(law: Law) -> Json:
    """Return a law, ignoring names: the weighted graph, and the base of the frequency."""
    colours = [(v == FREQUENCY, law.base if v == FREQUENCY else 0.0) for v in range(law.k)]
    return labelled_form(colours, _weights(law))


def shape(law: Law) -> Json:
    """Return a law's graph, ignoring names."""
    edges = dict.fromkeys(_weights(law), (1.0, 0.0))
    return labelled_form([(v == FREQUENCY, 0.0) for v in range(law.k)], edges)


def problem(world: World) -> Json:
    """Return the law with everything that is stated, shown and asked, ignoring names.

    All readings, settings and bases identify a property. The display order does not count. The
    parameters `verify` and `candidates` are not included: problems are compared within one set, and
    a set has one value of every parameter.
    """
    view, disturbance = world.view, world.disturbance
    readings = (*view.records, view.baseline)
    colours = [
        (
            v == FREQUENCY,
            view.controllable >> v & 1,
            disturbance.affected >> v & 1 if disturbance is not None else 0,
            world.law.base if v == FREQUENCY else world.bases[v],
            world.reactor[v],
            *((r.values[v] + 0.0, r.target == v) for r in readings),
        )
        for v in range(view.k)
    ]
    told = [
        view.semantics, view.quadratic, view.sink, view.disturbance, view.frequency_disturbed,
        view.limit, view.budget, view.tolerance, view.released,
    ]  # fmt: skip
    looks = [(r.crystal, r.passive, r.setting) for r in readings]
    moves = [disturbance.after(i + 1) for i in range(view.budget)] if disturbance else None
    return [told, looks, moves, labelled_form(colours, _weights(world.law))]


def _weights(law: Law) -> dict[tuple[int, int], tuple[float, float]]:
    return {(t.cause, v): (t.linear, t.square) for v, terms in enumerate(law.terms) for t in terms}
