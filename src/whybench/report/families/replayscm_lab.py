"""ReplaySCM's laboratory: failures split into bad experiments and bad inference."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import pandas as pd

from whybench.families.replayscm.analyses.attempt import Attempt, by_latent
from whybench.report import charts
from whybench.report.families.replayscm_rows import FAMILY, Entry, absent, chosen, told
from whybench.report.families.replayscm_stacks import stacked
from whybench.report.palette import LIGHT
from whybench.report.section import Figure, Part, Section, Table
from whybench.report.view import View
from whybench.stats.paired import paired_bootstrap

PROVED, LUCKY = "right and proved", "right, though not proved"
EXPERIMENTS, INFERENCE = "bad experiments", "bad inference"
BOTH, INVALID = "both", "no valid answer"
KINDS = {
    PROVED: LIGHT["blue"],
    LUCKY: LIGHT["sky"],
    EXPERIMENTS: LIGHT["orange"],
    INFERENCE: LIGHT["vermillion"],
    BOTH: LIGHT["purple"],
    INVALID: LIGHT["grey"],
}
WHOSE = {"own": "own experiments", "optimal": "the exact agent's", "yoked": "another run's"}
COLUMNS = ("heldout_exact", "train_exact", "evidence_unique")


def kind_of(attempt: Attempt) -> str | None:
    """Say what an episode failed by; None if it was not scored.

    Bad experiments: the evidence leaves other models open, and the answer fits all of it. Bad
    inference: one model is left, and it is not the one handed in. Both: models are left open, and
    the answer contradicts rows that were seen.
    """
    unique = attempt.value("evidence_unique")
    if attempt.value("valid") is None or unique is None:
        return None
    if attempt.holds("heldout_exact"):
        return PROVED if unique else LUCKY
    if not attempt.holds("valid"):
        return INVALID
    if unique:
        return INFERENCE
    return EXPERIMENTS if attempt.holds("train_exact") else BOTH


def laboratory(view: View, listed: Sequence[Entry]) -> Section:
    """Whether a system asks well, and whether it concludes well."""
    own = chosen(listed, ["lab"])
    parts: list[Part] = []
    if not own:
        parts.append(absent("The laboratory", ["lab"]))
    else:
        counts = {
            (WHOSE.get(entry.run.evidence, entry.run.evidence), _who(entry)): Counter(
                filter(None, map(kind_of, entry.attempts))
            )
            for entry in own
        }
        figure = stacked(
            counts,
            KINDS,
            "lab-failures",
            "Bad experiments or bad inference",
            "Right: every held-out row is replayed. Proved: the evidence at hand left one model.",
        )
        parts += [figure] if figure else []
        parts.append(_table(view, own))
        regret = _regret(view, own)
        parts += [regret] if regret else []
        parts += _arms(own)
    return Section(
        f"{FAMILY}-lab",
        "The laboratory",
        "In `lab` a system chooses its interventions. What the rows it got leave open is counted "
        "exactly, so an answer that fails can be laid to the experiments or to the inference.",
        tuple(parts),
    )


def _who(entry: Entry) -> str:
    """Return a system's name without its evidence, which is told apart here."""
    return entry.system.replace(f" · evidence={entry.run.evidence}", "")


def _table(view: View, own: Sequence[Entry]) -> Table:
    rows = []
    for entry in own:
        row: dict[str, object] = {
            "system": _who(entry),
            "evidence": WHOSE.get(entry.run.evidence, entry.run.evidence),
            "from": entry.origin,
            "n": len(entry.attempts),
        }
        row |= {metric: told(view.estimate(entry.run, metric)) for metric in COLUMNS}
        row["experiments"] = told(view.estimate(entry.run, "experiments"), 1, share=False)
        regret = view.estimate(entry.run, "experiment_regret")
        row["experiment_regret"] = (
            f"{told(regret, 1, share=False)}, n {regret.n}" if regret.n else "–"
        )
        rows.append(row)
    return Table(
        f"{FAMILY}-lab-table",
        "The laboratory in figures",
        pd.DataFrame(rows),
        "evidence_unique: the evidence at hand left one model. experiment_regret: experiments more "
        "than the exact agent made, where the evidence was the system's own and left one model.",
    )


def _regret(view: View, own: Sequence[Entry]) -> Figure | None:
    rows = []
    for entry in own:
        found = view.estimate(entry.run, "experiment_regret")
        if found.n:
            low, high = (
                found.estimate if math.isnan(bound) else bound for bound in (found.low, found.high)
            )
            row = {"system": _who(entry), "regret": found.estimate, "low": low, "high": high}
            rows.append(row | {"n": found.n})
    if not rows:
        return None
    frame = pd.DataFrame(rows)
    chart = charts.dots(
        frame,
        x="regret",
        y="system",
        low="low",
        high="high",
        domain=None,
        x_title="experiments more than the exact agent's",
    )
    said = "; ".join(f"{r['system']} {r['regret']:+.1f} (n {r['n']})" for r in rows)
    return Figure(
        f"{FAMILY}-lab-regret",
        "Experiments more than the exact agent's",
        f"Mean number of experiments beyond the exact agent's. {said}.",
        chart,
        frame,
        "Only episodes whose own evidence left one model.",
    )


def _arms(own: Sequence[Entry]) -> list[Part]:
    """Compare what a model concludes from its own and from others' experiments, in pairs."""
    rows = []
    for base in own:
        if base.run.evidence != "own":
            continue
        for other in own:
            same = (other.run.model, other.run.setting) == (base.run.model, base.run.setting)
            if not same or other.run.evidence == "own":
                continue
            found = paired_bootstrap(
                by_latent(other.attempts, "heldout_exact"),
                by_latent(base.attempts, "heldout_exact"),
                resamples=2000,
            )
            bounds = f" [{found.low:+.3f}, {found.high:+.3f}]" if not math.isnan(found.low) else ""
            rows.append(
                {
                    "model": base.run.model,
                    "evidence": WHOSE.get(other.run.evidence, other.run.evidence),
                    "minus": WHOSE["own"],
                    "heldout_exact": f"{found.estimate:+.3f}{bounds}",
                    "n": found.n,
                }
            )
    if not rows:
        return [
            absent(
                "What the system would conclude from the exact agent's experiments",
                ["lab"],
                " -T evidence=optimal",
            )
        ]
    return [
        Table(
            f"{FAMILY}-lab-evidence",
            "What better experiments would have brought",
            pd.DataFrame(rows),
            "The same model on the same problems, with experiments laid before it, minus with its "
            "own: what its own experiments cost it.",
        )
    ]
