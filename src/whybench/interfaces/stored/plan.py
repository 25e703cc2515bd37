"""The plan of a set: everything that determines its shards, and the number of rows."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version as installed
from platform import python_version
from typing import Any

from whybench import CANARY, __version__
from whybench.causal.canonical import EMPTY, Json, Record, digest, freeze, thaw
from whybench.curriculum.where import Where
from whybench.episode.family import Suite
from whybench.episode.registry import load_suite
from whybench.interfaces.stored.place import Place

FORMAT = 2
"""Version of the file layout."""

PLAN = "plan.json"
ROWS = 1000
"""Default rows per shard: seconds to minutes of work, and a few megabytes of text."""

NOTE = b"whybench"
"""Key of the note in the footer of a Parquet file."""
DISTINCT = "distinct.parquet"
"""File with the rows of a set to keep so that nothing repeats."""

PARTS = ("instances", "truth")
"""The column files of a shard. Sets without truth omit the second one."""


TOOLS = ("pyarrow", "numpy", "scipy", "networkx", "rapidfuzz")
"""Packages whose versions can change the bytes of a shard."""


def tools() -> Record:
    """Return the installed versions that can change the bytes of a shard."""
    others = {tool: installed(tool) for tool in TOOLS}
    return Record.of(whybench=__version__, python=python_version(), **others)


@dataclass(frozen=True, slots=True)
class Plan:
    """The description of a set before it is generated."""

    suite: str
    """`family/suite`."""
    version: str
    """The version of the family."""
    profile: str
    seed: str
    parameters: Record
    rows: int
    """Rows per shard."""
    truth: bool
    """Whether the hidden systems are stored beside the instances."""
    n: int
    """Total number of rows."""
    where: str | None = None
    """The filter on difficulty. Rows that do not pass are left out."""
    made_with: Record = EMPTY
    """Package versions that can change the bytes."""

    @classmethod
    def of(
        cls,
        suite: Suite,
        n: int,
        *,
        rows: int = ROWS,
        truth: bool = True,
        where: str | None = None,
    ) -> Plan:
        """Plan the first n rows of a suite and its further blocks, or those that pass a filter."""
        if n < 1 or rows < 1:
            raise ValueError(
                "A set and a shard need at least one row each. Increase --n or --rows."
            )
        version = suite.family.version
        return cls(
            suite.path,
            version,
            suite.profile,
            suite.seed,
            suite.parameters,
            rows,
            truth,
            n,
            None if where is None else Where(where).text,
            tools(),
        )

    @property
    def shards(self) -> int:
        """Number of shards."""
        return -(-self.n // self.rows)

    def numbers(self, shard: int) -> range:
        """Return the row numbers of a shard. Only the last shard can be shorter."""
        return range(shard * self.rows, min((shard + 1) * self.rows, self.n))

    def names(self, shard: int) -> dict[str, str]:
        """Return the names of a shard's files, by part."""
        return {p: f"{p}/{shard:06d}.parquet" for p in PARTS if self.truth or p == PARTS[0]}

    @property
    def key(self) -> str:
        """A hash of everything that determines a shard except its number."""
        return digest(self.lasting()).hex()[:16]

    def lasting(self) -> dict[str, Json]:
        """Return the plan without its length: everything that determines a shard."""
        return {name: value for name, value in self.to_json().items() if name != "n"}

    def opened(self) -> Suite:
        """Return the suite of the rows."""
        found = load_suite(
            self.suite, profile=self.profile, seed=self.seed, parameters=self.parameters.asdict()
        )
        if found.family.version != self.version:
            raise ValueError(
                f"The set holds version {self.version} of {self.suite}, but version "
                f"{found.family.version} is installed. Install the WhyBench that made the set."
            )
        return found

    def to_json(self) -> dict[str, Json]:
        """Return the plan as JSON data."""
        return {"format": FORMAT} | {name: thaw(getattr(self, name)) for name in self.__slots__}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Plan:
        """Rebuild a plan from `to_json`."""
        if data.get("format") != FORMAT:
            raise ValueError(
                f"The set has format {data.get('format')}, but this WhyBench reads format "
                f"{FORMAT}. Install the WhyBench that made the set."
            )
        if missing := [name for name in cls.__slots__ if name not in data]:
            raise ValueError(f"The plan of the set is incomplete: {', '.join(missing)} missing.")
        return cls(**{name: freeze(data[name]) for name in cls.__slots__})


def write_plan(place: Place, plan: Plan) -> None:
    """Write a plan."""
    place.commit(PLAN, as_file(plan.to_json()))


def read_plan(place: Place) -> Plan | None:
    """Return the plan of a set, or None."""
    if not place.has(PLAN):
        return None
    return Plan.from_json(json.loads(place.read(PLAN)))


def is_set(address: str) -> bool:
    """Return whether there is a set at an address, finished or not."""
    return Place(address).has(PLAN)


def as_file(data: Mapping[str, Json]) -> bytes:
    """Return JSON data as the bytes of a file that includes the canary."""
    return (json.dumps({"canary": CANARY, **data}, indent=1) + "\n").encode("ascii")
