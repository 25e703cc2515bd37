"""The paper's tables of ReplaySCM: replay, structure, hidden roots, alternatives that fit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pandas as pd

from whybench.families.replayscm.extras.analyses.conditional import Conditional
from whybench.families.replayscm.extras.analyses.editing import edit_locality, success_after_failure
from whybench.families.replayscm.extras.analyses.retention import retentions
from whybench.families.replayscm.extras.analyses.roots import root_breakdown, root_conditioned
from whybench.families.replayscm.extras.report.rows import (
    FAMILY,
    Entry,
    Tried,
    attempts,
    paper_differences,
)
from whybench.report.entries import PUBLISHED, printed, told
from whybench.report.forms import Row, Shown

REPLAYED = ("valid", "train_exact", "heldout_world_exact", "heldout_exact",
            "heldout_world_if_train", "heldout_exact_if_train")  # fmt: skip
"""The columns of Table 1; the last two are conditional on TrainExact."""
STRUCTURE = ("parent_recall", "parent_f1", "parent_shd", "parent_exact", "parent_map_exact",
             "local_match", "train_exact_if_map", "heldout_exact_if_map",
             "full_local_match", "latent_match")  # fmt: skip
"""The columns of Table 2, and our own last two."""

ROOT_POOLS = ("roots_cert", "hid_roots")
ROOT_METRICS = {
    "root_exact": "root_set_exact",
    "full_task_success": "task_correct",
    "train_exact": "train_exact",
    "heldout_exact": "heldout_exact",
}
"""Published name → ours."""
ROOT_AMONG = ("train_exact_given_root_exact", "heldout_world_exact_given_root_exact",
              "heldout_exact_given_root_exact")  # fmt: skip
"""Names of metrics in the published table that are conditional on right roots."""

ALTERNATIVES = {"alt_ord": "ord_match", "alt_hid": "hid_match"}
"""Pool → the pool whose problems it is made from."""
ALT_METRICS = ("alt_success", "experiment_valid", "pair_separates", "witness_valid",
               "joint_success", "experiment_optimality")  # fmt: skip


def _row(entry: Entry, n: int) -> Row:
    return {"pool": entry.suite, "system": entry.system, "from": entry.origin, "n": n}


def _published(tried: Tried, pool: str, metrics: Sequence[str], like: Sequence[Entry]) -> list[Row]:
    found: dict[str, Row] = {}
    for metric in metrics:
        for cell in tried.published(pool, metric, like):
            row = found.setdefault(
                cell.system,
                {"pool": pool, "system": cell.system, "from": PUBLISHED, "n": None}
                | dict.fromkeys(metrics, ""),
            )
            row[metric] = printed(cell)
            if row["n"] is None and not metric.endswith("_if_train"):
                row["n"] = cell.n
    return list(found.values())


def _with_published(tried: Tried, own: list[tuple[Entry, Row]], metrics: Sequence[str]) -> Shown:
    """Put the published rows of each pool after our own rows."""
    rows: list[Row] = []
    for pool in dict.fromkeys(entry.suite for entry, _ in own):
        there = [(entry, row) for entry, row in own if entry.suite == pool]
        rows += [row for _, row in there]
        rows += _published(tried, pool, metrics, [entry for entry, _ in there])
    return Shown(pd.DataFrame(rows), {"differences": paper_differences(entry for entry, _ in own)})


def _among(rate: Conditional, figure: str = "") -> str:
    """Return a conditional rate with its denominator, or the mark of suppression."""
    if rate.suppressed or not rate.denominator:
        return rate.shown
    return f"{figure or rate.shown}, n {rate.denominator}"


def replay(tried: Tried) -> Shown:
    """Return Table 1: replay by pool and system."""
    own = []
    for entry in tried.induced():
        row = _row(entry, len(entry.attempts))
        row |= {metric: told(tried.estimate(entry, metric)) for metric in REPLAYED[:4]}
        [kept] = retentions(entry.attempts)
        rates = (kept.heldout_world_given_train_exact, kept.heldout_exact_given_train_exact)
        for metric, rate in zip(REPLAYED[4:], rates, strict=True):
            row[metric] = _among(rate, told(tried.estimate(entry, metric)))
        own.append((entry, row))
    return _with_published(tried, own, REPLAYED)


def shown_and_held(tried: Tried) -> pd.DataFrame:
    """Return Figure D.1: replay of training worlds and of held-out worlds, for each pool."""
    rows: list[Row] = []
    names = ("train_world_exact", "heldout_world_exact")
    entries = tried.drawn(tried.induced())
    for entry in entries:
        found = [tried.estimate(entry, name).estimate for name in names]
        if not any(map(pd.isna, found)):
            rows.append({
                "system": entry.system, "pool": entry.suite, **dict(zip(names, found, strict=True)),
                "n": len(entry.attempts), "published": False,
            })  # fmt: skip
    for pool in dict.fromkeys(row["pool"] for row in rows):
        like = [entry for entry in entries if entry.suite == pool]
        train, held = ({c.system: c for c in tried.published(pool, name, like)} for name in names)
        rows += [
            {"system": f"{system} (published)", "pool": pool, names[0]: train[system].share,
             names[1]: held[system].share, "n": held[system].n, "published": True}
            for system in train
            if system in held and None not in (train[system].share, held[system].share)
        ]  # fmt: skip
    return pd.DataFrame(rows)


def structure(tried: Tried) -> Shown:
    """Return Table 2: functional parents and local functions, among valid answers."""
    own = []
    for entry in tried.induced():
        row = _row(entry, tried.estimate(entry, "parent_f1").n)
        for metric in STRUCTURE:
            rate = Conditional.of(attempt.value(metric) for attempt in entry.attempts)
            shown = told(tried.estimate(entry, metric))
            row[metric] = shown if rate.denominator and not rate.suppressed else rate.shown
        own.append((entry, row))
    return _with_published(tried, own, STRUCTURE)


def failed_fits(tried: Tried) -> Iterator[Row]:
    """Return, for each model, how many of its fits fail on held-out worlds, over all pools."""
    models = [entry for entry in tried.induced() if not entry.run.reference]
    for system in dict.fromkeys(entry.system for entry in tried.listed):
        own = attempts(entry for entry in models if entry.system == system)
        fits = [attempt for attempt in own if attempt.holds("train_exact")]
        failed = sum(not attempt.holds("heldout_exact") for attempt in fits)
        if failed:
            yield {"system": system, "fits": len(fits), "tried": len(own), "failed": failed}


def roots(tried: Tried) -> pd.DataFrame:
    """Return Tables 3B, G.6 and G.7: the root set first, the mechanisms below it second."""
    rows: list[Row] = []
    for entry in tried.chosen(ROOT_POOLS):
        [whole] = root_breakdown(entry.attempts, entry.suite)
        [among] = root_conditioned(entry.attempts, entry.suite)
        row = _row(entry, whole.task_correct.denominator)
        row |= {name: told(tried.estimate(entry, name)) for name in ROOT_METRICS.values()}
        given = (among.train_exact_given_root_exact, among.heldout_world_given_root_exact,
                 among.heldout_exact_given_root_exact)  # fmt: skip
        row |= {name: _among(rate) for name, rate in zip(ROOT_AMONG, given, strict=True)}
        row["train_exact_given_root_wrong"] = _among(among.train_exact_given_root_wrong)
        rows.append(row)
    if any(row["pool"] == "hid_roots" for row in rows):
        names = ROOT_METRICS | {name: name for name in ROOT_AMONG}
        found: dict[str, Row] = {}
        for cell in tried.view.published.cells(FAMILY, suite="hid_roots", condition=""):
            if cell.system_kind and cell.table in ("3B", "G.6") and cell.metric in names:
                start = {"pool": "hid_roots", "system": cell.system, "from": PUBLISHED}
                row = found.setdefault(cell.system, {**start, "n": cell.n})
                row.setdefault(names[cell.metric], printed(cell))
        rows += found.values()
    frame = pd.DataFrame(rows).astype(object)
    return frame.where(frame.notna(), "")


def alternatives(tried: Tried) -> Shown:
    """Return Tables 3A and G.3: another SCM that fits, with an experiment and a witness."""
    own = [
        (entry, _row(entry, len(entry.attempts))
         | {metric: told(tried.estimate(entry, metric)) for metric in ALT_METRICS})
        for entry in tried.chosen(ALTERNATIVES)
    ]  # fmt: skip
    return _with_published(tried, own, ALT_METRICS)


def after_failure(tried: Tried) -> list[Row]:
    """Return Table G.1: alternatives to problems that the same system could not solve."""
    names = ("source solved", "joint_success", "joint_success where the source was failed")
    published = ("paired_train_correct", "alt_joint", "alt_joint_given_paired_failure")
    own = success_after_failure(attempts(tried.listed))
    rows: list[Row] = []
    for row in own:
        given = (row.source_correct.shown, row.joint_success.shown, _among(row.given_failure))
        rows.append({
            "source": row.source, "pool": row.pool, "system": row.system,
            "from": tried.origin(row.system), **dict(zip(names, given, strict=True)),
        })  # fmt: skip
    for source, pool in dict.fromkeys((row.source, row.pool) for row in own):
        cells = tried.view.published.cells(FAMILY, table="G.1", condition=f"{source}->{pool}")
        for system in dict.fromkeys(cell.system for cell in cells):
            known = {cell.metric: cell for cell in cells if cell.system == system}
            shown = [printed(known.get(metric)) for metric in published]
            rows.append({
                "source": source, "pool": pool, "system": system, "from": PUBLISHED,
                **dict(zip(names, shown, strict=True)),
            })  # fmt: skip
    return rows


def edits(tried: Tried) -> list[Row]:
    """Return Table G.4: how local the edits are."""
    edited = [
        attempt
        for attempt in attempts(tried.listed)
        if not attempt.holds("alt_success") or "edits" in attempt.labels
    ]
    return [
        {
            "pool": row.pool, "system": row.system, "alternatives that fit": row.successes,
            "of valid ones": row.valid, "one variable changed": row.one_variable.shown,
            "and the same parents kept": row.same_parents.shown,
            "and parents changed": row.changed_parents.shown,
        }
        for row in edit_locality(edited)
    ]  # fmt: skip
