"""ReplaySCM's laboratory: failures split into bad experiments and bad inference."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator

from whybench.families.replayscm.extras.analyses.attempt import Attempt, by_latent
from whybench.families.replayscm.extras.report.kinds import stacked
from whybench.families.replayscm.extras.report.rows import Entry, Tried
from whybench.report.entries import cells, told
from whybench.report.forms import Row
from whybench.stats.paired import paired_bootstrap

UNDERSTOOD, LUCKY = "right and understood", "right by luck"
EXPERIMENTS, INFERENCE = "bad experiments", "bad inference"
BOTH, INVALID = "both", "no valid answer"
KINDS = (UNDERSTOOD, LUCKY, EXPERIMENTS, INFERENCE, BOTH, INVALID)
WHOSE = {"own": "own experiments", "optimal": "the exact agent's", "yoked": "another run's"}
COLUMNS = ("heldout_exact", "train_exact", "evidence_unique")


def kind_of(attempt: Attempt) -> str | None:
    """Return why an episode failed; None if it was not scored.

    - Bad experiments: several models fit the evidence, and the answer fits it too.
    - Bad inference: one model is left, and it is not the submitted one.
    - Both: several models fit the evidence, and the answer contradicts rows that were seen.
    """
    unique = attempt.value("evidence_unique")
    if attempt.value("valid") is None or unique is None:
        return None
    if attempt.holds("heldout_exact"):
        return UNDERSTOOD if unique or attempt.holds("understood") else LUCKY
    if not attempt.holds("valid"):
        return INVALID
    if unique:
        return INFERENCE
    return EXPERIMENTS if attempt.holds("train_exact") else BOTH


def _whose(entry: Entry) -> str:
    return WHOSE.get(entry.run.evidence, entry.run.evidence)


def lab_failures(tried: Tried) -> Iterator[Row]:
    """Return whether a system experiments well, and whether it infers well."""
    counts = {
        (_whose(entry), entry.system): Counter(filter(None, map(kind_of, entry.attempts)))
        for entry in tried.chosen(["lab"])
    }
    return stacked(counts, KINDS)


def lab_table(tried: Tried) -> list[Row]:
    """Return the laboratory in figures."""
    rows: list[Row] = []
    for entry in tried.chosen(["lab"]):
        regret = tried.estimate(entry, "regret")
        rows.append({
            "system": entry.system, "evidence": _whose(entry), "from": entry.origin,
            "n": len(entry.attempts),
            **{metric: told(tried.estimate(entry, metric)) for metric in COLUMNS},
            "experiments": told(tried.estimate(entry, "experiments"), 1),
            "regret": f"{told(regret, 1)}, n {regret.n}" if regret.n
            else "–",
        })  # fmt: skip
    return rows


def lab_regret(tried: Tried) -> Iterator[Row]:
    """Return the experiments beyond those of the exact agent."""
    for entry in tried.chosen(["lab"]):
        found = tried.estimate(entry, "regret")
        if found.n:
            yield {"system": entry.system, **cells(found, "regret")}


def lab_arms(tried: Tried) -> Iterator[Row]:
    """Compare in pairs what a model infers from its own experiments and from given ones."""
    own = tried.chosen(["lab"])
    for base in (entry for entry in own if entry.run.evidence == "own"):
        for other in (entry for entry in own if entry.run.evidence != "own"):
            if (other.run.model, other.run.setting) != (base.run.model, base.run.setting):
                continue
            sides = (by_latent(one.attempts, "heldout_exact") for one in (other, base))
            found = paired_bootstrap(*sides, resamples=2000)
            bounds = f" [{found.low:+.3f}, {found.high:+.3f}]" if not math.isnan(found.low) else ""
            yield {
                "model": base.run.model, "evidence": _whose(other), "minus": WHOSE["own"],
                "heldout_exact": f"{found.estimate:+.3f}{bounds}", "n": found.n,
            }  # fmt: skip
