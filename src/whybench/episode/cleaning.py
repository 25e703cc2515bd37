"""Make what an agent sends safe to keep. Every interface cleans here, and the trace says so.

Half a surrogate pair cannot be written as UTF-8, so one of them would end the writing of a whole
log. A NUL ends a text in many programs. A reply of many megabytes stalls every later step.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import replace
from math import inf
from typing import Any

from whybench.causal.canonical import DEEPEST, Record
from whybench.episode.action import NOTES, Action, Note
from whybench.episode.observation import Observation

LONGEST_TEXT = 1_000_000
"""Characters of a text that are kept: its last ones, because the end of a reply counts."""

LONGEST_ACTION = 200_000
"""Characters of an action, all arguments together. A longer one is malformed."""

INSTEAD = "\ufffd"
"""The replacement character of Unicode."""

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
"""Characters that can move a cursor or start an escape sequence."""

INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""Unicode categories without a glyph; line feeds and tabs are kept."""

HIDDEN = "(a value that cannot be kept)"
"""Stands for a value that is nested too deeply, or a number that readers of JSON reject."""

MOST_BITS = 1_024
"""Bits of the largest whole number that is kept. Python itself reads at most 4,300 digits."""


def in_order(notes: Iterable[Note]) -> tuple[Note, ...]:
    """Return notes once each, in the order of `NOTES`."""
    found = set(notes)
    return tuple(note for note in NOTES if note in found)


def clean_text(text: str, longest: int = LONGEST_TEXT) -> tuple[str, tuple[Note, ...]]:
    r"""Return a text that can be stored and shown, and what was changed.

    >>> clean_text("yes\x00 \ud83d\ude00 \ud800")
    ('yes� 😀 �', ('surrogates', 'nul'))
    >>> clean_text("no, yes", longest=3)
    ('yes', ('cut',))
    """
    notes: list[Note] = []
    if len(text) > longest:
        text = text[-longest:]
        notes.append("cut")
    if "\0" in text:
        text = text.replace("\0", INSTEAD)
        notes.append("nul")
    if not text.isascii() and not _is_unicode(text):
        text = _with_whole_pairs(text)
        notes.append("surrogates")
    return text, in_order(notes) if notes else ()


def _with_whole_pairs(text: str) -> str:
    """Join surrogate pairs and replace single halves, in arrays: a text can hold a million."""
    import numpy as np  # only for such texts: commands start without it

    units = np.array([text]).view(np.uint32)  # an encoder calls its handler for every half
    first, second = units >> 10 == 0xD800 >> 10, units >> 10 == 0xDC00 >> 10
    paired = first[:-1] & second[1:]
    before, after = np.append(paired, False), np.append(False, paired)
    units[before] = 0x10000 + ((units[before] & 0x3FF) << 10) + (units[after] & 0x3FF)
    units[(first & ~before) | (second & ~after)] = ord(INSTEAD)
    return str(units[~after].tobytes(), "utf-32")


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def visible(text: str) -> str:
    """Return a text without invisible characters; unusual line ends become line feeds."""
    if text.isascii() and text.isprintable():
        return text
    text = text.replace("\r\n", "\n")
    return "".join(
        c if c in "\n\t" or unicodedata.category(c) not in INVISIBLE else _instead(c) for c in text
    )


def _instead(character: str) -> str:
    """Return a line feed for a character that some readers treat as one, else an empty text."""
    return "\n" if character in "\r\v\f\x1c\x1d\x1e\x85\u2028\u2029" else ""


class Cleaner:
    """Cleans the texts in a value, and keeps what it changed and how many characters it saw."""

    def __init__(self, most: float = inf) -> None:
        self.notes: set[Note] = set()
        self.size = 0
        self.most = most
        """Characters after which the value is of no use, so that nothing more is cleaned."""

    def text(self, text: str) -> str:
        """Return a clean text."""
        self.size += len(text)
        if self.size > self.most:
            return ""
        text, notes = clean_text(text)
        self.notes.update(notes)
        return text

    def value(self, value: Any, depth: int = 0) -> Any:
        """Return JSON data or a frozen value with clean texts."""
        if isinstance(value, str):
            return self.text(value)
        huge = isinstance(value, int) and value.bit_length() > MOST_BITS
        if huge or depth > DEEPEST + 2:
            self.notes.add("values")
            return HIDDEN
        if isinstance(value, Record):
            return Record((self.text(name), self.value(one, depth + 1)) for name, one in value)
        if isinstance(value, dict):
            return {self.value(k, depth + 1): self.value(v, depth + 1) for k, v in value.items()}
        if isinstance(value, list | tuple):
            self.size += len(value)
            return type(value)(self.value(one, depth + 1) for one in value)
        return value


def clean_action(action: Action, noted: Iterable[Note] = ()) -> Action:
    r"""Return an action that can be stored, with what was changed in it or before it was read.

    >>> clean_action(Action.of("hold", shape="circle\x00")).to_json()
    {'name': 'hold', 'args': {'shape': 'circle�'}, 'cleaned': ['nul']}
    >>> clean_action(Action.of("hold", shape="o" * 300_000)).name
    'malformed'
    """
    if not noted and _is_plain(action):
        return action
    cleaner = Cleaner(LONGEST_ACTION)
    name, args = cleaner.text(action.name), cleaner.value(action.args)
    if cleaner.size > LONGEST_ACTION:
        action = Action.malformed(f"the action is longer than {LONGEST_ACTION} characters")
        cleaner.notes.add("cut")
    elif cleaner.notes:
        action = replace(action, name=name, args=args)
    notes = in_order({*action.cleaned, *noted, *cleaner.notes})
    return action if notes == action.cleaned else replace(action, cleaned=notes)


def _is_plain(action: Action) -> bool:
    """Return whether an action is short ASCII text without NUL, as nearly all are."""
    size = len(action.name)
    for name, value in (("", action.name), *action.args):
        if type(value) is not str or not value.isascii() or "\0" in value:
            return False
        if not name.isascii() or "\0" in name:
            return False
        size += len(name) + len(value)
    return size <= LONGEST_ACTION


def clean_observation(observation: Observation) -> Observation:
    """Return an observation that can be stored and shown in a terminal.

    An error can repeat the words of the agent, with control characters in them.
    """
    cleaner = Cleaner()
    data = cleaner.value(observation.data)
    reason = data.get("reason")
    if isinstance(reason, str) and _CONTROL.search(reason):
        cleaner.notes.add("values")
        changed = {**data.asdict(), "reason": _CONTROL.sub(INSTEAD, reason)}
        data = Record(changed.items())
    return replace(observation, data=data) if cleaner.notes else observation
