"""Prediction without understanding: successes that mechanism or evidence does not bear out.

Which metric is the success and what makes it lucky, each family declares (`understanding`).
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
"""From this share of lucky successes on, a system is called out by name."""
FEWEST = 5
"""With fewer successes than this no system is called out."""

KINDS = ("understood", "lucky", "not shown", "failed")
"""`not shown`: a success of which nothing tells whether it was understood."""
HUES = (LIGHT["blue"], LIGHT["orange"], LIGHT["grey"], LIGHT["line"])

INTRO = (
    "A right answer is not yet understanding. Every success is split by what bears it out: the "
    "evidence the system had, the mechanism it stated, the worlds it was not shown."
)


def understanding(views: Sequence[View]) -> Section | None:
    """Return the section; None if no family here says what would be lucky."""
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
                f"Of {told} runs with at least {FEWEST} successes that can be told apart, none "
                "succeeds without understanding to a marked degree."
            )
        )
    if told < len(rows):
        parts.append(
            Remark(
                f"{len(rows) - told} of {len(rows)} runs have fewer than {FEWEST} such successes: "
                "nothing is said of them."
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
    return (
        f"{row['system']} predicts without understanding on {row['suite']}: of its "
        f"{row['successes'] - row['not shown']} successes that tell, in {row['episodes']} "
        f"episodes, {row['lucky']} are {row['meaning']}."
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
    )  # fmt: skip
