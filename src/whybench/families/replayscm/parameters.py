"""Parameters and suites of ReplaySCM."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict, Field

from whybench.episode.instance import Instance
from whybench.episode.prompts.dialogue import Retry
from whybench.families.replayscm.world.world import ANSWERS, Disclosure, Task

FAMILY = "replayscm"

BUDGET = 24
"""Default number of experiments in the laboratory."""

LEVELS = (1, 2, 4, 8, 16, 32)
"""Bits of residual ambiguity of the `bits_*` suites, besides 0."""


@dataclass(frozen=True, slots=True)
class Pool:
    """The problems that a suite consists of."""

    size: int
    disclosure: Disclosure
    source: str
    """Where its SCMs come from: `match` (shared by most suites), `ord`, `hid`, `lab`,
    `small`, `rows`."""
    worlds: str = "base"
    """Which training worlds are shown: of the source's `base`, `ext`, `cex_ord`, `cert` …"""
    task: Task = "induce"


def _pools() -> dict[str, Pool]:
    found: dict[str, Pool] = {}
    told: tuple[tuple[str, Disclosure], ...] = (("ord", "ordered"), ("hid", "hidden"))
    for short, disclosure in told:
        found |= {
            f"{short}_full": Pool(250, disclosure, short, "full"),
            f"{short}_match": Pool(100, disclosure, "match"),
            f"{short}_ext": Pool(100, disclosure, "match", "ext"),
            f"{short}_cex": Pool(100, disclosure, "match", f"cex_{short}"),
            f"alt_{short}": Pool(100, disclosure, "match", "base", "alternative"),
        }
    found["block"] = Pool(100, "block", "match")
    found["hid_roots"] = Pool(100, "roots", "match")
    found["ord_cert"] = Pool(100, "ordered", "match", "cert")
    found["block_cert"] = Pool(100, "block", "match", "cert")
    found["hid_cert"] = Pool(100, "hidden", "match", "cert")
    found["roots_cert"] = Pool(100, "roots", "match", "cert")
    found["bits_0"] = Pool(100, "hidden", "match", "cert")
    for end in ("", "_long"):
        for bits in LEVELS:
            name = f"bits_{bits}{end}"
            found[name] = Pool(100, "hidden", "match", name)
    found["lab"] = Pool(100, "hidden", "lab", "lab")
    found["small"] = Pool(100, "hidden", "small", "lab")
    found["rows"] = Pool(300, "hidden", "rows", "base", "rows")
    return found


POOLS = _pools()
"""Suite → its pool, in the order of `family.toml`."""


def in_lab(instance: Instance) -> bool:
    """Return whether the agent chooses its own experiments."""
    return POOLS[instance.suite].worlds == "lab"


def place(instance: Instance) -> tuple[str, str, int]:
    """Return source, seed and index of an instance: full pools begin with the matched ones.

    Three instances of `rows` share a source.
    """
    pool, matched = POOLS[instance.suite], POOLS["hid_roots"].size
    if pool.task == "rows":
        return pool.source, instance.stream_seed, instance.index // len(ANSWERS)
    if pool.worlds != "full":
        return pool.source, instance.stream_seed, instance.index
    if instance.index < matched:
        return "match", instance.stream_seed, instance.index
    return pool.source, instance.stream_seed, instance.index - matched


class Parameters(BaseModel):
    """Parameters of the suites, with their defaults."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    data: str | None = None
    budget: int = Field(BUDGET, ge=0, le=200)
    max_errors: int = Field(3, ge=1, le=100)
    retry: Retry = "reason"
    disambiguation: bool = True
