"""What became of a text's words: those kept in order, and the gaps between them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

from whybench.families.recite.extras.preparing.limits import MarkdownLimits
from whybench.families.recite.extras.preparing.text.sections import Matter, is_caption
from whybench.families.recite.extras.preparing.text.words import Word, words

Reason = Literal["front", "back", "citation", "caption", "lines", "cut"]
"""Why words went: what they belong to, whole lines for no reason that code sees, or, the running
text being cut, no good reason at all."""

_BRACKETED = re.compile(r"[^\w\[(]*[\[(].*\d.*[\])][^\w\])]*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Removal:
    """Words that are gone, the text that held them, and why they went."""

    words: tuple[str, ...]
    text: str
    reason: Reason


@dataclass(frozen=True, slots=True)
class Compared:
    """A text and what it was made into."""

    size: int
    """Words of the text."""
    output: tuple[Word, ...]
    found: frozenset[int]
    """Which words of the output stand in the text, in order."""
    removals: tuple[Removal, ...]


def compared(text: str, output: str, place: Matter, limits: MarkdownLimits) -> Compared:
    """Compare a text with what it was made into; `place` says where its body begins and ends."""
    before, after = words(text), words(output)
    pairs = _pairs(before, after, limits.stretch)
    kept = sorted(pairs.values())
    gaps = zip([0, *(at + 1 for at in kept)], [*kept, len(before)], strict=True)
    removals = tuple(
        _removal(text, before, first, last, place, limits)
        for gap in gaps
        for first, last in _parted(before, *gap, place)
    )
    return Compared(len(before), tuple(after), frozenset(pairs), removals)


def _parted(
    before: Sequence[Word], first: int, last: int, place: Matter
) -> Iterator[tuple[int, int]]:
    """Cut a gap where the body begins or ends."""
    for at in range(first, last):
        word = before[at]
        if at > first and any(before[at - 1].start < edge <= word.start for edge in place.edges):
            yield first, at
            first = at
    if first < last:
        yield first, last


def _pairs(before: Sequence[Word], after: Sequence[Word], stretch: int) -> dict[int, int]:
    """Return the places in the text of the output's words that are found.

    Blocks are matched longest first (Ratcliff and Metzener 1988). A run of fewer than `stretch`
    matching words in the output is chance, unless it is all there is.
    """
    blocks = SequenceMatcher(
        None, [w.form for w in before], [w.form for w in after], autojunk=False
    ).get_matching_blocks()
    found = {b.b + k: b.a + k for b in blocks for k in range(b.size)}
    run: list[int] = []
    for at in range(len(after) + 1):
        if at in found:
            run.append(at)
            continue
        if len(run) < min(stretch, len(after)):
            for chance in run:
                del found[chance]
        run = []
    return found


def _removal(
    text: str, before: Sequence[Word], first: int, last: int, place: Matter, limits: MarkdownLimits
) -> Removal:
    start, end = before[first].start, before[last - 1].end
    gone = tuple(word.form for word in before[first:last])
    lead = text[before[first - 1].end if first else 0 : start]
    trail = text[end : before[last].start if last < len(before) else len(text)]
    reason: Reason = "cut"
    if end <= place.front:
        reason = "front"
    elif start >= place.back:
        reason = "back"
    elif (
        len(gone) <= limits.bracket_words and _BRACKETED.fullmatch(lead + text[start:end] + trail)
    ) or (first and _raised(before[first - 1].form, lead, gone)):
        reason = "citation"
    elif (first == 0 or "\n" in lead) and (last == len(before) or "\n" in trail):
        reason = "caption" if is_caption(text[start:end]) else "lines"
    return Removal(gone, text[start:end], reason)


def _raised(previous: str, lead: str, gone: Sequence[str]) -> bool:
    """Tell whether numbers stand right behind a word, as raised ones do; decimals do not."""
    numbers = all(map(str.isdigit, gone))
    return numbers and not previous.isdigit() and not any(map(str.isspace, lead))
