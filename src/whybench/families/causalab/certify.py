"""World → certificate: what is proven of linear worlds for any real weights, by fractions.

Let B hold the weights and T = (I − B)⁻¹ the total effects. Setting j moves all readings along
column j of T. Another equation for node v, with weights B_v − n, shows the same readings if n is
orthogonal to the columns of all touched nodes but v, and n_v = 0. With n = a (I − B) this says
that a vanishes on the touched nodes but v, and that a_v is fixed by the others: as many free
directions as there are untouched nodes besides v. Under `shift` a touched node's base is known,
which takes one of them: Σ a_u · base_u = 0. The records take from the frequency's one for each
that differs in the untouched bases. The other world is acyclic if n vanishes on all that depend on
v. So the fewest interventions that leave no such n are a lower bound, and the exact agent shows
that they suffice.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations

from whybench.core.canonical import Json
from whybench.core.graph import members
from whybench.core.linear import nullspace, rank
from whybench.families.causalab.disturbance import options
from whybench.families.causalab.evidence import Evidence
from whybench.families.causalab.world import FREQUENCY, Law, Reading, Readings, World

SETTING = Fraction(97)
"""A setting in no special relation to any base."""


def hypotheses(world: World) -> str:
    """Say which worlds an agent must reckon with."""
    view = world.view
    kind = "quadratic" if view.quadratic else "linear"
    parts = [
        f"all acyclic {kind} laws with any real weights and bases",
        f"settings under `{view.semantics}`",
        "frequency causes nothing" if view.sink else "frequency may be a cause",
    ]
    if view.quadratic:
        parts.append("readings rounded to two decimals")
    if view.disturbance:
        where = "any quantities" if view.frequency_disturbed else "any properties"
        parts.append(
            f"after each intervention -{view.disturbance:g}, 0 or "
            f"{view.disturbance:g} added to {where}"
        )
    return "; ".join(parts)


def bases_of(law: Law, values: Sequence[float]) -> Readings:
    """Return the bases behind a crystal's readings."""
    return tuple(
        round(
            values[v]
            - sum(
                t.linear * values[t.cause] + t.square * values[t.cause] ** 2 for t in law.terms[v]
            ),
            2,
        )
        for v in range(law.k)
    )


def fewest(world: World) -> int | None:
    """Return a lower bound on the interventions after which all is forced; None if never."""
    view = world.view
    if view.disturbance:
        return None  # a disturbance is a free experiment: no bound is proven
    if view.quadratic:
        return fewest_quadratic(world)
    targets = view.targets()
    found = None
    for count in reversed(range(len(targets) + 1)):
        if not any(is_forced(world, touched) for touched in combinations(targets, count)):
            break
        found = count
    return found


def fewest_quadratic(world: World) -> int:
    """Count unknowns: two for each possible cause, one equation for each intervention.

    A node's causes are among the nodes that do not depend on it. Setting the node itself tells at
    most one equation, its base. The frequency is also measured in the records.
    """
    view, reach = world.view, world.law.graph.reach()
    free = (1 << view.k) - 1 & ~(1 << FREQUENCY) if view.sink else (1 << view.k) - 1
    needed = [2 * (free & ~reach[v] & ~(1 << v)).bit_count() for v in range(view.k)]
    needed[FREQUENCY] -= len(view.records)
    return max(0, *needed)


def is_forced(world: World, touched: Sequence[int]) -> bool:
    """Tell whether no single other equation shows the same once these properties were set."""
    return not any(True for _ in rivals(world, touched))


def rivals(world: World, touched: Sequence[int]) -> Iterator[tuple[int, tuple[Fraction, ...]]]:
    """Yield nodes with a direction in which their weights may move without a trace."""
    view, law = world.view, world.law
    k, reach = law.k, law.graph.reach()
    weights = [[Fraction(0)] * k for _ in range(k)]
    for v, terms in enumerate(law.terms):
        for term in terms:
            weights[v][term.cause] = Fraction(term.linear)
    bases = [Fraction(b) for b in world.bases]
    bases[FREQUENCY] = Fraction(law.base)
    records = [bases_of(law, r.values) for r in view.records if r.passive]
    untouched = [u for u in range(k) if u not in touched]
    for v in range(k):
        unknown = [u for u in untouched if u != v]
        if not unknown:
            continue
        directions = [_direction(weights, u, v) for u in unknown]
        forbidden = reach[v] | (1 << FREQUENCY if view.sink and v != FREQUENCY else 0)
        rows: list[list[Fraction]] = [
            [direction[d] for direction in directions] for d in members(forbidden)
        ]
        if v == FREQUENCY:
            rows += [[Fraction(r[u]) - bases[u] for u in unknown] for r in records]
        elif v in touched and view.semantics == "shift":
            rows.append([bases[u] + weights[u][v] * SETTING for u in unknown])
        for free in nullspace(rows, len(unknown)):
            yield (
                v,
                tuple(
                    sum((c * d[p] for c, d in zip(free, directions, strict=True)), Fraction(0))
                    for p in range(k)
                ),
            )


def _direction(weights: Sequence[Sequence[Fraction]], u: int, v: int) -> list[Fraction]:
    """Return e_u − B_u, with as much of e_v − B_v as keeps v out of its own equation."""
    k = len(weights)
    own = weights[u][v]
    row = [-weights[u][p] - own * weights[v][p] for p in range(k)]
    row[u] += 1
    row[v] += own
    return row


def frequency_fewest(world: World) -> int | None:
    """Return how many interventions the frequency alone needs: k unknowns, N + 1 readings.

    None if it may be a cause: what is known to depend on it is then no unknown.
    """
    view = world.view
    if not view.sink:
        return None
    unknowns = 2 * view.k - 1 if view.quadratic else view.k
    return max(0, unknowns - 1 - sum(record.passive for record in view.records))


def exact_rank(world: World) -> int:
    """Return the rank of the untouched readings with a column of ones, by fractions."""
    readings = [*(r for r in world.view.records if r.passive), world.view.baseline]
    rows = [[Fraction(1), *(Fraction(str(x)) for x in r.values[1:])] for r in readings]
    return rank(rows)


def witness(world: World, evidence: Evidence) -> Json:
    """Return two equations of one node, in acyclic worlds that show the same readings."""
    view, law = world.view, world.law
    if view.disturbance:
        for v in range(law.k):
            found = options(evidence, v, view.disturbance).found
            two = list({option.weights: option for option in found}.values())[:2]
            if len(two) == 2:
                first, second = (
                    {view.names[p]: [option.weights[p], 0.0] for p in members(option.parents())}
                    for option in two
                )
                return {"node": view.names[v], "equation": first, "rival": second}
    reach = law.graph.reach()
    for v in range(law.k):
        solution = evidence.solved(v, evidence.may_cause(v) & ~reach[v])
        if not len(solution.free):
            continue
        true = {view.names[t.cause]: [t.linear, t.square] for t in law.terms[v]}
        step = solution.free[0] / abs(solution.free[0]).max()
        rival: dict[str, list[float]] = {}
        for p in range(law.k):
            linear, square = true.get(view.names[p], [0.0, 0.0])
            linear += float(step[p])
            square += float(step[law.k + p]) if view.quadratic else 0.0
            if abs(linear) > 1e-9 or abs(square) > 1e-12:
                rival[view.names[p]] = [linear, square]
        return {"node": view.names[v], "equation": true, "rival": rival}
    return None


def chain_of(records: Sequence[Reading]) -> int:
    """Return how many interventions were given with the records."""
    return sum(not record.passive for record in records)
