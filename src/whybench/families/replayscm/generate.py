"""Choosing the worlds of a problem: the paper's filters (Table B.2), exact where they were bounded.

Shortcuts and local alternatives are read off the catalogue of all functions of four inputs by size,
so that "no shortcut survives" is a fact about the class and not about a search that stopped.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from whybench.core.boolean import parse, projected
from whybench.core.graph import members
from whybench.core.seeds import Stream
from whybench.core.smallest import matching
from whybench.families.replayscm.latent import (
    LEVELS,
    ROOTS,
    Latent,
    Odds,
    assigned,
    observational,
    sample_latent,
    sample_world,
    signature,
)
from whybench.families.replayscm.world import Rows, Table, numbers, scm_of

SEEDS = 3
"""Worlds drawn before any is chosen."""
TRAIN = 8
HELDOUT = 8
PROPOSALS = 200
SHORTCUT = 5
"""The largest formula that counts as a shortcut."""
SLACK, CAP = 2, 8
"""Local alternatives: formulas of at most `SLACK` nodes more than gold, at most `CAP`."""
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


def sample_problem(*path: str | int) -> Problem:
    """Draw a problem: an SCM, then worlds, until all filters are passed."""
    for attempt in range(10_000):
        stream = Stream(*path, "attempt", attempt)
        latent = sample_latent(stream)
        if not _carries_signal(latent):
            continue
        stratum = stream.choice(STRATA)
        for _ in range(ATTEMPTS):
            train = _training(latent, stream, stratum)
            if train is None:
                continue
            heldout = _held_out(latent, stream, stratum, train)
            if heldout is not None:
                return Problem(latent, train, heldout)
    raise RuntimeError("no problem passes the filters: are they contradictory?")


def _carries_signal(latent: Latent) -> bool:
    """Half of the endogenous variables must vary without intervention."""
    seen = observational(latent)
    every = (1 << latent.units) - 1
    varying = sum(seen.columns[v] not in (0, every) for v in latent.own)
    return 2 * varying >= len(latent.own)


# Training worlds.


def _training(latent: Latent, stream: Stream, stratum: Stratum) -> tuple[Table, ...] | None:
    chosen = [observational(latent)]
    chosen += [sample_world(latent, stream, stratum.odds) for _ in range(SEEDS)]
    initial = survivors(latent, chosen, SHORTCUT)
    alive = initial
    while len(chosen) < TRAIN:
        world, alive = _best_world(latent, stream, stratum, chosen, alive)
        chosen.append(world)
    if len(alive) > (1 - stratum.reduction) * len(initial):
        return None
    rivals = local_alternatives(latent, chosen)
    for _ in range(ADDED):
        if not rivals:
            break
        world, left = _best_world(latent, stream, stratum, chosen, rivals)
        if 2 * len(left) > len(rivals):
            break
        chosen.append(world)
        rivals = left
    if survivors(latent, chosen, SHORTCUT) or not _exposed(latent, stratum, chosen):
        return None
    return tuple(chosen)


Rival = tuple[int, tuple[int, ...], int]
"""A local rival of gold: a variable, the variables it takes, and its four-input table."""


def survivors(latent: Latent, worlds: Sequence[Table], most: int) -> list[Rival]:
    """Return all functions of the window, of at most so many nodes, that fit and are not gold."""
    return _rivals(latent, worlds, lambda _: most)


def local_alternatives(latent: Latent, worlds: Sequence[Table]) -> list[Rival]:
    """Return all functions of the window about as small as gold that fit and are not gold."""

    def most(v: int) -> int:
        return min(parse(latent.formulas[v], numbers(latent.n)).size + SLACK, CAP)

    return _rivals(latent, worlds, most)


def _rivals(latent: Latent, worlds: Sequence[Table], most: Callable[[int], int]) -> list[Rival]:
    rows = Rows.of(latent.n, worlds)
    gold = scm_of(latent.formulas)
    found: list[Rival] = []
    for v in latent.own:
        window = latent.window(v)
        own = projected(gold.tables[v], window)
        own = own if len(window) == 4 else own * (0, 0x5555, 0x1111, 0x0101)[len(window)]
        care, value = seen_patterns(rows, v, window)
        fits = matching(care, value, len(window), most(v))
        found += [(v, window, int(table)) for table in fits if table != own]
    return found


def seen_patterns(rows: Rows, v: int, over: Sequence[int]) -> tuple[int, int]:
    """Return the patterns of some variables seen where v is free, and those that gave 1."""
    care = value = 0
    for r in members(rows.free[v]):
        at = sum((rows.columns[u] >> r & 1) << i for i, u in enumerate(over))
        care |= 1 << at
        value |= (rows.columns[v] >> r & 1) << at
    return care, value


def _best_world(
    latent: Latent,
    stream: Stream,
    stratum: Stratum,
    chosen: Sequence[Table],
    rivals: list[Rival],
) -> tuple[Table, list[Rival]]:
    """Return the proposed world that leaves the fewest rivals, and those it leaves."""
    taken = {signature(world) for world in chosen}
    best: tuple[Table, list[Rival]] | None = None
    tries = PROPOSALS if rivals else 1
    while tries or best is None:
        focus = stream.choice(rivals)[1] if rivals else None
        target = stream.choice(focus) if focus and stream.below(2) else None
        world = sample_world(latent, stream, stratum.odds, target)
        tries = max(0, tries - 1)
        if signature(world) in taken:
            continue
        left = [rival for rival in rivals if _agrees(rival, world)]
        if best is None or len(left) < len(best[1]):
            best = world, left
            if not left:
                break
    return best


def _agrees(rival: Rival, world: Table) -> bool:
    """Tell whether a rival gives its variable's values in a world."""
    v, window, table = rival
    if world.targets >> v & 1:
        return True
    for r in range(world.size):
        at = sum((world.columns[u] >> r & 1) << i for i, u in enumerate(window))
        if (table >> at ^ world.columns[v] >> r) & 1:
            return False
    return True


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
    latent: Latent, stream: Stream, stratum: Stratum, train: Sequence[Table]
) -> tuple[Table, ...] | None:
    """Draw worlds with interventions not seen in training, neither too near nor too far."""
    taken = {signature(world) for world in train}
    low, high = stratum.novelty
    found: list[Table] = []
    for _ in range(40 * HELDOUT):
        world = sample_world(latent, stream, stratum.odds)
        if signature(world) in taken or not low <= novelty(world, train) <= high:
            continue
        taken.add(signature(world))
        found.append(world)
        if len(found) == HELDOUT:
            scored = (sum(not w.targets >> v & 1 for w in found) for v in latent.own)
            return tuple(found) if min(scored) >= 2 else None
    return None


