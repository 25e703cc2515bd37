"""Estimate the tokens and the cost of a run, from logs or from episodes of a reference agent.

Without a log, the exact agent plays some episodes, and `whybench.release.usage` counts what a model
would read and write. The estimate leaves out what a model adds: reasoning and unnecessary steps.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from whybench.curriculum.columns import TOKENIZER
from whybench.episode.family import Suite
from whybench.episode.instance import Instance
from whybench.release.usage import counted


@dataclass(frozen=True, slots=True)
class Usage:
    """Mean usage of one episode of a system, with standard deviations."""

    system: str
    episodes: int
    """Episodes behind the means."""
    input_tokens: float
    input_sd: float
    output_tokens: float
    output_sd: float
    cost: float
    """Cost of an episode according to a log; nan if unknown."""
    source: str


@dataclass(frozen=True, slots=True)
class Bill:
    """Usage of all episodes of a plan."""

    episodes: int
    input_tokens: float
    output_tokens: float
    cost: float
    """nan if neither prices nor a log are known."""


def usage_in(system: str, frame: pd.DataFrame, source: str) -> Usage | None:
    """Return the usage of an episode in a log; None if the log does not record it."""
    known = frame.dropna(subset=["input_tokens", "output_tokens"])
    if known.empty:
        return None
    asked, said = (known[name].to_numpy(np.float64) for name in ("input_tokens", "output_tokens"))
    priced = known["cost"].dropna() if "cost" in known else pd.Series(dtype=float)
    cost = float(priced.mean()) if len(priced) else math.nan
    return _usage(system, asked, said, cost, source)


def usage_played(suite: Suite, instances: Iterable[Instance], agent: str, template: str) -> Usage:
    """Let a reference agent play, and count what a model in its place would read and write."""
    protocol = suite.family.protocols[0]
    counts = [counted(suite.family, one, agent, protocol, template) for one in instances]
    source = (
        f"{len(counts)} episodes of the agent `{agent}`, tokens by the rule {TOKENIZER}. A model "
        "uses more, because it also reasons and takes detours"
    )
    asked, said = (
        np.array([getattr(count, name) for count in counts], dtype=np.float64)
        for name in ("asked", "said")
    )
    return _usage(f"whybench/{agent}", asked, said, math.nan, source)


def bill(
    usages: Sequence[Usage],
    episodes: int,
    price_in: float | None = None,
    price_out: float | None = None,
) -> Bill:
    """Return the usage of `episodes` episodes per system; prices are per million tokens."""
    asked = episodes * math.fsum(usage.input_tokens for usage in usages)
    said = episodes * math.fsum(usage.output_tokens for usage in usages)
    if price_in is None and price_out is None:
        cost = episodes * math.fsum(usage.cost for usage in usages)
    else:
        cost = (asked * (price_in or 0.0) + said * (price_out or 0.0)) / 1e6
    return Bill(episodes * len(usages), asked, said, cost)


def _usage(system: str, asked: Any, said: Any, cost: float, source: str) -> Usage:
    return Usage(
        system,
        len(asked),
        float(asked.mean()),
        float(asked.std()),
        float(said.mean()),
        float(said.std()),
        cost,
        source,
    )
