"""Draw the hidden system of a document: concepts of a field, and arrows among them.

Arrows come from the tables of the field: four fifths are admissible pairs, one fifth are pairs that
both judges rejected. The concepts are chosen so that they have at least two admissible pairs for
each arrow; knowledge of the field therefore does not tell which pairs the document is about. Most
published graphs have feedback, so an arrow set is grown from a core that is strongly connected (a
cycle, then ears: Robbins 1939).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from whybench.causal.seeds import Stream
from whybench.families.recite.world.knowledge import Concept, Field
from whybench.families.recite.world.nearness import margins
from whybench.families.recite.world.sizes import FEWEST_NODES, Size

IMPLAUSIBLE = 0.2
"""Share of the arrows that go against common knowledge."""
LARGEST_CORE = 42
"""Nodes of the largest published core."""
MARGIN, WANTED = 2, 2.8
"""Admissible pairs for each arrow: least number, and the number that is tried for."""
NOISE = (3.0, 2.0, 1.0, 0.5, 0.2, 0.2, 0.2)
"""How much chance there is in the choice of concepts, attempt by attempt."""
EAR = 5
"""Longest ear."""

Link = tuple[int, int]


@dataclass(frozen=True, slots=True)
class System:
    """Concepts, of which the first `n` are nodes, and the arrows among those."""

    field: Field
    concepts: tuple[Concept, ...]
    n: int
    arrows: tuple[Link, ...]

    def sign(self, link: Link) -> int:
        """Return the sign of an arrow."""
        return self.field.pairs[self.keys(link)].sign

    def keys(self, link: Link) -> tuple[str, str]:
        """Return the keys of cause and effect."""
        return self.concepts[link[0]].key, self.concepts[link[1]].key

    def plausible(self, link: Link) -> bool:
        """Return whether the tables admit a pair; False if they reject it or lack it."""
        pair = self.field.pairs.get(self.keys(link))
        return pair is not None and pair.admissible


def drawn(stream: Stream, field: Field, size: Size) -> System:
    """Draw a system of a size; nodes are in alphabetical order."""
    chosen = _dense(stream, field, size)
    size = replace(size, nodes=len(chosen))
    place = {concept.key: v for v, concept in enumerate(chosen)}
    pools: dict[bool, list[Link]] = {True: [], False: []}
    for (cause, effect), pair in sorted(field.pairs.items()):
        if cause in place and effect in place:
            pools[pair.admissible].append((place[cause], place[effect]))
    arrows = _arrows(stream, size, stream.shuffled(pools[True]), stream.shuffled(pools[False]))
    used = {v for arrow in arrows for v in arrow}
    inside = sorted((chosen[v] for v in used), key=lambda concept: concept.name)
    moved = {place[concept.key]: v for v, concept in enumerate(inside)}
    outside = _outsiders(stream, field, {concept.key for concept in inside})
    renamed = tuple(sorted((moved[a], moved[b]) for a, b in arrows))
    return System(field, (*inside, *outside), len(inside), renamed)


def _dense(stream: Stream, field: Field, size: Size) -> list[Concept]:
    """Choose concepts with enough admissible pairs, with less and less chance."""
    chosen: list[Concept] = []
    for noise, weight in (*((noise, 1.5) for noise in NOISE), *((noise, 0.2) for noise in NOISE)):
        chosen = _concepts(stream, field, size.nodes, noise, weight)
        admitted, rejected = _judged(field, chosen)
        if rejected >= IMPLAUSIBLE * size.edges * min(1.0, weight) and (
            admitted >= WANTED * size.edges
        ):
            break
    while _judged(field, chosen)[0] < MARGIN * len(chosen):
        if len(chosen) <= FEWEST_NODES:
            chosen = _concepts(stream, field, FEWEST_NODES, 0.2, 0.2)
            continue
        rest = {c.key: _judged(field, [o for o in chosen if o is not c])[0] for c in chosen}
        weakest = max(rest, key=lambda key: rest[key])  # its loss costs the fewest pairs
        chosen = [concept for concept in chosen if concept.key != weakest]
    return chosen


def _judged(field: Field, chosen: Sequence[Concept]) -> tuple[int, int]:
    """Return how many admissible and rejected pairs there are among concepts."""
    keys = {concept.key for concept in chosen}
    inside = [pair.admissible for ends, pair in field.pairs.items() if keys.issuperset(ends)]
    return inside.count(True), inside.count(False)


def _concepts(stream: Stream, field: Field, n: int, noise: float, rejected: float) -> list[Concept]:
    """Choose concepts that are closely connected; rejected pairs have another weight."""
    near: dict[str, dict[str, float]] = {concept.key: {} for concept in field.concepts}
    for (cause, effect), pair in field.pairs.items():
        weight = 1.0 if pair.admissible else rejected
        near[cause][effect] = near[cause].get(effect, 0.0) + weight
        near[effect][cause] = near[effect].get(cause, 0.0) + weight
    known = margins(field.name)
    apt = {key for (key, form), margin in known.items() if form == "described" and margin.safe}
    chosen = [stream.choice(field.concepts).key]
    gain = {key: float(key in apt) for key in near}  # documents need some that can be described
    while True:
        for other, weight in near[chosen[-1]].items():
            gain[other] += weight
        if len(chosen) == n:
            break
        taken = set(chosen)
        rest = sorted(key for key in near if key not in taken)
        chosen.append(max(rest, key=lambda key: gain[key] + noise * stream.uniform()))
    by_key = {concept.key: concept for concept in field.concepts}
    return [by_key[key] for key in chosen]


def _outsiders(stream: Stream, field: Field, inside: set[str]) -> list[Concept]:
    rest = [concept for concept in field.concepts if concept.key not in inside]
    return stream.sample(rest, min(len(rest), max(2, len(inside) // 5)))


def _arrows(
    stream: Stream, size: Size, plausible: list[Link], implausible: list[Link]
) -> tuple[Link, ...]:
    """Choose arrows: a core, one arrow for each other node, and more until there are enough."""
    n = size.nodes
    m = min(size.edges, max(n - 1, int(len(plausible) / WANTED)))
    strange = round(IMPLAUSIBLE * m + stream.uniform() - 0.5)
    allowed = implausible[: max(strange, len(plausible) // 4)]
    pool = stream.shuffled([*plausible, *allowed])
    found: set[Link] = set()
    if size.looped > 0:
        core = min(LARGEST_CORE, max(2, round(size.looped * n)))
        found |= _core(pool, core, m - n)
    acyclic = not found
    joined = {v for link in found for v in link} or {pool[0][0]}
    while len(joined) < n:
        link = next(
            (
                (a, b)
                for a, b in pool
                if (a in joined) != (b in joined) and not (acyclic and reaches(found, b, a))
            ),
            None,
        )
        if link is None:
            break
        found.add(link)
        joined.update(link)
    ends = stream.shuffled([link for link in pool if link not in found and joined.issuperset(link)])
    odd = set(implausible)
    rest = [link for link in ends if link in odd]
    usual = [link for link in ends if link not in odd]
    need = strange - sum(link in odd for link in found)
    for link in (*rest[: max(0, need)], *usual, *rest[max(0, need) :]):
        if len(found) >= m:
            break
        if not (acyclic and reaches(found, link[1], link[0])):
            found.add(link)
    return tuple(sorted(found))


def _core(pool: Sequence[Link], size: int, spare: int) -> set[Link]:
    """Return a strongly connected set of links with about `size` nodes: a cycle, then ears."""
    after: dict[int, list[int]] = {}
    for a, b in pool:
        after.setdefault(a, []).append(b)
    found: set[Link] = set()
    for a, b in pool:
        path = _path(after, b, {a}, set(), size)
        if path is not None:
            found = {(a, b), *pairwise(path)}
            break
    core = {v for link in found for v in link}
    while found and len(core) < size and spare > 0:
        ears = ((a, b) for a, b in pool if a in core and b not in core)
        paths = ((a, _path(after, b, core, core, EAR)) for a, b in ears)
        ear = next(((a, path) for a, path in paths if path is not None), None)
        if ear is None:
            break
        found |= {(ear[0], ear[1][0]), *pairwise(ear[1])}
        core.update(ear[1])
        spare -= 1
    return found


def _path(
    after: dict[int, list[int]], start: int, goals: Iterable[int], closed: set[int], most: int
) -> list[int] | None:
    """Return a shortest path from a node to one of the goals, or None."""
    goals, before = set(goals), {start: start}
    queue = deque([(start, 1)])
    while queue:
        v, length = queue.popleft()
        for w in after.get(v, ()):
            if w in goals:
                path = [w, v]
                while before[path[-1]] != path[-1]:
                    path.append(before[path[-1]])
                return path[::-1]
            if w not in before and w not in closed and length < most:
                before[w] = v
                queue.append((w, length + 1))
    return None


def reaches(links: Iterable[Link], start: int, goal: int) -> bool:
    """Return whether links lead from one node to another."""
    after: dict[int, list[int]] = {}
    for a, b in links:
        after.setdefault(a, []).append(b)
    seen, stack = {start}, [start]
    while stack:
        v = stack.pop()
        if v == goal:
            return True
        fresh = [w for w in after.get(v, ()) if w not in seen]
        seen.update(fresh)
        stack += fresh
    return False
