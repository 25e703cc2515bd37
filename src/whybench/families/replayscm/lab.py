"""The laboratory: experiments on a hidden SCM that the agent chooses itself."""

from __future__ import annotations

import json
from dataclasses import dataclass

from whybench.causal.seeds import Stream
from whybench.families.replayscm.world.gold_scm import LEVELS, MOST_TARGETS, ROOTS, Latent
from whybench.families.replayscm.world.world import Mode, Table, numbers

LONGEST = 2_000
"""Characters of the longest setting that is read."""


class SettingError(ValueError):
    """An experiment that cannot be run; the message says why."""


@dataclass(frozen=True, slots=True)
class Lab:
    """A hidden SCM with its units, and the stream from which the roots' levels come."""

    latent: Latent
    path: tuple[str | int, ...]
    budget: int

    def levels(self, number: int) -> list[float]:
        """Return the roots' levels in an experiment; they depend only on its number."""
        stream = Stream(*self.path, "levels", number)
        return [stream.choice(LEVELS) for _ in range(ROOTS)]

    def run(self, setting: object, number: int) -> Table:
        """Run an experiment; a setting is JSON from targets to 0, 1, or one digit per row."""
        chosen = self._read(setting)
        every = (1 << self.latent.units) - 1
        steady = all(column in (0, every) for column in chosen.values())
        mode: Mode = "none" if not chosen else "hard_constant" if steady else "hard_assigned"
        return self.latent.see(chosen, mode, self.levels(number))

    def _read(self, setting: object) -> dict[int, int]:
        try:
            setting = json.loads(setting[:LONGEST]) if isinstance(setting, str) else None
        except (ValueError, RecursionError):
            setting = None
        if not isinstance(setting, dict):
            raise SettingError("the setting must be a JSON object from targets to values")
        if len(setting) > MOST_TARGETS:
            raise SettingError(f"an experiment has at most {MOST_TARGETS} targets")
        known = numbers(self.latent.n)
        chosen: dict[int, int] = {}
        for name, value in setting.items():
            if name not in known:
                raise SettingError(f"there is no variable {str(name)[:20]!r}")
            chosen[known[name]] = self._column(name, value)
        return chosen

    def _column(self, name: str, value: object) -> int:
        units = self.latent.units
        if value in (0, 1, "0", "1"):
            return (1 << units) - 1 if value in (1, "1") else 0
        if isinstance(value, str) and len(value) == units and not set(value) - {"0", "1"}:
            return int(value[::-1], 2)
        raise SettingError(f"{name} must be 0, 1 or a string of {units} digits 0 and 1")
