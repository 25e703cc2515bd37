"""Reformatting of an answer by a second model, which may not invent anything.

The output of the second model is parsed like any other answer. Every node must occur in the
original reply, and the two nodes of an edge must occur near each other there. No check ensures that
the reply connects them, because a reply that is not JSON can say so in too many ways.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from functools import cache
from importlib.resources import files

from whybench import CANARY
from whybench.episode.prompts.extraction import LONGEST
from whybench.episode.prompts.template import PromptTemplate, read_template
from whybench.families.recite.answer import Answer, read
from whybench.families.recite.world.world import View

LIMIT = 5_000
"""Characters that the second model sees: as many as in the paper, but the last ones."""

NEAR = 1_000
"""Maximum distance in characters between two connected nodes; a long list of causes fits."""

MOST_PLACES = 1_000
"""Maximum number of occurrences of a name that are considered."""

SHOWN = 5
"""Maximum number of invented names that an error lists."""


class RepairError(ValueError):
    """A repaired answer contains something that the reply does not; the message says what."""


def snippet(reply: str, limit: int = LIMIT) -> str:
    """Return the end of a reply.

    >>> snippet("first thoughts, then the graph", 9)
    'the graph'
    """
    if limit < 1:
        raise ValueError(f"a snippet of {limit} characters is none: give at least 1")
    return reply[-limit:]


def prompt(view: View, reply: str) -> str:
    """Return the prompt that asks a second model to reformat a reply."""
    nodes = "\n".join(f"{number}: {name}" for number, name in enumerate(view.nodes, 1))
    words = {"canary": CANARY, "reply": snippet(reply)}
    if view.names == "told":
        return _texts().say("told", nodes=nodes, **words)
    return _texts().say("free", **words)


@cache
def _texts() -> PromptTemplate:
    folder = files(__package__ or "")
    return read_template("repair", lambda name: (folder / f"{name}.md").read_text("utf-8"))


def accept(view: View, reply: str, repaired: str) -> Answer:
    """Parse the output of the second model; reject it if it uses a node that the reply lacks.

    A node is in the reply if its name occurs as whole words, ignoring case, spaces, quotes and
    other marks. If names are given, its id as a separate number is sufficient.
    """
    answer = read(view, repaired)
    words, numbers = _words(reply[-LONGEST:]), _numbers(reply[-LONGEST:])
    ids = {name: number for number, name in enumerate(view.nodes, 1)}
    stand: dict[str, list[int]] = {}
    for name in answer.nodes:
        stand[name] = _places(_words(name), words)
        if ids.get(name) in numbers:
            stand[name] = sorted([*stand[name], *_places(f" {ids[name]} ", words)])
    invented = [name for name, places in stand.items() if not places]
    if invented:
        raise RepairError(f"the repair invents {_some(invented)}: the reply does not have it")
    far = [f"{a} -> {b}" for a, b in answer.edges if not _near(stand[a], stand[b])]
    if far:
        raise RepairError(f"the repair joins what stands far apart in the reply: {_some(far)}")
    return answer


def _some(names: list[str]) -> str:
    named = ", ".join(ascii(name) for name in names[:SHOWN])
    return f"{named} and {len(names) - SHOWN} more" if len(names) > SHOWN else named


def _near(places: list[int], others: list[int]) -> bool:
    """Return whether two names occur near each other; positions are sorted."""
    for place in places:
        at = bisect_left(others, place - NEAR)
        if at < len(others) and others[at] <= place + NEAR:
            return True
    return False


_ESCAPED = re.compile(r"\\u([0-9a-fA-F]{4})")
_QUOTES = re.compile("[\"'`´‘’‚‛“”„‟«»‹›]")
_MARKS = re.compile(r"[\W_]+")


def _words(text: str) -> str:
    """Return the words of a text in one case, each between spaces."""
    text = _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text)
    text = unicodedata.normalize("NFKC", text).casefold()
    return f" {_MARKS.sub(' ', _QUOTES.sub('', text)).strip()} "


def _places(name: str, words: str) -> list[int]:
    """Return the positions of a name; scripts without spaces have no whole words."""
    if not name.strip():
        return []
    wanted = name if name.isascii() else name.strip()
    found: list[int] = []
    at = words.find(wanted)
    while at >= 0 and len(found) < MOST_PLACES:
        found.append(at)
        at = words.find(wanted, at + 1)
    return found


_NUMBER = re.compile(r"(?<!\w)(?<!\d\.)\d{1,9}(?!\w|\.\d)")


def _numbers(text: str) -> frozenset[int | None]:
    """Return the whole numbers that stand alone in a text."""
    return frozenset(int(number) for number in _NUMBER.findall(text.replace("_", " ")))
