"""How far each step may go: the bounds that code checks, kept in `limits.json`."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files


@dataclass(frozen=True, slots=True)
class PdfLimits:
    """Which files are taken for papers."""

    fewest: int
    """Characters below which a file is taken for pictures of pages."""
    pages: int
    """Pages that a file may have; what is longer is a book, and models are asked piece by piece."""
    characters: int
    """Characters that a file's text may have."""


@dataclass(frozen=True, slots=True)
class MarkdownLimits:
    """What a model may change when it turns a paper's text into Markdown."""

    chunk: int
    """Characters that are converted at once, at most."""
    longest: float
    """Times as long as the piece, and `SLACK` more characters, that its Markdown may be."""
    found: float
    """Share of the output's words that must stand in the input, in order."""
    sentence_found: float
    """A sentence of which less is found is a new one, and none may be."""
    stretch: int
    """Words that must match in a row before they count as found: stray ones match anything."""
    cut_per_thousand: float
    """Words of the running text that may go, of each 1,000; at least as many of a short text."""
    left_out: float
    """Share of a chunk's body that may go in whole lines without a reason that code can see."""
    left_out_free: int
    """So many words may always go in whole lines: page heads, labels of a figure."""
    bracket_words: int
    """Words that a citation in brackets may have."""
    turning: tuple[str, ...]
    """Words that turn a claim round: none may be added to the running text or cut from it."""


@dataclass(frozen=True, slots=True)
class NormaliseLimits:
    """What a model may change when it takes out what gives the diagram away."""

    rounds: int
    """Accepted replies before the loop ends without an empty one."""
    edit_share: float
    """Share of the text that one edit may take."""
    edit_free: int
    """Characters that one edit may always take: texts may be short."""
    all_share: float
    """Share of the first text that all edits together may take."""
    all_free: int
    """Characters that all edits together may always take."""
    longer: int
    """Characters by which a replacement may be longer than what it replaces."""
    new_words: int
    """Words of a replacement that need not stand in what it replaces, in their order."""
    all_new_share: float
    """Share of the first text's words that all replacements together may bring as new words."""
    all_new_free: int
    """New words that all replacements together may always bring."""
    turning_alone: int
    """A word that turns a claim round may not go in a stretch of so few words if its clause stays,
    or if other words come instead."""
    turning: tuple[str, ...]
    """Words that turn a claim round, as for Markdown: none may come, or go without its claim."""
    more_turning: tuple[str, ...]
    """Words that may not come either; they may go, for drawings are described with them."""


@dataclass(frozen=True, slots=True)
class SpellingLimits:
    """When two names may be two spellings of one."""

    name: int
    """Characters of the shortest name in which blanks or a letter are mended."""
    word: int
    """Letters of the shortest word in which a letter is mended."""
    wide_word: int
    """Letters of the shortest word in which a model may mend more than `distance` letters."""
    distance: int
    """Letters by which spellings may differ."""
    wide_distance: int
    """Letters by which they may differ in a long word if a model says so; listed as a doubt."""
    entries: int
    """Edges of the longest list that is read; the largest published graph has 205."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The bounds of all steps."""

    tries: int
    """Replies to one question before a step gives up."""
    pdf: PdfLimits
    markdown: MarkdownLimits
    normalise: NormaliseLimits
    spelling: SpellingLimits


@cache
def limits() -> Limits:
    """Return the bounds that hold unless others are given."""
    data = json.loads((files(__package__ or "") / "limits.json").read_text("utf-8"))
    turning = tuple(data["markdown"]["turning"])
    words = {"turning": turning, "more_turning": tuple(data["normalise"]["more_turning"])}
    return Limits(
        tries=data["tries"],
        pdf=PdfLimits(**data["pdf"]),
        markdown=MarkdownLimits(**data["markdown"] | {"turning": turning}),
        normalise=NormaliseLimits(**data["normalise"] | words),
        spelling=SpellingLimits(**data["spelling"]),
    )
