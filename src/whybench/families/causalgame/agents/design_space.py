"""The space of designs as arrays: what is allowed, and how to sample it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from whybench.causal.seeds import Stream
from whybench.families.causalgame.view import View
from whybench.families.causalgame.world.design import Choice, Design

Floats: TypeAlias = NDArray[np.floating[Any]]
Ints: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Encoded:
    """Designs as arrays."""

    defs: Ints
    """Design × component."""
    options: Ints
    """Design × slot or switch: 0 for nothing, else the place of the option, from 1."""

    def __len__(self) -> int:
        return len(self.defs)

    def rows(self, rows: Ints | slice) -> Encoded:
        """Return some of the designs."""
        return Encoded(self.defs[rows], self.options[rows])

    def and_also(self, other: Encoded) -> Encoded:
        """Return these designs, then others."""
        return Encoded(
            np.concatenate((self.defs, other.defs)), np.concatenate((self.options, other.options))
        )


@dataclass(frozen=True)
class Space:
    """The designs that are allowed."""

    view: View

    @cached_property
    def levers(self) -> tuple[tuple[str, tuple[Choice, ...]], ...]:
        """Slots and switches with their possible settings, besides being empty."""
        slots = tuple((name, tuple(options)) for name, _, options in self.view.slots)
        return (*slots, *((name, (True,)) for name in self.view.switches))

    def special(self, designs: Encoded) -> Ints:
        """Tell which slots and switches hold something other than nothing or the default."""
        defaults = [1 + options.index(default) for _, default, options in self.view.slots]
        ordinary = np.array(defaults + [0] * len(self.view.switches))
        found: Ints = ((designs.options > 0) & (designs.options != ordinary)).astype(np.int64)
        return found

    @property
    def share(self) -> float:
        """The DEF of each component if all have the same DEF."""
        return self.view.total_def_budget / len(self.view.components)

    @property
    def even(self) -> Encoded:
        """The design that spreads DEF evenly and has no equipment."""
        low, high = self.view.def_range
        each = min(high, max(low, int(self.share)))
        return Encoded(
            np.full((1, len(self.view.components)), each),
            np.zeros((1, len(self.levers)), dtype=np.int64),
        )

    def encode(self, designs: Sequence[Design]) -> Encoded:
        """Return designs as arrays; unknown equipment counts as none."""
        options = [
            [
                1 + choices.index(found[name]) if found.get(name) in choices else 0
                for name, choices in self.levers
            ]
            for found in (dict(design.equipment) for design in designs)
        ]
        shape = (len(designs), len(self.levers))
        return Encoded(
            np.array([design.defs for design in designs], dtype=np.int64).reshape(
                len(designs), len(self.view.components)
            ),
            np.array(options, dtype=np.int64).reshape(shape),
        )

    def decode(self, designs: Encoded, row: int) -> Design:
        """Return one of the designs."""
        mounted = tuple(
            (name, choices[place - 1])
            for (name, choices), place in zip(self.levers, designs.options[row], strict=True)
            if place
        )
        return Design(tuple(int(value) for value in designs.defs[row]), mounted)

    def scattered(self, n: int, rng: Stream) -> Encoded:
        """Return designs from the whole space: some components bare, the rest share the budget."""
        k = len(self.view.components)
        bare = rng.uniforms(n)[:, None] * 0.6
        weights = (rng.uniforms(n * k).reshape(n, k) >= bare) * (
            0.25 + rng.uniforms(n * k).reshape(n, k)
        )
        return Encoded(self.allotted(weights), self._drawn(n, rng))

    def balanced(self, n: int, flown: Encoded, rng: Stream) -> Encoded:
        """Return designs that give half of the components three times the DEF of the others.

        Each slot holds the option that was flown least.
        """
        k = len(self.view.components)
        rank = rng.uniforms(n * k).reshape(n, k).argsort(axis=1).argsort(axis=1)
        more = (rng.uniforms(n)[:, None] < 0.5) * (k % 2)
        weights = np.where(rank < k // 2 + more, 1.5, 0.5)
        options = np.zeros((n, len(self.levers)), dtype=np.int64)
        for place, (_, choices) in enumerate(self.levers):
            first = 1 if len(choices) > 1 else 0
            used = np.bincount(flown.options[:, place], minlength=1 + len(choices))[first:]
            least = first + np.flatnonzero(used == used.min())
            options[:, place] = least[(rng.uniforms(n) * len(least)).astype(np.int64)]
        return Encoded(self.allotted(weights), options)

    def neighbours(self, designs: Encoded, n: int, rng: Stream) -> Encoded:
        """Return n designs near given ones: DEF moved between two components, or new equipment."""
        k, slots = self.view.components, len(self.levers)
        defs = np.resize(designs.defs, (n, len(k))).astype(np.float64)
        options = np.resize(designs.options, (n, slots))
        rows = np.arange(n)
        for scale in (1.0, 0.6):
            source, target = (rng.uniforms(2 * n) * len(k)).astype(np.int64).reshape(2, n)
            moved = np.minimum(
                defs[rows, source], np.ceil(rng.uniforms(n) * 1.5 * scale * self.share)
            )
            defs[rows, source] -= moved
            defs[rows, target] += moved
        if slots:
            lever = (rng.uniforms(n) * slots).astype(np.int64)
            fresh = self._drawn(n, rng)
            change = rng.uniforms(n) < 0.6
            options[rows[change], lever[change]] = fresh[rows[change], lever[change]]
        return Encoded(self.allotted(defs), options)

    def allotted(self, weights: Floats) -> Ints:
        """Return DEF in proportion to weights, using as much of the budget as allowed."""
        low, high = self.view.def_range
        budget = self.view.total_def_budget - low * weights.shape[1]
        found = np.zeros_like(weights)
        free = weights > 0
        for _ in range(3):
            left = budget - found.sum(axis=1, keepdims=True)
            share = np.where(free, weights, 0.0)
            found += share * left / np.maximum(share.sum(axis=1, keepdims=True), 1e-9)
            free &= found < high - low
            np.minimum(found, high - low, out=found)
        whole: Ints = low + np.floor(found + 1e-6).astype(np.int64)
        return whole

    def _drawn(self, n: int, rng: Stream) -> Ints:
        sizes = np.array([1 + len(choices) for _, choices in self.levers], dtype=np.float64)
        found: Ints = (rng.uniforms(n * len(sizes)).reshape(n, len(sizes)) * sizes).astype(np.int64)
        return found
