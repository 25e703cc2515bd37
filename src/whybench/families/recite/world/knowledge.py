"""The knowledge of a field: concepts, and pairs of cause and effect that two judges agreed on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

FIELDS = ("economy", "health", "water")


@dataclass(frozen=True, slots=True)
class Concept:
    """A quantity, and how a paper writes about it."""

    key: str
    name: str
    """A noun phrase without article."""
    article: str
    """`the`, or `-` for none."""
    number: str
    """`s` or `p`: the number of the verb."""
    cluster: str
    short: str
    """Abbreviation, or `-`."""
    reference: str
    """A shorter phrase that refers back to it."""
    described: str
    """A paraphrase in other words."""
    measure: str
    unit: str
    mean: float
    sd: float
    decimals: int

    @property
    def said_unit(self) -> str:
        """The unit as sentences have it, without the range in brackets."""
        return self.unit.split(" (")[0]

    @property
    def full(self) -> str:
        """The name with its article."""
        return self.name if self.article == "-" else f"{self.article} {self.name}"


@dataclass(frozen=True, slots=True)
class Pair:
    """A pair of cause and effect on which both judges agreed."""

    sign: int
    delay: str
    mechanism: str
    """Completes "because …"; `-` if the pair is inadmissible."""
    admissible: bool


@dataclass(frozen=True, slots=True)
class Field:
    """A field of knowledge."""

    name: str
    concepts: tuple[Concept, ...]
    pairs: Mapping[tuple[str, str], Pair]
    """By the keys of cause and effect."""

    @property
    def title(self) -> str:
        """The name for readers."""
        return self.name.capitalize()


@cache
def field_named(name: str) -> Field:
    """Load a field."""
    path = f"fields/{name}/"
    concepts = tuple(
        Concept(
            **{k: v for k, v in row.items() if k not in ("mean", "sd", "decimals")},
            mean=float(row["mean"]),
            sd=float(row["sd"]),
            decimals=int(row["decimals"]),
        )
        for row in rows(path + "concepts.tsv")
    )
    pairs = {
        (row["cause"], row["effect"]): Pair(
            1 if row["sign"] == "+" else -1, row["delay"], row["mechanism"], row["first"] == "yes"
        )
        for row in rows(path + "pairs.tsv")
        if row["first"] == row["second"]
    }
    return Field(name, concepts, pairs)


def rows(path: str) -> Iterator[dict[str, str]]:
    """Yield the rows of a table of this package, by the names in its first line."""
    lines = (files(__package__ or "") / path).read_text("utf-8").splitlines()
    head = lines[0].split("\t")
    for line in lines[1:]:
        yield dict(zip(head, line.split("\t"), strict=True))


@cache
def scenery(kind: str, field_name: str) -> tuple[str, ...]:
    """Return the phrases of a kind for a field."""
    return tuple(
        row["text"] for row in rows("grammar/scenery.tsv")
        if row["kind"] == kind and row["field"] in (field_name, "-")
    )  # fmt: skip
