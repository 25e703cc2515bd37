"""The edges of an answer in the exam: gold edges altered, and edges that are not there."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from whybench.causal.graph import Graph
from whybench.causal.seeds import Stream
from whybench.families.recite.extras.judge.exam.alterations import (
    Altered,
    Ends,
    Given,
    deal,
    settings,
)
from whybench.families.recite.world.world import World


def alter_edges(found: Altered, stream: Stream) -> None:
    """Fill in an answer's edges; every node of the answer gets one at least."""
    _withhold(found, stream)
    _alter(found, stream)
    _add_unlisted(found)
    _add_lures(found, stream)
    _add_unsaid(found, stream)
    _join_the_rest(found, stream)


def reached(world: World) -> tuple[int, ...]:
    """Return, as bit sets, what each node affects, directly or indirectly."""
    return Graph.from_edges(len(world.nodes), world.pairs).reach()


def _wanted(found: Altered, origin: str) -> int:
    share: float = settings()["added"][found.quality][origin]
    return max(1, round(share * len(found.world.edges)))


def _withhold(found: Altered, stream: Stream) -> None:
    """Keep edges from the reference, of every status in turn; their nodes are given plainly."""
    plain, pairs = found.named_plainly(), found.world.pairs
    open_to: dict[tuple[str, bool], list[Ends]] = {}
    for edge in found.world.edges:
        ends = (edge.cause, edge.effect)
        if set(ends) <= set(plain) and not _mutual(pairs, ends):
            open_to.setdefault((edge.status, len(edge.spans) > 1), []).append(ends)
    piles = [stream.shuffled(pile) for pile in stream.shuffled(list(open_to.values()))]
    wanted = _wanted(found, "unlisted")
    while len(found.unlisted) < wanted and any(piles):
        for pile in piles:
            if pile and len(found.unlisted) < wanted:
                found.unlisted.add(pile.pop())


def _mutual(pairs: Collection[Ends], ends: Ends) -> bool:
    return (ends[1], ends[0]) in pairs


def _alter(found: Altered, stream: Stream) -> None:
    """Deal an alteration to each edge of the reference whose ends are there."""
    there = [e for e in found.reference_edges if all(found.by_node(v) for v in e)]
    dealt = deal(stream, settings()["edges"][found.quality], len(there))
    pairs = found.world.pairs
    for ends, how in zip(there, dealt, strict=True):
        way = "kept" if _mutual(pairs, ends) and how != "dropped" else how
        for cause in found.by_node(ends[0]):
            for effect in found.by_node(ends[1]):
                if way in ("kept", "both_ways"):
                    found.add(cause, effect, way)
                if way in ("reversed", "both_ways"):
                    found.add(effect, cause, way)


def _add_unlisted(found: Altered) -> None:
    """Add what the document gives and the reference lacks."""
    plain, listed = found.named_plainly(), set(found.reference_edges)
    for edge in found.world.edges:
        ends = (edge.cause, edge.effect)
        if ends not in listed and set(ends) <= set(plain):
            found.add(plain[ends[0]], plain[ends[1]], "unlisted")


def _add_lures(found: Altered, stream: Stream) -> None:
    """Add relations that the document mentions without supporting them."""
    known, joined = _speakers(found), found.world.pairs
    pairs = [
        (known[a], known[b], role)
        for (a, b), role in sorted(found.spoken.lures.items())
        if a in known and b in known and not _joined(joined, known[a], known[b])
    ]
    for cause, effect, role in stream.shuffled(pairs)[: _wanted(found, "lure")]:
        found.add(cause, effect, role)


def _add_unsaid(found: Altered, stream: Stream) -> None:
    """Add edges between nodes that no edge joins: some far apart, some in a row."""
    plain = sorted(found.named_plainly().items())
    acts, joined = reached(found.world), found.world.pairs
    pairs = [
        (a, b, "indirect" if acts[x] >> y & 1 else "unsaid")
        for x, a in plain
        for y, b in plain
        if x != y and not _joined(joined, a, b)
    ]
    mixed = stream.shuffled(pairs)
    mixed.sort(key=lambda pair: pair[2] == "indirect")
    for cause, effect, origin in mixed[: _wanted(found, "unsaid")]:
        found.add(cause, effect, origin)


def _join_the_rest(found: Altered, stream: Stream) -> None:
    """Give an edge to each node that has none: with an outsider, so that no edge comes near."""
    outsiders = [given for given in found.nodes if given.relation == "none"]
    others: Mapping[bool, Sequence[Given]] = {
        True: [given for given in found.nodes if given.relation != "none"],
        False: outsiders,
    }
    for given in found.nodes:
        if any(given.name in edge for edge in found.edges) or not others[given.relation == "none"]:
            continue
        other = stream.choice(others[given.relation == "none"])
        ends = (given, other) if stream.below(2) else (other, given)
        found.add(*ends, "foreign")


def _speakers(found: Altered) -> dict[str, Given]:
    """Return the answer's plain nodes and outsiders by the concepts that they name."""
    plain = {found.world.nodes[v].name: given for v, given in found.named_plainly().items()}
    return plain | {given.concept: given for given in found.nodes if given.concept}


def _joined(pairs: Collection[Ends], first: Given, second: Given) -> bool:
    """Tell whether an edge of the document joins two nodes, in either direction."""
    return any((a, b) in pairs or (b, a) in pairs for a in first.of for b in second.of)
