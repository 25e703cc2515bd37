"""Early commitment: budgets left unspent, answers before the evidence, graphs never given up."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd

from whybench.episode.episode import ANSWERED
from whybench.families.causalab.verdict import held_since
from whybench.report.charts import bars, dots
from whybench.report.families.causalab_rows import (
    Entry,
    command,
    entries,
    labels_of,
)
from whybench.report.families.causalab_verify import verified
from whybench.report.palette import LIGHT
from whybench.report.section import Figure, Part, Section, Table
from whybench.report.view import View

GROUPS = (("right frequency", 1.0), ("wrong frequency", 0.0))
STOPS = (
    "at the right moment",
    "after more experiments",
    "too early, graph right",
    "too early, graph wrong",
)
HELD = (
    "after it, and right",
    "after it, and wrong",
    "before it, and right",
    "before it, and wrong",
)
HUES = (LIGHT["blue"], LIGHT["sky"], LIGHT["orange"], LIGHT["vermillion"])


def commitment(view: View) -> Section:
    """Return how early systems make up their minds."""
    listed = [entry for entry in entries(view) if _free(entry)]
    parts: list[Part] = []
    if listed:
        found = (
            _unused(view, listed), _misfit(view, listed), _stops(listed), _held(listed),
            _table(listed),
        )  # fmt: skip
        parts += [part for part in found if part is not None]
    else:
        parts.append(command("Early commitment", "main_4"))
    parts += verified(view)
    return Section(
        "causalab-commitment",
        "Early commitment",
        "Only episodes that were answered, with experiments of the system's own choice. The "
        "evidence suffices once it forces every equation.",
        tuple(parts),
    )


def _free(entry: Entry) -> bool:
    return bool(entry.run.frame["unused_budget"].notna().any() and len(_answered(entry)))


def _answered(entry: Entry) -> pd.DataFrame:
    rows = entry.run.frame
    return rows[(rows["outcome"] == ANSWERED) & rows["unused_budget"].notna()]


# The paper's diagnostics.


def _unused(view: View, listed: Sequence[Entry]) -> Figure | None:
    return _by_success(
        view, listed, "unused_budget", "causalab-unused", "Budget left unspent",
        "share of the budget left unspent", (0, 1),
    )  # fmt: skip


def _misfit(view: View, listed: Sequence[Entry]) -> Figure | None:
    return _by_success(
        view, listed, "fit_error", "causalab-misfit", "How badly the last equation fits own data",
        "mean misprediction of the system's own data, in Hz", None,
    )  # fmt: skip


def _by_success(
    view: View,
    listed: Sequence[Entry],
    metric: str,
    name: str,
    title: str,
    axis: str,
    domain: tuple[float, float] | None,
) -> Figure | None:
    rows = []
    for entry in listed:
        frame = entry.run.frame
        for group, value in GROUPS:
            where = (frame["outcome"] == ANSWERED) & (frame["accuracy"] == value)
            found = view.estimate(entry.run, metric, where)
            if not math.isnan(found.estimate):
                rows.append(
                    {
                        "run": entry.row,
                        "origin": entry.origin,
                        "episodes": group,
                        metric: found.estimate,
                        "low": found.low,
                        "high": found.high,
                        "n": found.n,
                    }
                )
    if not rows:
        return None
    drawn = pd.DataFrame(rows)
    most = domain[1] if domain else None
    within = drawn.assign(low=drawn["low"].clip(0), high=drawn["high"].clip(upper=most))
    said = "; ".join(
        f"{row['run']}, {row['episodes']}: {row[metric]:.2f} (n {row['n']})" for row in rows
    )
    return Figure(
        name,
        title,
        f"{axis}. {said}.",
        dots(
            within, x=metric, y="run", color="episodes", low="low", high="high", x_title=axis,
            y_sort=list(dict.fromkeys(drawn["run"])), domain=domain,
        ),
        drawn,
        "Bars are 95 % intervals. The paper reports about half of the budget unspent in both "
        "groups, and a worse fit where the prediction fails; it prints no figures.",
    )  # fmt: skip


# Against the moment at which the evidence sufficed.


def moments(entry: Entry) -> pd.DataFrame:
    """Return each answered episode's three moments, counted in interventions.

    `made` when it stopped, `sufficed` when the evidence forced everything (NaN: never), `held`
    since when the final graph was held.
    """
    rows = _answered(entry)
    held = [held_since(labels_of(row).get("trajectory") or ()) for row in rows.to_dict("records")]
    return pd.DataFrame(
        {
            "made": rows["interventions"],
            "sufficed": rows["interventions"] - rows["stopped_late"],
            "early": rows["stopped_early"] == 1,
            "late": rows["stopped_late"].fillna(0) > 0,
            "held": pd.Series(held, index=rows.index, dtype=float),
            "graph": rows["shd"] == 0,
        },
        index=rows.index,
    )


def _stops(listed: Sequence[Entry]) -> Figure:
    rows = []
    for entry in listed:
        found = moments(entry)
        early, late, graph = found["early"], found["late"], found["graph"]
        masks = (~early & ~late, ~early & late, early & graph, early & ~graph)
        rows += list(_shares(entry, STOPS, masks))
    return _stacked(
        "causalab-stops", "When the experiments stopped", rows, STOPS,
        "Too early: the evidence did not force graph and equation. More experiments: some were "
        "made after it did.",
    )  # fmt: skip


def _held(listed: Sequence[Entry]) -> Figure | None:
    rows: list[dict[str, Any]] = []
    for entry in listed:
        found = moments(entry).dropna(subset=["held"])
        found = found[found["sufficed"].notna() | found["early"]]
        if found.empty:
            continue
        before = ~(found["held"] >= found["sufficed"])
        masks = (
            ~before & found["graph"], ~before & ~found["graph"],
            before & found["graph"], before & ~found["graph"],
        )  # fmt: skip
        rows += list(_shares(entry, HELD, masks))
    if not rows:
        return None
    return _stacked(
        "causalab-held", "Since when the final graph was held: before the evidence sufficed?",
        rows, HELD,
        "The step at which the hypothesis last changed its edges, against the step at which the "
        "evidence forced every equation. Evidence that left something open counts as before; left "
        "out are worlds in which no experiment decides all, once the rest was forced.",
    )  # fmt: skip


def _shares(
    entry: Entry, kinds: Sequence[str], masks: Sequence[pd.Series[bool]]
) -> Iterator[dict[str, Any]]:
    for each, mask in zip(kinds, masks, strict=True):
        yield {
            "run": entry.row,
            "origin": entry.origin,
            "kind": each,
            "episodes": int(mask.sum()),
            "share": float(mask.mean()),
            "n": len(mask),
        }


def _stacked(
    name: str, title: str, rows: Sequence[dict[str, Any]], kinds: Sequence[str], note: str
) -> Figure:
    frame = pd.DataFrame(rows)
    said = "; ".join(
        f"{run} (n {group['n'].iloc[0]}): "
        + ", ".join(f"{row.kind} {row.share:.2f}" for row in group.itertuples() if row.episodes)
        for run, group in frame.groupby("run", sort=False)
    )
    return Figure(
        name, title, f"{said}.",
        bars(
            frame, x="share", y="run", color="kind", order=kinds, palette=HUES,
            x_title="share of answered episodes", y_sort=list(dict.fromkeys(frame["run"])),
        ),
        frame, note,
    )  # fmt: skip


def _table(listed: Sequence[Entry]) -> Table:
    rows = []
    for entry in listed:
        found = moments(entry)
        known = found.dropna(subset=["sufficed"])
        answered = _answered(entry)
        rows.append(
            {
                "system": entry.system,
                "suite": entry.suite,
                "origin": entry.origin,
                "n": len(found),
                "interventions made": found["made"].mean(),
                "stopped early": found["early"].mean(),
                "evidence sufficed in": len(known),
                "after interventions": known["sufficed"].mean(),
                "made too many": (known["made"] - known["sufficed"]).mean(),
                "final graph held since": found["held"].mean(),
                "last hypothesis fits own data": answered["final_consistent"].mean(),
            }
        )
    return Table(
        "causalab-moments",
        "Moments of commitment, counted in interventions",
        pd.DataFrame(rows),
        "Means over answered episodes. `after interventions` and `made too many` only over "
        "episodes whose evidence sufficed.",
    )
