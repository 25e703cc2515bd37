"""What a document says: every edge once, in the shares asked, and nothing that is false."""

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache

import networkx as nx
import pytest
from tests.tables import together

from whybench.causal.seeds import Stream
from whybench.families.recite.parameters import levels, matched
from whybench.families.recite.world import plan
from whybench.families.recite.world.diagram import Pair, diagram
from whybench.families.recite.world.distract import ROLES, Distractors
from whybench.families.recite.world.frames import Sign
from whybench.families.recite.world.plan import Graph, Shares, Statement
from whybench.families.recite.world.sizes import sized
from whybench.families.recite.world.world import Mention

GRAPHS = 32
OUTSIDERS = 6


@cache
def graph(number: int) -> Graph:
    """Return a graph whose concepts have kinds as in the vocabularies: some 27, of 6 each."""
    stream = Stream("plans", number)
    size = sized(stream, ("short", "ladder", "matched", "long")[number % 4])
    edges = diagram(stream, size.nodes, size.edges, size.looped)
    signs: dict[Pair, Sign] = {pair: "+" if stream.below(2) else "-" for pair in sorted(edges)}
    kinds = stream.sample([f"kind {k % 27}" for k in range(165)], size.nodes + OUTSIDERS)
    return Graph(
        size.nodes,
        edges,
        signs,
        kinds,
        tuple(stream.shuffled(range(size.nodes))),
        tuple(stream.shuffled(sorted(edges))),
    )


def statements(held: Graph, shares: Shares, name: str = "words") -> list[Statement]:
    spoken = plan.mentions(held, shares)
    given = plan.statuses(held, spoken, shares)
    stream = Stream("plans", name, held.n)
    return [
        *plan.stated(stream, held, given["stated"]),
        *plan.implied(held, given["implied"]),
        *plan.derivable(stream, held, given["derivable"], voiced(held, spoken)),
        *plan.unnamed(held, spoken),
    ]


def voiced(held: Graph, spoken: Sequence[Mention]) -> list[int]:
    outsiders = range(held.n, held.n + OUTSIDERS)
    return [*(v for v in range(held.n) if spoken[v] != "absent"), *outsiders]


def as_networkx(held: Graph) -> nx.DiGraph:
    return nx.DiGraph(list(held.edges))


@cache
def descendants(number: int) -> dict[int, set[int]]:
    """Return what each node of a graph acts on, others than itself."""
    whole = as_networkx(graph(number))
    return {node: nx.descendants(whole, node) for node in whole}


every_graph = together("number", range(GRAPHS))
SHARES = (*levels(), matched(), Shares(1.0, 0.0, 0.0, 0.0), Shares(0.5, 0.5, 0.5, 0.5))


def said(statement: Statement, groups: dict[int, tuple[int, ...]]) -> set[Pair]:
    """Say what a statement claims, by its role and fills alone."""
    fills = statement.fills
    one = {slot: held[0] for slot, held in fills.items()}
    members = groups.get(-1 if statement.group is None else statement.group, ())
    match statement.role:
        case "causes":
            return {(cause, one["effect"]) for cause in fills["causes"]}
        case "effects":
            return {(one["cause"], effect) for effect in fills["effects"]}
        case "mutual":
            return {(one["a"], one["b"]), (one["b"], one["a"])}
        case "through":
            return {(one["first"], one["middle"]), (one["middle"], one["last"])}
        case "acts":
            return {(member, one["effect"]) for member in members}
        case "receives":
            return {(one["cause"], member) for member in members}
        case "except":
            return {(m, one["effect"]) for m in fills["members"] if m != one["exception"]}
        case "from":
            return {(one["cause"], one["kind"])}
        case "to":
            return {(one["kind"], one["effect"])}
        case "between":
            return {(one["cause"], one["kind"]), (one["kind"], one["effect"])}
        case "define":
            return set()
        case _:
            return {(one["cause"], one["effect"])}


@every_graph
def test_every_edge_is_given_exactly_once(number: int) -> None:
    held = graph(number)
    for shares in SHARES:
        made = [s for s in statements(held, shares) if not defines(s)]
        counts = Counter(pair for statement in made for pair in statement.edges)
        assert counts == Counter(held.edges)


@every_graph
def test_statements_give_the_edges_that_they_speak_of(number: int) -> None:
    held = graph(number)
    for shares in SHARES:
        made = statements(held, shares)
        groups = {s.group: s.fills["members"] for s in made if s.group is not None and defines(s)}
        for statement in made:
            if not defines(statement):
                assert said(statement, groups) == set(statement.edges)


def defines(statement: Statement) -> bool:
    """Tell whether a statement defines a label, of which another one speaks."""
    return statement.role == "define"


@every_graph
def test_each_label_is_defined_once_and_spoken_of_once(number: int) -> None:
    for shares in SHARES:
        made = [s for s in statements(graph(number), shares) if s.group is not None]
        defined = {s.group: set(s.edges) for s in made if defines(s)}
        spoken = {s.group: set(s.edges) for s in made if not defines(s)}
        assert len(made) == len(defined) + len(spoken)
        assert defined == spoken


@every_graph
def test_single_edges_are_told_with_their_own_sign(number: int) -> None:
    held = graph(number)
    for statement in statements(held, matched()):
        if statement.role in ("stated", "implied", "counterfactual"):
            (edge,) = statement.edges
            assert statement.sign == held.signs[edge]
        else:
            assert statement.sign == "0"


@every_graph
def test_mentions_have_the_shares_asked(number: int) -> None:
    held = graph(number)
    for shares in SHARES:
        counts = Counter(plan.mentions(held, shares))
        asked = round((1 - shares.explicit - shares.implicit) * held.n)
        may = len(plan.may_be_absent(held))
        assert counts["absent"] == min(asked, may)
        assert counts["implicit"] == round(shares.implicit * held.n) + max(0, asked - may)
        assert counts.total() == held.n
        assert abs(counts["explicit"] - shares.explicit * held.n) <= 1


