"""What an agent knows before it acts; nothing here knows how the hidden system works."""

from __future__ import annotations

from dataclasses import dataclass

from whybench.families.causalgame.world.drawn.draw import bar, numbers
from whybench.families.causalgame.world.drawn.hazards import Hazards
from whybench.families.causalgame.world.records import measured, visible
from whybench.families.causalgame.world.scenario import Rules
from whybench.families.causalgame.world.sheet import Sheet
from whybench.families.causalgame.world.world import World


@dataclass(frozen=True, slots=True)
class View:
    """The action space without its effects, the budgets, and the goal."""

    components: tuple[str, ...]
    defaults: tuple[int, ...]
    critical: tuple[bool, ...]
    def_range: tuple[int, int]
    total_def_budget: int
    slots: tuple[tuple[str, str, tuple[str, ...]], ...]
    """Slot, its default, its options."""
    switches: tuple[str, ...]
    """Booleans that can be set."""
    threshold: float
    drones: int
    deploys: int
    most_per_deploy: int
    fleet_size: int
    keep_failed: float
    counts: bool
    queries: int
    history: int
    """Number of visible records of earlier flights."""
    warning: str
    storms: tuple[float, float] | None
    """The forecast, if disclosed: the share of storms in exploration and for the fleet."""
    noisy: bool
    law: str
    """The story whose class of systems the instructions state; empty if they state none."""
    margin: float | None
    """Distance of the bar below the best design, up to 0.01 more, if it is stated."""

    @property
    def options(self) -> dict[str, tuple[str, ...]]:
        """The options of each slot."""
        return {slot: options for slot, _, options in self.slots}


def view(world: World) -> View:
    """Return what an agent may know about a hidden system."""
    sheet: Sheet = world.physics.sheet
    rules: Rules = world.rules
    return View(
        components=sheet.names,
        defaults=tuple(part.default_def for part in sheet.components.values()),
        critical=tuple(part.critical for part in sheet.components.values()),
        def_range=sheet.def_range,
        total_def_budget=sheet.total_def_budget,
        slots=tuple(
            (name, slot.default, tuple(slot.options)) for name, slot in sheet.slots.items()
        ),
        switches=tuple(name for name, switch in sheet.booleans.items() if switch.settable),
        threshold=rules.threshold,
        drones=rules.drones,
        deploys=rules.deploys,
        most_per_deploy=rules.most_per_deploy,
        fleet_size=rules.fleet_size,
        keep_failed=rules.keep_failed,
        counts=rules.counts,
        queries=rules.queries,
        history=len(visible(world, world.history, measured(world, world.history, ()))),
        warning=rules.warning,
        storms=world.forecast,
        noisy=rules.noise is not None,
        law=world.scenario if isinstance(world.physics, Hazards) else "",
        margin=_margin(world),
    )


def _margin(world: World) -> float | None:
    """Return the margin of the bar; None if the bar is a parameter."""
    if not isinstance(world.physics, Hazards) or world.best is None:
        return None
    return numbers().margin if world.rules.threshold == bar(world.physics, world.best) else None
