"""Build the front page of a report from its standings, its sections and its episodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from whybench import CANARY, __version__
from whybench.episode.family import Family
from whybench.report.front.cards import KINDS, chosen
from whybench.report.front.model import Front, Multiple, Note
from whybench.report.runs import Logs
from whybench.report.section import Chapter, Section
from whybench.report.standings.model import Standings
from whybench.report.standings.words import number
from whybench.report.view import View


def front(
    held: Standings,
    views: Sequence[View],
    sections: Mapping[str, Section],
    chapters: Sequence[Chapter],
) -> Front:
    """Return the front page; `sections` are those of the families, by name."""
    names = [system.name for system in held.systems]
    notes = {
        view.family.name: Note(
            f"{view.family.summary[:1].upper()}{view.family.summary[1:]}.",
            view.family.hint,
            sections[view.family.name].id,
        )
        for view in views
    }
    return Front(held, notes, _multiples(views), chosen(chapters, names))


def _multiples(views: Sequence[View]) -> tuple[Multiple, ...]:
    found = []
    for view in views:
        maker = view.family.capability("panels")
        made: Multiple | None = None if maker is None else maker(view)
        if made is not None:
            found.append(replace(made, family=view.family.name))
    return tuple(found)


def kind_of(family: Family[Any], row: Mapping[str, Any]) -> str:
    """Return the kind of card that an episode could be; empty if there is none."""
    values = {name: value for name, value in row.items() if value == value}
    if family.understood(values) == 1:
        return "understood"
    if values.get("unusable") == 1:
        return "unusable"
    return next((kind for kind in KINDS if values.get(kind) == 1 and kind != "understood"), "")


def about(logs: Logs, held: Standings | None) -> dict[str, str]:
    """Return the facts at the foot of a page."""
    facts = {
        "WhyBench": __version__,
        "logs": str(len(logs.files)),
        "samples": str(sum(len(run.frame) for run in logs.runs)),
    }
    if held is None:
        return facts
    versions = {f"{name} {version}" for run in logs.runs for name, version in run.packages.items()}
    dates = sorted(str(run.created)[:10] for run in logs.runs)
    models = " ".join(dict.fromkeys(system.model for system in held.systems))
    when = dates[0] if dates[0] == dates[-1] else f"{dates[0]} to {dates[-1]}"
    rows = f"{facts['logs']} logs with {facts['samples']} episodes"
    told = {
        "Release": f"WhyBench {held.release}, set {held.set}; {rows}"
        if held.release
        else f"Not a release: {rows}",
        "Versions": ", ".join([f"whybench {__version__}", *sorted(versions)]) + f"; run on {when}",
    }
    if held.release:
        told["Run"] = f"`whybench run {models} --release {held.release} --set {held.set}`"
    return told | {
        "This page": "`whybench report LOGS -o report.html`",
        "Overall": f"The plain mean of the {number(len(held.families))} families: each asks in its "
        "own way, and none counts twice. Intervals are over hidden systems.",
        "Canary": CANARY,
    }
