"""Rows of the paper's tables that `analyses` computes: rates with conditions, pairs, stages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from whybench.families.replayscm.extras.analyses import (
    alternatives,
    disclosure,
    editing,
    funnel,
    roots,
    support,
)
from whybench.families.replayscm.extras.analyses.attempt import Attempt, pooled
from whybench.families.replayscm.extras.analyses.disclosure import Delta
from whybench.families.replayscm.extras.report.rows import Tried
from whybench.report.papers.model import Item
from whybench.report.view import View

Row = dict[str, Any]

LABELS = {
    "ord_full": "Ord-Full", "block": "Block", "hid_full": "Hid-Full", "ord_match": "Ord-Match",
    "hid_match": "Hid-Match", "hid_roots": "Hid-Roots", "ord_ext": "Ord-Ext",
    "hid_ext": "Hid-Ext", "ord_cex": "Ord-CEx", "hid_cex": "Hid-CEx", "alt_ord": "Alt-Ord",
    "alt_hid": "Alt-Hid",
}  # fmt: skip
"""Pool → its label in the paper."""


def _attempts(view: View) -> list[Attempt]:
    """Return the attempts of published pools."""
    listed = [e for e in Tried.of(view).listed if e.run.profile == "published"]
    return [attempt for entry in listed for attempt in entry.attempts]


def _named(item: Item, system: str, values: Sequence[Any], **labels: str) -> Row:
    """Return a row: labels, then values in the order of the columns."""
    names = [column.name for column in item.columns]
    kept = [name for name in names if name not in labels]
    return {item.system: system, **labels, **dict(zip(kept, values, strict=True))}


def disclosure_differences(view: View, item: Item) -> list[Row]:
    """Return Table D.1: paired differences of two pools."""
    found: dict[tuple[str, str], dict[str, float]] = {}
    for delta in disclosure.disclosure_deltas(_attempts(view), resamples=200):
        key = (delta.system, f"{delta.first}->{delta.second}")
        found.setdefault(key, {})[delta.metric] = delta.difference.estimate
    labels = {group.condition: group.labels for group in item.groups}
    return [
        _named(item, system, [f"{cells[m]:+.3f}" for m in disclosure.REPLAY], **labels[step])
        for (system, step), cells in found.items()
    ]


def alternative_panel(view: View, item: Item) -> list[Row]:
    """Return Tables 3A and G.1: Alternative-SCM beside the paired source task."""
    attempts = _attempts(view)
    found: list[Row] = []
    for one in editing.success_after_failure(attempts):
        group = next(g for g in item.groups if g.suite == one.pool)
        row: Row = {item.system: one.system, **group.labels}
        tried = [a for a in attempts if (a.system, a.pool) == (one.system, one.pool)]
        cells = {
            "paired_train_correct": one.source_correct.shown,
            "alt_joint": one.joint_success.shown,
            "alt_joint_given_paired_failure": one.given_failure.shown,
            "alt_train_exact": _mean(tried, "alt_success"),
            "experiment_witness": _mean(tried, "witness_valid"),
        }
        found.append(row | {c.name: cells.get(c.metric[0]) for c in item.columns})
    return found


def _mean(attempts: Sequence[Attempt], metric: str) -> float | None:
    values = [v for a in attempts if (v := a.value(metric)) is not None]
    return sum(values) / len(values) if values else None


def stages(view: View, item: Item) -> list[Row]:
    """Return Table C.1: the share of answers that pass each stage."""
    return [
        _named(item, one.system, [s.passed.shown for s in one.stages], Setting=LABELS[one.pool])
        for one in funnel.funnels(_attempts(view))
        if one.pool in LABELS and not one.pool.startswith("alt")
    ]


def alternative_rates(view: View, item: Item) -> list[Row]:
    """Return Table F.12: alternatives per attempt and per answer that fits."""
    return [
        _named(item, one.system, _rates(one), Setting=LABELS[one.pool])
        for one in alternatives.alternative_rates(_attempts(view))
        if one.pool in LABELS
    ]


def _rates(one: alternatives.AlternativeRates) -> list[Any]:
    counts = (one.per_attempt.denominator, one.per_train_exact.denominator)
    found = int(one.per_attempt.numerator)
    return [*map(str, counts), str(found), one.per_attempt.shown, one.per_train_exact.shown]


def alternative_changes(view: View, item: Item) -> list[Row]:
    """Return Table F.13: alternatives before and after worlds were added."""
    found = []
    for one in alternatives.alternative_changes(_attempts(view)):
        cells = [
            cell
            for side in (one.before, one.after)
            for cell in (
                str(side.per_train_exact.denominator),
                side.per_attempt.shown,
                side.per_train_exact.shown,
            )
        ]
        cells.append(_signed(one.per_attempt_change) or "–")
        found.append(_named(item, one.before.system, cells, Setting=LABELS[one.before.pool]))
    return found


def solved_intersection(view: View, item: Item) -> list[Row]:
    """Return Table F.14: alternatives on problems that were solved on both sides."""
    return [
        _named(
            item,
            one.system,
            [
                str(one.solved_both),
                *(str(int(side.numerator)) for side in (one.before, one.after)),
                *(side.shown for side in (one.before, one.after)),
                _signed(one.rate_change),
            ],
            Setting=LABELS[one.first],
        )
        for one in alternatives.solved_intersection(_attempts(view))
    ]


def _signed(value: float | None) -> str | None:
    return None if value is None else f"{value:+.3f}"


STRUCTURE = ("parent_shd", "parent_f1", "parent_map_exact", "local_match", "heldout_world_exact")
"""The metrics of Table F.10."""


def support_intervals(view: View, item: Item) -> list[Row]:
    """Return Table F.10: differences of added worlds and of disclosure, with intervals."""
    deltas = support.support_deltas(_attempts(view), STRUCTURE, resamples=2000)
    found: dict[tuple[str, str, str], dict[str, Delta]] = {}
    for delta in deltas:
        found.setdefault((delta.system, delta.first, delta.second), {})[delta.metric] = delta
    return [
        _named(
            item,
            system,
            [_spanned(cells.get(metric)) for metric in STRUCTURE],
            Comparison=f"{LABELS[first]} − {LABELS[second]}",
        )
        for (system, first, second), cells in found.items()
    ]


def _spanned(delta: Delta | None) -> str | None:
    if delta is None:
        return None
    found = delta.difference
    return f"{found.estimate:+.3f} [{found.low:+.3f}, {found.high:+.3f}]"


def edit_depths(view: View, item: Item) -> list[Row]:
    """Return Table G.5 over all systems of the logs: edits by depth in the reference."""
    return [
        _named(
            item,
            one.system,
            [
                str(one.changed.denominator),
                one.changed.shown,
                one.structure_changed.shown,
                one.mechanism_only.shown,
                one.share_of_changes.shown,
                one.structure_among_changed.shown,
            ],
            **{"Setting": LABELS[one.pool], "Ref. depth": one.depth},
        )
        for one in editing.edit_depths(pooled(_attempts(view)))
    ]


def root_conditioned(view: View, item: Item) -> list[Row]:
    """Return Table G.7: replay after exact and after wrong roots."""
    return [
        _named(
            item,
            one.system,
            [
                str(one.root_set_exact.denominator),
                one.root_set_exact.shown,
                str(int(one.root_set_exact.numerator)),
                one.train_exact_given_root_exact.shown,
                one.heldout_world_given_root_exact.shown,
                one.heldout_exact_given_root_exact.shown,
                one.train_exact_given_root_wrong.shown,
                one.heldout_world_given_root_wrong.shown,
                str(one.train_failures),
                str(one.heldout_failures),
            ],
        )
        for one in roots.root_conditioned(_attempts(view))
    ]


def root_nested(view: View, item: Item) -> list[Row]:
    """Return Table G.8: the nested breakdown of hidden roots."""
    return [
        _named(
            item,
            one.system,
            [
                str(one.valid.denominator),
                one.valid.shown,
                one.root_set_exact.shown,
                str(one.root_exact_and_valid),
                *(
                    rate.shown
                    for rate in (
                        one.parent_f1,
                        one.parent_map_exact,
                        one.train_exact,
                        one.heldout_world_given_train_exact,
                    )
                ),
            ],
        )
        for one in roots.root_nested(_attempts(view))
    ]


def alternative_problems(view: View, item: Item) -> Iterator[Row]:
    """Return Table F.11 for the systems of the logs: problems with and without an alternative."""
    for one in alternatives.alternative_problems(_attempts(view)):
        rate = one.with_alternative
        without = str(int(rate.denominator - rate.numerator))
        yield _named(item, one.group, [without, rate.shown], Setting=LABELS[one.pool])
