"""Count the DAGs that data cannot distinguish: interventional Markov equivalence classes.

Observations reveal a DAG's skeleton and its v-structures (a → c ← b with a, b not adjacent). An
intervention on one node t also reveals the direction of every edge at t, because only the edges
into t vanish. DAGs that agree in all of this form one class: Hauser and Bühlmann, *Characterization
and greedy learning of interventional Markov equivalence classes of directed acyclic graphs*, JMLR
13 (2012), theorem 10. Targets here are single nodes, and observational data (the empty target) is
always available. A set of targets is a bitmask, as in `causal.graph`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import factorial, prod

from whybench.causal.graph import Graph, members, transpose


@dataclass(frozen=True, slots=True)
class EssentialGraph:
    """A class of DAGs: the arrows that all members share, and the edges in which they differ."""

    directed: tuple[int, ...]
    """`directed[v]`: the children v has in every member."""
    undirected: tuple[int, ...]
    """`undirected[v]`: the neighbours that are v's children in some members, parents in others."""


def essential(graph: Graph, targets: int = 0) -> EssentialGraph:
    """Return the interventional essential graph of a DAG.

    Arrows of v-structures and arrows at a target are known; the rules of Meek, *Causal inference
    and causal explanation with background knowledge*, UAI 1995, extend them to every arrow that all
    members share. The rules are sound, so only the DAG's own arrows need to be tried.

    >>> chain = Graph.from_edges(3, [(0, 1), (1, 2)])
    >>> essential(chain)
    EssentialGraph(directed=(0, 0, 0), undirected=(2, 5, 2))
    >>> essential(chain, targets=0b001)
    EssentialGraph(directed=(2, 4, 0), undirected=(0, 0, 0))
    """
    if not graph.is_acyclic():
        raise ValueError("The graph has a cycle. Only a DAG has an equivalence class.")
    if targets < 0 or targets >> graph.n:
        raise ValueError(f"targets {targets:#b} name a node outside the graph's {graph.n}")
    parents = graph.parents()
    adjacent = [above | below for above, below in zip(parents, graph.children, strict=True)]
    known = [0] * graph.n
    for a, b in graph.edges():
        collider = parents[b] & ~adjacent[a] & ~(1 << a)
        if collider or targets & (1 << a | 1 << b):
            known[a] |= 1 << b
    _close(graph, adjacent, known)
    unknown = [mask & ~shared for mask, shared in zip(graph.children, known, strict=True)]
    undirected = (a | b for a, b in zip(unknown, transpose(unknown), strict=True))
    return EssentialGraph(tuple(known), tuple(undirected))


def class_size(graph: Graph, targets: int = 0) -> int:
    """Count the DAGs that data from the graph, observed and with each target set, cannot exclude.

    The undirected parts of an essential graph are chordal and independent of each other. The
    members of the class are the ways to direct each part without a cycle or a new v-structure
    (Hauser and Bühlmann 2012), so the size is a product. It is 1 if all nodes but one are targets.

    >>> triangle = Graph.from_edges(3, [(0, 1), (0, 2), (1, 2)])
    >>> [class_size(triangle, targets) for targets in (0b000, 0b001, 0b010, 0b011)]
    [6, 2, 1, 1]
    """
    undirected = essential(graph, targets).undirected
    sizes: dict[int, int] = {}
    parts = _components(undirected, (1 << graph.n) - 1)
    return prod(_orientations(undirected, part, sizes) for part in parts)


def _close(graph: Graph, adjacent: Sequence[int], known: list[int]) -> None:
    """Add the arrows that Meek's rules imply to `known`, until none is left to add."""
    into = list(transpose(known))
    pending = [(a, b) for a, b in graph.edges() if not known[a] >> b & 1]
    while True:
        waiting = []
        for a, b in pending:
            if _implied(a, b, adjacent, known, into):
                known[a] |= 1 << b
                into[b] |= 1 << a
            else:
                waiting.append((a, b))
        if len(waiting) == len(pending):
            return
        pending = waiting


