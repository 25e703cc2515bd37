"""A suite: a list of instances of a family."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from whybench.causal.canonical import Record
from whybench.episode.instance import Instance, Profile

if TYPE_CHECKING:
    from whybench.episode.family.family import Family


@dataclass(frozen=True, slots=True)
class Suite:
    """A named, versioned list of instances of fixed size, built when they are looked up.

    Examples:
        >>> import whybench as wb
        >>> suite = wb.load_suite("causallink/core")
        >>> len(suite), suite.path, suite[3].index
        (84, 'causallink/core', 3)

    """

    family: Family[Any]
    """The family."""
    name: str
    """The name of the suite."""
    profile: Profile
    """The rules: `certified` or `published`."""
    seed: str
    """The suite seed."""
    parameters: Record
    """The parameters that differ from their defaults."""
    size: int
    """The number of instances of a block."""
    block: int = 0
    """The number of the block. Blocks have the same size and design, and share no draw."""

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, index: int) -> Instance:
        if not 0 <= index < self.size:
            raise IndexError(f"{self.path} has instances 0 … {self.size - 1}, not {index}")
        return self.family.instance(
            self.name, self.profile, self.seed, self.parameters, index, self.block
        )

    def __iter__(self) -> Iterator[Instance]:
        return (self[index] for index in range(self.size))

    def row(self, number: int) -> Instance:
        """Return an instance of the endless list that the suite begins.

        Args:
            number: The row: instance `number % size` of block `number // size`.

        Returns:
            The instance.

        """
        block, index = divmod(number, self.size)
        return replace(self, block=block)[index]

    @property
    def path(self) -> str:
        """The family and the suite, as `family/suite`."""
        return f"{self.family.name}/{self.name}"
