"""CausalGame: which claims are found, and how beliefs move towards the truth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from whybench.families.causalgame.judging.claims import claims
from whybench.families.causalgame.retell import held_in
from whybench.families.causalgame.story import known_claims
from whybench.report.charts import dots, heat
from whybench.report.families.causalgame_distance import paths
from whybench.report.families.causalgame_rows import (
    COMMAND,
    NAME,
    PUBLISHED,
    Group,
    groups,
    listed,
    own,
    percent,
)
from whybench.report.section import Figure, Part, Remark, Section, Table
from whybench.report.view import View

FOUND, HELD, FAR = "golden_found", "distractors_held", "hypothesis_distance"


def beliefs(view: View) -> Section:
    """Return the room on beliefs."""
    everyone = own(groups(view))
    found = [
        group for group in everyone if group.frame.get(FAR, pd.Series(dtype=float)).notna().any()
    ]
    names = [group.name for group in found]
    found = [
        replace(group, name=f"{group.name}, {group.first.profile}")
        if names.count(group.name) > 1
        else group
        for group in found
    ]
    parts: list[Part] = []
    if found:
        parts = [_rates(view, found), *_each(view, found), *paths(found), *_without(found)]
    else:
        text = (
            "No system put down beliefs, so none can be judged. They are an argument of `deploy`, "
            f"`submit` and `report` that a model may use: {COMMAND} -T suite=all --model MODEL. "
            "What a report claims in free words is found by a judge (`claim_distance` above)."
        )
        parts.append(Remark(text))
    parts += _printed(view) if everyone else []
    return Section(
        f"{NAME}-beliefs",
        "Claims found, and false ones believed",
        "Each scenario has golden claims (true, worth finding) and distractors (false, tempting), "
        "shown so by simulation. Beliefs that a system puts down are held against them.",
        tuple(parts),
    )


def _rates(view: View, found: Sequence[Group]) -> Figure:
    rows: list[dict[str, Any]] = []
    names = {FOUND: "golden claims found", HELD: "distractors held"}
    for group in found:
        for metric, what in names.items():
            score = group.estimate(view, metric)
            rows.append(
                {
                    "what": what,
                    "system": group.name,
                    "share": score.estimate,
                    "low": score.low,
                    "high": score.high,
                    "n": score.n,
                    "published": False,
                }
            )
    if any(group.first.profile == "published" for group in found):
        kinds = {"golden_claim_rate": names[FOUND], "distractor_claim_rate": names[HELD]}
        rows += [
            {
                "what": kinds[cell.metric],
                "system": f"{cell.system}, antenna_trap",
                "share": cell.share,
                "published": True,
            }
            for cell in view.published.cells(NAME, table="4")
        ]
    frame = pd.DataFrame(rows)
    mine = frame[~frame["published"]]
    told = [
        f"{r['system']}: {r['what']} {r['share']:.2f} (n {r['n']:.0f})" for _, r in mine.iterrows()
    ]
    chart = dots(
        frame,
        x="share",
        y="what",
        low="low",
        high="high",
        y_sort=list(names.values()),
        x_title="share of the claims",
        published="published",
    )
    return Figure(
        f"{NAME}-claims",
        "Golden claims found and distractors held",
        "; ".join(told) + ".",
        chart,
        frame,
        "The last beliefs of an episode; episodes without any are left out. Intervals: 95 %, by "
        f"world. Hollow grey, if any: Table 4 of the paper ({PUBLISHED}), whose claims are worded "
        "otherwise and whose way of finding them is not stated.",
    )


def _each(view: View, found: Sequence[Group]) -> list[Figure]:
    """Count for each claim who held it at the end, over the episodes that can be replayed."""
    counts: dict[tuple[str, str], list[bool]] = {}
    for group in found:
        for run in group.runs:
            for _, instance, trace in view.episodes(run):
                world = view.family.world(instance)
                last = [held for step in trace.steps if (held := held_in(step)) is not None]
                for claim in known_claims(world) if last else ():
                    makes = any(map(claim.made_by, last[-1]))
                    counts.setdefault((f"{world.rules.physics} {claim.id}", group.name), []).append(
                        makes
                    )
    if not counts:
        return []
    rows = [
        {
            "claim": _named(claim),
            "system": system,
            "share": sum(made) / len(made),
            "episodes": len(made),
        }
        for (claim, system), made in counts.items()
    ]
    frame = pd.DataFrame(rows).sort_values("claim", key=lambda names: names.map(_rank))
    told = [
        f"{r['claim']}, {r['system']}: {r['share']:.2f} of {r['episodes']}"
        for _, r in frame.iterrows()
    ]
    chart = heat(
        frame, x="system", y="claim", value="share", y_sort=list(dict.fromkeys(frame["claim"]))
    )
    return [
        Figure(
            f"{NAME}-each-claim",
            "Discovery of each claim",
            "; ".join(told[:40]) + ".",
            chart,
            frame,
            "Share of episodes whose last beliefs make the claim: good of a golden one, bad of a "
            f"distractor. At most {view.replayed} episodes of a run.",
        )
    ]


def _named(key: str) -> str:
    physics, _, claim = key.partition(" ")
    golden = {c.id: c.golden for c in claims(physics)}[claim]
    return f"{physics} · {'golden' if golden else 'distractor'} · {claim.replace('_', ' ')}"


def _rank(name: str) -> tuple[str, bool, str]:
    physics, kind, claim = name.split(" · ")
    return physics, kind == "distractor", claim


def _without(found: Sequence[Group]) -> list[Part]:
    """Call out fleets that were won by somebody who named less than half of what is true."""
    parts: list[Part] = []
    for group in found:
        told = group.frame[group.frame[FOUND].notna() & (group.frame["win"] == 1)]
        blind = int((told[FOUND] < 0.5).sum())
        if blind:
            text = (
                f"Winning without understanding: {group.name} won {len(told)} fleets with beliefs "
                f"put down, {blind} of them ({percent(blind / len(told))} %) while naming less "
                "than half of the golden claims."
            )
            parts.append(Remark(text, "warning"))
    return parts


def _printed(view: View) -> list[Part]:
    rows = [
        {
            "scenario": cell.suite,
            "kind": cell.condition.partition(":")[0],
            "claim": cell.condition.partition(":")[2],
            "discovered, %": cell.printed,
        }
        for cell in view.published.cells(NAME, table="15")
    ]
    systems = listed(list(dict.fromkeys(c.system for c in view.published.cells(NAME, table="15"))))
    return [
        Table(
            f"{NAME}-claims-paper",
            "Discovery of each claim in the paper",
            pd.DataFrame(rows),
            f"Table 15 as printed ({PUBLISHED}; {systems}). Its claims are its own: some are "
            "false of the released code, so ours were written anew and no row has a counterpart.",
        )
    ]
