"""Every suite of the registry, and small samples of each that the tests share.

Suites are listed by name, from what families declare, and opened when a test needs them.
By default a sample is as small as it can be while every suite and profile has its instances;
WHYBENCH_FULL=1 makes all samples four times as large.
"""

import os
import tomllib
from collections.abc import Iterator
from functools import cache, lru_cache
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from whybench.episode.certificate import Certificate
from whybench.episode.episode import play
from whybench.episode.family import Suite
from whybench.episode.instance import PROFILES, Instance
from whybench.episode.registry import families, load_suite
from whybench.episode.trace import Trace

LARGER = 4 if os.environ.get("WHYBENCH_FULL") else 1

GENERATORS = {
    "causalab": (
        *("main_4", "scaling_4", "quad_hard", "hidden_count_1", "hidden_range_5", "hidden_freq_1"),
        *("freqparent_4", "partial_4", "golden_4", "fresh"),
    ),
    "causalgame": (
        *("antenna_trap", "deployment_zone_trap_categorical", "deployment_zone_trap_env_shift"),
        *("weather_noise", "knobs"),
    ),
    "causallink": ("core", "collider", "advanced"),
    "recite": ("made_short", "made_ladder", "standard"),
    "replayscm": ("hid_match", "ord_ext", "alt_hid", "block", "hid_cert", "bits_4", "lab"),
}
"""Family → suites that are made in different ways; its other suites differ from one of these only
in a parameter. These, in profile `certified`, are in the default tier, all others are slow."""


def declared_suites() -> Iterator[tuple[str, str]]:
    """Return family and suite of all there are, without importing a family that declares them."""
    for point in sorted(entry_points(group="whybench.families"), key=lambda point: point.name):
        spec = find_spec(point.module)
        assert spec is not None
        file = Path(spec.origin or "").with_name("family.toml")
        family = tomllib.loads(file.read_text("utf-8")) if file.is_file() else None
        for name in family["suites"] if family else point.load().suites:
            yield point.name, name


def listed(profile: str) -> list[Any]:
    """Return the suites of a profile as parameters of tests."""
    found = []
    for family, name in declared_suites():
        default = profile == "certified" and name in GENERATORS.get(family, (name,))
        path = f"{family}/{name}/{profile}"
        found.append(pytest.param(path, id=path, marks=[] if default else pytest.mark.slow))
    return found


CERTIFIED = listed("certified")
SUITES = CERTIFIED + [param for profile in PROFILES[1:] for param in listed(profile)]
"""Certified ones come first in both lists, so that a suite has one place to be grouped at."""

FAMILIES = list(dict.fromkeys(family for family, _ in declared_suites()))

# Grouped by suite (the scope does it), so that worlds, proofs and traces are made once.
every_suite = pytest.mark.parametrize("suite", SUITES, scope="module", indirect=True)
every_certified_suite = pytest.mark.parametrize("suite", CERTIFIED, scope="module", indirect=True)
every_family = pytest.mark.parametrize("family", FAMILIES, indirect=True)


def opened(path: str) -> Suite:
    """Open the suite at `family/suite/profile`."""
    path, _, profile = path.rpartition("/")
    if profile not in families()[path.partition("/")[0]].profiles:
        pytest.skip(f"there is no profile {profile} of {path}")
    return load_suite(path, profile=profile)


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
