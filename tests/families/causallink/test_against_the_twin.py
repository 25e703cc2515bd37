"""The package against an independent, slower implementation written without sight of it."""

import json
from itertools import permutations
from pathlib import Path

import pytest
from tests.twins import causallink_twin as twin
from tests.twins.worked_examples import EXAMPLES, VERDICTS, read

from whybench.causal.graph import Graph, members
from whybench.causal.seeds import Stream
from whybench.episode.registry import families
from whybench.families.causallink.failure_patterns import Change, bias
from whybench.families.causallink.proof import certify, plan
from whybench.families.causallink.proof.evidence import EvidenceLog, Verdict
from whybench.families.causallink.world import generate
from whybench.families.causallink.world.world import View, World

ROWS = json.loads(
    (Path(__file__).parents[2] / "data" / "causallink_core_steps.json").read_text("utf-8")
)
FAMILY = families()["causallink"]


def mask(state: frozenset[int]) -> int:
    return sum(1 << v for v in state)


def unmask(state: int) -> frozenset[int]:
    return frozenset(members(state))


def make_view(n: int, start: int, x: int, y: int) -> View:
    return View("shapes", tuple("abcdefghijkl"[:n]), start, x, y, 2 * n)


def random_world(stream: Stream, n: int) -> World:
    order = stream.shuffled(range(n))
    edges = [(order[i], order[j]) for i in range(n) for j in range(i + 1, n) if stream.below(5) < 2]
    graph = Graph.from_edges(n, edges)
    below = graph.reach()
    start = 0
    for v in range(n):
        if stream.below(2):
            start |= 1 << v | below[v]
    x, y = stream.sample(range(n), 2)
    return World.of(make_view(n, start, x, y), "random", graph)


def random_history(stream: Stream, world: World, length: int) -> list[Change]:
    changes, state = [], world.view.start
    for _ in range(length):
        starts, v = stream.below(2) == 1, stream.below(world.view.n)
        after = world.after_start(state, v) if starts else world.after_stop(state, v)
        changes.append(Change(starts, v, state, after))
        state = after
    return changes


def told(changes: list[Change]) -> list[tuple[twin.Verb, int, frozenset[int]]]:
    return [("move" if c.starts else "hold", c.v, unmask(c.after)) for c in changes]


def test_dynamics_agree_on_random_graphs_up_to_twelve() -> None:
    stream = Stream("twin", "dynamics")
    for _ in range(1_500):
        world = random_world(stream, stream.below(11) + 2)
        edges = frozenset(world.graph.edges())
        for c in random_history(stream, world, 20):
            verb: twin.Verb = "move" if c.starts else "hold"
            assert unmask(c.after) == twin.step(edges, unmask(c.before), verb, c.v)


def test_verdicts_agree_with_enumeration_on_thousands_of_histories() -> None:
    stream = Stream("twin", "verdict")
    seen: dict[Verdict, int] = {"yes": 0, "no": 0, "undecided": 0}
    for _ in range(4_000):
        world = random_world(stream, stream.below(3) + 2)
        changes = random_history(stream, world, stream.below(7))
        view = world.view
        found = certify.forced(view, tuple(changes))
        start = unmask(view.start)
        assert found == twin.verdict(view.n, start, told(changes), view.x, view.y)
        assert found in ("undecided", "yes" if world.truth else "no")
        seen[found] += 1
    assert min(seen.values()) > 250


def test_an_incremental_verdict_equals_a_fresh_one() -> None:
    stream = Stream("twin", "incremental")
    for _ in range(150):
        world = random_world(stream, stream.below(11) + 2)
        changes = random_history(stream, world, 10)
        log = EvidenceLog(world.view)
        for count, change in enumerate(changes, 1):
            log.add(change.starts, change.v, change.after)
            assert log.verdict() == certify.forced(world.view, tuple(changes[:count]))


def test_observations_of_two_worlds_are_refused() -> None:
    log = EvidenceLog(make_view(2, 0, 0, 1))
    log.add(True, 0, 0b11)
    log.add(False, 0, 0)
    log.add(True, 0, 0b01)
    with pytest.raises(ValueError, match="not of one system"):
        log.verdict()


def test_core_cases_are_those_of_the_twin() -> None:
    cases = [
        (c.structure.replace("_extra", "+edge"), unmask(c.start), c.x, c.y)
        for c in generate.enumerated("core")
    ]
    theirs = [case[:4] for case in twin.core_cases()]
    assert len(cases) == 84
    assert sorted(cases, key=repr) == sorted(theirs, key=repr)


