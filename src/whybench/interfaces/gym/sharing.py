"""Texts in shared memory, for gymnasium's `AsyncVectorEnv`.

Each text is stored as its length followed by its code points, so that only the text itself is read
and written. Importing this module registers it with gymnasium.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numpy as np
from gymnasium.vector.utils import (
    create_shared_memory,
    read_from_shared_memory,
    write_to_shared_memory,
)
from numpy.typing import NDArray

from whybench.interfaces.gym.spaces import Prose, codes_of, text_of


@create_shared_memory.register(Prose)
def _memory(space: Prose, n: int = 1, ctx: ModuleType | None = None) -> Any:
    """Return shared memory for n texts, each preceded by its length."""
    ctx = ctx or multiprocessing
    return ctx.Array("i", n * (space.max_length + 1))


@write_to_shared_memory.register(Prose)
def _write(space: Prose, index: int, value: str, shared_memory: Any) -> None:
    row = _rows(space, shared_memory)[index]
    row[0] = len(value)
    row[1 : len(value) + 1] = codes_of(value)


@read_from_shared_memory.register(Prose)
def _read(space: Prose, shared_memory: Any, n: int = 1) -> LiveTexts:
    return LiveTexts(_rows(space, shared_memory)[:n])


class LiveTexts(Sequence[str]):
    """The texts that are in shared memory now. A deep copy is a tuple of strings.

    `AsyncVectorEnv` requests its observations only once, because it expects arrays that change
    with the memory, and it returns deep copies. So this object must follow the memory too;
    gymnasium's own `Text` stays empty.
    """

    def __init__(self, rows: NDArray[np.int32]) -> None:
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return tuple(self)[index]
        row = self._rows[index]
        return text_of(row[1 : row[0] + 1])

    def __deepcopy__(self, memo: dict[int, Any]) -> tuple[str, ...]:
        return tuple(self)


def _rows(space: Prose, shared_memory: Any) -> NDArray[np.int32]:
    everything = np.frombuffer(shared_memory.get_obj(), dtype=np.int32)
    return everything.reshape(-1, space.max_length + 1)
