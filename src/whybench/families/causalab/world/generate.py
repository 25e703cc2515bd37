"""Rebuild the hidden system from the coordinates of an instance."""

from __future__ import annotations

from dataclasses import replace

from whybench.causal.canonical import Record
from whybench.causal.equivalence import class_size
from whybench.causal.graph import members
from whybench.causal.seeds import Stream
from whybench.episode.instance import Profile
from whybench.families.causalab.parameters import (
    GRAPHS,
    NAME,
    PLANS,
    RECORDS,
    SIGNS,
    TOLERANCE,
    Parameters,
    Plan,
    regime,
)
from whybench.families.causalab.proof.evidence import Evidence, inferred
from whybench.families.causalab.world import names, observed
from whybench.families.causalab.world.crystals import (
    Place,
    Reactor,
    between,
    drawn_crystals,
    drawn_reactor,
    precise_reactor,
    rehearsed,
)
from whybench.families.causalab.world.topology import Draw, draw, draws, frequency_moved
from whybench.families.causalab.world.world import (
    FREQUENCY,
    Disturbance,
    Law,
    Reading,
    Readings,
    Term,
    View,
    World,
    moved_base,
    solver,
)


def chain(view: View, law: Law, bases: Readings, stream: Stream) -> tuple[Reading, ...]:
    """Intervene on the first record's crystal until every equation is forced.

    The choice is greedy. The next target is the property that leaves the smallest interventional
    equivalence class of the true graph. Once that class is a single graph, it is the property that
    forces the most equations.
    """
    lab, graph = solver(law), law.graph
    state, now = list(bases), view.records[0].values
    made: list[Reading] = []
    touched = 0
    while not inferred(Evidence(view, (*view.records, *made, view.baseline))).complete:
        left = [v for v in view.targets() if not touched >> v & 1]
        if view.rounded and not left:  # readings are too rough: set some again
            left = list(view.targets())
        if not left:
            raise ValueError("No chain of interventions forces every equation of this system.")
        setting = float(stream.below(101))
        offers = []
        for v in stream.shuffled(left):
            changed = list(state)
            changed[v] = moved_base(lab, view.semantics, v, setting, now)
            if changed[v] == state[v]:
                continue
            reading = Reading(view.records[0].crystal, lab.readings(changed), v, setting)
            seen = inferred(Evidence(view, (*view.records, *made, reading, view.baseline)))
            worth = (class_size(graph, touched | 1 << v), -seen.settled.bit_count())
            offers.append((worth, v, changed, reading))
        if offers:
            _, v, state, reading = min(offers, key=lambda offer: offer[0])
            touched, now = touched | 1 << v, reading.values
            made.append(reading)
    return tuple(made)


WEIGHTS = (1, 2, 3)
"""Linear coefficients, as in the release."""
FREQUENCY_BASES = range(15, 26)
"""Bases of the frequency in linear systems, as in the release."""
REAL_WEIGHTS = (0.15, 0.6)
"""Sizes of the weights of properties in linear systems with real numbers."""
REAL_FREQUENCY_WEIGHTS = (0.5, 3.0)
"""Sizes of the weights of the frequency in these systems."""
REAL_FREQUENCY_BASES = (1.0, 200.0)
"""Bases of the frequency in these systems."""
WEIGHT_DECIMALS = 4
"""Decimals of real weights: with two, few weights fit the first readings."""
CAUSES = 2
"""Least number of causes of the frequency in certified systems."""
SQUARES = (0.008, 0.012, 0.016)
"""Square coefficients, as in the release."""
AXES = (35.0, 65.0)
"""Place of the vertex of a quadratic effect, inside the range of settings."""
SQUARE_BASES = (50.0, 190.0)
"""Bases of the frequency in quadratic systems."""


def size(suite: str, parameters: Parameters) -> int:
    """Return the number of instances of a suite."""
    plan = PLANS[suite]
    if plan.fresh:
        return parameters.graphs
    return GRAPHS * (len(plan.regimes) if plan.regimes and parameters.regime is None else 1)


