"""Write problems in the compact form of the released files, which `-T data=FOLDER` plays."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from whybench.causal.boolean import OPERATORS
from whybench.causal.canonical import Json
from whybench.causal.graph import members
from whybench.families.replayscm.world.released import FILE
from whybench.families.replayscm.world.world import Disclosure, Table, World, names

DISCLOSURES: Mapping[Disclosure, str] = {
    "ordered": "ordered", "block": "blocks", "hidden": "hidden", "roots": "hidden",
}  # fmt: skip


def record(
    world: World,
    order: Sequence[int],
    train: Sequence[Table],
    alt: Mapping[str, Json] | None = None,
) -> dict[str, Json]:
    """Return a problem; with `alt` (reference and support) it asks for an alternative."""
    view = world.view
    known = names(view.n)
    roots = [known[v] for v in order if not world.formulas[v]]
    return {
        "id": world.cluster,
        "task": "alt" if alt is not None else "induce",
        "disclosure": DISCLOSURES[view.disclosure],
        "roots_hidden": view.disclosure == "roots",
        "blocks": [[known[v] for v in block] for block in view.blocks] or None,
        "variables": list(known),
        "roots": roots,
        "order": [known[v] for v in order],
        "prompt_order": [known[v] for v in view.display],
        "ops": list(OPERATORS),
        "allow_constants": False,
        "train": [_table(known, f"train_{k:02}", one) for k, one in enumerate(train)],
        "heldout": [_table(known, f"heldout_{k:02}", one) for k, one in enumerate(world.heldout)],
        "gold": mechanisms(world.formulas),
        "alt": alt,
    }


def mechanisms(formulas: Sequence[str]) -> dict[str, Json]:
    """Return formulas by the names of their variables, without roots."""
    known = names(len(formulas))
    return {name: text for name, text in zip(known, formulas, strict=True) if text}


def write(folder: Path, suite: str, records: Iterable[Mapping[str, Json]]) -> Path:
    """Write the problems of a suite; the same problems always give the same bytes."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{suite}.{FILE}"
    lines = "".join(json.dumps(one) + "\n" for one in records)
    path.write_bytes(gzip.compress(lines.encode(), mtime=0))
    return path


def supports(folder: Path, suite: str) -> list[tuple[str, ...]]:
    """Return, for each problem of a suite in a folder, the models whose answer it rests on."""
    (path,) = sorted(folder.glob(f"{suite}.*{FILE}"))
    lines = gzip.decompress(path.read_bytes()).decode().splitlines()
    listed = [json.loads(line)["alt"] or {} for line in lines]
    return [tuple(alt.get("support", ())) for alt in listed]


def _table(known: Sequence[str], name: str, table: Table) -> dict[str, Json]:
    rows = ["".join(str(row >> v & 1) for v in range(len(known))) for row in table.rows()]
    targets = [known[v] for v in members(table.targets)]
    constant = {
        known[v]: table.columns[v] & 1
        for v in members(table.targets)
        if table.mode == "hard_constant"
    }
    return {"id": name, "mode": table.mode, "targets": targets, "const": constant, "rows": rows}
