"""Simulator, inference, bounds and witnesses against fractions and brute enumeration."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import islice
from typing import Any

import pytest
from tests.tables import sampled
from tests.twins import causalab_twin as twin

from whybench.causal.graph import members
from whybench.causal.seeds import Stream
from whybench.episode.action import Action
from whybench.families.causalab import FAMILY
from whybench.families.causalab.episode import LabEpisode
from whybench.families.causalab.parameters import Parameters
from whybench.families.causalab.proof import certify as proofs
from whybench.families.causalab.proof.ambiguity import verdicts
from whybench.families.causalab.proof.disturbance import options
from whybench.families.causalab.proof.evidence import Evidence, inferred, predicted
from whybench.families.causalab.world.world import (
    FREQUENCY,
    Disturbance,
    Law,
    Reading,
    Readings,
    Semantics,
    Solver,
    Term,
    View,
    World,
)

SEMANTICS: tuple[Semantics, ...] = ("shift", "set")
WEIGHTS = (-3, -2, -1, 1, 2, 3)
NEAR = 1e-6

Step = tuple[int, float]


def random_edges(stream: Stream, k: int, sink: bool) -> list[twin.Edge]:
    """A random DAG; if the frequency is no sink it takes any place in the order."""
    order = stream.shuffled(range(1, k))
    order.insert(len(order) if sink else stream.below(k), FREQUENCY)
    return [(a, b) for i, a in enumerate(order) for b in order[i + 1 :] if stream.below(3)]


def random_law(stream: Stream, k: int, sink: bool, quadratic: bool = False) -> Law:
    terms: list[list[Term]] = [[] for _ in range(k)]
    for cause, effect in sorted(random_edges(stream, k, sink)):
        if quadratic:
            square = stream.choice((0.008, 0.012, 0.016))
            axis = (3500 + stream.below(3001)) / 100
            terms[effect].append(Term(cause, round(-2 * square * axis, 6), square))
        else:
            terms[effect].append(Term(cause, float(stream.choice(WEIGHTS))))
    return Law(tuple(map(tuple, terms)), 15.0 + stream.below(100))


def random_bases(stream: Stream, k: int, cents: bool = False) -> Readings:
    scale = 100 if cents else 1
    return (0.0, *(stream.below(100 * scale + 1) / scale for _ in range(k - 1)))


@dataclass(frozen=True)
class Case:
    """A world with the bases of its records, which a world does not keep."""

    world: World
    records: tuple[Readings, ...]


def random_case(
    stream: Stream,
    k: int,
    semantics: Semantics,
    *,
    records: int = 2,
    sink: bool = True,
    quadratic: bool = False,
    held: int = 0,
    disturbance: float = 0.0,
    cents: bool = False,
) -> Case:
    law = random_law(stream, k, sink, quadratic)
    kept = tuple(random_bases(stream, k, cents) for _ in range(records))
    bases, reactor = random_bases(stream, k, cents), random_bases(stream, k, cents)
    hidden = None
    if disturbance:
        hit = stream.sample(range(k), 1 + stream.below(k))
        values = (-disturbance, 0.0, disturbance)
        path = ("twin", stream.below(10**9))
        hidden = Disturbance(sum(1 << v for v in hit), values, path)
    view = View(
        names=("frequency", *(f"p{v}" for v in range(1, k))),
        display=tuple(range(1, k)),
        controllable=(1 << k) - 2 & ~sum(1 << v for v in stream.sample(range(1, k), held)),
        semantics=semantics,
        quadratic=quadratic,
        sink=sink,
        disturbance=disturbance,
        frequency_disturbed=hidden is not None and bool(hidden.affected >> FREQUENCY & 1),
        limit=100.0,
        budget=20,
        tolerance=5.0,
        records=tuple(Reading(i, law.readings(own)) for i, own in enumerate(kept)),
        baseline=Reading(records, law.readings(bases)),
    )
    return Case(World(view, law, bases, reactor, hidden), kept)


def as_twin(law: Law, rounded: bool) -> twin.TwinWorld:
    every = [(term, v) for v, terms in enumerate(law.terms) for term in terms]
    return twin.TwinWorld(
        law.k,
        law.base,
        {(term.cause, v): term.linear for term, v in every},
        {(term.cause, v): term.square for term, v in every},
        rounded,
    )


def random_steps(stream: Stream, world: World, count: int, cents: bool = False) -> list[Step]:
    scale = 100 if cents else 1
    targets = world.view.targets()
    return [
        (stream.choice(targets), stream.below(100 * scale + 1) / scale)
        for _ in range(count if targets else 0)
    ]


def lived(world: World, steps: Sequence[Step]) -> list[Reading]:
    """The readings of a real episode, records and baseline first."""
    view = world.view
    episode = LabEpisode(FAMILY.suite("fresh")[0], world, Solver(world.law), Parameters())
    seen = [*view.records, view.baseline]
    for v, setting in steps:
        answer = episode.step(Action.of("intervene", property=view.names[v], value=setting))
        assert not answer.is_error, answer
        values = tuple(answer.data[name] for name in view.names)
        seen.append(Reading(view.baseline.crystal, values, v, setting))
    return seen


def told(view: View, readings: Sequence[Reading]) -> tuple[Any, ...]:
    """The same readings as the twin takes them."""
    count = len(view.records)
    return (
        [r.values for r in readings[:count]],
        readings[count].values,
        [(r.target, r.setting, r.values) for r in readings[count + 1 :]],
    )


# The simulator


def pairs_of_readings(case: Case, steps: Sequence[Step]) -> Iterator[tuple[float, Fraction]]:
    """Every number of an episode, ours and the twin's."""
    world = case.world
    hidden, affected = None, ()
    if world.disturbance is not None:
        hidden = [world.disturbance.after(i + 1) for i in range(len(steps))]
        affected = tuple(members(world.disturbance.affected))
    records, course = as_twin(world.law, True).readings(
        [own[1:] for own in case.records],
        world.bases[1:],
        steps,
        world.view.semantics,
        hidden,
        affected,
    )
    for ours, theirs in zip(lived(world, steps), (*records, *course), strict=True):
        yield from zip(ours.values, theirs, strict=True)


