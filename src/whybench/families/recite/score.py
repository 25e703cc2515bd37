"""Score an answer: a pure function of the hidden system and the answer."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass

from whybench.causal.canonical import Record, freeze
from whybench.episode.episode import ANSWERED
from whybench.episode.score import declared_metrics
from whybench.families.recite.answer import Answer
from whybench.families.recite.edges import EdgeScores, edge_scores, mapped
from whybench.families.recite.legacy import legacy_scores
from whybench.families.recite.matching import BAND, THRESHOLD, Similarity, matched
from whybench.families.recite.world.world import Edge, World

METRICS = declared_metrics(__package__ or "")
PROOF = ("understood", "lucky", "premature", "contradicted")

Mapped = frozenset[tuple[Hashable, Hashable]]
At = Callable[[float], Mapped]
"""Similarity threshold for names → submitted edges between gold nodes or others."""

THRESHOLDS = tuple(level / 20 for level in range(10, 21))


@dataclass(frozen=True, slots=True)
class Handed:
    """The result of an episode."""

    outcome: str
    answer: Answer | None
    errors: int
    repaired: bool


def values(world: World, handed: Handed, similarity: Similarity) -> tuple[Record, Record]:
    """Return the components of a score, and its labels."""
    found: dict[str, float | None] = dict.fromkeys(metric.name for metric in METRICS)
    answer = handed.answer if handed.outcome == ANSWERED else None
    found |= {
        "answered": float(answer is not None),
        "valid_first": float(answer is not None and not handed.errors and not handed.repaired),
        "retries": float(max(0, handed.errors - (answer is None))),
        "repaired": float(handed.repaired),
    }
    proof = None
    if answer is not None:
        figures, edges = _answered(world, answer, similarity)
        found |= figures
        proof = _proof(world, edges)
    elif not world.view.released:  # the release leaves missing answers out of its averages
        found |= dict.fromkeys(("edge_f1", "edge_precision", "edge_recall"), 0.0)
        found |= _by_status(world, frozenset())
    if not world.view.released:
        found |= {name: float(name == proof) for name in PROOF}
    labels = {"domains": list(world.domains), "level": world.level, "proof": proof}
    origin = {"data": world.origin} if world.origin else {}
    return freeze(found), freeze(labels | origin)


def _answered(
    world: World, answer: Answer, similarity: Similarity
) -> tuple[dict[str, float | None], Mapped]:
    """Return the figures of a submitted graph, and its edges between gold nodes or others."""
    arrows = [pair for pair in answer.edges if pair[0] != pair[1]]
    named = _told if world.view.names == "told" else _free
    at, names = named(world, answer.nodes, arrows, similarity)

    seen: dict[Mapped, EdgeScores] = {}  # most thresholds leave the same edges

    def scored(threshold: float) -> EdgeScores:
        found = at(threshold)
        if found not in seen:
            seen[found] = edge_scores(world.pairs, found, len(world.nodes))
        return seen[found]

    scores, low, high = scored(THRESHOLD), scored(BAND[0]), scored(BAND[-1])
    old = legacy_scores(list(world.named()), answer.edges)
    found: dict[str, float | None] = {
        "edge_f1": scores.f1,
        "edge_precision": scores.precision,
        "edge_recall": scores.recall,
        "edge_f1_answered": scores.f1,
        "edge_undirected_f1": scores.undirected_f1,
        "edge_ancestor_f1": scores.ancestor_f1,
        "edge_shd": float(scores.shd),
        "edge_nshd": scores.nshd,
        "edge_shd_double": float(scores.shd_double),
        "edge_nshd_double": scores.nshd_double,
        **_by_status(world, at(THRESHOLD)),
        **names,
        "edge_f1_at_06": low.f1,
        "edge_f1_at_08": high.f1,
        "edge_f1_area": sum(scored(level).f1 for level in THRESHOLDS) / len(THRESHOLDS),
        "node_deviation": float(len(answer.nodes) - world.view.count),
        "duplicates": float(answer.duplicates),
        "self_loops": float(answer.self_loops),
        "legacy_precision": old.precision,
        "legacy_recall": old.recall,
        "legacy_f1": old.f1,
        "legacy_shd": float(old.shd),
        "legacy_nshd": old.nshd,
    }
    return found, at(THRESHOLD)


def _proof(world: World, edges: Mapped) -> str | None:
    """Return whether an answer is the graph that the text determines, or what is wrong with it.

    A wrong graph is contradicted if it has an edge that the text denies, or turns a given edge
    round; otherwise it is premature. None for the profile `published`.
    """
    if world.view.released:
        return None
    if edges == world.pairs:
        return "understood"
    turned = {(effect, cause) for cause, effect in world.pairs - edges} - world.pairs
    return "contradicted" if edges & (turned | world.denied) else "premature"


def known_names(world: World) -> list[tuple[str, ...]]:
    """Return all names of each gold node; those that a document uses with and without article."""
    return [
        (
            node.name,
            *dict.fromkeys(
                form
                for alias in node.aliases
                for form in (alias.removeprefix("the "), f"the {alias.removeprefix('the ')}")
            ),
        )
        for node in world.nodes
    ]


def _free(
    world: World, nodes: Sequence[str], arrows: Sequence[tuple[str, str]], similarity: Similarity
) -> tuple[At, dict[str, float | None]]:
    """Match free names: return the edges at a threshold, and how well the nodes were found."""
    match = matched(nodes, known_names(world), similarity, min(THRESHOLDS))
    kept = match.above(THRESHOLD)
    names: dict[str, float | None] = {
        "name_precision": kept.precision,
        "name_recall": kept.recall,
        "name_f1": kept.f1,
        "name_soft_precision": kept.soft_precision,
        "name_soft_recall": kept.soft_recall,
    }
    return lambda threshold: mapped(arrows, match.above(threshold)), names


def _told(
    world: World,
    nodes: Sequence[str],  # noqa: ARG001 - given names need not be found
    arrows: Sequence[tuple[str, str]],
    similarity: Similarity,  # noqa: ARG001
) -> tuple[At, dict[str, float | None]]:
    """Use given names as they are; there is nothing to match."""
    place = {node.name: index for index, node in enumerate(world.nodes)}
    pairs = frozenset((place[cause], place[effect]) for cause, effect in arrows)
    return lambda _: pairs, {}


def _by_status(world: World, predicted: Iterable[object]) -> dict[str, float | None]:
    """Return recall by how the text gives an edge, and by whether common knowledge expects it.

    None if there is no such edge.
    """
    handed = set(predicted)

    def recall(wanted: Callable[[Edge], bool]) -> float | None:
        asked: Sequence[Edge] = [edge for edge in world.edges if wanted(edge)]
        hits = sum((edge.cause, edge.effect) in handed for edge in asked)
        return hits / len(asked) if asked else None

    return {
        "edge_recall_stated": recall(lambda edge: edge.status == "stated"),
        "edge_recall_implied": recall(lambda edge: edge.status == "implied"),
        "edge_recall_derivable": recall(lambda edge: edge.status == "derivable"),
        "edge_recall_plausible": recall(lambda edge: edge.plausible is True),
        "edge_recall_implausible": recall(lambda edge: edge.plausible is False),
    }
