"""Draw the five kinds of charts, so that all figures of a report look alike.

A colour always stands for a system of the user, and grey for published figures. Every series also
has its own shape or label.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt
import pandas as pd

from whybench.report.palette import LIGHT, PUBLISHED, colours, painted
from whybench.report.palette import SHAPES as SHAPES

WIDTH = 620
ROW = 26
"""Height of one row of dots or bars."""


def dots(
    frame: pd.DataFrame,
    *,
    x: str,
    y: str,
    color: str = "system",
    low: str | None = None,
    high: str | None = None,
    x_title: str | None = None,
    y_sort: Sequence[str] | None = None,
    domain: tuple[float, float] | None = (0, 1),
    published: str | None = None,
    under: Sequence[Any] = (),
    height: int | None = None,
) -> alt.LayerChart:
    """Draw estimates as dots in rows, with their intervals.

    `published` names a boolean column that marks published rows. `under` are charts to draw below
    the dots, such as bands.
    """
    scale = alt.Scale(domain=list(domain)) if domain else alt.Scale(zero=False)
    where = alt.X(f"{_field(x)}:Q", title=x_title or x, scale=scale)
    row = alt.Y(f"{_field(y)}:N", title=None, sort=list(y_sort) if y_sort else None)
    hue = _hue(frame, color, published)
    offset = _offset(frame, y, color)
    base = alt.Chart(rows_of(_slotted(frame, y, color)))
    layers: list[Any] = list(under)
    if low and high:
        layers.append(
            base.mark_rule(strokeWidth=2, clip=True).encode(
                x=alt.X(f"{_field(low)}:Q", title=x_title or x, scale=scale),
                x2=alt.X2(f"{_field(high)}:Q"),
                y=row,
                color=hue,
                **offset,
            )
        )
    layers.append(
        base.mark_point(**_point(published)).encode(
            x=where, y=row, **_marks(frame, color, published), **offset
        )
    )
    return sized(layers, height=height or max(60, _rows(frame, y, color) * ROW))


def lines(
    frame: pd.DataFrame,
    *,
    x: str,
    y: str,
    color: str = "system",
    low: str | None = None,
    high: str | None = None,
    x_title: str | None = None,
    y_title: str | None = None,
    x_sort: Sequence[str] | None = None,
    domain: tuple[float, float] | None = (0, 1),
    published: str | None = None,
    height: int = 280,
) -> alt.LayerChart:
    """Draw one line per system; words on the x axis keep the order given."""
    kind = "O" if x_sort is not None or not pd.api.types.is_numeric_dtype(frame[x]) else "Q"
    sort = list(x_sort) if x_sort is not None else None
    across = alt.X(
        f"{_field(x)}:{kind}", title=x_title or x, sort=sort, axis=alt.Axis(labelAngle=0)
    )
    scale = alt.Scale(domain=list(domain)) if domain else alt.Scale(zero=False)
    up = alt.Y(f"{_field(y)}:Q", title=y_title or y, scale=scale)
    hue = _hue(frame, color, published)
    base = alt.Chart(rows_of(frame))
    layers: list[Any] = [
        base.mark_line(strokeWidth=1.6, opacity=0.8).encode(x=across, y=up, color=hue)
    ]
    if low and high:
        layers.append(
            base.mark_rule(strokeWidth=1.6, opacity=0.7, clip=True).encode(
                x=across,
                y=alt.Y(f"{_field(low)}:Q", title=y_title or y, scale=scale),
                y2=alt.Y2(f"{_field(high)}:Q"),
                color=hue,
            )
        )
    layers.append(
        base.mark_point(**_point(published)).encode(
            x=across, y=up, **_marks(frame, color, published)
        )
    )
    return sized([*layers], height=height)


def bars(
    frame: pd.DataFrame,
    *,
    x: str,
    y: str,
    color: str,
    x_title: str | None = None,
    order: Sequence[str] | None = None,
    palette: Sequence[str] | None = None,
    y_sort: Sequence[str] | None = None,
) -> alt.LayerChart:
    """Draw stacked shares in rows; `order` lists the kinds from left to right."""
    kinds = list(order or dict.fromkeys(frame[color]))
    ranked = frame.assign(_rank=[kinds.index(kind) for kind in frame[color]])
    chart = (
        alt.Chart(rows_of(ranked))
        .mark_bar(stroke=LIGHT["paper"], strokeWidth=1)
        .encode(
            x=alt.X(f"{_field(x)}:Q", title=x_title or x, stack="zero"),
            y=alt.Y(f"{_field(y)}:N", title=None, sort=list(y_sort) if y_sort else None),
            color=alt.Color(
                f"{_field(color)}:N",
                title=None,
                sort=kinds,
                scale=alt.Scale(domain=kinds, range=list(palette or colours(kinds))),
            ),
            order=alt.Order("_rank:Q"),
        )
    )
    return sized([chart], height=max(60, frame[y].nunique() * ROW))


def heat(
    frame: pd.DataFrame,
    *,
    x: str,
    y: str,
    value: str,
    x_title: str | None = None,
    x_sort: Sequence[str] | None = None,
    y_sort: Sequence[str] | None = None,
    domain: tuple[float, float] = (0, 1),
    format: str = ".2f",  # noqa: A002 - Vega's own word
) -> alt.LayerChart:
    """Draw a heat map whose cells also show their values."""
    middle = (domain[0] + domain[1]) / 2
    base = alt.Chart(rows_of(frame)).encode(
        x=alt.X(
            f"{_field(x)}:N",
            title=x_title,
            sort=list(x_sort) if x_sort else None,
            axis=alt.Axis(labelAngle=-35, labelLimit=200),
        ),
        y=alt.Y(f"{_field(y)}:N", title=None, sort=list(y_sort) if y_sort else None),
    )
    shade = alt.Scale(domain=list(domain), range=["#eef4f8", "#0b5d91"], clamp=True)
    cells = base.mark_rect().encode(color=alt.Color(f"{_field(value)}:Q", scale=shade, legend=None))
    words = base.mark_text(fontSize=11).encode(
        text=alt.Text(f"{_field(value)}:Q", format=format),
        color=alt.ColorValue(
            "#12202c", condition={"test": f"datum[{value!r}] > {middle}", "value": "#f9fbfd"}
        ),
    )
    return sized([cells, words], height=max(60, frame[y].nunique() * ROW))


def plane(
    frame: pd.DataFrame,
    *,
    x: str,
    y: str,
    color: str = "system",
    label: str | None = None,
    x_title: str | None = None,
    y_title: str | None = None,
    published: str | None = None,
    domain: tuple[float, float] = (0, 1),
) -> alt.LayerChart:
    """Draw points in a plane, each with its label."""
    base = alt.Chart(rows_of(frame)).encode(
        x=alt.X(f"{_field(x)}:Q", title=x_title or x, scale=alt.Scale(domain=list(domain))),
        y=alt.Y(f"{_field(y)}:Q", title=y_title or y, scale=alt.Scale(domain=list(domain))),
        color=_hue(frame, color, published),
    )
    layers: list[Any] = [
        base.mark_point(**_point(published)).encode(**_marks(frame, color, published, 85))
    ]
    if label:
        layers.append(
            base.mark_text(align="left", dx=8, fontSize=11).encode(
                text=alt.Text(f"{_field(label)}:N"), color=alt.ColorValue(LIGHT["soft"])
            )
        )
    return sized([*layers], height=380)


def rows_of(frame: pd.DataFrame) -> alt.InlineData:
    """Return rows as plain data, because Altair is slow with data frames."""
    rows = [
        {str(name): None if pd.isna(value) else value for name, value in row.items()}
        for row in frame.to_dict("records")
    ]
    return alt.InlineData(values=rows)


def rule(at: float, title: str) -> alt.Chart:
    """Return a dashed vertical line at a value, for a chart whose x axis has this title."""
    drawn: alt.Chart = alt.Chart(pd.DataFrame({"at": [at]})).mark_rule(
        strokeDash=[5, 4], color=LIGHT["soft"], strokeWidth=1.4
    )
    return drawn.encode(x=alt.X("at:Q", title=title))


def sized(layers: Sequence[Any], *, height: int, width: int = WIDTH) -> alt.LayerChart:
    """Layer charts in the standard size."""
    return alt.LayerChart(layer=list(layers), width=width, height=height)


CONFIG: dict[str, Any] = {
    "background": "transparent",
    "view": {"stroke": None},
    "axis": {
        "labelColor": LIGHT["soft"],
        "titleColor": LIGHT["ink"],
        "gridColor": LIGHT["line"],
        "domainColor": LIGHT["line"],
        "tickColor": LIGHT["line"],
        "labelLimit": 280,
        "labelFontSize": 12,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
    },
    "legend": {
        "labelColor": LIGHT["ink"],
        "titleColor": LIGHT["ink"],
        "labelLimit": 320,
        "orient": "top",
        "columns": 2,
        "labelFontSize": 12,
        "symbolSize": 90,
    },
    "header": {"labelColor": LIGHT["ink"], "titleColor": LIGHT["ink"], "labelFontSize": 12},
}
"""Fonts and colours of every chart, added when it is drawn."""


def specification(chart: Any, systems: Sequence[str] = ()) -> dict[str, Any]:
    """Return a complete chart as Vega-Lite data in the report's style.

    `systems` are all systems of the report, in the order in which they get colours and shapes.
    """
    # Not validated here: tests check the charts with Vega-Lite itself
    spec: dict[str, Any] = painted(chart.to_dict(validate=False), systems)
    return spec | {"config": CONFIG}


def _field(name: str) -> str:
    """Escape characters that Vega would read as a path."""
    return name.replace(".", "\\.").replace("[", "\\[").replace("]", "\\]").replace(":", "\\:")


def _names(frame: pd.DataFrame, color: str, published: str | None) -> tuple[list[str], list[str]]:
    """Return the user's series and the published ones."""
    known = frame[frame[published]] if published else frame.iloc[:0]
    others = list(dict.fromkeys(known[color]))
    return [name for name in dict.fromkeys(frame[color]) if name not in others], others


