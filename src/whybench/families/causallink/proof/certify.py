"""Compute the fields of a certificate."""

from __future__ import annotations

from whybench.causal.canonical import Record
from whybench.causal.graph import members
from whybench.families.causallink.failure_patterns import Change
from whybench.families.causallink.proof.evidence import EvidenceLog, Verdict
from whybench.families.causallink.proof.plan import number_of, plan_of
from whybench.families.causallink.world.world import State, View, World

HYPOTHESES = "all partial orders on the listed entities under which the start is closed"


def fewest(world: World) -> int:
    """Return the fewest interventions that force the answer on this hidden system.

    If everything is on at the start and within reach, there is a closed form. Other cases need a
    search, shortest sequences first.
    """
    view = world.view
    if view.fixed:
        return plan_of(view).fewest(number_of(world))
    if view.start == (1 << view.n) - 1:
        return fewest_all_on(world)
    return fewest_searched(world)


def fewest_all_on(world: World) -> int:
    """Return the closed form for a start with everything on.

    Let k be the number of sources that are y or above y. If the truth is yes, the result is k, plus
    one unless x is a source. If the truth is no, the result is 1 if y is a source. Otherwise it is
    k, plus one if every source at or above x is above y.
    """
    x, y = world.view.x, world.view.y
    sources = sum(1 << v for v in range(world.view.n) if not world.above[v])
    over_y = sources & (world.above[y] | 1 << y)
    over_x = sources & (world.above[x] | 1 << x)
    k = over_y.bit_count()
    if world.truth:
        return k + (0 if sources >> x & 1 else 1)
    if sources >> y & 1:
        return 1
    return k + (0 if over_x & ~over_y else 1)


def fewest_searched(world: World) -> int:
    """Search all sequences of interventions, shortest first; works for any start."""
    frontier: list[tuple[Change, ...]] = [()]
    for length in range(2 * world.view.n):
        if any(forced(world.view, history) != "undecided" for history in frontier):
            return length
        frontier = [(*h, c) for h in frontier for c in _useful(world, _now(world, h))]
    raise ValueError("no 2n interventions force the answer, which is proven impossible")


def forced(view: View, history: tuple[Change, ...]) -> Verdict:
    """Return the verdict of the evidence after a history."""
    log = EvidenceLog(view)
    for change in history:
        log.add(change.starts, change.v, change.after)
    return log.verdict()


def _now(world: World, history: tuple[Change, ...]) -> State:
    return history[-1].after if history else world.view.start


def _useful(world: World, state: State) -> list[Change]:
    """Return one intervention per entity; the others change nothing and show nothing."""
    on = [Change(False, v, state, world.after_stop(state, v)) for v in members(state)]
    off = [
        Change(True, v, state, world.after_start(state, v))
        for v in range(world.view.n)
        if not state >> v & 1
    ]
    return on + off


def facts(world: World) -> Record:
    """Return further figures, without the truth."""
    view = world.view
    told = {"n": view.n, "on_at_start": view.start.bit_count()}
    return Record.of(**told, fixed=view.fixed.bit_count()) if view.fixed else Record.of(**told)
