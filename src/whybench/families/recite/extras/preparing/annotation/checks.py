"""Check an annotated edge list, and correct certain misspellings.

The code corrects spaces, case (to the most frequent spelling), and spaces and hyphens within long
names. It corrects one wrong letter inside a long word, if the wrong word occurs once in the list,
not in the paper, and the right one occurs in both. It never changes names with angle brackets,
abbreviations or numbers, and never joins two names that an edge connects. Other names that look
alike are doubts. An entry that cannot be read, or that causes itself, is a fault that a person has
to correct.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from rapidfuzz.distance import OSA
from rapidfuzz.process import cdist

from whybench.families.recite.answer import tidy
from whybench.families.recite.extras.preparing.annotation.edgelist import Entry, Fault, read_list
from whybench.families.recite.extras.preparing.annotation.spelling import (
    difference,
    is_marked,
    plain,
    squeezed,
)
from whybench.families.recite.extras.preparing.change import Change
from whybench.families.recite.extras.preparing.limits import SpellingLimits
from whybench.families.recite.extras.preparing.text.words import forms

STEP = "annotation"

Edge = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Annotation:
    """A diagram as annotated, after repair."""

    nodes: tuple[str, ...]
    """In alphabetical order."""
    edges: tuple[Edge, ...]
    """In the order given, none twice."""
    changes: tuple[Change, ...]
    faults: tuple[Fault, ...]
    """If there are any, the diagram is not fit for use."""


def read_annotation(
    text: str, limits: SpellingLimits, suffix: str = "", paper: str = ""
) -> Annotation:
    """Read and correct an edge list; `paper` is the text that shows how words are spelt."""
    listed = read_list(text, suffix)
    if len(listed.entries) > limits.entries:
        raise ValueError(
            f"{len(listed.entries)} edges are too many. The maximum is {limits.entries}."
        )
    entries = tuple(Entry(e.where, tidy(e.source), tidy(e.sink)) for e in listed.entries)
    changes = list(_tidied(listed.entries, entries))
    alone = tuple(filter(None, map(tidy, listed.nodes)))
    names = Counter(chain(alone, *((e.source, e.sink) for e in entries)))
    apart = {frozenset((e.source, e.sink)) for e in entries if e.source != e.sink}
    renamed = _renamed(names, apart, frozenset(forms(paper)), limits)
    changes += [
        Change(STEP, "renamed", _places(entries, old), old, new, why)
        for old, (new, why) in renamed.items()
    ]
    final = {name: renamed[name][0] if name in renamed else name for name in names}
    edges, faults = _edges(entries, final, changes)
    nodes = tuple(sorted({*chain.from_iterable(edges), *(final[name] for name in alone)}))
    changes += _doubts(nodes, limits)
    missing = () if edges or listed.faults else (Fault("line 1", text[:80], "there is no edge"),)
    return Annotation(nodes, edges, tuple(changes), (*listed.faults, *faults, *missing))


def _tidied(before: Sequence[Entry], after: Sequence[Entry]) -> Iterator[Change]:
    for old, new in zip(before, after, strict=True):
        for was, now in ((old.source, new.source), (old.sink, new.sink)):
            if was != now:
                yield Change(STEP, "renamed", old.where, was, now, "blanks and unseen characters")


def _edges(
    entries: Sequence[Entry], final: dict[str, str], changes: list[Change]
) -> tuple[tuple[Edge, ...], tuple[Fault, ...]]:
    """Return the edges, each once, and the entries whose ends are the same."""
    edges: dict[Edge, None] = {}
    faults = []
    for entry in entries:
        edge = final[entry.source], final[entry.sink]
        shown = f"{edge[0]} -> {edge[1]}"
        if edge[0] == edge[1]:
            faults.append(Fault(entry.where, shown, "both ends are the same"))
        elif edge in edges:
            changes.append(Change(STEP, "dropped", entry.where, shown, note="is there before"))
        else:
            edges[edge] = None
    return tuple(edges), tuple(faults)


Why = tuple[str, str]
"""The right name, and why the other is wrong."""


def _renamed(
    names: Counter[str], apart: set[frozenset[str]], known: frozenset[str], limits: SpellingLimits
) -> dict[str, Why]:
    """Return which names are wrong spellings of which, and why."""
    found: dict[str, Why] = {}
    ranked = sorted(names, key=lambda name: (-names[name], list(names).index(name)))
    free = [name for name in ranked if not is_marked(name)]
    for at, right in enumerate(free):
        if right in found:
            continue
        for wrong in free[at + 1 :]:
            if wrong in found or _joined(wrong, right, found, apart):
                continue
            if why := _mistake(wrong, right, names, known, limits):
                found[wrong] = right, why
    return found


def _joined(wrong: str, right: str, found: dict[str, Why], apart: set[frozenset[str]]) -> bool:
    """Tell whether an edge joins a name with another or with what is taken for that other."""
    same = [right, *(old for old, (new, _) in found.items() if new == right)]
    return any(frozenset((wrong, name)) in apart for name in same)


def _mistake(
    wrong: str, right: str, names: Counter[str], known: frozenset[str], limits: SpellingLimits
) -> str:
    """Say which mistake makes one name the other; empty if none surely does."""
    found = difference(wrong, right)
    if found.abbreviation or found.digits or found.distance > limits.distance:
        return ""
    if plain(wrong) == plain(right):
        return "case"
    if min(len(wrong), len(right)) < limits.name:
        return ""
    if found.distance == 0:
        return "blanks or hyphens"
    typo = found.words is not None and found.inner and found.word >= limits.word
    if not typo or names[wrong] > 1 or names[right] < 2 or found.words is None:
        return ""
    return "letter" if found.words[0] not in known and found.words[1] in known else ""


def _doubts(nodes: Sequence[str], limits: SpellingLimits) -> Iterator[Change]:
    """Yield pairs of names that look alike and were left as they are."""
    forms_of = [squeezed(name) for name in nodes]
    if not nodes:
        return
    table = cdist(forms_of, forms_of, scorer=OSA.distance, score_cutoff=limits.wide_distance)
    for one, other in np.argwhere(np.triu(table <= limits.wide_distance, 1)):
        shorter = min(len(forms_of[one]), len(forms_of[other]))
        if table[one, other] <= (limits.wide_distance if shorter >= limits.name else 1):
            note = "look alike; are they one?"
            yield Change(STEP, "doubt", "", nodes[one], nodes[other], note)


def _places(entries: Iterable[Entry], name: str) -> str:
    return ", ".join(e.where for e in entries if name in (e.source, e.sink)) or "nodes"
