"""The plane of accuracy and edge F1: regimes in it, and controls as arrows."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt
import pandas as pd

from whybench.families.causalab.extras.report.rows import (
    caveats,
    entries,
    framed,
    own_row,
    paper_differences,
    published_rows,
    regime_of,
    setting_of,
    suites,
)
from whybench.families.causalab.parameters import PLANS, regime
from whybench.report.charts import WIDTH, plane, sized
from whybench.report.decisions.difference import difference
from whybench.report.entries import Entry, labels_of, told
from whybench.report.filling import filled, reach
from whybench.report.forms import FigureForm, Row, Shown
from whybench.report.palette import LIGHT
from whybench.report.published.matching_by_index import by_place
from whybench.report.view import View

HEIGHT = 380
AXES = ("accuracy", "edge_f1")
COLUMNS = (
    "accuracy", "root_f1", "edge_precision", "edge_recall", "edge_f1", "freq_edge_f1",
    "freq_weight_f1",
)  # fmt: skip
"""The columns of the paper's Tables 9 to 12."""
MOST_CROSSES = 8
"""Maximum number of own points with drawn intervals; the table always has them."""

KINDS = ("records only", "interventions only", "both")
DASHES = ([1, 0], [2, 3], [7, 4])


@dataclass(frozen=True, slots=True)
class Control:
    """A control suite that changes one condition of the main suite."""

    name: str
    title: str
    to: dict[str, str]
    """Suite → the label of its arrow head."""
    labels: str = ""
    """What the labels mean."""

    def base(self, suite: str) -> str:
        """Return the suite for comparison: the main suite of the same size."""
        return f"main_{PLANS[suite].k}"


CONTROLS = (
    Control("quadratic", "Linear to quadratic laws", {"quad_hard": ""}),
    Control(
        "hidden-count", "A hidden disturbance of 1, 2, 3 properties",
        {f"hidden_count_{n}": f"{n}" for n in (1, 2, 3)}, "properties that are shifted",
    ),
    Control(
        "hidden-range", "A hidden disturbance of increasing size",
        {f"hidden_range_{n}": n.replace("p", ".") for n in ("0p5", "5", "50")},
        "the size of the disturbance",
    ),
    Control(
        "hidden-frequency", "A hidden disturbance that also shifts the frequency",
        {f"hidden_freq_{n}": f"+{n - 1}" for n in (1, 2, 3)},
        "properties that are shifted besides the frequency",
    ),
    Control(
        "freqparent", "A frequency that has effects",
        {f"freqparent_{k}": f"{k}" for k in (4, 6)}, "quantities",
    ),
    Control(
        "golden", "A given chain of interventions that suffices, instead of a budget",
        {f"golden_{k}": f"{k}" for k in (4, 6)}, "quantities",
    ),
)  # fmt: skip


# Regimes.


def kind(text: str) -> str:
    """Return the kind of a regime.

    >>> [kind(text) for text in ("3o0i", "0o3i", "3o3i")]
    ['records only', 'interventions only', 'both']
    """
    records, interventions = regime(text)
    return KINDS[2] if records and interventions else KINDS[0] if records else KINDS[1]


def frontier(view: View, nodes: str) -> Shown:
    """Return the regimes of a size, each system's lines in order of growing budgets."""
    rows: list[Row] = []
    like: list[Entry] = []
    for entry in entries(view):
        found = [r for r in _regimes(view, entry, nodes) if not math.isnan(r["accuracy"])]
        rows += found
        like += [entry] if found else []
    if not rows:
        return Shown(pd.DataFrame())
    rows += published_rows(view, f"scaling_{nodes}", AXES, like, parts=True)
    held = [row["regime"] for row in rows]
    frame = framed(rows).assign(
        regime=held,
        evidence=[kind(text) for text in held],
        budget=[sum(regime(text)) for text in held],
    )
    seen = {name: place for place, name in enumerate(dict.fromkeys(frame["system"]))}
    frame = frame.sort_values(
        ["system", "evidence", "budget"],
        key=lambda column: column.map(seen) if column.name == "system" else column,
        kind="stable",
    )
    last = frame.groupby(["system", "evidence"])["budget"].transform("max") == frame["budget"]
    accuracy, edges = (reach(frame, axis) for axis in AXES)
    reached = f" Published: accuracy {accuracy}, edge F1 {edges}." if accuracy and edges else ""
    words = {"nodes": nodes, "differences": paper_differences(like), "reached": reached}
    return Shown(frame.assign(label=frame["regime"].where(last, "")), words)


