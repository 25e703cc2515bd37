"""From logs to a report: sections in order, episodes to open, and the page with its files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from whybench import __version__
from whybench.episode.family import PUBLIC_SEED
from whybench.report.chapters.outcomes import outcomes, spent
from whybench.report.chapters.profile import profile
from whybench.report.chapters.provenance import provenance
from whybench.report.chapters.ranks import ranks
from whybench.report.chapters.understanding import understanding
from whybench.report.episodes import played
from whybench.report.frames import tidy
from whybench.report.published.figures import Published
from whybench.report.runs import EXAM, Logs, Run
from whybench.report.section import Chapter, Part, Remark, Report, Section, Table
from whybench.report.view import Limits, View, estimate

Writer = Callable[[View], Section]


@dataclass(frozen=True, slots=True)
class Wishes:
    """What a user may ask of a report."""

    title: str = "WhyBench report"
    others: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """Other benchmarks: name → model → score."""
    cutoffs: Mapping[str, str] = field(default_factory=dict)
    """Model → the date at which its training data end."""
    limits: Limits = field(default_factory=Limits)
    reveal: bool = False
    """Tell episodes of private splits too; the page then holds their truth."""


def build(logs: Logs, wishes: Wishes = Wishes()) -> Report:  # noqa: B008 - a frozen value
    """Return the report on logs."""
    views = viewed(logs, wishes)
    chapters, told = chaptered(views, wishes)
    sections: list[Section | None] = [
        profile(views),
        understanding(views),
        *(_written(view) for view in views),
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
        {
            "WhyBench": __version__,
            "logs": str(len(logs.files)),
            "samples": str(sum(len(run.frame) for run in logs.runs)),
        },
        tuple(
            dict.fromkeys(run.system for run in sorted(logs.runs, key=lambda run: run.reference))
        ),
    )


def viewed(logs: Logs, wishes: Wishes) -> list[View]:
    """Return a view for each family that was played, by name."""
    if not logs.runs:
        why = "; ".join(f"{name}: {reason}" for name, reason in logs.left_out)
        raise ValueError(f"no finished run in these logs ({why or 'exams alone'})")
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
    """Return a family's section: its metrics for all runs, then what its own writer adds."""
    writer: Writer | None = view.family.capability("report")
    own = writer(view) if writer is not None else Section(view.family.name, view.family.name)
    table = Table(
        f"{view.family.name}-metrics",
        "All main metrics",
        metrics(view),
        note="Means over instances, epochs averaged first; the interval is that of the headline.",
    )
    parts: tuple[Part, ...] = (*own.parts, *_sampled(view), table)
    return Section(own.id, own.title, own.intro or view.family.summary, parts, own.children)


def _sampled(view: View) -> tuple[Remark, ...]:
    """Say how many episodes and instances were looked into, where that is not all of them."""
    most, rebuilt = view.replayed, view.limits.rebuilt
    said = []
    if view.traced and max(len(run.frame) for run in view.traced) > most:
        said.append(
            f"What only whole episodes can tell, such as how failures split, rests on at most "
            f"{most} episodes of each run, of instances chosen by their hashes; scores rest on all."
        )
    if max(run.frame["instance"].nunique() for run in view.runs) > rebuilt:
        said.append(
            f"What sorts instances by size, structure or the like rests on at most {rebuilt} of "
            "them in each run, chosen by their hashes."
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
        "worlds": head.clusters,
    }
    for metric in run.family.metrics:
        if metric.role == "main":
            row[metric.name] = estimate(run, metric.name).estimate
            if metric.name == run.family.headline:
                row |= {"low": head.low, "high": head.high}
    return row


def chaptered(views: Iterable[View], wishes: Wishes) -> tuple[tuple[Chapter, ...], str]:
    """Annotate some episodes of every run; of a private split none, unless the user insists."""
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
                )
                for place, (row, instance, trace) in enumerate(told)
            ]
    said = (
        f"{len(chapters)} of {total} episodes can be opened here: at most {wishes.limits.told} of "
        "each run, from its lowest score to its highest."
    )
    if hidden:
        said += f" {hidden} episodes of private splits are left out: the page would show the truth."
    return tuple(chapters), said


def _mixed(run: Run, most: int) -> list[dict[str, Any]]:
    """Return at most so many rows of a run, evenly from its lowest score to its highest."""
    ranked: list[dict[str, Any]] = run.frame.sort_values(
        [run.family.headline, "block", "index", "epoch"], na_position="first"
    ).to_dict("records")
    if len(ranked) <= most:
        return ranked
    return [ranked[place * (len(ranked) - 1) // max(1, most - 1)] for place in range(most)]


def _number(value: Any) -> float | None:
    return None if pd.isna(value) else float(value)
