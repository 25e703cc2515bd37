"""Controls as arrows in the plane of accuracy and edge F1: what each of them moves."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt
import pandas as pd

from whybench.families.causalab.params import PLANS
from whybench.report.charts import WIDTH, sized
from whybench.report.difference import difference
from whybench.report.families.causalab_plane import AXES, HEIGHT, crosses, points
from whybench.report.families.causalab_rows import (
    Entry,
    caveats,
    command,
    entries,
    figure_text,
    framed,
    own_row,
    published_rows,
    suites,
    unlike,
)
from whybench.report.places import by_place
from whybench.report.section import Figure, Part, Table
from whybench.report.view import View


@dataclass(frozen=True, slots=True)
class Control:
    """A change that moves prediction and mechanism apart."""

    name: str
    title: str
    to: tuple[tuple[str, str], ...]
    """Suite → what stands beside its head."""
    labels: str = ""
    """What these words count."""

    def base(self, suite: str) -> str:
        """The suite that it is held against: the main one of the same size."""
        return f"main_{PLANS[suite].k}"


CONTROLS = (
    Control("quadratic", "Linear to quadratic laws", (("quad_hard", ""),)),
    Control(
        "hidden-count",
        "A hidden disturbance of 1, 2, 3 properties",
        tuple((f"hidden_count_{n}", f"{n}") for n in (1, 2, 3)),
        "properties that are moved",
    ),
    Control(
        "hidden-range",
        "A hidden disturbance of growing size",
        tuple((f"hidden_range_{n}", n.replace("p", ".")) for n in ("0p5", "5", "50")),
        "the size of the disturbance",
    ),
    Control(
        "hidden-frequency",
        "A hidden disturbance that moves the frequency too",
        tuple((f"hidden_freq_{n}", f"+{n - 1}") for n in (1, 2, 3)),
        "properties that are moved besides the frequency",
    ),
    Control(
        "freqparent",
        "A frequency that has effects",
        tuple((f"freqparent_{k}", f"{k}") for k in (4, 6)),
        "quantities",
    ),
    Control(
        "golden",
        "Given a chain of interventions that suffices, instead of a budget",
        tuple((f"golden_{k}", f"{k}") for k in (4, 6)),
        "quantities",
    ),
)


def controls(view: View) -> list[Part]:
    """Return an arrow chart for each control, and a table of the paired changes."""
    listed = entries(view)
    parts: list[Part] = [_arrows(view, listed, control) for control in CONTROLS]
    changes = [row for control in CONTROLS for row in _changes(listed, control)]
    if changes:
        parts.append(
            Table(
                "causalab-controls",
                "What each control changes, pair by pair",
                pd.DataFrame(changes),
                "Control minus base, paired by the place in the suite: the same graph, and in "
                "linear suites the same weights and crystals. 95 % intervals by world.",
            )
        )
    return parts


def _arrows(view: View, listed: Sequence[Entry], control: Control) -> Part:
    words = dict(control.to)
    pairs = list(_pairs(listed, control))
    if not pairs:
        suite = control.to[0][0]
        what = f"{control.title} (with the same system on {control.base(suite)})"
        return command(what, suite)
    ends: list[tuple[dict[str, Any], dict[str, Any]]] = [
        (own_row(view, base, AXES), own_row(view, other, AXES)) for base, other in pairs
    ]
    for suite in words:
        like = [other for _, other in pairs]
        base = published_rows(view, control.base(suite), AXES, like)
        before = {row["system"]: row for row in base}
        ends += [
            (before[row["system"]], row)
            for row in published_rows(view, suite, AXES, like)
            if row["system"] in before
        ]
    rows = []
    for place, (start, end) in enumerate(ends):
        turn = _angle(start, end)
        rows.append(start | {"arrow": place, "label": "", "angle": 0.0, "end": "base"})
        rows.append(
            end | {"arrow": place, "label": words[end["suite"]], "angle": turn, "end": "control"}
        )
    frame = framed(rows)
    frame = frame[frame[list(AXES)].notna().all(axis=1)]
    said = "; ".join(
        f"{end['system']}, {end['suite']}: accuracy {figure_text(start['accuracy'])} to "
        f"{figure_text(end['accuracy'])}, edge F1 {figure_text(start['edge_f1'])} to "
        f"{figure_text(end['edge_f1'])}"
        for start, end in ends
    )
    note = "Each arrow goes from the main suite of the same size (dot) to the control (head). "
    note += f"Labels: {control.labels}. " if control.labels else ""
    note += "Thin crosses, where points are few, are 95 % intervals; grey is published, on other "
    note += f"instances.{unlike(other for _, other in pairs)}"
    return Figure(
        f"causalab-control-{control.name}",
        control.title,
        f"Arrows in the plane of accuracy and edge F1. {said}.",
        _drawn(frame),
        frame.drop(columns=["angle", "arrow", "label"]),
        " ".join(filter(None, (note, caveats(words)))),
    )


def _drawn(frame: pd.DataFrame) -> alt.LayerChart:
    """Draw shafts, the dots they come from, and heads with a label on their far side."""
    dots, texts = points(frame)
    hue = dots.encoding.color
    bases, controls = (frame[frame["end"] == end] for end in ("base", "control"))
    shafts = alt.Chart(frame).mark_line(strokeWidth=2).encode(
        x="accuracy:Q", y="edge_f1:Q", color=hue, detail="arrow:N"
    )  # fmt: skip
    heads = alt.Chart(controls).mark_point(
        shape="triangle", size=170, filled=True, opacity=1
    ).encode(
        x="accuracy:Q", y="edge_f1:Q", color=hue, angle=alt.Angle("angle:Q", scale=None)
    )  # fmt: skip
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
    return sized([shafts, *crosses(frame), dots, heads, *words], height=HEIGHT)


def _pairs(listed: Sequence[Entry], control: Control) -> Iterator[tuple[Entry, Entry]]:
    """Yield each run on a control with the run of the same system on its base."""
    for suite, _ in control.to:
        bases = {
            e.setting: e for e in suites(listed, [control.base(suite)]).get(control.base(suite), ())
        }
        for entry in suites(listed, [suite]).get(suite, ()):
            base = bases.get(entry.setting)
            if base is not None:
                yield base, entry


def _angle(start: dict[str, Any], end: dict[str, Any]) -> float:
    """Return where an arrow points on the screen, in degrees clockwise from upwards."""
    across = (end["accuracy"] - start["accuracy"]) * WIDTH
    up = (end["edge_f1"] - start["edge_f1"]) * HEIGHT
    return math.degrees(math.atan2(across, up)) if across or up else 0.0


def _changes(listed: Sequence[Entry], control: Control) -> Iterator[dict[str, Any]]:
    for base, entry in _pairs(listed, control):
        first, second = (by_place(run.frame) for run in (entry.run, base.run))
        for metric, rate in (("accuracy", True), ("edge_f1", False), ("freq_weight_f1", False)):
            found = difference(first, second, metric, rate=rate)
            yield {
                "system": entry.system,
                "control": entry.suite,
                "base": base.suite,
                "metric": metric,
                "with base": found.second,
                "with control": found.first,
                "difference": found.estimate,
                "low": found.low,
                "high": found.high,
                "n": found.n,
            }
