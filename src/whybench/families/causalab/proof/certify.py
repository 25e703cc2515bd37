"""Compute certificates; lower bounds for linear laws hold for any real weights, without rounding.

If readings are rounded, laws that give the same values give the same readings too, so what exact
readings leave open stays open. That the law is forced is then shown by the exact agent's run.

Let B be the matrix of weights and T = (I − B)⁻¹ the total effects. Setting j moves all readings
along column j of T. Another equation for node v, with weights B_v − n, gives the same readings if
n_v = 0 and n is orthogonal to the columns of all nodes other than v that were set.

Write n = a (I − B). Then a is zero on all nodes other than v that were set, and a_v follows from
the others. So there is one free direction for each other node that was never set. Under `shift`,
the base of a node that was set is known, which removes one direction: Σ a_u · base_u = 0. For the
frequency, each record that differs in the bases of nodes that were never set removes one direction.
The other law is acyclic if n is zero on everything that depends on v.

The fewest interventions that leave no such n are a lower bound. The exact agent's run shows that
they suffice. The proofs are in docs/explanation/causalab-proofs.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import log2
from typing import TypeAlias

from whybench.causal.canonical import Json
from whybench.causal.equivalence import class_size
from whybench.causal.graph import members
from whybench.causal.linear import Exact, rank
from whybench.families.causalab.proof.ambiguity import all_experiments, verdicts
from whybench.families.causalab.proof.disturbance import options
from whybench.families.causalab.proof.evidence import Evidence
from whybench.families.causalab.world.world import (
    FREQUENCY,
    WEAKEST,
    Law,
    Reading,
    Readings,
    View,
    World,
)

Columns: TypeAlias = dict[int, tuple[Exact, ...]]

SETTING = 97
"""A setting without a special relation to any base."""


def hypotheses(world: World) -> str:
    """Return the class of laws in which the certificate holds."""
    view = world.view
    kind = "quadratic" if view.quadratic else "linear"
    parts = [
        f"all acyclic {kind} laws with any real weights and bases",
        f"settings under `{view.semantics}`",
        "frequency causes nothing" if view.sink else "frequency may be a cause",
    ]
    if view.rounded:
        parts[0] = f"all acyclic linear laws with real weights of size {WEAKEST:g} or more"
    if view.quadratic or view.rounded:
        parts.append("readings rounded to two decimals")
    if view.quadratic:
        parts.append("no effect with w below 0.05 and u below 0.0005 in size")
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
    """Return a lower bound on the interventions that force everything; None if none do.

    Setting more properties never loses information. The search therefore starts from the set of all
    properties and removes one at a time. It stops below a set that does not force everything.
    """
    view = world.view
    if view.disturbance:
        return None  # a disturbance is a free experiment: no bound is proven
    if view.quadratic:
        return fewest_quadratic(world)
    freedom = Freedom(world)
    found, sets = None, {view.controllable}
    while sets := {touched for touched in sets if freedom.is_forced(touched)}:
        found = next(iter(sets)).bit_count()
        sets = {touched ^ 1 << v for touched in sets for v in members(touched)}
    return found


def fewest_quadratic(world: World) -> int:
    """Count unknowns: two for each possible cause, one equation for each intervention.

    A node's causes are among the nodes that do not depend on it. Setting the node itself gives at
    most one equation, its base. The records also measure the frequency.
    """
    view, reach = world.view, world.law.graph.reach()
    free = (1 << view.k) - 1 & ~(1 << FREQUENCY) if view.sink else (1 << view.k) - 1
    needed = [2 * (free & ~reach[v] & ~(1 << v)).bit_count() for v in range(view.k)]
    needed[FREQUENCY] -= len(view.records)
    return max(0, *needed)


class Freedom:
    """The directions in which the weights of a law can move without changing a reading.

    For each node v, the conditions on `a` (see above) are stored as columns, one for each other
    node u. The conditions are that n is zero on everything that depends on v and, for the
    frequency, that the records agree. If the frequency causes nothing, then
    n_frequency = a_frequency = 0, so it is not an unknown of the others.
    """

    def __init__(self, world: World) -> None:
        view, law = world.view, world.law
        reach = law.graph.reach()
        weights: list[list[Exact]] = [[0] * law.k for _ in range(law.k)]
        for v, terms in enumerate(law.terms):
            for term in terms:
                weights[v][term.cause] = _decimal(term.linear)
        bases = [_decimal(base) for base in (law.base, *world.bases[1:])]
        shown = world.records or [bases_of(law, r.values) for r in view.records if r.passive]
        records = [
            [0, *(_decimal(own) - b for own, b in zip(row[1:], bases[1:], strict=True))]
            for row in shown
        ]
        begun = _begun(view, world.records)
        chain = view.records if world.records else ()
        self._given = sum({1 << r.target for r in chain if r.target is not None})
        """Properties that were set on a record's crystal."""
        self._unknown = view.properties if view.sink else (1 << law.k) - 1
        self._untouched: list[Columns] = []
        self._touched: list[Columns] = []
        """The same after v was set; under `shift` its known base adds one condition."""
        for v in range(law.k):
            effects = list(members(reach[v] & self._unknown))
            columns: Columns = {}
            for u in members(self._unknown & ~(1 << v)):
                columns[u] = tuple(_direction(weights, u, v, effects))
                if v == FREQUENCY:
                    columns[u] += tuple(own[u] for own in records)
                columns[u] += tuple(
                    own[u] + weights[u][v] * setting for t, own, setting in begun if t == v
                )
            self._untouched.append(columns)
            if view.semantics == "shift":
                columns = {
                    u: (*column, bases[u] + weights[u][v] * SETTING)
                    for u, column in columns.items()
                }
            self._touched.append(columns)

    def is_forced(self, touched: int) -> bool:
        """Tell whether setting these properties leaves no other equation of any node.

        A node's conditions leave no direction if their columns are independent.
        """
        left = self._unknown & ~touched & ~self._given
        for v in range(len(self._touched)):
            columns = (self._touched if touched >> v & 1 else self._untouched)[v]
            unknown = [columns[u] for u in members(left & ~(1 << v))]
            if unknown and (len(unknown) > len(unknown[0]) or rank(unknown) < len(unknown)):
                return False
        return True