def test_certificates_equal_the_independent_file_on_all_84() -> None:
    rows = {(s.replace("+edge", "_extra"), start, x, y): rest for s, start, x, y, *rest in ROWS}
    suite = FAMILY.suite("core")
    for instance, case in zip(suite, generate.enumerated("core"), strict=True):
        start = "".join(str(case.start >> v & 1) for v in range(case.graph.n))
        truth, fewest, minimax, _ = rows.pop((case.structure, start, case.x, case.y))
        certificate = FAMILY.certify(instance)
        assert FAMILY.world(instance).truth == truth
        assert (certificate.fewest, certificate.minimax) == (fewest, minimax)
        assert certificate.minimax_upper == minimax
        assert certificate.exact_steps is not None
        assert certificate.exact_steps <= minimax
    assert not rows


def test_fewest_agrees_on_every_order_of_four() -> None:
    """Closed form (all on) and search (any other start) against the twin's breadth-first search."""
    stream = Stream("twin", "fewest")
    for below in plan.orders(4):
        graph = Graph(below)
        closed = [s for s in range(16) if all(not below[v] & ~s for v in members(s))]
        for start in {15, stream.choice(closed)}:
            x, y = stream.sample(range(4), 2)
            world = World.of(make_view(4, start, x, y), "order", graph)
            edges = frozenset(graph.edges())
            expected = twin.fewest(4, edges, unmask(start), x, y)
            assert certify.fewest(world) == expected
            assert certify.fewest_searched(world) == expected


def test_the_closed_form_equals_the_search_on_larger_worlds() -> None:
    stream = Stream("twin", "closed form")
    checked = 0
    while checked < 60:
        n = stream.below(3) + 5
        world = random_world(stream, n)
        all_on = World.of(
            make_view(n, (1 << n) - 1, world.view.x, world.view.y), "order", world.graph
        )
        if certify.fewest_all_on(all_on) <= 3:
            assert certify.fewest_searched(all_on) == certify.fewest_all_on(all_on)
            checked += 1


def test_minimax_agrees_for_every_start_up_to_four_and_the_bound_is_tight() -> None:
    for n in (2, 3, 4):
        for start in range(1 << n):
            for x, y in permutations(range(n), 2):
                view = make_view(n, start, x, y)
                assert plan.minimax(view) == plan.worst_case(view)
                if (x, y) == (0, 1):
                    assert plan.minimax(view) == twin.minimax(n, unmask(start), x, y)


def test_minimax_of_five_entities_equals_the_bound() -> None:
    starts = [0b00000, 0b00001, 0b00010, 0b00011, 0b00111, 0b11111, 0b00110, 0b11110]
    for start in starts:
        view = make_view(5, start, 0, 1)
        assert plan.minimax(view) == plan.worst_case(view)


def test_partial_orders_are_those_of_the_twin() -> None:
    for n in (2, 3, 4):
        ours = {frozenset(Graph(below).edges()) for below in plan.orders(n)}
        assert ours == set(twin.partial_orders(n))
        assert len(ours) == len(plan.orders(n))


def test_the_fixed_plan_keeps_its_bound_from_every_kind_of_start() -> None:
    """The sweep used above five entities, tried on all sizes: proved, and within the worst case."""
    from whybench.causal.seeds import Stream as Draws
    from whybench.episode.episode import play
    from whybench.episode.instance import Instance
    from whybench.families.causallink.agents import strategies
    from whybench.families.causallink.rules import LinkEpisode

    stream = Draws("twin", "sweep")
    kinds = set()
    for _ in range(600):
        world = random_world(stream, stream.below(8) + 2)
        view = world.view
        episode = LinkEpisode(Instance("causallink", "", "", "certified", "", 0), world, 1)
        trace = play(episode, strategies._swept(view))
        assert episode.applied <= plan.worst_case(view)
        said = trace.actions[-1].args["answer"]
        assert said == ("yes" if world.truth else "no")
        kinds.add((view.start >> view.x & 1, view.start >> view.y & 1, world.truth))
    assert len(kinds) == 7


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_papers_worked_examples(name: str) -> None:
    example = EXAMPLES[name]
    at = example.shapes.index
    start, changes = mask(read(example.start)), []
    before = start
    for verb, shape, shown in example.turns:
        after = mask(read(shown))
        changes.append(Change(verb == "move", at(shape), before, after))
        before = after
    x, y = at(example.cause), at(example.effect)
    verdict = certify.forced(make_view(len(example.shapes), start, x, y), tuple(changes))
    assert verdict == VERDICTS[name]
    assert bias(x, y, changes, example.answer == "yes", verdict) == example.label


def test_biases_agree_with_the_twin_on_random_histories() -> None:
    stream = Stream("twin", "bias")
    labels = set()
    for _ in range(4_000):
        world = random_world(stream, stream.below(3) + 2)
        changes = random_history(stream, world, stream.below(5))
        view = world.view
        verdict = certify.forced(view, tuple(changes))
        wrong: twin.Answer = "no" if world.truth else "yes"
        ours = bias(view.x, view.y, changes, wrong == "yes", verdict)
        start = unmask(view.start)
        assert ours == twin.bias(start, told(changes), view.x, view.y, world.truth, wrong, verdict)
        labels.add(ours)
    assert len(labels) == 6
