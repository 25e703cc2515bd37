"""The input of a judge: a document, its gold graph, and the graph of an answer."""

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
"""Number of nodes and edges that are always judged, whatever the size of the gold graph."""

TIMES_GOLD = 4
"""A larger answer is judged up to this multiple of the gold nodes and edges."""


@dataclass(frozen=True, slots=True)
class Case:
    """Everything that is needed to judge an answer."""

    instance_id: str
    document: str
    gold_nodes: tuple[str, ...]
    """In alphabetical order; that is their numbering."""
    gold_edges: tuple[Pair, ...]
    answer_nodes: tuple[str, ...]
    """In alphabetical order, as the agent wrote them."""
    answer_edges: tuple[Pair, ...]
    """In the order given, none twice."""
    answered: bool = True
    """False: there is no answer, which scores 0 and is counted separately."""
    repeated: int = 0
    """Number of edges left out because they read like an earlier one."""

    @property
    def too_large(self) -> bool:
        """Whether the answer is too large to be judged; it scores 0, like a missing one.

        Otherwise a model that writes without end would cost hundreds of questions, each with the
        whole document.
        """
        gold = len(self.gold_nodes) + len(self.gold_edges)
        return len(self.answer_nodes) + len(self.answer_edges) > max(MOST, TIMES_GOLD * gold)


def answered_edges(
    family: Family[Any], instance: Instance, trace: Trace
) -> tuple[Pair, ...] | None:
    """Return the submitted edges by name; None if there is no answer."""
    episode = family.replay_episode(instance, trace.actions, trace.given, trace.evidence)
    if not isinstance(episode, ReciteEpisode):
        raise ValueError(f"{family.name} has no graphs to judge. Score a log of ReCITE.")
    return None if episode.answer is None else episode.answer.edges


def case_of(world: World, answer_edges: Sequence[Pair] | None, instance_id: str = "") -> Case:
    """Return the case of an answer; None: there is none.

    Names that look alike to a judge, ignoring case, are one node under its first spelling. Repeated
    edges count once. An edge from a node to itself stays, and the judge should reject it. Without
    an instance id, the name of the graph is used.
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
