"""What a file of ours takes from others: a checker must not borrow from the prover it checks."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from pathlib import Path


def imported(path: Path) -> set[str]:
    """Return the modules of ours that a file imports, wherever in it."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        if isinstance(node, ast.ImportFrom):
            found.add("." * node.level + (node.module or ""))
    return {name for name in found if name.startswith((".", "whybench"))}


def followed(modules: Sequence[Path], package: str, folder: Path) -> set[str]:
    """Return the modules of a package that files import, however far one follows."""
    known: set[str] = set()
    waiting = list(modules)
    while waiting:
        names = (name for name in imported(waiting.pop()) if name.startswith(f"{package}."))
        new = {name.removeprefix(f"{package}.") for name in names} - known
        waiting += [folder / f"{name.replace('.', '/')}.py" for name in new]
        known |= new
    return known
