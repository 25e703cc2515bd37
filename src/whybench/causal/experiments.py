"""Plans of experiments: which experiments show the label of a cell, in the worst case and at best.

Cells are what experiments can tell apart. They are numbered, and a set of cells is a bitmask. Every
design divides the cells by the outcome that they show, and every cell has a label.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Generic, TypeVar

NODES = 1500
"""The most states that the search for the best plan visits."""

MOST_DEEP = 5
"""The greatest worst case of the best plan."""

Label = TypeVar("Label", bound=Hashable)


class TooDeepError(ValueError):
    """Raised if the best plan needs more than the allowed depth or number of states."""


class Experiments(Generic[Label]):
    """Cells with labels, and designs that divide them.

    Args:
        labels: The label of each cell.
        sizes: The weight of each cell.
        parts: For each design, the outcome → the cells that show it.

    """

    def __init__(
        self, labels: Sequence[Label], sizes: Sequence[int], parts: Sequence[Mapping[int, int]]
    ) -> None:
        self.labels, self.sizes, self.parts = labels, sizes, parts
        self.every = (1 << len(labels)) - 1
        self.of_label = {
            one: sum(1 << c for c, label in enumerate(labels) if label == one)
            for one in dict.fromkeys(labels)
        }
        self._alike = [self.of_label[label] for label in labels]
        """For each cell, the cells with the same label."""
        self._needs: dict[int, tuple[int, int]] = {}
        self._plan: dict[int, int] = {}
        self._nodes = 0

    def left(self, state: int) -> frozenset[Label]:
        """Return the labels of some cells."""
        return frozenset(label for label, cells in self.of_label.items() if cells & state)

    def _settled(self, state: int) -> bool:
        """Tell whether all of some cells have the same label."""
        return not state or not state & ~self._alike[(state & -state).bit_length() - 1]

    def minimax(self, most: int = MOST_DEEP) -> int:
        """Return the worst case of the best plan, by iterative deepening."""
        for depth in range(most + 1):
            if self._solved(self.every, depth):
                return depth
        raise TooDeepError(f"no plan needs at most {most} experiments")

    def _solved(self, state: int, depth: int) -> bool:
        """Tell whether some plan of this depth always shows the label; remember its design."""
        if self._settled(state):
            return True
        enough, too_few = self._needs.get(state, (99, 0))
        if depth >= enough or depth <= too_few:
            return depth >= enough
        self._nodes += 1
        if self._nodes > NODES:
            raise TooDeepError("the search for the best plan visits too many states")
        parts = list(enumerate(self.parts))
        if depth == 1:
            parts = [
                (i, part)
                for i, part in parts
                if all(self._settled(cells & state) for cells in part.values())
            ]
        pieces = {
            i: sorted({cells & state for cells in part.values()} - {0}, key=int.bit_count)
            for i, part in parts
        }
        for i in sorted(pieces, key=lambda i: (pieces[i][-1].bit_count(), i)):
            if pieces[i][-1] != state and all(
                self._solved(piece, depth - 1) for piece in reversed(pieces[i])
            ):
                self._needs[state], self._plan[state] = (depth, too_few), i
                return True
        self._needs[state] = enough, depth
        return False

    def best(self, state: int) -> int:
        """Return the next design of the best plan, for cells that the plan leaves."""
        self.minimax()
        return self._plan[state]

    def weight(self, cells: int) -> int:
        """Return the number of systems in some cells."""
        total = 0
        while cells:
            low = cells & -cells
            total += self.sizes[low.bit_length() - 1]
            cells ^= low
        return total

    def fewest(self, cell: int) -> int:
        """Return the fewest experiments that show the label of a cell."""
        others = self.every & ~self.of_label[self.labels[cell]]
        fits = [next(c for c in part.values() if c >> cell & 1) for part in self.parts]
        return next(depth for depth in range(99) if self._excluded(others, fits, depth))

    def _excluded(self, others: int, fits: list[int], depth: int) -> bool:
        """Tell whether so many designs can rule out all other cells."""
        if not others:
            return True
        low = others & -others
        return depth > 0 and any(
            self._excluded(others & some, fits, depth - 1) for some in fits if not some & low
        )
