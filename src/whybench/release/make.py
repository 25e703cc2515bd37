"""Make a release from its recipe.

The recipe is a TOML file. It gives protocol and templates of each family, and for each suite the
number of rows in the set `standard`. Rows are taken in a hashed order, block by block, at most
`per_system` of each hidden system. Rows that share the covariate `together` are taken together. The
first tenth in this order is `lite`. The set `full` has the first block of every certified suite of
every family, and the rows of `standard`.
"""

from __future__ import annotations

import json
import math
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import lru_cache
from hashlib import sha256
from statistics import fmean
from typing import Any

from whybench import __version__
from whybench.episode.family import Suite
from whybench.episode.instance import Instance
from whybench.episode.registry import families, load_suite
from whybench.release.data import FOLDER, Bound, in_ranges
from whybench.release.usage import TOOLS, mean_use

MEASURED = 24
"""Rows of a suite whose episodes are counted; of a suite outside `standard`, 3."""

HEX = 12
"""Length of a hash in the file: 48 bits."""


def recipe(name: str) -> dict[str, Any]:
    """Return the recipe of a release."""
    return tomllib.loads((FOLDER / f"{name}.toml").read_text("utf-8"))


@lru_cache(maxsize=4096)
def _row(suite: Suite, number: int) -> Instance:
    return suite.row(number)


def row_hash(suite: Suite, instance: Instance, protocol: str, templates: Sequence[str]) -> str:
    """Return the hash of a row: its content and the first prompt in each template."""
    told = [instance.id]
    for template in templates:
        episode = suite.family.open(instance)
        talk = None if protocol == TOOLS else suite.family.conversation(episode, template)
        turn = None if talk is None else talk.turn()
        told.append(f"{talk.system}\n{turn.prompt}" if talk and turn else "")
        told.append("" if turn else episode.instructions(template))
    return sha256("\x00".join(told).encode()).hexdigest()[:HEX]


def chosen(name: str, suite: Suite, given: Mapping[str, Any]) -> list[list[int]]:
    """Return the groups of rows of `standard`, in the order in which they were taken."""
    most = given.get("per_system", 1)
    seen: Counter[str] = Counter()
    found: list[list[int]] = []
    for group in _ordered(name, suite, given.get("together")):
        clusters = {_row(suite, row).cluster for row in group}
        if any(seen[cluster] >= most for cluster in clusters):
            continue
        seen.update(clusters)
        found.append(group)
        if sum(map(len, found)) >= given["standard"]:
            return found
    raise ValueError(f"{suite.path} has too few hidden systems for {given['standard']} rows.")


def _ordered(name: str, suite: Suite, together: str | None) -> Iterator[list[int]]:
    """Yield groups of rows that share a covariate, in hashed order within each of some blocks."""
    for block in range(40):
        groups: dict[object, list[int]] = {}
        for row in range(block * len(suite), (block + 1) * len(suite)):
            key = suite.family.covariates(_row(suite, row))[together] if together else row
            groups.setdefault(key, []).append(row)
        yield from sorted(
            groups.values(),
            key=lambda rows: sha256(f"{name}/{suite.path}/{rows[0]}".encode()).digest(),
        )


def _first(groups: Iterable[list[int]], rows: float) -> tuple[int, ...]:
    """Return the rows of the first groups that have at least so many rows together."""
    found: list[int] = []
    for group in groups:
        if len(found) >= rows:
            break
        found += group
    return tuple(sorted(found))


def parts(name: str, only: Sequence[str] = ()) -> Iterator[dict[str, Any]]:
    """Yield the parts of a release as JSON data, suite by suite.

    With `only`, the other families are taken from the file that is there.
    """
    asked = recipe(name)
    kept = json.loads((FOLDER / f"{name}.json").read_text("utf-8"))["parts"] if only else ()
    wanted = {one["suite"]: one for one in asked["parts"]}
    for family, played in asked["families"].items():
        if only and family not in only:
            yield from (part for part in kept if part["family"] == family)
            wanted = {path: one for path, one in wanted.items() if path.split("/")[0] != family}
            continue
        declared = families().declared(family)
        for suite_name in declared["suites"]:
            path = f"{family}/{suite_name}"
            if not _is_certified(declared, suite_name):
                continue
            given = wanted.pop(path, {})
            suite = load_suite(path, parameters=given.get("parameters", {}))
            yield _part(name, suite, played, given)
    if wanted:
        raise ValueError(f"There is no certified suite {next(iter(wanted))}.")


