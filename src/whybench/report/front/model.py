"""Define the values of a front page; `shown.py` turns them into what the template draws."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from whybench.report.section import Chapter
from whybench.report.standings.model import Estimate, Standings


@dataclass(frozen=True, slots=True)
class Change:
    """A difference from a base, on the scale of the headline metric."""

    name: str
    value: float
    shown: bool
    """Whether the test shows it."""


@dataclass(frozen=True, slots=True)
class Panel:
    """What a family's small multiple shows of one system."""

    system: str
    base: float
    """The headline metric in the base condition."""
    changes: tuple[Change, ...]
    rates: tuple[tuple[str, Estimate], ...] = ()
    """Name → share."""
    text: str = ""


@dataclass(frozen=True, slots=True)
class Multiple:
    """A small multiple: a panel for each system. A family declares it as `panels`."""

    title: str
    intro: str
    base: str
    """Name of the base condition."""
    over: str
    """Heading of the changes."""
    beside: str
    """Heading of the rates."""
    panels: tuple[Panel, ...]
    family: str = ""


@dataclass(frozen=True, slots=True)
class Note:
    """What a fold and a column say of a family."""

    summary: str
    hint: str
    """A few words for the head of its column."""
    section: str
    """Id of its section."""


@dataclass(frozen=True, slots=True)
class Front:
    """Content of a front page."""

    standings: Standings
    notes: Mapping[str, Note] = field(default_factory=dict)
    """By family."""
    multiples: tuple[Multiple, ...] = ()
    cards: tuple[Chapter, ...] = ()
    """Episodes that show the kinds of answers; see `cards.py`."""
