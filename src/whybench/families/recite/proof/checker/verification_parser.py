"""A second reader of generated documents, for `check`: regular expressions instead of a parser.

It shares no code with the generator or the exact reader. It loads the tables itself, replaces every
known phrase by a mark, and matches whole sentences with expressions made from the grammar. What a
role gives or denies is a table here.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from dataclasses import field as made_by
from functools import cache, lru_cache
from importlib.resources import files

Pair = tuple[str, str]
Rows = list[dict[str, str]]

GIVES = {
    "claim": "a>b", "hypothesis": "a>b", "reasoned": "a>b", "because": "a>b", "cited": "a>b",
    "overturn": "a>b", "revised": "a>b", "absent": "a>b", "chain": "a>b b>c", "mutual": "a>b b>a",
    "causes": "cs>b",
    "effects": "a>es", "common": "c>a c>b", "through": "a>b b>c", "this": "LAST>b",
    "latter": "LAST>b",
    "former": "FIRST>b", "both": "ALL>b", "response": "TRIED>b", "acts": "GROUP>b",
    "receives": "a>GROUP", "except": "REST>b",
}  # fmt: skip
"""Role → causes and effects by slot; capitals stand for what other sentences or lists name."""
DENIES = {
    "null": "a>b", "route": "a>b b>a", "through": "a>c",
    "except": "d>b",
}  # fmt: skip
DECIDES = {"supported": True, "rejected": False, "retracted": False, "unreplicated": False}
"""Role → whether the numbers and studies in it hold."""
LEVELS = {
    "implied": {"this", "latter", "former", "both", "response"},
    "derivable": {"acts", "receives", "except", "through", "absent"},
}
"""Level → roles; all others state their arrows."""

_HOLE = "\ue000"
"""Begins a mark: the hole, the number of the phrase, the hole."""
_MARK = rf"{_HOLE}(\d+){_HOLE}"
_LISTED = rf"{_HOLE}\d+{_HOLE}(?:(?:, | and ){_HOLE}\d+{_HOLE})+"
_NUMBERED = r" \(([HR]\d+)\)\.$"
_NUMBER = r"−?\d+(?:\.\d+)?"


def table(name: str) -> Rows:
    """Read a table of the family's world."""
    path = files("whybench.families.recite.world") / name
    lines = path.read_text("utf-8").splitlines()
    return list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))


@dataclass(frozen=True, slots=True)
class Heard:
    """A sentence: what it does, the concepts in its slots, its signs and numbers."""

    role: str
    held_out: bool
    slots: Mapping[str, tuple[str, ...]]
    signs: Mapping[str, int]
    numbers: Mapping[str, str]
    named: tuple[str, ...]
    span: tuple[int, int]
    tag: str = ""

    @property
    def called(self) -> set[str]:
        """Its number, or the studies that it cites."""
        cited = {study_of(text) for slot in ("cite", "cited") for text in self.slots.get(slot, ())}
        return {self.tag} if self.tag else cited if self.role == "cited" else set()


@dataclass(slots=True)
class Reread:
    """What a text says, by the second reader."""

    field: str
    sentences: list[list[Heard]] = made_by(default_factory=list)
    """By paragraph."""
    unread: list[str] = made_by(default_factory=list)
    forms: dict[str, list[str]] = made_by(default_factory=dict)
    """Concept → its mentions, in order."""
    given: dict[Pair, list[Heard]] = made_by(default_factory=dict)
    denied: set[Pair] = made_by(default_factory=set)
    refused: set[tuple[int, int]] = made_by(default_factory=set)
    """Where sentences are that others reject."""

    @property
    def arrows(self) -> dict[Pair, list[Heard]]:
        """Pairs that are given and not denied."""
        return {pair: own for pair, own in self.given.items() if pair not in self.denied}


@dataclass(frozen=True, slots=True)
class _Rule:
    role: str
    held_out: bool
    pattern: re.Pattern[str]
    groups: Mapping[str, str]
    """Group → slot; a slot can occur twice."""
    words: Mapping[str, tuple[str, Mapping[str, int]]]
    """Group → polarity variable and the polarity of each form."""


