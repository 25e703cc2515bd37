"""The physics by name, built from the data files in `parameters`."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any

from whybench.families.causalgame.antenna import Antenna
from whybench.families.causalgame.default import Default
from whybench.families.causalgame.physics import Physics
from whybench.families.causalgame.weather import Weather
from whybench.families.causalgame.zone import ZonePhysics

KINDS: dict[str, type[Antenna] | type[ZonePhysics] | type[Weather] | type[Default]] = {
    "antenna": Antenna,
    "zone": ZonePhysics,
    "default": Default,
    "env_shift": ZonePhysics,
    "env_shift_repaired": ZonePhysics,
    "weather": Weather,
}
"""Every physics and the code behind it; `env_shift_repaired` is not in the release."""


@cache
def physics(name: str) -> Physics:
    """Return a physics.

    >>> physics("antenna").layout.width
    84
    """
    if name not in KINDS:
        raise ValueError(f"no physics {name!r}: choose one of {', '.join(KINDS)}")
    return KINDS[name].model_validate({**_data(name), "name": name, "formulas": _file("shared")})


def _file(name: str) -> dict[str, Any]:
    text = (files(__package__ or "") / "parameters" / f"{name}.json").read_text("utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


def _data(name: str) -> dict[str, Any]:
    """Read a file; `like` takes what is not said from another, `sheet` may name another's."""
    found = _file(name)
    if "like" in found:
        found = _over(_data(found.pop("like")), found)
    if isinstance(found["sheet"], str):
        found["sheet"] = _data(found["sheet"])["sheet"]
    return found


def _over(base: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    merged = dict(base)
    for key, value in changes.items():
        deeper = isinstance(value, dict) and isinstance(merged.get(key), dict)
        merged[key] = _over(merged[key], value) if deeper else value
    return merged
