"""More evidence: worlds chosen to show local patterns that were not seen yet."""

from __future__ import annotations

from collections.abc import Sequence

from whybench.families.replayscm.world.generation.generate import PROPOSALS, Problem
from whybench.families.replayscm.world.generation.local_alternatives import seen_patterns
from whybench.families.replayscm.world.generation.rewindable_rng import Tape
from whybench.families.replayscm.world.gold_scm import LEVELS, ROOTS, Latent, assigned, signature
from whybench.families.replayscm.world.world import Rows, Table


def coverage(latent: Latent, worlds: Sequence[Table]) -> tuple[int, int]:
    """Return how many patterns of all windows were seen with their variable free, and their total.

    This is definition D of local predecessor-pattern coverage; the paper's own is not released.
    """
    rows = Rows.of(latent.n, worlds)
    seen = total = 0
    for v in latent.own:
        window = latent.window(v)
        seen += seen_patterns(rows, v, window)[0].bit_count()
        total += 1 << len(window)
    return seen, total


def extra_worlds(problem: Problem, tape: Tape) -> tuple[Table, ...]:
    """Return three worlds chosen for new local patterns, or four if the fourth adds enough.

    Candidates have at most one target, and none repeats a held-out intervention.
    """
    latent = problem.latent
    avoided = {signature(world) for world in problem.heldout}
    worlds = list(problem.train)
    added: list[Table] = []
    while len(added) < 4:
        unseen = _unseen(latent, worlds)
        proposals = [_single(latent, tape, unseen) for _ in range(PROPOSALS)]
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


def _single(latent: Latent, tape: Tape, unseen: Unseen) -> Table:
    """Draw a world with at most one target; row-by-row values are chosen for new patterns."""
    levels = [tape.choice(LEVELS) for _ in range(ROOTS)]
    kind = tape.below(5)
    if kind == 0:
        return latent.see({}, "none", levels)
    target = tape.below(latent.n)
    every = (1 << latent.units) - 1
    if kind == 1:
        return latent.see({target: every * tape.below(2)}, "hard_constant", levels)
    low, high = (latent.see({target: value}, "hard_assigned", levels) for value in (0, every))
    chosen: list[int] = []
    for pair in zip(low.rows(), high.rows(), strict=True):
        worth = [_gain(latent, [*chosen, row], 1 << target, unseen) for row in pair]
        first = tape.below(2) if worth[0] == worth[1] else int(worth[1] > worth[0])
        chosen.append(pair[first])
    return Table.of(latent.n, 1 << target, "hard_assigned", chosen)


def covering_worlds(problem: Problem, worlds: Sequence[Table], tape: Tape) -> list[Table]:
    """Return worlds that complete local pattern coverage.

    They set the whole window row by row, first to the patterns not yet seen.
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
            world = _window_world(latent, v, missing[v], tape)
            gain = coverage(latent, [*worlds, *added, world])[0] - now
            if gain > most and signature(world) not in avoided:
                best, most = world, gain
        if best is None:  # exactly this intervention is held out: a further target changes it
            best = _window_world(latent, v, missing[v], tape, further=True)
        added.append(best)


def _window_world(
    latent: Latent, v: int, missing: Sequence[int], tape: Tape, *, further: bool = False
) -> Table:
    """Set a window to its missing patterns; a further target may have any values."""
    window = latent.window(v)
    patterns = (tape.shuffled(missing) + tape.shuffled(range(1 << len(window))))[: latent.units]
    patterns += [tape.below(1 << len(window)) for _ in range(latent.units - len(patterns))]
    set_to = {
        u: sum((at >> i & 1) << r for r, at in enumerate(patterns)) for i, u in enumerate(window)
    }
    levels = [tape.choice(LEVELS) for _ in range(ROOTS)]
    if further:
        others = [u for u in range(latent.n) if u != v and u not in window]
        set_to[tape.choice(others)] = assigned(latent.units, tape)
    return latent.see(set_to, "hard_assigned", levels)
