"""The exact agent: it flies designs, learns their value, and never sees the truth.

It starts with designs that vary every lever at once. Then it flies the designs that may be best by
what it has seen, more boldly at first, and submits the design with the best expectation. It ignores
the history, because its designs were not assigned at random.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from importlib.resources import files

import numpy as np
from pydantic import BaseModel, ConfigDict

from whybench.causal.seeds import Stream
from whybench.families.causalgame.agents.agent_state import Acting, AgentState, Trial
from whybench.families.causalgame.agents.design_space import Encoded, Floats, Space
from whybench.families.causalgame.agents.records_model import Reading, reading
from whybench.families.causalgame.agents.surrogate import Prior, Surrogate
from whybench.families.causalgame.view import View
from whybench.families.causalgame.world.design import Design


class Habits(BaseModel):
    """Settings of the exact agent; the same for all hidden systems."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    questions: tuple[str, ...]
    """Questions that it asks if questions are allowed."""
    prior: Prior
    warned: Prior
    """The prior if conditions will change in an unknown way: flights say less about the fleet, and
    possible protection is worth more than they show."""
    stratum_apart: float
    """How much a lever's value may differ between strata, relative to what they share."""
    index_apart: float
    """The same between survival and its surrogate from records."""
    screening: int
    """Number of deployments that vary all levers at once before the search begins."""
    boldness: tuple[float, float]
    """Standard deviations added to a design's mean, in the first and in the last deployment."""
    caution: float
    """Standard deviations subtracted from a design's mean in the final choice."""
    candidates: int
    """Number of designs that are compared at a time."""


@cache
def habits() -> Habits:
    """Return the settings from their file."""
    text = (files(__package__ or "") / "experimenter.json").read_text("utf-8")
    return Habits.model_validate(json.loads(text))


def experimenter(state: AgentState, rng: Stream) -> Acting[Design]:
    """Deploy within the budgets and return the design to submit; given evidence, only choose."""
    view = state.view
    if state.given is None:
        if view.queries:
            for question in _questions(view):
                yield from state.ask(question)
        while state.deploys and state.drones:
            count = _batch(view, state.drones, state.deploys)
            found = next_design(view, state.trials, rng)
            trial = yield from state.deploy(found, count)
            if trial is None:
                break
    return choice(view, state.trials)


def _questions(view: View) -> tuple[str, ...]:
    return habits().questions[: view.queries]


def _batch(view: View, drones: int, deploys: int) -> int:
    """Return how many of the drones that are left fly in the next deployment."""
    return min(view.most_per_deploy, -(-drones // deploys))


def choice(view: View, trials: Sequence[Trial], *draw: int) -> Design:
    """Return the design with the best expectation, from deployments alone.

    Candidates are drawn at random. If flights say little, another `draw` gives another choice.
    """
    stream = Stream("causalgame", "experimenter", "choice", *draw)
    return _best(Space(view), trials, -habits().caution, stream)


def next_design(view: View, trials: Sequence[Trial], rng: Stream) -> Design:
    """Choose the next design: screen all levers first, then search for the best."""
    space, how = Space(view), habits()
    if len(trials) < min(how.screening, (view.deploys + 1) // 2):
        return _screening(space, trials, rng)
    first, last = how.boldness
    progress = len(trials) / max(1, view.deploys - 1)
    return _best(space, trials, first + (last - first) * progress, rng)


def _screening(space: Space, trials: Sequence[Trial], rng: Stream) -> Design:
    """Return the least known of some designs that give each lever one of two settings."""
    flown = space.encode([trial.design for trial in trials])
    found = space.balanced(habits().candidates // 4, flown, rng)
    known = _surrogate(space, reading(space, trials, _apart()))
    _, spread = known.predict(found, 0)
    return space.decode(found, int(spread.argmax()))


def _best(space: Space, trials: Sequence[Trial], boldness: float, rng: Stream) -> Design:
    """Return the design with the highest mean plus some standard deviations."""
    seen = reading(space, trials, _apart())
    known = _surrogate(space, seen)
    n = habits().candidates

    def worth(found: Encoded) -> Floats:
        total = np.zeros(len(found))
        for aspect, share in enumerate(seen.shares):
            if share:
                mean, spread = known.predict(found, aspect)
                total += share / (1 + np.exp(-(mean + boldness * spread)))
        return total

    found = space.even.and_also(space.scattered(n, rng))
    flown = space.encode([trial.design for trial in trials])
    found = found.and_also(flown)
    value = worth(found)
    for _ in range(3):
        top = np.argsort(-value, kind="stable")[:8]
        found = found.rows(top)
        value = value[top]
        near = space.neighbours(found, n // 2, rng)
        found, value = found.and_also(near), np.concatenate((value, worth(near)))
    return space.decode(found, int(value.argmax()))


def _surrogate(space: Space, seen: Reading) -> Surrogate:
    how = habits()
    prior = how.warned if _unknown_shift(space.view) else how.prior
    return Surrogate(space, prior, seen.apart, seen.evidence)


def _unknown_shift(view: View) -> bool:
    """Tell whether conditions will change in an unknown way."""
    return bool(view.warning) and view.storms is None


def _apart() -> tuple[float, float]:
    return habits().stratum_apart, habits().index_apart
