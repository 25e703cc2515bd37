"""Compose documents: blocks of text in paragraphs, parts and sections, with positions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from whybench.causal.seeds import Stream
from whybench.families.recite.world.diagram import Pair
from whybench.families.recite.world.distract import QUIET, ROLES, Distractors
from whybench.families.recite.world.frames import SLOT, furniture
from whybench.families.recite.world.plan import Graph, Statement
from whybench.families.recite.world.vocabulary import Concept
from whybench.families.recite.world.wording import Block, Deck, Speaker, joined, usual_length
from whybench.families.recite.world.world import Edge, Mention, Span, Status

SECTIONED = 2_500
"""A longer document has sections besides its parts."""

PART = 2_400
"""Approximate number of characters of a part of a document."""

MOST_PARTS = 24
PARAGRAPH = (3, 4, 5, 6)
"""Statements in a paragraph."""

OPENERS = 0.18
"""How often a statement begins with an opener."""

SCENERY = 13
"""Approximate number of characters of a place, an institute or a label."""

AROUND = 7
"""Approximate number of characters that spaces, openers and headings add to a block."""

STATUS: dict[str, Status] = {
    "stated": "stated",
    "causes": "stated",
    "effects": "stated",
    "mutual": "stated",
    "implied": "implied",
}
"""How a role gives its edges, if not derivable."""

DENIED: dict[str, tuple[tuple[str, str], ...]] = {
    "denied": (("cause", "effect"),),
    "correlated": (("a", "b"), ("b", "a")),
    "through": (("first", "last"),),
    "except": (("exception", "effect"),),
}
"""Role → slots of the causes and effects whose direct effect it denies."""

SECTIONS = ("summary", "setting", "method", "comparison", "open", "closing")
"""Sections besides the parts: three before them, three behind."""

STRAYS = 0.08
"""Share of statements in any of these sections, so that sections do not reveal roles."""

ASIDE = {
    "causes": ("summary", "closing"),
    "effects": ("summary", "closing"),
    "plain": ("summary", "setting", "method", "closing"),
    "mention": ("setting", "method"),
    "elsewhere": ("comparison",),
    "hedged": ("open",),
}
"""Sections besides the parts that may contain statements of a role."""


@dataclass(frozen=True, slots=True)
class Filling:
    """How much text without edges a document contains."""

    length: int
    """Characters that the document should have."""
    distractors: float
    """Share of distractors among such statements."""


@dataclass(slots=True)
class _Page:
    """A growing text that records the positions of its blocks."""

    pieces: list[str] = field(default_factory=list)
    at: int = 0
    placed: list[tuple[Block, Span]] = field(default_factory=list)

    def write(self, text: str) -> None:
        self.pieces.append(text)
        self.at += len(text)

    def place(self, block: Block, text: str) -> None:
        self.placed.append((block, (self.at, self.at + len(text))))
        self.write(text)


@dataclass(frozen=True, slots=True)
class Document:
    """A text with its title, the gold edges with their evidence, and what is denied."""

    title: str
    text: str
    edges: tuple[Edge, ...]
    denied: frozenset[Pair]
    """Pairs of which it says that the first does not affect the second directly."""


def compose(
    stream: Stream,
    graph: Graph,
    cast: Sequence[Concept],
    spoken: Sequence[Mention],
    statements: Sequence[Statement],
    filling: Filling,
    held_out: bool,
) -> Document:
    """Write a document that makes these statements, and others until it is long enough.

    Names are chosen last, in the order of the text, so that nothing depends on which statement
    was planned first.
    """
    deck = Deck(stream, held_out)
    lengths = [usual_length(*pair) for pair in zip(cast, spoken, strict=True)]
    blocks = [_drawn(deck, statement) for statement in statements]
    voiced = [v for v in range(len(cast)) if spoken[v] != "absent"]
    distractors = Distractors(stream, graph, voiced)
    left = filling.length - sum(_length(block, lengths) for block in blocks)
    blocks += _fillers(stream, deck, distractors, filling.distractors, left, lengths)
    place = str(stream.choice(furniture()["places"]))
    title = _title(stream, cast[: graph.n], place)
    sections = _sections(stream, graph, cast, blocks, filling.length)
    page = _Page()
    page.write(f"# {title}\n")
    speaker = Speaker(stream, cast, spoken, place)
    for heading, held in sections:
        if heading:
            page.write(f"\n## {heading}\n")
        _paragraphs(stream, page, speaker, held)
    denied = frozenset(pair for block in blocks for pair in _denied(block.statement))
    return Document(title, "".join(page.pieces), _evidence(page), denied)


def _denied(statement: Statement) -> list[Pair]:
    """Return the direct effects that a statement rules out."""
    slots = DENIED.get(statement.role, ())
    return [(statement.fills[a][0], statement.fills[b][0]) for a, b in slots]


def _drawn(deck: Deck, statement: Statement) -> Block:
    block = deck.draw(statement)
    if block is None:
        raise ValueError(
            f"There are too few frames of role {statement.role} for this number of edges. Ask for "
            "fewer nodes, or for other shares of stated, implied and derivable edges."
        )
    return block


def _length(block: Block, lengths: Sequence[float]) -> float:
    """Return the approximate length of a block."""
    named = [lengths[v] for fill in block.statement.fills.values() for v in fill]
    scenery = len(block.frame.slots) - len(block.statement.fills)
    words = len(SLOT.sub("", block.frame.text)) + SCENERY * scenery
    return words + sum(named) + 2 * max(0, len(named) - 2) + AROUND


def _fillers(
    stream: Stream,
    deck: Deck,
    distractors: Distractors,
    share: float,
    left: float,
    lengths: Sequence[float],
) -> list[Block]:
    """Return blocks that give no edge, until nothing is left to fill or to say."""
    made: list[Block] = []
    tempting = list(ROLES) if share > 0 else []
    quiet = list(QUIET) if share < 1 else []
    while left > 0 and (tempting or quiet):
        roles = tempting if tempting and (stream.uniform() < share or not quiet) else quiet
        role = stream.choice(roles)
        statement = distractors.draw(role)
        block = None if statement is None else deck.draw(statement)
        if block is None:
            roles.remove(role)
            continue
        made.append(block)
        left -= _length(block, lengths)
    return made


def _sections(
    stream: Stream,
    graph: Graph,
    cast: Sequence[Concept],
    blocks: Sequence[Block],
    length: int,
) -> list[tuple[str, list[Block]]]:
    """Return headings with their blocks."""
    count = max(1, min(MOST_PARTS, length // PART))
    part_of = _parts(stream, graph, count)
    parts: list[list[Block]] = [[] for _ in range(count)]
    aside: dict[str, list[Block]] = {}
    for block in blocks:
        sections = ASIDE.get(block.frame.role, ())
        chance = stream.uniform()
        if length >= SECTIONED and chance < STRAYS:
            aside.setdefault(stream.choice(SECTIONS), []).append(block)
        elif length >= SECTIONED and sections and chance < 0.5:
            aside.setdefault(stream.choice(sections), []).append(block)
        else:
            parts[_part(stream, block.statement, part_of, count)].append(block)
    headings = furniture()["headings"]
    subjects = [_subject(stream, cast, part_of, part) for part in range(count)]
    named = stream.sample(headings["part"], min(count, len(headings["part"])))
    middle = [
        (named[k].format(subject=subjects[k]) if length >= PART else "", stream.shuffled(held))
        for k, held in enumerate(parts)
        if held
    ]

    def shown(*names: str) -> list[tuple[str, list[Block]]]:
        return [
            (str(stream.choice(headings[name])), stream.shuffled(aside[name]))
            for name in names
            if name in aside
        ]

    return [*shown(*SECTIONS[:3]), *middle, *shown(*SECTIONS[3:])]


def _parts(stream: Stream, graph: Graph, count: int) -> list[int]:
    """Divide the nodes into parts, keeping neighbours together as far as possible."""
    neighbours: dict[int, list[int]] = {}
    for a, b in graph.edge_order:
        neighbours.setdefault(a, []).append(b)
        neighbours.setdefault(b, []).append(a)
    order: list[int] = []
    waiting = [stream.below(graph.n)]
    seen = set(waiting)
    while waiting:
        node = waiting.pop(0)
        order.append(node)
        fresh = [v for v in neighbours[node] if v not in seen]
        for v in fresh:
            if v not in seen:
                seen.add(v)
                waiting.append(v)
    found = [0] * graph.n
    for place, node in enumerate(order):
        found[node] = place * count // graph.n
    return found


def _part(stream: Stream, statement: Statement, part_of: Sequence[int], count: int) -> int:
    """Return the part of a statement; definitions may be anywhere."""
    if statement.role == "define" or not statement.fills:
        return stream.below(count)
    return part_of[statement.anchor] if statement.anchor < len(part_of) else stream.below(count)


def _subject(stream: Stream, cast: Sequence[Concept], part_of: Sequence[int], part: int) -> str:
    kinds = sorted({cast[v].kind for v, p in enumerate(part_of) if p == part})
    return joined(stream.sample(kinds, min(2, len(kinds)))) if kinds else "other matters"


def _title(stream: Stream, concepts: Sequence[Concept], place: str) -> str:
    kinds = sorted({concept.kind for concept in concepts})
    subject = joined(stream.sample(kinds, min(2, len(kinds))))
    found = str(stream.choice(furniture()["titles"])).format(subject=subject, place=place)
    return found[0].upper() + found[1:]


def _paragraphs(stream: Stream, page: _Page, speaker: Speaker, blocks: Sequence[Block]) -> None:
    left = list(blocks)
    openers = furniture()["openers"]
    while left:
        size = stream.choice(PARAGRAPH)
        page.write("\n")
        for number, block in enumerate(left[:size]):
            if number:
                page.write(" ")
            text = speaker.say(block)
            if stream.uniform() < OPENERS and not block.frame.text.startswith("{place}"):
                text = f"{stream.choice(openers)} {text[0].lower()}{text[1:]}"
            page.place(block, text)
        page.write("\n")
        left = left[size:]


def _evidence(page: _Page) -> tuple[Edge, ...]:
    """Return the gold edges with the passages that give them; several give a labelled one."""
    found: dict[Pair, list[tuple[Block, Span]]] = {}
    for block, span in page.placed:
        for pair in block.statement.edges:
            found.setdefault(pair, []).append((block, span))
    return tuple(
        Edge(
            *pair,
            STATUS.get(held[0][0].frame.role, "derivable"),
            tuple(span for _, span in held),
            tuple(block.frame.id for block, _ in held),
            any(block.frame.held_out for block, _ in held),
        )
        for pair, held in sorted(found.items())
    )
