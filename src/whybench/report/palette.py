"""Colours that stay apart for colour-blind readers, in light and in dark.

The eight hues are those of Okabe and Ito. Pictures are drawn with the light values; the page puts
CSS variables in their place, so that one picture serves both themes. No two tokens may share a
value, or the page could not tell them apart.

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
"""Tokens for the user's systems, in the order in which they are given out."""

PUBLISHED = LIGHT["grey"]
"""The one colour of published figures."""


def colours(names: list[str]) -> list[str]:
    """Return a light colour for each name; after eight they repeat, so shapes must differ too."""
    return [LIGHT[SYSTEMS[place % len(SYSTEMS)]] for place in range(len(names))]


SHAPES = (
    "circle", "square", "triangle-up", "diamond",
    "cross", "triangle-down", "triangle-right", "triangle-left",
)  # fmt: skip

_CHANNELS = ("color", "fill", "shape")


def painted(spec: Any, systems: Sequence[str]) -> Any:
    """Return a chart's data with one colour and one shape for each system of a report.

    A chart gives them out by places in its own list of series; here a series gets those of the
    system's place among all of the report. A series is a system, or part of one ("name · part");
    parts of one system have its colour, and shapes that differ. Other series stay as they are.
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
    """Return the place of the system that a series is, is a part of, or is short for."""
    within = [system for system in systems if f"{name} · ".startswith(f"{system} · ")]
    short = [system for system in systems if system.startswith(f"{name} · ")]
    best = max(within, key=len) if within else next(iter(short), None)
    return None if best is None else systems.index(best)
