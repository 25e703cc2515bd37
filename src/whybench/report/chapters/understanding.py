"""Show which successes are understood and which are lucky.

Each family declares the metric that counts as success, and the rule for a lucky one
(`understanding` in `family.toml`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from whybench.report.charts import bars
from whybench.report.frames import systems, tidy
from whybench.report.palette import LIGHT
from whybench.report.runs import Run
from whybench.report.section import Figure, Part, Remark, Section
from whybench.report.view import View

WORTH_SAYING = 0.25
"""A warning names a system if at least this share of its classified successes is lucky."""
FEWEST = 5
"""Fewest classified successes for which a system can be named."""

KINDS = ("understood", "lucky", "not shown", "failed")
"""`not shown`: a success that cannot be classified as understood or lucky."""
HUES = (LIGHT["blue"], LIGHT["orange"], LIGHT["grey"], LIGHT["line"])

INTRO = (
    "A right answer does not show that a system understood why it is right. A success is "
    "understood if the system also had the grounds for it, and lucky if it did not. Depending on "
    "the family, the grounds are the evidence that the system had, the mechanism that it stated, "
    "or its results on data that it did not see."
)


NOTE = (
    "Each bar is a run. Its parts are the shares of episodes that are understood, lucky, not shown "
    "(a success that cannot be classified) and failed. `meaning` in the data table says what lucky "
    "means in the family."
)


def understanding(views: Sequence[View]) -> Section | None:
    """Return the section; None if no family here has a rule for lucky successes."""
    rows = [
        _row(run, rule)
        for view in views
        if (rule := view.family.understanding)
        for run in systems(view)
    ]
    rows = [row for row in rows if row["episodes"]]
    if not rows:
        return None
    frame = tidy(rows)
    called = [_called(row) for row in rows if _lucky(row)]
    parts: list[Part] = [Remark(text, "warning") for text in called]
    told = sum(row["successes"] - row["not shown"] >= FEWEST for row in rows)
    if not called and told:
        parts.append(
            Remark(
                f"{told} of {len(rows)} runs have at least {FEWEST} successes that can be "
                f"classified. In none of them, {100 * WORTH_SAYING:g} % or more of these are lucky."
            )
        )
    if told < len(rows):
        parts.append(
            Remark(
                f"{len(rows) - told} of {len(rows)} runs have fewer than {FEWEST} successes that "
                "can be classified, so this section draws no conclusion about them."
            )
        )
    parts.append(_figure(frame))
    return Section("understanding", "Prediction without understanding", INTRO, tuple(parts))


def _row(run: Run, rule: Mapping[str, Any]) -> dict[str, Any]:
    frame = run.frame.dropna(subset=[rule["success"]])
    success = frame[rule["success"]] == 1
    shown = frame[rule.get("lucky") or rule["lacks"]]
    lucky = shown == 1 if "lucky" in rule else shown < rule["below"]
    return {
        "suite": run.suite,
        "system": run.system,
        "metric": rule["success"],
        "episodes": len(frame),
        "successes": int(success.sum()),
        "lucky": int((success & lucky).sum()),
        "not shown": int((success & shown.isna()).sum()),
        "meaning": rule["meaning"],
    }


def _lucky(row: Mapping[str, Any]) -> bool:
    told = row["successes"] - row["not shown"]
    return bool(told >= FEWEST and row["lucky"] >= WORTH_SAYING * told)


def _called(row: Mapping[str, Any]) -> str:
    counted = row["successes"] - row["not shown"]
    among = f"{row['lucky']} of these {counted} successes"
    if row["lucky"] == row["successes"]:
        among = f"All {counted} successes"
    elif row["not shown"]:
        among = f"{row['not shown']} of these cannot be classified, and {row['lucky']} of the "
        among += f"other {counted}"
    return (
        f"{row['system']} predicts without understanding on {row['suite']}. It succeeded in "
        f"{row['successes']} of {row['episodes']} episodes. {among} are lucky: {row['meaning']}."
    )


def _figure(frame: pd.DataFrame) -> Figure:
    rows = frame.assign(row=frame["system"] + " on " + frame["suite"])
    counts = {
        "understood": rows["successes"] - rows["lucky"] - rows["not shown"],
        "lucky": rows["lucky"],
        "not shown": rows["not shown"],
        "failed": rows["episodes"] - rows["successes"],
    }
    drawn = pd.concat(
        [rows.assign(kind=kind, share=counts[kind] / rows["episodes"]) for kind in KINDS]
    )
    said = "; ".join(
        f"{row['row']}: {row['successes'] - row['lucky'] - row['not shown']} understood, "
        f"{row['lucky']} lucky, {row['not shown']} not shown, of {row['episodes']}"
        for row in rows.to_dict("records")
    )
    return Figure(
        "understanding-shares",
        "Successes, understood and lucky",
        said,
        bars(
            drawn, x="share", y="row", color="kind", order=KINDS, palette=HUES,
            x_title="share of episodes", y_sort=list(rows["row"]),
        ),
        frame,
        NOTE,
    )  # fmt: skip
