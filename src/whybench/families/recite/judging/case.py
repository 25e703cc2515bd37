"""What is judged: a document, its gold graph, and an answer's graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from whybench.families.recite.world import World

Pair = tuple[str, str]
"""An edge by its nodes' names: cause and effect."""


@dataclass(frozen=True, slots=True)
class Case:
    """All that judging an answer needs."""

    instance_id: str
    document: str
    gold_nodes: tuple[str, ...]
    """In alphabetical order; that is their numbering."""
    gold_edges: tuple[Pair, ...]
    answer_nodes: tuple[str, ...]
    """In alphabetical order, as a stranger wrote them."""
    answer_edges: tuple[Pair, ...]
    """In the order given, none twice."""
    answered: bool = True
    """False: there is no answer, which scores 0 and is reported apart."""


def case_of(world: World, answer_edges: Sequence[Pair] | None, instance_id: str = "") -> Case:
    """Return the case of an answer; None: there is none.

    Repeated edges count once, as in the deterministic scores; an edge from a node to itself stays,
    for the judge to find wrong. Without an instance's id the name of its graph stands in.
    """
    edges = tuple(dict.fromkeys(answer_edges or ()))
    return Case(
        instance_id=instance_id or world.latent,
        document=world.view.text,
        gold_nodes=tuple(sorted(node.name for node in world.nodes)),
        gold_edges=tuple(world.named()),
        answer_nodes=tuple(sorted({name for edge in edges for name in edge})),
        answer_edges=edges,
        answered=answer_edges is not None,
    )
