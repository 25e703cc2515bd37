"""What a family declares in `family.toml`, read without importing the family."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import Any


@cache
def declared(package: str) -> Mapping[str, Any]:
    """Return what `family.toml` in a family's package declares; nothing if it has none.

    >>> declared("whybench.families.causallink")["recommended"]
    ('core', 'advanced')
    """
    import tomllib

    try:
        spec = find_spec(package) if package else None
    except (ImportError, ValueError):
        spec = None
    file = Path(spec.origin).parent / "family.toml" if spec and spec.origin else None
    if file is None or not file.is_file():
        return {}
    found = tomllib.loads(file.read_text("utf-8"))
    return MappingProxyType({k: tuple(v) if isinstance(v, list) else v for k, v in found.items()})
