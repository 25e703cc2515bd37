"""Counterexample audit: worlds that separate gold from the alternatives that searches find."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import islice

from whybench.causal.graph import members
from whybench.causal.seeds import Stream
from whybench.families.replayscm.agents.structured import audited
from whybench.families.replayscm.proof.evidence import Evidence
from whybench.families.replayscm.proof.fit import smallest_ones
from whybench.families.replayscm.world.generation.generate import Problem
from whybench.families.replayscm.world.generation.rewindable_rng import Tape
from whybench.families.replayscm.world.gold_scm import (
    ROOTS,
    Latent,
    Odds,
    Signature,
    sample_world,
    signature,
)
from whybench.families.replayscm.world.world import Rows, Scm, Table, Told, scm_of

PROPOSALS = 200


def found_alternatives(
    told: Told, worlds: Sequence[Table], gold: Scm, stream: Stream, seeds: int
) -> list[Scm]:
    """Return the alternatives to gold that fit: the smallest ones, and the structure learner's."""
    evidence = Evidence(told, Rows.of(told.n, worlds))
    found = dict.fromkeys(islice(smallest_ones(evidence, seeds, 20_000), seeds))
    found |= dict.fromkeys(audited(evidence, stream, seeds))
    return [scm for scm in found if scm != gold]


def separating_worlds(
    told: Told,
    problem: Problem,
    extended: Sequence[Table],
    covering: Sequence[Table],
    tape: Tape,
    seeds: int,
) -> tuple[Table, ...]:
    """Return worlds that no alternative found by the searches fits."""
    latent = problem.latent
    gold = scm_of(latent.formulas)
    worlds = [*extended, *covering]
    alternatives = found_alternatives(told, extended, gold, tape, seeds)
    alternatives = [
        alternative
        for alternative in alternatives
        if all(agrees(alternative, world) for world in worlds)
    ]
    avoided = {signature(world) for world in problem.heldout}
    return (*worlds, *ruling_out(latent, alternatives, avoided, tape))


def ruling_out(
    latent: Latent, alternatives: Sequence[Scm], avoided: Collection[Signature], tape: Tape
) -> list[Table]:
    """Return worlds of gold until each alternative contradicts one of them."""
    gold = scm_of(latent.formulas)
    added: list[Table] = []
    while alternatives:
        best: tuple[int, Table] | None = None
        for _ in range(PROPOSALS):
            world = sample_world(latent, tape, Odds())
            left = sum(agrees(alternative, world) for alternative in alternatives)
            if signature(world) not in avoided and (best is None or left < best[0]):
                best = left, world
        if best is None or best[0] == len(alternatives):
            best = 0, _pointed(latent, gold, alternatives[0], avoided)
        world = best[1]
        added.append(world)
        alternatives = [alternative for alternative in alternatives if agrees(alternative, world)]
    return added


def _pointed(latent: Latent, gold: Scm, alternative: Scm, avoided: Collection[Signature]) -> Table:
    """Return a world that separates two SCMs: all parents are set to where the two differ."""
    v = next(v for v in members(gold.own) if gold.tables[v] != alternative.tables[v])
    differing = gold.tables[v] ^ alternative.tables[v]
    at = (differing & -differing).bit_length() - 1
    every = (1 << latent.units) - 1
    inputs = members(gold.parents[v] | alternative.parents[v])
    set_to = {u: every * (at >> u & 1) for u in inputs}
    constant = latent.see(set_to, "hard_constant", [0.5] * ROOTS)
    if signature(constant) not in avoided:
        return constant
    return latent.see(set_to, "hard_assigned", [0.5] * ROOTS)


def agrees(scm: Scm, world: Table) -> bool:
    """Return whether an SCM replays a world: each mechanism agrees where its variable is free."""
    return all(
        (scm.tables[v] >> row ^ row >> v) & 1 == 0
        for v in members(scm.own & ~world.targets)
        for row in world.rows()
    )
