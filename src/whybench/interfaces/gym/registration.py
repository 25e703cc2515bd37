"""Register the suites with gymnasium."""

from __future__ import annotations

import re
from typing import Any

import gymnasium

from whybench.episode.family import Family
from whybench.episode.registry import families

NAMESPACE = "WhyBench"

_ENTRY = "whybench.interfaces.gym.environment:EpisodeEnv"


def environment_id(family: Family[Any], suite: str) -> str:
    """Return the id of a suite: `WhyBench/<family>-<suite>-v<comparability version>`.

    >>> environment_id(families()["causallink"], "core")
    'WhyBench/causallink-core-v2'
    """
    number = re.match(r"\d+", family.version)
    return f"{NAMESPACE}/{family.name}-{suite}-v{number[0] if number else 0}"


def register_suites() -> tuple[str, ...]:
    """Register all suites of the installed families, each once, and return their ids."""
    found = {
        environment_id(family, suite): f"{family.name}/{suite}"
        for family in families().values()
        for suite in family.suites
        if "certified" in family.profiles_of(suite)
    }
    for name, path in found.items():
        if name not in gymnasium.registry:
            gymnasium.register(name, entry_point=_ENTRY, kwargs={"suite": path})
    return tuple(found)
