"""Write a planned document: choose productions, mention concepts, and record positions."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from whybench.causal.seeds import Stream
from whybench.families.recite.world.drawing import Link, System
from whybench.families.recite.world.grammar import (
    Part,
    Production,
    Slot,
    Word,
    needs,
    productions,
    variables,
    words,
)
from whybench.families.recite.world.knowledge import Concept, scenery
from whybench.families.recite.world.say import Paragraph, Say, Section, Table, joined
from whybench.families.recite.world.world import Span

LISTS = {"cs", "es", "ms"}
"""Slots that hold several concepts."""


ENDS_HEAD = (
    "that|which|who|of|in|to|at|by|with|on|for|from|per|among|between|relative|after|under|within|"
    "during|above|below|over|against|than|as|and|without"
)
"""Words that end the head of a noun phrase."""


def number_of(phrase: str) -> str:
    """Return the number of a phrase, by the ending of its head: `s` or `p`."""
    if phrase.startswith(("how ", "what ")):
        return "s"
    head = re.split(rf" (?:{ENDS_HEAD})\b", phrase)[0]
    plural = re.search(r"(?:[^sui]s|ies|sses|iums)$|\b(?:people|children|women)$", head)
    return "p" if plural else "s"


@dataclass(slots=True)
class Speaker:
    """Mentions concepts as papers do: defined once, then abbreviated or referred to."""

    stream: Stream
    concepts: Sequence[Concept]
    described: frozenset[int]
    """Concepts that the text never names."""
    shortened: frozenset[int]
    """Concepts that the text abbreviates."""
    referred: frozenset[int]
    """Concepts with a reference that cannot be taken for another one."""
    seen: set[int] = field(default_factory=set)
    number: dict[int, str] = field(default_factory=dict)
    """The grammatical number of each concept's last mention."""

    def mention(self, v: int, again: bool = False, bracket: bool = False) -> str:
        """Return the next mention of a concept; no abbreviation in brackets before a bracket."""
        concept, text = self.concepts[v], self._mention(v, again, bracket)
        own = text not in (concept.described, concept.reference)
        self.number[v] = concept.number if own else number_of(text)
        return text

    def _mention(self, v: int, again: bool, bracket: bool) -> str:
        concept = self.concepts[v]
        if v in self.described:
            return concept.described
        short = concept.short if v in self.shortened else ""
        if v not in self.seen:
            if bracket:
                return concept.full
            self.seen.add(v)
            return f"{concept.full} ({short})" if short else concept.full
        if again:
            return short or (concept.reference if v in self.referred else concept.full)
        draw = self.stream.uniform()
        if draw < 0.35 and short:
            return short
        return concept.reference if 0.35 <= draw < 0.55 and v in self.referred else concept.full

    def row(self, v: int) -> str:
        """Return a concept as a row of a table has it."""
        return self.concepts[v].described if v in self.described else self.concepts[v].name


@dataclass(slots=True)
class Written:
    """A growing text, with the positions of its sentences."""

    pieces: list[str] = field(default_factory=list)
    at: int = 0
    sentences: list[tuple[Say, Span, Production]] = field(default_factory=list)

    def write(self, text: str) -> None:
        """Add a text."""
        self.pieces.append(text)
        self.at += len(text)


