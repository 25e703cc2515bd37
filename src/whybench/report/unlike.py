"""In what runs differ from the paper's beside which they are shown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from whybench.report.mapping import OwnRun, differences, matches, rules
from whybench.report.runs import Run

OTHER = ("knobs of another version",)


def manner_of(run: Run, aside: Iterable[str] = ()) -> dict[str, Any]:
    """Return how a run was played, as the mapping to published rows asks for it.

    Knobs that are left aside say on what it was played, not how.
    """
    usual = rules(run.family.name).defaults.asdict()
    given = {name: run.args[name] for name in usual if run.args.get(name) is not None}
    knobs = {name: value for name, value in run.knobs.items() if name not in set(aside)}
    return {**given, **knobs, "profile": run.profile}


def unlike(
    run: Run, theirs: Iterable[OwnRun] | None = None, aside: Sequence[str] = ()
) -> tuple[str, ...]:
    """Name the arguments in which a run differs from that of the paper which is most like it.

    Without `theirs` from any on its suite. Knobs of another version count as a difference.
    """
    found = [own for _, own in matches(run.suite, {})] if theirs is None else list(theirs)
    try:
        return min((differences(own, manner_of(run, aside)) for own in found), key=len, default=())
    except ValueError:
        return OTHER


def unlike_in_words(runs: Iterable[tuple[str, Run]], aside: Sequence[str] = ()) -> str:
    """Say which systems were not asked as in the paper, and what was otherwise."""
    found: dict[tuple[str, ...], list[str]] = {}
    for system, run in runs:
        if names := unlike(run, None, aside):
            found.setdefault(names, []).append(system)
    return sentence({", ".join(names): systems for names, systems in found.items()})


def sentence(found: dict[str, list[str]]) -> str:
    """Return what differs → systems as a sentence to follow another; empty if there is nothing."""
    said = "; ".join(
        f"{', '.join(dict.fromkeys(systems))} in {names}" for names, systems in found.items()
    )
    return f" Unlike the paper's runs: {said}." if said else ""
