"""A submitted graph with gold names where its names were matched."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from whybench.episode.annotated import Arrow
from whybench.families.recite.answer import Answer
from whybench.families.recite.matching import THRESHOLD, Similarity, matched
from whybench.families.recite.score import THRESHOLDS, known_names
from whybench.families.recite.world.world import World


@dataclass(frozen=True, slots=True)
class Belief:
    """A submitted graph with gold names where its names were matched."""

    arrows: tuple[Arrow, ...]
    meant: Mapping[str, str]
    """Gold name → its name in the answer."""
    outside: tuple[str, ...]
    """Names that match no gold node, as they are shown here."""


def believed(world: World, answer: Answer, similarity: Similarity) -> Belief:
    """Rename the nodes of an answer to gold names, matched as in the score."""
    arrows = [pair for pair in answer.edges if pair[0] != pair[1]]
    gold = [node.name for node in world.nodes]
    if world.view.names == "told":
        used = dict.fromkeys(end for pair in arrows for end in pair)
        return Belief(_arrows(arrows), {name: name for name in used}, ())
    match = matched(answer.nodes, known_names(world), similarity, min(THRESHOLDS))
    match = match.above(THRESHOLD)
    taken = set(gold)
    told: dict[str, str] = {}  # normal form → the name that is shown
    meant: dict[str, str] = {}
    for name in answer.nodes:
        form = match.form(name)
        if form in told:
            continue
        node = match.node(form)
        if node is not None:
            told[form] = gold[node]
            meant[gold[node]] = name
        else:
            told[form] = name if name not in taken else f"{name} (second)"
            taken.add(told[form])
    ends = {}
    for cause, effect in arrows:
        forms = match.form(cause), match.form(effect)
        if forms[0] == forms[1]:  # two spellings of one node
            ends[forms] = (f"{told[forms[0]]} (as cause)", f"{told[forms[1]]} (as effect)")
        else:
            ends[forms] = (told[forms[0]], told[forms[1]])
    outside = tuple(name for name in told.values() if name not in meant)
    return Belief(_arrows(ends.values()), meant, outside)


def _arrows(pairs: Iterable[tuple[str, str]]) -> tuple[Arrow, ...]:
    return tuple(Arrow(cause, effect) for cause, effect in dict.fromkeys(pairs))
