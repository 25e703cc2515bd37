"""Rows of ReCITE's tables and pictures: one estimate of one run, or one published cell."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from whybench.report.published import Cell
from whybench.report.runs import Run
from whybench.report.section import Remark
from whybench.report.view import View

SCORE = "edge_f1"
"""The family's headline, by which documents are sorted and compared."""

Row = dict[str, Any]
Series = tuple[str, Run]


def series(runs: Iterable[Run]) -> list[Series]:
    """Name runs for a picture: who played, on what if that differs, and whether it is a model."""
    listed = list(runs)
    suites = {(run.suite, run.profile) for run in listed}
    named = [(_name(run, len(suites) > 1), run) for run in listed]
    often = Counter(name for name, _ in named)
    seen: Counter[str] = Counter()
    found = []
    for name, run in named:
        seen[name] += 1
        found.append((f"{name} · run {seen[name]}" if often[name] > 1 else name, run))
    return found


def systems(runs: Iterable[Run]) -> list[Series]:
    """Name the runs of models; of reference agents only where no model was run."""
    listed = list(runs)
    return series([run for run in listed if not run.reference] or listed)


def _name(run: Run, with_suite: bool) -> str:
    agent = " (reference agent)" if run.reference else ""
    texts = ", published texts" if run.profile == "published" else ""
    where = f" · {run.suite.partition('/')[2]}{texts}" if with_suite else ""
    return f"{run.system or run.model}{agent}{where}"


def estimated(
    view: View, one: Series, metric: str, where: pd.Series | None = None, **more: Any
) -> Row | None:
    """Return a row with a metric's mean and interval; None where nothing is scored."""
    name, run = one
    found = view.estimate(run, metric, where)
    if not found.n:
        return None
    rows = run.frame if where is None else run.frame[where.to_numpy(bool)]
    scored = rows[rows[metric].notna()]
    return {
        "system": name,
        **more,
        "metric": metric,
        "value": found.estimate,
        "low": float(np.clip(found.low, 0, 1)),
        "high": float(np.clip(found.high, 0, 1)),
        "documents": int(scored["instance"].nunique()),
        "graphs": int(scored["cluster"].nunique()),
        "published": False,
    }


def printed(cell: Cell, **more: Any) -> Row | None:
    """Return a published cell as a row; None where the paper shows no figure."""
    if cell.value is None:
        return None
    return {
        "system": f"{cell.system} (published)",
        **more,
        "metric": f"Table {cell.table}, {cell.metric}",
        "value": cell.value,
        "low": math.nan,
        "high": math.nan,
        "documents": cell.n,
        "published": True,
    }


def framed(rows: Iterable[Row | None]) -> pd.DataFrame:
    """Return the rows that are there."""
    return pd.DataFrame([row for row in rows if row is not None])


def in_words(frame: pd.DataFrame, by: str | None = None, most: int = 5) -> str:
    """Say a picture's main figures: each own system's values, and the range of published ones."""
    own = frame[~frame["published"]]
    names = list(dict.fromkeys(own["system"]))
    told = []
    for name in names[:most]:
        rows = own[own["system"] == name]
        values = [
            f"{row[by]} {row['value']:.2f}" if by else f"{row['value']:.2f}"
            for row in rows.to_dict("records")
        ]
        told.append(f"{name}: {', '.join(values)}")
    if len(names) > most:
        told.append(f"and {len(names) - most} more systems")
    others = frame[frame["published"]]
    if len(others):
        low, high = others["value"].min(), others["value"].max()
        told.append(
            f"{others['system'].nunique()} published systems lie between {low:g} and {high:g}"
        )
    return "; ".join(told) + "."


def binned_rows(
    view: View, one: Series, values: pd.Series, cuts: Sequence[float], names: Sequence[str], by: str
) -> list[Row | None]:
    """Return a row for each bin between fixed cuts; a value on a cut belongs above."""
    places = pd.cut(
        pd.to_numeric(values, errors="coerce"),
        [-float("inf"), *cuts, float("inf")],
        right=False,
        labels=list(names),
    )
    return [estimated(view, one, SCORE, places == name, **{by: name}) for name in names]


def missing(what: str, arguments: str, why: str = "") -> Remark:
    """Say which run would give what is not there."""
    reason = f" ({why})" if why else ""
    command = " ".join(part for part in ("inspect eval whybench/recite", arguments) if part)
    return Remark(f"Not shown: {what}{reason}. This would give it: `{command} --model MODEL`.")
