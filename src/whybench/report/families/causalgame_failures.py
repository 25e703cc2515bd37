"""CausalGame: lost by bad experiments or by bad inference, and generated worlds by knob."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Any

import pandas as pd

from whybench.families.causalgame.cells import TURNED
from whybench.families.causalgame.hindsight import SORTS, Sort, hindsight
from whybench.families.causalgame.params import KNOBS, LEVELS
from whybench.report.charts import bars, dots
from whybench.report.families.causalgame_rows import (
    COMMAND,
    NAME,
    Group,
    differing,
    groups,
    manner,
    percent,
)
from whybench.report.palette import LIGHT
from whybench.report.section import Figure, Part, Remark, Section
from whybench.report.view import View

MOST, LEAST = 90, 6
"""So many episodes are looked back at in all, and at least so many of each run."""

KINDS: dict[Sort, tuple[str, str]] = {
    "won": ("won, as its flights showed", "blue"),
    "unshown": ("won, beyond what its flights showed", "sky"),
    "inference": ("lost: bad inference", "vermillion"),
    "experiments": ("lost: bad experiments", "orange"),
    "unwinnable": ("lost: cannot be won", "soft"),
    "no_fleet": ("no fleet flew", "grey"),
}
"""What an episode was, as it stands in a picture, and its colour."""


def failures(view: View) -> Section:
    """Return the room on why fleets were lost."""
    every = [*groups(view), *groups(view, generated=True)]
    return Section(
        f"{NAME}-failures",
        "Bad experiments or bad inference",
        "A fleet can be lost because the deployments did not show enough, or because the wrong "
        "thing was made of them. The exact experimenter is given the same deployments: where it "
        "wins from them, whatever its luck, the inference was bad; where it does not, the "
        "experiments were. It is a yardstick, not a proof, and it makes no use of the history.",
        (*_split(view, every), *_evidence(view, every)),
    )


def _split(view: View, every: Sequence[Group]) -> list[Part]:
    runs = sum(len(group.runs) for group in every)
    each = max(LEAST, MOST // max(1, runs))
    rows: list[dict[str, Any]] = []
    told = []
    for group in every:
        sorts: list[Sort] = []
        for run in group.runs:
            for _, instance, trace in islice(view.episodes(run), each):
                best = float(view.family.traits(instance)["best_known"])
                seen = hindsight(view.family.world(instance), trace, best, timed=False)
                sorts.append(seen.sort)
        if not sorts:
            continue
        name = f"{_full(group)}, n {len(sorts)}"
        shares = {kind: sorts.count(kind) / len(sorts) for kind in KINDS}
        rows += [
            {"system": name, "what": KINDS[kind][0], "share": share, "episodes": sorts.count(kind)}
            for kind, share in shares.items()
            if share
        ]
        told.append(
            f"{name}: won {percent(shares['won'] + shares['unshown'])} %, lost by bad inference "
            f"{percent(shares['inference'])} %, by experiments {percent(shares['experiments'])} %"
        )
    if not rows:
        text = "No episode could be replayed: the logs are of another version of WhyBench."
        return [Remark(text)]
    frame = pd.DataFrame(rows)
    chart = bars(
        frame,
        x="share",
        y="system",
        color="what",
        x_title="share of episodes",
        order=[words for words, _ in KINDS.values()],
        palette=[LIGHT[token] for _, token in KINDS.values()],
        y_sort=list(dict.fromkeys(frame["system"])),
    )
    meanings = "; ".join(f"{KINDS[kind][0]}: {what}" for kind, what in SORTS.items())
    return [
        Figure(
            f"{NAME}-split",
            "Why fleets were lost",
            "; ".join(told) + ".",
            chart,
            frame,
            f"`agent`: a reference agent. {meanings}. At most {each} episodes of a run are looked "
            "back at.",
        )
    ]


def _full(group: Group) -> str:
    """Return a group's name, its profile, and whether its worlds are generated."""
    run = group.first
    name = group.name.removesuffix(" (reference agent)")
    who = f"agent {name}" if run.reference else name
    return f"{who}, {'generated' if run.suite.endswith(KNOBS) else run.profile}"