@cache
def _words() -> dict[tuple[str, str], dict[str, int]]:
    """Return class and form → text → polarity."""
    found: dict[tuple[str, str], dict[str, int]] = {}
    for row in table("grammar/words.tsv"):
        polarity = {"+": 1, "-": -1}.get(row["polarity"], 0)
        forms = row["forms"].split("|")
        if len(forms) == 1:
            found.setdefault((row["class"], "-"), {})[forms[0]] = polarity
            continue
        base, present, past, participle, gerund = forms
        for form, texts in {
            "inf": [base], "pres": [base, *present.split("/")], "past": past.split("/"),
            "perf": [f"has {participle}", f"have {participle}"], "part": [participle],
            "ing": [gerund],
        }.items():  # fmt: skip
            for text in texts:
                found.setdefault((row["class"], form), {})[text] = polarity
    return found


@cache
def _rules() -> tuple[_Rule, ...]:
    return tuple(
        _rule(row["role"], row["held"] == "h", row["text"])
        for file in ("causal", "other", "plain")
        for row in table(f"grammar/{file}.tsv")
    )


def _rule(role: str, held_out: bool, text: str) -> _Rule:
    groups: dict[str, str] = {}
    words: dict[str, tuple[str, Mapping[str, int]]] = {}
    pieces = []
    for piece in re.findall(r"\{[^}]*\}|<[^>]*>|[\[\]|]|[^\[\]|{}<]+", text):
        group = f"g{len(groups) + len(words)}"
        if piece in "[|]":
            pieces.append({"[": "(?:", "|": "|", "]": ")"}[piece])
        elif piece[0] == "<":
            kind, form, variable, *_ = piece[1:-1].split(".")
            known = _words()[kind, form]
            words[group] = variable, known
            longest = sorted(known, key=len, reverse=True)
            pieces.append(f"(?P<{group}>{'|'.join(map(re.escape, longest))})")
        elif piece[0] == "{":
            slot = piece[1:-1].strip("'!")
            groups[group] = slot
            pieces.append(f"(?P<{group}>{_filling(slot)})")
        else:
            pieces.append(re.escape(piece).replace("\\ ", " *"))
    return _Rule(role, held_out, re.compile("".join(pieces), re.IGNORECASE), groups, words)


def _filling(slot: str) -> str:
    if slot in ("cs", "es", "ms"):
        return _LISTED
    if slot == "tags":
        return r"[HR]\d+(?:(?:, | and )[HR]\d+)*"
    if slot == "cites":
        return rf"{_HOLE}\d+{_HOLE}(?:(?:, | and ){_HOLE}\d+{_HOLE})*"
    if slot == "#p":
        return rf"[=<] {_NUMBER}"
    if slot.startswith("#"):
        return _NUMBER
    if slot in ("delay", "n", "k"):
        return rf"[a-z]+|{_HOLE}\d+{_HOLE}"
    return rf"{_HOLE}\d+{_HOLE}"


@dataclass(frozen=True, slots=True)
class _Phrases:
    """The phrases of a field, and the expression that finds the longest ones."""

    found: re.Pattern[str]
    kinds: Mapping[str, tuple[str, str]]
    """Phrase in lower case → kind of slot, and the concept's name."""


@cache
def _phrases(name: str) -> _Phrases:
    kinds: dict[str, tuple[str, str]] = {}
    concepts = table(f"fields/{name}/concepts.tsv")
    scenery = [r for r in table("grammar/scenery.tsv") if r["field"] in (name, "-")]
    articled = {r["text"] for r in scenery if r["kind"] == "the"}
    for row in scenery:
        if row["kind"] in ("place", "other", "units", "periods"):
            kinds[row["text"]] = row["kind"], ""
    for row in concepts:
        topic = row["cluster"]
        kinds[f"the {topic}" if topic in articled else topic] = "topic", ""
    for row in table(f"fields/{name}/pairs.tsv"):
        if row["mechanism"] != "-":
            kinds[row["mechanism"]] = "why", ""
    for row in concepts:
        whole = row["name"] if row["article"] == "-" else f"{row['article']} {row['name']}"
        short = [] if row["short"] == "-" else [row["short"], f"{whole} ({row['short']})"]
        for form in (whole, row["reference"], row["described"], *short):
            kinds[form] = "concept", row["name"]
    units = sorted(
        {re.escape(row["unit"].split(" (")[0]) for row in concepts}, key=len, reverse=True
    )
    names = "|".join(r["text"] for r in scenery if r["kind"] == "author")
    team = rf"(?:{names})(?: and (?:{names})| et al\.)"
    texts = sorted(kinds, key=len, reverse=True)
    capital = [_any_case(text) for text in texts]
    expression = (
        rf"(?P<unit>(?<=\d )(?:{'|'.join(units)})(?!\w))"
        rf"|(?P<cite>{team} \(\d{{4}}\)|\({team}, \d{{4}}\))"
        rf"|\b(?P<label>{'|'.join(_labels())})(?= factors)"
        rf"|(?<![\w-])(?P<phrase>{'|'.join(capital)})(?![\w-])"
    )
    return _Phrases(re.compile(expression), {text.lower(): kind for text, kind in kinds.items()})


