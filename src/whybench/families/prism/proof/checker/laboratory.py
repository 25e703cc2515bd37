"""Check a laboratory: what its experiments can show, and how many are needed.

Nothing here is shared with the prover. Cells are sets of system numbers.
"""

from __future__ import annotations

from functools import cache, cached_property
from itertools import combinations, product

from whybench.families.prism.proof.checker.recount import Recount, Setting, System

Cell = frozenset[int]


class Laboratory:
    """The cells of a laboratory, found by running every allowed experiment on every system."""

    def __init__(self, recount: Recount) -> None:
        self.recount, world = recount, recount.world
        self.holdable = () if world.lab is None else world.lab.holdable
        self.settings = list(self._settings())
        shown: dict[tuple[tuple[int, ...], ...], list[int]] = {}
        for number, system in enumerate(recount.systems):
            shown.setdefault(self._shown(system), []).append(number)
        self.cells = list(shown.values())
        self.outcomes = list(shown)
        self.labels = [self._label(cell) for cell in self.cells]

    def _settings(self) -> list[Setting]:
        return [
            (inputs, tuple(zip(held, at, strict=True)))
            for inputs in product((0, 1), repeat=self.recount.world.roots)
            for many in range(3)
            for held in combinations(self.holdable, many)
            for at in product((0, 1), repeat=many)
        ]

    def _shown(self, system: System) -> tuple[tuple[int, ...], ...]:
        return tuple(self.recount.shown(system, setting, 0) for setting in self.settings)

    def _label(self, cell: list[int]) -> str:
        said = {self.recount.share(self.recount.systems[number])[1] for number in cell}
        return "cannot" if len(said) > 1 else "yes" if said == {1} else "no"

    def cell_of(self, system: System) -> int:
        """Return the number of the cell of a system."""
        return self.outcomes.index(self._shown(system))

    def fewest(self, cell: int) -> int:
        """Return the fewest experiments that exclude every cell with another label."""
        others = [c for c in range(len(self.cells)) if self.labels[c] != self.labels[cell]]
        excluded = {
            frozenset(c for c in others if self.outcomes[c][s] != self.outcomes[cell][s])
            for s in range(len(self.settings))
        }
        useful = [some for some in excluded if not any(some < other for other in excluded)]
        for many in range(len(useful) + 1):
            if any(
                len(frozenset().union(*some)) == len(others) for some in combinations(useful, many)
            ):
                return many
        raise ValueError("experiments do not show the label of a cell")

    @cached_property
    def _splits(self) -> list[list[Cell]]:
        found = []
        for s in range(len(self.settings)):
            parts: dict[tuple[int, ...], set[int]] = {}
            for c, outcome in enumerate(self.outcomes):
                parts.setdefault(outcome[s], set()).add(c)
            found.append([frozenset(part) for part in parts.values()])
        return found

    @cache  # noqa: B019 - a laboratory lives as long as its check
    def within(self, depth: int) -> bool:
        """Tell whether some plan of this depth shows the label of every cell."""
        failed: dict[Cell, int] = {}

        def fine(state: Cell, depth: int) -> bool:
            if len({self.labels[c] for c in state}) == 1:
                return True
            if depth <= failed.get(state, 0):
                return False
            tried = {
                frozenset(filter(None, (state & part for part in split))) for split in self._splits
            }
            for pieces in sorted(tried, key=lambda pieces: max(map(len, pieces))):
                if len(pieces) > 1 and all(
                    fine(piece, depth - 1) for piece in sorted(pieces, key=len, reverse=True)
                ):
                    return True
            failed[state] = depth
            return False

        return fine(frozenset(range(len(self.cells))), depth)
