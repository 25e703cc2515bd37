"""A random stream that can be rewound, so that many proposals can be drawn before one is used.

The draws are those of `Stream`. Unused proposals are put back, so later draws are the same as
without looking ahead.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from whybench.causal.seeds import Stream

T = TypeVar("T")

BLOCKS = (256, 2048)
"""Words drawn from the generator at once: first, and when more are needed."""
SMALL = 1 << 16
SURE = (1 << 64) - SMALL
"""Below this, a word is fair for every draw below `SMALL`."""


class Tape(Stream):
    """A stream that keeps its words until `forget` drops them.

    >>> tape = Tape("replayscm", 7)
    >>> before = tape.at
    >>> first = tape.below(1000)
    >>> tape.at = before
    >>> first == tape.below(1000) == Stream("replayscm", 7).below(1000)
    True
    """

    __slots__ = ("_raw", "_tape", "_under", "at")

    def __init__(self, *path: str | int) -> None:
        super().__init__(*path)
        self._raw = np.zeros(0, dtype=np.uint64)
        self._tape: list[int] = []
        self._under: dict[int, int] = {}
        self.at = 0
        """The place of the next word; set it back to draw again."""

    def forget(self) -> None:
        """Drop the words drawn so far; places noted before become invalid."""
        self._keep(self._raw[self.at :])
        self.at = 0

    def _keep(self, raw: NDArray[np.uint64]) -> None:
        self._raw, self._tape = raw, raw.tolist()
        self._under.clear()

    def _reach(self, end: int) -> None:
        """Draw words up to a place."""
        while end > len(self._tape):
            more = self._bits.random_raw(BLOCKS[bool(self._tape)])
            self._keep(np.concatenate((self._raw, more)))

    def word(self) -> int:
        """Return the next raw word."""
        at = self.at
        if at >= len(self._tape):
            self._reach(at + 1)
        self.at = at + 1
        return self._tape[at]

    def take(self, n: int) -> list[int]:
        """Return the next n raw words."""
        at = self.at
        end = self.at = at + n
        if end > len(self._tape):
            self._reach(end)
        return self._tape[at:end]

    def under(self, bound: int, n: int) -> int:
        """Return which of the next n raw words are below a bound, as a bitset."""
        at = self.at
        self.at = at + n
        if self.at > len(self._tape):
            self._reach(self.at)
        bits = self._under.get(bound)
        if bits is None:
            packed = np.packbits(self._raw < np.uint64(bound), bitorder="little")
            bits = self._under[bound] = int.from_bytes(packed.tobytes(), "little")
        return bits >> at & (1 << n) - 1

    def uniform(self) -> float:
        """Return a float uniform over [0, 1) with 53 random bits."""
        return (self.word() >> 11) * 2.0**-53

    def words(self, n: int) -> NDArray[np.uint64]:
        """Return the next n raw words at once."""
        if n < 0:
            raise ValueError(f"cannot draw {n} numbers: give 0 or more")
        return np.array(self.take(n), dtype=np.uint64)

    def below(self, n: int) -> int:
        """Return an integer uniform over 0 … n−1, without modulo bias."""
        word = self.word()
        if word < SURE and 0 < n <= SMALL:
            return word % n
        self.at -= 1
        return super().below(n)

    def choice(self, items: Sequence[T]) -> T:
        """Return one item."""
        return items[self.below(len(items))]

    def choices(self, items: Sequence[T], count: int) -> list[T]:
        """Return an item so many times over."""
        before, n = self.at, len(items)
        words = self.take(count)
        if n <= SMALL and max(words) < SURE:
            return [items[word % n] for word in words]
        self.at = before
        return [self.choice(items) for _ in range(count)]

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """Return the items in random order (Fisher–Yates)."""
        before = self.at
        deck = list(items)
        last = len(deck) - 1
        if last > 0 and last < SMALL:
            for word in self.take(last):
                if word >= SURE:
                    break
                other = word % (last + 1)
                deck[last], deck[other] = deck[other], deck[last]
                last -= 1
            else:
                return deck
        self.at = before
        return super().shuffled(items)