def test_on_the_ladder_enough_nodes_may_be_absent() -> None:
    asked = max(1 - shares.explicit - shares.implicit for shares in levels())
    for held in (graph(number) for number in range(1, GRAPHS, 4)):
        assert round(asked * held.n) <= len(plan.may_be_absent(held))


@every_graph
def test_statuses_have_the_shares_asked_among_nodes_spoken_of(number: int) -> None:
    held = graph(number)
    for shares in SHARES:
        spoken = plan.mentions(held, shares)
        given = plan.statuses(held, spoken, shares)
        silent = {v for v in range(held.n) if spoken[v] == "absent"}
        open_edges = {pair for pair in held.edges if not silent & set(pair)}
        assert sorted(pair for pairs in given.values() for pair in pairs) == sorted(open_edges)
        assert abs(len(given["stated"]) - shares.stated * len(open_edges)) <= 1
        assert abs(len(given["implied"]) - shares.implied * len(open_edges)) <= 0.5


@every_graph
def test_absent_nodes_are_neither_neighbours_nor_of_one_kind(number: int) -> None:
    held = graph(number)
    for shares in SHARES:
        spoken = plan.mentions(held, shares)
        silent = [v for v in range(held.n) if spoken[v] == "absent"]
        assert not any(a in silent and b in silent for a, b in held.edges)
        assert len({held.kinds[v] for v in silent}) == len(silent)


@every_graph
def test_absent_nodes_are_named_by_their_kind_only(number: int) -> None:
    held = graph(number)
    for shares in SHARES:
        spoken = plan.mentions(held, shares)
        for statement in statements(held, shares):
            for slot, fills in statement.fills.items():
                absent = [v < held.n and spoken[v] == "absent" for v in fills]
                assert all(absent) if slot == "kind" else not any(absent)


@every_graph
def test_nodes_speak_up_one_after_another_on_the_ladder(number: int) -> None:
    held = graph(number)
    order = ("absent", "implicit", "explicit")
    rungs = [plan.mentions(held, shares) for shares in levels()]
    for node in range(held.n):
        heights = [order.index(rung[node]) for rung in rungs]
        assert heights == sorted(heights)


@every_graph
def test_more_edges_are_stated_and_fewer_derivable_from_level_to_level(number: int) -> None:
    held = graph(number)
    stated, open_ones = [], []
    for shares in levels():
        given = plan.statuses(held, plan.mentions(held, shares), shares)
        stated.append(len(given["stated"]))
        open_ones.append(len(given["stated"]) + len(given["implied"]))
    assert stated == sorted(stated)
    assert stated[0] < stated[2] < stated[-1] == len(held.edges)
    assert open_ones == sorted(open_ones)


def test_edges_hardly_ever_become_less_open_from_level_to_level() -> None:
    """Shares are rounded anew at each level, so that one edge in a thousand may step back."""
    order = ("derivable", "implied", "stated")
    steps = back = 0
    for number in range(GRAPHS):
        held = graph(number)
        before = dict.fromkeys(held.edges, 0)
        for shares in levels():
            given = plan.statuses(held, plan.mentions(held, shares), shares)
            told = {pair: order.index(status) for status, pairs in given.items() for pair in pairs}
            now = {pair: told.get(pair, 0) for pair in held.edges}
            steps += len(now)
            back += sum(now[pair] < before[pair] for pair in now)
            before = now
    assert steps > 5_000
    assert back <= steps / 1000


def test_ways_and_exceptions_are_true_of_the_graph() -> None:
    """No other path where one is said to be the only one; what is excepted does not act at all."""
    seen: Counter[str] = Counter()
    for number in range(GRAPHS):
        for statement in statements(graph(number), Shares(1.0, 0.0, 0.0, 0.0)):
            fills = statement.fills
            seen[statement.role] += 1
            if statement.role == "through":
                rest = as_networkx(graph(number))
                rest.remove_nodes_from(fills["middle"])
                assert not nx.has_path(rest, *fills["first"], *fills["last"])
            if statement.role == "except":
                assert fills["exception"][0] in fills["members"]
                assert not acts(number, fills["exception"][0], fills["effect"][0])
    assert seen["through"] > 25
    assert seen["except"] > 20


def acts(number: int, cause: int, effect: int) -> bool:
    return effect in descendants(number).get(cause, set())


def distractors(number: int, role: str, count: int) -> Iterable[tuple[int, int]]:
    held = graph(number)
    cast = voiced(held, plan.mentions(held, matched()))
    source = Distractors(Stream("distract", number, role), held, cast)
    for _ in range(count):
        statement = source.draw(role)
        if statement is not None:
            assert statement.role == role
            assert statement.edges == ()
            assert all(v in cast for fills in statement.fills.values() for v in fills)
            slots = ("a", "b") if role == "correlated" else ("cause", "effect")
            (first,), (second,) = (statement.fills[slot] for slot in slots)
            yield first, second


@pytest.mark.parametrize("role", ROLES)
def test_distractors_are_true_of_the_graph(role: str) -> None:
    seen = turned = 0
    for number in range(GRAPHS):
        held = graph(number)
        for first, second in distractors(number, role, 25):
            assert first != second
            assert (first, second) not in held.edges
            if role != "hedged":
                assert not acts(number, first, second)
            if role == "correlated":
                assert not acts(number, second, first)
            seen += 1
            turned += (second, first) in held.edges
    assert seen > 250
    if role != "correlated":
        assert turned > 10, "no gold edge is turned round to tempt"
