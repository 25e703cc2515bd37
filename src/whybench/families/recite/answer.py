"""Parse a reply into a graph, or report the stage at which parsing fails."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any, Literal

from whybench.episode.prompts.extraction import json_objects
from whybench.families.recite.world.world import View

Stage = Literal["no_object", "schema", "ids", "size"]
"""Where an answer fails: no object, another shape, wrong ids, or too large."""

KEY = "relationships"

MOST = 5_000
"""Maximum number of relationships; the largest published graph has 205 edges."""

LONGEST_NAME = 200
LONGEST_TEXT = 2_000_000
"""Number of characters at the end of a reply that are searched for a very long answer."""


class AnswerError(ValueError):
    """An answer is not a graph; the error has the stage and the reason."""

    def __init__(self, stage: Stage, reason: str) -> None:
        super().__init__(reason)
        self.stage: Stage = stage


@dataclass(frozen=True, slots=True)
class Answer:
    """A graph as submitted."""

    edges: tuple[tuple[str, str], ...]
    """Pairs of cause and effect in the order given, without duplicates and self-loops.

    Answers that are parsed as in the release keep both."""
    duplicates: int
    """Number of repeated relationships."""
    self_loops: int
    """Number of relationships of a node with itself."""
    nodes: tuple[str, ...]
    """All names in the order given, including those of self-loops."""


@dataclass(frozen=True, slots=True)
class Found:
    """The JSON object found in a text."""

    value: Mapping[str, Any]
    strict: bool
    """Whether the text was that object and nothing else."""


def tidy(name: str) -> str:
    r"""Trim a name, collapse its spaces and drop invisible characters.

    >>> tidy("  soil\u00a0 mois\u00adture ")
    'soil moisture'
    """
    if not name.isprintable():
        seen = (char for char in name if unicodedata.category(char) != "Cf")
        name = "".join(char if char.isprintable() else " " for char in seen)
    return " ".join(name.split())


# Finding.


def find(text: str) -> Found | None:
    """Choose the last object with a list of relationships that all have a source and a sink.

    >>> find('First {"relationships": [{"source": "a", "sink": "b"}]}, no: {"relationships": []}!')
    Found(value={'relationships': []}, strict=False)
    """
    return next((found for found in _objects(text) if _fault(found.value) is None), None)


def _objects(text: str) -> list[Found]:
    """Return the objects of a text that have the key, last to first; nested ones come after."""
    found = [place for place in chain(_long(text), _short(text)) if KEY in place[0]]
    found.sort(key=lambda place: (-place[2], place[1]))
    return [
        Found(value, not text[:start].strip() and not text[end:].strip())
        for value, start, end in found
    ]


def _short(text: str) -> Iterator[tuple[dict[str, Any], int, int]]:
    return ((found.value, found.start, found.end) for found in json_objects(text))


def _long(text: str) -> Iterator[tuple[dict[str, Any], int, int]]:
    """Yield the object at the last key, because `json_objects` is slow for thousands of entries."""
    key = text.rfind(f'"{KEY}"')
    start = text.rfind("{", max(0, len(text) - LONGEST_TEXT), max(0, key))
    if start < 0:
        return
    try:
        value, length = json.JSONDecoder().raw_decode(text[start:])
    except (ValueError, RecursionError):
        return
    yield value, start, start + length


def _fault(value: Mapping[str, Any]) -> str | None:
    """Return what is wrong with the shape of an answer; None if it is valid."""
    items = value.get(KEY)
    if not isinstance(items, list):
        return f"`{KEY}` must be a list"
    for number, item in enumerate(items, 1):
        if not (isinstance(item, Mapping) and "source" in item and _sink_key(item)):
            return f"relationship {number} must be an object with `source` and `sink`"
    return None


def _sink_key(item: Mapping[str, Any]) -> str:
    return next((key for key in ("sink", "target") if key in item), "")


# Reading.


def read(view: View, answer: object) -> Answer:
    """Parse a graph from a reply, or from its JSON object."""
    value = _handed_in(answer) if isinstance(answer, str) else answer
    if not isinstance(value, Mapping):
        raise AnswerError("schema", f"the answer must be an object with a list `{KEY}`")
    if (fault := _fault(value)) is not None:
        raise AnswerError("schema", fault)
    items = _bounded(value[KEY])
    ends = ((item["source"], item[_sink_key(item)]) for item in items)
    meaning = _by_id if view.names == "told" else _by_name
    pairs = [(meaning(view, cause), meaning(view, effect)) for cause, effect in ends]
    proper = [(cause, effect) for cause, effect in pairs if cause != effect]
    return Answer(
        edges := tuple(dict.fromkeys(proper)),
        len(proper) - len(edges),
        len(pairs) - len(proper),
        _distinct(pairs),
    )


def _handed_in(text: str) -> Mapping[str, Any]:
    """Return the object that `find` chooses; if there is none, the last with the key."""
    near: Mapping[str, Any] | None = None
    for found in _objects(text):
        if _fault(found.value) is None:
            return found.value
        near = near or found.value
    if near is None:
        raise AnswerError("no_object", f"there is no JSON object with a list `{KEY}`")
    return near


def _bounded(items: list[Any]) -> list[Any]:
    if len(items) > MOST:
        raise AnswerError("size", f"{len(items)} relationships are too many: at most {MOST}")
    return items


def _distinct(pairs: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(chain.from_iterable(pairs)))


def _by_name(_: View, name: object) -> str:
    if not isinstance(name, str):
        raise AnswerError("schema", f"{_short_form(name)} is no name: write names as texts")
    if not (tidied := tidy(name)):
        raise AnswerError("schema", "a name is empty")
    if len(tidied) > LONGEST_NAME:
        reason = f"a name has {len(tidied)} characters, more than {LONGEST_NAME}"
        raise AnswerError("size", f"{reason}: {_short_form(tidied)}")
    return tidied


def _by_id(view: View, given: object) -> str:
    n = len(view.nodes)
    if type(given) is not int:
        reason = f"{_short_form(given)} is no id: write integers from 1 to {n}"
        if isinstance(given, str) and given.strip().isdecimal():
            reason = f"{_short_form(given)} is a text: write the id as an integer, without quotes"
        elif isinstance(given, str) and tidy(given) in view.nodes:
            reason = f"write the id {view.nodes.index(tidy(given)) + 1}, not {_short_form(given)}"
        raise AnswerError("ids", reason)
    if not 1 <= given <= n:
        raise AnswerError("ids", f"there is no node {_short_form(given)}: ids go from 1 to {n}")
    return view.nodes[given - 1]


def _short_form(value: object) -> str:
    """Return a short form of a value that every terminal and file can show."""
    if isinstance(value, list | dict):
        return "a list" if isinstance(value, list) else "an object"
    shown = ascii(value[:60]) if isinstance(value, str) else ascii(value)
    return shown if len(shown) <= 60 else shown[:60] + "…"


# Reading as the release does.


_CLOSED = re.compile(r"</(?:think|thinking|reasoning)>", re.IGNORECASE)
_BLOCK = re.compile(r"```(?:json)?\s(.*?)```", re.DOTALL)


def final_part(text: str) -> str:
    r"""Return the answer that follows the thoughts in a reply: its last code block or object.

    A reply without a code block or an object keeps all that follows its thoughts.

    >>> final_part('<think>a, or {b}?</think>\n```json\n{"relationships": []}\n```')
    '{"relationships": []}'
    """
    said = _CLOSED.split(text[-LONGEST_TEXT:])[-1].strip()
    blocks = [block for block in _BLOCK.findall(said) if KEY in block]
    if blocks:
        return str(blocks[-1]).strip()
    found = find(said)
    return said if found is None or found.strict else json.dumps(found.value)


def read_released(view: View, text: object) -> Answer:
    r"""Parse a graph as the released code does: no text is allowed around the object.

    One `\boxed{…}` and one `json` code block around the whole answer are removed. Names may have
    any type, true counts as the id 1, and duplicates and self-loops stay. A JSON value that is not
    an object is invalid here, but crashes the release. `MOST` applies too.
    """
    if not isinstance(text, str):
        raise AnswerError("no_object", "the answer must be a text")
    bare = _unwrapped(_unwrapped(text.strip(), "\\boxed{", "}"), "```json", "```")
    if len(bare) > LONGEST_TEXT:
        raise AnswerError("size", f"an answer of {len(bare)} characters is too long to read")
    try:
        value = json.loads(bare)
    except (ValueError, RecursionError) as error:
        raise AnswerError("no_object", f"the answer is not JSON: {str(error)[:80]}") from None
    if not isinstance(value, dict) or not isinstance(value.get(KEY), list):
        raise AnswerError("schema", f"the answer must be an object with a list `{KEY}`")
    items = _bounded(value[KEY])
    for number, item in enumerate(items, 1):
        if not (isinstance(item, dict) and "source" in item and "sink" in item):
            raise AnswerError("schema", f"relationship {number} needs `source` and `sink`")
    meaning = _released_id if view.names == "told" else _released_name
    pairs = [(meaning(view, item["source"]), meaning(view, item["sink"])) for item in items]
    loops = sum(cause == effect for cause, effect in pairs)
    proper = {(cause, effect) for cause, effect in pairs if cause != effect}
    return Answer(tuple(pairs), len(pairs) - loops - len(proper), loops, _distinct(pairs))


def _unwrapped(text: str, before: str, after: str) -> str:
    if text.startswith(before) and text.endswith(after):
        return text[len(before) : -len(after)]
    return text


def _released_id(view: View, given: object) -> str:
    if not isinstance(given, int):
        raise AnswerError("ids", f"{_short_form(given)} is no integer")
    return _by_id(view, int(given))


def _released_name(_: View, given: object) -> str:
    try:
        name = given if isinstance(given, str) else json.dumps(given)
    except RecursionError:
        raise AnswerError("schema", "a name is nested too deeply") from None
    return name.encode("utf-8", "replace").decode()
