"""Which instance an episode plays: by seed, or by its place in a finite list."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from threading import Lock

from whybench.core.canonical import canonical_json, thaw
from whybench.core.seeds import Stream
from whybench.episode.family import Suite
from whybench.episode.instance import Instance
from whybench.episode.split import PATIENCE, Part, drawn, listed, part_of
from whybench_openenv.options import Options

LISTS = 8
"""So many finite lists are kept, as far as they were made."""


def seeded(options: Options, seed: int) -> Instance:
    """Return the instance that a seed stands for: the same in every session and server."""
    suite, part = options.found, options.split
    how = canonical_json([suite.profile, suite.salt, thaw(suite.knobs), part, options.endless])
    stream = Stream("openenv", suite.path, how, seed)
    if options.endless:
        return drawn(suite, stream, part)
    for _ in range(PATIENCE):
        instance = suite.row(stream.below(options.length))
        if part is None or part_of(suite, instance) == part:
            return instance
    raise ValueError(
        f"no instance for {part} in {options.length} rows of {suite.path}: give more `rows`"
    )


def placed(options: Options, index: int) -> Instance | None:
    """Return the instance at a place of the finite list of a part; None after its end."""
    if options.split is None:
        return options.found.row(index) if index < options.length else None
    return _rows(options.found, options.split, options.length).at(index)


class _Rows:
    """The instances of one part, made as far as they are asked for, by any session."""

    def __init__(self, rows: Iterator[Instance]) -> None:
        self._rows = rows
        self._made: list[Instance] = []
        self._lock = Lock()

    def at(self, index: int) -> Instance | None:
        with self._lock:
            while len(self._made) <= index:
                found = next(self._rows, None)
                if found is None:
                    return None
                self._made.append(found)
            return self._made[index]


@lru_cache(maxsize=LISTS)
def _rows(suite: Suite, part: Part, length: int) -> _Rows:
    return _Rows(listed(suite, part, length))
