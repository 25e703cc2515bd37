"""Check stored sets again: rebuild every row, and verify every certificate independently."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import pyarrow as pa
import pyarrow.parquet as parquet

from whybench import CANARY
from whybench.causal.canonical import canonical_json, thaw
from whybench.episode.certificate import Certificate
from whybench.episode.family import Family
from whybench.episode.instance import Instance
from whybench.interfaces.stored.index import INDEX, index_flaws
from whybench.interfaces.stored.manifest import MANIFEST, Manifest, Shard, read_manifest
from whybench.interfaces.stored.place import Place
from whybench.interfaces.stored.plan import PLAN, Plan, read_plan
from whybench.scale.shard import WITHHELD, hidden_row, noted, shown_row, why_missing
from whybench.scale.task_runner import carried_out


@dataclass(frozen=True, slots=True)
class Checked:
    """The result of checking a shard."""

    number: int
    rows: int
    flaws: tuple[tuple[str, str], ...]
    """Pairs of a row or file and its flaw."""


def recheck(
    place: Place, *, workers: int | None = 0, address: str | None = None
) -> Iterator[Checked]:
    """Check every shard of a finished set. The first result is for the manifest."""
    manifest = read_manifest(place)
    yield Checked(-1, 0, tuple(_whole(manifest, place)))
    yield from carried_out(
        checked, (manifest.plan, place, manifest.shards), range(len(manifest.shards)),
        workers=workers, address=address,
    )  # fmt: skip


def _whole(manifest: Manifest, place: Place) -> Iterator[tuple[str, str]]:
    """Check that the manifest agrees with itself, with the plan and with the index."""
    numbers = [shard.number for shard in manifest.shards]
    if numbers != list(range(manifest.plan.shards)):
        yield MANIFEST, f"the plan has {manifest.plan.shards} shards, but {len(numbers)} are listed"
    written, meant = json.loads(place.read(MANIFEST)), manifest.to_json()
    for name in meant:
        if written.get(name) != meant[name]:
            yield MANIFEST, f"{name} does not match the shards"
    if read_plan(place) != manifest.plan:
        yield PLAN, "the plan differs from the plan in the manifest"
    for name in (MANIFEST, PLAN):
        if json.loads(place.read(name)).get("canary") != CANARY:
            yield name, "the file has no canary"
    yield from ((INDEX, flaw) for flaw in index_flaws(place, manifest))


def checked(plan: Plan, place: Place, shards: tuple[Shard, ...], number: int) -> Checked:
    """Check one shard: its bytes, its rows, and the certificate of every row."""
    shard, names = shards[number], plan.names(number)
    flaws: list[tuple[str, str]] = []
    rows: dict[str, list[dict[str, Any]]] = {}
    for part, name in names.items():
        try:
            data = place.read(name)
            rows[part] = parquet.read_table(pa.BufferReader(data)).to_pylist()
            _, note = noted(data)
        except (OSError, pa.ArrowException, LookupError, ValueError) as error:
            flaws.append((name, f"the file cannot be read: {error}"))
            continue
        if sha256(data).hexdigest() != shard.hashes.get(part):
            flaws.append((name, "the hash differs from the manifest"))
        promised = {"plan": plan.lasting(), "key": plan.key, "shard": number}
        counted = {"refused": thaw(shard.refused), "discarded": thaw(shard.discarded)}
        if not (promised | counted).items() <= note.items():
            flaws.append((name, "the note in the file differs from the manifest"))
    if len(rows) == len(names):
        flaws += _rows(plan, shard, rows)
    return Checked(number, len(rows.get("instances", ())), tuple(flaws))


def _rows(
    plan: Plan, shard: Shard, rows: Mapping[str, list[dict[str, Any]]]
) -> Iterator[tuple[str, str]]:
    """Check the rows that a shard holds and the rows that it omits."""
    names, wanted = plan.names(shard.number), plan.numbers(shard.number)
    shown = rows["instances"]
    numbers = [row["row"] for row in shown]
    if len(shown) != shard.rows:
        yield names["instances"], f"{len(shown)} rows, but the manifest states {shard.rows}"
    if sorted(set(numbers)) != numbers or not set(numbers) <= set(wanted):
        yield names["instances"], "rows are duplicated, unsorted or from another shard"
        return
    hidden = rows.get("truth", [None] * len(shown))
    if len(hidden) != len(shown):
        yield names["truth"], f"{len(hidden)} truths for {len(shown)} instances"
        return
    suite = plan.opened()
    family = suite.family
    for row, truth in zip(shown, hidden, strict=True):
        instance = suite.row(row["row"])
        yield from ((row["id"], flaw) for flaw in _row(family, instance, row, truth, plan))
    missing = [suite.row(number) for number in wanted if number not in set(numbers)]
    why = [why_missing(instance, family.certify(instance), plan) for instance in missing]
    reasons = Counter(reason or "no defect" for reason in why)
    if dict(reasons) != shard.refused.asdict():
        yield (
            names["instances"],
            f"rows are missing for {dict(reasons)}, but the manifest states {thaw(shard.refused)}",
        )
    discarded: Counter[str] = Counter()
    for number in wanted:
        discarded.update(family.discarded(suite.row(number)).asdict())
    if discarded != shard.discarded.asdict():
        yield names["instances"], "the counts of discarded systems differ from the manifest"


def _row(
    family: Family[Any],
    instance: Instance,
    row: Mapping[str, Any],
    truth: Mapping[str, Any] | None,
    plan: Plan,
) -> Iterator[str]:
    """Yield the fields of a row that differ from the rebuilt instance, and wrong claims."""
    certificate = Certificate.from_json(json.loads(row["certificate"]))
    pairs = [(shown_row(family, instance, certificate, row["row"], plan), row)]
    if truth is not None:
        pairs.append((hidden_row(family, instance, row["row"]), truth))
    for rebuilt, kept in pairs:
        for name in rebuilt:
            if rebuilt[name] != kept[name]:
                yield f"{name} differs from the rebuilt instance"
    if not plan.truth:
        whole = family.certify(instance)
        if canonical_json(whole.to_json() | WITHHELD) != row["certificate"]:
            yield "the certificate differs from the one that is made now"
        certificate = whole
    yield from certificate.defects()  # generation should have rejected such a row
    yield from family.check(instance, certificate)
