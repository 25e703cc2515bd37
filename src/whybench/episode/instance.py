"""One problem, as the coordinates from which it is rebuilt exactly."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from whybench.core.canonical import EMPTY, Json, Record, freeze, thaw
from whybench.episode.salts import secret_of

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
    """Opaque; equal for instances of a block whose hidden worlds are the same up to renaming."""
    block: int = 0
    """A suite is as long as its name says; more of its kind come in further blocks of that size."""

    @property
    def seed(self) -> str:
        """What random streams hang on, and what no log holds if the salt is private."""
        secret = secret_of(self.salt)
        return f"{secret}.{self.block}" if self.block else secret

    def to_json(self) -> dict[str, Json]:
        """Return the coordinates as JSON data."""
        further = {"block": self.block} if self.block else {}
        return {
            "family": self.family,
            "version": self.version,
            "suite": self.suite,
            "profile": self.profile,
            "salt": self.salt,
            "index": self.index,
            **further,
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
            cluster=data.get("cluster", ""),
            block=int(data.get("block", 0)),
        )
