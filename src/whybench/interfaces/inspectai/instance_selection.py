"""Select what a task plays: instances of a suite, built when needed, or rows of a stored set."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from whybench.curriculum.where import Where
from whybench.episode.family import PUBLIC_SEED, Suite
from whybench.episode.registry import load_suite
from whybench.interfaces.inspectai.dataset import Frozen, Listed
from whybench.interfaces.inspectai.lazy_samples import Rows
from whybench.release.data import Release

if TYPE_CHECKING:
    from whybench.interfaces.stored.reading import StoredSet

DISTINCT = "distinct"
"""Value of `rows` for the rows of a set without repeats. A window may follow after a colon."""
DATA = "data"
"""Task argument with the address of a stored set. Other values are a parameter of the family."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """Instances to play."""

    suite: Suite
    rows: Rows
    positions: Sequence[int]
    """Positions of the rows that Inspect plays."""
    stored: StoredSet | None = None
    name: str = ""
    """The name of the dataset, if it is not that of the suite."""

    def template(self, position: int) -> str | None:
        """Return the template of a row, if rows differ in it."""
        return self.rows.template(position) if isinstance(self.rows, Frozen) else None

    def among(self, ids: Collection[str]) -> list[int]:
        """Return the positions of the instances with these ids. Unknown ids are ignored."""
        if self.stored is None:
            wanted = set(ids)
            return [p for p in self.positions if self.rows.instance(p).id in wanted]
        here = self.positions if isinstance(self.positions, range) else set(self.positions)
        return sorted({p for p in map(self._position, ids) if p in here})

    def passing(self, where: Where) -> Chosen:
        """Return the instances that pass a filter on difficulty."""
        stored = self.stored
        kept = [
            p
            for p in self.positions
            if where.admits(self.rows.instance(p), None if stored is None else stored.figures(p))
        ]
        if not kept:
            raise ValueError(f"No instance of {self.suite.path} passes {where.text!r}.")
        return replace(self, positions=kept)

    def _position(self, name: str) -> int:
        try:
            return -1 if self.stored is None else self.stored.position(name)
        except ValueError:
            return -1

    @property
    def notes(self) -> dict[str, Any]:
        """The notes of a log about the instances. For a secret seed, only its name is included."""
        notes = {"suite": self.suite.path, "profile": self.suite.profile, "seed": self.suite.seed}
        if self.name:
            return notes | {"suite": self.name}
        if self.stored is None:
            return notes
        return notes | {"data_digest": self.stored.manifest.digest, "data_rows": len(self.stored)}


def chosen(
    path: str,
    profile: str,
    seed: str | None,
    parameters: Mapping[str, Any],
    rows: int | str | None = None,
    where: str | None = None,
) -> Chosen:
    """Return the instances of a suite, or the rows of a stored set of that suite."""
    found = _selected(path, profile, seed, parameters, rows)
    return found if where is None else found.passing(Where(where))


def _selected(
    path: str,
    profile: str,
    seed: str | None,
    parameters: Mapping[str, Any],
    rows: int | str | None,
) -> Chosen:
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


def frozen(release: Release, which: str, family: str, rows: int | str | None = None) -> Chosen:
    """Return the rows of a family in a set of a release."""
    suites = {part.path: part.load() for part in release.of(family, which)}
    made = Frozen([(suites[p.path], row, t) for p, row, t in release.samples(family, which)])
    first, name = next(iter(suites.values())), f"{family}-{release.name}-{which}"
    return Chosen(first, made, window(len(made), rows), name=name)


def listed(suites: Sequence[Suite], rows: int | str | None = None) -> Chosen:
    """Return the instances of suites to compare. Instances with the same index are neighbours."""
    made = Listed(suites)
    return Chosen(suites[0], made, window(len(made), rows))


def stored_set(parameters: Mapping[str, Any]) -> StoredSet | None:
    """Return the stored set at the address `data`, or None if there is none."""
    if parameters.get(DATA) is None:
        return None
    from whybench.interfaces.stored.reading import find_set

    return find_set(str(parameters[DATA]))


def window(length: int, rows: int | str | None) -> range:
    """Return the selected positions, counted as Inspect's `--limit` counts samples.

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
    raise ValueError(f"rows={rows!r} is not valid. Use a number or FIRST-LAST within 1-{length}.")


def _agree(
    stored: StoredSet, path: str, profile: str, seed: str | None, parameters: Mapping[str, Any]
) -> None:
    """Reject arguments that contradict the set. Missing arguments are taken from the set."""
    plan, suite, at = stored.plan, stored.suite, stored.place.address
    if suite.path != path:
        family, _, name = suite.path.partition("/")
        there = f"suite={name}" if path.startswith(f"{family}/") else f"whybench/{family}"
        raise ValueError(f"{at} holds {suite.path}, not {path}. Use {there}.")
    if plan.profile != profile:
        raise ValueError(f"{at} holds profile {plan.profile}. Use profile={plan.profile}.")
    if seed not in (None, plan.seed):
        raise ValueError(f"{at} holds seed {plan.seed}, not {seed}. Omit seed.")
    asked = load_suite(
        path, profile=profile, seed=plan.seed, parameters={**plan.parameters.asdict(), **parameters}
    )
    if asked.parameters != plan.parameters:
        raise ValueError(
            f"{at} holds parameters {plan.parameters.asdict()}. Omit {', '.join(parameters)}."
        )
