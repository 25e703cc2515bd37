"""Plan how many instances and epochs detect a difference, and their cost (`whybench plan`).

The size is computed for the test of `compare` (`stats.power`), with an upper bound on the variance
in the logs (`stats.assurance`). There are two sizes: for two systems on shared instances, and for
one system against a fixed value.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from whybench.causal.canonical import canonical_json
from whybench.episode.family import Suite
from whybench.episode.instance import Instance
from whybench.report.decisions.cost import Bill, Usage, bill, usage_in, usage_played
from whybench.report.decisions.sizes import Question, Size, design
from whybench.report.decisions.variance_sources import (
    Basis,
    Worlds,
    from_agents,
    from_frames,
    picked,
    spaced,
)
from whybench.report.runs import Run
from whybench.stats.spread import Spread

LOOK = 24
"""Consecutive instances, and evenly spaced ones, that are checked for shared clusters."""

PLAYED = 6
"""Episodes of the exact agent from which the length of an episode is estimated."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Result of `whybench plan`."""

    suite: str
    profile: str
    seed: str
    metric: str
    detect: float
    power: float
    alpha: float
    worlds: Worlds
    """Clusters of the whole suite."""
    more: str
    """Text on what another seed would add."""
    sizes: tuple[Size, ...]
    spread_one: Spread
    spread_pair: Spread
    usages: tuple[Usage, ...]
    bills: tuple[Bill, ...]
    """Usage of each size, all its systems together."""
    assumed: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the plan as JSON data; unknown values are null."""
        made: dict[str, Any] = _finite(asdict(self))
        return made


def plan(
    suite: Suite,
    runs: Sequence[Run] = (),
    *,
    detect: float,
    power: float = 0.8,
    alpha: float = 0.05,
    epochs: int | None = None,
    icc: float | None = None,
    correlation: float | None = None,
    assurance: float = 0.8,
    price_in: float | None = None,
    price_out: float | None = None,
) -> Plan:
    """Plan runs of a suite that detect a difference of `detect` in the family's headline.

    `assurance` is the probability, over logs like these, that the size is large enough.
    """
    if not detect > 0:
        raise ValueError(f"--detect is {detect}. It must be above 0, such as 0.05.")
    runs = _fitting(suite, runs)
    metric = suite.family.headline
    looked, assumed = _looked_at(suite)
    worlds = _worlds(suite, looked)
    basis = _basis(suite, runs, looked, worlds, icc, correlation, assumed)
    rate = any(one.rate for one in suite.family.metrics if one.name == metric)
    one, pair, said = basis.careful(assurance, rate)
    assumed += [*basis.assumed, *said]
    questions: tuple[tuple[Question, Spread], ...] = (
        ("two systems", pair),
        ("one system against a value", one),
    )
    sizes = tuple(
        design(
            question,
            detect,
            spread,
            len(suite),
            epochs=epochs,
            rate=rate,
            power=power,
            alpha=alpha,
        )
        for question, spread in questions
    )
    usages = _usages(suite, runs, looked)
    prices = {"price_in": price_in, "price_out": price_out}
    bills = (
        bill(usages, sizes[0].instances * sizes[0].epochs, **prices),
        bill(usages[:1], sizes[1].instances * sizes[1].epochs, **prices),
    )
    assumed.append(
        "Instances are a random sample, every instance is played in every epoch, and there is one "
        "test. For several suites, divide alpha by their number."
    )
    return Plan(
        suite.path,
        suite.profile,
        suite.seed,
        metric,
        detect,
        power,
        alpha,
        worlds,
        _more(suite, looked, worlds),
        sizes,
        basis.one,
        basis.pair,
        usages,
        bills,
        tuple(assumed),
    )


def _fitting(suite: Suite, runs: Sequence[Run]) -> list[Run]:
    """Return the runs of the planned suite; a folder can hold others."""
    wanted = (suite.path, suite.profile, canonical_json(suite.parameters.asdict()))
    kept = [r for r in runs if (r.suite, r.profile, canonical_json(r.parameters)) == wanted]
    told = ", ".join(f"{run.log} ({run.model} on {run.suite})" for run in kept or runs)
    if runs and not kept:
        raise ValueError(
            f"The logs have no run of {suite.path} with profile {suite.profile} and parameters "
            f"{suite.parameters.asdict()}, only {told}. Give a log of the planned suite, or none."
        )
    if len(kept) > 2:
        raise ValueError(f"The logs have {len(kept)} runs of the suite ({told}). Give one or two.")
    return kept


def _looked_at(suite: Suite) -> tuple[list[Instance], list[str]]:
    """Return all instances of a suite, or a part if no two in it share a cluster."""
    some = sorted({*range(min(LOOK, len(suite))), *spaced(range(len(suite)), LOOK)})
    looked = [suite[at] for at in some]
    if len({instance.cluster for instance in looked}) == len(looked):
        said = (
            f"Each of {len(looked)} checked instances is its own cluster. The plan assumes the "
            f"same for the other {len(suite) - len(looked)}."
        )
        return looked, [said] if len(looked) < len(suite) else []
    return list(suite), []


def _worlds(suite: Suite, looked: Sequence[Instance]) -> Worlds:
    """Return how the instances of the whole suite are clustered."""
    if len(looked) < len(suite):
        return Worlds(len(suite), len(suite), 0.0)
    return Worlds.of([instance.cluster for instance in looked])


def _basis(
    suite: Suite,
    runs: Sequence[Run],
    looked: Sequence[Instance],
    worlds: Worlds,
    icc: float | None,
    correlation: float | None,
    assumed: list[str],
) -> Basis:
    if runs:
        try:
            found = from_frames(
                [run.frame for run in runs],
                suite.family.headline,
                worlds,
                icc=icc,
                correlation=correlation,
            )
        except ValueError as error:  # too few clusters in the log
            found, why = None, str(error)
        else:
            why = "all its scores are equal"
        if found is not None:
            return found
        assumed.append(f"The log shows no variance ({why}), so it is used only for tokens.")
    return from_agents(suite, picked(looked), worlds, icc=icc, correlation=correlation)


def _usages(suite: Suite, runs: Sequence[Run], looked: Sequence[Instance]) -> tuple[Usage, ...]:
    """Return the usage of an episode for each of two systems."""
    known = [usage_in(run.model, run.frame, f"log {run.log}") for run in runs]
    found = [usage for usage in known if usage is not None]
    if not found:
        few = spaced(looked, PLAYED)
        found = [usage_played(suite, few, "exact", suite.family.template_for(suite.profile))]
    return tuple(found if len(found) == 2 else found * 2)


def _more(suite: Suite, looked: Sequence[Instance], worlds: Worlds) -> str:
    """Return a text on what another seed would add."""
    if suite.parameters.get("data") is not None:
        return "The instances come from a release, so another seed gives no more."
    family = suite.family
    other = replace(suite, block=suite.block + 1)
    few = [other[at] for at in spaced(range(len(other)), 8)]
    clusters, others = (
        [canonical_json(family.fingerprint(family.world(one)).cluster) for one in ones]
        for ones in (looked, few)
    )
    parameter = " -T graphs=N gives more of the suite itself." if _grows(suite) else ""
    if worlds.mean_size > 1 and set(others) <= set(clusters):
        return (
            f"Another seed gives only other names for the same {worlds.worlds} clusters, so it "
            f"adds little.{parameter}"
        )
    return (
        f"Another --seed gives {len(other)} other instances, and `compare` pools runs over "
        f"seeds.{parameter}"
    )


def _grows(suite: Suite) -> bool:
    """Tell whether the parameter `graphs` makes the suite larger."""
    try:
        more = suite.family.suite(
            suite.name, parameters=suite.parameters.asdict() | {"graphs": 1000}
        )
    except ValueError:
        return False
    return len(more) > len(suite)


def _finite(value: Any) -> Any:
    """Return JSON data without NaN and infinity."""
    if isinstance(value, dict):
        return {key: _finite(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(one) for one in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
