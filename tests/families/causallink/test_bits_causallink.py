"""Bits left open: against enumeration, against the verdict pair by pair, and on rival worlds."""

from dataclasses import replace
from itertools import permutations

from tests.twins import causallink_twin as twin
from tests.twins.lockstep import lockstep

from whybench.causal.graph import Graph, members
from whybench.causal.seeds import Stream
from whybench.episode.action import Action
from whybench.families.causallink import FAMILY
from whybench.families.causallink.prompts.theme import read_theme
from whybench.families.causallink.proof.bits import LinkLog
from whybench.families.causallink.proof.evidence import EvidenceLog
from whybench.families.causallink.world.world import View, World

Step = tuple[bool, int, int]


def random_world(stream: Stream, n: int) -> World:
    order = stream.shuffled(range(n))
    chance = 1 + stream.below(4)
    edges = [
        (a, b) for i, a in enumerate(order) for b in order[i + 1 :] if stream.below(5) < chance
    ]
    graph = Graph.from_edges(n, edges)
    below, start = graph.reach(), 0
    for v in range(n):
        if stream.below(3):
            start |= 1 << v | below[v]
    x, y = stream.sample(range(n), 2)
    return World.of(View("shapes", tuple("abcdefghijkl"[:n]), start, x, y, 2 * n), "", graph)


def random_steps(stream: Stream, world: World, length: int) -> list[Step]:
    steps, state = [], world.view.start
    for _ in range(length):
        starts, v = stream.below(2) == 1, stream.below(world.view.n)
        state = world.after_start(state, v) if starts else world.after_stop(state, v)
        steps.append((starts, v, state))
    return steps


def logged(view: View, steps: list[Step]) -> LinkLog:
    log = LinkLog(view)
    for starts, v, after in steps:
        log.add(starts, v, after)
    return log


def test_open_links_are_those_on_which_the_orders_that_fit_disagree() -> None:
    stream = Stream("bits", "causallink", "twin")
    found = {True: 0, False: 0}
    for _ in range(500):
        world = random_world(stream, 2 + stream.below(3))
        view, steps = world.view, random_steps(stream, world, stream.below(7))
        state = frozenset(members(view.start))
        belief = twin.hypotheses(view.n, state)
        for starts, v, after in steps:
            verb: twin.Verb = "move" if starts else "hold"
            now = frozenset(members(after))
            belief = frozenset(o for o in belief if twin.step(o, state, verb, v) == now)
            state = now
        pairs = permutations(range(view.n), 2)
        undecided = sum(twin.decide(belief, u, v) == "undecided" for u, v in pairs)
        asked = twin.decide(belief, view.x, view.y) == "undecided"
        assert logged(view, steps).open_links() == (undecided if asked else 0)
        assert len(belief) <= 2**undecided
        found[asked] += 1
    assert min(found.values()) > 100


def test_open_links_of_large_worlds_are_those_without_a_verdict() -> None:
    stream = Stream("bits", "causallink", "verdicts")
    for _ in range(25):
        world = random_world(stream, 5 + stream.below(8))
        view, steps = world.view, random_steps(stream, world, stream.below(12))
        pairs = list(permutations(range(view.n), 2))
        logs = {(x, y): EvidenceLog(replace(view, x=x, y=y)) for x, y in pairs}
        for log in logs.values():
            for step in steps:
                log.add(*step)
        undecided = [pair for pair, log in logs.items() if log.verdict() == "undecided"]
        asked = stream.choice(undecided) if undecided else (view.x, view.y)
        for x, y in (asked, stream.choice(pairs)):
            expected = len(undecided) if (x, y) in undecided else 0
            assert logged(replace(view, x=x, y=y), steps).open_links() == expected


def test_worlds_that_showed_the_same_leave_the_same_open() -> None:
    stream = Stream("bits", "causallink", "rivals")
    compared = 0
    for path, step in (("core", 4), ("advanced", 60), ("large", 150)):
        suite = FAMILY.suite(path)
        for index in range(0, len(suite), step):
            instance = suite[index]
            episodes = [FAMILY.open(instance), *FAMILY.look_alikes(instance)]
            view = FAMILY.world(instance).view
            theme = read_theme(view.theme)
            verbs = (theme.start, theme.stop, theme.stop, "kick")
            actions = [
                Action.of(stream.choice(verbs), **{theme.noun: stream.choice(view.names)})
                for _ in range(view.n)
            ]
            compared += lockstep(FAMILY, episodes, [*actions, Action.of("answer", answer="no")])
    assert compared > 500


def test_nothing_is_left_open_just_when_the_answer_is_forced() -> None:
    for path, step in (("core", 1), ("advanced", 100), ("large", 150)):
        suite = FAMILY.suite(path)
        for index in range(0, len(suite), step):
            instance = suite[index]
            episode = FAMILY.open(instance)
            certificate = FAMILY.certify(instance)
            assert (FAMILY.bits_left(episode) == 0) == (certificate.fewest == 0)
            for action in FAMILY.experiments(FAMILY.exact_run(instance)):
                assert FAMILY.bits_left(episode) > 0
                episode.step(action)
            assert FAMILY.bits_left(episode) == certificate.bits == 0


def test_given_evidence_counts() -> None:
    instance = FAMILY.suite("advanced")[5]
    assert FAMILY.bits_left(FAMILY.open(instance)) > 0
    assert FAMILY.bits_left(FAMILY.open(instance, evidence="optimal")) == 0
