"""Covariates by which a report can sort problems: disclosure, evidence, and open bits."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

from whybench.causal.canonical import Json, Record
from whybench.causal.graph import members
from whybench.families.replayscm.proof.evidence import evidence_for
from whybench.families.replayscm.proof.patterns import WIDEST
from whybench.families.replayscm.world.generation.local_alternatives import seen_patterns
from whybench.families.replayscm.world.world import Rows, Table, Told, World


def covariates(world: World) -> Record:
    """Return the covariates of a problem; in the laboratory, before the first experiment.

    `bits` is left out if counting takes long, that is, if the roots are hidden.
    """
    view, gold = world.view, world.gold
    parents = gold.parents
    shape: dict[str, Json] = {
        "disclosure": view.disclosure,
        "task": view.task,
        "variables": view.n,
        "endogenous": gold.own.bit_count(),
        "bound": view.told.k,
        "edges": len(gold.edges()),
        "parents_most": max((mask.bit_count() for mask in parents), default=0),
        "depth": max(gold.depths()),
        "train_worlds": len(view.train),
        "train_rows": sum(table.size for table in view.train),
        "heldout_worlds": len(world.heldout),
        "patterns_shown": _shown(gold.own, parents, view.n, view.train),
    }
    if view.task == "alternative":
        shape["reference_is_gold"] = view.reference == world.formulas
    coverage = world.facts.get("pattern_coverage")
    if coverage is not None:
        shape["pattern_coverage"] = float(coverage)
    bits = open_bits(view.told, view.train) if view.told.roots is not None else None
    if bits is not None:
        shape["bits"] = bits
    return Record(shape.items())


@lru_cache(maxsize=4096)
def open_bits(told: Told, tables: tuple[Table, ...]) -> float | None:
    """Return log2 of the number of SCMs of a class that fit; None if none does or it takes long.

    Only hidden roots without a bound on parents take long: some seconds for ten variables.
    """
    if told.roots is None and told.k > WIDEST:
        return None
    bits = evidence_for(told, Rows.of(told.n, tables)).bits
    return bits if math.isfinite(bits) else None


def _shown(own: int, parents: Sequence[int], n: int, tables: Sequence[Table]) -> float:
    """Return the share of all patterns of true parents that some row shows with the child free.

    If no row shows a pattern, the rows do not determine the mechanism there.
    """
    rows = Rows.of(n, tables)
    seen = total = 0
    for v in members(own):
        inputs = list(members(parents[v]))
        seen += seen_patterns(rows, v, inputs)[0].bit_count()
        total += 1 << len(inputs)
    return seen / total if total else 1.0
