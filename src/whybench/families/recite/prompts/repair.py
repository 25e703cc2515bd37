"""Repair of an answer's form by a second model, which may not invent anything.

What the second model sends is read like any other answer, every node it uses must stand in the
reply that it mended, and nodes that it joins must stand near each other there. That they are joined
there as well is not checked: a reply that is no JSON can say so in too many ways.
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
"""Characters of a reply that the second model is shown, as in the paper, but its last ones."""

NEAR = 1_000
"""Characters within which two nodes that are joined must stand: a long list of causes fits in."""

MOST_PLACES = 1_000
"""Places of a name that are looked at."""

SHOWN = 5
"""Invented names that an error lists."""


class RepairError(ValueError):
    """A repaired answer holds what the reply does not; says what."""


def snippet(reply: str, limit: int = LIMIT) -> str:
    """Return the end of a reply.

    >>> snippet("first thoughts, then the graph", 9)
    'the graph'
    """
    if limit < 1:
        raise ValueError(f"a snippet of {limit} characters is none: give at least 1")
    return reply[-limit:]


def prompt(view: View, reply: str) -> str:
    """Ask a second model to bring a reply into the right form."""
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
    """Read what the second model sent, and refuse it if it uses a node that the reply does not.

    A node is in the reply if its name is, as whole words, whatever the case, blanks, quotes and
    other marks; where names are told, its id as a number of its own will do.
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
    """Tell whether two names stand near each other somewhere; places are sorted."""
    for place in places:
        at = bisect_left(others, place - NEAR)
        if at < len(others) and others[at] <= place + NEAR:
            return True
    return False


_ESCAPED = re.compile(r"\\u([0-9a-fA-F]{4})")
_QUOTES = re.compile("[\"'`´‘’‚‛“”„‟«»‹›]")
_MARKS = re.compile(r"[\W_]+")


def _words(text: str) -> str:
    """Return a text's words alone, in one case, with a blank around each."""
    text = _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text)
    text = unicodedata.normalize("NFKC", text).casefold()
    return f" {_MARKS.sub(' ', _QUOTES.sub('', text)).strip()} "


def _places(name: str, words: str) -> list[int]:
    """Return where a name stands; scripts without blanks between words have no whole ones."""
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