def world(suite: str, seed: str, index: int, parameters: Parameters, profile: Profile) -> World:
    """Rebuild the hidden system at an instance's coordinates."""
    plan, released = PLANS[suite], profile == "published"
    place = _place(plan, seed, index, parameters, profile)
    k, said = place.k, _regime(plan, index, parameters)
    count = _count(plan, index, parameters, profile)
    budget = 4 * (k - 1) if said is None else regime(said)[1]
    law = _law(plan, place, _signs(parameters, profile))
    bases, records, *_ = drawn_crystals(place, count)
    disturbance = _disturbance(plan, place, suite)
    semantics = parameters.semantics or ("set" if released else "shift")
    held = _held(plan, place)
    stream = place.stream("names")
    view = View(
        names=("frequency", *stream.sample(names.pool(), k - 1)),
        display=_display(law, released),
        controllable=(1 << k) - 2 & ~held,
        semantics=semantics,
        quadratic=plan.quadratic,
        sink=not plan.frequency_parent,
        disturbance=plan.disturbance,
        frequency_disturbed=plan.frequency_disturbed,
        limit=None if released else parameters.limit,
        budget=0 if plan.observed or (plan.golden and said is None) else budget,
        tolerance=TOLERANCE[profile] if parameters.tolerance is None else parameters.tolerance,
        records=tuple(Reading(i, law.readings(own)) for i, own in enumerate(records)),
        baseline=Reading(len(records), law.readings(bases)),
        released=released,
        rounded=place.real,
    )
    if plan.golden or plan.begun:
        made = chain(view, law, records[0], place.stream("chain"))
        view = replace(view, records=(*view.records, *made[: plan.begun or None]))
    if plan.observed:
        view = observed.with_records(view, law, records, place.stream("observed"))
    reactor = _reactor(plan, place, parameters, profile).bases
    if plan.golden and place.real:
        reactor = precise_reactor(place, law, Evidence(view, (*view.records, view.baseline))).bases
    if plan.begun:
        reactor = precise_reactor(place, law, rehearsed(place, law, held, view.records)).bases
    shown = records if place.real else ()
    return World(view, law, bases, reactor, disturbance, said or "", shown)


def discarded(
    suite: str, seed: str, index: int, parameters: Parameters, profile: Profile
) -> Record:
    """Return how many graphs and crystals were rejected, and why.

    Regimes of a suite share graphs and first records. Each rejected draw counts once, at its first
    use.
    """
    plan = PLANS[suite]
    place = _place(plan, seed, index, parameters, profile)
    rows = range(index, -1, -GRAPHS) if plan.regimes and parameters.regime is None else (index,)
    count, *earlier = (_count(plan, row, parameters, profile) for row in rows)
    before = drawn_crystals(place, max(earlier, default=0))
    crystals = drawn_crystals(place, max(count, *earlier, 0))
    graph = _draw(plan, place)
    return Record.of(
        unconnected_graph=0 if earlier else graph.unconnected,
        repeated_shape=0 if earlier else graph.repeated,
        shared_base=crystals.shared - before.shared,
        dependent_record=crystals.dependent - before.dependent,
        imprecise_reactor=0
        if earlier or plan.golden or plan.begun
        else _reactor(plan, place, parameters, profile).refused,
    )


def _count(plan: Plan, index: int, parameters: Parameters, profile: Profile) -> int:
    """Return how many records are shown at an index.

    In certified systems each property that cannot be set is made up for by a record, so that the
    frequency can be forced.
    """
    said = _regime(plan, index, parameters)
    if said is not None:
        return regime(said)[0]
    if plan.observed:
        return observed.CRYSTALS[1]
    return max(RECORDS[profile], 1 + index % 2 if plan.partial else 0)


def _signs(parameters: Parameters, profile: Profile) -> str:
    return parameters.signs or SIGNS[profile]


def _place(plan: Plan, seed: str, index: int, parameters: Parameters, profile: Profile) -> Place:
    k, graph = (parameters.k, index) if plan.fresh else (plan.k, index % GRAPHS)
    if profile == "published":
        return Place(k, seed, graph, _kind(plan))
    return Place(k, seed, graph, _kind(plan), not (plan.quadratic or plan.whole), CAUSES)


