"""Systems and problems are the same under any names, and nothing else makes them the same."""

from collections import Counter
from dataclasses import replace

import pytest

from whybench.causal.canonical import canonical_json
from whybench.causal.seeds import Stream
from whybench.families.causalab.family import CausaLab
from whybench.families.causalab.parameters import GRAPHS
from whybench.families.causalab.world import crystals, generate, topology
from whybench.families.causalab.world.world import FREQUENCY, Law, Reading, Readings, Term, World

FAMILY = CausaLab()
SUITES = ("main_3", "main_5", "quad_hard", "hidden_count_2", "golden_4", "partial_6", "scaling_4")


def renamed(world: World, to: list[int]) -> World:
    """The same world with property v called `to[v]`, its names included."""
    view, law = world.view, world.law

    def values(own: Readings) -> Readings:
        moved = dict(zip(to, own, strict=True))
        return tuple(moved[v] for v in range(view.k))

    def mask(nodes: int) -> int:
        return sum(1 << to[v] for v in range(view.k) if nodes >> v & 1)

    def reading(old: Reading) -> Reading:
        target = None if old.target is None else to[old.target]
        return Reading(old.crystal, values(old.values), target, old.setting)

    terms: list[tuple[Term, ...]] = [()] * view.k
    for v, own in enumerate(law.terms):
        terms[to[v]] = tuple(replace(term, cause=to[term.cause]) for term in reversed(own))
    moved = world.disturbance
    return replace(
        world,
        law=Law(tuple(terms), law.base),
        bases=values(world.bases),
        reactor=values(world.reactor),
        disturbance=moved and replace(moved, affected=mask(moved.affected)),
        view=replace(
            view,
            names=tuple(f"other {v}" for v in range(view.k)),
            controllable=mask(view.controllable),
            records=tuple(map(reading, view.records)),
            baseline=reading(view.baseline),
        ),
    )


def forms(world: World) -> tuple[str, str]:
    """The system and the problem, as they are compared."""
    return canonical_json(FAMILY.system(world)), canonical_json(FAMILY.problem(world))


