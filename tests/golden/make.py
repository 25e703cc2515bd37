"""Hashes of the first instances of every suite.

Made anew with `python -m tests.golden.make FAMILY…`; without a name, for all families. A change
here means that old logs can no longer be re-scored: raise the family's version with it.
"""

import json
import sys
from pathlib import Path
from typing import Any

from whybench.causal.canonical import digest
from whybench.episode.family import Family, Suite
from whybench.episode.instance import Instance
from whybench.episode.registry import families

SLOW = {"recite": 4, "replayscm": 1}
"""Instances of another seed, where making them takes long."""


def count(suite: Suite) -> int:
    return 20 if suite.seed == "public" else SLOW.get(suite.family.name, 20)


def hashed(instance: Instance) -> str:
    family = families()[instance.family]
    told = family.open(instance).instructions(family.template_for(instance.profile))
    return digest([instance.identity(), family.truth(instance), told]).hex()[:16]


def suites(family: Family[Any]) -> dict[str, Suite]:
    """Return every suite, profile and seed of a family that is pinned, by name."""
    return {
        f"{suite.path}/{profile}/{seed}": suite
        for profile in family.profiles
        for name in family.suites
        if profile in family.profiles_of(name)
        for seed in ("public", "other")
        for suite in [family.suite(name, profile=profile, seed=seed)]
    }


def hashes(suite: Suite, most: int = 20) -> list[str]:
    """Return the hashes of a suite, of the first few instances only if so asked."""
    return [hashed(suite[index]) for index in range(min(count(suite), len(suite), most))]


def main() -> None:
    asked = sys.argv[1:] or list(families())
    file = Path(__file__).parent / "instances.json"
    known = json.loads(file.read_text())
    found = {
        path: hashes(suite) if name in asked else known[path]
        for name, family in families().items()
        for path, suite in suites(family).items()
    }
    file.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
