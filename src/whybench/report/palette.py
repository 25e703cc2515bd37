"""Colours that colour-blind readers can distinguish, for a light and a dark theme.

The hues are those of Okabe and Ito. Vermillion belongs to no system: it means wrong. Charts are
drawn with the light values. The page replaces each value by a CSS variable, so one picture serves
both themes. Two tokens must not share a value, because the page could not distinguish them. A token
`…-edge` is the edge of marks and bars of its hue.

Reference:
    M. Okabe and K. Ito (2008), Color Universal Design: how to make figures and presentations that
        are friendly to colorblind people.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

LIGHT: dict[str, str] = {
    "ink": "#1d2329",
    "soft": "#5a6571",
    "line": "#dfe4e9",
    "paper": "#fefefe",
    "grey": "#8b949e",
    "blue": "#0072b2",
    "vermillion": "#d55e00",
    "green": "#009e73",
    "purple": "#cc79a7",
    "orange": "#e69f00",
    "sky": "#56b4e9",
    "yellow": "#b8a300",
    "black": "#101418",
    "link": "#005a91",
    "blue-edge": "#00507d",
    "orange-edge": "#8f6200",
    "green-edge": "#00664a",
    "purple-edge": "#8d4a6e",
    "sky-edge": "#1f6f9f",
    "yellow-edge": "#6e6200",
    "black-edge": "#000001",
    "grey-edge": "#5f6872",
}

DARK: dict[str, str] = {
    "ink": "#e6ebf0",
    "soft": "#a5b0bb",
    "line": "#333c46",
    "paper": "#14191f",
    "grey": "#7f8a95",
    "blue": "#4ba3e3",
    "vermillion": "#ff8a3d",
    "green": "#2fc79a",
    "purple": "#e59cc4",
    "orange": "#f5b93d",
    "sky": "#86ccf5",
    "yellow": "#f0e442",
    "black": "#f5f7fa",
    "link": "#9ad4fa",
    "blue-edge": "#8fc8f2",
    "orange-edge": "#ffd98a",
    "green-edge": "#84e3c5",
    "purple-edge": "#f5c9e0",
    "sky-edge": "#c4e6fb",
    "yellow-edge": "#f8f2a0",
    "black-edge": "#ffffff",
    "grey-edge": "#b4bdc6",
}

SYSTEMS = ("blue", "orange", "green", "purple", "sky", "yellow", "black")
"""Tokens for the user's systems, in the order in which they are assigned."""

PUBLISHED = LIGHT["grey"]
"""The one colour of published figures."""


def colours(names: list[str]) -> list[str]:
    """Return a light colour for each name; colours repeat after seven, so shapes differ too."""
    return [LIGHT[SYSTEMS[place % len(SYSTEMS)]] for place in range(len(names))]


STAR = (
    "M0,-1L0.224,-0.309L0.951,-0.309L0.363,0.118L0.588,0.809L0,0.382L-0.588,0.809L-0.363,0.118"
    "L-0.951,-0.309L-0.224,-0.309Z"
)
"""Vega has no star, but it takes a path."""

SHAPES = ("circle", "square", "triangle-up", "diamond", "triangle-down", "cross", STAR)
"""Shapes for systems, in the order of their colours."""


def ranked(names: Iterable[str]) -> tuple[str, ...]:
    """Return all systems of a report in the order in which they get colours and shapes.

    The first seven names get a colour each, in alphabetical order. The others are grey.

    >>> ranked(["c", "a", "B"])
    ('a', 'B', 'c')
    """
    each = list(dict.fromkeys(names))
    best, rest = each[: len(SYSTEMS)], each[len(SYSTEMS) :]
    return (*sorted(best, key=_letters), *sorted(rest, key=_letters))


def mark_of(place: int) -> tuple[str, str]:
    """Return token and shape of the system at this place.

    >>> mark_of(1), mark_of(7)
    (('orange', 'square'), ('grey', 'circle'))
    """
    return SYSTEMS[place] if place < len(SYSTEMS) else "grey", SHAPES[place % len(SHAPES)]


def _letters(name: str) -> tuple[str, str]:
    return name.casefold(), name


_CHANNELS = ("color", "fill", "shape")


def painted(spec: Any, systems: Sequence[str]) -> Any:
    """Return a chart's data with one colour and one shape for each system of a report.

    A chart assigns colours by position in its own list of series. This function assigns them by
    the system's position in the whole report. A series is a system or a part of one ("name ·
    part"). Parts of one system have its colour and different shapes. Other series do not change.
    """
    if isinstance(spec, list):
        return [painted(one, systems) for one in spec]
    if not isinstance(spec, dict):
        return spec
    found = {key: painted(value, systems) for key, value in spec.items()}
    for channel in _CHANNELS:
        scale = found[channel].get("scale") if isinstance(found.get(channel), dict) else None
        if isinstance(scale, dict) and {"domain", "range"} <= scale.keys():
            marks = _marks(scale["domain"], systems)
            given = dict(zip(scale["domain"], scale["range"], strict=False))
            scale["range"] = [
                marks[name][channel == "shape"] if name in marks else given.get(name)
                for name in scale["domain"]
            ]
    return found


def _marks(series: Sequence[str], systems: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Return colour and shape of each series that belongs to a system."""
    found: dict[str, tuple[str, str]] = {}
    for name in sorted(series, key=lambda name: name not in systems):  # then parts of systems
        place = place_of(name, systems)
        if place is None:
            continue
        token, own = mark_of(place)
        shapes = [mark_of(place + step)[1] for step in range(len(SHAPES))]
        free = [shape for shape in shapes if (LIGHT[token], shape) not in found.values()]
        found[name] = LIGHT[token], own if name in systems else (free or shapes)[0]
    return found


def place_of(name: str, systems: Sequence[str]) -> int | None:
    """Return the position of the system that a series is, belongs to or abbreviates."""
    within = [system for system in systems if f"{name} · ".startswith(f"{system} · ")]
    short = [system for system in systems if system.startswith(f"{name} · ")]
    best = max(within, key=len) if within else next(iter(short), None)
    return None if best is None else systems.index(best)
