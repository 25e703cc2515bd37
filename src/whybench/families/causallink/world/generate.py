"""Rebuild the hidden system from the coordinates of an instance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from itertools import combinations, permutations
from typing import TypeAlias

from whybench.causal.graph import Graph, canonical_form, members, transpose
from whybench.causal.seeds import Stream
from whybench.episode.instance import Instance
from whybench.families.causallink.parameters import (
    CORE,
    GRAPHS,
    QUESTIONS,
    SIZES,
    SOURCES,
    STRUCTURES,
    Parameters,
)
from whybench.families.causallink.prompts.theme import read_theme
from whybench.families.causallink.world.limited import matched_question
from whybench.families.causallink.world.small import answers, small_question
from whybench.families.causallink.world.world import View, World

STREAMS = "1"
"""The version in the paths of random streams. It stays, so that unchanged suites keep their draws.
"""

Kind: TypeAlias = tuple[bool, bool, int, tuple[int, ...]]
"""What one intervention can show of a question: x is a source; y has one source; how many entities
have the only source of x as theirs (0 if x has several); the same number for every source."""

Question: TypeAlias = tuple[Graph, int, int]
"""A graph, and the asked pair."""


@dataclass(frozen=True, slots=True)
class Case:
    """A question about a graph in a start state, before names and a display order are drawn."""

    structure: str
    graph: Graph
    start: int
    x: int
    y: int
    fixed: int = 0


def size(suite: str, parameters: Parameters) -> int:
    """Return the number of instances of a suite."""
    if suite in SIZES:
        return len(parameters.sizes(suite)) * parameters.graphs * QUESTIONS
    return len(enumerated(suite))


def world(instance: Instance, parameters: Parameters) -> World:
    """Rebuild the hidden system at an instance's coordinates."""
    if instance.suite in SIZES:
        case = _random_case(instance, parameters)
    else:
        case = enumerated(instance.suite)[instance.index]
    return _displayed(case, instance, parameters)


def _displayed(case: Case, instance: Instance, parameters: Parameters) -> World:
    """Draw names and a display order for a case, independently of its structure.

    Profile `published` lists entities by their index in the structure, as the released code does.
    For random graphs this is a causal order, so the list reveals the structure.
    """
    n = case.graph.n
    stream = Stream(*_path(instance, "display", instance.suite, n, instance.index))
    place = list(range(n)) if instance.profile == "published" else stream.shuffled(range(n))
    names = stream.sample(read_theme(parameters.theme).entities, n)
    start, fixed = (sum(1 << place[v] for v in members(s)) for s in (case.start, case.fixed))
    budget = 2 * n if parameters.budget is None else parameters.budget
    view = View(parameters.theme, tuple(names), start, place[case.x], place[case.y], budget, fixed)
    return World.of(view, case.structure, case.graph.relabelled(place))


@cache
def enumerated(suite: str) -> tuple[Case, ...]:
    """Return the cases of a suite that is enumerated in full."""
    if suite == "collider":
        return tuple(_all_cases("collider"))
    core = tuple(case for structure in CORE for case in _all_cases(structure))
    if suite == "core":
        return core
    distinct: dict[tuple[int, ...], Case] = {}
    for case in core:
        distinct.setdefault(behaviour(case.graph.reach(), case.start, case.x, case.y), case)
    return tuple(distinct.values())


def behaviour(below: Sequence[int], start: int, x: int, y: int, fixed: int = 0) -> tuple[int, ...]:
    """Return a code that ignores names and edges that no experiment shows."""
    colours = [
        (start >> v & 1) + 2 * (v == x) + 4 * (v == y) + 8 * (fixed >> v & 1)
        for v in range(len(below))
    ]
    return canonical_form(below, colours)


def _all_cases(structure: str) -> list[Case]:
    """Return every start that starting fewer than n entities reaches, with every ordered pair."""
    n, edges = STRUCTURES[structure]
    graph = Graph.from_edges(n, edges)
    below = graph.reach()
    starts = {
        sum(1 << v for v in members(_union([1 << v | below[v] for v in chosen])))
        for k in range(n)
        for chosen in combinations(range(n), k)
    }
    ordered = sorted(starts, key=lambda start: (start.bit_count(), start))
    return [
        Case(structure, graph, start, x, y)
        for start in ordered
        for x, y in permutations(range(n), 2)
    ]


def _union(masks: Sequence[int]) -> int:
    union = 0
    for mask in masks:
        union |= mask
    return union


