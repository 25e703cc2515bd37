"""A rule-based reader: it finds only causal relations that one sentence states.

It is a reference agent. Its cue phrases, in `pattern.json`, are common English wordings of
cause and effect, written without access to the sentence frames of our documents.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from string import ascii_lowercase, ascii_uppercase

from .pattern_phrases import items, sentences
from .pattern_rules import rules

Pair = tuple[str, str]
"""A cause and an effect, as written in the text."""

LOWER = str.maketrans(ascii_uppercase, ascii_lowercase)
"""The rules are written for small letters; the length of a text must not change."""
LONGEST = 500
"""A sentence with more characters is not read: it is hardly a plain statement."""


@dataclass(frozen=True, slots=True)
class Cue:
    """A place where a part of a sentence says that something acts on something."""

    kind: str
    """`forward`, `backward` (effect first), or a form of a plain verb."""
    end: int
    left: str
    """The words between the cue before and this one."""

    @property
    def means(self) -> bool:
        """Whether it says by what means: "by raising"."""
        return self.kind == "gerund" and bool(re.search(r"\b(?:by|through)\W*$", self.left))


def relations(text: str, names: Sequence[str] | None = None) -> list[Pair]:
    """Return what the text states as (cause, effect), each once, in order of the text.

    With `names`, the ends are those of the names that the text mentions there; without, noun
    phrases cut from the sentence.

    >>> relations("Heavy rain raises the river level. The mayor may raise the tax.")
    [('heavy rain', 'river level')]
    """
    told = sorted(names or (), key=lambda name: (-len(name), name))
    keys = [" ".join(re.sub(r"^(?:the|an?)\s", "", n.strip(), flags=re.I).split()) for n in told]
    places = {key.lower(): number for number, key in reversed(list(enumerate(keys))) if key}
    spelt = "|".join(re.escape(key) for key in keys if key)
    mention = re.compile(rf"(?<!\w)(?:{spelt})(?!\w)", re.I)
    found: dict[Pair, None] = {}
    for sentence in sentences(re.sub("[⟦⟧]", " ", text)):
        masked = sentence.translate(LOWER)
        if spelt:
            masked = mention.sub(lambda m: f"⟦{places.get(m[0].lower(), '')}⟧", masked)
        if names is not None and masked.count("⟦") < 2:
            continue
        for pair in _read(masked):
            if names is None:
                ends = [_restored(end, sentence) for end in pair]
            else:
                ends = [told[int(m[1])] for end in pair if (m := re.search(r"⟦(\d+)⟧", end))]
            if len(ends) == 2 and ends[0].lower() != ends[1].lower():
                found[ends[0], ends[1]] = None
    return list(found)


def _restored(name: str, sentence: str) -> str:
    """Give a name the capital letters it has in the sentence, but for the first word's."""
    start = sentence.translate(LOWER).find(name)
    spelt = sentence[start : start + len(name)] if start >= 0 else name
    opening = not re.search("[a-z]{4}", sentence[: max(start, 0)])
    return name[0] + spelt[1:] if opening and spelt[1:2].islower() else spelt


def _read(sentence: str) -> Iterator[Pair]:
    """Yield the pairs that a sentence states."""
    rule = rules()
    if len(sentence) > LONGEST or sentence.endswith("?"):
        return
    for part in _completed(list(_parts(sentence.rstrip(".!… ")))):
        if not _ruled_out(rule.one["unreal"].sub("", part)) and (
            unreal := list(_framed(part, rule.counterfactual))
        ):
            yield from unreal
        elif not _ruled_out(part):
            plain, mutual = rule.one["mutual_tail"].subn("", part)
            both = list(_framed(part, rule.mutual))
            found = both or list(_framed(plain, rule.frames)) or list(_linked(plain))
            yield from found
            if both or mutual:
                yield from ((effect, cause) for cause, effect in found)


def _ruled_out(part: str) -> bool:
    rule = rules()
    return bool(rule.out.search(rule.exempt.sub("", part)))


def _parts(sentence: str) -> Iterator[str]:
    """Yield the parts of a sentence that stand for themselves, but none that another takes back."""
    rule = rules()
    aside = rule.one["aside"].match(sentence)
    pieces = [
        part
        for piece in (aside.groups() if aside else (sentence,))
        for part in rule.one["split"].split(piece)
    ]
    backs = [
        _ruled_out(piece)
        and not rule.cue.search(piece)
        and bool(rule.one["taken_back"].search(piece))
        for piece in pieces
    ]
    for number, piece in enumerate(pieces):
        if not any(backs[number + 1 :]):
            yield piece


