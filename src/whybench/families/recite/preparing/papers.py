"""Which papers there are to prepare: each with its annotation and what is known about it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from whybench.families.recite.preparing.edgelist import SUFFIXES

DETAILS = ("id", "title", "source", "url", "domains", "abstract", "publication_date")
"""What may be told about a paper; all of it may be left out."""


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
) -> tuple[Paper, ...]:
    """Find the annotation and the details of each paper, by the name of its file.

    Annotations are a mapping from names, or a folder with `NAME.csv` (or .tsv, .json, .txt);
    details are a mapping from names, or a JSON file with one. Ids count from 1 unless given.
    """
    if not papers:
        raise ValueError("there are no papers: give at least one PDF file")
    told = json.loads(details.read_text("utf-8")) if isinstance(details, Path) else details or {}
    found = []
    for number, pdf in enumerate(papers, 1):
        if not pdf.is_file():
            raise ValueError(f"there is no file {str(pdf)!r}")
        given = dict(told.get(pdf.stem, {}))
        if unknown := sorted(set(given) - set(DETAILS)):
            raise ValueError(f"details of {pdf.stem}: no {unknown[0]!r}; try {', '.join(DETAILS)}")
        given |= {"id": given.get("id", number), "domains": tuple(given.get("domains", ()))}
        found.append(Paper(pdf, _annotation(pdf.stem, annotations), **given))
    for what in ("name", "id"):
        values = [getattr(paper, what) for paper in found]
        if twice := {str(value) for value in values if values.count(value) > 1}:
            raise ValueError(f"two papers have the {what} {min(twice)}: give each its own")
    return tuple(found)


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
