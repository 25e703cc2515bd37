"""The manifest of a set: the hashes and the counts of every shard."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from whybench.causal.canonical import EMPTY, Json, Record, digest, freeze, thaw
from whybench.interfaces.stored.place import Place
from whybench.interfaces.stored.plan import PLAN, Plan, as_file

MANIFEST = "manifest.json"


@dataclass(frozen=True, slots=True)
class Shard:
    """The entry of one shard."""

    number: int
    rows: int
    """Number of instances."""
    hashes: Record
    """Part → SHA-256 of its file."""
    refused: Record = EMPTY
    """Reason why instances could not be certified → count. They are not in the set."""
    discarded: Record = EMPTY
    """Reason why generators discarded a system before they kept one → count."""

    def to_json(self) -> dict[str, Json]:
        """Return the entry as JSON data."""
        return {name: thaw(getattr(self, name)) for name in self.__slots__}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Shard:
        """Rebuild an entry from `to_json`."""
        return cls(**{name: freeze(data[name]) for name in cls.__slots__})


@dataclass(frozen=True, slots=True)
class Manifest:
    """The manifest of a finished set."""

    plan: Plan
    shards: tuple[Shard, ...]

    @classmethod
    def of(cls, plan: Plan, shards: Sequence[Shard]) -> Manifest:
        """Sort shards, and reject missing or duplicate ones."""
        ordered = tuple(sorted(shards, key=lambda shard: shard.number))
        if [shard.number for shard in ordered] != list(range(plan.shards)):
            raise ValueError(f"The set has {plan.shards} shards, but {len(ordered)} were made.")
        return cls(plan, ordered)

    @property
    def rows(self) -> int:
        """Total number of instances."""
        return sum(shard.rows for shard in self.shards)

    @property
    def digest(self) -> str:
        """One hash of all shards."""
        return digest([shard.to_json()["hashes"] for shard in self.shards]).hex()

    def to_json(self) -> dict[str, Json]:
        """Return the manifest as JSON data."""
        refused = _total(shard.refused for shard in self.shards)
        discarded = _total(shard.discarded for shard in self.shards)
        thrown = sum(discarded.values())
        return {
            "plan": self.plan.to_json(),
            "asked": self.plan.n,
            "instances": self.rows,
            "refused": refused,
            "refusal_rate": sum(refused.values()) / self.plan.n,
            "discarded": discarded,
            "discard_rate": thrown / (thrown + self.plan.n),
            "digest": self.digest,
            "shards": [shard.to_json() for shard in self.shards],
        }


def write_manifest(place: Place, manifest: Manifest) -> None:
    """Write the manifest of a set with all its shards."""
    place.commit(MANIFEST, as_file(manifest.to_json()))


def read_manifest(place: Place) -> Manifest:
    """Return the manifest of a finished set."""
    if not place.has(MANIFEST):
        known = place.has(PLAN)
        raise ValueError(
            f"{place.address} is not finished. Run `whybench data generate` again."
            if known
            else f"{place.address} is not a stored set: it has no manifest."
        )
    data = json.loads(place.read(MANIFEST))
    shards = tuple(Shard.from_json(entry) for entry in data["shards"])
    return Manifest(Plan.from_json(data["plan"]), shards)


def _total(counts: Any) -> dict[str, int]:
    found: Counter[str] = Counter()
    for count in counts:
        found.update(count.asdict())
    return dict(sorted(found.items()))
