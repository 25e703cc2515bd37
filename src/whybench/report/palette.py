"""Colours that stay apart for colour-blind readers, in light and in dark.

The eight hues are those of Okabe and Ito. Pictures are drawn with the light values; the page puts
CSS variables in their place, so that one picture serves both themes. No two tokens may share a
value, or the page could not tell them apart.

Reference:
    M. Okabe and K. Ito (2008), Color Universal Design: how to make figures and presentations that
        are friendly to colorblind people.
"""

from __future__ import annotations

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
