"""Choose the worlds of a problem with the paper's filters (Table B.2), made exact.

The filters use all shortcuts and local alternatives that exist, not only those that a search finds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from whybench.causal.canonical import EMPTY, Record
from whybench.families.replayscm.world.generation.local_alternatives import (
    LocalAlternative,
    local_alternatives,
    refutations,
    survivors,
)
from whybench.families.replayscm.world.generation.rewindable_rng import Tape
from whybench.families.replayscm.world.gold_scm import (
    Intervention,
    Latent,
    Odds,
    observational,
    sample_intervention,
    sample_latent,
    sample_world,
    signature,
)
from whybench.families.replayscm.world.world import Table

SEEDS = 3
"""Worlds drawn before any is chosen."""
TRAIN = 8
HELDOUT = 8
PROPOSALS = 200
FIRST_BATCH = 8
"""The number of proposals examined together; it doubles each time."""
SHORTCUT = 5
"""The largest formula that counts as a shortcut."""
ADDED = 3
"""Worlds that may be added against local alternatives."""
ATTEMPTS = 60
"""Draws of the worlds of one SCM before another SCM is drawn."""


@dataclass(frozen=True, slots=True)
class Stratum:
    """One setting of the filters; the paper's records mix several."""

    odds: Odds
    scored_worlds: int
    scored_cells: int
    assigned_worlds: int
    constant_worlds: int
    intervened: int
    """The most worlds in which one endogenous variable is a target."""
    novelty: tuple[float, float]
    reduction: float
    """The share of shortcuts that the chosen worlds must have killed."""


STRATA = (
    Stratum(Odds((0.2, 0.55, 0.25), 0.30), 3, 33, 3, 2, 5, (0.20, 0.65), 0.75),
    Stratum(Odds((0.1, 0.45, 0.45), 0.25), 4, 40, 3, 1, 4, (0.25, 0.72), 0.90),
    Stratum(Odds((0.03, 0.43, 0.54), 0.18), 3, 33, 4, 1, 5, (0.25, 0.72), 0.93),
    Stratum(Odds((0.05, 0.42, 0.53), 0.20), 4, 44, 4, 1, 4, (0.20, 0.70), 0.95),
)


@dataclass(frozen=True, slots=True)
class Problem:
    """A gold SCM with the worlds that are shown and those held out."""

    latent: Latent
    train: tuple[Table, ...]
    heldout: tuple[Table, ...]
    discarded: Record = EMPTY
    """Discarded draws: reason → count."""


def sample_problem(*path: str | int) -> Problem:
    """Draw a problem: an SCM, then worlds, until all filters are passed."""
    discarded: Counter[str] = Counter()
    for attempt in range(10_000):
        tape = Tape(*path, "attempt", attempt)
        latent = sample_latent(tape)
        if not _carries_signal(latent):
            discarded["too little signal"] += 1
            continue
        stratum = tape.choice(STRATA)
        for _ in range(ATTEMPTS):
            train = _training(latent, tape, stratum)
            if train is None:
                discarded["training worlds"] += 1
                continue
            heldout = _held_out(latent, tape, stratum, train)
            if heldout is not None:
                return Problem(latent, train, heldout, Record(sorted(discarded.items())))
            discarded["held-out worlds"] += 1
        discarded["no worlds"] += 1
    raise RuntimeError("No problem passes the filters. Check that they are consistent.")


def _carries_signal(latent: Latent) -> bool:
    """Half of the endogenous variables must vary without intervention."""
    seen = observational(latent)
    every = (1 << latent.units) - 1
    varying = sum(seen.columns[v] not in (0, every) for v in latent.own)
    return 2 * varying >= len(latent.own)


# Training worlds.


