"""Which published figures of ReplaySCM belong beside a run, and how the two differ."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from whybench.core.canonical import canonical_json
from whybench.report.families.replayscm_rows import FAMILY, Entry
from whybench.report.mapping import differences, matches, rules
from whybench.report.published import Cell
from whybench.report.view import View


def published(view: View, pool: str, metric: str, like: Iterable[Entry]) -> list[Cell]:
    """Return the published cells of a pool under our name of a metric, one for each system.

    Only those that belong beside a run played like one of the entries.
    """
    found: dict[str, Cell] = {}
    manners = {canonical_json(manner): manner for manner in map(_manner, like)}
    for manner in manners.values():
        try:
            cells = view.published.beside(f"{FAMILY}/{pool}", manner, metric)
        except ValueError:
            continue  # knobs of another version
        for cell in cells:
            if cell.system_kind:
                found.setdefault(cell.system, cell)
    return list(found.values())


def _manner(entry: Entry) -> dict[str, Any]:
    """Return how a run was played, as the mapping to published rows asks for it."""
    usual, args = rules(FAMILY).defaults.asdict(), entry.run.args
    given = {name: args[name] for name in usual if args.get(name) is not None}
    return {**given, **entry.run.knobs, "profile": entry.run.profile}


def unlike(listed: Iterable[Entry]) -> str:
    """Say which systems were not asked as in the paper, and what was otherwise."""
    found: dict[tuple[str, ...], list[str]] = {}
    for entry in listed:
        theirs = [own for _, own in matches(entry.run.suite, {})]
        try:
            names = differences(theirs[0], _manner(entry)) if theirs else ()
        except ValueError:
            names = ("knobs of another version",)
        if names:
            found.setdefault(names, []).append(entry.system)
    said = "; ".join(
        f"{', '.join(dict.fromkeys(systems))} in {', '.join(names)}"
        for names, systems in found.items()
    )
    return f" Unlike the paper's runs: {said}." if said else ""