@dataclass(slots=True)
class Composer:
    """Writes the sections of a document."""

    stream: Stream
    system: System
    speaker: Speaker
    phrases: Mapping[str, str]
    """Phrases that every sentence may use."""
    held_out: frozenset[bool]
    """Which productions it may use: held out or not."""
    page: Written = field(default_factory=Written)
    used: Counter[str] = field(default_factory=Counter)
    tables: int = 0
    studies: dict[str, tuple[str, int]] = field(default_factory=dict)

    def document(self, sections: Sequence[Section]) -> str:
        """Write all sections; return the title."""
        title = self._sentence(Say("title"), None)[0]
        self.page.write(f"# {title}\n")
        in_results = False
        for section in sections:
            deep = section.title.startswith("3.")
            if deep and not in_results:
                self.page.write("\n## 3 Results\n")
                in_results = True
            self.page.write(f"\n{'###' if deep else '##'} {section.title}\n")
            self._paragraphs(section.paragraphs)
        return title

    def appendix(self, parts: Iterable[Sequence[Paragraph]], length: int) -> None:
        """Write parts of an appendix until the text has a length."""
        for k, part in enumerate(parts):
            if self.page.at >= length:
                return
            if not k:
                self.page.write("\n## Appendix\n")
            self._paragraphs(part)

    def _paragraphs(self, paragraphs: Iterable[Paragraph]) -> None:
        for paragraph in paragraphs:
            self.page.write("\n")
            if isinstance(paragraph, Table):
                self._table(paragraph)
            else:
                self._paragraph(paragraph)
            self.page.write("\n")

    def _paragraph(self, said: Sequence[Say]) -> None:
        for k, say in enumerate(said):
            text, production = self._sentence(say, said[k + 1] if k + 1 < len(said) else None)
            if k:
                self.page.write(" ")
            start = self.page.at
            self.page.write(text)
            self.page.sentences.append((say, (start, self.page.at), production))

    def _table(self, table: Table) -> None:
        self.tables += 1
        about = "" if table.about is None else f" {self.speaker.row(table.about)}"
        lines = [f"Table {self.tables}. {table.caption}{about}", ""]
        numbered = table.caption == "Correlations"
        lines.append("| " + " | ".join(str(cell) for cell in table.head) + " |")
        lines.append("|" + "---|" * len(table.head))
        for k, row in enumerate(table.rows, 1):
            cells = [self._cell(cell) for cell in row]
            if numbered:
                cells[0] = f"({k}) {cells[0]}"
            lines.append("| " + " | ".join(cells) + " |")
        self.page.write("\n".join(lines))

    def _cell(self, cell: str | int) -> str:
        if isinstance(cell, int):
            return self.speaker.row(cell)
        return "{} ({})".format(*self.studies[cell]) if cell in self.studies else cell

    # Sentences.

    def _sentence(self, say: Say, after: Say | None) -> tuple[str, Production]:
        slots = dict(self.phrases) | dict(say.phrases)
        if "#t" in slots:
            slots["#t"] = str(self.tables + 1)
        fitting = [
            one for one in productions()[say.role]
            if one.held_out in self.held_out and self._fits(one, say, slots, after)
        ]  # fmt: skip
        if not fitting:
            raise ValueError(f"no sentence for {say} before {after}")
        if "@" in say.phrases:
            production = fitting[int(say.phrases["@"]) % len(fitting)]
        else:
            fewest = min(self.used[one.id] for one in fitting)
            production = self.stream.choice([p for p in fitting if self.used[p.id] == fewest])
        self.used[production.id] += 1
        signs = self._signs(production, say)
        text = "".join(self._parts(production.parts, say, slots, signs))
        text = " ".join(text.split())
        if say.tag:
            text = f"{text[:-1]} ({say.tag})."
        return text[0].upper() + text[1:], production

    def _fits(self, one: Production, say: Say, slots: Mapping[str, str], after: Say | None) -> bool:
        known = {"cite", "cited", "cites", *slots, *say.concepts}
        if not needs(one.parts) <= known:
            return False
        given = {name.strip("!") for name in say.signs}
        if not variables(one.parts) - {"x"} <= given:
            return False
        if after is None or not after.refers:
            return True
        order = [say.concepts[slot.name] for slot in one.parts
                 if isinstance(slot, Slot) and slot.name in say.concepts]  # fmt: skip
        if after.role == "former":
            return bool(order) and order[0] == after.refers[0] != order[-1]
        if after.role == "both":
            return tuple(order) == after.refers
        return bool(order) and order[-1] == after.refers[0]

    def _signs(self, production: Production, say: Say) -> dict[str, int]:
        """Choose polarities whose product is the sign that is told."""
        found = {name.strip("!"): sign for name, sign in say.signs.items()}
        if say.role == "absent":  # a document says only once whether a quantity rose or fell
            key = self.system.concepts[(*say.links, *say.denied)[0][0]].key
            found["x"] = 1 if sum(map(ord, key)) % 2 else -1
        elif "x" in variables(production.parts) and "!x" not in say.signs:
            found["x"] = 1 if self.stream.below(2) else -1
        if "x" in found and "y" in found and not {"!x", "!y"} & say.signs.keys():
            found["y"] *= found["x"]
        return found

    def _parts(
        self, parts: Sequence[Part], say: Say, slots: Mapping[str, str], signs: Mapping[str, int]
    ) -> Iterator[str]:
        for part, after in zip(parts, (*parts[1:], ""), strict=False):
            if isinstance(part, str):
                yield part
            elif isinstance(part, Slot):
                bracket = isinstance(after, str) and after.startswith(" (")
                yield self._slot(part, say, slots, bracket)
            elif isinstance(part, Word):
                yield self._word(part, say, signs)
            else:
                known = {"cite", "cited", *slots, *say.concepts}
                open_ = [option for option in part.options if needs(option) <= known]
                yield from self._parts(self.stream.choice(open_), say, slots, signs)

    def _slot(self, slot: Slot, say: Say, slots: Mapping[str, str], bracket: bool) -> str:
        held = say.concepts.get(slot.name)
        if isinstance(held, int):
            return self.speaker.mention(held, slot.again, bracket)
        if held is not None:
            return joined(self.speaker.mention(v) for v in held)
        if slot.name in ("cite", "cited"):
            names, year = self._study(slots.get("study"))
            return f"{names} ({year})" if slot.name == "cite" else f"({names}, {year})"
        if slot.name == "cites":
            return joined("{} ({})".format(*self._study(key)) for key in say.tags)
        if slot.name == "other":
            return self.stream.choice(scenery("other", self.system.field.name))
        return slots[slot.name]

    def _study(self, key: str | None) -> tuple[str, int]:
        """Return an invented study; the same one for the same key."""
        if key is not None and key in self.studies:
            return self.studies[key]
        while True:
            first, second = self.stream.sample(scenery("author", self.system.field.name), 2)
            names = f"{first} et al." if self.stream.uniform() < 0.3 else f"{first} and {second}"
            study = names, 1996 + self.stream.below(28)
            if study not in self.studies.values():
                self.studies[key or f"other {len(self.studies)}"] = study
                return study

    def _word(self, word: Word, say: Say, signs: Mapping[str, int]) -> str:
        number = word.agrees
        if number not in ("s", "p"):
            held = say.concepts[number]
            number = self.speaker.number[held] if isinstance(held, int) else "p"
        polarity = signs.get(word.polarity, 0)
        fitting = [
            lemma for lemma in words()[word.kind]
            if not polarity or word.polarity == "-" or lemma.polarity == polarity
        ]  # fmt: skip
        return self.stream.choice(fitting).forms[word.form, number]


def evidence(page: Written) -> tuple[dict[Link, list[Span]], dict[Link, list[str]], set[Link]]:
    """Return for each arrow its passages and productions, and the pairs that are denied."""
    spans: dict[Link, list[Span]] = {}
    frames: dict[Link, list[str]] = {}
    denied: set[Link] = set()
    labels = {say.label: span for say, span, _ in page.sentences if say.role == "define"}
    decided = {
        tag: span for say, span, _ in page.sentences if say.role == "supported" for tag in say.tags
    }
    for k, (say, span, production) in enumerate(page.sentences):
        denied.update(say.denied)
        first = page.sentences[k - say.with_last][1][0]
        for link in say.links:
            own = spans.setdefault(link, [])
            if say.label:
                own.append(labels[say.label])
            own.append((first, span[1]))
            if say.tag in decided:
                own.append(decided[say.tag])
            frames.setdefault(link, []).append(production.id)
    return spans, frames, denied