def count(name: str) -> int:
    """Return the number of suites."""
    declared = [families().declared(family) for family in recipe(name)["families"]]
    return sum(_is_certified(one, suite) for one in declared for suite in one["suites"])


def whole(name: str, made: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the release as JSON data."""
    asked = recipe(name)
    return {
        "release": name,
        "made_with": __version__,
        "max_tokens": asked["max_tokens"],
        "families": {
            family: {"arguments": {}} | dict(played) for family, played in asked["families"].items()
        },
        "parts": list(made),
    }


def written(data: Mapping[str, Any]) -> str:
    """Return the text of the file: a part per line."""
    head = {key: value for key, value in data.items() if key != "parts"}
    lines = ",\n".join(json.dumps(part) for part in data["parts"])
    return json.dumps(head, indent=1)[:-2] + f',\n "parts": [\n{lines}\n]}}\n'


def _is_certified(declared: Mapping[str, Any], suite: str) -> bool:
    only = declared.get("only", {})
    return suite not in only.get("published", ())


def _part(
    name: str, suite: Suite, played: Mapping[str, Any], given: Mapping[str, Any]
) -> dict[str, Any]:
    family = suite.family
    groups = chosen(name, suite, given) if given else []
    standard = _first(groups, math.inf)
    rows = {
        "lite": _first(groups, len(standard) // 10),
        "standard": standard,
        "full": tuple(sorted({*range(len(suite)), *standard})),
    }
    instances = {row: _row(suite, row) for row in rows["full"]}
    how = played["protocol"], played["templates"]
    sample = _spread(rows["standard"] or rows["full"], MEASURED if standard else 3)
    measured = [instances[row] for row in sample]
    return {
        "family": family.name,
        "version": family.version,
        "suite": suite.name,
        "parameters": suite.parameters.asdict(),
        "rows": {which: in_ranges(numbers) for which, numbers in rows.items()},
        "hashes": " ".join(row_hash(suite, one, *how) for one in instances.values()),
        "statuses": dict(Counter(family.certify(instances[r]).status for r in rows["standard"])),
        "clusters": {
            which: len({instances[row].cluster for row in numbers})
            for which, numbers in rows.items()
        },
        "floor": _floor(suite),
        "ceiling": _ceiling(suite, [instances[row] for row in rows["standard"]]),
        "usage": {
            template: {
                key: round(value, 1)
                for key, value in asdict(mean_use(family, measured, how[0], template)).items()
            }
            for template in how[1]
        },
    }


def _floor(suite: Suite) -> dict[str, Any] | None:
    """Return the best guesser of the latest audit."""
    audit = suite.family.audited(suite.name, suite.profile)
    if audit is None or audit["guesser"] is None:
        return None
    return asdict(Bound(audit["best_guesser"], audit["guesser"], audit["instances"]["guesser"]))


def _ceiling(suite: Suite, instances: Sequence[Instance]) -> dict[str, Any] | None:
    """Return the exact agent on the rows of `standard`; without any, on those of the audit."""
    family = suite.family
    if not instances:
        audit = family.audited(suite.name, suite.profile)
        if audit is None or audit["exact"] is None:
            return None
        return asdict(Bound("exact", audit["exact"], audit["instances"]["exact"]))
    scores = []
    for instance in instances:
        trace = family.exact_run(instance)
        scores.append(float(family.score(instance, trace).values[family.headline] or 0.0))
    return asdict(Bound("exact", round(fmean(scores), 6), len(scores)))


def _spread(rows: Sequence[int], most: int) -> list[int]:
    step = max(1, len(rows) // most)
    return list(rows)[::step][:most]
