"""An independent check of CausalLink certificates, from the definitions.

The checker shares no code with the generator of certificates. Its dynamics are the cascade over
direct causes, as the paper describes it. A chase decides which orders fit: it adds what the
evidence demands until nothing is missing, and tries every alternative.

`fewest` comes from two searches that alternate. The first finds the shortest sequence of
interventions that distinguishes the truth from every order in a pool, which is a lower bound. The
second is the chase. If it finds no alternative, the sequence forces the answer, so the bound is
reached. Otherwise the alternative joins the pool.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from whybench.causal.canonical import Json
from whybench.causal.graph import members
from whybench.episode.action import Action
from whybench.episode.certificate import Certificate
from whybench.episode.instance import Instance
from whybench.families.causallink.proof.checker.orders import (
    Moment,
    Order,
    acted,
    closed,
    find_alternative,
)
from whybench.families.causallink.proof.checker.worst import tabled, worst_case
from whybench.families.causallink.rules import LinkEpisode
from whybench.families.causallink.world.world import World
from whybench.families.claims import differences

UNVERIFIED_CLAIMS = {
    "exact_steps": "only that it lies between `fewest` and the worst case, and within the budget",
    "minimax_upper": "for more than 5 entities: only that it is the table's value",
    "solvable": "where `fewest` ≤ budget < worst case: only that it agrees with `exact_steps`",
}
"""Claims that are checked only in part, and which part is checked."""

HYPOTHESES = "all partial orders on the listed entities under which the start is closed"

EXHAUSTIVE = 5
"""Up to this number of entities, `minimax` is proven and checked over all orders."""


def flaws(instance: Instance, world: World, certificate: Certificate) -> list[str]:
    """Return what is wrong with a certificate, one sentence for each claim that fails."""
    view, on = world.view, world.view.start.bit_count()
    least, shortest = _fewest(world)
    x_on, y_on = bool(view.start >> view.x & 1), bool(view.start >> view.y & 1)
    identified = least <= view.budget
    worst = tabled(on, x_on, y_on)
    stored = certificate.to_json()
    expected: dict[str, Json] = {
        "instance": instance.id,
        "hypotheses": HYPOTHESES,
        "identified": identified,
        "best_score": 1.0 if identified else 0.0,
        "fewest": least,
        "bits": 0.0 if identified else 1.0,
        "minimax": worst if view.n <= EXHAUSTIVE else None,
        "minimax_upper": worst,
        "witness": None,
    }
    found = differences(stored, expected)
    found += differences(stored["facts"], {"n": view.n, "on_at_start": on}, "facts.")
    if view.n <= EXHAUSTIVE and worst_case(view.n, on, x_on, y_on) != worst:
        found.append(f"minimax {worst} of the table is not the worst case over all orders")
    found += _exact_flaws(certificate, least, worst, view.budget)
    return found + _replay_flaws(instance, world, shortest)


def _exact_flaws(certificate: Certificate, least: int, worst: int, budget: int) -> list[str]:
    steps, solvable = certificate.exact_steps, certificate.solvable
    if solvable is not (steps is not None):
        return [f"solvable: {solvable!r} is stored beside exact_steps {steps!r}"]
    if steps is None:
        return [] if budget < worst else [f"exact_steps: nothing is stored, {worst} always suffice"]
    if type(steps) is int and least <= steps <= min(worst, budget):
        return []
    return [f"exact_steps: {steps!r} is stored, {least} to {min(worst, budget)} was found"]


def _replay_flaws(instance: Instance, world: World, moments: Sequence[Moment]) -> list[str]:
    """Run the shortest sequence in an episode; it must show what the cascade predicts."""
    episode, view = LinkEpisode(instance, world, 1), world.view
    theme = episode.theme
    for before, v, after in moments[: view.budget]:
        verb = theme.stop if before >> v & 1 else theme.start
        seen = episode.step(Action.of(verb, **{theme.noun: view.names[v]}))
        if seen.data.get("on") != tuple(view.names[u] for u in members(after)):
            return [f"fewest: an episode does not show what {verb} {view.names[v]} must show"]
    return []


# The duel of sequences and alternatives.


def _fewest(world: World) -> tuple[int, list[Moment]]:
    """Return the fewest interventions that force the answer, and one such sequence."""
    view, causes = world.view, world.graph.parents()
    above = closed(causes)
    truth = bool(above[view.y] >> view.x & 1)
    pool: list[Order] = []
    while True:
        moments = _shortest(causes, view.start, pool)
        alternative = find_alternative(view.n, view.start, moments, (view.x, view.y), truth, above)
        if alternative is None:
            return len(moments), moments
        pool.append(alternative)


def _shortest(causes: Order, start: int, pool: Sequence[Order]) -> list[Moment]:
    """Return the shortest sequence that excludes every order of the pool (breadth first)."""
    first = (start, (1 << len(pool)) - 1)
    came: dict[tuple[int, int], tuple[tuple[int, int], int] | None] = {first: None}
    waiting = deque([first])
    while waiting:
        node = waiting.popleft()
        state, alive = node
        if not alive:
            return _path(came, node)
        for v in range(len(causes)):
            after, left = acted(causes, state, v), alive
            for i in members(alive):
                if acted(pool[i], state, v) != after:
                    left ^= 1 << i
            if (after, left) not in came:
                came[after, left] = (node, v)
                waiting.append((after, left))
    raise ValueError("two orders with different answers behave alike: the dynamics are broken")


def _path(
    came: dict[tuple[int, int], tuple[tuple[int, int], int] | None], node: tuple[int, int]
) -> list[Moment]:
    moments: list[Moment] = []
    while (step := came[node]) is not None:
        moments.append((step[0][0], step[1], node[0]))
        node = step[0]
    return moments[::-1]
