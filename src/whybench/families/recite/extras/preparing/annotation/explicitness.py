"""How a text mentions each node: 1 by its name or a synonym, 2 indirectly, 3 not at all.

A model labels; code ensures that every node has a label and nothing else has one. A name that
occurs in the text word for word, but is labelled absent, is a doubt.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from whybench.families.recite.extras.preparing.change import Change
from whybench.families.recite.extras.preparing.model_client import (
    Asker,
    RefusedError,
    answered,
    said,
)
from whybench.families.recite.extras.preparing.text.words import forms

STEP = "explicitness"
KEY = "scores"
ABSENT = 3
LABELS = (1, 2, ABSENT)

SHOWN = 5
"""Names that a refusal lists."""


async def label(
    text: str, nodes: Sequence[str], asker: Asker
) -> tuple[dict[str, int], tuple[Change, ...]]:
    """Have the nodes labelled; return the labels in the order of the nodes, and all changes."""
    listed = json.dumps(list(nodes), ensure_ascii=False, indent=1)
    settled = await asker.settle(
        STEP, said(STEP, text, nodes=listed), lambda reply: read_labels(reply, nodes)
    )
    refused = tuple(Change(STEP, "refused", "", note=why) for why in settled.refused)
    return settled.value, (*refused, *contradictions(text, settled.value))


def read_labels(reply: str, nodes: Sequence[str]) -> dict[str, int]:
    """Return the labels of the last object that has the key, or reject the reply."""
    found = answered(reply, KEY)
    if found is None or not isinstance(found.value[KEY], Mapping):
        raise RefusedError(f'there is no JSON object with an object "{KEY}": reply with one')
    json.loads(reply[found.start : found.end], object_pairs_hook=_once)
    labels = found.value[KEY]
    if unknown := [name for name in labels if name not in nodes]:
        raise RefusedError(f"no such node: {_named(unknown)}. Copy the names letter by letter")
    if missing := [name for name in nodes if name not in labels]:
        raise RefusedError(f"no label for {_named(missing)}. Label every node")
    for name, given in labels.items():
        if type(given) is not int or given not in LABELS:
            raise RefusedError(f"the label of {name!r} must be 1, 2 or 3, not {given!r}")
    return {name: labels[name] for name in nodes}


def mentioned(name: str, text: str) -> bool:
    r"""Tell whether a name stands in a text word for word, whatever the case: a first guess.

    >>> mentioned("Soil moisture", "Low soil mois-\nture"), mentioned("rain", "trains")
    (True, False)
    """
    return _stands(name, f" {' '.join(forms(text))} ")


def contradictions(text: str, labels: Mapping[str, int]) -> Iterator[Change]:
    """Yield doubts: nodes that are labelled absent but occur in the text."""
    words = f" {' '.join(forms(text))} "
    for name, given in labels.items():
        if given == ABSENT and _stands(name, words):
            note = "is labelled absent, but stands in the text"
            yield Change(STEP, "doubt", "", name, note=note)


def shares(labels: Mapping[str, int]) -> tuple[float, float]:
    """Return the lenient and the strict share of nodes that a text mentions.

    >>> shares({"a": 1, "b": 2, "c": 3, "d": 1})
    (0.75, 0.5)
    """
    given = list(labels.values())
    return 1 - given.count(ABSENT) / len(given), given.count(1) / len(given)


def _stands(name: str, words: str) -> bool:
    wanted = " ".join(forms(name))
    return bool(wanted) and f" {wanted} " in words


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = [name for name in found if names.count(name) > 1]
        raise RefusedError(f"there twice: {_named(twice)}. Label every node once")
    return found


def _named(names: Sequence[str]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(map(repr, names[:SHOWN])) + more
