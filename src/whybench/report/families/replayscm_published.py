"""Which published figures of ReplaySCM belong beside a run, and how the two differ."""

from __future__ import annotations

from collections.abc import Iterable

from whybench.core.canonical import canonical_json
from whybench.report.families.replayscm_rows import FAMILY, Entry
from whybench.report.published import Cell
from whybench.report.unlike import manner_of, unlike_in_words
from whybench.report.view import View


def published(view: View, pool: str, metric: str, like: Iterable[Entry]) -> list[Cell]:
    """Return the published cells of a pool under our name of a metric, one for each system.

    Only those that belong beside a run played like one of the entries.
    """
    found: dict[str, Cell] = {}
    manners = {
        canonical_json(manner): manner for manner in (manner_of(entry.run) for entry in like)
    }
    for manner in manners.values():
        try:
            cells = view.published.beside(f"{FAMILY}/{pool}", manner, metric)
        except ValueError:
            continue  # knobs of another version
        for cell in cells:
            if cell.system_kind:
                found.setdefault(cell.system, cell)
    return list(found.values())


def unlike(listed: Iterable[Entry]) -> str:
    """Say which systems were not asked as in the paper, and what was otherwise."""
    return unlike_in_words((entry.system, entry.run) for entry in listed)
