"""The judge's exam: answers made from a gold graph, whose right labels are known.

A paper is one case to judge, as any other, with a key: for every element of every pass, the right
labels of each field, as far as the construction and the rubric settle them (see `right_labels`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from whybench.core.seeds import Stream
from whybench.families.recite.judging.alterations import Altered, Given, altered_nodes
from whybench.families.recite.judging.altered_edges import alter_edges
from whybench.families.recite.judging.case import Case
from whybench.families.recite.judging.labels import PASSES, PassName, fields
from whybench.families.recite.judging.right_labels import RightLabels, Rights
from whybench.families.recite.world import World

Key = Mapping[PassName, Mapping[int, Rights]]
"""Pass → number of the element → field → its right labels, the perfect judge's own first."""


@dataclass(frozen=True, slots=True)
class Paper:
    """A case whose right labels are known."""

    case: Case
    key: Key
    origin: Mapping[PassName, Mapping[int, str]]
    """How each element was made: `exact`, `synonym`, `reversed`, …; of a gold element, how it was
    given in the answer."""


def paper(world: World, stream: Stream, instance_id: str = "") -> Paper:
    """Make a paper from a made document.

    Args:
        world: A made document; published ones do not say what is broader or a synonym.
        stream: Decides which alterations are made.
        instance_id: As in a case: without it the name of the graph stands in.

    """
    altered = altered_nodes(world, stream)
    alter_edges(altered, stream)
    given = stream.shuffled(sorted(altered.edges))
    names = sorted(node.name for node in altered.nodes)
    gold_nodes, gold_edges = altered.reference_nodes, altered.reference_edges
    right = RightLabels(altered)
    made = {node.name: _origin(altered, node) for node in altered.nodes}
    return Paper(
        case=Case(
            instance_id=instance_id or world.latent,
            document=world.view.text,
            gold_nodes=tuple(world.nodes[v].name for v in gold_nodes),
            gold_edges=tuple((world.nodes[a].name, world.nodes[b].name) for a, b in gold_edges),
            answer_nodes=tuple(names),
            answer_edges=tuple(given),
        ),
        key={
            "node_precision": _numbered(right.answer_node(name) for name in names),
            "node_recall": _numbered(right.gold_node(node) for node in gold_nodes),
            "edge_precision": _numbered(right.answer_edge(edge) for edge in given),
            "edge_recall": _numbered(right.gold_edge(ends) for ends in gold_edges),
        },
        origin={
            "node_precision": dict(enumerate((made[name] for name in names), 1)),
            "node_recall": dict(enumerate((altered.treatment[v] for v in gold_nodes), 1)),
            "edge_precision": dict(enumerate((altered.edges[edge] for edge in given), 1)),
            "edge_recall": dict(enumerate((_fate(altered, e) for e in gold_edges), 1)),
        },
    )


def base_rates(papers: Iterable[Paper]) -> dict[str, dict[str, float]]:
    """Return the share of each label as the first right one, under `pass.field`."""
    counts: dict[str, Counter[str]] = {}
    for one in papers:
        for name, elements in one.key.items():
            for rights in elements.values():
                for field, labels in rights.items():
                    counts.setdefault(f"{name}.{field}", Counter())[labels[0]] += 1
    return {
        f"{name}.{field.name}": _shares(counts[f"{name}.{field.name}"], field.labels)
        for name in PASSES
        for field in fields(name)
        if f"{name}.{field.name}" in counts
    }


def _shares(counts: Counter[str], labels: Iterable[str]) -> dict[str, float]:
    return {label: counts[label] / counts.total() for label in labels}


def _numbered(rights: Iterable[Rights]) -> dict[int, Rights]:
    return dict(enumerate(rights, 1))


def _origin(altered: Altered, node: Given) -> str:
    """Return how a node of the answer was made; `unlisted` if the reference lacks it."""
    unlisted = any(altered.treatment[of] == "unlisted" for of in node.of)
    return "unlisted" if unlisted else node.origin


def _fate(altered: Altered, ends: tuple[int, int]) -> str:
    """Return what became of an edge of the reference."""
    if any(altered.treatment[node] == "missing" for node in ends):
        return "missing_end"
    there = [(a.name, b.name) for a in altered.by_node(ends[0]) for b in altered.by_node(ends[1])]
    ways = {altered.edges[e] for a, b in there for e in ((a, b), (b, a)) if e in altered.edges}
    return " ".join(sorted(ways)) or "dropped"
