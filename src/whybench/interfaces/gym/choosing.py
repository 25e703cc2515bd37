"""Which instance comes next: a seed starts a hashed stream, and the stream chooses.

From a finite list every instance comes once before one comes again, in an order that hangs on the
seed. An endless list is drawn from without end.
"""

from __future__ import annotations

from functools import lru_cache

from whybench.core.canonical import canonical_json
from whybench.core.seeds import Stream
from whybench.episode.family import Suite
from whybench.episode.instance import Instance
from whybench.episode.split import PARTS, Part, drawn, part_of


class Chooser:
    """Chooses instances of a suite, or of one part of it."""

    def __init__(
        self, suite: Suite, part: Part | None = None, rows: int | None = None, endless: bool = False
    ) -> None:
        if part is not None and part not in PARTS:
            raise ValueError(f"no split {part!r}: try {' or '.join(PARTS)}, or None for both")
        if rows is not None and (endless or rows < 1):
            raise ValueError("`rows` is the length of a finite list: 1 or more, and not `endless`")
        self.suite = suite
        self._part = part
        self._endless = endless
        self._rows = len(suite) if rows is None else rows
        self._stream: Stream | None = None
        self._deck = Deck(self._rows)

    @property
    def started(self) -> bool:
        """Whether a seed has been given."""
        return self._stream is not None

    def start(self, seed: int) -> None:
        """Begin the list that a seed stands for."""
        suite = self.suite
        how = canonical_json([suite.profile, suite.salt, suite.knobs])
        self._stream = Stream("gym", suite.path, how, seed)
        self._deck = Deck(self._rows)

    def next(self) -> Instance:
        """Return the next instance of the list that was begun."""
        if self._stream is None:
            raise ValueError("start the list with a seed first")
        if self._endless:
            return drawn(self.suite, self._stream, self._part)
        for _ in range(2 * self._rows):
            instance, part = _row(self.suite, self._deck.draw(self._stream), self._part is None)
            if part == self._part:
                return instance
        raise ValueError(f"{self.suite.path} has no {self._part} instance in {self._rows} rows")

    def at(self, index: int) -> Instance:
        """Return a row by its number, whatever its part."""
        if not 0 <= index < self._rows and not (self._endless and index >= 0):
            raise ValueError(f"{self.suite.path} has rows 0 … {self._rows - 1} here, not {index}")
        return _row(self.suite, index, True)[0]


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


@lru_cache(maxsize=1024)
def _row(suite: Suite, number: int, whole: bool) -> tuple[Instance, Part | None]:
    """Return an instance, with its part unless the suite is played whole; the latest are kept."""
    instance = suite.row(number)
    return instance, None if whole else part_of(suite, instance)
