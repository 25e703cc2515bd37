"""Which papers there are to prepare: each with its annotation and what is known about it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

from whybench.families.recite.extras.preparing.annotation.edgelist import SUFFIXES
from whybench.families.recite.extras.preparing.content_cache import is_writable

TEXTS = ("title", "source", "url", "abstract", "publication_date")
DETAILS = ("id", *TEXTS, "domains")
"""What may be told about a paper; all of it may be left out."""


def read_details(given: Mapping[str, Any] | Path | None) -> Mapping[str, Any]:
    """Return details by the names of papers, from a mapping or a JSON file of one."""
    told: Any = {} if given is None else given
    named = "the details"
    if isinstance(told, Path):
        named = told.name
        try:
            told = json.loads(told.read_text("utf-8-sig"))
        except (ValueError, RecursionError) as error:
            raise ValueError(f"{named} is not JSON ({error}). Correct it there.") from error
    if not isinstance(told, Mapping):
        raise ValueError(
            f"{named} must be an object from names of papers to their details, such as "
            f'{{"NAME": {{"title": "…"}}}}, not {_kind(told)}'
        )
    return told


def details_of(name: str, told: Mapping[str, Any]) -> dict[str, Any]:
    """Return the details of one paper, each of its type.

    >>> details_of("a", {"a": {"domains": "Medicine"}})
    {'domains': ('Medicine',)}
    """
    given = told.get(name, {})
    place = f"details of {name}"
    if not isinstance(given, Mapping):
        raise ValueError(f'{place}: give an object such as {{"title": "…"}}, not {_kind(given)}')
    if unknown := sorted(str(key) for key in given if key not in DETAILS):
        raise ValueError(f"{place}: no {unknown[0]!r}; try {', '.join(DETAILS)}")
    for key in TEXTS:
        if not isinstance(given.get(key, ""), str):
            raise ValueError(f"{place}: `{key}` must be a text, not {_kind(given[key])}")
    if type(given.get("id", 0)) is not int:
        raise ValueError(f"{place}: `id` must be a whole number, not {_kind(given['id'])}")
    found = dict(given)
    if "domains" in given:
        found["domains"] = _domains(given["domains"], place)
    if not is_writable(found):
        raise ValueError(f"{place}: a text has half a character (a lone surrogate). Type it again.")
    return found


def _domains(given: object, place: str) -> tuple[str, ...]:
    listed = [given] if isinstance(given, str) else given
    if not isinstance(listed, list | tuple) or not all(
        isinstance(one, str) and one.strip() for one in listed
    ):
        raise ValueError(f'{place}: `domains` must be a list of names, such as ["Medicine"]')
    return tuple(listed)


def _kind(value: object) -> str:
    """Return a value in short, with what it is to JSON."""
    kinds = {dict: "an object", list: "a list", str: "a text", int: "a number", float: "a number"}
    return f"{kinds.get(type(value), type(value).__name__)} ({str(value)[:40]!r})"


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
        raise ValueError("There are no papers. Give at least one PDF file.")
    told, before = read_details(details), dict(known or {})
    fresh = count(max(before.values(), default=0) + 1)
    found = []
    for pdf in papers:
        if not pdf.is_file():
            raise ValueError(f"There is no file {str(pdf)!r}.")
        if not is_writable(pdf.stem):
            raise ValueError(f"the name of {str(pdf)!r} is not valid text. Rename the file.")
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
            raise ValueError(f"two papers have the {what} {min(twice)}. Give each its own.")


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
