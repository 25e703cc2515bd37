"""The plane of prediction and mechanism: points in it, their labels and their intervals."""

from __future__ import annotations

from typing import Any

import altair as alt
import pandas as pd

from whybench.report.charts import plane
from whybench.report.palette import LIGHT

HEIGHT = 380
AXES = ("accuracy", "edge_f1")
MOST_CROSSES = 8
"""Own points up to which intervals are drawn; they stand in the table anyway."""


def points(frame: pd.DataFrame) -> tuple[Any, Any]:
    """Return points and their labels as layers that hold their own rows."""
    drawn = plane(
        frame, x="accuracy", y="edge_f1", label="label", published="published",
        x_title="accuracy: the frequency was predicted", y_title="edge F1: the graph was recovered",
    )  # fmt: skip
    dots, texts = drawn.layer
    dots.data = texts.data = frame
    return dots, texts


def crosses(frame: pd.DataFrame) -> list[alt.Chart]:
    """Return the intervals of the reader's own points, thinly; where they are many, none."""
    own = frame[~frame["published"]].drop_duplicates(["system", *AXES])
    if len(own) > MOST_CROSSES:
        return []
    thin = alt.Chart(own).mark_rule(strokeWidth=1, opacity=0.45, color=LIGHT["soft"])
    return [
        thin.encode(x="accuracy low:Q", x2="accuracy high:Q", y="edge_f1:Q"),
        thin.encode(y="edge_f1 low:Q", y2="edge_f1 high:Q", x="accuracy:Q"),
    ]
