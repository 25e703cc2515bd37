"""Choose the next instance. A seed gives the same order through every interface.

A finite list is shuffled by the seed: every instance comes once before one comes again. Without a
seed, an interface takes the list in its own order. From an endless list, instances are drawn
without end.
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
"""Number of lists of one part that are cached, as far as they were built."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The instances of a suite, or of one part of it, that an interface offers.

    Examples:
        >>> from whybench.episode.registry import load_suite
        >>> choice = Choice(load_suite("causallink/core"), rows=4)
        >>> sorted(instance.index for instance in choice.once(seed=7))
        [0, 1, 2, 3]

    """

    suite: Suite
    """The suite."""
    split: Part | None = None
    """`train` or `eval`, which share no hidden system; None for both."""
    rows: int | None = None
    """The length of the finite list before the split; None for the size of the suite."""
    endless: bool = False
    """Whether to draw from the endless list that the suite begins."""

    def __post_init__(self) -> None:
        if self.split is not None and self.split not in PARTS:
            raise ValueError(
                f"Unknown split {self.split!r}. Use {' or '.join(PARTS)}, or None for both."
            )
        if self.rows is not None and (self.endless or self.rows < 1):
            raise ValueError("`rows` must be 1 or more, and cannot be combined with `endless`.")

    @property
    def length(self) -> int:
        """The number of rows of the finite list before the split."""
        return len(self.suite) if self.rows is None else self.rows

    def seeded(self, seed: int) -> Seeded:
        """Return an endless iterator of instances in the order of a seed.

        Args:
            seed: The seed of the order.

        Returns:
            The iterator. It can be copied.

        """
        return Seeded(self, seed)

    def once(self, seed: int | None = None) -> Iterator[Instance]:
        """Yield each instance of the finite list once.

        Args:
            seed: The seed of the order; None for the plain order.

        Returns:
            An iterator of instances.

        Raises:
            ValueError: The list is endless.

        """
        if self.endless:
            raise ValueError("An endless list cannot be played once. Use `seeded`.")
        if seed is None:
            return listed(self.suite, self.split, self.length)
        stream, deck = self.stream(seed), Deck(self.length)
        dealt = (self.row(deck.draw(stream)) for _ in range(self.length))
        return (instance for instance in dealt if instance is not None)

    def find(self, place: int) -> Instance | None:
        """Return the instance at a place of the finite list.

        Args:
            place: The place, from 0, among the instances of the part.

        Returns:
            The instance; None after the end.

        """
        if self.split is None:
            return self.row(place) if place < self.length else None
        return _made(self.suite, self.split, self.length).at(place)

    def at(self, place: Any) -> Instance:
        """Return the instance at a place of the finite list.

        Args:
            place: The place, from 0, among the instances of the part.

        Returns:
            The instance.

        Raises:
            ValueError: The list is endless, or ends before this place.

        """
        if self.endless:
            raise ValueError("An endless list has no index. Give `seed` instead.")
        number = whole("index", place)
        found = self.find(number)
        if found is None and not number:
            raise self.empty()
        if found is None:
            part = "" if self.split is None else f" for {self.split}"
            raise ValueError(
                f"The list of {self.suite.path}{part} ends before index {number}. "
                "Start again at index 0."
            )
        return found

    def check(self, instance: Instance) -> None:
        """Reject an instance of the other part.

        Args:
            instance: The instance.

        Raises:
            ValueError: The instance is not in this part.

        """
        if self.split is not None and part_of(self.suite, instance) != self.split:
            raise ValueError(
                f"{instance.family}/{instance.id} is not in the split {self.split}. "
                "Use the other split."
            )

    def stream(self, seed: int) -> Stream:
        """Return the random stream of a seed.

        Args:
            seed: The seed of the order.

        Returns:
            The stream.

        """
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
        """Return a row of the finite list.

        Args:
            number: The row.

        Returns:
            The instance; None if it is in the other part.

        """
        instance, part = _row(self.suite, number, self.split is None)
        return instance if part == self.split else None

    def empty(self) -> ValueError:
        """Return the error for a list without an instance of its part.

        Returns:
            The error, to be raised.

        """
        return ValueError(
            f"{self.suite.path} has no {self.split} instance in {self.length} rows. "
            "Increase `rows`, or use a larger suite."
        )


class Seeded:
    """An iterator of instances in the order of a seed. It can be copied at any point."""

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
        """Positions whose number has changed. Memory grows only with the numbers drawn."""

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
    """Return an integer of 0 or more. Booleans, strings and fractions are rejected."""
    try:
        number = -1 if isinstance(value, bool) else index(value)
    except TypeError:
        number = -1
    if number < 0:
        raise ValueError(f"`{name}` must be an integer of 0 or more.")
    return number


class _Made:
    """The instances of one part, built when they are requested, by any thread."""

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
    """Return an instance, and its part unless the whole suite is played. Results are cached."""
    instance = suite.row(number)
    return instance, None if whole_suite else part_of(suite, instance)
