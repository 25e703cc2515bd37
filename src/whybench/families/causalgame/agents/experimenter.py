"""The exact experimenter: it flies designs, learns what they are worth, and never sees the truth.

It starts with designs that vary every lever at once, then flies what may well be the best by what
it has seen so far, bolder at first, and submits what it expects most of. The history is left aside:
nobody chose at random who flew what there.
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
    """How the experimenter goes about it; the same in all worlds."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    questions: tuple[str, ...]
    """What it asks where questions are allowed."""
    prior: Prior
    warned: Prior
    """The prior where conditions will change in ways nobody says: flights tell less about the
    fleet, and whatever may protect it is worth more than they show."""
    stratum_apart: float
    """How much a lever's worth may differ between strata, relative to what they share."""
    index_apart: float
    """The same between survival and a stand-in for it."""
    screening: int
    """So many deployments vary all levers at once before the search begins."""
    boldness: tuple[float, float]
    """Standard deviations added to a design's expectation, in the first and the last deployment."""
    caution: float
    """Standard deviations taken off a design's expectation in the final choice."""
    candidates: int
    """Designs that are weighed at a time."""


@cache
def habits() -> Habits:
    """Return the habits from their file."""
    text = (files(__package__ or "") / "experimenter.json").read_text("utf-8")
    return Habits.model_validate(json.loads(text))


def experimenter(state: AgentState, rng: Stream) -> Acting[Design]:
    """Deploy within the budgets and return the design to submit; given evidence, only choose."""
    view = state.view
    if state.given is None:
        if view.queries:
            for question in habits().questions[: view.queries]:
                yield from state.ask(question)
        while state.deploys and state.drones:
            count = min(view.most_per_deploy, -(-state.drones // state.deploys))
            found = next_design(view, state.trials, rng)
            trial = yield from state.deploy(found, count)
            if trial is None:
                break
    return choice(view, state.trials)


def choice(view: View, trials: Sequence[Trial], *draw: int) -> Design:
    """Return the design of which most is expected, by nothing but deployments.

    Candidates are drawn at random; where flights say little, another `draw` chooses otherwise.
    """
    stream = Stream("causalgame", "experimenter", "choice", *draw)
    return _best(Space(view), trials, -habits().caution, stream)


def next_design(view: View, trials: Sequence[Trial], rng: Stream) -> Design:
    """Return what to fly next."""
    space, how = Space(view), habits()
    if len(trials) < min(how.screening, (view.deploys + 1) // 2):
        return _screening(space, trials, rng)
    first, last = how.boldness
    progress = len(trials) / max(1, view.deploys - 1)
    return _best(space, trials, first + (last - first) * progress, rng)


def _screening(space: Space, trials: Sequence[Trial], rng: Stream) -> Design:
    """Return the design, of some that give each lever one of two settings, that is least known."""
    flown = space.encode([trial.design for trial in trials])
    found = space.balanced(habits().candidates // 4, flown, rng)
    known = _surrogate(space, reading(space, trials, _apart()))
    _, spread = known.predict(found, 0)
    return space.decode(found, int(spread.argmax()))


def _best(space: Space, trials: Sequence[Trial], boldness: float, rng: Stream) -> Design:
    """Return the design with the highest expectation plus some standard deviations."""
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
    """Tell whether conditions will change in ways nobody says."""
    return bool(view.warning) and view.storms is None


def _apart() -> tuple[float, float]:
    return habits().stratum_apart, habits().index_apart