@pytest.mark.parametrize("semantics", SEMANTICS)
@pytest.mark.parametrize("kind", ["linear", "quadratic", "disturbed"])
def test_readings_are_those_of_exact_fractions(kind: str, semantics: Semantics) -> None:
    """Linear readings agree to the last digit; a quadratic one may lie on the edge of a cent."""
    stream = Stream("twin", "simulator", kind, semantics)
    exact = total = 0
    for _ in range(60):
        case = random_case(
            stream,
            2 + stream.below(5),
            semantics,
            sink=bool(stream.below(2)),
            quadratic=kind == "quadratic",
            disturbance=stream.choice((0.5, 5.0, 50.0)) if kind == "disturbed" else 0.0,
            cents=True,
        )
        for ours, theirs in pairs_of_readings(case, random_steps(stream, case.world, 6, True)):
            total += 1
            exact += twin.exact(ours) == theirs
            if kind != "quadratic":
                assert twin.exact(ours) == theirs
            else:
                assert abs(ours - float(theirs)) <= 0.011
    assert exact >= 0.999 * total


# Inference


def random_evidence(stream: Stream, k: int, semantics: Semantics, sink: bool) -> Evidence:
    """Any interventions, repeated ones among them, after any number of records."""
    case = random_case(stream, k, semantics, records=stream.below(3), sink=sink)
    world = case.world
    return Evidence(world.view, lived(world, random_steps(stream, world, stream.below(k + 1))))


def weights_of(truth: twin.Consistent, v: int, k: int) -> list[float] | None:
    """A node's weights if they are the same in every world that fits."""
    sets = truth.parents(v)
    if len(sets) != 1:
        return None
    (parents,) = sets
    space = truth.spaces[v, parents]
    if any(any(d[: len(parents)]) for d in space.directions):
        return None
    found = [0.0] * k
    for p, weight in zip(parents, space.point, strict=False):
        found[p] = float(weight)
    return found


