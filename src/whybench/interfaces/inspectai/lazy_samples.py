"""Lazy samples: only the id exists at first.

Inspect reads the ids of a whole dataset several times before it selects a part. It also looks at
every sample of that part before it plays the first. So it gets lazy samples: the id exists, and
everything else is built when it is read. A copy or a stored sample is an ordinary sample, and only
copies can be changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from functools import lru_cache, total_ordering
from typing import Any, NoReturn, Protocol, cast

from inspect_ai.dataset import Sample

from whybench.episode.instance import Instance

KEPT = 128
"""Number of samples that are cached for further epochs."""

FIXED = (
    "Samples of this dataset are read-only, because they are built when they are played. "
    "Change copies from copy.deepcopy, and play a MemoryDataset of them."
)


class Rows(Protocol):
    """Instances by position, such as a stored set."""

    def __len__(self) -> int: ...

    def instance(self, position: int) -> Instance:
        """Return the instance at a position."""
        ...

    def names(self, positions: Sequence[int]) -> Iterator[str]:
        """Yield the ids of the samples at some positions."""
        ...


class SampleSource:
    """The source of samples: instances, their metadata, and the input of the model."""

    def __init__(
        self,
        rows: Rows,
        noted: Callable[[int, Instance], dict[str, Any]],
        told: Callable[[int, Instance], str],
    ) -> None:
        self.rows = rows
        self._noted = noted
        self._told = told
        self._all: list[str] = []
        self.sample = lru_cache(KEPT)(self._sample)

    def names(self, positions: Sequence[int]) -> Iterator[str]:
        """Yield ids. The ids of all rows are cached, because Inspect reads and keeps them too."""
        if positions != range(len(self.rows)):
            return self.rows.names(positions)
        self._all = self._all or list(self.rows.names(positions))
        return iter(self._all)

    def metadata(self, position: int) -> dict[str, Any]:
        """Return the metadata of an instance without building its hidden system."""
        return self._noted(position, self.rows.instance(position))

    def name(self, position: int) -> str:
        """Return the id of a sample."""
        return next(self.rows.names([position]))

    def _sample(self, position: int) -> Sample:
        instance = self.rows.instance(position)
        told = self._told(position, instance)
        name, noted = self.name(position), self._noted(position, instance)
        return Sample(id=name, input=told, metadata=noted)


class Noted(dict[str, Any]):
    """Read-only metadata. It is built at each access, so a change would be lost; it raises."""

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise TypeError(FIXED)

    __setitem__ = __delitem__ = __ior__ = _refuse
    update = setdefault = pop = popitem = clear = _refuse

    def __reduce_ex__(self, protocol: Any) -> Any:
        return dict, (dict(self),)


class LazySample:
    """A sample of which only the id exists."""

    __slots__ = ("_position", "_source", "id")

    id: str
    _source: SampleSource
    _position: int
    sandbox = None
    """Sandboxes belong to the task, never to a sample."""

    def __init__(self, id: str, source: SampleSource, position: int) -> None:  # noqa: A002
        fill = object.__setattr__
        fill(self, "id", id)
        fill(self, "_source", source)
        fill(self, "_position", position)

    __class__ = property(lambda _: Sample)  # so that it passes for one

    @property
    def metadata(self) -> dict[str, Any]:
        """The metadata of the instance."""
        return Noted(self._source.metadata(self._position))

    def model_copy(self, **how: Any) -> Sample:
        """Return a sample that shares no data with the cached one."""
        return deepcopy(self._made).model_copy(**how)

    @property
    def _made(self) -> Sample:
        return self._source.sample(self._position)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._made, name)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(FIXED)

    def __copy__(self) -> Sample:
        return deepcopy(self._made)

    def __deepcopy__(self, memo: dict[int, Any]) -> Sample:
        return deepcopy(self._made, memo)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return self._made.__reduce_ex__(protocol)

    def __repr__(self) -> str:
        return f"LazySample({self.id!r})"


class LazyTextSample(LazySample):
    """A lazy sample for passes over many samples. A type check of its input builds nothing."""

    __slots__ = ()

    @property
    def input(self) -> Text:
        """The first message to the model."""
        return Text(self._source, self._position)


@total_ordering
class Text:
    """A text that is built when it is read. It passes as `str`, as a sample's input must.

    Code that reads the memory of a string, such as `re`, `json` or `"".join`, needs `str(text)`.
    """

    __slots__ = ("_position", "_source")

    def __init__(self, source: SampleSource, position: int) -> None:
        self._source = source
        self._position = position

    __class__ = property(lambda _: str)  # so that it passes for one

    def __str__(self) -> str:
        return cast("str", self._source.sample(self._position).input)

    def __repr__(self) -> str:
        return repr(str(self))

    def __format__(self, spec: str) -> str:
        return format(str(self), spec)

    def __len__(self) -> int:
        return len(str(self))

    def __iter__(self) -> Iterator[str]:
        return iter(str(self))

    def __contains__(self, part: str) -> bool:
        return str(part) in str(self)

    def __getitem__(self, index: int | slice) -> str:
        return str(self)[index]

    def __add__(self, other: str) -> str:
        return str(self) + other

    def __radd__(self, other: str) -> str:
        return other + str(self)

    def __eq__(self, other: object) -> bool:
        return str(self) == (str(other) if isinstance(other, str) else other)

    def __lt__(self, other: str) -> bool:
        return str(self) < other

    def __hash__(self) -> int:
        return hash(str(self))

    def __reduce_ex__(self, protocol: Any) -> Any:
        return str, (str(self),)

    def __getattr__(self, name: str) -> Any:
        return getattr(str(self), name)
