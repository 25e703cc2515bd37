"""A design: the DEF of every component, and the equipment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from whybench.families.causalgame.world.sheet import Sheet

SUFFIX = "_def"
"""Suffix of the key under which a component's DEF is given."""

Choice = str | bool
"""An option's id, or the setting of a boolean."""


@dataclass(frozen=True, slots=True)
class Design:
    """A design; valid for one sheet."""

    defs: tuple[int, ...]
    """The DEF of each component, in the sheet's order."""
    equipment: tuple[tuple[str, Choice], ...] = ()
    """The option in each slot; if empty, no equipment was given and no equipment has any effect."""

    @property
    def total(self) -> int:
        """The sum of DEF."""
        return sum(self.defs)


def design(
    sheet: Sheet,
    defs: Mapping[str, object] | None = None,
    equipment: Mapping[str, object] | None = None,
    *,
    enforced: bool = True,
) -> Design:
    """Return a valid design, or raise ValueError; components left out keep their default DEF.

    With `enforced`, ranges, the total budget, slots, options and booleans are checked. Without it,
    everything is accepted that the released server accepted: any DEF from 0 and any equipment.
    Unknown options have no effect.
    """
    found = {name: component.default_def for name, component in sheet.components.items()}
    for key, value in (defs or {}).items():
        name = _component(sheet, key)
        found[name] = _whole(key, value)
    built = tuple(found[name] for name in sheet.names)
    chosen = tuple((slot, _choice(slot, value)) for slot, value in (equipment or {}).items())
    if enforced:
        _within(sheet, built)
        for slot, choice in chosen:
            _offered(sheet, slot, choice)
        # The same equipment in another order is the same design.
        order = [*sheet.slots, *sheet.booleans]
        chosen = tuple(sorted(chosen, key=lambda pair: order.index(pair[0])))
    return Design(built, chosen)


def _component(sheet: Sheet, key: str) -> str:
    name = key.removesuffix(SUFFIX)
    if name == key or name not in sheet.components:
        known = ", ".join(name + SUFFIX for name in sheet.names)
        raise ValueError(f"{key[:40]!r} is no component: use {known}")
    return name


def _whole(key: str, value: object) -> int:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError(f"{key} must be a whole number: give 0 or more, like 15")
    if value < 0:
        raise ValueError(f"{key} is {value}: give 0 or more")
    return value


def _choice(slot: str, value: object) -> Choice:
    if isinstance(value, str | bool):
        return value
    raise ValueError(f"equipment {slot[:40]!r} must be an option's id: give it as text")


def _within(sheet: Sheet, defs: tuple[int, ...]) -> None:
    low, high = sheet.def_range
    for name, value in zip(sheet.names, defs, strict=True):
        if not low <= value <= high:
            raise ValueError(f"{name}{SUFFIX} is {value}: give {low} to {high}")
    over = sum(defs) - sheet.total_def_budget
    if over > 0:
        raise ValueError(
            f"all DEF add up to {sum(defs)}, components left out included: the budget is "
            f"{sheet.total_def_budget}, so take away {over}"
        )


def _offered(sheet: Sheet, slot: str, choice: Choice) -> None:
    boolean = sheet.booleans.get(slot)
    if boolean is not None and boolean.settable:
        if not isinstance(choice, bool):
            raise ValueError(f"{slot} is a switch: give true or false")
    elif slot not in sheet.slots:
        settable = [name for name, boolean in sheet.booleans.items() if boolean.settable]
        known = ", ".join([*sheet.slots, *settable]) or "none, so leave equipment out"
        raise ValueError(f"{slot[:40]!r} is no slot that can be set: there are {known}")
    elif choice not in sheet.slots[slot].options:
        options = ", ".join(sheet.slots[slot].options)
        raise ValueError(f"{str(choice)[:40]!r} does not fit {slot}: choose one of {options}")