def _evidence(view: View, every: Sequence[Group]) -> list[Part]:
    """Compare wins from own, optimal and another run's experiments."""
    rows: list[dict[str, Any]] = []
    models: dict[tuple[object, ...], list[Group]] = {}
    for group in every:
        run, how = group.first, manner(group.first)
        made = run.suite.endswith(KNOBS)
        key = (run.model, run.profile, run.salt, made, how["protocol"], how["skin"], how["knobs"])
        models.setdefault(key, []).append(group)
    compared = [found for found in models.values() if len({g.first.evidence for g in found}) > 1]
    for found in compared:
        shared = set.intersection(*(set(group.frame["instance"]) for group in found))
        run = found[0].first
        alike = [
            other[0].first
            for other in compared
            if (other[0].first.model, other[0].first.profile) == (run.model, run.profile)
        ]
        apart = [told for told in differing(run, alike) if not told.startswith("evidence=")]
        apart += ["generated"] if run.suite.endswith(KNOBS) else []
        for group in found if shared else ():
            score = group.estimate(view, "win", group.frame["instance"].isin(shared))
            rows.append(
                {
                    "evidence": group.first.evidence,
                    "system": ", ".join([run.model, run.profile, *apart]),
                    "win": score.estimate,
                    "low": score.low,
                    "high": score.high,
                    "n": score.n,
                }
            )
    if not rows:
        text = (
            "Inference alone can be measured too: the same model from the exact experimenter's "
            f"deployments, {COMMAND} -T suite=all -T evidence=optimal --model MODEL, or from those "
            "of another run, -T evidence=yoked -T yoke=LOG."
        )
        return [Remark(text)]
    frame = pd.DataFrame(rows)
    told = [
        f"{r['system']}, {r['evidence']}: {r['win']:.2f} (n {r['n']})" for _, r in frame.iterrows()
    ]
    return [
        Figure(
            f"{NAME}-evidence",
            "Wins by whose experiments they rest on",
            "; ".join(told) + ".",
            dots(
                frame,
                x="win",
                y="evidence",
                low="low",
                high="high",
                x_title="share of fleets won",
                y_sort=["own", "optimal", "yoked"],
            ),
            frame,
            "own: its own deployments; optimal: the exact experimenter's; yoked: another run's. "
            "More wins from optimal than from own experiments: the experiments were the weak part. "
            "Only instances that were played with each of them. Intervals: 95 %, by world.",
        )
    ]


def knobs(view: View) -> Section | None:
    """Return the room on generated worlds, if any were played."""
    found = [group for group in groups(view, generated=True) if set(TURNED) <= {*group.frame}]
    rows = []
    for group in found:
        for knob in TURNED:
            for level in LEVELS:
                where = group.frame[knob] == level
                score = group.estimate(view, "win", where)
                if score.n:
                    rows.append(
                        {
                            "knob": f"{knob}: {level}",
                            "system": group.name,
                            "win": score.estimate,
                            "low": score.low,
                            "high": score.high,
                            "n": score.n,
                        }
                    )
    if not rows:
        return None
    frame = pd.DataFrame(rows)
    told = [f"{r['system']}, {r['knob']}: {r['win']:.2f} (n {r['n']})" for _, r in frame.iterrows()]
    order = [f"{knob}: {level}" for knob in TURNED for level in LEVELS]
    figure = Figure(
        f"{NAME}-knobs",
        "Wins by how far each knob is turned",
        "; ".join(told) + ".",
        dots(
            frame,
            x="win",
            y="knob",
            low="low",
            high="high",
            x_title="share of fleets won",
            y_sort=[name for name in order if name in set(frame["knob"])],
        ),
        frame,
        "Each row is a mean over whatever the other knobs were. Intervals: 95 %, by world. Nothing "
        "like it was published.",
    )
    return Section(
        f"{NAME}-generated",
        "Generated worlds",
        "In suite `knobs` selection, noise, confounding and shift are turned one by one.",
        (figure,),
    )