@dataclass
class Tally:
    """How much was compared."""

    cases: int = 0
    complete: int = 0
    forced: int = 0
    settled: int = 0
    missed: int = 0
    """Nodes that all worlds agree on, and single equations do not settle."""
    unforced: int = 0
    """Frequencies that all worlds agree on, and the frequency's own equation does not force: only
    where it may be a cause, for then the order of the other nodes can bear on it."""

    def add(self, evidence: Evidence, reactor: Sequence[float]) -> None:
        view, k = evidence.view, evidence.view.k
        data = told(view, evidence.readings)
        truth = twin.consistent_graphs(k, *data, view.semantics, view.sink)
        found = inferred(evidence)
        for v, parents in enumerate(found.parents):
            known = weights_of(truth, v, k)
            solution = evidence.solved(v, found.causes[v])
            assert solution.unique == (parents is not None), "exact and rounded agree"
            if parents is not None:
                assert solution.parents(k) == parents
                assert solution.weights == pytest.approx(known, abs=NEAR)
                self.settled += 1
            else:
                self.missed += known is not None
        assert found.complete or not truth.whole_unique
        judged = verdicts(evidence)
        assert judged.always == {edge for edge, said in truth.edges.items() if said == "all"}
        assert judged.sometimes == {edge for edge, said in truth.edges.items() if said == "some"}
        expected = twin.predicted(k, *data, view.semantics, reactor[1:], view.sink)
        solution = evidence.solved(FREQUENCY, found.causes[FREQUENCY])
        said = predicted(evidence, solution, reactor)
        if said.forced or view.sink:
            assert said.forced == (expected is not None)
        if expected is not None:
            assert said.value == pytest.approx(float(expected), abs=NEAR)
            self.unforced += not said.forced
        self.cases += 1
        self.complete += found.complete
        self.forced += said.forced


def compared(count: int, k: int, semantics: Semantics, sink: bool) -> Tally:
    stream = Stream("twin", "inference", k, semantics, int(sink))
    tally = Tally()
    for _ in range(count):
        evidence = random_evidence(stream, k, semantics, sink)
        tally.add(evidence, random_bases(stream, k))
    return tally


@pytest.mark.parametrize("sink", sampled([True, False]))
@pytest.mark.parametrize("semantics", SEMANTICS)
@pytest.mark.parametrize(("k", "count"), [(3, 50), (4, 10)])
def test_inference_is_that_of_enumeration(
    k: int, count: int, semantics: Semantics, sink: bool
) -> None:
    tally = compared(count, k, semantics, sink)
    assert tally.cases == count
    assert tally.settled > count / 2
    assert tally.missed + tally.unforced <= 0.02 * count


# The fewest interventions


def fewest_of_both(case: Case, values: Sequence[int], cap: int) -> tuple[int | None, int | None]:
    world, view = case.world, case.world.view
    searched = twin.fewest_by_search(
        as_twin(world.law, False),
        [own[1:] for own in case.records],
        world.bases[1:],
        view.semantics,
        view.targets(),
        view.sink,
        values,
        cap,
    )
    return proofs.fewest(world), searched


@pytest.mark.parametrize("sink", sampled([True, False]))
@pytest.mark.parametrize("held", [0, 1])
@pytest.mark.parametrize("semantics", SEMANTICS)
def test_the_fewest_interventions_are_those_of_a_search(
    semantics: Semantics, held: int, sink: bool
) -> None:
    for k, count, values, cap in ((3, 6, (0, 100), 3), (4, 2, (89,), 3)):
        stream = Stream("twin", "fewest", k, semantics, held, int(sink))
        for _ in range(count):
            case = random_case(
                stream, k, semantics, records=stream.below(3), sink=sink, held=held, cents=True
            )
            ours, searched = fewest_of_both(case, values, cap)
            assert ours == searched


# Witnesses


def exact_looks(world: World) -> list[Sequence[Fraction]]:
    """What crystals show before the first intervention, without rounding."""
    view = world.view
    if not view.rounded:
        return [[*map(twin.exact, r.values)] for r in (*view.records, view.baseline)]
    law, bases = as_twin(world.law, False), [own[1:] for own in world.records]
    records, course = law.readings(bases, world.bases[1:], [], view.semantics)
    return [*records, *course]


