"""ReplaySCM's ladders: less disclosure, more evidence, more bits left open."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from itertools import pairwise

import pandas as pd

from whybench.families.replayscm.extras.analyses.ambiguity import by_bits
from whybench.families.replayscm.extras.analyses.cohorts import (
    FIGURES,
    cohort_deltas,
    cohort_summaries,
)
from whybench.families.replayscm.extras.analyses.disclosure import (
    DISCLOSURE_STEPS,
    REPLAY,
    Pair,
    paired_deltas,
)
from whybench.families.replayscm.extras.analyses.support import LADDERS, ORDER_GAPS, SUPPORT_STEPS
from whybench.families.replayscm.extras.analyses.support import LEVELS as SUPPORT_LEVELS
from whybench.families.replayscm.extras.report.rows import (
    FAMILY,
    Tried,
    attempts,
    paper_differences,
    with_covariates,
)
from whybench.families.replayscm.parameters import LEVELS, POOLS
from whybench.report.entries import PUBLISHED, cells, printed, told
from whybench.report.forms import Row, Shown

RUNGS = ("order disclosed", "blocks disclosed", "order hidden", "roots hidden too")

DISCLOSURE: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "cert": (
        "where the evidence provably leaves one model",
        ("ord_cert", "block_cert", "hid_cert", "roots_cert"),
    ),
    "match": ("the matched pools", ("ord_match", "block", "hid_match", "hid_roots")),
    "full": ("the paper's full pools", ("ord_full", "block", "hid_full", "hid_roots")),
}
"""Ladders over the same hidden SCMs (the full pools share 100 of 250), most disclosed first."""

TITLES = {
    "train_exact": "fits every training row (TrainExact)",
    "heldout_exact": "replays the held-out worlds too (HeldoutExact)",
}
FIGURE_1 = TITLES | {
    "heldout_world_exact": "replays a held-out world without an error (HeldoutWorldExact)",
}
"""The panels of the disclosure ladder: Figure 1 of the paper has the first and the last."""
STEPS: Mapping[str, tuple[Pair, ...]] = {
    "disclosure": (*pairwise(DISCLOSURE["cert"][1]), *DISCLOSURE_STEPS),
    "support": (*SUPPORT_STEPS, *ORDER_GAPS),
}
RESAMPLES = 2000
EDGES = (0.0, 2.0, 8.0, 16.0, 32.0)
"""Edges of the bins of bits; the first bin holds problems with exactly one model left."""

_KINDS = {"baseline": "published baseline"}


def rungs(tried: Tried, ladder: Mapping[str, str], metric: str) -> pd.DataFrame:
    """Return one metric along a ladder (pool → name of the rung), including published systems.

    It leaves out floors. It also leaves out published systems if the ladder has no run.
    """
    rows: list[Row] = []
    shown = tried.drawn(tried.own(ladder))
    for entry in shown:
        found = tried.estimate(entry, metric)
        if not math.isnan(found.estimate):
            rows.append({
                "system": entry.system, "rung": ladder[entry.suite], "pool": entry.suite,
                **cells(found, "share"), "published": False,
            })  # fmt: skip
    rows += [
        {
            "system": f"{cell.system} ({_KINDS.get(cell.system_kind, 'published')})",
            "rung": rung, "pool": pool, "share": cell.share, "low": math.nan, "high": math.nan,
            "n": cell.n, "published": True,
        }
        for pool, rung in (ladder.items() if rows else ())
        for cell in tried.published(pool, metric, shown)
        if cell.share is not None
    ]  # fmt: skip
    return pd.DataFrame(rows)


def _ladder(tried: Tried, ladder: Mapping[str, str], metric: str, key: str, name: str) -> Shown:
    frame = rungs(tried, ladder, metric)
    grey = ""
    if len(frame) and frame["published"].any():
        grey = " Grey: published systems, on other instances."
    grey += paper_differences(tried.drawn(tried.own(ladder)))
    words = {
        "key": key, "metric": metric, "name": name, "start": f"{name[0].upper()}{name[1:]}",
        "fits": FIGURE_1[metric], "grey": grey, "order": list(ladder.values()),
    }  # fmt: skip
    return Shown(frame, words)


def disclosure(tried: Tried) -> Iterator[Shown]:
    """Return the cost of hiding structure: Figure 1 and Table 1."""
    for key, (name, pools) in DISCLOSURE.items():
        for metric in FIGURE_1:
            if key == "full" and not tried.chosen(["ord_full", "hid_full"]):
                continue  # the rest of this ladder is in the matched one
            if key == "cert" and metric == "heldout_exact":
                continue  # if one model is left, this equals train_exact
            yield _ladder(tried, dict(zip(pools, RUNGS, strict=True)), metric, key, name)


def support(tried: Tried) -> Iterator[Shown]:
    """Return the gain from more evidence."""
    for key, pools in LADDERS.items():
        full = f"{pools[0].partition('_')[0]}_full"
        steps = (pools[0], full, *pools[1:]) if tried.chosen([full]) else pools
        ladder = {pool: _with_bits(tried, pool) for pool in steps}
        name = f"{'order disclosed' if key == 'ordered' else 'order hidden'}, more evidence"
        for metric in TITLES:
            yield _ladder(tried, ladder, metric, key, name)


def steps(tried: Tried, ladder: str) -> list[Row]:
    """Return paired differences along a ladder, with the published ones (Table D.1 and others)."""
    own = attempts(tried.own(POOLS))
    deltas = paired_deltas(own, STEPS[ladder], REPLAY, resamples=RESAMPLES)
    rows: list[Row] = []
    for pair in dict.fromkeys((delta.first, delta.second) for delta in deltas):
        for metric in REPLAY:
            start = {"first": pair[0], "second": pair[1], "metric": metric}
            for delta in deltas:
                if (delta.first, delta.second, delta.metric) == (*pair, metric):
                    found = delta.difference
                    bounds = "" if pd.isna(found.low) else f" [{found.low:+.3f}, {found.high:+.3f}]"
                    rows.append(start | {
                        "system": delta.system,
                        "first minus second": f"{found.estimate:+.3f}{bounds}", "n": found.n,
                        "from": tried.origin(delta.system),
                    })  # fmt: skip
            rows += [
                start | {"system": cell.system, "first minus second": printed(cell), "n": cell.n,
                         "from": PUBLISHED}
                for cell in tried.view.published.cells(
                    FAMILY, condition="->".join(pair), metric=f"{metric}_delta"
                )
            ]  # fmt: skip
    return rows


def cohorts(tried: Tried) -> list[Row]:
    """Return Tables F.3 to F.5: cohorts with and without disambiguation, on the same SCMs."""
    own = attempts([*tried.base, *tried.own(POOLS)])
    if not tried.base:
        return []
    changes = {(d.system, d.pool): d.change for d in cohort_deltas(own, resamples=RESAMPLES)}
    rows: list[Row] = []
    for one in cohort_summaries(own):
        change = changes.get((one.system, one.pool), {})
        rows.append({
            "system": one.system, "pool": one.pool, "cohort": one.cohort, "n": one.n,
            "train_world_exact": round(one.train_world, 3),
            "heldout_world_exact": round(one.heldout_world, 3),
            "train minus held-out": round(one.gap, 3), "retention": round(one.retention, 3),
            **{f"{name} minus base": _signed(*change[name]) if change else "" for name in FIGURES},
        })  # fmt: skip
    return rows


def _signed(value: float, low: float, high: float) -> str:
    return f"{value:+.3f} [{low:+.3f}, {high:+.3f}]"


# Bits of ambiguity.


def _with_bits(tried: Tried, pool: str) -> str:
    """Return the name of a pool with its mean open bits, if these are known."""
    name, played = pool.partition("_")[2], _played(tried, pool)
    if len(played) != 1:
        return name
    return f"{name} ({next(iter(played.values()))['bits'].mean():.1f} bits)"


def _played(tried: Tried, pool: str) -> dict[str, pd.DataFrame]:
    """Return the instances of a pool that were played, with their bits, by profile."""
    known: dict[str, list[pd.DataFrame]] = {}
    for entry in tried.chosen([pool]):
        frame = with_covariates(tried.view, entry.run)
        if "bits" in frame.columns:
            known.setdefault(entry.run.profile, []).append(frame.dropna(subset="bits"))
    return {p: pd.concat(frames).drop_duplicates("instance") for p, frames in known.items()}


def left_open(tried: Tried) -> list[Row]:
    """Return what the worlds of each level leave open, on the instances that were played."""
    return [
        {
            "profile": profile, "disclosure": shown, "level": level.replace("_", " "), "pool": pool,
            "bits open (mean)": round(float(played["bits"].mean()), 1),
            "one model left": f"{int((played['bits'] == 0).sum())} of {len(played)}",
            "training rows (mean)": round(float(played["train_rows"].mean()), 1),
            "patterns of true parents shown": round(float(played["patterns_shown"].mean()), 3),
        }
        for shown, pools in LADDERS.items()
        for level, pool in zip(SUPPORT_LEVELS, pools, strict=True)
        for profile, played in _played(tried, pool).items()
    ]  # fmt: skip


def bits(tried: Tried) -> Iterator[Shown]:
    """Return success by bits of ambiguity on the `bits_*` suites, short and long ones."""
    levels = ["0", *(str(level) for level in LEVELS)]
    short = {f"bits_{level}": level for level in levels}
    long = {"bits_0": "0"} | {f"bits_{level}_long": level for level in levels[1:]}
    for metric in TITLES:
        frame, lengthy = rungs(tried, short, metric), rungs(tried, long, metric)
        if tried.chosen(list(long)[1:]) and len(lengthy):
            systems = set(lengthy.loc[lengthy["pool"] != "bits_0", "system"])
            lengthy = lengthy[lengthy["system"].isin(systems)]
            lengthy = lengthy.assign(system=lengthy["system"] + ", as long as at 0 bits")
            frame = pd.concat([part for part in (frame, lengthy) if len(part)])
        words = {"metric": metric, "fits": TITLES[metric], "order": levels}
        yield Shown(frame.reset_index(drop=True), words)


def bits_bins(tried: Tried) -> list[Row]:
    """Return all pools together, by bits."""
    induced = [e for e in tried.induced() if e.run.evidence == "own"]
    ordered = [e for e in tried.listed if e in induced and e.run.profile != "published"]
    return [
        {"system": row.system, "bits": _range(row.over, row.up_to), "metric": row.metric,
         "share": told(row.mean), "n": row.mean.n}
        for row in by_bits(attempts(ordered), list(TITLES), EDGES)
        if row.mean.n
    ]  # fmt: skip


def _range(over: float, up_to: float) -> str:
    if up_to == 0:
        return "0"
    return f"over {over:g}" if up_to == float("inf") else f"over {over:g}, up to {up_to:g}"
