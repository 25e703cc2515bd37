"""The exact agent's model of designs that it has not flown: a Gaussian process on log-odds.

The log-odds of survival are a sum of one smooth curve for each component's DEF and one step for
each piece of equipment. The model assumes nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from pydantic import BaseModel, ConfigDict

from whybench.families.causalgame.agents.design_space import Encoded, Floats, Ints, Space

CURVES = 4
"""Number of features of a curve that are kept; the rest hardly varies."""


class Prior(BaseModel):
    """The prior before any flight; standard deviations are of log-odds."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    level: float
    """Mean log-odds."""
    level_spread: float
    slope: float
    """Mean value of unlimited DEF on a component that a drone needs."""
    other_slope: float
    """The same for other components."""
    saturation: float
    """Share of an even DEF at which half of that value is reached."""
    insurance: float
    """Mean value of a piece of equipment other than the default."""
    slope_spread: float
    curve_spread: float
    curve_length: float
    """Distance, on a scale of 0 (no DEF) to 1 (unlimited), over which DEF acts alike."""
    option_spread: float
    stubborn: float
    """Weight of the prior relevance of a lever, in numbers of effects."""
    turns: int
    """Number of iterations that learn the relevance of levers."""
    lack_of_fit: float
    """How far a design may deviate from the sum of its curves and steps."""


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """Observations of designs: log-odds of survival under several aspects."""

    designs: Encoded
    aspect: Ints
    """Aspect of each row: a stratum, or survival itself and its prediction."""
    log_odds: Floats
    variance: Floats

    def __len__(self) -> int:
        return len(self.aspect)


@dataclass(frozen=True, eq=False)
class Surrogate:
    """The Gaussian process after some evidence.

    Aspect a of a design x has the log-odds f(x) + g_a(x); how much g_a may vary, relative to f, is
    `apart[a]`.
    """

    space: Space
    prior: Prior
    apart: tuple[float, ...]
    evidence: Evidence

    @cached_property
    def _tables(self) -> tuple[Floats, list[Floats]]:
        view = self.space.view
        sizes = tuple(1 + len(choices) for _, choices in self.space.levers)
        return _tables(self.prior, view.def_range, self.space.share, sizes)

    @cached_property
    def _known(self) -> tuple[Floats, Floats, Floats, Floats]:
        """The evidence's features, relevances, inverse covariance, and that times the surprise.

        A lever's relevance is the variance of its effects, by evidence and prior (MacKay's
        automatic relevance determination, with a pull towards 1).
        """
        seen, how = self.evidence, self.prior
        features, mean = self._features(seen.designs)
        lever = self._lever_of_feature
        size = np.bincount(lever)
        relevance = np.ones(len(lever))
        surprise = seen.log_odds - mean
        noise = np.diag(seen.variance + how.lack_of_fit**2)
        parts = [np.ones(len(seen))]
        parts += [far * (seen.aspect == place) for place, far in enumerate(self.apart) if far]
        for turn in range(how.turns + 1):
            alike = sum(np.outer(part, part) for part in parts)
            inverse = np.linalg.inv((features * relevance) @ features.T * alike + noise)
            weights = inverse @ surprise
            if turn == how.turns:
                break
            moment = np.zeros(len(lever))
            for part in parts:
                own = features * part[:, None]
                moment += (relevance * (own.T @ weights)) ** 2 + relevance
                moment -= relevance**2 * ((inverse @ own) * own).sum(axis=0)
            found = how.stubborn + np.bincount(lever, moment) / len(parts)
            relevance = (found / (how.stubborn + size))[lever]
        return features, relevance, inverse, weights

    @cached_property
    def _lever_of_feature(self) -> Ints:
        curves, steps = self._tables
        sizes = [1, *[curves.shape[1] - 1] * len(self.space.view.components)]
        sizes += [len(step) for step in steps]
        if steps:
            sizes.append(2)
        return np.repeat(np.arange(len(sizes)), sizes)

    def predict(self, designs: Encoded, aspect: int) -> tuple[Floats, Floats]:
        """Return mean and standard deviation of the log-odds of designs under one aspect."""
        features, mean = self._features(designs)
        apart = self.apart[aspect] ** 2
        if not len(self.evidence):
            return mean, np.sqrt((features**2).sum(axis=1) * (1 + apart))
        known, relevance, inverse, weights = self._known
        own = features**2 @ relevance * (1 + apart)
        cross = features * relevance @ known.T * (1 + apart * (self.evidence.aspect == aspect))
        left = own - ((cross @ inverse) * cross).sum(axis=1)
        return mean + cross @ weights, np.sqrt(np.maximum(left, 1e-9))

    def _features(self, designs: Encoded) -> tuple[Floats, Floats]:
        """Return features whose weights have a standard normal prior, and the prior mean."""
        prior, (curves, steps) = self.prior, self._tables
        n = len(designs)
        low = self.space.view.def_range[0]
        place = np.clip(designs.defs - low, 0, len(curves) - 1)
        parts = [
            np.full((n, 1), prior.level_spread),
            curves[place][:, :, 1:].reshape(n, -1),
            *(step[column] for step, column in zip(steps, designs.options.T, strict=True)),
        ]
        if steps:
            mounted = designs.options.any(axis=1)
            parts.append(prior.option_spread * np.stack((mounted, ~mounted), axis=1))
        slopes = np.where(self.space.view.critical, prior.slope, prior.other_slope)
        mean = prior.level + curves[place][:, :, 0] @ slopes
        if steps and prior.insurance:
            mean += prior.insurance * self.space.special(designs).sum(axis=1)
        return np.concatenate(parts, axis=1), mean


@lru_cache(maxsize=64)
def _tables(
    prior: Prior, def_range: tuple[int, int], share: float, sizes: tuple[int, ...]
) -> tuple[Floats, list[Floats]]:
    """Return the features of each DEF, its expected value first, and those of each option."""
    defs = np.arange(def_range[0], def_range[1] + 1)
    worth = defs / (defs + share) - 0.5
    gap = (worth[:, None] - worth[None, :]) / prior.curve_length
    values, vectors = np.linalg.eigh(np.exp(-0.5 * gap**2))
    curves = vectors[:, -CURVES:] * np.sqrt(np.maximum(values[-CURVES:], 0)) * prior.curve_spread
    mean = defs / (defs + prior.saturation * share)
    found = np.column_stack((mean, prior.slope_spread * worth, curves))
    return found, [prior.option_spread * np.eye(size) for size in sizes]