def _training(latent: Latent, tape: Tape, stratum: Stratum) -> tuple[Table, ...] | None:
    chosen = [observational(latent)]
    chosen += [sample_world(latent, tape, stratum.odds) for _ in range(SEEDS)]
    initial = survivors(latent, chosen, SHORTCUT)
    alive = initial
    while len(chosen) < TRAIN:
        world, alive = _best_world(latent, tape, stratum, chosen, alive)
        chosen.append(world)
    if len(alive) > (1 - stratum.reduction) * len(initial):
        return None
    alternatives = local_alternatives(latent, chosen)
    for _ in range(ADDED):
        if not alternatives:
            break
        world, left = _best_world(latent, tape, stratum, chosen, alternatives)
        if 2 * len(left) > len(alternatives):
            break
        chosen.append(world)
        alternatives = left
    if survivors(latent, chosen, SHORTCUT) or not _exposed(latent, stratum, chosen):
        return None
    return tuple(chosen)


def _best_world(
    latent: Latent,
    tape: Tape,
    stratum: Stratum,
    chosen: Sequence[Table],
    alternatives: list[LocalAlternative],
) -> tuple[Table, list[LocalAlternative]]:
    """Return the proposed world that leaves the fewest alternatives, and those it leaves."""
    tape.forget()
    taken = {signature(world) for world in chosen}
    best: tuple[Intervention, list[LocalAlternative]] | None = None
    tries = PROPOSALS if alternatives else 1
    batch = FIRST_BATCH if alternatives else 1
    while tries or best is None:
        drawn: list[tuple[Intervention, int]] = []
        for _ in range(min(batch, tries) or 1):
            focus = tape.choice(alternatives)[1] if alternatives else None
            target = tape.choice(focus) if focus and tape.below(2) else None
            drawn.append((sample_intervention(latent, tape, stratum.odds, target), tape.at))
        tries, batch = max(0, tries - len(drawn)), 2 * batch
        killed = refutations(latent, [proposal for proposal, _ in drawn], alternatives)
        alive = (len(alternatives) - killed.sum(axis=0)).tolist()
        for i, (proposal, place) in enumerate(drawn):
            if best and alive[i] >= len(best[1]):
                continue
            if proposal.signature in taken:
                continue
            best = (
                proposal,
                [alternative for r, alternative in enumerate(alternatives) if not killed[r, i]],
            )
            if not alive[i]:
                tape.at = place
                return proposal.on(latent), []
    return best[0].on(latent), best[1]


def _exposed(latent: Latent, stratum: Stratum, worlds: Sequence[Table]) -> bool:
    """Check scored exposure and intervention coverage."""
    modes = [world.mode for world in worlds]
    if modes.count("hard_assigned") < stratum.assigned_worlds:
        return False
    if modes.count("hard_constant") < stratum.constant_worlds:
        return False
    for v in latent.own:
        scored = [world for world in worlds if not world.targets >> v & 1]
        if len(worlds) - len(scored) > stratum.intervened or len(scored) < stratum.scored_worlds:
            return False
        if sum(world.size for world in scored) < stratum.scored_cells:
            return False
    return True


# Held-out worlds.


def _held_out(
    latent: Latent, tape: Tape, stratum: Stratum, train: Sequence[Table]
) -> tuple[Table, ...] | None:
    """Draw worlds with interventions not seen in training, neither too near nor too far."""
    taken = {signature(world) for world in train}
    low, high = stratum.novelty
    found: list[Intervention] = []
    for _ in range(40 * HELDOUT):
        drawn = sample_intervention(latent, tape, stratum.odds)
        if drawn.signature in taken or not low <= novelty(drawn.targets, train) <= high:
            continue
        taken.add(drawn.signature)
        found.append(drawn)
        if len(found) == HELDOUT:
            scored = (sum(not each.targets >> v & 1 for each in found) for v in latent.own)
            return tuple(each.on(latent) for each in found) if min(scored) >= 2 else None
    return None


def novelty(targets: int, train: Sequence[Table]) -> float:
    """Return the least Jaccard distance of targets to those of training worlds."""
    return min(
        1 - (targets & other.targets).bit_count() / (targets | other.targets).bit_count()
        for other in train
    )
