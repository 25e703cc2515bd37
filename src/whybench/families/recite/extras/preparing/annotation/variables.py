"""Joining variables that an annotator spelt in two ways, by a model that may choose but not coin.

A reply lists groups, each with `old_names` and the `new_name` to keep. Code refuses the reply if a
name is not in the graph, stands in two groups or has angle brackets; if names of a group differ by
more than a misspelling, in the letters of an abbreviation or in a number; or if an edge joins them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from whybench.families.recite.extras.preparing.annotation.spelling import difference, is_marked
from whybench.families.recite.extras.preparing.change import Change
from whybench.families.recite.extras.preparing.limits import SpellingLimits
from whybench.families.recite.extras.preparing.model_client import (
    Asker,
    RefusedError,
    answered,
    said,
)

STEP = "variables"
KEY = "combined_variables"

Edge = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Group:
    """Names that are one, and the one to keep."""

    old_names: tuple[str, ...]
    new_name: str

    @property
    def wrong(self) -> tuple[str, ...]:
        """The names that go."""
        return tuple(name for name in self.old_names if name != self.new_name)


async def clean(
    nodes: Sequence[str], edges: Sequence[Edge], asker: Asker, limits: SpellingLimits
) -> tuple[tuple[str, ...], tuple[Edge, ...], tuple[Change, ...]]:
    """Have a graph's names cleaned; return its nodes, its edges and all changes."""
    graph = {"nodes": list(nodes), "edges": [{"source": a, "sink": b} for a, b in edges]}
    settled = await asker.settle(
        STEP,
        said(STEP, json.dumps(graph, ensure_ascii=False, indent=1)),
        lambda reply: read_groups(reply, nodes, edges, limits),
    )
    refused = tuple(Change(STEP, "refused", "", note=why) for why in settled.refused)
    nodes, edges, changes = join(nodes, edges, settled.value, limits)
    return tuple(nodes), tuple(edges), refused + changes


def read_groups(
    reply: str, nodes: Sequence[str], edges: Sequence[Edge], limits: SpellingLimits
) -> tuple[Group, ...]:
    """Return the groups of the last object that has the key, or refuse the reply."""
    found = answered(reply, KEY)
    if found is None or not isinstance(found.value[KEY], list):
        raise RefusedError(f'there is no JSON object with a list "{KEY}": reply with one')
    groups = tuple(_group(item, number) for number, item in enumerate(found.value[KEY], 1))
    seen: set[str] = set()
    for group in groups:
        names = {*group.old_names, group.new_name}
        _check_names(names, nodes)
        if twice := names & seen:
            raise RefusedError(f"{min(twice)!r} is in two groups: put each name into one at most")
        seen |= names
        for wrong in group.wrong:
            _check_pair(wrong, group.new_name, limits)
        for cause, effect in edges:
            if cause in names and effect in names:
                raise RefusedError(
                    f"the graph has an edge from {cause!r} to {effect!r}: they are two variables"
                )
    return groups


def _group(item: object, number: int) -> Group:
    old = item.get("old_names") if isinstance(item, Mapping) else None
    new = item.get("new_name") if isinstance(item, Mapping) else None
    if not (isinstance(old, list) and old and all(isinstance(name, str) for name in [*old, new])):
        raise RefusedError(f"group {number} must have a list `old_names` and a text `new_name`")
    group = Group(tuple(old), str(new))
    if not group.wrong:
        raise RefusedError(f"group {number} joins nothing: leave it out")
    return group


def _check_names(names: set[str], nodes: Sequence[str]) -> None:
    for name in sorted(names):
        if name not in nodes:
            raise RefusedError(f"{name!r} is no variable of the graph: copy names letter by letter")
        if is_marked(name):
            raise RefusedError(f"{name!r} has an angle bracket: such names stay as they are")


def _check_pair(wrong: str, right: str, limits: SpellingLimits) -> None:
    found = difference(wrong, right)
    wide = found.distance > limits.distance
    if found.distance > limits.wide_distance or (wide and found.word < limits.wide_word):
        why = "differ by more than a misspelling"
    elif found.digits:
        why = "have different numbers"
    elif found.distance and found.abbreviation:
        why = "differ in an abbreviation"
    elif found.distance and not found.same_start:
        why = "begin differently where they differ"
    else:
        return
    raise RefusedError(f"{wrong!r} and {right!r} {why}: keep them apart")


def join(
    nodes: Sequence[str], edges: Sequence[Edge], groups: Sequence[Group], limits: SpellingLimits
) -> tuple[tuple[str, ...], tuple[Edge, ...], tuple[Change, ...]]:
    """Join the names of each group; edges that become equal are one."""
    final = {name: name for name in nodes}
    changes = []
    for group in groups:
        for wrong in group.wrong:
            final[wrong] = group.new_name
            changes.append(Change(STEP, "renamed", "", wrong, group.new_name))
            if (apart := difference(wrong, group.new_name).distance) > limits.distance:
                note = f"{apart} letters apart; are they one?"
                changes.append(Change(STEP, "doubt", "", wrong, group.new_name, note))
    kept: dict[Edge, None] = {}
    for cause, effect in edges:
        edge = final[cause], final[effect]
        if edge in kept:
            shown = f"{cause} -> {effect}"
            changes.append(Change(STEP, "dropped", "", shown, note="became equal to another edge"))
        kept[edge] = None
    return tuple(sorted(set(final.values()))), tuple(kept), tuple(changes)
