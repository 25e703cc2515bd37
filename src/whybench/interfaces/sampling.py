"""Choose the next instance. A seed gives the same order through every interface.

A finite list is shuffled by the seed: every instance comes once before one comes again. Without a
seed, an interface takes the list in its own order. From an endless list, instances are drawn
without end. A split and a filter leave out instances, and do not change the order of the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from operator import index
from threading import Lock
from typing import TYPE_CHECKING, Any

from whybench.causal.canonical import canonical_json, thaw
from whybench.causal.seeds import Stream
from whybench.curriculum.where import Where
from whybench.episode.family import Suite
from whybench.episode.instance import Instance
from whybench.episode.split import ENDLESS, PARTS, Part, part_of

if TYPE_CHECKING:
    from whybench.interfaces.stored.reading import StoredSet

LISTS = 8
"""Number of lists of one choice that are cached, as far as they were built."""

PATIENCE = 400
"""After this many draws without one that is offered, we assume that there is none."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The instances of a suite or a stored set that an interface offers.

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
    where: Where | None = None
    """The filter on difficulty; None for no filter."""
    stored: StoredSet | None = None
    """The stored set that replaces the rows of the suite."""

    @classmethod
    def of(
        cls,
        suite: Suite,
        split: Part | None = None,
        rows: int | None = None,
        endless: bool = False,
        *,
        where: str | None = None,
        data: str | None = None,
    ) -> Choice:
        """Return a choice from the options of an interface.

        Args:
            suite: The suite.
            split: `train` or `eval`; None for both.
            rows: The length of the finite list before split and filter.
            endless: Whether to draw without end.
            where: A filter on difficulty, such as `bits <= 6 and tokens < 2000`.
            data: The address of a stored set of this suite.

        Returns:
            The choice.

        Raises:
            ValueError: An option is invalid, or options contradict each other.

        """
        stored = None
        if data is not None:
            from whybench.interfaces.stored.reading import StoredSet

            stored = StoredSet(data)
            held = stored.suite
            if (held.path, held.profile, held.seed, held.parameters) != (
                suite.path, suite.profile, suite.seed, suite.parameters
            ):  # fmt: skip
                raise ValueError(
                    f"{data} holds {held.path}, profile {held.profile}, seed {held.seed}, "
                    f"parameters {held.parameters.asdict()}. Choose these."
                )
        filtered = None if where is None else Where(where)
        return cls(suite, split, rows, endless, filtered, stored)

    def __post_init__(self) -> None:
        if self.split is not None and self.split not in PARTS:
            raise ValueError(
                f"Unknown split {self.split!r}. Use {' or '.join(PARTS)}, or None for both."
            )
        if self.rows is not None and (self.endless or self.rows < 1):
            raise ValueError("`rows` must be 1 or more, and cannot be combined with `endless`.")
        if self.stored is not None and self.endless:
            raise ValueError("A stored set has an end. Use it without `endless`.")
        if self.stored is not None and self.length > len(self.stored):
            raise ValueError(f"The stored set has {len(self.stored)} rows. Reduce `rows`.")

    @property
    def length(self) -> int:
        """The number of rows of the finite list before the split and the filter."""
        if self.rows is not None:
            return self.rows
        return len(self.suite if self.stored is None else self.stored)

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
        numbers: Iterable[int] = range(self.length)
        if seed is not None:
            stream, deck = self.stream(seed), Deck(self.length)
            numbers = (deck.draw(stream) for _ in range(self.length))
        return (found for number in numbers if (found := self.row(number)) is not None)

    def find(self, place: int) -> Instance | None:
        """Return the instance at a place of the finite list.

        Args:
            place: The place, from 0, among the instances that are offered.

        Returns:
            The instance; None after the end.

        """
        if self.split is None and self.where is None:
            return self.row(place) if place < self.length else None
        return _made(self).at(place)

    def at(self, place: Any) -> Instance:
        """Return the instance at a place of the finite list.

        Args:
            place: The place, from 0, among the instances that are offered.

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
            raise ValueError(
                f"The list of {self.suite.path}{self._restricted} ends before index {number}. "
                "Start again at index 0."
            )
        return found

    def check(self, instance: Instance) -> None:
        """Reject an instance of the other part, and one that the filter leaves out.

        Args:
            instance: The instance.

        Raises:
            ValueError: The instance is not offered.

        """
        if self.split is not None and part_of(self.suite, instance) != self.split:
            raise ValueError(
                f"{instance.family}/{instance.id} is not in the split {self.split}. "
                "Use the other split."
            )
        if self.where is not None and not self.where.admits(instance):
            raise ValueError(
                f"{instance.family}/{instance.id} does not pass the filter {self.where.text!r}."
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
        """Return a row of the finite or endless list.

        Args:
            number: The row.

        Returns:
            The instance; None if the split or the filter leaves it out.

        """
        instance = _row(self.stored or self.suite, number)
        if self.split is not None and _part(self.suite, instance) != self.split:
            return None
        known = None if self.stored is None or self.where is None else self.stored.figures(number)
        return instance if self.where is None or self.where.admits(instance, known) else None

    def empty(self) -> ValueError:
        """Return the error for a list without an instance that is offered.

        Returns:
            The error, to be raised.

        """
        if self.endless:
            return ValueError(
                f"{self.suite.path} seems to have no instance{self._restricted}: {PATIENCE} draws "
                "gave none. Choose a larger suite or a wider filter."
            )
        return ValueError(
            f"{self.suite.path} has no instance{self._restricted} in {self.length} rows. "
            "Increase `rows`, or use a larger suite or a wider filter."
        )

    @property
    def _restricted(self) -> str:
        part = "" if self.split is None else f" for {self.split}"
        return part + ("" if self.where is None else f" with {self.where.text}")


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
        choice, stream = self._choice, self._stream
        for _ in range(PATIENCE if choice.endless else 2 * choice.length):
            every = ENDLESS * len(choice.suite)
            number = stream.below(every) if choice.endless else self._deck.draw(stream)
            instance = choice.row(number)
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
    """The instances of a choice, built when they are requested, by any thread."""

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
def _made(choice: Choice) -> _Made:
    return _Made(choice.once())


@lru_cache(maxsize=1024)
def _row(source: Suite | StoredSet, number: int) -> Instance:
    return source.row(number) if isinstance(source, Suite) else source.instance(number)


@lru_cache(maxsize=1024)
def _part(suite: Suite, instance: Instance) -> Part:
    return part_of(suite, instance)
