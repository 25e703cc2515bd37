"""Counterexample audit with users' own logs: worlds that rule out what models found."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from whybench.causal.seeds import Stream
from whybench.episode.registry import load_suite
from whybench.families.replayscm.extras.protocol.export import record, write
from whybench.families.replayscm.extras.protocol.mined import (
    Tried,
    alternatives,
    gold_order,
    still_fits,
)
from whybench.families.replayscm.parameters import FAMILY
from whybench.families.replayscm.world.generation.rewindable_rng import Tape
from whybench.families.replayscm.world.generation.separate import ruling_out
from whybench.families.replayscm.world.gold_scm import ROOTS, Latent, signature
from whybench.families.replayscm.world.world import World

SUITES = {"ordered": "ord_cex", "hidden": "hid_cex"}
"""Disclosure → the suite that the audited problems belong to."""

LADDER = tuple(f"{short}_{level}" for short in ("ord", "hid") for level in ("match", "ext", "cex"))
"""Suites whose answers are audited."""


@dataclass(frozen=True, slots=True)
class Audit:
    """The audited problems of a suite."""

    path: Path
    problems: int
    alternatives: int
    """Answers, counted once each, that fitted the worlds of the suite without being gold."""
    added: int
    """Worlds that were added."""


def write_audited(found: Iterable[Tried], folder: Path) -> dict[str, Audit]:
    """Write problems whose worlds contradict every alternative among the answers.

    They start from the worlds of `_cex`, or from those of a problem that comes from a folder.
    """
    listed = [one for one in found if one.instance.suite in LADDER]
    mined = alternatives(listed)
    written = {}
    for disclosure, suite in SUITES.items():
        problems = {one.key: one for one in listed if one.world.view.disclosure == disclosure}
        records, left, added = [], 0, 0
        for key, one in sorted(problems.items()):
            world = _audited(one, suite)
            fitting = still_fits(mined.get(key, ()), world.view.train)
            order = gold_order(one.instance, world)
            avoided = {signature(table) for table in world.heldout}
            more = ruling_out(
                with_units(world, order),
                [each.scm for each in fitting],
                avoided,
                Tape(FAMILY, "counterexamples", *key),
            )
            left, added = left + len(fitting), added + len(more)
            records.append(record(world, order, (*world.view.train, *more)))
        if records:
            written[suite] = Audit(write(folder, suite, records), len(records), left, added)
    return written


def _audited(one: Tried, suite: str) -> World:
    """Return the problem with the worlds of the audit that ships."""
    instance = one.instance
    if instance.parameters.get("data") is not None or instance.suite == suite:
        return one.world
    audited = load_suite(f"{FAMILY}/{suite}", profile=instance.profile, seed=instance.seed)
    world: World = audited.family.world(audited[instance.index])
    return world


def with_units(world: World, order: Sequence[int]) -> Latent:
    """Return the gold SCM with units for new worlds.

    Records do not store the units' thresholds. New ones are drawn so that each unit has the root
    values that it has in the first training world, where every level is 0.5.
    """
    if world.gold.roots.bit_count() != ROOTS:
        raise ValueError(f"Only problems with {ROOTS} roots can be audited.")
    first = world.view.train[0]
    stream = Stream(FAMILY, "counterexamples", "units", world.cluster)
    thresholds = tuple(
        tuple(
            stream.uniform() / 2 + (0.0 if first.columns[root] >> unit & 1 else 0.5)
            for unit in range(first.size)
        )
        for root in order[:ROOTS]
    )
    return Latent(world.view.n, world.view.told.k, tuple(order), world.formulas, thresholds)