def by_regime(view: View, nodes: str) -> Shown:
    """Return all metrics of each regime of a size, as the paper lists them."""
    rows: list[Row] = []
    like: list[Entry] = []
    for entry in entries(view):
        for text, where in _parts(entry, nodes):
            found = {metric: view.estimate(entry.run, metric, where) for metric in COLUMNS}
            if not found["accuracy"].n:
                continue
            like.append(entry)
            named = {"regime": text, "system": entry.system, "origin": entry.origin}
            cells = {metric: told(value) for metric, value in found.items()}
            rows.append({**named, "n": found["accuracy"].n, **cells})
    for row in published_rows(view, f"scaling_{nodes}", COLUMNS, like, parts=True) if rows else ():
        kept = {metric: row.get(f"{metric} printed", "–") for metric in COLUMNS}
        rows.append({key: row[key] for key in ("regime", "system", "origin", "n")} | kept)
    rows.sort(key=lambda row: regime(row["regime"]))
    return Shown(pd.DataFrame(rows), {"nodes": nodes, "differences": paper_differences(like)})


def _regimes(view: View, entry: Entry, nodes: str) -> Iterator[Row]:
    for text, where in _parts(entry, nodes):
        yield own_row(view, entry, AXES, where) | {"regime": text}


def _parts(entry: Entry, nodes: str) -> Iterator[tuple[str, Any]]:
    """Yield the regimes of a run, and which of its episodes belong to each; None is all."""
    if entry.suite == f"main_{nodes}" and regime_of(entry):
        yield regime_of(entry), None
    if entry.suite == f"scaling_{nodes}":
        frame = entry.run.frame
        said = [str(labels_of(row).get("regime") or "") for row in frame.to_dict("records")]
        held = pd.Series(said, index=frame.index, dtype=str)
        for text in sorted(set(held) - {""}, key=regime):
            yield text, held == text


def draw_frontier(form: FigureForm, shown: Shown) -> alt.LayerChart:
    """Draw lines that join growing budgets, and name the largest."""
    dots, texts = _points(form, shown.frame)
    texts.mark.dy = -9
    dashes = alt.Scale(domain=list(KINDS), range=list(DASHES))
    ways = alt.Chart(shown.frame).mark_line(strokeWidth=1.5, opacity=0.75).encode(
        x="accuracy:Q", y="edge_f1:Q", color=dots.encoding.color, order="budget:Q",
        strokeDash=alt.StrokeDash("evidence:N", title=None, sort=list(KINDS), scale=dashes),
    )  # fmt: skip
    return sized([ways, *_crosses(shown.frame), dots, texts], height=HEIGHT)


def _points(form: FigureForm, frame: pd.DataFrame) -> tuple[Any, Any]:
    """Return points and their labels as layers that hold their own rows."""
    drawn = plane(
        frame, x="accuracy", y="edge_f1", label="label", published="published",
        x_title=form.x_title, y_title=form.y_title,
    )  # fmt: skip
    dots, texts = drawn.layer
    dots.data = texts.data = frame
    return dots, texts


def _crosses(frame: pd.DataFrame) -> list[alt.Chart]:
    """Return thin intervals of the user's own points; none if there are many points."""
    own = frame[~frame["published"]].drop_duplicates(["system", *AXES])
    if len(own) > MOST_CROSSES:
        return []
    thin = alt.Chart(own).mark_rule(strokeWidth=1, opacity=0.45, color=LIGHT["soft"])
    return [
        thin.encode(x="accuracy low:Q", x2="accuracy high:Q", y="edge_f1:Q"),
        thin.encode(y="edge_f1 low:Q", y2="edge_f1 high:Q", x="accuracy:Q"),
    ]


# Controls.


def _pairs(listed: Sequence[Entry], control: Control) -> Iterator[tuple[Entry, Entry]]:
    """Yield each run on a control with the run of the same system on its base."""
    for suite in control.to:
        base = control.base(suite)
        bases = {setting_of(entry): entry for entry in suites(listed, [base]).get(base, ())}
        for entry in suites(listed, [suite]).get(suite, ()):
            if setting_of(entry) in bases:
                yield bases[setting_of(entry)], entry


