"""The numbered elements of gold graph and answer, and which of them a judge is asked about."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from whybench.families.recite.extras.judge.case import Case, Pair
from whybench.families.recite.extras.judge.labels import no_counterpart
from whybench.families.recite.extras.judge.names import WITHHELD, plain, shown_names

BATCH = 60
"""Maximum number of elements in one question, which limits the length of a reply."""


@dataclass(frozen=True, slots=True)
class Elements:
    """A case's elements as a judge sees them; numbers count from 1."""

    gold_nodes: tuple[str, ...]
    gold_edges: tuple[Pair, ...]
    answer_nodes: tuple[str, ...]
    answer_edges: tuple[Pair, ...]
    lost_nodes: frozenset[int]
    """Numbers of the answer's nodes whose names are withheld."""
    lost_edges: frozenset[int]
    """Numbers of the answer's edges with such a node."""
    unasked: bool
    """Whether the answer is missing or too large to be judged."""

    def count(self, pass_name: str) -> int:
        """Return how many elements a pass judges: the answer's for precision, else the gold's."""
        kind, side = pass_name.split("_")
        nodes, edges = self.gold_nodes, self.gold_edges
        if side == "precision":
            nodes, edges = self.answer_nodes, self.answer_edges
        return len(nodes) if kind == "node" else len(edges)

    def lost(self, pass_name: str) -> frozenset[int]:
        """Return the nodes or edges of the answer whose names are withheld, for a pass."""
        return self.lost_nodes if pass_name.startswith("node") else self.lost_edges

    def ruled(self, pass_name: str) -> frozenset[int]:
        """Return the elements of a pass that a rule decides: they have no counterpart.

        These are the elements of the answer whose names are withheld, or all elements if no
        answer is judged.
        """
        if self.unasked:
            return frozenset(range(1, self.count(pass_name) + 1))
        return self.lost(pass_name) if pass_name.endswith("precision") else frozenset()

    def unmatched(self, pass_name: str) -> bool:
        """Return whether the answer has no possible counterpart for a recall pass.

        This is so if all names of the answer are withheld. The judge is asked about the gold graph
        even then, because it rates importance, and an element without importance would not count
        as missed.
        """
        answer = self.answer_nodes if pass_name.startswith("node") else self.answer_edges
        return pass_name.endswith("recall") and len(answer) == len(self.lost(pass_name))


@lru_cache(maxsize=32)
def elements(case: Case) -> Elements:
    """Number a case's elements: nodes in alphabetical order, edges as given."""
    asked = case.answer_nodes if not case.too_large else ()
    names = dict.fromkeys(case.answer_nodes, WITHHELD)
    names |= shown_names(asked, case.gold_nodes, case.document)
    lost = {name for name, shown in names.items() if shown == WITHHELD}
    gold = {name: plain(name) for name in case.gold_nodes}
    return Elements(
        gold_nodes=tuple(gold[name] for name in case.gold_nodes),
        gold_edges=tuple((gold[cause], gold[effect]) for cause, effect in case.gold_edges),
        answer_nodes=tuple(names[name] for name in case.answer_nodes),
        answer_edges=tuple((names[cause], names[effect]) for cause, effect in case.answer_edges),
        lost_nodes=frozenset(n for n, name in enumerate(case.answer_nodes, 1) if name in lost),
        lost_edges=frozenset(
            n for n, edge in enumerate(case.answer_edges, 1) if not lost.isdisjoint(edge)
        ),
        unasked=case.too_large or not case.answer_edges,
    )


def batches(case: Case, pass_name: str) -> tuple[tuple[int, ...], ...]:
    """Return the numbers that a judge is asked about, each once, in groups of at most `BATCH`."""
    listed = elements(case)
    ruled = listed.ruled(pass_name)
    asked = [n for n in range(1, listed.count(pass_name) + 1) if n not in ruled]
    return tuple(tuple(asked[at : at + BATCH]) for at in range(0, len(asked), BATCH))


def by_rule(case: Case, pass_name: str) -> dict[int, dict[str, str]]:
    """Return the entries that need no judge."""
    return {n: no_counterpart(pass_name) for n in sorted(elements(case).ruled(pass_name))}
