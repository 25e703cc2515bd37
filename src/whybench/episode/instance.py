"""One problem, as the coordinates from which it is rebuilt exactly."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from whybench.causal.canonical import EMPTY, Json, Record, freeze, thaw
from whybench.causal.suite_seeds import secret_of

Profile = Literal["certified", "published"]
"""`certified`: known defects repaired, every instance proven. `published`: the released rules."""

PROFILES: tuple[Profile, ...] = get_args(Profile)

_HASHED_AS = {"seed": "salt", "parameters": "knobs"}
"""Field → the name under which ids hash it."""


@dataclass(frozen=True, slots=True)
class Instance:
    """Coordinates of a problem; the hidden world is rebuilt from them and never stored."""

    family: str
    version: str
    suite: str
    profile: Profile
    seed: str
    index: int
    parameters: Record = EMPTY
    """Parameters of the suite that differ from their defaults, sorted by name."""
    id: str = ""
    """Names the content: it changes when a rebuilt world would differ."""
    cluster: str = ""
    """Opaque; equal for instances of a block whose hidden worlds are the same up to renaming."""
    block: int = 0
    """A suite is as long as its name says; more of its kind come in further blocks of that size."""

    @property
    def stream_seed(self) -> str:
        """What random streams hang on, and what no log holds if the seed is private."""
        secret = secret_of(self.seed)
        return f"{secret}.{self.block}" if self.block else secret

    def to_json(self) -> dict[str, Json]:
        """Return the coordinates as JSON data."""
        further = {"block": self.block} if self.block else {}
        return {
            "family": self.family,
            "version": self.version,
            "suite": self.suite,
            "profile": self.profile,
            "seed": self.seed,
            "index": self.index,
            **further,
            "parameters": thaw(self.parameters),
            "id": self.id,
            "cluster": self.cluster,
        }

    def identity(self) -> dict[str, Json]:
        """Return the coordinates as ids hash them: under names that never change."""
        data = self.to_json()
        return {_HASHED_AS.get(name, name): value for name, value in data.items()}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Instance:
        """Rebuild coordinates from `to_json`."""
        if data["profile"] not in PROFILES:
            raise ValueError(f"profile {data['profile']!r} is none of {', '.join(PROFILES)}")
        return cls(
            family=data["family"],
            version=data["version"],
            suite=data["suite"],
            profile=data["profile"],
            seed=data["seed"],
            index=int(data["index"]),
            parameters=freeze(data["parameters"]),
            id=data["id"],
            cluster=data.get("cluster", ""),
            block=int(data.get("block", 0)),
        )
