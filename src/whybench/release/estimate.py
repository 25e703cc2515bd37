"""Estimate what a run of a release costs, before it is paid."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from whybench.release.data import Release, Use

TOKENS_PER_SECOND = 50.0
"""Assumed output of one connection, without a log."""

SECONDS_PER_CALL = 1.0
"""Assumed time of a call in addition to its output, without a log."""


@dataclass(frozen=True, slots=True)
class Pilot:
    """Mean episode of a similar model, from a log."""

    input: float
    output: float
    seconds: float
    calls: float = math.nan


@dataclass(frozen=True, slots=True)
class Price:
    """Price per million tokens."""

    input: float
    output: float

    def of(self, given: float, written: float) -> float:
        """Return the price of tokens."""
        return (given * self.input + written * self.output) / 1e6


@dataclass(frozen=True, slots=True)
class Estimate:
    """One family of a set: samples, calls and tokens, and their upper bounds."""

    family: str
    samples: int
    calls: float
    input: float
    output: float
    most_calls: float
    most_input: float
    most_output: float
    seconds: float
    """Time of all samples, one after the other."""
    source: str

    def to_json(self) -> dict[str, Any]:
        """Return plain data."""
        return asdict(self)


def estimates(
    release: Release,
    which: str,
    pilots: Mapping[str, Pilot] | None = None,
    max_tokens: int | None = None,
    limit: int | None = None,
) -> list[Estimate]:
    """Return an estimate per family, for one system."""
    longest = max_tokens or release.max_tokens
    return [
        _family(release, family, which, (pilots or {}).get(family), longest, limit)
        for family in release.families
    ]


def total(found: Iterable[Estimate]) -> Estimate:
    """Return the sum over families."""
    every = list(found)
    sums = {
        name: math.fsum(getattr(one, name) for one in every)
        for name in ("calls", "input", "output", "most_calls", "most_input", "most_output")
    }
    return Estimate(
        "all",
        sum(one.samples for one in every),
        **sums,
        seconds=math.fsum(one.seconds for one in every),
        source="",
    )


def _family(
    release: Release,
    family: str,
    which: str,
    pilot: Pilot | None,
    longest: int,
    limit: int | None,
) -> Estimate:
    rows = list(release.samples(family, which))[:limit]
    uses = [part.usage[template] for part, _, template in rows]
    found = Estimate(
        family,
        len(rows),
        math.fsum(use.calls for use in uses),
        math.fsum(use.input for use in uses),
        math.fsum(use.output for use in uses),
        math.fsum(use.most_calls for use in uses),
        math.fsum(_most_input(use, longest) for use in uses),
        math.fsum(use.most_calls for use in uses) * longest,
        math.nan,
        "turns of the exact agent",
    )
    if pilot is None:
        seconds = found.output / TOKENS_PER_SECOND + found.calls * SECONDS_PER_CALL
        return replace(found, seconds=seconds)
    return replace(
        found,
        calls=found.calls if math.isnan(pilot.calls) else pilot.calls * len(rows),
        input=pilot.input * len(rows),
        output=pilot.output * len(rows),
        seconds=pilot.seconds * len(rows),
        source="log of a similar model",
    )


def _most_input(use: Use, longest: int) -> float:
    """Return the tokens read if every call is made and every reply has the full length."""
    calls = use.most_calls
    return calls * use.prompt + calls * (calls - 1) / 2 * (use.growth + longest)
