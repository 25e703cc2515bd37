"""What a task plays: instances of a suite, made as they are needed, or rows of a stored set."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from whybench.episode.family import PUBLIC_SEED, Suite
from whybench.episode.registry import load_suite
from whybench.interfaces.inspectai.dataset import Listed
from whybench.interfaces.inspectai.lazy_samples import Rows

if TYPE_CHECKING:
    from whybench.interfaces.stored.reading import StoredSet

DISTINCT = "distinct"
"""What `rows` says for the rows of a set that repeat nothing; a window may follow a colon."""
DATA = "data"
"""The task argument that may be the address of a stored set; else it is the family's parameter."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """Instances to play."""

    suite: Suite
    rows: Rows
    positions: Sequence[int]
    """Those of the rows that Inspect gets to see."""
    stored: StoredSet | None = None

    def among(self, ids: Collection[str]) -> list[int]:
        """Return the positions of the instances with these ids, as far as they are here."""
        if self.stored is None:
            wanted = set(ids)
            return [p for p in self.positions if self.rows.instance(p).id in wanted]
        here = self.positions if isinstance(self.positions, range) else set(self.positions)
        return sorted({p for p in map(self._position, ids) if p in here})

    def _position(self, name: str) -> int:
        try:
            return -1 if self.stored is None else self.stored.position(name)
        except ValueError:
            return -1

    @property
    def notes(self) -> dict[str, Any]:
        """What a log says of the instances; of a secret seed only its name."""
        notes = {"suite": self.suite.path, "profile": self.suite.profile, "seed": self.suite.seed}
        if self.stored is None:
            return notes
        return notes | {"data_digest": self.stored.manifest.digest, "data_rows": len(self.stored)}


def chosen(
    path: str,
    profile: str,
    seed: str | None,
    parameters: Mapping[str, Any],
    rows: int | str | None = None,
) -> Chosen:
    """Return a suite's instances, or the rows of a set of that suite."""
    stored = stored_set(parameters)
    if stored is None:
        given = PUBLIC_SEED if seed is None else seed
        return listed([load_suite(path, profile=profile, seed=given, parameters=parameters)], rows)
    _agree(stored, path, profile, seed, {k: v for k, v in parameters.items() if k != DATA})
    text, _, limit = str(rows).partition(":")
    if text != DISTINCT:
        return Chosen(stored.suite, stored, window(len(stored), rows), stored)
    kept = stored.kept()
    return Chosen(stored.suite, stored, [kept[p] for p in window(len(kept), limit or None)], stored)


def listed(suites: Sequence[Suite], rows: int | str | None = None) -> Chosen:
    """Return the instances of suites to compare, equal places together."""
    made = Listed(suites)
    return Chosen(suites[0], made, window(len(made), rows))


def stored_set(parameters: Mapping[str, Any]) -> StoredSet | None:
    """Return the set that `data` is the address of; None if it is none, or not given."""
    if parameters.get(DATA) is None:
        return None
    from whybench.interfaces.stored.reading import find_set

    return find_set(str(parameters[DATA]))


def window(length: int, rows: int | str | None) -> range:
    """Return the positions that are meant, counted as Inspect's `--limit` counts samples.

    >>> window(500, None), window(500, 10), window(500, "11-20")
    (range(0, 500), range(0, 10), range(10, 20))
    """
    if rows is None:
        return range(length)
    read = re.fullmatch(r"(?:(\d+)-)?(\d+)", str(rows))
    if read is not None:
        found = range(length)[int(read[1] or 1) - 1 : int(read[2])]
        if int(read[1] or 1) > 0 and found:
            return found
    raise ValueError(f"rows is a number or FIRST-LAST, within 1-{length}, not {rows!r}")


def _agree(
    stored: StoredSet, path: str, profile: str, seed: str | None, parameters: Mapping[str, Any]
) -> None:
    """Refuse arguments that say otherwise than the set; those that are not given come from it."""
    plan, suite, at = stored.plan, stored.suite, stored.place.address
    if suite.path != path:
        family, _, name = suite.path.partition("/")
        there = f"suite={name}" if path.startswith(f"{family}/") else f"whybench/{family}"
        raise ValueError(f"{at} holds {suite.path}, not {path}: pass {there}")
    if plan.profile != profile:
        raise ValueError(f"{at} holds profile {plan.profile}: pass profile={plan.profile}")
    if seed not in (None, plan.seed):
        raise ValueError(f"{at} holds seed {plan.seed}, not {seed}: leave seed out")
    asked = load_suite(
        path, profile=profile, seed=plan.seed, parameters={**plan.parameters.asdict(), **parameters}
    )
    if asked.parameters != plan.parameters:
        raise ValueError(
            f"{at} holds parameters {plan.parameters.asdict()}: leave {', '.join(parameters)} out"
        )