def _random_case(instance: Instance, parameters: Parameters) -> Case:
    """Return a question about a random graph, with everything on at the start."""
    sizes = parameters.sizes(instance.suite)
    if instance.suite == "small":  # all sizes from the first instances on
        place, size_index = divmod(instance.index, len(sizes))
    else:
        size_index, place = divmod(instance.index, parameters.graphs * QUESTIONS)
    n = sizes[size_index]
    if instance.profile == "published":
        number, question = divmod(place, QUESTIONS)
        graph, pairs = _published(n, _path(instance, "graph", n, number))
        x, y = pairs[question]
        return Case("random", graph, (1 << n) - 1, x, y)
    number, within = divmod(place, GRAPHS * QUESTIONS)
    own = instance.suite if instance.suite in ("limited", "small") else "matched"
    path = _path(instance, own, n, number)
    many = 3 if own == "limited" else len(answers(n)) if own == "small" else 2
    drawn, answer = divmod(_places(path)[within], many)
    if own != "matched":
        ask = matched_question if own == "limited" else partial(small_question, n)
        world = ask((*path, drawn), answer)
        view = world.view
        return Case("order", world.graph, view.start, view.x, view.y, view.fixed)
    graph, x, y = matched(n, (*path, drawn))[answer]
    return Case("random", graph, (1 << n) - 1, x, y)


@lru_cache(maxsize=64)
def _places(path: tuple[str | int, ...]) -> list[int]:
    """Return the shuffled places of matched questions, so that no neighbour tells of another."""
    return Stream(*path).shuffled(range(GRAPHS * QUESTIONS))


@lru_cache(maxsize=1024)
def matched(n: int, path: tuple[str | int, ...]) -> tuple[Question, Question]:
    """Draw two questions that no single intervention distinguishes: the answers are no and yes.

    Graphs are drawn until two of them have questions of the same kind and different answers. All
    graphs of a pair have the same number of sources, which is drawn first.
    """
    stream = Stream(*path)
    sources = 1 + stream.below(min(SOURCES, n - 1))
    earlier: dict[tuple[Kind, bool], Question] = {}
    while True:
        graph = _drawn(stream, n, sources)
        asked = {label: (graph, *stream.choice(found)) for label, found in _kinds(graph).items()}
        hits = [(kind, truth) for kind, truth in asked if (kind, not truth) in earlier]
        if hits:
            kind, truth = stream.choice(hits)
            pair = (earlier[kind, not truth], asked[kind, truth])
            return pair if truth else (pair[1], pair[0])
        for label, question in asked.items():
            earlier.setdefault(label, question)


def _drawn(stream: Stream, n: int, sources: int) -> Graph:
    """Draw a graph; every node that is not a source has an earlier parent.

    The probability of an edge is uniform between 0.2 and 0.6, the same for all edges of a graph.
    """
    chance = 0.2 + 0.4 * stream.uniform()
    edges: list[tuple[int, int]] = []
    for v in range(sources, n):
        parents: list[int] = []
        while not parents:
            parents = [u for u in range(v) if stream.uniform() < chance]
        edges += [(u, v) for u in parents]
    return Graph.from_edges(n, edges)


def _kinds(graph: Graph) -> dict[tuple[Kind, bool], list[tuple[int, int]]]:
    """Return the questions that no single intervention decides, by kind and answer.

    If everything is on, a start changes nothing, and only a source can be stopped. Stopping it
    turns off what has no other source. The kind therefore holds all that one intervention can show
    of a question, ignoring names: how many entities each source turns off, and whether x or y is
    among them. Left out are questions that one intervention can decide: y is a source; y has only
    the source x; y has one source, and x another one or several.
    """
    below, n = graph.reach(), graph.n
    above = transpose(below)
    roots = sum(1 << v for v in range(n) if not above[v])
    over = [roots & (above[v] | 1 << v) for v in range(n)]
    alone = Counter(over)
    sizes = tuple(sorted(alone[1 << root] for root in members(roots)))
    found: dict[tuple[Kind, bool], list[tuple[int, int]]] = {}
    for x, y in permutations(range(n), 2):
        is_root, single = bool(roots >> x & 1), over[y].bit_count() == 1
        if not roots >> y & 1 and (not single or (over[x] == over[y] and not is_root)):
            with_x = alone[over[x]] if over[x].bit_count() == 1 else 0
            label = (is_root, single, with_x, sizes), bool(below[x] >> y & 1)
            found.setdefault(label, []).append((x, y))
    return found


@lru_cache(maxsize=64)
def _published(n: int, path: tuple[str | int, ...]) -> tuple[Graph, list[tuple[int, int]]]:
    """Draw a graph with its questions; cached, because its questions are consecutive."""
    return _published_law(Stream(*path), n)


def _published_law(stream: Stream, n: int) -> tuple[Graph, list[tuple[int, int]]]:
    """The released law: each edge with probability ½, complemented if node 0 does not reach all.

    Six unordered pairs are drawn. Each question goes from the lower index to the higher one, so
    never against the causal order.
    """
    possible = list(combinations(range(n), 2))
    kept = [stream.below(2) == 1 for _ in possible]
    graph = Graph.from_edges(n, [e for e, keep in zip(possible, kept, strict=True) if keep])
    if graph.reach()[0] != (1 << n) - 2:
        graph = Graph.from_edges(n, [e for e, keep in zip(possible, kept, strict=True) if not keep])
    return graph, stream.sample(possible, QUESTIONS)


def _path(instance: Instance, *path: str | int) -> tuple[str | int, ...]:
    """Return the path of a random stream; it omits the suite if suites share their draws."""
    return (instance.family, STREAMS, instance.profile, instance.stream_seed, *path)
