"""CausalGame: how far beliefs are from the truth, deployment by deployment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from whybench.report.charts import lines
from whybench.report.families.causalgame_rows import NAME, Group
from whybench.report.section import Figure
from whybench.stats.interval import mean_interval


def paths(found: Sequence[Group]) -> list[Figure]:
    """Draw the mean distance after each deployment; beliefs hold until others are put down."""
    rows: list[dict[str, Any]] = []
    for group in found:
        steps = [path for labels in group.frame["labels"] if (path := _distances(labels))]
        last = max((path[-1][0] for path in steps), default=0)
        worlds = [
            cluster
            for cluster, labels in zip(group.frame["cluster"], group.frame["labels"], strict=True)
            if _distances(labels)
        ]
        for made in range(last + 1):
            held = [_at(path, made) for path in steps]
            score = mean_interval(held, worlds)
            if score.n:
                rows.append(
                    {
                        "deployments": made,
                        "system": group.name,
                        "distance": score.estimate,
                        "low": score.low,
                        "high": score.high,
                        "n": score.n,
                    }
                )
    if not rows:
        return []
    frame = pd.DataFrame(rows)
    ends = frame.groupby("system", sort=False).agg(
        first=("distance", "first"), last=("distance", "last"), n=("n", "last")
    )
    told = [
        f"{name}: from {r['first']:.1f} to {r['last']:.1f} (n {r['n']:.0f})"
        for name, r in ends.iterrows()
    ]
    return [
        Figure(
            f"{NAME}-distance",
            "Hypothesis distance over the deployments",
            "; ".join(told) + ". 0 is all golden claims and no distractor, 7 the opposite.",
            lines(
                frame.assign(deployments=frame["deployments"].astype(str)),
                x="deployments",
                x_sort=[str(made) for made in sorted(set(frame["deployments"]))],
                y="distance",
                low="low",
                high="high",
                x_title="deployments made",
                y_title="golden claims missing + distractors held",
                domain=(0, 7),
            ),
            frame,
            "Mean over the episodes that had put down beliefs by then; beliefs hold until others "
            "are put down. Intervals: 95 %, by world.",
        )
    ]


def _distances(labels: object) -> list[tuple[int, float]]:
    given = labels.get("distances") if isinstance(labels, dict) else None
    return [(int(made), float(far)) for made, far in given or ()]


def _at(path: Sequence[tuple[int, float]], made: int) -> float | None:
    known = [far for when, far in path if when <= made]
    return known[-1] if known else None
