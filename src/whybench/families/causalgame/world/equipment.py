"""The effect of equipment on a design."""

from __future__ import annotations

from dataclasses import dataclass

from whybench.families.causalgame.world.design import Choice, Design
from whybench.families.causalgame.world.sheet import Effect, Sheet

MOST_DEF = 10**9
"""More DEF has no further effect: every formula that uses it is at its bound by then."""


@dataclass(frozen=True, slots=True)
class Loadout:
    """A design as it flies."""

    defs: tuple[int, ...]
    """DEF after the equipment's multipliers."""
    detection_modifier: float
    emi_resistance: float
    equipment: dict[str, Choice]
    """What is in each slot."""


def loadout(sheet: Sheet, design: Design) -> Loadout:
    """Add up effects: chosen options in their order, then booleans that are on.

    Without equipment there are no effects. With any equipment, unknown ids have no effect, an id
    counts in every slot for which it is given, and booleans that are on by default count too.
    """
    detection, resistance, multiplier = 0.0, 0.0, 1.0
    for effect in _effects(sheet, design):
        detection += effect.detection_modifier
        resistance += effect.emi_resistance
        multiplier *= effect.def_multiplier
    defs = (min(value, MOST_DEF) for value in design.defs)
    return Loadout(
        tuple(int(value * multiplier) for value in defs),
        detection,
        min(1.0, resistance),
        dict(design.equipment),
    )


def _effects(sheet: Sheet, design: Design) -> list[Effect]:
    if not design.equipment or not sheet.effects_work:
        return []
    chosen = dict(design.equipment)
    found = [
        sheet.effects[choice]
        for _, choice in design.equipment
        if isinstance(choice, str) and choice in sheet.effects
    ]
    for name, boolean in sheet.booleans.items():
        setting = chosen.get(name) if boolean.settable else None
        if setting if isinstance(setting, bool) else boolean.default:
            found.append(boolean.effect)
    return found