@pytest.mark.parametrize("name", SUITES)
def test_renaming_changes_neither_system_nor_problem(name: str) -> None:
    suite, stream = FAMILY.suite(name, seed="renaming"), Stream("test", name)
    for i in range(0, len(suite), len(suite) // 8):
        world = FAMILY.world(suite[i])
        to = [FREQUENCY, *stream.shuffled(range(1, world.law.k))]
        assert forms(renamed(world, to)) == forms(world)


def test_problems_of_a_suite_differ_while_systems_may_repeat() -> None:
    worlds = [FAMILY.world(instance) for instance in FAMILY.suite("main_3", seed="renaming")]
    systems, problems = zip(*map(forms, worlds), strict=True)
    assert len(set(problems)) == GRAPHS
    assert 1 < len(set(systems)) <= GRAPHS


def test_whatever_is_shown_or_told_belongs_to_the_problem_alone() -> None:
    world = FAMILY.world(FAMILY.suite("main_5", seed="renaming")[3])
    view = world.view
    shown = list(view.records[0].values)
    shown[2] += 1.0
    others = [
        replace(view, budget=view.budget - 1),
        replace(view, tolerance=1.0),
        replace(view, semantics="set"),
        replace(view, controllable=view.controllable & ~2),
        replace(view, records=()),
        replace(view, records=(replace(view.records[0], values=tuple(shown)),)),
    ]
    worlds = [world, *(replace(world, view=other) for other in others)]
    worlds.append(replace(world, reactor=(0.0, *world.reactor[:0:-1])))
    assert len({forms(one)[1] for one in worlds}) == len(worlds)
    assert len({forms(one)[0] for one in worlds}) == 1


@pytest.mark.parametrize(("profile", "systems"), [("published", 3), ("certified", 1)])
def test_whole_weights_and_the_base_belong_to_the_system(profile: str, systems: int) -> None:
    """No two laws with real weights are equal, so there the graph is the system."""
    world = FAMILY.world(FAMILY.suite("main_5", seed="renaming", profile=profile)[3])
    law = world.law
    heavier = tuple(tuple(replace(t, linear=t.linear + 1) for t in own) for own in law.terms)
    laws = [law, Law(law.terms, law.base + 1), Law(heavier, law.base)]
    assert len({forms(replace(world, law=other))[0] for other in laws}) == systems


@pytest.mark.parametrize("k", [4, 5, 6])
def test_every_graph_that_was_thrown_away_is_counted_once(
    k: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    connected, shape = topology._connected, topology.shape
    refused, looked = [], []
    monkeypatch.setattr(
        topology, "_connected", lambda e, n: connected(e, n) or bool(refused.append(e))
    )
    monkeypatch.setattr(topology, "shape", lambda e, n: looked.append(e) or shape(e, n))
    found = topology.draws.__wrapped__(k, "counted")
    assert sum(one.unconnected for one in found) >= len(refused) > 0
    assert sum(one.repeated for one in found) == len(looked) - len(found)
    if k == 5:  # there is always room for all edges where the frequency ranks last
        assert sum(one.unconnected for one in found) == len(refused)


def test_every_record_that_was_thrown_away_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn, bases = [], crystals._bases
    monkeypatch.setattr(crystals, "_bases", lambda *args: drawn.append(args) or bases(*args))
    found = [crystals.drawn_crystals(crystals.Place(6, "counted", i), 8) for i in range(40)]
    thrown = sum(one.shared + one.dependent for one in found)
    assert len(drawn) == 40 * (1 + 8) + thrown
    assert sum(one.shared for one in found) > 0


def test_what_regimes_share_is_counted_at_the_first_of_them() -> None:
    suite = FAMILY.suite("scaling_6", seed="shared")
    total = Counter()
    for instance in suite:
        total.update(FAMILY.discarded(instance).asdict())
    graphs = topology.draws(6, "shared", least=generate.CAUSES)
    most = max(len(FAMILY.world(suite[i]).view.records) for i in range(0, len(suite), GRAPHS))
    places = [
        crystals.Place(6, "shared", i, real=True, causes=generate.CAUSES) for i in range(GRAPHS)
    ]
    found = [crystals.drawn_crystals(place, most) for place in places]
    laws = [FAMILY.world(suite[i]).law for i in range(GRAPHS)]
    reactors = [crystals.drawn_reactor(*each, 0) for each in zip(places, laws, strict=True)]
    assert total == {
        "unconnected_graph": sum(graph.unconnected for graph in graphs),
        "repeated_shape": sum(graph.repeated for graph in graphs),
        "shared_base": sum(one.shared for one in found),
        "dependent_record": sum(one.dependent for one in found),
        "imprecise_reactor": sum(one.refused for one in reactors),
    }
    alone = FAMILY.suite("scaling_6", seed="shared", parameters={"regime": "3o1i"})
    assert any(FAMILY.discarded(instance)["shared_base"] for instance in alone)


@pytest.mark.parametrize("name", ["main_4", "scaling_4", "fresh", "freqparent_6"])
def test_what_was_discarded_hangs_on_the_coordinates_alone(name: str) -> None:
    suite = FAMILY.suite(name, seed="discarded")
    chosen = [suite[i] for i in (*range(25), *range(25, len(suite), len(suite) // 25))]
    before = [FAMILY.discarded(instance) for instance in chosen]
    topology.draws.cache_clear()
    assert [FAMILY.discarded(instance) for instance in reversed(chosen)] == before[::-1]
    assert {tuple(record.asdict()) for record in before} == {
        (
            "unconnected_graph",
            "repeated_shape",
            "shared_base",
            "dependent_record",
            "imprecise_reactor",
        )
    }
    assert sum(record["unconnected_graph"] for record in before) > 0
