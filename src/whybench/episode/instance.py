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
    """The coordinates of one problem. The hidden system is rebuilt from them and never stored.

    Examples:
        >>> import whybench as wb
        >>> instance = wb.load_suite("causallink/core")[3]
        >>> instance.suite, instance.index, wb.Instance.from_json(instance.to_json()) == instance
        ('core', 3, True)

    """

    family: str
    """The name of the family."""
    version: str
    """The version of the family. It changes if a rebuilt problem would differ."""
    suite: str
    """The name of the suite."""
    profile: Profile
    """The rules: `certified` or `published`."""
    seed: str
    """The suite seed; a secret seed by its public name."""
    index: int
    """The number of the instance in its block, from 0."""
    parameters: Record = EMPTY
    """Parameters of the suite that differ from their defaults, sorted by name."""
    id: str = ""
    """The name of the content. It changes if the rebuilt problem would differ."""
    cluster: str = ""
    """An opaque id, equal for the instances of a block that are not independent."""
    block: int = 0
    """The number of the block in the endless list that the suite begins."""

    @property
    def stream_seed(self) -> str:
        """What random streams depend on. No log holds it if the seed is secret."""
        secret = secret_of(self.seed)
        return f"{secret}.{self.block}" if self.block else secret

    def to_json(self) -> dict[str, Json]:
        """Return the coordinates as JSON data.

        Returns:
            The data, which `from_json` reads.

        """
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
        """Return the coordinates under the names that ids hash.

        Returns:
            The data. Its names never change, whatever the fields are called.

        """
        data = self.to_json()
        return {_HASHED_AS.get(name, name): value for name, value in data.items()}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Instance:
        """Rebuild coordinates from `to_json`.

        Args:
            data: JSON data of an instance.

        Returns:
            The instance.

        Raises:
            ValueError: The profile is unknown.

        """
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
