"""Hashed random streams: a path of names is the seed, and neighbouring paths share nothing.

Draws are built from Philox's raw 64-bit words alone. numpy guarantees that sequence for ever, while
it may change the algorithms behind `Generator.integers` or `shuffle` between versions; an instance
must be rebuilt exactly from its coordinates years later, so we do not depend on those.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from whybench.causal.canonical import digest

T = TypeVar("T")

_WORD = 1 << 64
_BLOCK = 8


def uniforms_of(words: NDArray[np.uint64]) -> NDArray[np.float64]:
    """Return what `Stream.uniform` makes of raw words."""
    # Signed numbers turn into floats faster, and 53 bits leave the sign alone.
    found: NDArray[np.float64] = np.multiply((words >> np.uint64(11)).view(np.int64), 2.0**-53)
    return found


def words_below(chances: NDArray[np.float64]) -> NDArray[np.uint64]:
    """Return the words that chances below 1 stand for: u < chance exactly if its word is less."""
    return np.ceil(chances * 2.0**53).astype(np.uint64) << np.uint64(11)


class Stream:
    """A deterministic source of draws.

    >>> Stream("causallink", "core", 7).below(1000)
    59
    """

    __slots__ = ("_bits", "_words")

    def __init__(self, *path: str | int) -> None:
        key = np.frombuffer(digest(path)[:16], dtype="<u8").astype(np.uint64)
        self._bits = np.random.Philox(key=key)
        self._words: list[int] = []

    def word(self) -> int:
        """Return the next raw word, uniform over 0 … 2⁶⁴−1."""
        if not self._words:
            self._words = [int(word) for word in self._bits.random_raw(_BLOCK)][::-1]
        return self._words.pop()

    def below(self, n: int) -> int:
        """Return an integer uniform over 0 … n−1, without modulo bias."""
        if not 0 < n <= _WORD:
            raise ValueError(f"cannot draw below {n}: give 1 … 2**64")
        fair = _WORD - _WORD % n
        while (word := self.word()) >= fair:
            pass
        return word % n

    def uniform(self) -> float:
        """Return a float uniform over [0, 1) with 53 random bits."""
        return (self.word() >> 11) * 2.0**-53

    def words(self, n: int) -> NDArray[np.uint64]:
        """Return the next n raw words at once."""
        if n < 0:
            raise ValueError(f"cannot draw {n} numbers: give 0 or more")
        waiting = [self._words.pop() for _ in range(min(n, len(self._words)))]
        drawn = np.asarray(self._bits.random_raw(n - len(waiting)))
        return np.concatenate((np.array(waiting, dtype=np.uint64), drawn)) if waiting else drawn

    def uniforms(self, n: int) -> NDArray[np.float64]:
        """Return the next n draws of `uniform` at once.

        >>> Stream("fleet", 3).uniforms(2).tolist()[0] == Stream("fleet", 3).uniform()
        True
        """
        return uniforms_of(self.words(n))

    def choice(self, items: Sequence[T]) -> T:
        """Return one item."""
        return items[self.below(len(items))]

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """Return the items in random order (Fisher–Yates)."""
        deck = list(items)
        for last in range(len(deck) - 1, 0, -1):
            other = self.below(last + 1)
            deck[last], deck[other] = deck[other], deck[last]
        return deck

    def sample(self, items: Sequence[T], k: int) -> list[T]:
        """Return k items without replacement, in random order."""
        if not 0 <= k <= len(items):
            raise ValueError(f"cannot sample {k} of {len(items)} items")
        return self.shuffled(items)[:k]
