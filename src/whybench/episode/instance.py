"""One problem, as the coordinates from which it is rebuilt exactly."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from whybench.core.canonical import EMPTY, Json, Record, freeze, thaw

Profile = Literal["certified", "published"]
"""`certified`: known defects repaired, every instance proven. `published`: the released rules."""

PROFILES: tuple[Profile, ...] = get_args(Profile)


@dataclass(frozen=True, slots=True)
class Instance:
    """Coordinates of a problem; the hidden world is rebuilt from them and never stored."""

    family: str
    version: str
    suite: str
    profile: Profile
    salt: str
    index: int
    knobs: Record = EMPTY
    """Knobs of the suite that differ from their defaults, sorted by name."""
    id: str = ""
    """Names the content: it changes when a rebuilt world would differ."""
    cluster: str = ""
    """Opaque; equal for instances whose hidden worlds are the same up to renaming."""

    def to_json(self) -> dict[str, Json]:
        """Return the coordinates as JSON data."""
        return {
            "family": self.family,
            "version": self.version,
            "suite": self.suite,
            "profile": self.profile,
            "salt": self.salt,
            "index": self.index,
            "knobs": thaw(self.knobs),
            "id": self.id,
            "cluster": self.cluster,
        }

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
            salt=data["salt"],
            index=int(data["index"]),
            knobs=freeze(data["knobs"]),
            id=data["id"],
            cluster=data["cluster"],
        )
