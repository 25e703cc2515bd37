"""Surfaces: gaps to the table, and the loss split into causal, surface and noise."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from whybench.families.prism.extras.analysis import (
    AGAIN,
    LOADS,
    SURFACES,
    gaps,
    split,
    surface_pairs,
)
from whybench.families.prism.extras.report.rows import (
    Arm,
    arms,
    bounds,
    clusters,
    differences,
    scores,
)
from whybench.report.forms import Row
from whybench.report.view import View

RESAMPLES = 4000


def accuracies(view: View) -> Iterator[Row]:
    """Return the accuracy of every system by surface."""
    for arm in arms(view):
        for template in sorted(arm.runs, key=_place):
            found = view.estimate(arm.runs[template], "accuracy")
            if found.n:
                yield {
                    **arm.columns, "surface": template, "accuracy": found.estimate, **bounds(found),
                    "episodes": found.n, "clusters": found.clusters,
                }  # fmt: skip


def _place(template: str) -> int:
    order = (*SURFACES, AGAIN, *LOADS)
    return order.index(template) if template in order else len(order)


def surface_gaps(view: View) -> list[Row]:
    """Return each surface minus the table, on the same instances."""
    return [row for arm in arms(view) for row in _gaps(arm, surface_pairs())]


def load_gaps(view: View) -> list[Row]:
    """Return each load minus the same surface without it, and the table drawn again."""
    pairs = [*LOADS.items(), (AGAIN, SURFACES[0])]
    return [row for arm in arms(view) for row in _gaps(arm, pairs)]


def _gaps(arm: Arm, pairs: list[tuple[str, str]]) -> Iterator[Row]:
    by = {template: scores(run) for template, run in arm.runs.items()}
    found = gaps(by, pairs, clusters(arm.runs.values()), RESAMPLES)
    return differences(arm.columns, "surface", found)


PARTS = {
    "causal": "wrong whatever the surface",
    "surface": "surface, beyond noise",
    "noise": "noise",
}
"""Part of the loss → its label in the figure."""


def split_losses(view: View) -> Iterator[Row]:
    """Return the parts of every system's loss, a row for each part."""
    for arm in arms(view):
        by = {template: scores(run) for template, run in arm.runs.items()}
        found = split(by, clusters(arm.runs.values()))
        if found is None:
            continue
        for name, words in PARTS.items():
            part = getattr(found, name)
            if part.n:
                yield {
                    **arm.columns, "part": words,
                    "share": part.estimate, **bounds(part), "loss": found.loss.estimate,
                    "wrong in all": found.always, "right in all": found.never,
                    "instances": part.n, "clusters": part.clusters,
                }  # fmt: skip


def drawn_split(view: View) -> pd.DataFrame:
    """Return the same rows for stacked bars, which cannot show a negative part."""
    frame = pd.DataFrame(split_losses(view))
    return frame.assign(share=frame["share"].clip(lower=0)) if len(frame) else frame


def no_second_drawing(view: View) -> Iterator[Row]:
    """Name the systems whose loss cannot be split from noise."""
    for arm in arms(view):
        if len({*SURFACES} & arm.runs.keys()) > 1 and AGAIN not in arm.runs:
            yield {"system": arm.system, "suite": arm.suite}
