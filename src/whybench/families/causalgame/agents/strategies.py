"""Reference agents: floors, naive analysts, the exact agent and the oracle."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product

from whybench.causal.seeds import Stream
from whybench.episode.episode import Moves
from whybench.families.causalgame.agents import particles
from whybench.families.causalgame.agents.agent_state import Acting, AgentState, Trial
from whybench.families.causalgame.agents.correlational import correlational
from whybench.families.causalgame.agents.experimenter import experimenter
from whybench.families.causalgame.prompts.wording import percent
from whybench.families.causalgame.view import View
from whybench.families.causalgame.world.design import Design

Strategy = Callable[[AgentState, Stream], Acting[Design]]
"""Deploys drones and returns the design to submit."""

TRIALS, DRONES = 10, 20
"""Number of batches, and of drones in each, for the agents that compare designs."""


def null(state: AgentState, rng: Stream) -> Acting[Design]:  # noqa: ARG001 - every strategy has one
    """Submit the default design."""
    yield from _first_deployment(state, state.default)
    return state.default


def random(state: AgentState, rng: Stream) -> Acting[Design]:
    """Submit a random design."""
    drawn = random_design(state.view, rng)
    yield from _first_deployment(state, drawn)
    return drawn


def best_of_ten(state: AgentState, rng: Stream) -> Acting[Design]:
    """Deploy random designs and return the best one; the first of equals."""
    batches = min(TRIALS, state.view.deploys)
    for _ in range(batches if state.given is None else 0):
        design = random_design(state.view, rng)
        yield from state.deploy(design, _batch(state.view, batches))
    return _best(state)


def one_factor(state: AgentState, rng: Stream) -> Acting[Design]:
    """Change one thing at a time, in random order; keep a change if survival is no lower."""
    batches = min(TRIALS, state.view.deploys)
    count = _batch(state.view, batches)
    if state.given is None:
        now = state.default
        best = yield from state.deploy(now, count)
        for change in rng.shuffled(_changes(state.view))[: batches - 1]:
            trial = yield from state.deploy(change(now), count)
            if trial is not None and (best is None or _rate(trial) >= _rate(best)):
                now, best = trial.design, trial
    return _best(state)


def exact(state: AgentState, rng: Stream) -> Acting[Design]:
    """Play drawn systems by the law that is told, others by a general model."""
    agent = particles.exact if state.view.law else experimenter
    return (yield from agent(state, rng))


STRATEGIES: dict[str, Strategy] = {
    "null": null,
    "random": random,
    "best_of_ten": best_of_ten,
    "one_factor": one_factor,
    "correlational": correlational,
    "exact": exact,
}


def moves(state: AgentState, rng: Stream, strategy: Strategy) -> Moves:
    """Explore, submit and report."""
    chosen = yield from strategy(state, rng)
    yield from state.submit(chosen, report(state, chosen))


def oracle(best: Design) -> Strategy:
    """Return the strategy that knows the best design."""

    def known(state: AgentState, rng: Stream) -> Acting[Design]:  # noqa: ARG001
        yield from _first_deployment(state, best)
        return best

    return known


def report(state: AgentState, chosen: Design) -> dict[str, str]:
    """Describe what was done; reference agents claim no more than they counted."""
    tried = [
        f"{trial.count} drones of {_words(state.view, trial.design)}: {percent(_rate(trial))}"
        for trial in state.trials
    ]
    return {
        "success": "See the count of the fleet.",
        "determinants": "Deployments: " + ("; ".join(tried) or "none."),
        "failures": "Not examined one by one.",
        "conclusion": f"Submitted: {_words(state.view, chosen)}.",
    }


def random_design(view: View, rng: Stream) -> Design:
    """Draw DEF points one by one until the budget is spent, and any option of each slot."""
    low, high = view.def_range
    defs = [low] * len(view.components)
    for _ in range(view.total_def_budget - sum(defs)):
        free = [place for place, value in enumerate(defs) if value < high]
        defs[rng.choice(free)] += 1
    chosen: dict[str, str | bool] = {slot: rng.choice(options) for slot, _, options in view.slots}
    chosen |= {name: rng.below(2) == 1 for name in view.switches}
    return Design(tuple(defs), tuple(chosen.items()))


def _first_deployment(state: AgentState, design: Design) -> Acting[None]:
    """Deploy one drone, because a fleet needs one deployment before it."""
    if state.given is None:
        yield from state.deploy(design, 1)


def _batch(view: View, batches: int) -> int:
    return max(1, min(DRONES, view.most_per_deploy, view.drones // batches))


def _rate(trial: Trial) -> float:
    """Return the share that returned; if nobody counted, the share among the records."""
    if trial.survived is not None:
        return trial.survived / trial.count
    returned = sum(row["status"] == "RETURNED" for row in trial.records)
    return returned / max(1, len(trial.records))


def _best(state: AgentState) -> Design:
    return max(state.trials, key=_rate).design if state.trials else state.default


def _changes(view: View) -> list[Callable[[Design], Design]]:
    """Return every single change: a component to its lowest DEF or higher, or an option."""
    found: list[Callable[[Design], Design]] = [
        _component_change(view, place, up)
        for place, up in product(range(len(view.components)), (False, True))
    ]
    found += [_option_change(slot, option) for slot, _, options in view.slots for option in options]
    return found + [_option_change(name, True) for name in view.switches]


def _component_change(view: View, place: int, up: bool) -> Callable[[Design], Design]:
    low, high = view.def_range

    def change(design: Design) -> Design:
        defs = list(design.defs)
        room = view.total_def_budget - sum(defs)
        defs[place] = min(high, defs[place] + max(room, 0)) if up else low
        return Design(tuple(defs), design.equipment)

    return change


def _option_change(slot: str, option: str | bool) -> Callable[[Design], Design]:
    def change(design: Design) -> Design:
        return Design(design.defs, tuple((dict(design.equipment) | {slot: option}).items()))

    return change


def _words(view: View, design: Design) -> str:
    parts: Sequence[str] = [
        *(f"{name} {value}" for name, value in zip(view.components, design.defs, strict=True)),
        *(f"{slot} {choice}" for slot, choice in design.equipment),
    ]
    return ", ".join(parts)
