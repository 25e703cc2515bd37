"""Colours that colour-blind readers can distinguish, for a light and a dark theme.

The eight hues are those of Okabe and Ito. Charts are drawn with the light values. The page replaces
each value by a CSS variable, so one picture serves both themes. Two tokens must not share a value,
because the page could not distinguish them.

Reference:
    M. Okabe and K. Ito (2008), Color Universal Design: how to make figures and presentations that
        are friendly to colorblind people.
"""

from __future__ import annotations

from collections.abc import Sequence
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
}

SYSTEMS = ("blue", "vermillion", "green", "purple", "orange", "sky", "yellow", "black")
"""Tokens for the user's systems, in the order in which they are assigned."""

PUBLISHED = LIGHT["grey"]
"""The one colour of published figures."""


def colours(names: list[str]) -> list[str]:
    """Return a light colour for each name; colours repeat after eight, so shapes differ too."""
    return [LIGHT[SYSTEMS[place % len(SYSTEMS)]] for place in range(len(names))]


SHAPES = (
    "circle", "square", "triangle-up", "diamond",
    "cross", "triangle-down", "triangle-right", "triangle-left",
)  # fmt: skip

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
    for name in series:
        place = _place(name, systems)
        if place is None:
            continue
        hue, turn = LIGHT[SYSTEMS[place % len(SYSTEMS)]], place + place // len(SYSTEMS)
        shapes = [SHAPES[(turn + step) % len(SHAPES)] for step in range(len(SHAPES))]
        free = [shape for shape in shapes if (hue, shape) not in found.values()]
        found[name] = hue, (free or shapes)[0]
    return found


def _place(name: str, systems: Sequence[str]) -> int | None:
    """Return the position of the system that a series is, belongs to or abbreviates."""
    within = [system for system in systems if f"{name} · ".startswith(f"{system} · ")]
    short = [system for system in systems if system.startswith(f"{name} · ")]
    best = max(within, key=len) if within else next(iter(short), None)
    return None if best is None else systems.index(best)
