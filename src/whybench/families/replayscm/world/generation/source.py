"""One record for each gold SCM, with all the worlds generated for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from whybench.causal.canonical import EMPTY, Json, Record
from whybench.families.replayscm.world.generation.cover import coverage
from whybench.families.replayscm.world.gold_scm import ROOTS, Latent
from whybench.families.replayscm.world.world import Asked, Disclosure, Table, Told


@dataclass(frozen=True, slots=True)
class Source:
    """A gold SCM and the worlds generated for it."""

    latent: Latent
    display: tuple[int, ...]
    blocks: tuple[tuple[int, ...], ...]
    heldout: tuple[Table, ...]
    worlds: Record
    """Name → training worlds."""
    references: Record = EMPTY
    """Disclosure → reference formulas for Alternative-SCM."""
    asked: tuple[Asked, ...] = ()
    """For the suite `rows`: three questions with different answers, in random order."""
    discarded: Record = field(default=EMPTY, compare=False)
    """Discarded draws: reason → count. Records from files do not have this."""

    def facts(self, worlds: Sequence[Table]) -> Record:
        """Return figures of a problem made from this source."""
        seen, total = coverage(self.latent, worlds)
        return Record.of(pattern_coverage=seen / total, patterns_full=seen == total)


def told_of(latent: Latent, disclosure: Disclosure, blocks: Sequence[Sequence[int]]) -> Told:
    """Return the class of SCMs under a disclosure."""
    n, roots, every = latent.n, latent.roots, (1 << latent.n) - 1
    admissible = [every & ~(1 << v) for v in range(n)]
    if disclosure == "ordered":
        before = 0
        for v in latent.order:
            admissible[v], before = before, before | 1 << v
    if disclosure == "block":
        before = 0
        for block in blocks:
            before |= sum(1 << v for v in block)
            for v in block:
                admissible[v] = before & ~(1 << v)
    if disclosure != "roots":
        admissible = [0 if roots >> v & 1 else mask for v, mask in enumerate(admissible)]
    known = None if disclosure == "roots" else roots
    return Told(n, latent.k, ROOTS, known, tuple(admissible), disclosure == "ordered")


def to_json(source: Source) -> dict[str, Json]:
    """Return a record as JSON data, without units."""
    latent = source.latent
    return {
        "n": latent.n,
        "k": latent.k,
        "order": list(latent.order),
        "formulas": list(latent.formulas),
        "display": list(source.display),
        "blocks": [list(block) for block in source.blocks],
        "heldout": [_table_json(table) for table in source.heldout],
        "worlds": [
            {"name": name, "tables": [_table_json(table) for table in tables]}
            for name, tables in source.worlds
        ],
        "references": [
            {"name": name, "formulas": list(reference)} for name, reference in source.references
        ],
    }


def from_json(data: Mapping[str, Json]) -> Source:
    """Rebuild a record from `to_json`."""
    latent = Latent(
        data["n"], data["k"], tuple(data["order"]), tuple(data["formulas"]), ((),) * ROOTS
    )
    return Source(
        latent,
        tuple(data["display"]),
        tuple(tuple(block) for block in data["blocks"]),
        tuple(_table(table) for table in data["heldout"]),
        Record((item["name"], tuple(map(_table, item["tables"]))) for item in data["worlds"]),
        Record((item["name"], tuple(item["formulas"])) for item in data["references"]),
    )


def _table_json(table: Table) -> dict[str, Json]:
    return {
        "targets": table.targets,
        "mode": table.mode,
        "size": table.size,
        "columns": list(table.columns),
    }


def _table(data: Mapping[str, Json]) -> Table:
    return Table(data["targets"], data["mode"], data["size"], tuple(data["columns"]))