def novelty(world: Table, train: Sequence[Table]) -> float:
    """Return the least Jaccard distance of a world's targets to those of training worlds."""
    return min(
        1
        - (world.targets & other.targets).bit_count() / (world.targets | other.targets).bit_count()
        for other in train
    )


# More evidence.


def coverage(latent: Latent, worlds: Sequence[Table]) -> tuple[int, int]:
    """Return how many patterns of all windows were seen where their variable is free, of how many.

    This is definition D of local predecessor-pattern coverage: the paper's own is not released.
    """
    rows = Rows.of(latent.n, worlds)
    seen = total = 0
    for v in latent.own:
        window = latent.window(v)
        seen += seen_patterns(rows, v, window)[0].bit_count()
        total += 1 << len(window)
    return seen, total


def extra_worlds(problem: Problem, stream: Stream) -> tuple[Table, ...]:
    """Add three worlds, or four while that adds much, chosen for new local patterns.

    Candidates have no target or one, and no held-out intervention is among them.
    """
    latent = problem.latent
    avoided = {signature(world) for world in problem.heldout}
    worlds = list(problem.train)
    added: list[Table] = []
    while len(added) < 4:
        unseen = _unseen(latent, worlds)
        proposals = [_single(latent, stream, unseen) for _ in range(PROPOSALS)]
        allowed = [world for world in proposals if signature(world) not in avoided]
        gains = [_gain(latent, world.rows(), world.targets, unseen) for world in allowed]
        best = max(range(len(allowed)), key=lambda i: gains[i])
        if len(added) == 3 and gains[best] < 2:
            break
        added.append(allowed[best])
        worlds.append(allowed[best])
    return tuple(added)


