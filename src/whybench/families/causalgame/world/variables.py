"""Variables that are not recorded until the agent asks about them."""

from __future__ import annotations

import json
import re
from functools import cache
from importlib.resources import files

import numpy as np
from pydantic import model_validator

from whybench.causal.seeds import Stream
from whybench.families.causalgame.world.fleet import Path
from whybench.families.causalgame.world.physics.catalogue import overlaid
from whybench.families.causalgame.world.physics.flight import Flights
from whybench.families.causalgame.world.physics.formulas import between
from whybench.families.causalgame.world.physics.physics import Column
from whybench.families.causalgame.world.sheet import Frozen

_WORD = re.compile(r"[a-z]+")


class Variable(Frozen):
    """A variable that is measured once the agent has asked for it."""

    meaning: str
    words: tuple[str, ...]
    """Words in a question that select it."""
    source: str | None = None
    """The hidden quantity that it shows."""
    bounds: tuple[float, float] | None = None
    """Bounds of the draw for a variable that has no effect."""
    raised: str | None = None
    """The hidden quantity, 0 or 1, that moves the draw into the upper half of the bounds."""
    labels: tuple[str, ...] = ()
    """Labels, equally likely, of a variable that has no effect."""

    @model_validator(mode="after")
    def _one_origin(self) -> Variable:
        if sum((self.source is not None, self.bounds is not None, bool(self.labels))) != 1:
            raise ValueError("a variable shows a hidden quantity, or is drawn")
        return self

    def column(self, name: str, path: Path, flights: Flights) -> Column:
        """Return its value for each drone of a batch that has this path."""
        where = flights.environment
        known = {**where.hidden, **where.visible, **flights.hidden}
        if self.bounds is not None:
            drawn = Stream(*path, name).uniforms(len(flights))
            if self.raised:
                drawn = (drawn + known[self.raised]) / 2
            return between(drawn, self.bounds)
        if self.labels:
            place = Stream(*path, name).uniforms(len(flights)) * len(self.labels)
            return np.array(self.labels)[place.astype(np.int64)]
        source = self.source or ""
        if source in where.labels:
            return where.column(source)
        return known[source]


@cache
def variables(physics: str) -> dict[str, Variable]:
    """Return the variables that can be asked for, by name."""
    raw = json.loads((files(__package__ or "") / "variables.json").read_text("utf-8"))
    if physics not in raw:
        return {}
    found = overlaid(raw, physics)
    return {name: Variable.model_validate(entry) for name, entry in found.items()}


def asked_for(question: str, known: dict[str, Variable]) -> str | None:
    """Return the variable that matches most words of a question; the first of equals.

    >>> asked_for("Was there a storm front?", variables("antenna"))
    'weather_pattern'
    """
    said = set(_WORD.findall(question.lower()))
    hits = {name: len(said.intersection(entry.words)) for name, entry in known.items()}
    best = max(hits, key=lambda name: hits[name], default=None)
    return best if best is not None and hits[best] else None
