"""The judge's prompt: the document first, then both graphs, then the task.

The part up to the end of the document is the same for every pass and every answer, and both graphs
are the same for every pass. So a provider that caches prefixes reads the document once.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from functools import lru_cache

from whybench import CANARY
from whybench.causal.canonical import canonical_json
from whybench.causal.seeds import Stream
from whybench.episode.prompts.template import paragraphs
from whybench.episode.prompts.untrusted_text import BAR, Delimiter, delimiter, quoted
from whybench.families.recite.extras.judge.case import Case, Pair
from whybench.families.recite.extras.judge.elements import batches, elements
from whybench.families.recite.extras.judge.labels import LABELS, fields
from whybench.families.recite.extras.judge.names import WITHHELD
from whybench.judge.labels import ELEMENTS, WHY
from whybench.judge.question import CASE, Question, prompt_texts

NONE = "(none)"
"""Replaces an empty list."""


def questions(
    case: Case, pass_name: str, reasons: bool = True
) -> tuple[tuple[tuple[int, ...], Question], ...]:
    """Return the questions of a pass, each with the numbers that it asks about; maybe none."""
    return tuple(
        (numbers, question(case, pass_name, numbers, reasons))
        for numbers in batches(case, pass_name)
    )


def question(
    case: Case, pass_name: str, numbers: Sequence[int] = (), reasons: bool = True
) -> Question:
    """Ask about elements of a pass: those with these numbers, or the first batch.

    Without reasons a reply is short, which suits models that reason before they reply, or not.
    """
    numbers = numbers or next(iter(batches(case, pass_name)), ())
    if not numbers:
        raise ValueError(f"{pass_name} has no element to ask about: see `by_rule`")
    around = _delimiter(case)
    asked = prompt_texts(__name__).say(
        "reply",
        numbers=", ".join(map(str, numbers)),
        word=around.word,
        fields=", ".join(f"`{field.name}`" for field in fields(pass_name)),
        why=prompt_texts(__name__).say("why") + " " if reasons else "",
        example=_example(pass_name, around.word, numbers, reasons),
    )
    prompt = paragraphs(_graphs(case, around), prompt_texts(__name__).say(pass_name), asked)
    shape = LABELS.schema(pass_name, numbers, around.word, reasons)
    return Question(prompt, shape, around.word, _before(case.document))


@lru_cache(maxsize=8)
def _before(document: str) -> str:
    """Return the part up to the end of the document; it depends on nothing else."""
    around = delimiter("recite", "document", document, what="DOCUMENT")
    return prompt_texts(__name__).say(
        "shared",
        canary=CANARY,
        open=around.open,
        document=quoted(document, len(document)),
        close=around.close,
    )


def _delimiter(case: Case) -> Delimiter:
    """Return the delimiter of the answer, which depends on the whole answer."""
    said = canonical_json([case.answer_nodes, case.answer_edges])
    return delimiter("recite", "judge", case.instance_id, said, what="ANSWER")


def _graphs(case: Case, around: Delimiter) -> str:
    listed = elements(case)
    return prompt_texts(__name__).say(
        "graphs",
        gold_nodes=_nodes(listed.gold_nodes),
        gold_edges=_edges(listed.gold_edges),
        answer_nodes=_nodes(listed.answer_nodes, BAR),
        answer_edges=_edges(listed.answer_edges, BAR),
        withheld=WITHHELD,
        open=around.open,
        close=around.close,
    )


def _nodes(names: Iterable[str], bar: str = "") -> str:
    return _numbered((_quoted(name) for name in names), bar)


def _edges(edges: Iterable[Pair], bar: str = "") -> str:
    return _numbered((f"{_quoted(cause)} -> {_quoted(effect)}" for cause, effect in edges), bar)


def _numbered(lines: Iterable[str], bar: str) -> str:
    return "\n".join(f"{bar}{n}. {line}" for n, line in enumerate(lines, 1)) or f"{bar}{NONE}"


def _quoted(name: str) -> str:
    return name if name == WITHHELD else f'"{name}"'


def _example(pass_name: str, word: str, numbers: Sequence[int], reasons: bool) -> str:
    """Show the format with random labels, so that the example favours none."""
    stream = Stream("recite", "example", word, pass_name)
    entry = {field.name: stream.choice(field.labels) for field in fields(pass_name)}
    entry = {WHY: "…"} | entry if reasons else entry
    shown = {CASE: word, ELEMENTS: {str(numbers[0]): entry, "…": "…"}}
    return json.dumps(shown, ensure_ascii=False)
