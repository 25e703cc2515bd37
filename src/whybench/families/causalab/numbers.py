"""Numbers as agents write and read them."""

from __future__ import annotations

import math

from whybench.causal.canonical import Json
from whybench.episode.action import Action
from whybench.episode.observation import Observation
from whybench.families.causalab.hypothesis import node
from whybench.families.causalab.world.world import DECIMALS, Reading, View

LONGEST_NUMBER = 40
"""Maximum length of a number in text, in characters."""


def number(value: Json) -> float | None:
    """Return a finite number, from a number or its text."""
    if isinstance(value, str):
        text = value.strip()
        try:
            value = float(text) if len(text) <= LONGEST_NUMBER else None
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        found = float(value)
    except OverflowError:
        return None
    return found if math.isfinite(found) else None


def setting_of(action: Action) -> float | None:
    """Return the value of a setting, rounded to two decimals."""
    setting = number(action.args.get("value"))
    return None if setting is None else round(setting, DECIMALS)


def shown(value: float) -> str:
    """Return a number as text; the text depends only on the number, not on its origin.

    >>> shown(50.0), shown(-0.5), shown(3.14)
    ('50', '-0.5', '3.14')
    """
    return f"{value:.{DECIMALS}f}".rstrip("0").rstrip(".").replace("-0", "0", value == 0)


def reading_of(view: View, action: Action, observation: Observation) -> Reading:
    """Return the reading that an intervention led to."""
    v = node(view, action.args["property"])
    setting = setting_of(action)
    if v is None or setting is None:
        raise ValueError("An intervention names no property. Replay the trace first.")
    values = tuple(float(observation.data[name]) for name in view.names)
    return Reading(view.baseline.crystal, values, v, setting)
