"""Records of suites without experiments: they settle a part of the graph and leave a part open.

Properties of some crystals were set before they were measured. Several such sets of records are
drawn for each system. The one is kept that surprises a reader of the design most: the reader knows
only how often each property was set. `observed_design.toml` has what such a reader expects, found
by `scripts/causalab_observed.py`. Shares of the verdicts, and a glance at what moved, count less.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib.resources import files

from whybench.causal.seeds import Stream
from whybench.families.causalab.proof.ambiguity import Verdicts, answers, verdicts
from whybench.families.causalab.proof.evidence import Evidence, inferred
from whybench.families.causalab.world.world import (
    FREQUENCY,
    Law,
    Reading,
    Readings,
    View,
    moved_base,
    solver,
)

WEIGHTS = (0.5, 1.0)
"""Sizes of the weights of properties. With larger weights, effects exceed their causes in size."""
STEP = 2
"""Bases and settings are multiples of this, so that readings have at most two decimals: a path
between the properties has at most three edges."""
CRYSTALS = (2, 4)
"""Least and most crystals among the records; one more is in the manipulator."""
SETTINGS = 4
"""Most settings in the records."""
POOLS = (1, 2, 2, 2, 3)
"""Number of properties that are set, each equally likely."""
APART = 10
"""Least distance of a setting from the base that it replaces."""
DRAWS = 24
"""Sets of records that are drawn for each system."""
WANTED = {"yes": 6, "no": 5, "cannot": 5}
"""Wanted verdicts on the pairs of five quantities. Few records force six edges, so the shares
stay near a third."""
MISSING = 0.8
"""What a pair that is missing from `WANTED` costs."""
GLANCE = 0.1
"""What a pair that a glance gets right costs."""

Expected = Mapping[str, Mapping[str, float]]
"""For each `setting` of a pair of properties, the chance of each verdict."""


@cache
def expected() -> Expected:
    """Return what a reader of the design expects."""
    text = (files(__package__ or "") / "observed_design.toml").read_text("utf-8")
    found: Expected = tomllib.loads(text)
    return found


def with_records(view: View, law: Law, crystals: Sequence[Readings], stream: Stream) -> View:
    """Return a view with the best of several sets of records; they force the frequency."""
    return min(offers(view, law, crystals, stream), key=cost)


def offers(view: View, law: Law, crystals: Sequence[Readings], stream: Stream) -> list[View]:
    """Draw views with sets of records that force the frequency."""
    found: list[View] = []
    while len(found) < DRAWS:
        offer = _drawn(view, law, crystals, stream)
        if inferred(given(offer)).settled >> FREQUENCY & 1:
            found.append(offer)
    return found


def given(view: View) -> Evidence:
    """Return what an agent has."""
    return Evidence(view, (*view.records, view.baseline))


def _drawn(view: View, law: Law, crystals: Sequence[Readings], stream: Stream) -> View:
    """Draw the number of crystals, and which of them are measured again after a setting."""
    count = CRYSTALS[0] + stream.below(CRYSTALS[1] - CRYSTALS[0] + 1)
    pool = stream.sample(range(1, view.k), stream.choice(POOLS))
    places = [(i, v) for i in range(count) for v in pool]
    made = set(stream.sample(places, min(len(places), 1 + stream.below(SETTINGS))))
    records = [
        reading
        for i in range(count)
        for reading in _measured(
            view, law, i, crystals[i], [v for v in pool if (i, v) in made], stream
        )
    ]
    return replace(view, records=tuple(records), baseline=replace(view.baseline, crystal=count))


def _measured(
    view: View, law: Law, crystal: int, bases: Readings, targets: Sequence[int], stream: Stream
) -> Iterator[Reading]:
    """Measure a crystal, then set one property after the other and measure it again."""
    lab, now = solver(law), list(bases)
    yield Reading(crystal, lab.readings(now))
    for v in targets:
        far = [x for x in range(0, 101, STEP) if abs(x - now[v]) >= APART]
        setting = float(stream.choice(far))
        now[v] = moved_base(lab, view.semantics, v, setting, lab.values(now))
        yield Reading(crystal, lab.readings(now), v, setting)


def cost(view: View, known: Expected | None = None) -> float:
    """Return how well a reader of the design and a glance know the verdicts, and what is missing.

    A verdict on the causes of the frequency is never open, and no design tells it.
    """
    table, evidence = expected() if known is None else known, given(view)
    gold, seen = answers(view, verdicts(evidence)), answers(view, glance(evidence))
    counts = Counter(gold.values())
    missing = sum(abs(counts[word] - wanted) for word, wanted in WANTED.items())
    told = sum(
        table.get(setting(view, *pair), {}).get(word, 1 / 3) + GLANCE * (seen[pair] == word)
        for pair, word in gold.items()
        if pair[1] != FREQUENCY
    )
    return MISSING * missing + told


def setting(view: View, cause: int, effect: int) -> str:
    """Return how often two properties were set, and how many properties were; large counts as one.

    The order is: cause, effect, properties.
    """
    often = Counter(reading.target for reading in view.records if reading.target is not None)
    return f"{min(often[cause], 2)}-{min(often[effect], 2)}-{min(len(often), 3)}"


def glance(evidence: Evidence) -> Verdicts:
    """Judge pairs by what moved: a property causes what moves when it is set, and nothing else.

    Effects of properties that were never set count as open, except effects on a property that
    moves them. The causes of the frequency are not judged.
    """
    k, below = evidence.view.k, evidence.moved_by()
    touched = {reading.target for reading in evidence.readings}
    pairs = {(p, v) for v in range(1, k) for p in range(1, k) if p != v}
    return Verdicts(
        frozenset((p, v) for p, v in pairs if below[p] >> v & 1),
        frozenset((p, v) for p, v in pairs if p not in touched and not below[v] >> p & 1),
    )
