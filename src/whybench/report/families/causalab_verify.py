"""What one explicit check of the hypothesis adds, before the reactor is opened."""

from __future__ import annotations

from typing import Any

import pandas as pd

from whybench.report.difference import difference
from whybench.report.families.causalab_rows import command, entries, figure_text
from whybench.report.places import by_place
from whybench.report.section import Part, Remark, Table
from whybench.report.view import View


def verified(view: View) -> list[Part]:
    """Compare runs with one explicit check of the hypothesis and without."""
    listed = entries(view)
    asked = [entry for entry in listed if entry.run.knobs.get("verify")]
    rows: list[dict[str, Any]] = []
    for entry in asked:
        knobs = {k: v for k, v in entry.run.knobs.items() if k != "verify"}
        for other in listed:
            same = (other.suite, other.run.model, other.run.profile, other.run.salt)
            if same != (entry.suite, entry.run.model, entry.run.profile, entry.run.salt):
                continue
            if dict(other.run.knobs) != knobs:
                continue
            # The knob is part of an instance's id, so worlds are paired by their place.
            ours, theirs = (by_place(run.frame) for run in (entry.run, other.run))
            found = difference(ours, theirs, "accuracy", rate=True)
            rows.append(
                {
                    "system": entry.system,
                    "suite": entry.suite,
                    "accuracy without": found.second,
                    "accuracy with": found.first,
                    "difference": found.estimate,
                    "low": found.low,
                    "high": found.high,
                    "n": found.n,
                }
            )
    if not rows:
        return [command("What one explicit check adds", "main_4", " -T verify=true")]
    said = "; ".join(
        f"{row['system']} on {row['suite']}: accuracy {figure_text(row['accuracy without'])} "
        f"without a check and {figure_text(row['accuracy with'])} with one (n {row['n']})"
        for row in rows
    )
    title = "One explicit check before the reactor is opened"
    return [Remark(f"{said}."), Table("causalab-verify", title, pd.DataFrame(rows))]
