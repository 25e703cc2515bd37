"""ReplaySCM's other questions: naming the roots, and giving another SCM that fits."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from whybench.families.replayscm.analyses.conditional import Conditional
from whybench.families.replayscm.analyses.editing import edit_locality, success_after_failure
from whybench.families.replayscm.analyses.roots import root_breakdown, root_conditioned
from whybench.report.families.replayscm_published import published, unlike
from whybench.report.families.replayscm_rows import (
    FAMILY,
    PUBLISHED,
    Entry,
    absent,
    attempts,
    chosen,
    origins,
    printed,
    told,
)
from whybench.report.section import Part, Section, Table
from whybench.report.view import View

ROOT_POOLS = ("roots_cert", "hid_roots")
ALTERNATIVES = {"alt_ord": "ord_match", "alt_hid": "hid_match"}
"""Pool → the one whose problems it is made from."""

ROOT_METRICS = {"root_set_exact": "root_exact", "task_correct": "full_task_success"}
ROOT_AMONG = (
    "train_exact_given_root_exact",
    "heldout_world_exact_given_root_exact",
    "heldout_exact_given_root_exact",
)
"""Names in the published table of what is conditional on right roots."""
ALT_METRICS = (
    "alt_success",
    "experiment_valid",
    "pair_separates",
    "witness_valid",
    "joint_success",
    "experiment_optimality",
)


def roots(view: View, listed: Sequence[Entry]) -> Section:
    """Tables 3B, G.6 and G.7: the root set first, the mechanisms below it second."""
    rows: list[dict[str, object]] = []
    for entry in chosen(listed, ROOT_POOLS):
        [whole] = root_breakdown(entry.attempts, entry.pool)
        [among] = root_conditioned(entry.attempts, entry.pool)
        row: dict[str, object] = {"pool": entry.pool, "system": entry.system, "from": entry.origin}
        row |= {"n": whole.task_correct.denominator}
        for metric in ("root_set_exact", "task_correct", "train_exact", "heldout_exact"):
            row[metric] = told(view.estimate(entry.run, metric))
        given = (
            among.train_exact_given_root_exact,
            among.heldout_world_given_root_exact,
            among.heldout_exact_given_root_exact,
        )
        row |= {name: _among(rate) for name, rate in zip(ROOT_AMONG, given, strict=True)}
        row["train_exact_given_root_wrong"] = _among(among.train_exact_given_root_wrong)
        rows.append(row)
    if any(row["pool"] == "hid_roots" for row in rows):
        rows += _published_roots(view)
    parts: tuple[Part, ...] = (absent("Hidden roots", list(ROOT_POOLS)),)
    if rows:
        note = (
            "task_correct asks for both, the right roots and a fit. The last columns are among "
            "answers with the right (the wrong) roots: – among none, * among 1 to 5."
        )
        title = "Roots, then mechanisms (Tables 3B, G.6, G.7)"
        frame = pd.DataFrame(rows).astype(object)
        parts = (Table(f"{FAMILY}-roots", title, frame.where(frame.notna(), ""), note),)
    return Section(
        f"{FAMILY}-hidden-roots",
        "Hidden roots",
        "With only the number of roots told, a system may name wrong ones and still fit the rows.",
        parts,
    )


def _published_roots(view: View) -> list[dict[str, object]]:
    cells = view.published.cells(FAMILY, suite="hid_roots", condition="")
    found: dict[str, dict[str, object]] = {}
    names = {published: own for own, published in ROOT_METRICS.items()}
    names |= {name: name for name in ("train_exact", "heldout_exact", *ROOT_AMONG)}
    for cell in cells:
        if cell.system_kind and cell.table in ("3B", "G.6") and cell.metric in names:
            row = found.setdefault(
                cell.system,
                {"pool": "hid_roots", "system": cell.system, "from": PUBLISHED, "n": cell.n},
            )
            row.setdefault(names[cell.metric], printed(cell))
    return list(found.values())


def _among(rate: Conditional) -> str:
    if rate.suppressed or not rate.denominator:
        return rate.shown
    return f"{rate.shown}, n {rate.denominator}"


def alternatives(view: View, listed: Sequence[Entry]) -> Section:
    """Tables 3A, G.1, G.3 and G.4: another SCM that fits, and how to tell."""
    parts: list[Part] = []
    rows: list[dict[str, object]] = []
    for pool in ALTERNATIVES:
        own = chosen(listed, [pool])
        for entry in own:
            row: dict[str, object] = {"pool": pool, "system": entry.system, "from": entry.origin}
            row["n"] = len(entry.attempts)
            row |= {metric: told(view.estimate(entry.run, metric)) for metric in ALT_METRICS}
            rows.append(row)
        if own:
            rows += _published_alternatives(view, pool, own)
    if not rows:
        parts.append(absent("Alternative-SCM", list(ALTERNATIVES)))
    else:
        note = (
            "alt_success: fits every training row and differs from the reference as a function; "
            "joint_success: with an experiment that separates the two and a witness that is right. "
            "experiment_optimality: as a share of the best experiment for that pair."
        )
        note += unlike(chosen(listed, ALTERNATIVES))
        title = "Another SCM that fits (Tables 3A, G.3)"
        parts.append(Table(f"{FAMILY}-alternatives", title, pd.DataFrame(rows), note))
    parts += _after_failure(view, listed)
    parts += _edits(listed)
    return Section(
        f"{FAMILY}-alternative-scm",
        "Alternative-SCM",
        "Given mechanisms that fit: give others that fit as well, and an experiment with a witness "
        "that tells the two apart.",
        tuple(parts),
    )


def _published_alternatives(
    view: View, pool: str, like: Sequence[Entry]
) -> list[dict[str, object]]:
    found: dict[str, dict[str, object]] = {}
    for metric in ALT_METRICS:
        for cell in published(view, pool, metric, like):
            row = found.setdefault(
                cell.system, {"pool": pool, "system": cell.system, "from": PUBLISHED, "n": cell.n}
            )
            row[metric] = printed(cell)
    return [row | {name: row.get(name, "") for name in ALT_METRICS} for row in found.values()]


def _after_failure(view: View, listed: Sequence[Entry]) -> list[Part]:
    own, whence = success_after_failure(attempts(listed)), origins(listed)
    rows: list[dict[str, object]] = [
        {
            "source": row.source,
            "pool": row.pool,
            "system": row.system,
            "from": whence[row.system],
            "source solved": row.source_correct.shown,
            "joint_success": row.joint_success.shown,
            "joint_success where the source was failed": _among(row.given_failure),
        }
        for row in own
    ]
    for source, pool in dict.fromkeys((row.source, row.pool) for row in own):
        cells = view.published.cells(FAMILY, table="G.1", condition=f"{source}->{pool}")
        for system in dict.fromkeys(cell.system for cell in cells):
            by_metric = {cell.metric: cell for cell in cells if cell.system == system}
            rows.append(
                {
                    "source": source,
                    "pool": pool,
                    "system": system,
                    "from": PUBLISHED,
                    "source solved": printed(by_metric.get("paired_train_correct")),
                    "joint_success": printed(by_metric.get("alt_joint")),
                    "joint_success where the source was failed": printed(
                        by_metric.get("alt_joint_given_paired_failure")
                    ),
                }
            )
    if not rows:
        return []
    title = "Editing what could not be found (Table G.1)"
    note = "Attempts whose source problem the same system tried too; * among 1 to 5, – among none."
    return [Table(f"{FAMILY}-after-failure", title, pd.DataFrame(rows), note)]


def _edits(listed: Sequence[Entry]) -> list[Part]:
    edited = [
        attempt
        for attempt in attempts(listed)
        if not attempt.holds("alt_success") or "edits" in attempt.labels
    ]
    rows = [
        {
            "pool": row.pool,
            "system": row.system,
            "alternatives that fit": row.successes,
            "of valid ones": row.valid,
            "one variable changed": row.one_variable.shown,
            "and the same parents kept": row.same_parents.shown,
            "and parents changed": row.changed_parents.shown,
        }
        for row in edit_locality(edited)
    ]
    if not rows:
        return []
    title = "How local the edits are (Table G.4)"
    note = "Among alternatives that fit and differ: – among none, * among 1 to 5."
    return [Table(f"{FAMILY}-edits", title, pd.DataFrame(rows), note)]
