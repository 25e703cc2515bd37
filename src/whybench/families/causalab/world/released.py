"""The released suites, read from a folder of JSON lines (CausaLab, Apache-2.0; not shipped here).

The release draws the manipulator's and the reactor's crystals from a salted hash, so they differ
between processes. Ours depend on the graph's id. Everything else is as released.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from whybench.causal.seeds import Stream
from whybench.families.causalab.parameters import (
    NAME,
    PLANS,
    RECORDS,
    TOLERANCE,
    Parameters,
    Plan,
    regime,
)
from whybench.families.causalab.world.world import (
    FREQUENCY,
    Disturbance,
    Law,
    Reading,
    Readings,
    Term,
    View,
    World,
)

RESONANCE = "resonanceFreq"
RECORD_SEED = 42
"""The seed of the release's records; all graphs of one size have the same bases."""

RELEASED = json.loads((files(__package__ or "") / "released.json").read_text("utf-8"))
"""Where the files come from, and the SHA-256 of each."""

_TERM = re.compile(r"(coeff\w*) \* \(?(\w+)( \^ 2\))?")


@lru_cache(maxsize=64)
def worlds(folder: Path, suite: str, parameters: Parameters) -> tuple[World, ...]:
    """Return the released systems of a suite, once for each of its regimes."""
    plan = PLANS[suite]
    if plan.file is None:
        raise ValueError(f"The release has no file for {NAME}/{suite}.")
    if plan.golden and parameters.semantics == "shift":
        raise ValueError("The released chains use `set`. Remove the parameter `semantics`.")
    path = folder / f"{plan.file}.jsonl"
    if not path.is_file():
        raise ValueError(f"No file {path.name} in {folder}, the folder of released files.")
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]
    said = (parameters.regime,) if parameters.regime else plan.regimes or (None,)
    return tuple(_world(row, plan, each, parameters) for each in said for row in rows)


def law(row: Mapping[str, Any]) -> tuple[tuple[str, ...], Law]:
    """Return the names of a record's nodes, frequency first, and its law."""
    nodes, params = row["nodes"], row["params"]
    names = (RESONANCE, *(name for name in nodes if name != RESONANCE))
    terms = []
    for name in names:
        found: dict[int, list[float]] = {}
        for param, cause, squared in _TERM.findall(nodes[name].get("computation", "")):
            weights = found.setdefault(names.index(cause), [0.0, 0.0])
            weights[bool(squared)] = float(params[param])
        terms.append(tuple(Term(cause, *weights) for cause, weights in sorted(found.items())))
    return names, Law(tuple(terms), float(params["base_freq"]))


def _world(row: Mapping[str, Any], plan: Plan, said: str | None, parameters: Parameters) -> World:
    names, own = law(row)
    count, budget = (RECORDS["published"], int(row["budget"])) if said is None else regime(said)
    presets = row.get("quadratic_metadata", {})
    records = [
        Reading(i, own.readings(bases)) for i, bases in enumerate(_records(names, count, presets))
    ]
    records += _bootstrap(row.get("bootstrap_past_data", ()), names, len(records))
    crystals = {
        kind: _crystal(row, names, kind, presets) for kind in ("property_manipulator", "reactor")
    }
    hidden = row.get("hidden_variable")
    disturbance = None
    if hidden is not None:
        affected = sum(1 << names.index(name) for name in hidden["affected_nodes"])
        values = tuple(hidden["edge_weight"] * value for value in hidden["value_space"])
        path = (NAME, "released", plan.file or "", row["graph_id"], "disturbance")
        disturbance = Disturbance(affected, values, path)
    view = View(
        names=names,
        display=tuple(v for v in own.order() if v != FREQUENCY),
        controllable=sum(
            1 << v for v, name in enumerate(names) if row["nodes"][name]["is_controllable"]
        ),
        semantics=parameters.semantics or "set",
        quadratic=plan.quadratic,
        sink=not row.get("frequency_can_be_parent", False),
        disturbance=max(disturbance.values) if disturbance else 0.0,
        frequency_disturbed=bool(disturbance and disturbance.affected >> FREQUENCY & 1),
        limit=None,
        budget=0 if plan.golden and said is None else budget,
        tolerance=TOLERANCE["published"] if parameters.tolerance is None else parameters.tolerance,
        records=tuple(records),
        baseline=Reading(len(records), own.readings(crystals["property_manipulator"])),
        released=True,
    )
    bases, reactor = crystals["property_manipulator"], crystals["reactor"]
    return World(view, own, bases, reactor, disturbance, said or "")


def _records(names: Sequence[str], count: int, presets: Mapping[str, Any]) -> list[Readings]:
    """Return the bases of the records, by the release's own generator and seed."""
    drawn = random.Random(RECORD_SEED)  # noqa: S311 - the release's own draws
    stored = presets.get("observation_presets", ())
    found = []
    for i in range(count):
        bases = {name: float(drawn.randint(0, 100)) for name in names[1:]}
        if i < len(stored):
            bases = stored[i]
        found.append((0.0, *(bases[name] for name in names[1:])))
    return found


def _crystal(
    row: Mapping[str, Any], names: Sequence[str], kind: str, presets: Mapping[str, Any]
) -> Readings:
    stream = Stream(NAME, "released", row["graph_id"], kind)
    bases = {name: float(stream.below(101)) for name in names[1:]} | presets.get(kind, {})
    return (0.0, *(bases[name] for name in names[1:]))


def _bootstrap(
    rows: Sequence[Mapping[str, Any]], names: Sequence[str], first: int
) -> list[Reading]:
    """Return the golden records: separate crystals, and a chain on the first of them."""
    found: list[Reading] = []
    for i, row in enumerate(rows):
        values = (float(row["freq"]), *(float(row["props"][name]) for name in names[1:]))
        done = row.get("intervention")
        if done is None:
            found.append(Reading(first + i, values))
        else:
            target = names.index(done["target_prop"])
            found.append(Reading(first, values, target, float(done["target_value"])))
    return found
