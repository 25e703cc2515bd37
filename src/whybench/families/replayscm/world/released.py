"""Read the released problems from their compact files, as worlds under the released rules."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from whybench.causal.boolean import OPERATORS
from whybench.causal.canonical import Json, digest
from whybench.families.replayscm.world.world import (
    Disclosure,
    Table,
    Told,
    View,
    World,
    names,
    numbers,
)

FILE = "problems.jsonl.gz"

DISCLOSURES: Mapping[str, Disclosure] = {
    "ordered": "ordered",
    "blocks": "block",
    "hidden": "hidden",
}


def problems(folder: Path, suite: str) -> tuple[World, ...]:
    """Read the problems of a suite, such as `alt_ord`, from its one file in a folder."""
    if not folder.is_dir():
        raise ValueError(
            f"There is no folder {str(folder)!r}. Give the folder that holds the released files, "
            f"such as {suite}.{FILE}."
        )
    found = sorted(folder.glob(f"{suite}.*{FILE}"))
    if len(found) != 1:
        named = ", ".join(path.name for path in found) or "none"
        raise ValueError(
            f"{str(folder)!r} must hold one file {suite}.*{FILE}, but has {named}. "
            f"Put the released file there, or give another folder."
        )
    return tuple(_read(found[0]))


def _read(path: Path) -> Iterator[World]:
    """Read a file; an error names the line."""
    try:
        lines = gzip.decompress(path.read_bytes()).decode().split("\n")
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise ValueError(f"{path.name} cannot be read ({error}). Fetch it again.") from error
    for number, line in enumerate(lines, 1):
        if not line:
            continue
        try:
            yield _world(json.loads(line))
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            raise ValueError(
                f"{path.name}, line {number} is not a released problem "
                f"({type(error).__name__}: {error}). Fetch the file again."
            ) from error


def _world(data: Mapping[str, Json]) -> World:
    n = len(data["variables"])
    if tuple(data["variables"]) != names(n):
        raise ValueError(f"variables should be X1 … X{n}, in this order")
    if data["allow_constants"] or set(data["ops"]) != set(OPERATORS):
        raise ValueError(f"only {', '.join(OPERATORS)} are known, and no constants")
    known = numbers(n)
    disclosure: Disclosure = "roots" if data["roots_hidden"] else DISCLOSURES[data["disclosure"]]
    order = tuple(known[name] for name in data["order"])
    blocks = tuple(tuple(known[name] for name in block) for block in data["blocks"] or ())
    view = View(
        task="alternative" if data["task"] == "alt" else "induce",
        disclosure=disclosure,
        told=_told(n, disclosure, order, blocks, sum(1 << known[name] for name in data["roots"])),
        display=tuple(known[name] for name in data["prompt_order"]),
        order=order if disclosure == "ordered" else (),
        blocks=blocks if disclosure == "block" else (),
        train=tuple(_table(n, table) for table in data["train"]),
        heldout=len(data["heldout"]),
        reference=_formulas(n, data["alt"]["reference"]) if data["task"] == "alt" else (),
        released=True,
    )
    gold = _formulas(n, data["gold"])
    held = tuple(_table(n, table) for table in data["heldout"])
    return World(view, gold, held, digest([order, gold]).hex()[:12])


def _told(
    n: int,
    disclosure: Disclosure,
    order: Sequence[int],
    blocks: Sequence[Sequence[int]],
    roots: int,
) -> Told:
    """Return the class of SCMs: the released rules bound no mechanism's parents."""
    layers: Sequence[Sequence[int]] = [range(n)]
    if disclosure == "ordered":
        layers = [[v] for v in order]
    if disclosure == "block":
        layers = blocks
    if sorted(v for layer in layers for v in layer) != list(range(n)):
        raise ValueError("order or blocks must hold every variable once")
    admissible, before = [0] * n, 0
    for layer in layers:
        before |= sum(1 << v for v in layer)
        for v in layer:
            if disclosure == "roots" or not roots >> v & 1:
                admissible[v] = before & ~(1 << v)
    known = None if disclosure == "roots" else roots
    return Told(n, n - 1, roots.bit_count(), known, tuple(admissible), disclosure == "ordered")


def _table(n: int, data: Mapping[str, Json]) -> Table:
    targets = sum(1 << numbers(n)[name] for name in data["targets"])
    if any(len(row) != n for row in data["rows"]):
        raise ValueError(f"every row should have {n} digits")
    rows = [int(row[::-1], 2) for row in data["rows"]]
    return Table.of(n, targets, data["mode"], rows)


def _formulas(n: int, mechanisms: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(mechanisms.get(name, "") for name in names(n))