def _regime(plan: Plan, index: int, parameters: Parameters) -> str | None:
    return parameters.regime or (plan.regimes[index // GRAPHS] if plan.regimes else None)


def _kind(plan: Plan) -> str:
    if plan.fresh or plan.observed:
        return "fresh" if plan.fresh else "observed"
    return "quadratic" if plan.quadratic else "linear"


def _draw(plan: Plan, place: Place) -> Draw:
    if plan.fresh:
        return draw(place.k, place.stream("graph"), place.causes)
    return draws(place.k, place.seed, least=place.causes)[place.graph]


def _labels(plan: Plan, place: Place) -> list[int]:
    """Return the label of each node of the drawn graph; `freqparent_…` moves the frequency.

    Weights are drawn before, so a system of `freqparent_…` has those of its partner in `main_…`.
    """
    if not plan.frequency_parent:
        return list(range(place.k))
    moving = replace(place, kind="freqparent").stream("moved")
    return frequency_moved(_draw(plan, place).edges, place.k, moving)


def _law(plan: Plan, place: Place, signed: str) -> Law:
    stream = place.stream("weights")
    signs = place.stream("signs") if signed == "mixed" else None
    terms: list[list[Term]] = [[] for _ in range(place.k)]
    labels = _labels(plan, place)
    for cause, effect in sorted(_draw(plan, place).edges):
        own = terms[labels[effect]]
        if plan.quadratic:
            square, axis = stream.choice(SQUARES), between(stream, AXES)
            own.append(Term(labels[cause], round(-2 * square * axis, 6), square))
        else:
            bounds = REAL_FREQUENCY_WEIGHTS if effect == FREQUENCY else REAL_WEIGHTS
            some = observed.WEIGHTS if plan.observed and effect != FREQUENCY else WEIGHTS
            weight = (
                between(stream, bounds, WEIGHT_DECIMALS)
                if place.real
                else float(stream.choice(some))
            )
            turned = signs is not None and signs.below(2)
            own.append(Term(labels[cause], -weight if turned else weight))
    if plan.quadratic or place.real:
        base = between(stream, SQUARE_BASES if plan.quadratic else REAL_FREQUENCY_BASES)
    else:
        base = float(stream.choice(FREQUENCY_BASES))
    return Law(tuple(tuple(sorted(own, key=lambda t: t.cause)) for own in terms), base)


def _reactor(plan: Plan, place: Place, parameters: Parameters, profile: Profile) -> Reactor:
    """Draw the reactor's crystal; `freqparent_…` has that of its partner in `main_…`."""
    law = _law(replace(plan, frequency_parent=False), place, _signs(parameters, profile))
    return drawn_reactor(place, law, _held(plan, place))


def _disturbance(plan: Plan, place: Place, suite: str) -> Disturbance | None:
    """Return the hidden disturbance; larger sets contain smaller ones, sizes share a place."""
    if not plan.disturbance:
        return None
    purpose = suite.rpartition("_")[0]
    order = place.stream("affected", purpose).shuffled(range(1, place.k))
    affected = sum(1 << v for v in order[: plan.affected])
    if plan.frequency_disturbed:
        affected |= 1 << FREQUENCY
    values = (-plan.disturbance, 0.0, plan.disturbance)
    return Disturbance(affected, values, (NAME, "disturbance", suite, place.seed, place.graph))


def _held(plan: Plan, place: Place) -> int:
    """Return the properties that cannot be set."""
    if plan.observed:
        return (1 << place.k) - 2
    return _uncontrollable(place) if plan.partial else 0


def _uncontrollable(place: Place) -> int:
    """Return the properties that cannot be set: one in every even graph, two in every odd one."""
    held = place.stream("held").sample(range(1, place.k), 1 + place.graph % 2)
    return sum(1 << v for v in held)


def _display(law: Law, released: bool) -> tuple[int, ...]:
    """List properties by number, which is random; the release lists them in causal order."""
    if released:
        return tuple(v for v in law.order() if v != FREQUENCY)
    return tuple(members((1 << law.k) - 2))
