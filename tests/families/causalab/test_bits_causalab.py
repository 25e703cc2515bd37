"""Bits left open: against systems solved on fractions, and on worlds that show the same."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest
from tests.twins import causalab_twin as twin
from tests.twins.lockstep import lockstep

from whybench.causal.seeds import Stream
from whybench.episode.action import Action
from whybench.families.causalab import FAMILY
from whybench.families.causalab.episode import LabEpisode
from whybench.families.causalab.proof.bits import free_weights
from whybench.families.causalab.proof.inference_timeline import InferenceTimeline
from whybench.families.causalab.world.world import (
    FREQUENCY,
    Law,
    Reading,
    Semantics,
    Term,
    View,
    World,
    solver,
)

SUITES = ("main_3", "main_5", "scaling_4", "quad_hard", "hidden_count_2", "hidden_freq_2",
          "freqparent_4", "partial_6")  # fmt: skip


def random_world(stream: Stream, k: int, semantics: Semantics, sink: bool) -> World:
    order = stream.shuffled(range(1, k))
    order.insert(k if sink else stream.below(k), FREQUENCY)
    terms: list[list[Term]] = [[] for _ in range(k)]
    for i, cause in enumerate(order):
        for effect in order[i + 1 :]:
            if stream.below(3):
                terms[effect].append(Term(cause, float(stream.choice((-2, -1, 1, 2, 3)))))
    law = Law(tuple(map(tuple, terms)), float(stream.below(50)))
    crystals = [(0.0, *(float(stream.below(60)) for _ in range(k - 1))) for _ in range(4)]
    view = View(
        ("frequency", *(f"p{v}" for v in range(1, k))), tuple(range(1, k)), (1 << k) - 2,
        semantics, False, sink, 0.0, False, 100.0, 20, 5.0,
        tuple(Reading(i, law.readings(own)) for i, own in enumerate(crystals[: stream.below(3)])),
        Reading(2, law.readings(crystals[2])),
    )  # fmt: skip
    return World(view, law, crystals[2], crystals[3])


def random_settings(stream: Stream, view: View, length: int) -> list[Action]:
    return [
        Action.of(
            "intervene",
            property=stream.choice([view.names[v] for v in view.targets()] or ["none"]),
            value=str(stream.below(80)),
        )
        for _ in range(length)
    ]


def opened(world: World) -> LabEpisode:
    return FAMILY.open_world(FAMILY.suite("main_3")[0], world)


# The twin: unknown bases are unknowns, numbers are fractions, and causes are sets.


def closure(below: list[set[int]]) -> list[set[int]]:
    while True:
        grown = [own | {w for u in own for w in below[u]} for own in below]
        if grown == below:
            return below
        below = grown


def free_by_fractions(view: View, readings: Sequence[Reading]) -> list[int]:
    """Return the free weights of each equation, effects being excluded until none is new."""
    k, passive = view.k, len(view.records)
    steps = [(r.target or 0, r.setting, r.values) for r in readings[passive + 1 :]]
    values = [[twin.exact(value) for value in r.values] for r in readings]
    below: list[set[int]] = [set() for _ in range(k)]
    for at, (target, _, _) in enumerate(steps, passive + 1):
        below[target] |= {u for u in range(k) if values[at][u] != values[at - 1][u]} - {target}
    while True:
        below = closure(below)
        known = [set(own) for own in below]
        free = []
        for v in range(k):
            causes = [
                p
                for p in range(k)
                if p not in below[v] | {v} and not (view.sink and p == FREQUENCY)
            ]
            bases = list(twin.base_names(v, passive, steps, view.semantics))
            unknown = sorted({base for base in bases if isinstance(base, str)})
            rows = [
                [now[p] for p in causes] + [twin.exact(base == name) for name in unknown]
                for now, base in zip(values, bases, strict=True)
            ]
            right = [
                now[v] - (0 if isinstance(base, str) else base)
                for now, base in zip(values, bases, strict=True)
            ]
            space = twin.solve(rows, right) if rows[0] else twin.Solutions((), ())
            assert space is not None
            free.append(len(space.directions))
            if not space.directions:
                for p, weight in zip(causes, space.point, strict=False):
                    if weight:
                        known[p].add(v)
        known = closure(known)
        if known == below:
            return free
        below = known


@pytest.mark.parametrize("semantics", ["shift", "set"])
@pytest.mark.parametrize("sink", [True, False])
def test_free_weights_are_those_of_the_twin(semantics: Semantics, sink: bool) -> None:
    stream = Stream("bits", "causalab", semantics, int(sink))
    zero = 0
    for _ in range(20):
        world = random_world(stream, 3 + stream.below(3), semantics, sink)
        episode = opened(world)
        for action in random_settings(stream, world.view, world.view.k):
            episode.step(action)
        readings = InferenceTimeline(world.view, episode.trace).readings
        for end in range(len(world.view.records) + 1, len(readings) + 1):
            seen = tuple(readings[:end])
            found = free_weights(world.view, seen)
            assert list(found) == free_by_fractions(world.view, seen)
            zero += not any(found)
    assert zero > 3


def test_with_nothing_left_open_one_graph_with_one_set_of_weights_fits() -> None:
    stream = Stream("bits", "causalab", "graphs")
    unique = 0
    for _ in range(40):
        world = random_world(stream, 3, stream.choice(("shift", "set")), stream.below(2) == 1)
        episode = opened(world)
        for action in random_settings(stream, world.view, 3):
            episode.step(action)
        view = world.view
        readings = InferenceTimeline(view, episode.trace).readings
        steps = [(r.target or 0, r.setting, r.values) for r in readings if r.target is not None]
        records = [record.values for record in view.records]
        left = twin.consistent_graphs(
            view.k, records, view.baseline.values, steps, view.semantics, view.sink
        )
        if FAMILY.bits_left(episode) == 0:
            assert left.whole_unique
            unique += 1
    assert unique > 10


# Worlds that show the same.


def other_laws(world: World, stream: Stream) -> Iterator[World]:
    """Worlds with one term more: the property's base makes up for it as long as its cause rests."""
    graph = world.law.graph
    for _ in range(12):
        v, p = stream.sample(range(1, world.law.k), 2)
        if graph.reach()[v] >> p & 1 or any(t.cause == p for t in world.law.terms[v]):
            continue
        weight = float(1 + stream.below(2))
        terms, bases = list(world.law.terms), list(world.bases)
        terms[v] = (*terms[v], Term(p, weight))
        bases[v] -= weight * solver(world.law).values(world.bases)[p]
        law = Law(tuple(terms), world.law.base)
        if solver(law).readings(bases) == world.view.baseline.values:
            yield replace(world, law=law, bases=tuple(bases))