def doubles(instance: Any) -> tuple[World, list[twin.TwinWorld], list[list[list[Fraction]]]]:
    """Both worlds of a certificate's witness, and the bases of all their crystals.

    The second world has the rival equation; its bases are what makes the untouched crystals look
    the same. That the frequency's base is one for all crystals is asserted, not assumed.
    """
    world = FAMILY.world(instance)
    view, k = world.view, world.view.k
    witness = FAMILY.certify(instance).witness
    v = view.names.index(witness["node"])
    laws, crystals = [], []
    looks = exact_looks(world)
    for equation in (witness["equation"], witness["rival"]):
        weights = {
            (term.cause, effect): twin.exact(term.linear)
            for effect, terms in enumerate(world.law.terms)
            if effect != v
            for term in terms
        }
        weights |= {(view.names.index(p), v): Fraction(w[0]) for p, w in equation}
        own = twin.TwinWorld(k, 0, weights)
        values = [dict(enumerate(look)) for look in looks]
        bases = [[look[u] - own.contributions(u, look) for u in range(k)] for look in values]
        assert max(abs(b[FREQUENCY] - bases[0][FREQUENCY]) for b in bases) < NEAR
        laws.append(replace(own, frequency_base=bases[0][FREQUENCY]))
        crystals.append([b[1:] for b in bases])
    assert {e for e in laws[0].graph if e[1] != v} == {e for e in laws[1].graph if e[1] != v}
    assert laws[0].graph == frozenset(world.law.graph.edges())
    edges = {*laws[0].weights, *laws[1].weights}
    assert max(abs(laws[0].weights.get(e, 0) - laws[1].weights.get(e, 0)) for e in edges) > 0.5
    return world, laws, crystals


def not_identified(suite: str, **parameters: Any) -> Iterator[Any]:
    every = FAMILY.suite(suite, parameters=parameters)
    return (instance for instance in every if not FAMILY.certify(instance).identified)


def check_witness(instance: Any, stream: Stream, courses: int) -> None:
    world, laws, crystals = doubles(instance)
    view = world.view
    assert all(twin.is_acyclic(view.k, law.graph) for law in laws)
    if view.sink:
        assert not any(p == FREQUENCY for law in laws for p, _ in law.graph)
    for _ in range(courses):
        steps = random_steps(stream, world, min(view.budget, stream.below(8)), True)
        looks = []
        for law, bases in zip(laws, crystals, strict=True):
            records, course = law.readings(bases[:-1], bases[-1], steps, view.semantics)
            looks.append([float(x) for look in (*records, *course) for x in look])
        assert looks[0] == pytest.approx(looks[1], rel=1e-9, abs=NEAR)
        shown = [r.values for r in lived(world, steps)]
        seen = [x for look in shown for x in look]
        assert looks[0] == pytest.approx(seen, abs=0.00501 if view.rounded else NEAR)


@pytest.mark.parametrize(
    ("suite", "parameters"),
    [
        ("partial_4", {}),
        ("partial_4", {"semantics": "set"}),
        ("freqparent_4", {"semantics": "set"}),
        ("scaling_4", {"regime": "3o0i"}),
    ],
    ids=str,
)
def test_no_experiment_tells_the_worlds_of_a_witness_apart(
    suite: str, parameters: dict[str, str]
) -> None:
    stream = Stream("twin", "witness", suite)
    open_ones = list(islice(not_identified(suite, **parameters), 8))
    assert len(open_ones) == 8
    for instance in open_ones:
        check_witness(instance, stream, 4)


# Disturbance


@pytest.mark.parametrize("semantics", SEMANTICS)
def test_the_true_equation_survives_every_disturbance(semantics: Semantics) -> None:
    stream = Stream("twin", "disturbance", semantics)
    settled, looked_at = survivors(stream, semantics, 60)
    assert settled > looked_at / 4


def survivors(stream: Stream, semantics: Semantics, count: int) -> tuple[int, int]:
    """Check random disturbed worlds; return how many equations were settled, and of how many."""
    settled = looked_at = 0
    for _ in range(count):
        case = random_case(
            stream,
            3 + stream.below(2),
            semantics,
            records=stream.below(3),
            disturbance=stream.choice((0.5, 5.0, 50.0)),
        )
        world, k = case.world, case.world.law.k
        steps = random_steps(stream, world, 2 + stream.below(9))
        evidence = Evidence(world.view, lived(world, steps))
        for v in range(k):
            found = options(evidence, v, world.view.disturbance)
            true = [0.0] * k
            for term in world.law.terms[v]:
                true[term.cause] = term.linear
            looked_at += 1
            if found.open_:
                assert not found.settled
                continue
            among = [o for o in found.found if o.weights == pytest.approx(true, abs=1e-5)]
            assert among
            if v == FREQUENCY:
                assert any(o.base == pytest.approx(world.law.base, abs=1e-4) for o in among)
            if found.settled:
                settled += 1
                assert len(among) == len(found.found)
    return settled, looked_at
