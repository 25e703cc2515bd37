"""Fill a declared section: functions give rows, and forms turn them into parts."""

from __future__ import annotations

import string
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from whybench.report import charts
from whybench.report.forms import (
    FigureForm,
    Given,
    RemarkForm,
    SectionForm,
    Shown,
    TableForm,
)
from whybench.report.palette import LIGHT
from whybench.report.section import Figure, Part, Remark, Section, Table


class _Filled(string.Formatter):
    """Fill templates; a missing value becomes "unknown"."""

    def format_field(self, value: Any, format_spec: str) -> str:
        if value is None or value is pd.NA or value != value:
            return "unknown"
        return str(super().format_field(value, format_spec))


def filled(text: str, words: Mapping[str, Any]) -> str:
    """Return a template with its names filled in.

    >>> filled("{system} {share:.2f}", {"system": "one", "share": float("nan")})
    'one unknown'
    """
    return _Filled().vformat(text, (), words)


def named(*modules: object) -> dict[str, Callable[..., Any]]:
    """Return the functions of modules by name, for `written`."""
    return {name: thing for module in modules for name, thing in vars(module).items()}


def written(
    form: SectionForm, functions: Mapping[str, Callable[..., Any]], subject: Any
) -> Section:
    """Return the section that a form and its functions give for a subject, often a `View`."""
    known: dict[str, list[Shown]] = {}

    def rows(name: str) -> list[Shown]:
        if name not in known:
            function, *given = name.split()
            known[name] = list(_shown(functions[function](subject, *given)))
        return known[name]

    def section(one: SectionForm) -> Section:
        made = [(part, list(_made(part, rows, functions))) for part in one.parts]
        parts = [p for form, found in made for p in found or _missing(form)]
        if one.missing and not any(found for _, found in made):
            parts = [Remark(one.missing)]
        children = tuple(
            inner for child in one.children if (inner := section(child)).parts or inner.children
        )
        return Section(one.id, one.title, one.intro, tuple(parts), children)

    return section(form)


def _shown(given: Given) -> Iterable[Shown]:
    """Convert what a function returned to `Shown`, without empty ones."""
    if given is None:
        return []
    if isinstance(given, pd.DataFrame):
        given = [Shown(given)]
    elif isinstance(given, Shown):
        given = [given]
    found = list(given)
    if found and isinstance(found[0], dict):
        found = [Shown(pd.DataFrame(found))]
    return [shown for shown in found if len(shown.frame)]


def _made(
    form: TableForm | FigureForm | RemarkForm,
    rows: Callable[[str], list[Shown]],
    functions: Mapping[str, Callable[..., Any]],
) -> Iterable[Part]:
    for shown in rows(form.rows):
        if isinstance(form, RemarkForm):
            yield from remarks(form, shown)
        elif isinstance(form, TableForm):
            yield table(form, shown)
        else:
            yield figure(form, shown, functions)


def _missing(form: TableForm | FigureForm | RemarkForm) -> list[Remark]:
    return [Remark(form.missing)] if form.missing else []


def remarks(form: RemarkForm, shown: Shown) -> Iterable[Remark]:
    """Fill a remark's form for each row; with `unless`, at most once."""
    if not form.unless:
        for row in shown.frame.to_dict("records"):
            yield Remark(filled(form.text, {**shown.words, **row}), form.tone)
    elif not shown.frame[form.unless].any():
        yield Remark(filled(form.text, shown.words), form.tone)


def table(form: TableForm, shown: Shown) -> Table:
    """Fill a table's form."""
    return Table(
        _name(form.id, shown.words),
        filled(form.title, shown.words),
        _columns(form, shown.frame),
        filled(form.note, shown.words).strip(),
    )


def figure(form: FigureForm, shown: Shown, functions: Mapping[str, Callable[..., Any]]) -> Figure:
    """Fill a figure's form: draw the chart and write its text alternative."""
    words = {"x_title": form.x_title, "y_title": form.y_title, **shown.words}
    words = {"title": filled(form.title, words), **words}
    words |= {"said": _said(form, shown.frame), "published": _published(form, shown.frame)}
    return Figure(
        _name(form.id, words),
        filled(form.title, words),
        filled(form.alt, words),
        functions[form.draw](form, shown) if form.draw else drawn(form, shown),
        _columns(form, shown.frame),
        filled(form.note, words).strip(),
    )


def _name(text: str, words: Mapping[str, Any]) -> str:
    return filled(text, words).replace("_", "-")


