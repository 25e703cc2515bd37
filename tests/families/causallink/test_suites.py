"""What the suites hold, and that nothing but experiments tells the answer."""

from collections import Counter

import pytest
from tests.tables import sampled
from tests.twins import causallink_twin as twin

from whybench.causal.seeds import Stream
from whybench.episode.episode import play
from whybench.episode.registry import families
from whybench.families.causallink.prompts.theme import THEMES, read_theme
from whybench.families.causallink.proof import certify
from whybench.families.causallink.rules import LinkEpisode
from whybench.families.causallink.world.generate import Case, behaviour, enumerated, matched
from whybench.families.causallink.world.world import View, World

FAMILY = families()["causallink"]


def accuracy(agent: str, **options: object) -> float:
    suite = FAMILY.suite("advanced", **options)
    scores = [FAMILY.score(i, play(FAMILY.open(i), FAMILY.agent(agent, i))) for i in suite]
    return sum(score.values["accuracy"] for score in scores) / len(scores)


def code(case: Case) -> tuple[int, ...]:
    return behaviour(case.graph.reach(), case.start, case.x, case.y)


def test_core_has_the_published_counts() -> None:
    suite = FAMILY.suite("core")
    truths = [FAMILY.world(instance).truth for instance in suite]
    assert (len(suite), sum(truths)) == (84, 37)
    counts = Counter(FAMILY.world(instance).structure for instance in suite)
    assert counts == {"direct": 6, "mediation": 24, "confounder": 30, "confounder_extra": 24}


def test_core_distinct_are_the_45_behaviours() -> None:
    codes = Counter(code(case) for case in enumerated("core"))
    assert Counter(codes.values()) == {2: 39, 1: 6}
    assert len(FAMILY.suite("core_distinct")) == 45
    assert len({code(case) for case in enumerated("core_distinct")}) == 45


def test_collider_has_every_start_and_pair() -> None:
    worlds = [FAMILY.world(instance) for instance in FAMILY.suite("collider")]
    assert len(worlds) == 30
    assert sum(world.truth for world in worlds) == 10
    assert len({world.view.start.bit_count() for world in worlds}) == 4


@pytest.mark.parametrize(("name", "sizes"), [("advanced", (4, 5, 6, 7)), ("large", (10, 11, 12))])
def test_random_graphs_are_balanced_and_everything_is_on(name: str, sizes: tuple[int, ...]) -> None:
    worlds = [FAMILY.world(instance) for instance in FAMILY.suite(name)]
    assert len(worlds) == 300 * len(sizes)
    for n in sizes:
        of_size = [world for world in worlds if world.view.n == n]
        assert len(of_size) == 300
        assert sum(world.truth for world in of_size) == 150
        sources = Counter(sum(not above for above in world.above) for world in of_size)
        assert sorted(sources) == list(range(1, min(4, n - 1) + 1))
    assert all(world.view.start == (1 << world.view.n) - 1 for world in worlds)


def test_no_neighbour_tells_the_answer() -> None:
    """Two questions are matched, but they stand at random places of 300."""
    truths = [FAMILY.world(instance).truth for instance in FAMILY.suite("advanced")]
    changes = sum(a != b for a, b in zip(truths[::2], truths[1::2], strict=True))
    assert 240 < changes < 360


def shown(world: World) -> Counter[object]:
    """All that one intervention can show of a question up to names, by the twin's dynamics."""
    edges, everything = frozenset(world.graph.edges()), frozenset(range(world.view.n))
    x, y, seen = world.view.x, world.view.y, Counter[object]()
    for v in everything:
        left = twin.step(edges, everything, "hold", v)
        seen[v == x, v == y, v in left, x in left, y in left, len(left)] += 1
        assert twin.step(edges, everything, "move", v) == everything
    return seen


@pytest.mark.parametrize("n", [4, 5, 7, 12])
def test_the_questions_of_a_pair_look_the_same_after_any_one_intervention(n: int) -> None:
    names, everything = tuple("abcdefghijkl"[:n]), (1 << n) - 1
    for number in range(40):
        no, yes = (
            World.of(View("shapes", names, everything, x, y, 2 * n), "random", graph)
            for graph, x, y in matched(n, ("pairs", number))
        )
        assert (no.truth, yes.truth) == (False, True)
        assert shown(no) == shown(yes)
        assert min(certify.fewest(no), certify.fewest(yes)) >= 2


@pytest.mark.parametrize("agent", ["null", "null_no"])
def test_constant_agents_are_at_one_half(agent: str) -> None:
    assert accuracy(agent) == pytest.approx(0.5, abs=0.02)


@pytest.mark.parametrize("agent", sampled(["names_only", "first_listed", "last_listed"]))
@pytest.mark.parametrize("seed", ["public", "other"])
def test_the_listing_tells_nothing(agent: str, seed: str) -> None:
    assert accuracy(agent, seed=seed) == pytest.approx(0.5, abs=0.04)


