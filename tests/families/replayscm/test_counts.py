"""Counts up to n = 10 that an independent program made, too large to enumerate here."""

import json
from pathlib import Path
from typing import Any

from tests.tables import together

from whybench.families.replayscm.proof.evidence import Evidence
from whybench.families.replayscm.world.world import Rows, Table, Told

INSTANCES = json.loads(
    (Path(__file__).parents[2] / "data" / "replayscm_counts.json").read_text("utf-8")
)["instances"]


def mask(variables: Any) -> int:
    return sum(1 << v for v in variables)


def counted(instance: dict[str, Any], *, ordered: bool) -> int:
    """Count what fits; listed order is the true order."""
    n, roots = instance["n"], instance["roots"]
    tables = [
        Table.of(
            n,
            mask(world["targets"]),
            "hard_assigned",
            [mask(v for v in range(n) if row[v] == "1") for row in world["rows"]],
        )
        for world in instance["worlds"]
    ]
    admissible = tuple(
        0 if v in roots else mask(range(v)) if ordered else mask(range(n)) & ~(1 << v)
        for v in range(n)
    )
    told = Told(n, instance["k"], len(roots), mask(roots), admissible, ordered)
    return Evidence(told, Rows.of(n, tables)).count


def test_there_are_counts_of_all_sizes() -> None:
    assert len(INSTANCES) == 48
    assert {instance["n"] for instance in INSTANCES} == {5, 6, 7, 8, 9, 10}


@together("at", range(len(INSTANCES)))
def test_counts_are_those_of_the_independent_program(at: int) -> None:
    instance = INSTANCES[at]
    assert counted(instance, ordered=True) == int(instance["ordered"])
    assert counted(instance, ordered=False) == int(instance["hidden_order"])
