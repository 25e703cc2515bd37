"""Draw Altair charts offline as SVG and PNG files, and as SVG in the page's colours."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

import altair
import vl_convert

from whybench.report.charts import specification
from whybench.report.palette import LIGHT
from whybench.report.section import Figure

PLAIN: Mapping[str, str] = {
    "#000": "ink",
    "#000000": "ink",
    "black": "ink",
    "#888": "soft",
    "#ddd": "line",
    "white": "paper",
    "#fff": "paper",
    "#ffffff": "paper",
}
"""Default colour of Vega → token that replaces it."""

SHRINK = 0.75
"""Smallest scale of a picture; below it, the box scrolls so that the text stays legible."""

ENLARGED = 1.5
"""Scale of a PNG file relative to the figure in the page."""

_COLOUR = re.compile(r'\b(fill|stroke|stop-color)="([^"]+)"')
_NAMED = re.compile(r'\bid="([^"]+)"')
_ROOT = re.compile(r'<svg\b[^>]*?width="([\d.]+)" height="([\d.]+)"[^>]*>')
_GROUND = re.compile(r'(<svg\b[^>]*>)<rect width="[\d.]+" height="[\d.]+" fill="[^"]+"/>')


@dataclass(frozen=True, slots=True)
class Picture:
    """A figure as it is embedded in the page."""

    svg: str
    least: int
    """Width in pixels below which it is not legible."""


def svg_of(figure: Figure, systems: Sequence[str] = ()) -> str:
    """Return the figure as a stand-alone SVG in light colours; see `specification`."""
    chart = specification(figure.chart, systems) | {"background": LIGHT["paper"]}
    drawn: str = vl_convert.vegalite_to_svg(chart, vl_version=_version(), allowed_base_urls=[])
    return _named(drawn, figure)


def png_of(figure: Figure, svg: str | None = None) -> bytes:
    """Return the figure as a PNG; pass `svg` if it was already drawn."""
    drawn: bytes = vl_convert.svg_to_png(svg or svg_of(figure), scale=ENLARGED)
    return drawn


def placed(svg: str, figure: Figure) -> Picture:
    """Return a drawn figure for the page: named, transparent, in the page's colours."""
    root = _ROOT.search(svg)
    if root is None:
        raise ValueError(f"Figure {figure.id}: the drawing has no <svg> with width and height.")
    width, height = float(root[1]), float(root[2])
    opening = (
        f'<svg class="marks" id="picture-{figure.id}" width="{width:g}" height="{height:g}" '
        f'viewBox="0 0 {width:g} {height:g}" role="img" aria-label="{escape(figure.alt)}">'
    )
    svg = _ROOT.sub("", _GROUND.sub(r"\1", svg, count=1), count=1)
    return Picture(opening + _COLOUR.sub(_token, svg), round(width * SHRINK))


def _token(match: re.Match[str]) -> str:
    colour = match[2].lower()
    token = _TOKENS.get(colour)
    return f'{match[1]}="var(--{token})"' if token else match[0]


def _named(svg: str, figure: Figure) -> str:
    """Rename the ids of a picture after its figure, so that ids are unique in a page.

    The renderer numbers ids over all pictures of a process. Here they start at 0 for each figure.
    """
    for place, name in enumerate(dict.fromkeys(_NAMED.findall(svg))):
        new = f"picture-{figure.id}-{place}"
        svg = svg.replace(f'id="{name}"', f'id="{new}"').replace(f"url(#{name})", f"url(#{new})")
        svg = svg.replace(f'href="#{name}"', f'href="#{new}"')
    return svg


def _version() -> str:
    """Return the Vega-Lite release that Altair writes for, as vl-convert names it."""
    return ".".join(altair.SCHEMA_VERSION.lstrip("v").split(".")[:2])


_TOKENS = {**PLAIN, **{colour.lower(): token for token, colour in LIGHT.items()}}