Unseen = dict[int, int]
"""For each variable, the patterns of its window that were not seen, as a bitset."""


def _unseen(latent: Latent, worlds: Sequence[Table]) -> Unseen:
    rows = Rows.of(latent.n, worlds)
    found = {}
    for v in latent.own:
        window = latent.window(v)
        every = (1 << (1 << len(window))) - 1
        found[v] = every & ~seen_patterns(rows, v, window)[0]
    return found


def _gain(latent: Latent, rows: Sequence[int], targets: int, unseen: Unseen) -> int:
    """Return how many unseen patterns rows show."""
    found = 0
    for v, patterns in unseen.items():
        if patterns and not targets >> v & 1:
            window = latent.window(v)
            shown = 0
            for row in rows:
                shown |= 1 << sum((row >> u & 1) << i for i, u in enumerate(window))
            found += (shown & patterns).bit_count()
    return found


def _single(latent: Latent, stream: Stream, unseen: Unseen) -> Table:
    """Draw a world with one target at most; assigned row by row, each row shows what it can."""
    levels = [stream.choice(LEVELS) for _ in range(ROOTS)]
    kind = stream.below(5)
    if kind == 0:
        return latent.see({}, "none", levels)
    target = stream.below(latent.n)
    every = (1 << latent.units) - 1
    if kind == 1:
        return latent.see({target: every * stream.below(2)}, "hard_constant", levels)
    low, high = (latent.see({target: value}, "hard_assigned", levels) for value in (0, every))
    chosen: list[int] = []
    for pair in zip(low.rows(), high.rows(), strict=True):
        worth = [_gain(latent, [*chosen, row], 1 << target, unseen) for row in pair]
        first = stream.below(2) if worth[0] == worth[1] else int(worth[1] > worth[0])
        chosen.append(pair[first])
    return Table.of(latent.n, 1 << target, "hard_assigned", chosen)


def covering_worlds(problem: Problem, worlds: Sequence[Table], stream: Stream) -> list[Table]:
    """Return worlds that complete local pattern coverage.

    All of a window is assigned, row by row, the patterns not yet seen first.
    """
    latent = problem.latent
    avoided = {signature(world) for world in problem.heldout}
    added: list[Table] = []
    while True:
        rows = Rows.of(latent.n, [*worlds, *added])
        missing = {
            v: [
                at
                for at in range(1 << len(latent.window(v)))
                if not seen_patterns(rows, v, latent.window(v))[0] >> at & 1
            ]
            for v in latent.own
        }
        v = max(missing, key=lambda u: len(missing[u]))
        if not missing[v]:
            return added
        best: Table | None = None
        most = -1
        now = coverage(latent, [*worlds, *added])[0]
        for _ in range(12):
            world = _window_world(latent, v, missing[v], stream)
            gain = coverage(latent, [*worlds, *added, world])[0] - now
            if gain > most and signature(world) not in avoided:
                best, most = world, gain
        if best is None:  # just this intervention is held out: one more target makes another
            best = _window_world(latent, v, missing[v], stream, further=True)
        added.append(best)


def _window_world(
    latent: Latent, v: int, missing: Sequence[int], stream: Stream, *, further: bool = False
) -> Table:
    """Assign a window the patterns that are missing; a further target may have any values."""
    window = latent.window(v)
    patterns = (stream.shuffled(missing) + stream.shuffled(range(1 << len(window))))[: latent.units]
    patterns += [stream.below(1 << len(window)) for _ in range(latent.units - len(patterns))]
    set_to = {
        u: sum((at >> i & 1) << r for r, at in enumerate(patterns)) for i, u in enumerate(window)
    }
    levels = [stream.choice(LEVELS) for _ in range(ROOTS)]
    if further:
        others = [u for u in range(latent.n) if u != v and u not in window]
        set_to[stream.choice(others)] = assigned(latent, stream)
    return latent.see(set_to, "hard_assigned", levels)
