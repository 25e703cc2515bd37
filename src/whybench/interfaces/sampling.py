"""Which instance comes next: a seed means the same through every interface.

A finite list is dealt like a deck, every instance once before one comes again, in an order that
depends on the seed; an interface that walks a list takes it in plain order. An endless list is
drawn from without end.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from operator import index
from threading import Lock
from typing import Any

from whybench.causal.canonical import canonical_json, thaw
from whybench.causal.seeds import Stream
from whybench.episode.family import Suite
from whybench.episode.instance import Instance
from whybench.episode.split import PARTS, Part, drawn, listed, part_of

LISTS = 8
"""So many lists of one part are kept, as far as they were made."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The instances of a suite, or of one part of it, that an interface offers.

    >>> from whybench.episode.registry import load_suite
    >>> choice = Choice(load_suite("causallink/core"), rows=4)
    >>> sorted(instance.index for instance in choice.once(seed=7))
    [0, 1, 2, 3]
    """

    suite: Suite
    split: Part | None = None
    """`train` or `eval`, which share no hidden system; None: both."""
    rows: int | None = None
    """The length of a finite list, before the split; None: the suite's own."""
    endless: bool = False
    """Draw from the list that the suite begins, not from the suite alone."""

    def __post_init__(self) -> None:
        if self.split is not None and self.split not in PARTS:
            raise ValueError(f"no split {self.split!r}: try {' or '.join(PARTS)}, or None for both")
        if self.rows is not None and (self.endless or self.rows < 1):
            raise ValueError("`rows` is the length of a finite list: 1 or more, and not `endless`")

    @property
    def length(self) -> int:
        """The rows of the finite list, before the split."""
        return len(self.suite) if self.rows is None else self.rows

    def seeded(self, seed: int) -> Seeded:
        """Return the instances that a seed stands for, without end."""
        return Seeded(self, seed)

    def once(self, seed: int | None = None) -> Iterator[Instance]:
        """Yield each instance of the finite list once: in plain order, or as a seed deals them."""
        if self.endless:
            raise ValueError("an endless list has no end: take it from `seeded`")
        if seed is None:
            return listed(self.suite, self.split, self.length)
        stream, deck = self.stream(seed), Deck(self.length)
        dealt = (self.row(deck.draw(stream)) for _ in range(self.length))
        return (instance for instance in dealt if instance is not None)

    def find(self, place: int) -> Instance | None:
        """Return the instance at a place of the finite list of the part; None after its end."""
        if self.split is None:
            return self.row(place) if place < self.length else None
        return _made(self.suite, self.split, self.length).at(place)

    def at(self, place: Any) -> Instance:
        """Return the instance at a place of the finite list, or say which places there are."""
        if self.endless:
            raise ValueError("an endless list has seeds, not places: give `seed`")
        number = whole("index", place)
        found = self.find(number)
        if found is None and not number:
            raise self.empty()
        if found is None:
            part = "" if self.split is None else f" for {self.split}"
            raise ValueError(
                f"the list of {self.suite.path}{part} ends before place {number}: "
                "begin again at index 0"
            )
        return found

    def check(self, instance: Instance) -> None:
        """Refuse an instance of the other side of the split."""
        if self.split is not None and part_of(self.suite, instance) != self.split:
            raise ValueError(
                f"{instance.family}/{instance.id} is not in {self.split}: ask for the other split"
            )

    def stream(self, seed: int) -> Stream:
        """Return what a seed chooses by."""
        suite = self.suite
        parameters = canonical_json(thaw(suite.parameters))
        return Stream(
            "choose",
            suite.path,
            suite.profile,
            suite.seed,
            parameters,
            self.split or "",
            seed,
        )

    def row(self, number: int) -> Instance | None:
        """Return a row of the finite list; None if it lies on the other side of the split."""
        instance, part = _row(self.suite, number, self.split is None)
        return instance if part == self.split else None

    def empty(self) -> ValueError:
        """Return the error that says that a finite list has nothing of its part."""
        return ValueError(
            f"{self.suite.path} has no {self.split} instance in {self.length} rows: "
            "give more `rows`, or take a larger suite"
        )


class Seeded:
    """The instances that a seed stands for, one after another; it can be copied on the way."""

    __slots__ = ("_choice", "_deck", "_stream")

    def __init__(self, choice: Choice, seed: int) -> None:
        self._choice = choice
        self._stream = choice.stream(seed)
        self._deck = Deck(choice.length)

    def __iter__(self) -> Seeded:
        return self

    def __next__(self) -> Instance:
        choice = self._choice
        if choice.endless:
            return drawn(choice.suite, self._stream, choice.split)
        for _ in range(2 * choice.length):
            instance = choice.row(self._deck.draw(self._stream))
            if instance is not None:
                return instance
        raise choice.empty()


class Deck:
    """The numbers 0 … n−1 in random order, then again in another, and so on.

    >>> deck, stream = Deck(4), Stream("example")
    >>> sorted(deck.draw(stream) for _ in range(4))
    [0, 1, 2, 3]
    """

    __slots__ = ("_left", "_moved", "_n")

    def __init__(self, n: int) -> None:
        self._n = self._left = n
        self._moved: dict[int, int] = {}
        """Which cards lie elsewhere than at first: room is taken only for what was drawn."""

    def draw(self, stream: Stream) -> int:
        """Return the next number (Fisher–Yates, from the end)."""
        if not self._left:
            self._left, self._moved = self._n, {}
        place = stream.below(self._left)
        self._left -= 1
        found = self._moved.get(place, place)
        self._moved[place] = self._moved.pop(self._left, self._left)
        return found


def whole(name: str, value: Any) -> int:
    """Return a whole number, 0 or more; a truth value, a text or a fraction is none."""
    try:
        number = -1 if isinstance(value, bool) else index(value)
    except TypeError:
        number = -1
    if number < 0:
        raise ValueError(f"`{name}` is a whole number, 0 or more")
    return number


class _Made:
    """The instances of one part, made as far as they are asked for, by any thread."""

    def __init__(self, rows: Iterator[Instance]) -> None:
        self._rows = rows
        self._made: list[Instance] = []
        self._lock = Lock()

    def at(self, place: int) -> Instance | None:
        with self._lock:
            while len(self._made) <= place:
                found = next(self._rows, None)
                if found is None:
                    return None
                self._made.append(found)
            return self._made[place]


@lru_cache(maxsize=LISTS)
def _made(suite: Suite, part: Part, length: int) -> _Made:
    return _Made(listed(suite, part, length))


@lru_cache(maxsize=1024)
def _row(suite: Suite, number: int, whole_suite: bool) -> tuple[Instance, Part | None]:
    """Return an instance, with its part unless the suite is played whole; the latest are kept."""
    instance = suite.row(number)
    return instance, None if whole_suite else part_of(suite, instance)
