"""ReplaySCM's main tables: replay of what was shown and held out, and structure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pandas as pd

from whybench.families.replayscm.analyses.attempt import Attempt
from whybench.families.replayscm.analyses.conditional import Conditional
from whybench.families.replayscm.analyses.retention import retentions
from whybench.families.replayscm.params import POOLS
from whybench.report.families.replayscm_published import published, unlike
from whybench.report.families.replayscm_rows import (
    FAMILY,
    PUBLISHED,
    Entry,
    absent,
    by_pool,
    drawn,
    printed,
    told,
)
from whybench.report.families.replayscm_stacks import MOST_ROWS, stacked
from whybench.report.palette import LIGHT
from whybench.report.section import Figure, Part, Remark, Section, Table
from whybench.report.view import View

REPLAYED = (
    "valid",
    "train_exact",
    "heldout_world_exact",
    "heldout_exact",
    "heldout_world_if_train",
    "heldout_exact_if_train",
)
"""The columns of Table 1; the last two are conditional on TrainExact."""
STRUCTURE = (
    "parent_recall",
    "parent_f1",
    "parent_shd",
    "parent_map_exact",
    "local_match",
    "full_local_match",
    "latent_match",
)
"""The columns of Table 2 that logs hold, and our own last two."""

TRUE, OTHER = "the true SCM", "replays everything, another SCM"
PREDICTS = "fits the training rows, fails held-out ones"
CONTRADICTS, INVALID = "contradicts the training rows", "no valid answer"
OUTCOMES = {
    TRUE: LIGHT["blue"],
    OTHER: LIGHT["sky"],
    PREDICTS: LIGHT["orange"],
    CONTRADICTS: LIGHT["vermillion"],
    INVALID: LIGHT["grey"],
}


def replayed(view: View, listed: Sequence[Entry]) -> Section:
    """Table 1 and what it says of prediction without understanding."""
    induced = _induced(listed)
    parts: list[Part] = []
    if induced:
        parts.append(_table_one(view, induced))
        figure = _outcomes(view, induced)
        parts += [figure] if figure else []
        parts += _named_by_name(induced)
    else:
        parts.append(absent("Replay", ["hid_cert", "hid_full"]))
    return Section(
        f"{FAMILY}-replay",
        "Replay: training rows and held-out worlds",
        "The mechanisms handed in are run on the rows that were shown (TrainExact) and on worlds "
        "that were not (HeldoutExact). Who fits the first and fails the second predicts without "
        "having understood; where one model is left (0 bits) the two are the same by force.",
        tuple(parts),
    )


def _induced(listed: Sequence[Entry]) -> list[Entry]:
    return [e for e in listed if POOLS[e.pool].task == "induce" and e.pool != "lab"]


def _table_one(view: View, induced: Sequence[Entry]) -> Table:
    rows: list[dict[str, object]] = []
    for pool, own in by_pool(induced):
        rows += [_own_row(view, entry) for entry in own]
        rows += _published_rows(view, pool, REPLAYED, own)
    return Table(
        f"{FAMILY}-table-1",
        "Replay by pool and system (Table 1)",
        pd.DataFrame(rows),
        "95 % intervals clustered by latent SCM. The last two columns are among train-exact "
        "answers: – among none, * among 1 to 5, as in the paper. Published figures are as printed, "
        "on other instances; they leave invalid answers out of heldout_world_exact, ours count 0."
        + unlike(induced),
    )


def _own_row(view: View, entry: Entry) -> dict[str, object]:
    row: dict[str, object] = {"pool": entry.pool, "system": entry.system, "from": entry.origin}
    row["n"] = len(entry.attempts)
    row |= {metric: told(view.estimate(entry.run, metric)) for metric in REPLAYED[:4]}
    [kept] = retentions(entry.attempts)
    among = (kept.heldout_world_given_train_exact, kept.heldout_exact_given_train_exact)
    for metric, rate in zip(REPLAYED[4:], among, strict=True):
        row[metric] = conditional(view, entry, metric, rate)
    return row


def conditional(view: View, entry: Entry, metric: str, rate: Conditional) -> str:
    """Return a conditional rate with its interval and denominator, or the mark of suppression."""
    if rate.suppressed or not rate.denominator:
        return rate.shown
    return f"{told(view.estimate(entry.run, metric))}, n {rate.denominator}"


def _published_rows(
    view: View, pool: str, metrics: Sequence[str], like: Sequence[Entry]
) -> list[dict[str, object]]:
    found: dict[str, dict[str, object]] = {}
    for metric in metrics:
        for cell in published(view, pool, metric, like):
            blank: dict[str, object] = {"pool": pool, "system": cell.system, "from": PUBLISHED}
            row = found.setdefault(cell.system, blank | {"n": None})
            row[metric] = printed(cell)
            if row["n"] is None and not metric.endswith("_if_train"):
                row["n"] = cell.n
    return [row | {metric: row.get(metric, "") for metric in metrics} for row in found.values()]


def outcome_of(attempt: Attempt) -> str | None:
    """Return what became of an answer; None if the episode was not scored."""
    if attempt.value("valid") is None:
        return None
    if not attempt.holds("valid"):
        return INVALID
    if not attempt.holds("train_exact"):
        return CONTRADICTS
    if not attempt.holds("heldout_exact"):
        return PREDICTS
    return TRUE if attempt.holds("latent_match") else OTHER


def _outcomes(view: View, induced: Sequence[Entry]) -> Figure | None:
    counts = {
        (entry.pool, entry.system): Counter(filter(None, map(outcome_of, entry.attempts)))
        for entry in drawn(view, induced)[:MOST_ROWS]
    }
    return stacked(
        counts,
        OUTCOMES,
        "outcomes",
        "What became of the answers",
        "Orange is prediction without understanding: a fit of what was shown that fails elsewhere. "
        f"Floor agents are left to the table, and rows beyond {MOST_ROWS}.",
    )


def _named_by_name(induced: Sequence[Entry]) -> list[Remark]:
    """Say of each model how many of its fits fail elsewhere, over all its pools."""
    found = []
    for system in dict.fromkeys(e.system for e in induced if not e.run.reference):
        own = [a for e in induced if e.system == system for a in e.attempts]
        fits = [a for a in own if a.holds("train_exact")]
        failed = sum(not a.holds("heldout_exact") for a in fits)
        if failed:
            found.append(
                Remark(
                    f"Prediction without understanding: {system} fits every training row in "
                    f"{len(fits)} of {len(own)} attempts, and in {failed} of these it fails "
                    "worlds that were held out.",
                    "warning",
                )
            )
    return found


def structure(view: View, listed: Sequence[Entry]) -> Section:
    """Table 2: functional parents and local functions, among valid answers."""
    rows: list[dict[str, object]] = []
    for pool, own in by_pool(_induced(listed)):
        for entry in own:
            row: dict[str, object] = {"pool": pool, "system": entry.system, "from": entry.origin}
            row["n"] = view.estimate(entry.run, "parent_f1").n
            for metric in STRUCTURE:
                rate = Conditional.of(attempt.value(metric) for attempt in entry.attempts)
                shown = told(view.estimate(entry.run, metric), share=metric != "parent_shd")
                row[metric] = shown if rate.denominator and not rate.suppressed else rate.shown
            rows.append(row)
        rows += _published_rows(view, pool, STRUCTURE, own)
    parts: tuple[Part, ...] = ()
    if rows:
        note = (
            "A parent counts if flipping it can change the function, whatever the spelling. Among "
            "valid answers (with hidden roots, valid and root-exact); – among none, * among 1 to 5."
        )
        note += unlike(_induced(listed))
        title = "Structure of the valid answers (Table 2)"
        parts = (Table(f"{FAMILY}-table-2", title, pd.DataFrame(rows), note),)
    return Section(
        f"{FAMILY}-structure",
        "Structure",
        "Whether the parents and the functions handed in are the true ones.",
        parts or (absent("Structure", ["hid_cert"]),),
    )