def _any_case(text: str) -> str:
    first = text[0]
    head = f"[{first.lower()}{first.upper()}]" if first.isalpha() else re.escape(first)
    return head + re.escape(text[1:])


@cache
def _labels() -> tuple[str, ...]:
    return tuple(row["text"] for row in table("grammar/scenery.tsv") if row["kind"] == "label")


@lru_cache(maxsize=32)
def reread(text: str, name: str) -> Reread:
    """Read a text in a field."""
    found = Reread(name)
    for line in re.finditer(r"[^\n]+", text):
        if line[0][0] not in "#|" and not re.match(r"Table \d+\. ", line[0]):
            found.sentences.append(list(_line(found, line[0], line.start())))
    groups = {
        label: one.slots["ms"]
        for paragraph in found.sentences for one in paragraph if one.role == "define"
        for label in one.slots["label"]
    }  # fmt: skip
    decided = {
        name: holds
        for paragraph in found.sentences for one in paragraph
        if (holds := DECIDES.get(one.role)) is not None
        for name in (*one.slots.get("tags", ()), *map(study_of, one.slots.get("cites", ())))
    }  # fmt: skip
    decided |= tabled(text)[0]
    for paragraph in found.sentences:
        for before, one in zip([None, *paragraph], paragraph, strict=False):
            pairs = list(_pairs(GIVES.get(one.role, ""), one, before, groups))
            if not all(decided.get(name, not one.tag.startswith("H")) for name in one.called):
                found.refused.add(one.span)
                found.denied.update(pairs)
                pairs = []
            for pair in pairs:
                found.given.setdefault(pair, []).append(one)
            found.denied.update(_pairs(DENIES.get(one.role, ""), one, before, groups))
    return found


def tabled(text: str) -> tuple[dict[str, bool], list[str]]:
    """Return what tables decide: number or study → whether it holds; and the rows that do so."""
    decided: dict[str, bool] = {}
    rows = []
    for line in text.splitlines():
        cells = [cell.strip() for cell in line[1:-1].split("|")]
        sign = _words()["verdict", "-"].get(cells[-1])
        if line.startswith("|") and len(cells) == 2 and sign:
            decided[label_of(cells[0])] = sign > 0
            rows.append(line)
    return decided, rows


def label_of(cell: str) -> str:
    """Return the number or the study in a cell, as sentences have it."""
    return cell if re.fullmatch(r"[HR]\d+", cell) else study_of(cell.lower())


def study_of(text: str) -> str:
    """Return a citation without punctuation."""
    return " ".join(re.findall(r"\w+", text))


def _line(found: Reread, line: str, offset: int) -> Iterator[Heard]:
    """Yield the sentences of a line; note those that match no expression."""
    phrases = _phrases(found.field)
    marked, held, last = [], [], 0
    for match in phrases.found.finditer(line):
        kind = match.lastgroup or ""
        value = match[0].lower()
        if kind == "phrase":
            kind, name = phrases.kinds[value]
            value = name or value
        held.append((kind, value, match.end() - match.start()))
        if kind == "concept":
            found.forms.setdefault(value, []).append(match[0])
        marked += [line[last : match.start()], f"{_HOLE}{len(held) - 1}{_HOLE}"]
        last = match.end()
    text = "".join([*marked, line[last:]])
    at = offset
    for sentence in re.findall(r"\s*[^.?]*(?:\.\d[^.?]*)*[.?]|\s*\S[^.?]*$", text):
        own = [int(number) for number in re.findall(_MARK, sentence)]
        grown = sum(held[k][2] - len(f"{_HOLE}{k}{_HOLE}") for k in own)
        start = at + len(sentence) - len(sentence.lstrip())
        at += len(sentence) + grown
        heard = _matched(sentence.strip(), held, (start, at))
        if isinstance(heard, str):
            found.unread.append(heard)
        else:
            yield heard


