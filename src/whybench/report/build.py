"""Build a report from logs: its sections in order, and the episodes that can be opened."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from whybench.episode.family import PUBLIC_SEED
from whybench.report.chapters.outcomes import outcomes, spent
from whybench.report.chapters.profile import profile
from whybench.report.chapters.provenance import provenance
from whybench.report.chapters.ranks import ranks
from whybench.report.chapters.understanding import understanding
from whybench.report.episodes import played
from whybench.report.frames import tidy
from whybench.report.front.build import about, front, kind_of
from whybench.report.naming import displayed
from whybench.report.palette import place_of, ranked
from whybench.report.papers.chapter import paper_section
from whybench.report.published.figures import Published
from whybench.report.runs import EXAM, Logs, Run
from whybench.report.section import TITLE, Chapter, Part, Remark, Report, Section, Table
from whybench.report.standings.build import standings
from whybench.report.standings.model import Standings
from whybench.report.view import Limits, View, estimate

Writer = Callable[[View], Section]


@dataclass(frozen=True, slots=True)
class Wishes:
    """Options that a user can set for a report."""

    title: str = TITLE
    others: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """Other benchmarks: name → model → score."""
    cutoffs: Mapping[str, str] = field(default_factory=dict)
    """Model → end of its training data."""
    limits: Limits = field(default_factory=Limits)
    reveal: bool = False
    """Include episodes of private splits; the page then shows their hidden systems."""


def build(logs: Logs, wishes: Wishes = Wishes()) -> Report:  # noqa: B008 - a frozen value
    """Build the report on logs."""
    views = viewed(logs, wishes)
    chapters, told = chaptered(views, wishes)
    held = _standings(logs)
    written = {view.family.name: _written(view) for view in views}
    sections: list[Section | None] = [
        profile(views),
        understanding(views),
        *written.values(),
        ranks(views, wishes.others),
        outcomes(views),
        spent(views),
        provenance(logs, wishes.reveal),
    ]
    return Report(
        wishes.title,
        tuple(section for section in sections if section is not None),
        chapters,
        told,
        about(logs, held),
        _coloured(logs, held),
        None if held is None else front(held, views, written, chapters),
    )


def _standings(logs: Logs) -> Standings | None:
    """Return the standings; None if no runs can be compared, such as runs of papers' instances."""
    try:
        return standings(logs)
    except ValueError:
        return None


def _coloured(logs: Logs, held: Standings | None) -> tuple[str, ...]:
    """Return all systems in the order of their colours: those of the standings, then others."""
    names = [] if held is None else [system.name for system in held.systems]
    for run in sorted(logs.runs, key=lambda run: run.reference):
        if place_of(run.system, names) is None:
            names.append(run.system if held is None else displayed(run.model))
    return ranked(names)


def viewed(logs: Logs, wishes: Wishes) -> list[View]:
    """Return a view for each family in the logs, sorted by name."""
    if not logs.runs:
        why = "; ".join(f"{name}: {reason}" for name, reason in logs.left_out)
        raise ValueError(f"The logs contain no finished run ({why or 'only exams of judges'}).")
    families = {run.family.name: run.family for run in logs.runs}
    return [
        View(
            family=family,
            runs=tuple(run for run in logs.runs if run.family is family),
            published=Published(),
            exams=tuple(exam for exam in logs.exams if exam.task.endswith(f"/{name}{EXAM}")),
            options={"cutoffs": dict(wishes.cutoffs)},
            limits=wishes.limits,
        )
        for name, family in sorted(families.items())
    ]


def _written(view: View) -> Section:
    """Return a family's section: what its own writer gives, then the metrics of all runs."""
    writer: Writer | None = view.family.capability("report")
    own = writer(view) if writer is not None else Section(view.family.name, view.family.name)
    table = Table(
        f"{view.family.name}-metrics",
        "Main metrics of all runs",
        metrics(view),
        note="Means over instances; epochs of an instance are averaged first. `low` and `high` "
        f"are the 95 % interval of the headline metric, `{view.family.headline}`.",
    )
    parts: tuple[Part, ...] = (*own.parts, *_sampled(view), table)
    paper = paper_section(view)
    children = own.children if paper is None else (*own.children, paper)
    return Section(own.id, own.title, own.intro or view.family.summary, parts, children)


def _sampled(view: View) -> tuple[Remark, ...]:
    """State how many episodes and instances were examined, if not all of them were."""
    most, rebuilt = view.replayed, view.limits.rebuilt
    said = []
    if view.traced and max(len(run.frame) for run in view.traced) > most:
        said.append(
            f"Results that need whole episodes, such as causes of failure, use at most {most} "
            "episodes of each run. Their instances are selected by a hash of their ids. Scores use "
            "all episodes."
        )
    if max(run.frame["instance"].nunique() for run in view.runs) > rebuilt:
        said.append(
            f"Results by size, structure or other covariates use at most {rebuilt} instances of "
            "each run, selected by a hash of their ids."
        )
    return tuple(Remark(text) for text in said)


def metrics(view: View) -> pd.DataFrame:
    """Return the main metrics of every run of a family."""
    return tidy(_metrics(run) for run in view.runs)


def _metrics(run: Run) -> dict[str, Any]:
    head = estimate(run, run.family.headline)
    row: dict[str, Any] = {
        "system": run.system,
        "kind": "reference agent" if run.reference else "model",
        "suite": run.suite,
        "profile": run.profile,
        "instances": run.frame["instance"].nunique(),
        "episodes": len(run.frame),
        "scored": head.n,
        "clusters": head.clusters,
    }
    for metric in run.family.metrics:
        if metric.role == "main":
            row[metric.name] = estimate(run, metric.name).estimate
            if metric.name == run.family.headline:
                row |= {"low": head.low, "high": head.high}
    return row


def chaptered(views: Iterable[View], wishes: Wishes) -> tuple[tuple[Chapter, ...], str]:
    """Annotate some episodes of every run; none of a private split, unless `reveal` is set."""
    chapters: list[Chapter] = []
    total = hidden = 0
    for view in views:
        for run in view.runs:
            total += len(run.frame)
            if run.seed != PUBLIC_SEED and not wishes.reveal:
                hidden += len(run.frame)
                continue
            told = played(run, _mixed(run, wishes.limits.told))
            chapters += [
                Chapter(
                    id=f"{run.family.name}-{len(chapters) + place}",
                    family=view.family.name,
                    suite=run.suite,
                    system=run.system,
                    instance=instance.id,
                    epoch=int(row["epoch"]),
                    outcome=str(row["outcome"]),
                    headline=_number(row[view.family.headline]),
                    annotated=view.family.annotate(instance, trace).to_json(),
                    kind=kind_of(view.family, row),
                )
                for place, (row, instance, trace) in enumerate(told)
            ]
    said = (
        f"You can open {len(chapters)} of {total} episodes here: at most {wishes.limits.told} per "
        "run, evenly spaced from its lowest score to its highest."
    )
    if hidden:
        said += (
            f" {hidden} episodes of private splits are left out, because the page would show their "
            "hidden systems."
        )
    return tuple(chapters), said


def _mixed(run: Run, most: int) -> list[dict[str, Any]]:
    """Return at most `most` rows of a run, evenly spaced from the lowest score to the highest."""
    ranked: list[dict[str, Any]] = run.frame.sort_values(
        [run.family.headline, "block", "index", "epoch"], na_position="first"
    ).to_dict("records")
    if len(ranked) <= most:
        return ranked
    return [ranked[place * (len(ranked) - 1) // max(1, most - 1)] for place in range(most)]


def _number(value: Any) -> float | None:
    return None if pd.isna(value) else float(value)
