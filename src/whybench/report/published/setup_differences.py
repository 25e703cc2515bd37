"""Find published figures for runs, and how the runs differ from the paper's."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

from whybench.causal.canonical import canonical_json
from whybench.report.published.figures import Cell, Published
from whybench.report.published.row_match import OwnRun, differences, matches, rules
from whybench.report.runs import Run
from whybench.report.view import View

OTHER = ("parameters of another version",)
PAPER = {"profile": "published"}
"""The settings of the papers."""


def manner_of(run: Run, aside: Iterable[str] = ()) -> dict[str, Any]:
    """Return the settings of a run in the form that the mapping to published rows needs.

    Parameters in `aside` are left out, because they select instances.
    """
    usual = rules(run.family.name).defaults.asdict()
    given = {name: run.args[name] for name in usual if run.args.get(name) is not None}
    parameters = {name: value for name, value in run.parameters.items() if name not in set(aside)}
    return {**given, **parameters, "profile": run.profile}


def beside(
    view: View,
    suite: str,
    like: Iterable[Run] | None,
    metric: str | None = None,
    *,
    parts: bool = False,
    aside: Sequence[str] = (),
) -> list[Cell]:
    """Return the published cells of a suite for runs with the settings of one of `like`.

    If `like` is None, use the paper's own settings. `parts` is that of `Published.beside`.
    """
    played = [PAPER] if like is None else [manner_of(run, aside) for run in like]
    manners = dict.fromkeys(canonical_json(manner) for manner in played)
    return [c for m in manners for c in _beside(view.published, suite, m, metric, parts)]


@cache
def _beside(
    published: Published, suite: str, manner: str, metric: str | None, parts: bool
) -> tuple[Cell, ...]:
    """Return the cells of a suite; cached, because many figures need the same ones."""
    try:
        return published.beside(suite, json.loads(manner), metric, parts=parts)
    except ValueError:
        return ()  # parameters of another version, or of another suite


def setup_differences(
    run: Run, theirs: Iterable[OwnRun] | None = None, aside: Sequence[str] = ()
) -> tuple[str, ...]:
    """Return the arguments in which a run differs from the closest run of the paper.

    Without `theirs`, all of the paper's runs on the suite count. Parameters of another version are
    a difference too.
    """
    found = [own for _, own in matches(run.suite, PAPER)] if theirs is None else list(theirs)
    try:
        return min((differences(own, manner_of(run, aside)) for own in found), key=len, default=())
    except ValueError:
        return OTHER


def differences_in_words(runs: Iterable[tuple[str, Run]], aside: Sequence[str] = ()) -> str:
    """Return a sentence on which systems had other settings than in the paper, and which."""
    found: dict[tuple[str, ...], list[str]] = {}
    for system, run in runs:
        if names := setup_differences(run, None, aside):
            found.setdefault(names, []).append(system)
    return sentence({", ".join(names): systems for names, systems in found.items()})


def sentence(found: dict[str, list[str]]) -> str:
    """Return differences → systems as a sentence that follows another; empty without any."""
    said = "; ".join(
        f"{', '.join(dict.fromkeys(systems))} in {names}" for names, systems in found.items()
    )
    return f" Unlike the paper's runs: {said}." if said else ""
