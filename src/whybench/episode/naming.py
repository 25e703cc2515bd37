"""Instances by name: `family/suite` with an index, or an instance's id."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from whybench.episode.family import PUBLIC_SEED
from whybench.episode.instance import Instance
from whybench.episode.registry import load_suite

_ID = re.compile(r"([a-z0-9_]+/[a-z0-9_]+)-(?:([0-9]{1,12})\.)?([0-9]{4,9})-([0-9a-f]{12})")


def find_instance(
    name: str,
    *,
    profile: str = "certified",
    seed: str = PUBLIC_SEED,
    parameters: Mapping[str, Any] | None = None,
) -> Instance:
    """Return the instance that `family/ID` names, or say that there is none.

    >>> from whybench.episode.registry import load_suite
    >>> instance = load_suite("causallink/core")[3]
    >>> find_instance(f"causallink/{instance.id}") == instance
    True
    """
    found = _ID.fullmatch(name)
    if found is None:
        raise ValueError("an instance is named like family/suite-0003-0123456789ab")
    path, block, index, _ = found.groups()
    suite = load_suite(path, profile=profile, seed=seed, parameters=parameters)
    row = int(block or 0) * len(suite) + int(index)
    if int(index) >= len(suite):
        raise ValueError(f"{suite.path} has instances 0 … {len(suite) - 1}, not {int(index)}")
    instance = suite.row(row)
    if instance.id != name.partition("/")[2]:
        raise ValueError(
            f"{suite.path} has no instance of this id: was it made under another seed?"
        )
    return instance