def _hue(frame: pd.DataFrame, color: str, published: str | None) -> alt.Color:
    return alt.Color(f"{_field(color)}:N", **_scale(frame, color, published))


def _scale(frame: pd.DataFrame, color: str, published: str | None) -> dict[str, Any]:
    own, others = _names(frame, color, published)
    hues = colours(own) + [PUBLISHED] * len(others)
    names = own + others
    return {"title": None, "sort": names, "scale": alt.Scale(domain=names, range=hues)}


def _shape(frame: pd.DataFrame, color: str, published: str | None) -> alt.Shape:
    own, others = _names(frame, color, published)
    names = own + others
    shapes = [SHAPES[place % len(SHAPES)] for place in range(len(names))]
    return alt.Shape(
        f"{_field(color)}:N", title=None, sort=names, scale=alt.Scale(domain=names, range=shapes)
    )


def _marks(
    frame: pd.DataFrame, color: str, published: str | None, size: int = 75
) -> dict[str, Any]:
    """Return the encoding of a point: filled for the user's systems, hollow for published ones."""
    found = {
        "color": _hue(frame, color, published),
        "shape": _shape(frame, color, published),
        "size": alt.SizeValue(size),
    }
    if published is not None:
        fill = alt.Fill(f"{_field(color)}:N", **_scale(frame, color, published))
        test = {"test": f"datum[{published!r}]", "value": 0.0}
        hollow = alt.FillOpacityValue(1.0, condition=test)
        found |= {"fill": fill, "fillOpacity": hollow}
    return found


def _point(published: str | None) -> dict[str, Any]:
    return {"filled": published is None, "opacity": 1, "strokeWidth": 2}


def _slotted(frame: pd.DataFrame, y: str, color: str) -> pd.DataFrame:
    """Number the systems within each row around 0, so that they are centred in it."""
    slot = frame.groupby(y, sort=False)[color].transform(lambda names: pd.factorize(names)[0])
    last = slot.groupby(frame[y]).transform("max")
    return frame.assign(_slot=slot - last / 2)


def _offset(frame: pd.DataFrame, y: str, color: str) -> dict[str, Any]:
    """Separate the systems of one row vertically."""
    if _apart(frame, y, color) < 2:
        return {}
    slots = sorted(_slotted(frame, y, color)["_slot"].unique().tolist())
    return {"yOffset": alt.YOffset("_slot:O", scale=alt.Scale(domain=slots))}


def _apart(frame: pd.DataFrame, y: str, color: str) -> int:
    """Return the largest number of systems in one row."""
    return 1 if y == color else int(frame.groupby(y)[color].nunique().max())


def _rows(frame: pd.DataFrame, y: str, color: str) -> int:
    return int(frame[y].nunique() * max(1, _apart(frame, y, color) * 0.7))