def _implied(
    a: int, b: int, adjacent: Sequence[int], known: Sequence[int], into: Sequence[int]
) -> bool:
    """Return whether one of Meek's rules directs the edge a — b as a → b.

    R4 completes the rules for any background knowledge. We know of no set of targets that needs
    it: Hauser and Bühlmann's "strong protection" of an arrow that is not at a target requires a
    v-structure or R1 to R3.
    """
    apart = ~adjacent[b]
    if into[a] & apart:  # R1: c → a — b, with c and b apart
        return True
    if known[a] & into[b]:  # R2: a → c → b
        return True
    open_at_a = adjacent[a] & ~known[a] & ~into[a]
    between = open_at_a & into[b]
    if any(between & ~adjacent[c] & ~(1 << c) for c in members(between)):
        return True  # R3: a — c → b and a — d → b, with c and d apart
    # R4: a — d → c → b, with a and c adjacent, d and b apart
    return any(into[c] & open_at_a & apart for c in members(into[b] & adjacent[a]))


def _orientations(adjacent: Sequence[int], part: int, sizes: dict[int, int]) -> int:
    """Count the acyclic orientations without v-structure of a connected chordal part.

    Each orientation has exactly one source. He, Jia and Yu, *Counting and exploring sizes of Markov
    equivalence classes of directed acyclic graphs*, JMLR 16 (2015), sum over this root: it directs
    some edges, and the rest splits into smaller parts of the same kind. Roots with the same closed
    neighbourhood can be swapped, so one of them represents all. This keeps the number of parts in
    `sizes` small. Trees and complete graphs have closed forms.
    """
    if part in sizes:
        return sizes[part]
    nodes = part.bit_count()
    ends = sum((adjacent[v] & part).bit_count() for v in members(part))
    if ends == 2 * (nodes - 1):
        size = nodes
    elif ends == nodes * (nodes - 1):
        size = factorial(nodes)
    else:
        roots: dict[int, list[int]] = {}
        for v in members(part):
            roots.setdefault(adjacent[v] & part | 1 << v, []).append(v)
        size = sum(
            len(alike)
            * prod(_orientations(adjacent, p, sizes) for p in _below(adjacent, part, alike[0]))
            for alike in roots.values()
        )
    sizes[part] = size
    return size


def _below(adjacent: Sequence[int], part: int, root: int) -> Iterator[int]:
    """Yield the parts that stay undirected once `root` is the only source of `part`.

    This is the algorithm ChainCom of He, Jia and Yu. Edges point away from the root, layer by
    layer. Inside a layer, x → y directs y — z as y → z if x and z are not adjacent.
    """
    layer = 1 << root
    left = part & ~layer
    while left:
        into = {y: adjacent[y] & layer for y in members(left) if adjacent[y] & layer}
        layer = sum(1 << y for y in into)
        left &= ~layer
        undirected = [row & layer for row in adjacent]
        fresh = list(into)
        while fresh:
            y = fresh.pop()
            for z in members(undirected[y]):
                if into[y] & ~adjacent[z]:
                    into[z] |= 1 << y
                    undirected[y] &= ~(1 << z)
                    undirected[z] &= ~(1 << y)
                    fresh.append(z)
        yield from _components(undirected, layer)


def _components(adjacent: Sequence[int], nodes: int) -> Iterator[int]:
    """Yield the connected components of an undirected graph on `nodes`."""
    while nodes:
        part, frontier = 0, nodes & -nodes
        while frontier:
            part |= frontier
            frontier = _neighbours(adjacent, frontier) & ~part
        yield part
        nodes &= ~part


def _neighbours(adjacent: Sequence[int], nodes: int) -> int:
    """Return the set of neighbours of any of `nodes`."""
    found = 0
    for v in members(nodes):
        found |= adjacent[v]
    return found
