"""ReplaySCM by bits of ambiguity: how many models the training rows leave open."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from whybench.families.replayscm.analyses.ambiguity import by_bits
from whybench.families.replayscm.analyses.support import LADDERS
from whybench.families.replayscm.analyses.support import LEVELS as SUPPORT_LEVELS
from whybench.families.replayscm.params import LEVELS, POOLS
from whybench.report import charts
from whybench.report.families.replayscm_rows import (
    FAMILY,
    Entry,
    absent,
    attempts,
    chosen,
    told,
    with_own_evidence,
    with_traits,
)
from whybench.report.families.replayscm_rungs import in_words, rungs
from whybench.report.section import Figure, Part, Section, Table
from whybench.report.view import View

TITLES = {
    "train_exact": "fits every training row (TrainExact)",
    "heldout_exact": "replays the held-out worlds too (HeldoutExact)",
}
EDGES = (0.0, 2.0, 8.0, 16.0, 32.0)
"""Bits at which problems are put into bins; the first bin is what the evidence forces."""


def ambiguity(view: View, listed: Sequence[Entry]) -> Section:
    """Success against bits of ambiguity: the `bits_*` suites, then all pools by their bits."""
    parts: list[Part] = []
    for metric in ("train_exact", "heldout_exact"):
        figure = _bits_figure(view, listed, metric)
        parts += [figure] if figure else []
    if not parts:
        parts.append(absent("Success by bits", ["bits_0", "bits_2", "bits_8", "bits_32"]))
    binned = _bits_table(listed)
    parts += [binned] if binned else []
    return Section(
        f"{FAMILY}-bits",
        "Bits of ambiguity",
        "How many models the training rows leave open, as a binary logarithm: 0 means that they "
        "force one. The long suites keep the number of rows as it is at 0 bits.",
        tuple(parts),
    )


def with_bits(view: View, listed: Sequence[Entry], pool: str, name: str) -> str:
    """Return the name of a pool with the mean bits that it leaves open, where these are known."""
    played = _played(view, listed, pool)
    if len(played) != 1:
        return name
    return f"{name} ({next(iter(played.values()))['bits'].mean():.1f} bits)"


def _played(view: View, listed: Sequence[Entry], pool: str) -> dict[str, pd.DataFrame]:
    """Return the instances of a pool that were played, with their bits, by profile."""
    known: dict[str, list[pd.DataFrame]] = {}
    for entry in chosen(listed, [pool]):
        frame = with_traits(view, entry.run)
        if "bits" in frame.columns:
            known.setdefault(entry.run.profile, []).append(frame.dropna(subset="bits"))
    return {
        profile: pd.concat(frames).drop_duplicates("instance") for profile, frames in known.items()
    }


def left_open(view: View, listed: Sequence[Entry]) -> Table | None:
    """What the worlds of each level leave open, of the instances that were played."""
    rows: list[dict[str, object]] = []
    for told_of, pools in LADDERS.items():
        for level, pool in zip(SUPPORT_LEVELS, pools, strict=True):
            for profile, played in _played(view, listed, pool).items():
                rows.append(
                    {
                        "profile": profile,
                        "told": told_of,
                        "level": level.replace("_", " "),
                        "pool": pool,
                        "bits open (mean)": round(float(played["bits"].mean()), 1),
                        "one model left": f"{int((played['bits'] == 0).sum())} of {len(played)}",
                        "training rows (mean)": round(float(played["train_rows"].mean()), 1),
                        "patterns of true parents shown": round(
                            float(played["patterns_shown"].mean()), 3
                        ),
                    }
                )
    if not rows:
        return None
    return Table(
        f"{FAMILY}-support-bits",
        "What each level of evidence leaves open",
        pd.DataFrame(rows),
        "Counted exactly on the instances that were played. Without a bound on parents "
        "(profile published) many more models fit.",
    )


def _bits_figure(view: View, listed: Sequence[Entry], metric: str) -> Figure | None:
    levels = ["0", *(str(level) for level in LEVELS)]
    short = {f"bits_{level}": level for level in levels}
    long = {"bits_0": "0"} | {f"bits_{level}_long": level for level in levels[1:]}
    frames = [rungs(view, listed, short, metric)]
    if chosen(listed, list(long)[1:]):
        lengthy = rungs(view, listed, long, metric)
        systems = set(lengthy.loc[lengthy["pool"] != "bits_0", "system"])
        lengthy = lengthy[lengthy["system"].isin(systems)]
        frames.append(lengthy.assign(system=lengthy["system"] + ", as long as at 0 bits"))
    frame = pd.concat([part for part in frames if not part.empty] or [pd.DataFrame()])
    if frame.empty:
        return None
    frame = frame.reset_index(drop=True)
    chart = charts.lines(
        frame,
        x="rung",
        y="share",
        low="low",
        high="high",
        x_sort=levels,
        x_title="bits that the training rows leave open",
        y_title=f"share of problems, {metric}",
    )
    what = f"Share of problems whose answer {TITLES[metric]}, by bits left open"
    return Figure(
        f"{FAMILY}-bits-{metric.replace('_', '-')}",
        f"By bits of ambiguity: {TITLES[metric]}",
        in_words(frame, what),
        chart,
        frame,
        "At 0 bits a fit is the truth. Above, a fit may fail elsewhere; how often that of the "
        "exact agent does, which takes the smallest formulas, is a yardstick.",
    )


def _bits_table(listed: Sequence[Entry]) -> Table | None:
    induced = [
        e for e in with_own_evidence(listed) if POOLS[e.pool].task == "induce" and e.pool != "lab"
    ]
    certified = [e for e in induced if e.run.profile != "published"]
    rows = [
        {
            "system": row.system,
            "bits": _range(row.over, row.up_to),
            "metric": row.metric,
            "share": told(row.mean),
            "n": row.mean.n,
        }
        for row in by_bits(attempts(certified), ["train_exact", "heldout_exact"], EDGES)
        if row.mean.n
    ]
    if not rows:
        return None
    return Table(
        f"{FAMILY}-bits-bins",
        "All pools together, by bits",
        pd.DataFrame(rows),
        "In the place of the paper's Table F.6, which bins by a proxy. Profile certified and the "
        "public salt only; hidden roots are left out, as their bits take long to count.",
    )


def _range(over: float, up_to: float) -> str:
    if up_to == 0:
        return "0"
    return f"over {over:g}" if up_to == float("inf") else f"over {over:g}, up to {up_to:g}"
