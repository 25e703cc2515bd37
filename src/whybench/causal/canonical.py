"""One canonical text for a value, so that equal values hash equally on every machine."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from hashlib import sha256
from typing import Any, TypeAlias

Json: TypeAlias = (
    Any  # None, bool, int, float, str, a list or tuple of those, or a mapping from str
)
"""What JSON can say. Spelled `Any` because a recursive union buys no safety at our edges."""

DEEPEST = 32
"""Deeper nesting is rejected: no value of ours needs it, and a hostile one overflows the stack."""


_PLAIN = frozenset({int, str, float, bool, type(None)})
"""What stays as it is: most of a value, so nothing is called for it."""


class Record(tuple[tuple[str, Any], ...]):
    """A small immutable mapping from names to frozen values, in the order given.

    A record is hashable and can be compared. `freeze` makes records from JSON data.

    Examples:
        >>> record = Record.of(moving=("circle",), left=3)
        >>> record["left"], "moving" in record, record.get("missing", 0)
        (3, True, 0)

    """

    __slots__ = ()

    @classmethod
    def of(cls, **items: Json) -> Record:
        """Build a record from keyword arguments.

        Args:
            **items: Names and values. The values must be hashable; use `freeze` for JSON data.

        Returns:
            The record, in the order of the arguments.

        """
        return cls(items.items())

    def __getitem__(self, key: Any) -> Any:
        for name, value in self:
            if name == key:
                return value
        raise KeyError(key)

    def __contains__(self, key: object) -> bool:
        return any(name == key for name, _ in self)

    def get(self, key: str, default: Any = None) -> Any:
        """Return the value of a name, or a default.

        Args:
            key: The name.
            default: The value to return if the record has no such name.

        Returns:
            The value or the default.

        """
        for name, value in self:
            if name == key:
                return value
        return default

    def asdict(self) -> dict[str, Any]:
        """Return the record as an ordinary dictionary.

        Returns:
            The dictionary. Its values stay frozen; `thaw` converts them too.

        """
        return dict(iter(self))


EMPTY = Record()


def freeze(value: Json, depth: int = 0) -> Any:
    """Convert JSON data to hashable values: lists to tuples, mappings to records.

    NaN and the infinities, which JSON cannot express, become the strings `nan`, `inf` and `-inf`.

    Examples:
        >>> freeze({"a": [1, {"b": None}]})
        (('a', (1, (('b', None),))),)

    Args:
        value: JSON data.
        depth: The nesting level of `value`. Callers leave it at 0.

    Returns:
        The frozen value.

    Raises:
        ValueError: The value is not JSON data, or is nested more than 32 levels deep.

    """
    if depth > DEEPEST:
        raise ValueError(f"value is nested deeper than {DEEPEST} levels: flatten it")
    if isinstance(value, Record):
        return Record((name, freeze(item, depth + 1)) for name, item in value)
    if isinstance(value, Mapping):
        return Record((str(name), freeze(item, depth + 1)) for name, item in value.items())
    if isinstance(value, list | tuple):
        return tuple(freeze(item, depth + 1) for item in value)
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise ValueError(f"{type(value).__name__} is not a JSON value")


def thaw(value: Any) -> Json:
    """Convert frozen values back to JSON data: records to dictionaries, tuples to lists.

    Examples:
        >>> thaw(freeze({"a": [1, {"b": None}]}))
        {'a': [1, {'b': None}]}

    Args:
        value: A value from `freeze`.

    Returns:
        JSON data.

    """
    if isinstance(value, Record):
        return {name: item if type(item) in _PLAIN else thaw(item) for name, item in value}
    if isinstance(value, tuple | list):
        return [item if type(item) in _PLAIN else thaw(item) for item in value]
    return value


def canonical_json(value: Json) -> str:
    r"""Return the one JSON text of a value: sorted keys, no spaces, ASCII only.

    Examples:
        >>> canonical_json({"b": (1, 2), "a": "é"})
        '{"a":"\\u00e9","b":[1,2]}'

    Args:
        value: JSON data, or a frozen value.

    Returns:
        The text. Equal values have equal texts on every machine.

    """
    return json.dumps(thaw(value), sort_keys=True, separators=(",", ":"), allow_nan=False)


def digest(value: Json) -> bytes:
    """Return the SHA-256 digest of the canonical JSON of a value.

    Examples:
        >>> digest({"a": 1}).hex()[:8]
        '015abd7f'

    Args:
        value: JSON data, or a frozen value.

    Returns:
        The 32 bytes of the digest.

    """
    return sha256(canonical_json(value).encode("ascii")).digest()
