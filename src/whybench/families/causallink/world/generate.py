"""Rebuild the hidden system from the coordinates of an instance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import combinations, permutations

from whybench.causal.graph import Graph, canonical_form, members
from whybench.causal.seeds import Stream
from whybench.episode.instance import Instance, Profile
from whybench.families.causallink.parameters import CORE, QUESTIONS, SIZES, STRUCTURES, Parameters
from whybench.families.causallink.prompts.theme import read_theme
from whybench.families.causallink.world.world import View, World


@dataclass(frozen=True, slots=True)
class Case:
    """A question about a graph in a start state, before names and a display order are drawn."""

    structure: str
    graph: Graph
    start: int
    x: int
    y: int


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
    start = sum(1 << place[v] for v in members(case.start))
    budget = 2 * n if parameters.budget is None else parameters.budget
    view = View(parameters.theme, tuple(names), start, place[case.x], place[case.y], budget)
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


def behaviour(below: Sequence[int], start: int, x: int, y: int) -> tuple[int, ...]:
    """Return a code that ignores names and edges that no experiment shows."""
    colours = [(start >> v & 1) + 2 * (v == x) + 4 * (v == y) for v in range(len(below))]
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
    """Return one of the questions asked of one random graph, with everything on at the start."""
    graph_index, question = divmod(instance.index, QUESTIONS)
    size_index, number = divmod(graph_index, parameters.graphs)
    n = parameters.sizes(instance.suite)[size_index]
    graph, pairs = _drawn(instance.profile, n, _path(instance, "graph", n, number))
    x, y = pairs[question]
    return Case("random", graph, (1 << n) - 1, x, y)


@lru_cache(maxsize=64)
def _drawn(
    profile: Profile, n: int, path: tuple[str | int, ...]
) -> tuple[Graph, list[tuple[int, int]]]:
    """Draw a graph with its questions; cached, because its questions are consecutive."""
    law = _published_law if profile == "published" else _certified_law
    return law(Stream(*path), n)


def _certified_law(stream: Stream, n: int) -> tuple[Graph, list[tuple[int, int]]]:
    """Each edge with probability ½ given that node 0 reaches all; three true pairs, three false.

    Node 0 reaches all exactly if every later node has an earlier parent. Each node therefore draws
    its set of earlier parents uniformly from the non-empty sets. This is the conditional
    distribution, without rejection.
    """
    parents = [0] + [stream.below((1 << v) - 1) + 1 for v in range(1, n)]
    graph = Graph.from_edges(n, [(p, v) for v in range(n) for p in members(parents[v])])
    below = graph.reach()
    true = [(x, y) for x, y in permutations(range(n), 2) if below[x] >> y & 1]
    false = [(x, y) for x, y in permutations(range(n), 2) if not below[x] >> y & 1]
    half = QUESTIONS // 2
    return graph, stream.shuffled([*stream.sample(true, half), *stream.sample(false, half)])


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
    return (instance.family, instance.version, instance.profile, instance.stream_seed, *path)
