"""Datasets for Inspect that build a sample only when it is played."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from itertools import repeat
from typing import Any, cast, overload

from inspect_ai.dataset import Dataset, Sample

from whybench.episode.family import Suite
from whybench.episode.instance import Instance
from whybench.interfaces.inspectai.lazy_samples import LazySample, LazyTextSample, SampleSource


class Listed:
    """The instances of suites, built once. Instances with the same index are neighbours."""

    def __init__(self, suites: Sequence[Suite]) -> None:
        if len({len(suite) for suite in suites}) != 1:
            raise ValueError("Suites that are compared by index must have the same length.")
        self._suites = suites
        self._made: dict[int, Instance] = {}

    def __len__(self) -> int:
        return sum(len(suite) for suite in self._suites)

    def instance(self, position: int) -> Instance:
        """Return the instance at a position. Its id is known only after its system is built."""
        if position not in self._made:
            index, arm = divmod(position, len(self._suites))
            self._made[position] = self._suites[arm][index]
        return self._made[position]

    def names(self, positions: Sequence[int]) -> Iterator[str]:
        """Yield the ids at some positions."""
        return (self.instance(position).id for position in positions)


class Frozen:
    """The rows of a release: each is a row of a suite, told in one template."""

    def __init__(self, rows: Sequence[tuple[Suite, int, str]]) -> None:
        self._rows = rows
        self._several = len({template for _, _, template in rows}) > 1
        self._made: dict[tuple[str, int], Instance] = {}

    def __len__(self) -> int:
        return len(self._rows)

    def instance(self, position: int) -> Instance:
        """Return the instance at a position."""
        suite, row, _ = self._rows[position]
        if (suite.path, row) not in self._made:
            self._made[suite.path, row] = suite.row(row)
        return self._made[suite.path, row]

    def template(self, position: int) -> str:
        """Return the template at a position."""
        return self._rows[position][2]

    def names(self, positions: Sequence[int]) -> Iterator[str]:
        """Yield the ids at some positions. With several templates, they end in the template."""
        for position in positions:
            tail = f".{self.template(position)}" if self._several else ""
            yield self.instance(position).id + tail


class EpisodeDataset(Dataset):
    """Samples at given positions of a list of instances, in any order."""

    def __init__(
        self,
        source: SampleSource,
        positions: Sequence[int] | None = None,
        *,
        name: str | None = None,
        location: str | None = None,
        shuffled: bool = False,
    ) -> None:
        self._source = source
        self._positions = range(len(source.rows)) if positions is None else positions
        self._name = name
        self._location = location
        self._shuffled = shuffled

    @property
    def name(self) -> str | None:
        """The suite."""
        return self._name

    @property
    def location(self) -> str | None:
        """The address of a stored set."""
        return self._location

    @property
    def shuffled(self) -> bool:
        """Whether the order differs from the order of the suite."""
        return self._shuffled

    def __len__(self) -> int:
        return len(self._positions)

    @overload
    def __getitem__(self, index: int) -> Sample: ...

    @overload
    def __getitem__(self, index: slice) -> Dataset: ...

    def __getitem__(self, index: int | slice) -> Sample | Dataset:
        if isinstance(index, slice):
            return self._part(self._positions[index])
        position = self._positions[index]
        return cast("Sample", LazySample(self._source.name(position), self._source, position))

    def __iter__(self) -> Iterator[Sample]:
        """Yield samples. Their input is built when it is read: `str(sample.input)`."""
        return self._seen(LazyTextSample)

    def sort(self, reverse: bool = False, key: Callable[[Sample], Any] | None = None) -> None:
        """Sort in place, by default by the length of the input."""
        measure = key or (lambda sample: len(sample.input))
        measured = zip(map(measure, self._seen(LazySample)), self._positions, strict=True)
        ordered = sorted(measured, key=lambda pair: pair[0], reverse=reverse)
        self._positions = [position for _, position in ordered]

    def filter(
        self, predicate: Callable[[Sample], bool], name: str | None = None
    ) -> EpisodeDataset:
        """Return the samples that pass. Only the fields that the predicate reads are built."""
        seen = zip(self._positions, self._seen(LazySample), strict=True)
        return self._part([position for position, sample in seen if predicate(sample)], name)

    def shuffle(self, seed: int | None = None) -> None:
        """Shuffle in place, in the same order as Inspect's own datasets with this seed."""
        order = list(self._positions)
        random.Random(seed).shuffle(order)  # noqa: S311 - Inspect's seed, Inspect's order
        self._positions = order
        self._shuffled = True

    def shuffle_choices(self, seed: int | None = None) -> None:
        """Do nothing, because episodes have no choices."""

    def _seen(self, kind: type[LazySample]) -> Iterator[Sample]:
        names = self._source.names(self._positions)
        return cast("Iterator[Sample]", map(kind, names, repeat(self._source), self._positions))

    def _part(self, positions: Sequence[int], name: str | None = None) -> EpisodeDataset:
        return EpisodeDataset(
            self._source, positions,
            name=name or self._name, location=self._location, shuffled=self._shuffled,
        )  # fmt: skip
