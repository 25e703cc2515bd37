"""The physics by name, built from the data files in `parameters`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from pydantic import BaseModel

from whybench.causal.canonical import Json
from whybench.families.causalgame.world.physics.antenna import Antenna
from whybench.families.causalgame.world.physics.default import Default
from whybench.families.causalgame.world.physics.deployment_zone import ZonePhysics
from whybench.families.causalgame.world.physics.physics import Physics
from whybench.families.causalgame.world.physics.weather import Weather

KINDS: dict[str, type[Antenna] | type[ZonePhysics] | type[Weather] | type[Default]] = {
    "antenna": Antenna,
    "zone": ZonePhysics,
    "default": Default,
    "env_shift": ZonePhysics,
    "weather": Weather,
}
"""Every physics of the release and its class."""


@cache
def physics(name: str) -> Physics:
    """Return a physics.

    >>> physics("antenna").layout.width
    84
    """
    if name not in KINDS:
        raise ValueError(f"Unknown physics {name!r}. Choose one of {', '.join(KINDS)}.")
    return KINDS[name].model_validate({**_data(name), "name": name, "formulas": _file("shared")})


def parameters(physics: object) -> Json:
    """Return the numbers of a physics, without the shared formulas."""
    if not isinstance(physics, BaseModel):
        raise TypeError(f"{physics!r} is not read from data")
    return physics.model_dump(mode="json", exclude={"source", "formulas"})


def _file(name: str) -> dict[str, Any]:
    text = (files(__package__ or "") / "parameters" / f"{name}.json").read_text("utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


def _data(name: str) -> dict[str, Any]:
    """Read a file; `like` inherits values from another file, `sheet` may name another's."""
    found = _file(name)
    if "like" in found:
        found = over(_data(found.pop("like")), found)
    if isinstance(found["sheet"], str):
        found["sheet"] = _data(found["sheet"])["sheet"]
    return found


def overlaid(entries: Mapping[str, dict[str, Any]], name: str) -> dict[str, Any]:
    """Return an entry of a file merged over the one that its `like` names.

    >>> overlaid({"a": {"x": 1, "y": {"z": 2}}, "b": {"like": "a", "y": {"w": 3}}}, "b")
    {'x': 1, 'y': {'z': 2, 'w': 3}}
    """
    entry = dict(entries[name])
    base = entry.pop("like", None)
    return over(overlaid(entries, base), entry) if base else entry


def over(base: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    """Return nested data with changes merged in; lists are replaced, objects are merged."""
    merged = dict(base)
    for key, value in changes.items():
        deeper = isinstance(value, dict) and isinstance(merged.get(key), dict)
        merged[key] = over(merged[key], value) if deeper else value
    return merged
