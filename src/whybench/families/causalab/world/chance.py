"""The edge F1 of the best answer that knows only how systems are drawn.

`chance.json` is made by `scripts/causalab_chance.py`.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files

from whybench.families.causalab.world.world import World


def chance_of(world: World) -> float | None:
    """Return the edge F1 of the best constant answer for systems of this kind; None if unknown."""
    view = world.view
    if view.observed:
        return None  # only pairs that the records settle are scored
    name = "published" if view.released else "certified"
    found = _table()[name if view.sink else f"{name}, frequency moved"]
    return found.get(str(view.k))


@cache
def _table() -> dict[str, dict[str, float]]:
    table: dict[str, dict[str, float]] = json.loads(
        (files(__package__) / "chance.json").read_text("utf-8")
    )
    return table
