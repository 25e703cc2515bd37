"""Small stored sets for tests."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from whybench.episode.registry import load_suite
from whybench.interfaces.stored.manifest import Manifest
from whybench.interfaces.stored.place import Place
from whybench.interfaces.stored.plan import Plan
from whybench.scale.generate import generate


def planned(path: str = "causallink/core", n: int = 90, rows: int = 25, **more: Any) -> Plan:
    """Plan a set; by default one that ends in a second block and in a short shard."""
    truth = more.pop("truth", True)
    return Plan.of(load_suite(path, **more), n, rows=rows, truth=truth)


def stored(folder: Path, plan: Plan, **how: Any) -> Manifest:
    """Make a set."""
    return generate(plan, Place(str(folder)), **how)


def contents(folder: Path) -> Mapping[str, bytes]:
    """Return every file of a set."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
