"""Published figures beside runs, and in what the runs differ from the paper's."""

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


def manner_of(run: Run, aside: Iterable[str] = ()) -> dict[str, Any]:
    """Return how a run was played, as the mapping to published rows asks for it.

    Parameters that are left aside say on what it was played, not how.
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
    """Return the published cells of a suite that belong beside a run played like one of these.

    None: beside one played as the paper's were. `parts` as in `Published.beside`.
    """
    played = [{}] if like is None else [manner_of(run, aside) for run in like]
    manners = dict.fromkeys(canonical_json(manner) for manner in played)
    return [c for m in manners for c in _beside(view.published, suite, m, metric, parts)]


@cache
def _beside(
    published: Published, suite: str, manner: str, metric: str | None, parts: bool
) -> tuple[Cell, ...]:
    """Return the cells of a suite; they are asked for again and again, and never change."""
    try:
        return published.beside(suite, json.loads(manner), metric, parts=parts)
    except ValueError:
        return ()  # parameters of another version, or of another suite


def setup_differences(
    run: Run, theirs: Iterable[OwnRun] | None = None, aside: Sequence[str] = ()
) -> tuple[str, ...]:
    """Name the arguments in which a run differs from that of the paper which is most like it.

    Without `theirs` from any on its suite. Parameters of another version count as a difference.
    """
    found = [own for _, own in matches(run.suite, {})] if theirs is None else list(theirs)
    try:
        return min((differences(own, manner_of(run, aside)) for own in found), key=len, default=())
    except ValueError:
        return OTHER


def differences_in_words(runs: Iterable[tuple[str, Run]], aside: Sequence[str] = ()) -> str:
    """Say which systems were not asked as in the paper, and what was otherwise."""
    found: dict[tuple[str, ...], list[str]] = {}
    for system, run in runs:
        if names := setup_differences(run, None, aside):
            found.setdefault(names, []).append(system)
    return sentence({", ".join(names): systems for names, systems in found.items()})


def sentence(found: dict[str, list[str]]) -> str:
    """Return what differs → systems as a sentence to follow another; empty if there is nothing."""
    said = "; ".join(
        f"{', '.join(dict.fromkeys(systems))} in {names}" for names, systems in found.items()
    )
    return f" Unlike the paper's runs: {said}." if said else ""
