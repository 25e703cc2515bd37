"""From a paper's text to Markdown by a model that may change the layout, but not the wording.

What code makes sure of: nearly all words of the output stand in the text, in order; no sentence and
no heading is new; no word that turns a claim round comes or goes; the running text is not cut but
for citations; no large part is left out; back matter is gone. All that went is listed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial

from whybench.families.recite.extras.preparing.change import Change
from whybench.families.recite.extras.preparing.limits import MarkdownLimits
from whybench.families.recite.extras.preparing.model_client import Asker, RefusedError, said
from whybench.families.recite.extras.preparing.text.comparing import Compared, Removal, compared
from whybench.families.recite.extras.preparing.text.sections import Matter, is_back_heading, matter

_SENTENCE_END = re.compile(r"[.!?:][\"')\]”’]*[ \t]*\n+")
_LINE_END = re.compile(r"\n+")
_BLANK = re.compile(r"\s+")


def chunks(text: str, longest: int) -> tuple[str, ...]:
    r"""Cut a text; the pieces joined are the text, and none is longer than asked.

    >>> chunks("One is.\nTwo is\nlong.\nThree.", 22)
    ('One is.\nTwo is\nlong.\n', 'Three.')
    """
    if longest < 1:
        raise ValueError(f"Pieces must have at least 1 character, not {longest}.")
    found, at = [], 0
    while len(text) - at > longest:
        end = _cut(text, at, at + longest)
        found.append(text[at:end])
        at = end
    return (*found, text[at:])


def ends_sentence(piece: str) -> bool:
    """Tell whether a piece was cut behind a sentence."""
    return _SENTENCE_END.search(piece.rstrip()[-4:] + "\n") is not None


def _cut(text: str, start: int, limit: int) -> int:
    """Return the last good place in the second half of a piece, else the end of the piece."""
    middle = (start + limit) // 2
    for pattern in (_SENTENCE_END, _LINE_END, _BLANK):
        ends = [m.end() for m in pattern.finditer(text, middle, limit)]
        if ends:
            return ends[-1]
    return limit


STEP = "markdown"

NOTHING = "(nothing left)"
"""What a model says of a piece that is all to go."""

SHOWN = 3
"""Examples that a refusal gives."""

SLACK = 500
"""Characters of markup that even a short piece may have."""

OUTLINE = 30
"""Headings so far that a model is reminded of, the last ones."""

_FENCED = re.compile(r"\s*```(?:markdown|md)?[ \t]*\n(.*?)\n?```\s*", re.DOTALL)
_TAG = re.compile(r"</?su[bp]>")
_HEADING = re.compile(r"^#{1,6} +(.+)$", re.MULTILINE)
_SENTENCE = re.compile(r"(?:[^.!?\n]|[.!?](?!\s)|\n(?!\s*\n|[#*\-|>]))+", re.DOTALL)
_CITED = re.compile(r"\[\d+(?:\s*[,–-]\s*\d+)*\]")


async def convert(
    text: str, asker: Asker, limits: MarkdownLimits
) -> tuple[str, tuple[Change, ...]]:
    """Have a text turned into Markdown piece by piece; return it with all changes."""
    place, at = matter(text), 0
    result = ""
    changes: list[Change] = []
    for number, piece in enumerate(pieces := chunks(text, limits.chunk), 1):
        where = f"piece {number} of {len(pieces)}"
        reader = partial(accept, piece, place=place.within(at), limits=limits)
        prompt = said(STEP, piece, nothing=NOTHING, outline=outline(result))
        settled = await asker.settle(f"{STEP}, {where}", prompt, reader)
        output, made = settled.value
        changes += [Change(STEP, "refused", where, note=why) for why in settled.refused]
        changes += [replace(change, where=where) for change in made]
        joint = "" if not result else "\n\n" if ends_sentence(pieces[number - 2]) else " "
        result += joint + output if output else ""
        at += len(piece)
    return result, tuple(changes)


def outline(markdown: str) -> str:
    """Return the headings of what is converted so far."""
    found = [match[0] for match in _HEADING.finditer(markdown)][-OUTLINE:]
    return "\n".join(found) or "(none)"


def accept(
    text: str, reply: str, place: Matter, limits: MarkdownLimits
) -> tuple[str, tuple[Change, ...]]:
    """Return the Markdown of a piece with the changes, or refuse it; each rule says what it saw."""
    output = unwrapped(reply)
    if len(output) > limits.longest * len(text) + SLACK:
        raise RefusedError("it is far longer than the piece: copy the piece once and add nothing")
    found = compared(text, output, place, limits)
    _check_headings(output, found)
    _check_wording(output, found, limits)
    _check_removals(found, limits)
    _check_turning(found, limits)
    return output, tuple(_changes(output, found))


def unwrapped(reply: str) -> str:
    """Take off a fence around the whole reply, tags of raised and lowered signs, and the mark."""
    inner = _FENCED.fullmatch(reply)
    output = _TAG.sub("", inner[1] if inner else reply).strip()
    return "" if output == NOTHING else output


def _check_wording(output: str, found: Compared, limits: MarkdownLimits) -> None:
    for start, end in _sentences(output):
        inside = [n for n, word in enumerate(found.output) if start <= word.start < end]
        known = sum(n in found.found for n in inside)
        if known < limits.sentence_found * len(inside):
            raise RefusedError(
                f"this is not in the paper: {_short(output[start:end])}. Copy the paper's own "
                "words, add nothing and comment on nothing"
            )
    share = len(found.found) / len(found.output) if found.output else 1.0
    if share < limits.found:
        raise RefusedError(
            f"only {share:.1%} of your words stand in the paper in that order; among the others "
            f"are {_named(_added(found))}. Copy word for word, and correct nothing"
        )


def _check_headings(output: str, found: Compared) -> None:
    for match in _HEADING.finditer(output):
        if is_back_heading(match[0]):
            raise RefusedError(f"{_short(match[0])} opens a part that has to go: leave it out")
        for n, word in enumerate(found.output):
            if match.start() <= word.start < match.end() and n not in found.found:
                raise RefusedError(
                    f"the heading {_short(match[0])} is not in the paper: mark up those that are "
                    "there, and invent none"
                )


def _check_removals(found: Compared, limits: MarkdownLimits) -> None:
    cut = [gone for gone in found.removals if gone.reason == "cut"]
    allowed = limits.cut_per_thousand * max(1.0, found.size / 1000)
    if sum(len(gone.words) for gone in cut) > allowed:
        raise RefusedError(
            f"these words were cut out of the running text: {_named(c.text for c in cut)}. Only "
            "what the task names may go"
        )
    body = found.size - _count(found.removals, "front", "back", "citation", "caption")
    lines = _count(found.removals, "lines")
    if lines > max(limits.left_out_free, limits.left_out * body):
        longest = max(
            (gone for gone in found.removals if gone.reason == "lines"),
            key=lambda gone: len(gone.words),
        )
        raise RefusedError(
            f"{lines} of the piece's {body} words of text were left out, for instance "
            f"{_short(longest.text)}. Give back the whole text"
        )


def _check_turning(found: Compared, limits: MarkdownLimits) -> None:
    cut = {word for gone in found.removals if gone.reason == "cut" for word in gone.words}
    turned = [w for w in limits.turning if w in cut or w in _added(found)]
    if turned:
        raise RefusedError(
            f"the running text gained or lost {_named(turned)}, which changes what is claimed: "
            "copy word for word"
        )


def _changes(output: str, found: Compared) -> Iterator[Change]:
    for gone in found.removals:
        yield Change(STEP, "removed", "", before=gone.text, note=gone.reason)
    for n, word in enumerate(found.output):
        if n not in found.found:
            yield Change(STEP, "added", "", after=output[word.start : word.end])
    for cited in _CITED.finditer(output):
        yield Change(STEP, "doubt", "", before=cited[0], note="looks like a citation that stayed")


def _sentences(output: str) -> Iterator[tuple[int, int]]:
    return (match.span() for match in _SENTENCE.finditer(output))


def _added(found: Compared) -> list[str]:
    return [word.form for n, word in enumerate(found.output) if n not in found.found]


def _count(removals: Iterable[Removal], *reasons: str) -> int:
    return sum(len(gone.words) for gone in removals if gone.reason in reasons)


def _named(texts: Iterable[str]) -> str:
    listed = list(dict.fromkeys(texts))
    more = " …" if len(listed) > SHOWN else ""
    return ", ".join(map(_short, listed[:SHOWN])) + more


def _short(text: str) -> str:
    text = " ".join(text.split())
    return f'"{text}"' if len(text) <= 80 else f'"{text[:80]}…"'
