"""Every suite of the registry, and small samples of each that the tests share.

By default a sample is as small as it can be while every suite and profile has its instances;
WHYBENCH_FULL=1 makes all samples four times as large.
"""

import os
from collections.abc import Iterator
from functools import cache, lru_cache

import pytest

from whybench.episode.certificate import Certificate
from whybench.episode.episode import play
from whybench.episode.family import Suite, families
from whybench.episode.instance import PROFILES, Instance
from whybench.episode.trace import Trace

LARGER = 4 if os.environ.get("WHYBENCH_FULL") else 1

SUITES = [
    pytest.param(family.suite(name, profile=profile), id=f"{family.name}/{name}/{profile}")
    for profile in PROFILES
    for family in families().values()
    for name in family.suites
    if profile in family.profiles
]
CERTIFIED = [param for param in SUITES if param.id.endswith("certified")]
"""They come first in both lists, so that a suite has one place and pytest groups by it."""

# Grouped by suite (the scope does it), so that worlds, proofs and traces are made once.
every_suite = pytest.mark.parametrize("suite", SUITES, scope="module")
every_certified_suite = pytest.mark.parametrize("suite", CERTIFIED, scope="module")


def spread(suite: Suite, most: int) -> Iterator[Instance]:
    """Instances spread evenly over a suite, fewer where a family has many suites.

    A smaller sample is the beginning of a larger one.
    """
    count = max(1, most * LARGER * 4 // max(4, len(suite.family.suites)))
    places = dict.fromkeys(int(halved(step) * len(suite)) for step in range(2 * count))
    return (made(suite, place) for place in list(places)[:count])


def halved(step: int) -> float:
    """Return the next place between 0 and 1: 0, 1/2, 1/4, 3/4, 1/8, 5/8 …

    >>> [halved(step) for step in range(4)]
    [0.0, 0.5, 0.25, 0.75]
    """
    return int(f"{step:032b}"[::-1], 2) / 2**32


@lru_cache(maxsize=4096)
def made(suite: Suite, index: int) -> Instance:
    return suite[index]


@cache
def certified(instance: Instance) -> Certificate:
    """Certify an instance; a pure function, so that one proof serves all tests."""
    return families()[instance.family].certify(instance)


@cache
def played(agent: str, instance: Instance) -> Trace:
    """Let a reference agent play; its replay is compared with this one."""
    family = families()[instance.family]
    return play(family.open(instance), family.agent(agent, instance))