def arrows(view: View) -> Iterator[Shown]:
    """Return the two ends of each arrow, for each control with runs."""
    listed = entries(view)
    for control in CONTROLS:
        pairs = list(_pairs(listed, control))
        like = [other for _, other in pairs]
        ends = [(own_row(view, base, AXES), own_row(view, other, AXES)) for base, other in pairs]
        for suite in control.to if pairs else ():
            base = published_rows(view, control.base(suite), AXES, like)
            before = {row["system"]: row for row in base}
            theirs = published_rows(view, suite, AXES, like)
            ends += [(before[r["system"]], r) for r in theirs if r["system"] in before]
        rows: list[Row] = []
        for place, (start, end) in enumerate(ends):
            head = {"label": control.to[end["suite"]], "angle": _angle(start, end)}
            rows.append(start | {"arrow": place, "label": "", "angle": 0.0, "end": "base"})
            rows.append(end | {"arrow": place, **head, "end": "control"})
        if not rows:
            continue
        frame = framed(rows)
        words = {
            "name": control.name, "title": control.title, "differences": paper_differences(like),
            "labels": f"Labels: {control.labels}. " if control.labels else "",
            "caveats": caveats(control.to), "moved": "; ".join(_moved(*pair) for pair in ends),
        }  # fmt: skip
        yield Shown(frame[frame[list(AXES)].notna().all(axis=1)], words)


def _moved(start: Row, end: Row) -> str:
    words = {f"from_{axis}": start[axis] for axis in AXES} | end
    said = "{system}, {suite}: accuracy {from_accuracy:.2f} to {accuracy:.2f}, edge F1 "
    return filled(said + "{from_edge_f1:.2f} to {edge_f1:.2f}", words)


def _angle(start: Row, end: Row) -> float:
    """Return where an arrow points on the screen, in degrees clockwise from upwards."""
    across = (end["accuracy"] - start["accuracy"]) * WIDTH
    up = (end["edge_f1"] - start["edge_f1"]) * HEIGHT
    return math.degrees(math.atan2(across, up)) if across or up else 0.0


def draw_arrows(form: FigureForm, shown: Shown) -> alt.LayerChart:
    """Draw shafts, the dots they come from, and heads with a label on their far side."""
    frame = shown.frame
    dots, texts = _points(form, frame)
    hue = dots.encoding.color
    bases, controls = (frame[frame["end"] == end] for end in ("base", "control"))
    shafts = alt.Chart(frame).mark_line(strokeWidth=2).encode(
        x="accuracy:Q", y="edge_f1:Q", color=hue, detail="arrow:N"
    )  # fmt: skip
    head = alt.Chart(controls).mark_point(shape="triangle", size=170, filled=True, opacity=1)
    heads = head.encode(
        x="accuracy:Q", y="edge_f1:Q", color=hue, angle=alt.Angle("angle:Q", scale=None)
    )
    dots.data = bases
    words = []
    for align, dx, there in (
        ("right", -12, controls["angle"] < 0),
        ("left", 12, controls["angle"] >= 0),
    ):
        side = texts.copy(deep=True)
        side.data = controls[there]
        side.mark.align, side.mark.dx = align, dx
        words.append(side)
    return sized([shafts, *_crosses(frame), dots, heads, *words], height=HEIGHT)


def absent_controls(view: View) -> Iterator[Row]:
    """Return the controls that no system has played together with their base."""
    listed = entries(view)
    for control in CONTROLS:
        if not any(_pairs(listed, control)):
            suite = next(iter(control.to))
            yield {"title": control.title, "suite": suite, "base": control.base(suite)}


def changes(view: View) -> Iterator[Row]:
    """Return the paired differences of each control."""
    listed = entries(view)
    for base, entry in (pair for control in CONTROLS for pair in _pairs(listed, control)):
        first, second = (by_place(one.run.frame) for one in (entry, base))
        for metric in ("accuracy", "edge_f1", "freq_weight_f1"):
            found = difference(first, second, metric, rate=metric == "accuracy")
            yield {
                "system": entry.system, "control": entry.suite, "base": base.suite,
                "metric": metric, "with base": found.second, "with control": found.first,
                "difference": found.estimate, "low": found.low, "high": found.high, "n": found.n,
            }  # fmt: skip
