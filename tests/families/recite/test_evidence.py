"""A check that knows neither frames nor generator finds the evidence of every gold edge."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache

import pytest
from tests.twins.recite_evidence import RULES, finds, sentences, violations

from whybench.families.recite.parameters import levels, matched
from whybench.families.recite.world.generate import Order, made
from whybench.families.recite.world.vocabulary import FIELDS, field_named
from whybench.families.recite.world.world import Edge, Mention, Node, View, World

Spoiler = Callable[[World], World]


@cache
def documents() -> tuple[World, ...]:
    """Two hundred documents: every source, every level of explicitness."""
    ladder = [
        Order("ladder", "evidence", graph, shares, level)
        for graph in range(14)
        for level, shares in enumerate(levels(), start=1)
    ]
    counts = {"short": 70, "matched": 48, "long": 12}
    rest = [
        Order(source, "evidence", graph, matched())
        for source, count in counts.items()
        for graph in range(count)
    ]
    return tuple(made(order) for order in (*ladder, *rest))


@pytest.mark.slow
def test_two_hundred_documents_bear_out_every_edge_and_name_no_absent_node() -> None:
    worlds = documents()
    assert len(worlds) == 200
    wrong = {
        (world.cluster, world.level): found for world in worlds if (found := violations(world))
    }
    assert wrong == {}


def test_the_two_hundred_hold_every_field_mention_and_status() -> None:
    worlds = documents()
    assert {world.domains for world in worlds} == {(field_named(name).title,) for name in FIELDS}
    mentions = [node.mention for world in worlds for node in world.nodes]
    statuses = [edge.status for world in worlds for edge in world.edges]
    assert min(mentions.count(mention) for mention in ("explicit", "implicit", "absent")) > 100
    assert min(statuses.count(status) for status in ("stated", "implied", "derivable")) > 500


def rich(world: World) -> bool:
    """Whether there is something of everything to spoil."""
    mentions = {node.mention for node in world.nodes}
    statuses = {edge.status for edge in world.edges}
    return len(mentions) == 3 and len(statuses) == 3 and "\n## " in world.view.text


@cache
def sample() -> tuple[World, ...]:
    return tuple(world for world in documents() if rich(world))[:8]


def first(world: World, mention: Mention) -> int:
    return next(v for v, node in enumerate(world.nodes) if node.mention == mention)


def with_text(world: World, text: str) -> World:
    return replace(world, view=replace(world.view, text=text))


def with_node(world: World, place: int, node: Node) -> World:
    nodes = list(world.nodes)
    nodes[place] = node
    return replace(world, nodes=tuple(nodes))


def with_edge(world: World, place: int, edge: Edge) -> World:
    edges = list(world.edges)
    edges[place] = edge
    return replace(world, edges=tuple(edges))


def given(world: World, status: str) -> int:
    return next(k for k, edge in enumerate(world.edges) if edge.status == status)


def span_moved(world: World) -> World:
    (start, end), *more = world.edges[0].spans
    moved = replace(world.edges[0], spans=((start + 1, end), *more))
    return with_edge(world, 0, moved)


def span_cut_short(world: World) -> World:
    (start, end), *more = world.edges[0].spans
    return with_edge(world, 0, replace(world.edges[0], spans=((start, end - 1), *more)))


def span_behind_the_text(world: World) -> World:
    size = len(world.view.text)
    return with_edge(world, 0, replace(world.edges[0], spans=((size - 9, size + 9),)))


def span_on_a_heading(world: World) -> World:
    start = world.view.text.index("\n## ") + 1
    end = world.view.text.index("\n", start)
    edge = world.edges[0]
    return with_edge(world, 0, replace(edge, spans=(*edge.spans, (start, end))))


def span_over_a_heading(world: World) -> World:
    heading = world.view.text.index("\n## ")
    told = sentences(world.view.text)
    before = max((span for span in told if span[1] <= heading), default=None)
    if before is None:
        following = world.view.text.index("\n## ", heading + 1)
        before = max(span for span in told if span[1] <= following)
        heading = following
    after = min(span for span in told if span[0] > heading)
    edge = world.edges[0]
    return with_edge(world, 0, replace(edge, spans=(*edge.spans, (before[0], after[1]))))


def span_left_out(world: World) -> World:
    return with_edge(world, 0, replace(world.edges[0], spans=()))


def another_edge_s_evidence(world: World) -> World:
    here = world.edges[0]
    ends = {here.cause, here.effect}
    other = next(edge for edge in world.edges if not ends & {edge.cause, edge.effect})
    return with_edge(world, 0, replace(here, spans=other.spans))


def end_renamed(world: World) -> World:
    place = first(world, "explicit")
    node = replace(world.nodes[place], name="Aardvark count", aliases=("the count of aardvarks",))
    return with_node(world, place, node)


def kind_of_an_absent_end_changed(world: World) -> World:
    place = first(world, "absent")
    return with_node(world, place, replace(world.nodes[place], kind="clockwork"))


def alias_lost(world: World) -> World:
    place = first(world, "explicit")
    node = world.nodes[place]
    return with_node(world, place, replace(node, aliases=node.aliases[:1]))


def stated_called_implied(world: World) -> World:
    place = given(world, "stated")
    return with_edge(world, place, replace(world.edges[place], status="implied"))


def implied_called_stated(world: World) -> World:
    place = given(world, "implied")
    return with_edge(world, place, replace(world.edges[place], status="stated"))


def status_withheld(world: World) -> World:
    return with_edge(world, 0, replace(world.edges[0], status="unknown"))


def explicit_called_implicit(world: World) -> World:
    place = first(world, "explicit")
    return with_node(world, place, replace(world.nodes[place], mention="implicit"))


def implicit_called_explicit(world: World) -> World:
    place = first(world, "implicit")
    return with_node(world, place, replace(world.nodes[place], mention="explicit"))


def implicit_named(world: World) -> World:
    name = world.nodes[first(world, "implicit")].name
    return with_text(world, f"{world.view.text}\n\n{name} was noted.\n")


def explicit_called_absent(world: World) -> World:
    place = first(world, "explicit")
    return with_node(world, place, replace(world.nodes[place], mention="absent"))


def absent_named(world: World) -> World:
    name = world.nodes[first(world, "absent")].name
    return with_text(world, f"{world.view.text}\n\nNothing is said of {name.upper()}, of course.\n")


def absent_hinted_at(world: World) -> World:
    alias = world.nodes[first(world, "absent")].aliases[-1]
    return with_text(world, f"{world.view.text}\n\nA word on {alias}.\n")


def absent_in_a_heading(world: World) -> World:
    name = world.nodes[first(world, "absent")].name
    return with_text(world, f"{world.view.text}\n\n## {name}\n")


def absent_in_the_title(world: World) -> World:
    return replace(world, title=f"Notes on {world.nodes[first(world, 'absent')].name}")


def nodes_out_of_order(world: World) -> World:
    one, two, *rest = world.nodes
    return replace(world, nodes=(two, one, *rest))


def edges_out_of_order(world: World) -> World:
    return replace(world, edges=world.edges[::-1])


def edge_twice(world: World) -> World:
    return replace(world, edges=(world.edges[0], *world.edges))


def loop_at_one_node(world: World) -> World:
    return with_edge(world, 0, replace(world.edges[0], effect=world.edges[0].cause))


def node_alone(world: World) -> World:
    return replace(world, edges=tuple(e for e in world.edges if 0 not in (e.cause, e.effect)))


def another_count(world: World) -> World:
    return replace(world, view=replace(world.view, count=world.view.count + 1))


def names_told_too_soon(world: World) -> World:
    view: View = replace(world.view, nodes=tuple(node.name for node in world.nodes))
    return replace(world, view=view)


SPOILERS: dict[Spoiler, str] = {
    span_moved: "span",
    span_cut_short: "span",
    span_behind_the_text: "span",
    span_on_a_heading: "span",
    span_over_a_heading: "span",
    span_left_out: "span",
    another_edge_s_evidence: "ends",
    end_renamed: "vocabulary",
    alias_lost: "vocabulary",
    kind_of_an_absent_end_changed: "ends",
    stated_called_implied: "status",
    implied_called_stated: "status",
    status_withheld: "status",
    explicit_called_implicit: "mention",
    implicit_called_explicit: "mention",
    implicit_named: "mention",
    explicit_called_absent: "absent",
    absent_named: "absent",
    absent_hinted_at: "absent",
    absent_in_a_heading: "absent",
    absent_in_the_title: "absent",
    nodes_out_of_order: "graph",
    edges_out_of_order: "graph",
    edge_twice: "graph",
    loop_at_one_node: "graph",
    node_alone: "graph",
    another_count: "graph",
    names_told_too_soon: "graph",
}


@pytest.mark.parametrize("spoil", SPOILERS, ids=lambda spoil: spoil.__name__)
def test_a_spoilt_document_is_noticed(spoil: Spoiler) -> None:
    worlds = sample()
    assert len(worlds) == 8
    for world in worlds:
        assert SPOILERS[spoil] in {violation.rule for violation in violations(spoil(world))}


def test_a_renamed_end_is_missed_in_its_passages_too() -> None:
    for world in sample():
        assert "ends" in {violation.rule for violation in violations(end_renamed(world))}


def test_every_rule_is_broken_by_some_spoiler() -> None:
    assert set(SPOILERS.values()) == set(RULES)


def owners(text: str) -> Iterator[tuple[str, str]]:
    lexicon = {"price": ["Price"], "the price of corn": ["Corn price"], "corn": ["Corn"]}
    return ((find.owner, text[find.start : find.end]) for find in finds(text, lexicon))


def test_words_inside_a_longer_form_speak_of_its_owner_only() -> None:
    assert list(owners("The price of corn fell.")) == [("Corn price", "The price of corn")]
    assert list(owners("Corn fell; the price did not.")) == [("Corn", "Corn"), ("Price", "price")]
    assert list(owners("Popcorn, corns and priceless things.")) == []


def test_sentences_are_found_and_headings_are_not() -> None:
    text = "# A title.\n\nOne thing. Another one.\n\n## More\nA third.\n"
    assert [text[a:b] for a, b in sentences(text)] == ["One thing.", "Another one.", "A third."]
