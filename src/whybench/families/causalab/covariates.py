"""Properties of instances by which a report can group them: size, motifs and condition."""

from __future__ import annotations

from whybench.causal.canonical import Record
from whybench.families.causalab.world.world import World, motifs


def covariates(world: World) -> Record:
    """Return facts about a hidden system that need no proof.

    `density` is the share of pairs of quantities that an edge joins. `records` counts the crystals
    measured without an intervention, and `chain` counts the given interventions.
    """
    view, k = world.view, world.law.k
    counts = motifs(world.law.graph)
    passive = sum(record.passive for record in view.records)
    moved = 0 if world.disturbance is None else world.disturbance.affected.bit_count()
    return Record.of(
        k=k,
        **counts,
        density=counts["edges"] / (k * (k - 1) / 2),
        regime=world.regime,
        records=passive,
        chain=len(view.records) - passive,
        budget=view.budget,
        law="quadratic" if view.quadratic else "linear",
        frequency_is_cause=bool(world.law.graph.children[0]),
        disturbance=view.disturbance,
        disturbed=moved,
        controllable=view.controllable.bit_count(),
    )
