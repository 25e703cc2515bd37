"""What an edit does to the words around it: which come, which change places, which claims turn.

A word that turns a claim round ("not", "less", "increases") may not come. It may go with all of its
clause if nothing is put there instead, or in a long stretch of words, but not alone or nearly so.
Words that an edit cuts in two are compared as they were and as they become.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import takewhile

from whybench.families.recite.extras.preparing.limits import NormaliseLimits
from whybench.families.recite.extras.preparing.text.words import Word, words

LIGHT = 3
"""Words of so many letters, such as articles, may change their places."""

AROUND = 1000
"""Characters on either side in which the ends of a clause are looked for."""

_BOUNDARY = re.compile(r"[.,:](?=\s|$)|[;!?()\[\]|—–]|\n\s*\n|\n(?=[#*\->])")


@dataclass(frozen=True, slots=True)
class Reworded:
    """What became of the words."""

    added: tuple[str, ...]
    """Words that were not there, or not in that order."""
    moved: tuple[str, ...]
    """Those of them that were there, but elsewhere."""
    turned: tuple[str, ...]
    """Words that turn a claim round and came, or went while the claim stayed."""


def reworded(
    text: str, start: int, end: int, replacement: str, limits: NormaliseLimits
) -> Reworded:
    """Compare a text with what it is once `replacement` stands from `start` to `end`.

    >>> from whybench.families.recite.extras.preparing.limits import limits
    >>> reworded("Rain increases yield.", 5, 7, "de", limits().normalise).turned
    ('decreases', 'increases')
    """
    low, high = max(0, start - AROUND), min(len(text), end + AROUND)
    low = max((m.end() for m in _BOUNDARY.finditer(text, low, start)), default=low)
    high = found.start() if (found := _BOUNDARY.search(text, end, high)) else high
    part, whole = text[low:high], text[low:start] + replacement + text[end:high]
    before, after = words(part), words(whole)
    first = _same(before, after, lambda word, _: word.end < start - low)
    last = _same(
        before[first:][::-1],
        after[first:][::-1],
        lambda word, is_after: word.start > len(whole if is_after else part) - (high - end),
    )
    steps = SequenceMatcher(
        None,
        [word.form for word in before[first : len(before) - last]],
        [word.form for word in after[first : len(after) - last]],
        autojunk=False,
    ).get_opcodes()
    changed = [
        Swap(range(first + a, first + b), tuple(w.form for w in after[first + c : first + d]))
        for kind, a, b, c, d in steps
        if kind != "equal"
    ]
    added = [form for swap in changed for form in swap.added]
    gone = {before[n].form for swap in changed for n in swap.gone}
    came = [form for form in added if form in (*limits.turning, *limits.more_turning)]
    return Reworded(
        added=tuple(added),
        moved=tuple(form for form in added if form in gone and len(form) > LIGHT),
        turned=(*came, *_went(part, before, changed, limits)),
    )


@dataclass(frozen=True, slots=True)
class Swap:
    """Places of words that went, in a row, and the words that came there."""

    gone: range
    added: tuple[str, ...]


def _same(
    before: Sequence[Word], after: Sequence[Word], outside: Callable[[Word, bool], bool]
) -> int:
    """Count the words in a row that are the same in both and surely outside of the edit."""
    pairs = zip(before, after, strict=False)
    same = takewhile(
        lambda pair: (
            pair[0].form == pair[1].form and outside(pair[0], False) and outside(pair[1], True)
        ),
        pairs,
    )
    return sum(1 for _ in same)


def _went(
    part: str, before: Sequence[Word], changed: Sequence[Swap], limits: NormaliseLimits
) -> Iterator[str]:
    """Yield the words that turn a claim round and went without it."""
    ends = [match.end() for match in _BOUNDARY.finditer(part)]
    clauses = [bisect_right(ends, word.start) for word in before]
    missing = {n for swap in changed for n in swap.gone}
    stay = {clause for n, clause in enumerate(clauses) if n not in missing}
    for swap in changed:
        for n in swap.gone:
            row = sum(clauses[k] == clauses[n] for k in swap.gone)
            alone = row <= limits.turning_alone and (clauses[n] in stay or swap.added)
            if before[n].form in limits.turning and alone:
                yield before[n].form
