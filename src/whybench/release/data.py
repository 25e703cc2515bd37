"""Read releases.

A release is one JSON file, made from a recipe by `whybench release NAME --make`. It names the rows
of each suite that every set plays, with a hash of each row, and the floor, the ceiling and the
usual length of an episode.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from whybench.episode.family import Suite
from whybench.episode.registry import load_suite

SETS = ("lite", "standard", "full")
"""The sets of every release; each contains the one before."""

FOLDER = files("whybench.release")


@dataclass(frozen=True, slots=True)
class Bound:
    """A floor or a ceiling: who reached it, and on how many instances."""

    name: str
    score: float
    n: int


@dataclass(frozen=True, slots=True)
class Use:
    """The mean of an episode, in model calls and tokens."""

    calls: float
    input: float
    output: float
    prompt: float
    """Tokens of the first prompt, with the definitions of tools."""
    most_calls: float
    """Calls of an agent that spends every experiment and every error that it may."""
    growth: float
    """Tokens that a call adds to the conversation, without the reply."""


@dataclass(frozen=True, slots=True)
class Part:
    """One suite of a release."""

    family: str
    version: str
    suite: str
    parameters: Mapping[str, Any]
    """Parameters of the suite that differ from their defaults."""
    rows: Mapping[str, tuple[int, ...]]
    """Set → rows of the endless list that the suite begins."""
    hashes: Mapping[int, str]
    """Row → hash of its content and first prompts."""
    statuses: Mapping[str, int]
    """Status of the certificate → rows of `standard`; empty if `standard` has none."""
    clusters: Mapping[str, int]
    """Set → hidden systems."""
    floor: Bound | None
    ceiling: Bound | None
    usage: Mapping[str, Use]
    """Template → an episode of the exact agent."""

    @property
    def path(self) -> str:
        """The family and the suite, as `family/suite`."""
        return f"{self.family}/{self.suite}"

    def load(self) -> Suite:
        """Return the suite."""
        return load_suite(self.path, parameters=self.parameters)


@dataclass(frozen=True, slots=True)
class Played:
    """How a release plays a family."""

    protocol: str
    templates: tuple[str, ...]
    arguments: Mapping[str, Any]
    """Further arguments of the Inspect task."""


@dataclass(frozen=True, slots=True)
class Release:
    """A frozen benchmark."""

    name: str
    made_with: str
    """Version of WhyBench."""
    max_tokens: int
    """Longest reply."""
    families: Mapping[str, Played]
    parts: tuple[Part, ...]

    def of(self, family: str, which: str) -> list[Part]:
        """Return the parts of a family that have rows in a set."""
        if which not in SETS:
            raise ValueError(f"Unknown set {which!r}. Use {', '.join(SETS)}.")
        found = [part for part in self.parts if part.family == family and part.rows[which]]
        if not found:
            raise ValueError(f"Release {self.name} has no rows of {family}.")
        return found

    def samples(self, family: str, which: str) -> Iterator[tuple[Part, int, str]]:
        """Yield every part, row and template of a family in a set."""
        for part in self.of(family, which):
            for row in part.rows[which]:
                for template in self.families[family].templates:
                    yield part, row, template

    def part(self, path: str) -> Part | None:
        """Return the part of a suite."""
        return next((part for part in self.parts if part.path == path), None)


def names() -> list[str]:
    """Return the names of all releases."""
    return sorted(
        one.name.removesuffix(".json") for one in FOLDER.iterdir() if one.name.endswith(".json")
    )


@cache
def load_release(name: str) -> Release:
    """Return the release of a name, or raise ValueError."""
    if name not in names():
        raise ValueError(f"Unknown release {name!r}. Use {', '.join(names())}.")
    return read(json.loads((FOLDER / f"{name}.json").read_text("utf-8")))


def read(data: Mapping[str, Any]) -> Release:
    """Return a release from JSON data."""
    return Release(
        data["release"],
        data["made_with"],
        data["max_tokens"],
        {
            name: Played(one["protocol"], tuple(one["templates"]), one["arguments"])
            for name, one in data["families"].items()
        },
        tuple(_part(one) for one in data["parts"]),
    )


def _part(one: Mapping[str, Any]) -> Part:
    rows = {which: tuple(_numbers(one["rows"][which])) for which in SETS}
    return Part(
        one["family"],
        one["version"],
        one["suite"],
        one["parameters"],
        rows,
        dict(zip(rows["full"], one["hashes"].split(), strict=True)),
        one["statuses"],
        one["clusters"],
        None if one["floor"] is None else Bound(**one["floor"]),
        None if one["ceiling"] is None else Bound(**one["ceiling"]),
        {template: Use(**use) for template, use in one["usage"].items()},
    )


def _numbers(text: str) -> Iterator[int]:
    """Yield the numbers of a list of ranges.

    >>> list(_numbers("0-2,7"))
    [0, 1, 2, 7]
    """
    for span in filter(None, text.split(",")):
        first, _, last = span.partition("-")
        yield from range(int(first), int(last or first) + 1)


def in_ranges(numbers: tuple[int, ...]) -> str:
    """Return sorted numbers as a list of ranges.

    >>> in_ranges((0, 1, 2, 7))
    '0-2,7'
    """
    spans: list[list[int]] = []
    for number in numbers:
        if spans and number == spans[-1][1] + 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    return ",".join(f"{a}-{b}" if a < b else str(a) for a, b in spans)
