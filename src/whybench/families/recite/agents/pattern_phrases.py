"""How the pattern agent cuts a text into sentences, and a sentence into names of quantities."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .pattern_rules import rules

WORDS = 10
"""A phrase of more words names no quantity."""


def sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a markdown text, without headings, tables and code."""
    short = rules().one["abbreviations"]
    for block in re.split(r"\n\s*\n|\n(?=\s*(?:[-*+•]|\d+[.)]|#|\|)\s)", text):
        if re.match(r"\s*(?:#|\||```|~~~|>?\s*[-=*_]{3,}\s*$)", block):
            block = block.partition("\n")[2] if block.lstrip().startswith("#") else ""
        block = re.sub(r"^\s*(?:[-*+•>]|\d+[.)])\s+", "", block)
        block = " ".join(re.sub(r"[*_`]{1,3}(?=\S)|(?<=\S)[*_`]{1,3}|\[\d+\]", "", block).split())
        start = 0
        for stop in re.finditer(r"[.!?…]+[\"'”’)\]]*(?= |$)", block):
            if not short.search(block[max(0, stop.start() - 8) : stop.start() + 1]):
                yield block[start : stop.end()].strip()
                start = stop.end()
        if block[start:].strip():
            yield block[start:].strip()


def phrase(text: str) -> str:
    """Cut a piece of a sentence down to the noun phrase that names a quantity, or to nothing."""
    rule = rules()
    text = rule.one["left_trim"].sub("", " " + text.strip(" ,;:.–—-\"'“”()")).strip()
    for _ in range(3):
        before = text
        text = rule.one["shell"].sub("", text + " ").strip()
        text = rule.one["modifier"].sub("", text)
        for cut in rule.cuts:
            text = cut.sub("", text).strip(" ,;:.()\"'“”")
        text = re.sub(r" \([^)]*\)?$|['’]s?$", "", text)
        if text == before:
            break
    if not re.search(r"[^\W\d_]|⟦", text) or rule.one["pronouns"].search(text):
        return ""
    return "" if len(text.split()) > WORDS else text


def items(text: str, subject: bool = False) -> list[str]:
    """Return the quantities that a piece of a sentence lists: its subject, or what follows."""
    rule = rules()
    text = rule.one["linkers"].sub(" and ", text.replace(",", ", ").replace("  ", " "))
    text = re.sub(r"\([^)]*\)", "", text.replace(", and ", " and ").replace(" ,", ","))
    if subject:
        text = rule.one["left_trim"].sub("", " " + text.strip(" ,")).strip(" ,")
        text = _after_lead_in(text)
    chunks = [chunk.strip() for chunk in text.split(", ") if chunk.strip(" ,")]
    while subject and len(chunks) > 1 and rule.one["openers"].match(chunks[0]):
        chunks.pop(0)
    kept = chunks[:1]
    for chunk in chunks[1:]:
        if rule.one["stop_items"].search(chunk):
            if not subject:
                break
            continue
        kept.append(chunk)
    if not re.search(r" (?:and|or) ", ", ".join(kept[-1:])):
        kept = kept[:1]
    found = []
    for number, piece in enumerate(
        piece for chunk in kept for piece in re.split(r" (?:and|or) ", chunk)
    ):
        if number and (rule.one["finite"].search(piece) or rule.one["stop_items"].search(piece)):
            piece = re.sub(r"^(?:by|on|to|of|from|in|with|through|both) ", "", piece)
            if rule.one["finite"].search(piece) or rule.one["stop_items"].search(piece):
                break
        found.append(phrase(piece))
    return [name for name in found if name]


def _after_lead_in(text: str) -> str:
    """Drop what stands before the subject proper, such as "the survey shows that"."""
    rule = rules()
    verbs = list(rule.one["finite"].finditer(text))
    if not verbs:
        return text
    rest = text[verbs[-1].end() :]
    words = list(rule.one["lead_in"].finditer(rest))
    if words:
        return rest[words[-1].end() :].strip(" ,")
    for mark in (", ", " and "):
        if rest.partition(mark)[2]:
            return rest.partition(mark)[2]
    return text[: verbs[0].start()].partition(",")[0] if "," in text[: verbs[0].start()] else ""