@pytest.mark.parametrize("name", SUITES)
def test_worlds_that_showed_the_same_leave_the_same_open(name: str) -> None:
    stream = Stream("bits", "causalab", name)
    compared, suite = 0, FAMILY.suite(name)
    for index in range(0, len(suite), len(suite) // 8 + 1):
        instance = suite[index]
        world = FAMILY.world(instance)
        worlds = (world, *other_laws(world, stream))
        episodes = [FAMILY.open_world(instance, one) for one in worlds]
        settings = random_settings(stream, world.view, min(6, world.view.budget))
        actions = [
            *settings[:2],
            Action.of("intervene", property="nothing", value="1"),
            *settings[2:],
            Action.of("open_reactor"),
        ]
        compared += lockstep(FAMILY, episodes, actions)
    assert compared > 5


@pytest.mark.parametrize("name", [*SUITES, "golden_4"])
def test_nothing_is_left_open_just_when_all_is_identified(name: str) -> None:
    suite = FAMILY.suite(name)
    for index in range(0, len(suite), len(suite) // 3):
        instance = suite[index]
        episode = FAMILY.open(instance)
        assert (FAMILY.bits_left(episode) == 0) == (name == "golden_4")
        for action in FAMILY.experiments(FAMILY.exact_run(instance)):
            episode.step(action)
        left, certificate = FAMILY.bits_left(episode), FAMILY.certify(instance)
        assert (left == 0) == certificate.identified == (certificate.bits == 0)


def test_the_longest_episode_can_be_looked_at_at_once() -> None:
    instance = FAMILY.suite("main_3", parameters={"regime": "2o999i"})[0]
    episode = FAMILY.open(instance)
    stream, view = Stream("bits", "causalab", "long"), FAMILY.world(instance).view
    name = view.names[view.targets()[0]]
    for _ in range(999):
        assert not episode.step(
            Action.of("intervene", property=name, value=str(stream.below(100)))
        ).is_error
    assert 0 <= FAMILY.bits_left(episode) <= FAMILY.bits_left(FAMILY.open(instance))