def _begun(view: View, records: Sequence[Readings]) -> list[tuple[int, tuple[Exact, ...], Exact]]:
    """Return the given interventions that reveal a base: target, bases of the crystal, setting."""
    crystals = [[*map(_decimal, own)] for own in records]
    found = []
    for reading in view.records if records else ():
        if reading.target is not None and view.semantics == "shift":
            own, setting = crystals[reading.crystal], _decimal(reading.setting)
            own[reading.target] = setting
            found.append((reading.target, tuple(own), setting))
    return found


def _direction(
    weights: Sequence[Sequence[Exact]], u: int, v: int, places: Sequence[int]
) -> Iterator[Exact]:
    """Yield entries of e_u − B_u, plus the multiple of e_v − B_v that makes entry v zero.

    Entry v itself is not in `places`.
    """
    own = weights[u][v]
    for p in places:
        yield (p == u) - weights[u][p] - own * weights[v][p]


def bits_left(world: World, readings: Sequence[Reading]) -> float:
    """Return the bits of the equivalence class that the readings leave, at least one."""
    touched = sum({1 << r.target for r in readings if r.target is not None})
    return max(1.0, log2(class_size(world.law.graph, touched)))


def by_run(world: World) -> bool:
    """Tell whether the exact agent's run shows identification, instead of ranks.

    "Identified" then means that this run forced the law. The opposite means only that it did not.
    """
    view = world.view
    return view.quadratic or view.rounded or bool(view.disturbance) or bool(chain_of(view.records))


def all_can_be_forced(view: View) -> bool:
    """Tell whether setting every property once forces every equation.

    This holds for linear laws if the prompt states that the frequency causes nothing. Each setting
    moves all readings along one column of the total effects, and their inverse holds the weights.
    """
    every = view.controllable == view.properties
    return every and view.sink and not view.quadratic and not view.disturbance


def minimax(world: World) -> int | None:
    """Return the worst case of the best plan: every property once, in linear systems.

    All of them are needed if all bases are zero and no property causes another. With two properties
    under `shift`, one suffices if the other's first reading is not zero. If the other property does
    not depend on the one that was set, its reading is its base, which reveals the weight. Three
    readings that are not collinear force the rest. In our systems at least one first reading is a
    base, and bases start at 1, so not both first readings are zero.
    """
    view = world.view
    if view.rounded or chain_of(view.records) or not all_can_be_forced(view):
        return None  # rounding hides the weights of some laws of the class, whatever is set
    spared = view.k == 3 and view.semantics == "shift" and len(view.records) >= 2
    return view.k - 2 if spared else view.k - 1


def frequency_fewest(world: World) -> int | None:
    """Return how many interventions the frequency alone needs: k unknowns, N + 1 readings.

    None if it may be a cause, because what depends on it is then not an unknown.
    """
    view = world.view
    if not view.sink:
        return None
    unknowns = 2 * view.k - 1 if view.quadratic else view.k
    return max(0, unknowns - 1 - len(view.records))


def frequency_open(world: World) -> bool | None:
    """Return None if another run than the exact agent's might force the frequency, else False."""
    least, most = frequency_fewest(world), min(world.view.budget, len(world.view.targets()))
    too_few = least is not None and least > most and not world.view.quadratic
    return None if by_run(world) and not too_few else False


def exact_rank(world: World) -> int:
    """Return the exact rank of the readings without interventions, with a column of ones."""
    readings = [*(r for r in world.view.records if r.passive), world.view.baseline]
    return rank([(1, *map(_decimal, r.values[1:])) for r in readings])


def _decimal(value: float) -> Exact:
    """Return the number that a float is written as."""
    return int(value) if value.is_integer() else Fraction(str(value))


def witness(world: World, evidence: Evidence) -> Json:
    """Return two equations of one node in acyclic laws that give the same readings."""
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


def verdict_facts(world: World) -> dict[str, Json]:
    """Return the edges that every law has that fits the records, and those that only some have."""
    found, names = verdicts(all_experiments(world)), world.view.names
    return {
        name: " ".join(f"{names[p]}>{names[v]}" for p, v in sorted(pairs))
        for name, pairs in (("forced_edges", found.always), ("open_edges", found.sometimes))
    }


def chain_of(records: Sequence[Reading]) -> int:
    """Return how many interventions were given with the records."""
    return sum(not record.passive for record in records)