@lru_cache(maxsize=50_000)
def _matches(skeleton: str) -> tuple[tuple[_Rule, re.Match[str]], ...]:
    """Return the rules that match a sentence whose marks are numbered from 0."""
    tried = ((rule, rule.pattern.fullmatch(skeleton)) for rule in _rules())
    return tuple((rule, match) for rule, match in tried if match)


def _matched(
    sentence: str, held: Sequence[tuple[str, str, int]], span: tuple[int, int]
) -> Heard | str:
    sentence, tag = re.sub(_NUMBERED, ".", sentence), re.search(_NUMBERED, sentence)
    order = [int(number) for number in re.findall(_MARK, sentence)]
    number = iter(range(len(order)))
    skeleton = re.sub(_MARK, lambda _: f"{_HOLE}{next(number)}{_HOLE}", sentence)
    named = tuple(held[k][1] for k in order if held[k][0] == "concept")
    meanings: dict[tuple[object, ...], Heard] = {}
    for rule, match in _matches(skeleton):
        heard = _heard(rule, match, [held[k][:2] for k in order], named, span)
        if heard is not None:
            key = rule.role, tuple(sorted(heard.slots.items())), tuple(sorted(heard.signs.items()))
            meanings[key] = replace(heard, tag=tag[1]) if tag else heard
    return next(iter(meanings.values())) if len(meanings) == 1 else sentence


def _heard(
    rule: _Rule,
    match: re.Match[str],
    held: Sequence[tuple[str, str]],
    named: tuple[str, ...],
    span: tuple[int, int],
) -> Heard | None:
    """Fill the slots of a rule; None if a phrase does not fit or two fillings differ."""
    slots: dict[str, tuple[str, ...]] = {}
    numbers: dict[str, str] = {}
    signs: dict[str, int] = {}
    for group, slot in rule.groups.items():
        text = match[group]
        if text is None:
            continue
        marks = [held[int(k)] for k in re.findall(_MARK, text)]
        if slot == "tags":
            slots[slot] = tuple(re.findall(r"\w\d+", text))
        elif slot.startswith("#"):
            numbers[slot] = text
        elif marks:
            if any(not _fits(slot, kind) for kind, _ in marks):
                return None
            values = tuple(value for _, value in marks)
            if slots.setdefault(slot, values) != values:
                return None
    for group, (variable, known) in rule.words.items():
        text = match[group]
        if text is not None and variable != "-":
            sign = known[text.lower()]
            if signs.setdefault(variable, sign) != sign:
                return None
    return Heard(rule.role, rule.held_out, slots, signs, numbers, named, span)


def _fits(slot: str, kind: str) -> bool:
    own = {"unit_a": "unit", "unit_b": "unit", "cluster": "topic"}
    own |= {"cited": "cite", "cites": "cite"}
    if slot in ("a", "b", "c", "d", "cs", "es", "ms"):
        return kind == "concept"
    if slot in ("periods", "delay"):
        return kind in ("periods", "unit")
    return kind == own.get(slot, slot)


def _pairs(
    rule: str, one: Heard, before: Heard | None, groups: Mapping[str, tuple[str, ...]]
) -> Iterator[Pair]:
    """Yield the pairs that a rule such as `a>b b>c` gives for a sentence."""
    earlier = before.named if before else ()
    slots = {
        **one.slots,
        "LAST": earlier[-1:],
        "FIRST": earlier[:1],
        "ALL": tuple(dict.fromkeys(earlier)),
        "TRIED": before.slots.get("a", ()) if before and before.role == "trial" else (),
        "GROUP": groups.get(one.slots.get("label", ("",))[0], ()),
        "REST": tuple(set(one.slots.get("cs", ())) - set(one.slots.get("d", ()))),
    }
    for link in rule.split():
        causes, effects = (slots.get(end, ()) for end in link.split(">"))
        yield from ((cause, effect) for cause in causes for effect in effects)
