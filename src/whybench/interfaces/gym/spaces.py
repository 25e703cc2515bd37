"""Text spaces: any text up to a large length, and lines that an agent might write.

gymnasium's own `Text` has a list of characters and checks each character of a text. These spaces
accept all of Unicode and check only the length.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium.spaces import Box, Text
from gymnasium.spaces.utils import flatten, flatten_space, unflatten
from numpy.typing import NDArray

LONGEST = 1 << 19
"""Maximum number of characters of a text: four times the longest document of a suite."""

CODES = 0x110000
"""Number of code points. In a flattened text this number represents "no character"."""


class Prose(Text):
    """Any text up to a length.

    >>> "Größe → 3" in Prose()
    True
    """

    def __init__(self, longest: int = LONGEST, *, seed: int | None = None) -> None:
        super().__init__(longest, min_length=0, seed=seed)

    def contains(self, x: Any) -> bool:
        """Return whether a value is a string that is not too long."""
        return isinstance(x, str) and len(x) <= self.max_length

    def sample(self, mask: Any = None, probability: Any = None) -> str:
        """Return a few random letters and digits."""
        if mask is not None or probability is not None:
            raise ValueError("Text spaces have no mask. Call sample() without one.")
        longest = min(self.max_length, 40)
        return "".join(self.np_random.choice(self.character_list, self._below(longest) + 1))

    def __eq__(self, other: object, /) -> bool:
        """Compare the members of two spaces, and what they sample from."""
        return type(other) is type(self) and other._key() == self._key()

    def __repr__(self) -> str:
        """Return the name of the space without its characters, because they would fill a page."""
        return f"{type(self).__name__}({self.max_length})"

    def _key(self) -> tuple[object, ...]:
        return (self.max_length,)

    def _below(self, n: int) -> int:
        return int(self.np_random.integers(n))


class Lines(Prose):
    """Any line that an agent may write. Samples are calls with likely words as arguments.

    >>> Lines([("hold", 1)], ["circle"], seed=1).sample()
    'hold circle'
    """

    def __init__(
        self,
        calls: Sequence[tuple[str, int]],
        words: Sequence[str],
        longest: int = LONGEST,
        *,
        seed: int | None = None,
    ) -> None:
        super().__init__(longest, seed=seed)
        self.calls = tuple(calls)
        """The names of actions, each with its number of arguments."""
        self.words = tuple(words)

    def sample(self, mask: Any = None, probability: Any = None) -> str:
        """Return a random call: the name of an action and a word for each argument."""
        if not self.calls or not self.words:
            return super().sample(mask, probability)
        name, arguments = self.calls[self._below(len(self.calls))]
        words = [self.words[self._below(len(self.words))] for _ in range(arguments)]
        return " ".join([name, *words])

    def _key(self) -> tuple[object, ...]:
        return (self.max_length, self.calls, self.words)


# These functions tell gymnasium how to flatten the spaces. It uses the nearest registered class.


@flatten_space.register(Prose)
def _flat_space(space: Prose) -> Box:
    return Box(low=0, high=CODES, shape=(space.max_length,), dtype=np.int32)


@flatten.register(Prose)
def _flat(  # type: ignore[misc]  # gymnasium registers its own Text so too
    space: Prose, x: str
) -> NDArray[np.int32]:
    flat = np.full(space.max_length, CODES, dtype=np.int32)
    flat[: len(x)] = codes_of(x)
    return flat


@unflatten.register(Prose)
def _unflat(  # type: ignore[misc]  # as above
    _space: Prose, x: NDArray[np.int32]
) -> str:
    return text_of(x[x < CODES])


def codes_of(text: str) -> NDArray[np.int32]:
    """Return the code points of a text. Lone surrogates are allowed."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<i4")


def text_of(codes: NDArray[np.int32]) -> str:
    """Return the text of code points."""
    return codes.astype("<i4").tobytes().decode("utf-32-le", "surrogatepass")