def _completed(parts: list[str]) -> Iterator[str]:
    """Give later parts without a subject, or with "it", the first one's."""
    head = ""
    for number, part in enumerate(parts):
        cue = rules().cue.search(part) if len(parts) > 1 else None
        bare = bool(number and cue and _trimmed(part[: cue.start()]) in ("", "it"))
        yield f"{head} {part[cue.start() :]}" if cue and bare else part
        head = part[: cue.start()].strip() if cue and not bare else head


def _framed(part: str, frames: Sequence[re.Pattern[str]]) -> Iterator[Pair]:
    """Yield the pairs of the first frame that fits."""
    for frame in frames:
        if match := frame.search(part):
            causes, effects = items(match["c"], subject=True), items(match["e"], subject=True)
            if causes and effects:
                yield from product(causes, effects)
                return


def _cues(part: str) -> list[Cue]:
    """Return the cues of a part of a sentence, without words that only look like one."""
    rule, found = rules(), list[Cue]()
    for match in rule.cue.finditer(part):
        kind = match.lastgroup or ""
        if kind == "forward" and match[0].split()[0].endswith("ing"):
            kind = "gerund"
        left = part[found[-1].end if found else 0 : match.start()]
        if found and found[-1].kind in ("base", "present") and not _trimmed(left):
            found.pop()  # it was the last word of a name: "train speed determines"
            left = part[found[-1].end if found else 0 : match.start()]
        if not _only_looks(kind, left):
            found.append(Cue(kind, match.end(), left))
    return found


def _trimmed(text: str) -> str:
    """Cut auxiliaries, adverbs and the like from the end."""
    return rules().one["left_trim"].sub("", " " + text.strip(" ,")).strip(" ,")


def _only_looks(kind: str, left: str) -> bool:
    """Whether a match is no cue, by its kind and the words before it."""
    rule = rules()
    bare = left.strip(" ,").lower()
    tail = bare.rpartition(" ")[2]
    if kind in ("forward", "backward"):
        aside = re.search(", ([^,]+)$", left)
        named = re.compile("(?:a|an|one|something|the) ")
        return bool(aside and named.match(aside[1]) and rule.one["stop_items"].search(aside[1]))
    return (
        kind == "none"
        or not bare
        or tail in rule.not_before_verb
        or (kind == "base" and not rule.one["plural"].search(left.strip()))
        or (kind == "gerund" and tail in rule.not_before_gerund)
        or (tail == "to" and f" {_trimmed(bare)}".endswith(" to"))
    )


def _subject(cue: Cue, part: str) -> list[str]:
    """Return the quantities that the first cue of a part is said of."""
    left = re.sub(r",? (?:which|that|who|by|through)$", "", cue.left.rstrip(" ,"))
    found = items(re.sub(r"^\W*it (?:is|was) ", "", left), subject=True)
    if not found and cue.kind == "backward":  # "Driven by A, B has risen"
        return items(part[cue.end :].partition(",")[2])
    return found


def _linked(part: str) -> Iterator[Pair]:
    """Yield the pairs that the cues of a part of a sentence state."""
    one = rules().one
    part = one["means_first"].sub(r"\2 by \1", one["channel"].sub(r"\2 through \1", part))
    if not (cues := _cues(part)):
        return
    subject, through = _subject(cues[0], part), list[str]()
    if via := re.match("(.*)" + one["via"].pattern + "(.+?),? ?$", cues[0].left):
        subject, through = items(via[1], subject=True), items(via[2])
    for cue, after in zip(cues, [*cues[1:], None], strict=True):
        gap = (after.left if after else part[cue.end :]).strip()
        follow: list[str] | None = subject
        if after and after.means:
            gap, through = re.sub(r",? \w+$", "", gap), items(part[after.end :])
        elif after:
            gap, follow = _between(gap, cue, after, subject)
        direct, *rest = one["via"].split(gap, maxsplit=1)
        objects = items(direct)
        through = through or (items(rest[0]) if rest else [])
        ends = (objects, subject) if cue.kind == "backward" else (subject, objects)
        for causes, effects in pairwise((ends[0], through, ends[1]) if through else ends):
            yield from product(causes, effects)
        if after and after.means:
            return
        subject, through = objects if follow is None or cue.means else follow, []


def _between(gap: str, cue: Cue, after: Cue, subject: list[str]) -> tuple[str, list[str] | None]:
    """Part the words between two cues: what the first acts on, and what the second is said of.

    The second is None if it is just what the first acts on.
    """
    one = rules().one
    if match := one["nearer_subject"].match(gap):
        return match[1], None
    if after.kind == "gerund" and gap.endswith(","):
        return gap, None
    bare = one["left_trim"].sub("", " " + gap).strip()
    if re.match(r" ?,|.*\b(?:and|or|but|then)\b", gap[len(bare) :]):
        return bare, subject
    if match := one["own_subject"].match(gap) or re.match("^(.*?), (.+)$", gap):
        return match[1], items(match[2], subject=True)
    return gap, subject if cue.kind == "backward" else []