@pytest.mark.slow
def test_the_published_law_has_its_declared_defects() -> None:
    """Listing in causal order, questions only along it, and a "yes" for about 73 %."""
    suite = FAMILY.suite("advanced", profile="published", parameters={"graphs": 400})
    worlds = [FAMILY.world(instance) for instance in suite]
    assert all(world.view.x < world.view.y for world in worlds)
    assert all(a < b for world in worlds for a, b in world.graph.edges())
    shares, unreached = [], []
    for n in (4, 5, 6, 7):
        of_size = [world for world in worlds if world.view.n == n]
        shares.append(sum(world.truth for world in of_size) / len(of_size))
        graphs = of_size[::6]
        unreached.append(sum(g.below[0].bit_count() != n - 1 for g in graphs) / len(graphs))
    assert shares == pytest.approx([0.737, 0.725, 0.729, 0.739], abs=0.05)
    assert unreached == pytest.approx([0.344, 0.385, 0.404, 0.409], abs=0.08)
    assert accuracy("first_listed", profile="published") > 0.68
    assert accuracy("null", profile="published") > 0.68


def test_core_published_lists_in_the_order_of_the_structure() -> None:
    for instance, case in zip(
        FAMILY.suite("core", profile="published"), enumerated("core"), strict=True
    ):
        assert FAMILY.world(instance).graph == case.graph


@pytest.mark.parametrize("n", [8, 10, 12])
def test_advanced_goes_to_twelve(n: int) -> None:
    suite = FAMILY.suite("advanced", parameters={"n": n, "graphs": 4})
    assert len(suite) == 24
    for instance in suite:
        certificate = FAMILY.certify(instance)
        assert certificate.defects() == []
        assert certificate.minimax is None
        assert certificate.minimax_upper == n - 1


def test_large_has_the_graphs_of_advanced_with_that_many_entities() -> None:
    for profile in ("certified", "published"):
        large = FAMILY.suite("large", profile=profile, parameters={"graphs": 2})
        for k, n in enumerate((10, 11, 12)):
            alone = FAMILY.suite("advanced", profile=profile, parameters={"n": n, "graphs": 2})
            assert [FAMILY.problem(FAMILY.world(large[12 * k + i])) for i in range(12)] == [
                FAMILY.problem(FAMILY.world(instance)) for instance in alone
            ]


def test_any_number_of_graphs_extends_the_same_list() -> None:
    few = FAMILY.suite("advanced", parameters={"n": 9, "graphs": 3})
    many = FAMILY.suite("advanced", parameters={"n": 9, "graphs": 5})
    assert [FAMILY.world(i) for i in few] == [FAMILY.world(many[k]) for k in range(18)]


def test_themes_have_the_same_worlds_behind_them() -> None:
    assert len(THEMES) >= 3
    for theme in THEMES:
        words = read_theme(theme)
        assert len(set(words.entities)) == len(words.entities) >= 12
        suite = FAMILY.suite("advanced", parameters={"theme": theme})
        for index in (0, 600, 1199):
            plain = FAMILY.world(FAMILY.suite("advanced")[index])
            world = FAMILY.world(suite[index])
            assert (world.graph, world.view.x, world.view.y) == (
                plain.graph,
                plain.view.x,
                plain.view.y,
            )
            told = FAMILY.open(suite[index]).instructions("plain")
            assert words.start in told
            assert all(name in words.entities for name in world.view.names)


def test_one_theme_has_a_change_for_each_entity() -> None:
    own = read_theme("workshop")
    assert len(set(own.changes)) == len(own.entities)
    assert len(set(read_theme("shapes").changes)) == 1


def test_bad_parameters_are_refused() -> None:
    for parameters in ({"n": 3}, {"n": 13}, {"graphs": 0}, {"theme": "opera"}, {"max_errors": 0}):
        with pytest.raises(ValueError, match="parameter"):
            FAMILY.suite("advanced", parameters=parameters)
    with pytest.raises(ValueError, match="only to causallink/advanced"):
        FAMILY.suite("large", parameters={"n": 10})
    with pytest.raises(ValueError, match="only to advanced and large"):
        FAMILY.suite("core", parameters={"graphs": 5})


def test_a_permuted_display_permutes_the_words_and_nothing_else() -> None:
    """The same case shown in another order: same sentences, same truth, same certificate."""
    stream = Stream("permuted display")
    for index in range(0, 1200, 60):
        instance = FAMILY.suite("advanced")[index]
        world = FAMILY.world(instance)
        view = world.view
        place = stream.shuffled(range(view.n))
        names = [""] * view.n
        for v, name in enumerate(view.names):
            names[place[v]] = name
        moved = View(
            view.theme, tuple(names), view.start, place[view.x], place[view.y], view.budget
        )
        other = World.of(moved, world.structure, world.graph.relabelled(place))
        told = [LinkEpisode(instance, w, 4).instructions("plain") for w in (world, other)]
        assert sorted(told[0].replace(".", ",").split()) == sorted(
            told[1].replace(".", ",").split()
        )
        assert other.truth == world.truth
        assert certify.fewest(other) == certify.fewest(world)


def test_a_seed_that_was_read_as_a_number_is_refused() -> None:
    with pytest.raises(ValueError, match="read as a number"):
        FAMILY.suite("core", seed=2026)
