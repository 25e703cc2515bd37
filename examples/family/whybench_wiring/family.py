"""Flip switches on a panel, then name the one that feeds the lamp."""

from dataclasses import dataclass, replace

from pydantic import BaseModel, Field

import whybench as wb

NAMES = ("amber", "blue", "coral", "green", "grey", "ivory", "lilac", "olive", "pink", "teal")


class Parameters(BaseModel, extra="forbid"):
    """What a user may change with `-T name=value`."""

    switches: int = Field(4, ge=3, le=8)


@dataclass(frozen=True)
class Panel:
    """The hidden system."""

    switches: tuple[str, ...]
    feeding: str


class WiringEpisode(wb.SimpleEpisode[Panel]):
    """The right answer, the legal values of arguments, and what experiments show."""

    @property
    def right(self) -> str:
        """The right answer."""
        return self.world.feeding

    def choices(self, argument: str) -> tuple[str, ...]:
        """Return the legal values of an argument."""
        return self.world.switches

    def do_flip(self, switch: str) -> wb.Record:
        """Return what the experiment `flip` shows."""
        return wb.Record.of(switch=switch, lamp="on" if switch == self.right else "off")


class Wiring(wb.SimpleFamily[Panel]):
    """Panels with one switch that feeds a lamp."""

    name = "wiring"
    parameter_model = Parameters
    episode = WiringEpisode

    def build(self, instance: wb.Instance) -> Panel:
        """Draw the hidden system from the coordinates alone."""
        stream = wb.Stream("wiring", instance.stream_seed, instance.suite, instance.index)
        switches = stream.sample(NAMES, self.params(instance).switches)
        return Panel(tuple(switches), stream.choice(switches))

    def systems(self, instance: wb.Instance) -> list[Panel]:
        """Return all systems that look the same before the first experiment."""
        panel = self.world(instance)
        return [replace(panel, feeding=switch) for switch in panel.switches]


FAMILY = Wiring()
