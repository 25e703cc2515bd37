"""The right labels of altered answers, as far as the rubric leaves no doubt.

They follow from what each node of the answer stands for. A field has several right labels where the
rubric lets careful judges differ, and none where it says too little:

- Importance: no construction gives it.
- Semantic closeness of broader and narrower things: MODERATE or WEAK (PARTIAL or MINIMAL), so that
  none of these is ever the only right label; nor is DIRECTION_UNCLEAR (the answer has an edge both
  ways, hence also the right way) or INFERENCE_STRETCHED (a hedge, which is no support either).
- Text labels of a node that is given at another level, if the document never names the thing, or
  of two nodes given as one: how near the text comes is a matter of taste.
- Text labels of a reversed edge: the rubric does not say whether the reference "has" it; and of an
  edge that leaves out a step of a chain, which some readers conclude and others do not.
- Text labels of an edge with ends at another level, but for abstraction where both ends agree.
- Abstraction of an edge with one end broader and one narrower.
- A gold edge whose opposite is gold too, if the answer has only that one: missing, or reversed.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from whybench.families.recite.extras.judge.exam.alterations import Altered, Ends, Given
from whybench.families.recite.extras.judge.exam.altered_edges import reached
from whybench.families.recite.extras.judge.exam.spoken import HEDGED
from whybench.families.recite.world.world import Edge
from whybench.judge.label_judge import Rights

LABELLED = {"acts", "receives"}
"""Roles of sentences that speak of a group by its label, which is defined elsewhere."""


class RightLabels:
    """Knows the right labels of one altered answer."""

    def __init__(self, altered: Altered) -> None:
        self._altered = altered
        self._nodes = altered.world.nodes
        self._given = {given.name: given for given in altered.nodes}
        self._gold = set(altered.reference_edges)
        self._listed = set(altered.reference_nodes)
        self._acts = reached(altered.world)
        self._edges = {(e.cause, e.effect): e for e in altered.world.edges}
        uses = Counter(span for edge in altered.world.edges for span in edge.spans)
        self._shared = {span for span, count in uses.items() if count > 1}

    def answer_node(self, name: str) -> Rights:
        """Return the right labels of a node of the answer."""
        given = self._given[name]
        relation = given.relation if set(given.of) & self._listed else "none"
        return {
            **_block("graph_", "node_graph", relation),
            **_block("text_", "node_text", self._node_in_text(given)),
        }

    def gold_node(self, node: int) -> Rights:
        """Return the right labels of a node of the reference."""
        held = self._altered.by_node(node)
        relation = "split" if len(held) > 1 else held[0].relation if held else "none"
        return _block("", "node_recall", relation)

    def answer_edge(self, edge: tuple[str, str]) -> Rights:
        """Return the right labels of an edge of the answer."""
        cause, effect = self._given[edge[0]], self._given[edge[1]]
        forth, back = _pairs(cause, effect) & self._gold, _pairs(effect, cause) & self._gold
        text = _block("text_", "edge_text", self._edge_in_text(cause, effect, bool(forth)))
        if forth:
            plain = _ends(cause, effect) == "same same"
            text |= _block("text_", "edge_text", "listed") if plain else {}
            direction = "correct"
        elif back:
            direction, text = "reversed", {}
        else:
            return {**_block("graph_", "edge_graph", "none"), **text}
        return {
            **_block("graph_", "ends", _ends(cause, effect)),
            **_block("graph_", "direction", direction),
            **text,
        }

    def gold_edge(self, ends: Ends) -> Rights:
        """Return the right labels of an edge of the reference."""
        causes, effects = self._altered.by_node(ends[0]), self._altered.by_node(ends[1])
        edges = self._altered.edges
        forth = [(a, b) for a in causes for b in effects if (a.name, b.name) in edges]
        back = [(a, b) for a in causes for b in effects if (b.name, a.name) in edges]
        mutual = (ends[1], ends[0]) in self._gold
        if not forth and not back:
            return _block("", "edge_recall", "none")
        if not forth and mutual:
            return {}
        direction = "reversed" if not forth else "both" if back and not mutual else "correct"
        kind = _ends(*(forth or back)[0])
        if kind == "narrower same" and len(forth or back) > 1:
            kind = "split same"
        return {**_block("", "ends", kind), **_block("", "direction", direction)}

    def _node_in_text(self, given: Given) -> str:
        """Return how the text mentions a node of the answer, in the key's words."""
        if not given.of:
            return "same explicit" if given.concept else "none"
        if len(given.of) > 1:
            return ""
        return f"{given.relation} {self._nodes[given.of[0]].mention}"

    def _edge_in_text(self, cause: Given, effect: Given, listed: bool) -> str:
        """Return how the text gives an edge of the answer, in the key's words."""
        if not cause.of or not effect.of:
            return "hedged" if self._hedged(cause, effect) else "none"
        if (cause.relation, effect.relation) != ("same", "same"):
            return _ends(cause, effect) if listed else ""
        ends = (cause.of[0], effect.of[0])
        if edge := self._edges.get(ends):
            return self._given_by(edge)
        if self._acts[ends[0]] >> ends[1] & 1:
            return ""
        return "hedged" if self._hedged(cause, effect) else "none"

    def _given_by(self, edge: Edge) -> str:
        """Return how a document gives an edge: also whether only by the definition of a label."""
        if edge.status == "derivable" and {name.split("-")[0] for name in edge.frames} <= LABELLED:
            return "put together"
        if edge.status == "stated" and self._shared.issuperset(edge.spans):
            return "stated with others"
        return edge.status

    def _hedged(self, cause: Given, effect: Given) -> bool:
        return (
            self._altered.spoken.lures.get((self._concept(cause), self._concept(effect))) == HEDGED
        )

    def _concept(self, given: Given) -> str:
        return self._nodes[given.of[0]].name if given.of else given.concept


def _pairs(cause: Given, effect: Given) -> set[Ends]:
    return {(a, b) for a in cause.of for b in effect.of}


def _ends(cause: Given, effect: Given) -> str:
    """Return how an edge's ends compare with their counterparts, in the key's words."""
    relations = [given.relation for given in (cause, effect)]
    return " ".join(sorted("broader" if r == "joined" else r for r in relations))


def _block(prefix: str, table: str, row: str) -> dict[str, tuple[str, ...]]:
    """Return a row of the key: no fields if it is not there, since the rubric leaves it open."""
    return {
        f"{prefix}{family}": tuple(f"{family.upper()}_{label}" for label in labels)
        for family, labels in _key()[table].get(row, {}).items()
    }


@cache
def _key() -> Mapping[str, Mapping[str, Mapping[str, list[str]]]]:
    found: Mapping[str, Mapping[str, Mapping[str, list[str]]]] = json.loads(
        (files(__package__ or "") / "key.json").read_text("utf-8")
    )
    return found
