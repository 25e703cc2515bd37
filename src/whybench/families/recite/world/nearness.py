"""How near the phrases for a concept are to their own concept, compared with all others.

A reference is compared with the names of all concepts. A description uses other words than the
name, so it is compared with all that the tables say of a concept: name, reference and measurement.
There are two measures: letters (trigrams, weighted by how rare they are in the field), and meaning
(cosine of sentence embeddings). A document uses a phrase only if it is nearer to its own concept
than to any other by both.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from whybench.families.recite.world.knowledge import Concept, field_named, rows

FORMS = ("reference", "described")


@dataclass(frozen=True, slots=True)
class Margin:
    """By how much a phrase is nearer to its own concept than to any other."""

    letters: float
    meaning: float
    """As recorded when the table was made; the weights are not needed to read it."""

    @property
    def safe(self) -> bool:
        """Whether it is nearer by both measures."""
        return min(self.letters, self.meaning) > 0


@cache
def margins(field: str) -> Mapping[tuple[str, str], Margin]:
    """Return the margins of a field's phrases, by the concept's key and the form."""
    return {
        (row["key"], row["form"]): Margin(float(row["letters"]), float(row["meaning"]))
        for row in rows(f"fields/{field}/nearness.tsv")
    }


def compared(concept: Concept, form: str) -> tuple[str, ...]:
    """Return the texts of a concept with which a phrase of a form is compared."""
    return (concept.name,) if form == "reference" else tuple(texts(concept))


def texts(concept: Concept) -> Sequence[str]:
    """Return what the tables say of a concept, apart from its description."""
    return concept.name, concept.reference, concept.measure


@cache
def trigrams(phrase: str) -> frozenset[str]:
    """Return the sequences of three letters in a phrase, with its ends marked."""
    text = f"  {phrase.lower()} "
    return frozenset(text[k : k + 3] for k in range(len(text) - 2))


@cache
def _weights(field: str) -> Callable[[str], float]:
    concepts = field_named(field).concepts
    known = [frozenset[str]().union(*map(trigrams, (*texts(c), c.described))) for c in concepts]
    count = Counter(gram for own in known for gram in own)
    weight = {gram: math.log((len(known) + 1) / (n + 0.5)) for gram, n in count.items()}
    return weight.__getitem__


def letters(field: str, phrase: str, others: Sequence[str]) -> float:
    """Return the weighted overlap in letters of a phrase with some texts together."""
    weight = _weights(field)
    first, second = trigrams(phrase), frozenset[str]().union(*map(trigrams, others))
    return math.fsum(map(weight, first & second)) / math.fsum(map(weight, first | second))
