"""The design sheet of a drone: components, the action space, and effects of equipment."""

from __future__ import annotations

from functools import cached_property

from pydantic import BaseModel, ConfigDict, Field


class Frozen(BaseModel):
    """A part of a data file: nothing missing, nothing unknown, nothing changed later."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Effect(Frozen):
    """Effects of one option or boolean; effects of the release that nothing reads are omitted."""

    detection_modifier: float = 0.0
    """Added to the probability of detection."""
    emi_resistance: float = 0.0
    """Added to the share of EMI that is blocked."""
    def_multiplier: float = 1.0
    """Multiplies every DEF."""


class Slot(Frozen):
    """A place for one piece of equipment."""

    default: str
    """The option shown as the default; it takes effect only if it is chosen."""
    options: dict[str, Effect]


class Boolean(Frozen):
    """A switch of the action space."""

    default: bool
    settable: bool = False
    """Whether a design can set it; in the release none can."""
    effect: Effect = Effect()


class Component(Frozen):
    """A part of the drone."""

    hp: int = Field(ge=1)
    default_def: int = Field(ge=0)
    critical: bool = False
    """Whether the drone is lost without it."""


class Sheet(Frozen):
    """Components in their order, and what a designer may choose."""

    components: dict[str, Component]
    def_range: tuple[int, int]
    """Lowest and highest DEF of a component, as stated."""
    total_def_budget: int
    """Maximum total DEF, as stated."""
    slots: dict[str, Slot] = {}
    booleans: dict[str, Boolean] = {}
    effects_work: bool = True
    """Whether equipment has any effect; in the released env_shift it has none."""

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The components' names."""
        return tuple(self.components)

    @cached_property
    def index(self) -> dict[str, int]:
        """Each component's place."""
        return {name: place for place, name in enumerate(self.components)}

    @cached_property
    def critical(self) -> tuple[int, ...]:
        """The indices of the components that a drone needs."""
        return tuple(self.index[name] for name, part in self.components.items() if part.critical)

    @cached_property
    def effects(self) -> dict[str, Effect]:
        """Effects of each option, found by its id alone, because the release ignores the slot."""
        return {
            option: effect
            for slot in self.slots.values()
            for option, effect in slot.options.items()
            if effect != Effect()
        }
