"""What is judged: a document, its gold graph, and an answer's graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from whybench.episode.family import Family
from whybench.episode.instance import Instance
from whybench.episode.trace import Trace
from whybench.families.recite.extras.judge.names import plain
from whybench.families.recite.rules import ReciteEpisode
from whybench.families.recite.world.world import World

Pair = tuple[str, str]
"""An edge by its nodes' names: cause and effect."""

MOST = 600
"""Nodes and edges of an answer that are judged whatever the gold graph's size."""

TIMES_GOLD = 4
"""A larger answer is judged up to so many times the gold graph's nodes and edges."""


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
    repeated: int = 0
    """Edges left out because to a judge they read like an earlier one."""

    @property
    def too_large(self) -> bool:
        """Whether no judge is asked: such an answer scores 0, as one that is missing.

        A model that writes without end would otherwise cost hundreds of questions, each with the
        whole document.
        """
        gold = len(self.gold_nodes) + len(self.gold_edges)
        return len(self.answer_nodes) + len(self.answer_edges) > max(MOST, TIMES_GOLD * gold)


def answered_edges(
    family: Family[Any], instance: Instance, trace: Trace
) -> tuple[Pair, ...] | None:
    """Return the arrows that were handed in, by their names; None if there is no answer."""
    episode = family.replay_episode(instance, trace.actions, trace.given, trace.evidence)
    if not isinstance(episode, ReciteEpisode):
        raise ValueError(f"{family.name} has no graphs to judge: score another family's log")
    return None if episode.answer is None else episode.answer.edges


def case_of(world: World, answer_edges: Sequence[Pair] | None, instance_id: str = "") -> Case:
    """Return the case of an answer; None: there is none.

    Names that a judge would see alike, but for capitals, are one node under its first spelling, and
    repeated edges count once; an edge from a node to itself stays, for the judge to find wrong.
    Without an instance's id the name of its graph stands in.
    """
    given = list(answer_edges or ())
    first: dict[str, str] = {}
    names = {
        name: first.setdefault(plain(name).casefold(), name) for edge in given for name in edge
    }
    edges = tuple(dict.fromkeys((names[cause], names[effect]) for cause, effect in given))
    return Case(
        instance_id=instance_id or world.cluster,
        document=world.view.text,
        gold_nodes=tuple(sorted(node.name for node in world.nodes)),
        gold_edges=tuple(world.named()),
        answer_nodes=tuple(sorted({name for edge in edges for name in edge})),
        answer_edges=edges,
        answered=answer_edges is not None,
        repeated=len(given) - len(edges),
    )
