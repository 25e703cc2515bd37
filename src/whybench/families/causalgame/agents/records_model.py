"""What deployments say about designs: counts, strata of the forecast, and predicted survival.

The prediction needs visible records of failures and a reconstructed variable that differs between
designs. Survival is regressed on such variables over all visible drones. A design is then rated by
the survival that its drones' variables predict, not by their actual survival. This is less noisy
than a count but may be biased, so the surrogate keeps the two separate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from whybench.families.causalgame.agents.agent_state import Trial
from whybench.families.causalgame.agents.design_space import Encoded, Floats, Ints, Space
from whybench.families.causalgame.agents.surrogate import Evidence

RETURNED = "RETURNED"
NOT_MEASURED = frozenset({"id", "flown", "design", "status", "was_detected", "hit_count"})
"""Columns that do not describe the circumstances of a flight."""

FEWEST = 6
"""Number of failures and of survivors on record that a regression needs."""

DISTINCT = 4.0
"""A variable differs between designs if its F statistic is above this."""

RIDGE = 1.0
LEAST_VARIANCE = 0.02
"""Minimum variance of the predicted log-odds."""


@dataclass(frozen=True, slots=True)
class Reading:
    """Evidence, and the meaning of its aspects."""

    evidence: Evidence
    apart: tuple[float, ...]
    """How far each aspect may be from what all share, relative to the shared part."""
    shares: tuple[float, ...]
    """Share of the fleet that each aspect describes."""


@dataclass(frozen=True)
class Records:
    """All visible records of some trials."""

    trials: Sequence[Trial]

    @cached_property
    def trial(self) -> Ints:
        """The trial of each record."""
        return np.repeat(np.arange(len(self.trials)), [len(t.records) for t in self.trials])

    @cached_property
    def returned(self) -> NDArray[np.bool_]:
        """Whether each drone returned."""
        return np.array(
            [row["status"] == RETURNED for t in self.trials for row in t.records], dtype=np.bool_
        )

    @cached_property
    def columns(self) -> dict[str, Floats]:
        """Circumstances that are numbers or truth values and are on every record."""
        rows = [row for t in self.trials for row in t.records]
        names = set(rows[0]).intersection(*rows) - NOT_MEASURED if rows else set()
        return {
            name: np.array([row[name] for row in rows], dtype=np.float64)
            for name in sorted(names)
            if not isinstance(rows[0][name], str)
        }


def reading(space: Space, trials: Sequence[Trial], apart: tuple[float, float]) -> Reading:
    """Read trials; `apart` is for strata and for the prediction."""
    designs = space.encode([trial.design for trial in trials])
    records, storms = Records(trials), space.view.storms
    if storms is not None:
        stormy = storm_flags(records, storms[0])
        if stormy is not None:
            rows = _strata(records, stormy, storms[0], space.view.keep_failed)
            shares = (storms[1], 1 - storms[1])
            return Reading(_evidence(designs, rows), (apart[0], apart[0]), shares)
    rows = [(place, 0, *_counted(trial)) for place, trial in enumerate(trials)]
    found = _evidence(designs, rows)
    index = stand_in(records, space.view.keep_failed) if space.view.counts else None
    if index is not None:
        found = Evidence(
            designs.and_also(designs),
            np.repeat(np.arange(2), len(trials)),
            np.concatenate((found.log_odds, index[0])),
            np.concatenate((found.variance, index[1])),
        )
    return Reading(found, (0.0, apart[1]), (1.0, 0.0))


def _counted(trial: Trial) -> tuple[float, float]:
    """Return survivors and drones; if nobody counted, unharmed drones among the records."""
    if trial.survived is not None:
        return trial.survived, trial.count
    unharmed = sum(row["hit_count"] == 0 for row in trial.records)
    return unharmed, max(1, len(trial.records))


def _evidence(designs: Encoded, rows: Sequence[tuple[int, int, float, float]]) -> Evidence:
    table = np.array(rows, dtype=np.float64).reshape(len(rows), 4)
    place, aspect = table[:, 0].astype(np.int64), table[:, 1].astype(np.int64)
    good, bad = table[:, 2] + 0.5, table[:, 3] - table[:, 2] + 0.5
    return Evidence(designs.rows(place), aspect, np.log(good / bad), 1 / good + 1 / bad)


# Strata.


def storm_flags(records: Records, share: float) -> NDArray[np.bool_] | None:
    """Find storms by the column that splits most clearly into two groups."""
    best, found = 0.0, None
    for column in records.columns.values():
        cut, clarity = _cut(column)
        if clarity > best:
            best, found = clarity, column > cut
    if found is None:
        return None
    return found if abs(found.mean() - share) <= abs(1 - found.mean() - share) else ~found


def _cut(column: Floats) -> tuple[float, float]:
    """Return the best cut between two groups (Otsu), and the share of variance explained."""
    values = np.sort(column)
    n, total = len(values), values.var()
    if n < 2 or total <= 0:
        return 0.0, 0.0
    below = np.cumsum(values)[:-1]
    size = np.arange(1, n)
    gap = below / size - (values.sum() - below) / (n - size)
    between = size * (n - size) * gap**2 / n**2
    place = int(between.argmax())
    return float(values[place] + values[place + 1]) / 2, float(between[place] / total)


def _strata(
    records: Records, stormy: NDArray[np.bool_], share: float, keep_failed: float
) -> list[tuple[int, int, float, float]]:
    """Return survivors and drones of each trial in storms and in clear weather.

    Hidden failures are split in proportion to the visible ones and to what the share of storms
    leaves unexplained.
    """
    rows = []
    for place, trial in enumerate(records.trials):
        own = records.trial == place
        good = [float((own & records.returned & (stormy == flag)).sum()) for flag in (True, False)]
        bad = [float((own & ~records.returned & (stormy == flag)).sum()) for flag in (True, False)]
        hidden = max(0.0, trial.count - sum(good) - sum(bad))
        expected = [
            max(0.5, trial.count * part - k - b)
            for part, k, b in zip((share, 1 - share), good, bad, strict=True)
        ]
        pull = [e / sum(expected) + keep_failed * b for e, b in zip(expected, bad, strict=True)]
        for aspect in (0, 1):
            lost = bad[aspect] + hidden * pull[aspect] / sum(pull)
            rows.append((place, aspect, good[aspect], good[aspect] + lost))
    return rows


# The stand-in.


def stand_in(records: Records, keep_failed: float) -> tuple[Floats, Floats] | None:
    """Return predicted log-odds of survival for each trial, and their variance."""
    failures = int((~records.returned).sum())
    if keep_failed <= 0 or min(failures, len(records.returned) - failures) < FEWEST:
        return None
    chosen = [c for c in records.columns.values() if _distinct(c, records)]
    if not chosen:
        return None
    x = np.stack([(c - c.mean()) / (c.std() + 1e-12) for c in chosen], axis=1)
    odds = _logistic(x, records.returned) + np.log(keep_failed)
    chance = 1 / (1 + np.exp(-odds))
    # A drone is on record with this chance, whatever became of it.
    weight = 1 / (chance + (1 - chance) * keep_failed)
    k = len(records.trials)
    total = np.bincount(records.trial, weight, k)
    mean = np.bincount(records.trial, weight * chance, k) / np.maximum(total, 1e-9)
    off = weight * (chance - mean[records.trial])
    spread = np.bincount(records.trial, off**2, k) / np.maximum(total, 1e-9) ** 2
    mean = np.clip(np.where(total > 0, mean, 0.5), 0.02, 0.98)
    slope = mean * (1 - mean)
    variance = np.where(total > 0, spread / slope**2 + LEAST_VARIANCE, 100.0)
    return np.log(mean / (1 - mean)), variance


def _distinct(column: Floats, records: Records) -> bool:
    """Tell whether a variable differs between trials more than within them."""
    k = len(records.trials)
    size = np.bincount(records.trial, minlength=k)
    mean = np.bincount(records.trial, column, k) / np.maximum(size, 1)
    within = ((column - mean[records.trial]) ** 2).sum() / max(1, len(column) - k)
    between = (size * (mean - column.mean()) ** 2).sum() / max(1, k - 1)
    return bool(within > 0 and between > DISTINCT * within)


def _logistic(x: Floats, returned: NDArray[np.bool_]) -> Floats:
    """Return the log-odds of a ridge logistic regression, by Newton's method."""
    x = np.column_stack((np.ones(len(x)), x))
    ridge = np.diag([1e-6] + [RIDGE] * (x.shape[1] - 1))
    beta = np.zeros(x.shape[1])
    for _ in range(8):
        chance = 1 / (1 + np.exp(-np.clip(x @ beta, -30, 30)))
        slope = chance * (1 - chance) + 1e-6
        gradient = x.T @ (returned - chance) - ridge @ beta
        beta += np.linalg.solve((x * slope[:, None]).T @ x + ridge, gradient)
    found: Floats = np.clip(x @ beta, -6, 6)
    return found
