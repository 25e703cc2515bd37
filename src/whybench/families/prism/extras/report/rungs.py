"""Rungs: differences between seeing, doing and imagining, and which confusion fits the errors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd

from whybench.episode.episode import play
from whybench.families.prism.extras.analysis import CONFUSIONS, matching
from whybench.families.prism.extras.report.rows import bounds, clusters, each_run, labels, scores
from whybench.families.prism.world.world import RUNGS, Kind
from whybench.report.episodes import places, rebuilt
from whybench.report.forms import Row
from whybench.report.runs import Run
from whybench.report.view import View
from whybench.stats.clustered import difference

STEPS: tuple[tuple[Kind, Kind], ...] = (("do", "see"), ("case", "do"), ("had", "do"))
"""Kinds that stand one rung apart."""


def by_kind(view: View) -> Iterator[Row]:
    """Return the accuracy by kind of question."""
    for columns, run in each_run(view):
        kinds = pd.Series(labels(run, "kind"))
        for kind in RUNGS:
            where = run.frame["instance"].map(kinds) == kind
            found = view.estimate(run, "accuracy", where)
            if found.n:
                yield {
                    **columns, "rung": RUNGS[kind], "kind": kind,
                    "accuracy": found.estimate, **bounds(found), "episodes": found.n,
                }  # fmt: skip


def rung_gaps(view: View) -> Iterator[Row]:
    """Return differences between kinds of question, within sizes."""
    for columns, run in each_run(view):
        joined = view.joined(run)
        if "n" not in joined:
            continue
        sizes = dict(zip(joined["instance"], joined["n"], strict=True))
        kinds, right = labels(run, "kind"), scores(run)
        sides = {k: {i: x for i, x in right.items() if kinds.get(i) == k} for k in RUNGS}
        for upper, lower in STEPS:
            found = difference(sides[upper], sides[lower], clusters([run]), sizes)
            if found.estimate == found.estimate:
                yield {
                    **columns, "kind": upper, "minus": lower, "gap": found.estimate,
                    "low": found.low, "high": found.high, "instances": sum(found.n),
                }  # fmt: skip


def confusions(view: View) -> Iterator[Row]:
    """Compare answers with those of agents that take one kind of question for another."""
    known: dict[tuple[str, str], str] = {}
    for columns, run in each_run(view):
        kinds, said, gold = (labels(run, name) for name in ("kind", "answer", "gold"))
        for agent, kind in CONFUSIONS.items():
            confused = _answers(view, run, agent, {i for i, k in kinds.items() if k == kind}, known)
            everyone = {one: said.get(one) for one in kinds}
            found = matching(everyone, gold, confused, clusters([run]))
            if found.alike.n:
                yield {
                    **columns, "kind": kind, "agent": agent,
                    "right": found.right.estimate, "alike": found.alike.estimate,
                    **bounds(found.alike), "alike among wrong": found.among_wrong.estimate,
                    "instances": found.alike.n, "wrong": found.among_wrong.n,
                }  # fmt: skip


def _answers(
    view: View, run: Run, agent: str, asked: set[str], known: dict[tuple[str, str], str]
) -> dict[str, str]:
    """Return what an agent answers, on the instances that can be rebuilt."""
    found: dict[str, str] = {}
    for row in places(run, view.limits.rebuilt):
        one = str(row["instance"])
        if one in asked:
            if (agent, one) not in known:
                try:
                    known[agent, one] = _answer(view, agent, rebuilt(run, row))
                except ValueError:
                    return found
            found[one] = known[agent, one]
    return found


def _answer(view: View, agent: str, instance: Any) -> str:
    episode = view.family.open(instance)
    trace = play(episode, view.family.agent(agent, instance, episode.evidence_given))
    return str(trace.steps[-1].action.args["answer"])
