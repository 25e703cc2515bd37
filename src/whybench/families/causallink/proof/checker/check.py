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
from whybench.episode.registry import families
from whybench.families.causallink.proof.checker.limited import settled, shortest, worst_within
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
from whybench.families.claims import differences, unknown

UNVERIFIED_CLAIMS = {
    "minimax_upper": "for more than 5 entities: only that it is the table's value, because the "
    "orders are too many to play the plan on; `worst_case` in `proof/plan.py` has the argument",
    "solvable": "for more than 5 entities, if the exact agent stops before its budget is used up: "
    "only that its answer is right; tests decide with a SAT solver what its evidence forces",
}
"""Claims that are checked only in part, and which part is checked."""

HYPOTHESES = "all partial orders on the listed entities under which the start is closed"

EXHAUSTIVE = 5
"""Up to this number of entities, `minimax` is proven and checked over all orders."""


def flaws(instance: Instance, world: World, certificate: Certificate) -> list[str]:
    """Return what is wrong with a certificate, one sentence for each claim that fails."""
    view, on = world.view, world.view.start.bit_count()
    least, sequence = _fewest(world)
    x_on, y_on = bool(view.start >> view.x & 1), bool(view.start >> view.y & 1)
    identified = least <= view.budget
    worst = worst_within(view) if view.fixed else tabled(on, x_on, y_on)
    stored = certificate.to_json()
    steps = _exact_steps(instance, world)
    expected: dict[str, Json] = {
        "instance": instance.id,
        "hypotheses": HYPOTHESES,
        "status": "proven",
        "solvable": steps is not None,
        "identified": identified,
        "best_score": 1.0 if identified else None,
        "fewest": least,
        "bits": 0.0 if identified else 1.0,
        "minimax": worst if view.n <= EXHAUSTIVE else None,
        "minimax_upper": worst,
        "exact_steps": steps,
        "witness": None,
    }
    facts: dict[str, Json] = {"n": view.n, "on_at_start": on}
    if view.fixed:
        facts["fixed"] = view.fixed.bit_count()
    found = differences(stored, expected) + differences(stored["facts"], facts, "facts.")
    found += unknown(stored["facts"], facts, "facts.")
    searched = view.n <= EXHAUSTIVE and not view.fixed
    if searched and worst_case(view.n, on, x_on, y_on) != worst:
        found.append(f"minimax {worst} of the table is not the worst case over all orders")
    if steps is not None and not least <= steps <= worst:
        found.append(f"exact_steps {steps} is not between `fewest` {least} and {worst}")
    return found + _replay_flaws(instance, world, sequence)


def _exact_steps(instance: Instance, world: World) -> int | None:
    """Play the exact agent; count its interventions if they force its answer, and it is right.

    The agent is what the claim is about. What its interventions show and force is found here. For
    more than five entities the search for another order can take too long, so it is left out where
    the agent stopped by itself.
    """
    view, causes = world.view, world.graph.parents()
    above = closed(causes)
    truth = bool(above[view.y] >> view.x & 1)
    *tried, last = families()[instance.family].exact_run(instance).steps
    moments: list[Moment] = []
    state = view.start
    for step in tried:
        (name,) = step.action.args.asdict().values()
        v = view.names.index(name)
        moments.append((state, v, acted(causes, state, v)))
        state = moments[-1][2]
    gold, forced = "yes" if truth else "no", True
    if view.fixed:
        gold, forced = settled(view, above, moments)
    elif view.n <= EXHAUSTIVE or len(moments) == view.budget:
        asked = (view.x, view.y)
        forced = find_alternative(view.n, view.start, moments, asked, truth, above) is None
    right = last.action.args.get("answer") == gold
    return len(moments) if forced and right else None


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
    if view.fixed:
        moments = shortest(view, above)
        return len(moments), moments
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
