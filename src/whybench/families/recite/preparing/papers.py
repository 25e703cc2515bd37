"""Which papers there are to prepare: each with its annotation and what is known about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

from whybench.families.recite.preparing.details import details_of, read_details
from whybench.families.recite.preparing.edgelist import SUFFIXES
from whybench.families.recite.preparing.shelf import is_writable


@dataclass(frozen=True, slots=True)
class Paper:
    """A PDF file, the edge list of its diagram, and what is known about it."""

    pdf: Path
    annotation: Path
    id: int
    title: str = ""
    """If empty, the first heading is taken."""
    source: str = ""
    url: str = ""
    domains: tuple[str, ...] = ()
    abstract: str = ""
    """If empty, what stands under the heading Abstract is taken."""
    publication_date: str = ""

    @property
    def name(self) -> str:
        """The name of its file, without the suffix."""
        return self.pdf.stem


def gathered(
    papers: Sequence[Path],
    annotations: Mapping[str, Path] | Path,
    details: Mapping[str, Mapping[str, Any]] | Path | None = None,
    known: Mapping[str, int] | None = None,
) -> tuple[Paper, ...]:
    """Find the annotation and the details of each paper, by the name of its file.

    Annotations are a mapping from names, or a folder with `NAME.csv` (or .tsv, .json, .txt);
    details are a mapping from names, or a JSON file with one. `known` are the ids of papers that
    were prepared before: they keep them, and others count on from the highest, unless ids are told.
    """
    if not papers:
        raise ValueError("there are no papers: give at least one PDF file")
    told, before = read_details(details), dict(known or {})
    fresh = count(max(before.values(), default=0) + 1)
    found = []
    for pdf in papers:
        if not pdf.is_file():
            raise ValueError(f"there is no file {str(pdf)!r}")
        if not is_writable(pdf.stem):
            raise ValueError(f"the name of {str(pdf)!r} is no proper text: give it another")
        given = details_of(pdf.stem, told)
        number = before[pdf.stem] if pdf.stem in before else next(fresh)
        found.append(Paper(pdf, _annotation(pdf.stem, annotations), **{"id": number, **given}))
    _check_apart(found, before)
    return tuple(found)


def _check_apart(papers: Sequence[Paper], before: Mapping[str, int]) -> None:
    names = [paper.name for paper in papers]
    others = [number for name, number in before.items() if name not in names]
    numbers = [*others, *(paper.id for paper in papers)]
    for what, values in (("name", names), ("id", [str(number) for number in numbers])):
        if twice := {value for value in values if values.count(value) > 1}:
            raise ValueError(f"two papers have the {what} {min(twice)}: give each its own")


def _annotation(name: str, annotations: Mapping[str, Path] | Path) -> Path:
    if isinstance(annotations, Path):
        files = [annotations / f"{name}{suffix}" for suffix in SUFFIXES]
        there = [file for file in files if file.is_file()]
    else:
        there = [annotations[name]] if name in annotations else []
    if len(there) != 1:
        seen = "no annotation" if not there else "more than one annotation"
        raise ValueError(
            f"{name} has {seen}: name one, or put one file {name}{{{','.join(SUFFIXES)}}} there"
        )
    return there[0]