def _columns(form: TableForm | FigureForm, frame: pd.DataFrame) -> pd.DataFrame:
    kept = frame[[n for n in form.columns if n in frame]] if form.columns else frame
    return kept.drop(columns=list(form.drop), errors="ignore").reset_index(drop=True)


# Words.


def _own(frame: pd.DataFrame) -> pd.DataFrame:
    return frame[~frame["published"].astype(bool)] if "published" in frame else frame


def _said(form: FigureForm, frame: pd.DataFrame) -> str:
    """Describe the user's own rows in words, grouped by system."""
    if not form.each:
        return ""
    own = _own(frame)
    if form.unless:
        own = own[own[form.unless] != 0]
    if not form.by:
        told = [filled(form.each, row) for row in own.to_dict("records")]
    else:
        told = []
        for _, group in own.groupby(form.by, sort=False):
            rows = group.to_dict("records")
            head = filled(form.head or f"{{{form.by}}}", rows[0])
            told.append(f"{head}: {', '.join(filled(form.each, row) for row in rows)}")
    more = len(told) - form.most if form.most else 0
    return "; ".join([*told[: form.most or None], *([f"and {more} more"] if more > 0 else [])])


def _published(form: FigureForm, frame: pd.DataFrame) -> str:
    reached = reach(frame, form.value or (form.y if form.kind == "lines" else form.x))
    return f" Published: {reached}." if reached else ""


def reach(frame: pd.DataFrame, value: str) -> str:
    """Return the range of the published rows in words; empty if there are none."""
    if "published" not in frame or value not in frame:
        return ""
    theirs = frame[frame["published"].astype(bool)].dropna(subset=[value])
    if theirs.empty:
        return ""
    count = theirs["system"].nunique()
    low, high = theirs[value].min(), theirs[value].max()
    return f"{low:.2f} to {high:.2f} ({count} system{'s' if count > 1 else ''})"


# Pictures.


def drawn(form: FigureForm, shown: Shown) -> Any:
    """Draw rows as the kind of chart that the form declares."""
    frame = shown.frame
    bounds = {form.low, form.high} <= set(frame.columns)
    spread = {"low": form.low, "high": form.high} if bounds else {}
    published = "published" if "published" in frame else None
    order = list(shown.words.get("order", form.order))
    x_title = filled(form.x_title, shown.words)
    y_title = filled(form.y_title, shown.words)
    chart: Any
    if form.kind == "dots":
        chart = charts.dots(
            frame, x=form.x, y=form.y, color=form.color, x_title=x_title, domain=form.domain,
            y_sort=_order(order, frame[form.y]), published=published, height=form.height or None,
            **spread,
        )  # fmt: skip
    elif form.kind == "lines":
        words = frame.assign(**{form.x: frame[form.x].astype(str)})
        chart = charts.lines(
            words, x=form.x, y=form.y, color=form.color, x_title=x_title, y_title=y_title,
            x_sort=_order(order, frame[form.x]), domain=form.domain, published=published,
            height=form.height or 280, **spread,
        )  # fmt: skip
    elif form.kind == "bars":
        there = set(frame.loc[frame[form.x] > 0, form.color])
        kinds = [kind for kind in form.kinds if kind in there]
        chart = charts.bars(
            frame[frame[form.color].isin(kinds)], x=form.x, y=form.y, color=form.color,
            x_title=x_title, order=kinds, palette=[LIGHT[form.kinds[kind]] for kind in kinds],
            y_sort=_order(order, frame[form.y]),
        )  # fmt: skip
    elif form.kind == "heat":
        chart = charts.heat(
            frame, x=form.x, y=form.y, value=form.value, x_title=x_title or None,
            x_sort=_order(form.across, frame[form.x]), y_sort=_order(order, frame[form.y]),
        )  # fmt: skip
    elif form.kind == "plane":
        chart = charts.plane(
            frame, x=form.x, y=form.y, color=form.color, label=form.label or None,
            x_title=x_title, y_title=y_title, published=published,
        )  # fmt: skip
    else:
        raise ValueError(f"{form.id}: a figure of kind {form.kind!r} needs a function `draw`.")
    for name in form.rules:
        if not pd.isna(shown.words[name]):
            chart = chart + charts.rule(shown.words[name], x_title)
    return chart


def _order(wanted: Sequence[Any], there: pd.Series) -> list[str]:
    """Return the words of an axis: first those wanted, then the rest; numbers by size."""
    found = [str(value) for value in dict.fromkeys(there)]
    if not wanted and pd.api.types.is_numeric_dtype(there):
        return [str(value) for value in sorted(set(there))]
    first = [str(value) for value in wanted]
    return [*first, *(value for value in found if value not in first)]
