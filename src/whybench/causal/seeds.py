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
    """Return chances below 1 as words: u < chance exactly if the word of u is less."""
    return np.ceil(chances * 2.0**53).astype(np.uint64) << np.uint64(11)


class Stream:
    """A deterministic random stream that is seeded by a path of names.

    Streams of different paths are independent. The draws do not depend on the version of numpy.

    Examples:
        >>> Stream("causallink", "core", 7).below(1000)
        59

    Args:
        *path: The names and numbers that identify the stream.

    """

    __slots__ = ("_bits", "_words")

    def __init__(self, *path: str | int) -> None:
        key = np.frombuffer(digest(path)[:16], dtype="<u8").astype(np.uint64)
        self._bits = np.random.Philox(key=key)
        self._words: list[int] = []

    def word(self) -> int:
        """Draw a raw word.

        Returns:
            An integer, uniform over 0 … 2⁶⁴−1.

        """
        if not self._words:
            self._words = [int(word) for word in self._bits.random_raw(_BLOCK)][::-1]
        return self._words.pop()

    def below(self, n: int) -> int:
        """Draw an integer without modulo bias.

        Args:
            n: The number of possible values, from 1 to 2**64.

        Returns:
            An integer, uniform over 0 … n−1.

        Raises:
            ValueError: `n` is out of range.

        """
        if not 0 < n <= _WORD:
            raise ValueError(f"cannot draw below {n}: give 1 … 2**64")
        fair = _WORD - _WORD % n
        while (word := self.word()) >= fair:
            pass
        return word % n

    def uniform(self) -> float:
        """Draw a float with 53 random bits.

        Returns:
            A float, uniform over [0, 1).

        """
        return (self.word() >> 11) * 2.0**-53

    def words(self, n: int) -> NDArray[np.uint64]:
        """Draw several raw words at once.

        Args:
            n: The number of words.

        Returns:
            The words, equal to `n` calls of `word`.

        Raises:
            ValueError: `n` is negative.

        """
        if n < 0:
            raise ValueError(f"cannot draw {n} numbers: give 0 or more")
        waiting = [self._words.pop() for _ in range(min(n, len(self._words)))]
        drawn = np.asarray(self._bits.random_raw(n - len(waiting)))
        return np.concatenate((np.array(waiting, dtype=np.uint64), drawn)) if waiting else drawn

    def uniforms(self, n: int) -> NDArray[np.float64]:
        """Draw several floats at once.

        Examples:
            >>> Stream("fleet", 3).uniforms(2).tolist()[0] == Stream("fleet", 3).uniform()
            True

        Args:
            n: The number of floats.

        Returns:
            The floats, equal to `n` calls of `uniform`.

        """
        return uniforms_of(self.words(n))

    def choice(self, items: Sequence[T]) -> T:
        """Draw one item.

        Args:
            items: The items; at least one.

        Returns:
            The item.

        """
        return items[self.below(len(items))]

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """Shuffle items (Fisher–Yates).

        Args:
            items: The items. They are not changed.

        Returns:
            A new list in random order.

        """
        deck = list(items)
        for last in range(len(deck) - 1, 0, -1):
            other = self.below(last + 1)
            deck[last], deck[other] = deck[other], deck[last]
        return deck

    def sample(self, items: Sequence[T], k: int) -> list[T]:
        """Draw items without replacement.

        Args:
            items: The items.
            k: The number of items to draw.

        Returns:
            `k` items in random order.

        Raises:
            ValueError: `k` is negative or larger than the number of items.

        """
        if not 0 <= k <= len(items):
            raise ValueError(f"cannot sample {k} of {len(items)} items")
        return self.shuffled(items)[:k]
