"""What a set holds: all that its shards are a function of, and how many there are."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version as installed
from platform import python_version
from typing import Any

from whybench import CANARY, __version__
from whybench.causal.canonical import EMPTY, Json, Record, digest, freeze, thaw
from whybench.episode.family import Suite
from whybench.episode.registry import load_suite
from whybench.interfaces.stored.place import Place

FORMAT = 1
"""Counts changes of the files' layout."""

PLAN = "plan.json"
ROWS = 1000
"""Rows of a shard: seconds to minutes of work, some megabytes of text."""

NOTE = b"whybench"
"""The key of our own note in the footer of a Parquet file."""
DISTINCT = "distinct.parquet"
"""The rows to keep of a set so that nothing repeats."""

PARTS = ("instances", "truth")
"""The column files of a shard; the second is left out of sets that are handed out."""


TOOLS = ("pyarrow", "numpy", "scipy", "networkx", "rapidfuzz")
"""Packages whose versions the bytes of a shard may depend on."""


def tools() -> Record:
    """Return the versions at work here that the bytes of a shard may depend on."""
    others = {tool: installed(tool) for tool in TOOLS}
    return Record.of(whybench=__version__, python=python_version(), **others)


@dataclass(frozen=True, slots=True)
class Plan:
    """A set before it is made."""

    suite: str
    """`family/suite`."""
    version: str
    """The family's."""
    profile: str
    seed: str
    parameters: Record
    rows: int
    """Rows of a shard."""
    truth: bool
    """Whether hidden truths are stored beside the instances."""
    n: int
    """Rows in all."""
    made_with: Record = EMPTY
    """Versions that bytes may depend on."""

    @classmethod
    def of(cls, suite: Suite, n: int, *, rows: int = ROWS, truth: bool = True) -> Plan:
        """Plan the first n rows of a suite and its further blocks."""
        if n < 1 or rows < 1:
            raise ValueError("a set has at least one row, and so has a shard")
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
            tools(),
        )

    @property
    def shards(self) -> int:
        """How many shards there are."""
        return -(-self.n // self.rows)

    def numbers(self, shard: int) -> range:
        """Return the rows of a shard; only the last one may be short."""
        return range(shard * self.rows, min((shard + 1) * self.rows, self.n))

    def names(self, shard: int) -> dict[str, str]:
        """Return the names of a shard's files, by part."""
        return {p: f"{p}/{shard:06d}.parquet" for p in PARTS if self.truth or p == PARTS[0]}

    @property
    def key(self) -> str:
        """A hash of all that a shard is a function of, besides its number."""
        return digest(self.lasting()).hex()[:16]

    def lasting(self) -> dict[str, Json]:
        """Return the plan without its length: all that a shard is a function of."""
        return {name: value for name, value in self.to_json().items() if name != "n"}

    def opened(self) -> Suite:
        """Return the suite whose rows these are."""
        found = load_suite(
            self.suite, profile=self.profile, seed=self.seed, parameters=self.parameters.asdict()
        )
        if found.family.version != self.version:
            raise ValueError(
                f"the set holds {self.suite} of version {self.version}, installed is "
                f"{found.family.version}: use the WhyBench that made it"
            )
        return found

    def to_json(self) -> dict[str, Json]:
        """Return the plan as JSON data."""
        return {"format": FORMAT} | {name: thaw(getattr(self, name)) for name in self.__slots__}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Plan:
        """Rebuild a plan from `to_json`."""
        if data.get("format") != FORMAT:
            raise ValueError(f"this set has format {data.get('format')}, we read {FORMAT}")
        if missing := [name for name in cls.__slots__ if name not in data]:
            raise ValueError(f"this is no plan of a set: it lacks {', '.join(missing)}")
        return cls(**{name: freeze(data[name]) for name in cls.__slots__})


def write_plan(place: Place, plan: Plan) -> None:
    """Write a plan."""
    place.commit(PLAN, as_file(plan.to_json()))


def read_plan(place: Place) -> Plan | None:
    """Return the plan of a set; None if there is none."""
    if not place.has(PLAN):
        return None
    return Plan.from_json(json.loads(place.read(PLAN)))


def is_set(address: str) -> bool:
    """Tell whether a set is kept at an address, finished or not."""
    return Place(address).has(PLAN)


def as_file(data: Mapping[str, Json]) -> bytes:
    """Return JSON data as the bytes of a file that carries the canary."""
    return (json.dumps({"canary": CANARY, **data}, indent=1) + "\n").encode("ascii")
