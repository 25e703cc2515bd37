"""ReplaySCM's two ladders: less and less told of the structure, more and more evidence shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

import pandas as pd

from whybench.families.replayscm.analyses.disclosure import (
    DISCLOSURE_STEPS,
    REPLAY,
    Delta,
    Pair,
    paired_deltas,
)
from whybench.families.replayscm.analyses.support import LADDERS, ORDER_GAPS, SUPPORT_STEPS
from whybench.report import charts
from whybench.report.families.replayscm_bits import TITLES, left_open, with_bits
from whybench.report.families.replayscm_published import unlike
from whybench.report.families.replayscm_rows import (
    FAMILY,
    PUBLISHED,
    Entry,
    absent,
    attempts,
    chosen,
    drawn,
    origins,
    printed,
    with_own_evidence,
)
from whybench.report.families.replayscm_rungs import in_words, rungs
from whybench.report.section import Figure, Part, Section, Table
from whybench.report.view import View

RUNGS = ("order told", "blocks told", "order hidden", "roots hidden too")

DISCLOSURE: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "cert": (
        "where one model is left, proven",
        ("ord_cert", "block_cert", "hid_cert", "roots_cert"),
    ),
    "match": ("the matched pools", ("ord_match", "block", "hid_match", "hid_roots")),
    "full": ("the paper's full pools", ("ord_full", "block", "hid_full", "hid_roots")),
}
"""Ladders over the same latent SCMs (the full pools share 100 of 250), most told first."""

CERTIFIED_STEPS: tuple[Pair, ...] = tuple(pairwise(DISCLOSURE["cert"][1]))

RESAMPLES = 2000


def disclosure(view: View, listed: Sequence[Entry]) -> Section:
    """What hiding structure costs: Figure 1 and Tables 1, D.1."""
    parts: list[Part] = []
    for key, (name, pools) in DISCLOSURE.items():
        for metric in ("train_exact", "heldout_exact"):
            own = {e.pool for e in chosen(listed, pools)}
            if key == "full" and not own & {"ord_full", "hid_full"}:
                continue  # the rest of this ladder is in the matched one
            if key == "cert" and metric == "heldout_exact":
                continue  # where one model is left, the two are the same
            ladder = dict(zip(pools, RUNGS, strict=True))
            figure = _ladder(
                view, listed, ladder, metric, f"disclosure-{key}-{metric}", name, "less told"
            )
            parts += [figure] if figure else []
    if not parts:
        parts.append(absent("The disclosure ladder", DISCLOSURE["cert"][1]))
    deltas = paired_deltas(
        attempts(with_own_evidence(listed)),
        (*CERTIFIED_STEPS, *DISCLOSURE_STEPS),
        REPLAY,
        resamples=RESAMPLES,
    )
    if deltas:
        parts.append(
            Table(
                f"{FAMILY}-disclosure-steps",
                "What each step of hiding costs",
                _delta_frame(view, deltas, origins(listed)),
                "First pool minus second on the same latent SCMs, so a positive figure is a cost; "
                "95 % bootstrap intervals over SCMs. Published rows are Table D.1, as printed.",
            )
        )
    return Section(
        f"{FAMILY}-disclosure",
        "The disclosure ladder",
        "The same hidden systems with less and less told of their structure: a full order, blocks, "
        "the roots alone, or only how many roots there are.",
        tuple(parts),
    )


def support(view: View, listed: Sequence[Entry]) -> Section:
    """What more evidence brings: Tables E.1, F.7, F.10, and exact bits in place of F.6."""
    parts: list[Part] = []
    for told_of, pools in LADDERS.items():
        full = f"{pools[0].partition('_')[0]}_full"
        steps = (pools[0], full, *pools[1:]) if chosen(listed, [full]) else pools
        ladder = {pool: with_bits(view, listed, pool, pool.partition("_")[2]) for pool in steps}
        for metric in ("train_exact", "heldout_exact"):
            what = f"{'order told' if told_of == 'ordered' else 'order hidden'}, more evidence"
            figure = _ladder(
                view, listed, ladder, metric, f"support-{told_of}-{metric}", what, "more evidence"
            )
            parts += [figure] if figure else []
    if not parts:
        parts.append(absent("The support ladder", LADDERS["hidden"]))
    opened = left_open(view, listed)
    parts += [opened] if opened else []
    deltas = paired_deltas(
        attempts(with_own_evidence(listed)),
        (*SUPPORT_STEPS, *ORDER_GAPS),
        REPLAY,
        resamples=RESAMPLES,
    )
    if deltas:
        note = (
            "First pool minus second on the same latent SCMs: along one ladder the gain from more "
            "evidence, for hid_… minus ord_… the effect of hiding the order. More evidence is also "
            "a longer prompt."
        )
        parts.append(
            Table(
                f"{FAMILY}-support-steps",
                "What each step of evidence brings",
                _delta_frame(view, deltas, origins(listed)),
                note,
            )
        )
    return Section(
        f"{FAMILY}-support",
        "The support ladder",
        "The same hidden systems with more and more evidence: the original worlds (match; full has "
        "150 problems more), three or four more (ext), worlds that rule out alternatives that were "
        "found (cex), and worlds after which one model is left, proven (cert).",
        tuple(parts),
    )


def _ladder(
    view: View,
    listed: Sequence[Entry],
    ladder: Mapping[str, str],
    metric: str,
    key: str,
    name: str,
    across: str,
) -> Figure | None:
    frame = rungs(view, listed, ladder, metric)
    if frame.empty:
        return None
    chart = charts.lines(
        frame,
        x="rung",
        y="share",
        low="low",
        high="high",
        x_sort=list(ladder.values()),
        x_title=f"{across} →",
        y_title=f"share of problems, {metric}",
        published="published",
    )
    what = f"Share of problems whose answer {TITLES[metric]}; {name}"
    grey = ""
    if frame["published"].any():
        grey = "Grey: published systems, on other instances."
    grey += unlike(drawn(view, chosen(with_own_evidence(listed), ladder)))
    return Figure(
        f"{FAMILY}-{key.replace('_', '-')}",
        f"{name[0].upper()}{name[1:]}: {TITLES[metric]}",
        in_words(frame, what),
        chart,
        frame,
        f"Lines with 95 % intervals, clustered by latent SCM. {grey}".strip(),
    )


def _delta_frame(view: View, deltas: Sequence[Delta], whence: Mapping[str, str]) -> pd.DataFrame:
    rows: list[dict[str, object]] = []
    for pair in dict.fromkeys((delta.first, delta.second) for delta in deltas):
        for metric in REPLAY:
            for delta in deltas:
                if (delta.first, delta.second) == pair and delta.metric == metric:
                    found = delta.difference
                    bounds = "" if pd.isna(found.low) else f" [{found.low:+.3f}, {found.high:+.3f}]"
                    rows.append(
                        _delta_row(
                            pair, metric, delta.system, f"{found.estimate:+.3f}{bounds}", found.n
                        )
                        | {"from": whence[delta.system]}
                    )
            condition, published = "->".join(pair), f"{metric}_delta"
            rows += [
                _delta_row(pair, metric, cell.system, printed(cell), cell.n) | {"from": PUBLISHED}
                for cell in view.published.cells(FAMILY, condition=condition, metric=published)
            ]
    return pd.DataFrame(rows)


def _delta_row(
    pair: Pair, metric: str, system: str, difference: str, n: int | None
) -> dict[str, object]:
    return {
        "first": pair[0],
        "second": pair[1],
        "metric": metric,
        "system": system,
        "first minus second": difference,
        "n": n,
    }
