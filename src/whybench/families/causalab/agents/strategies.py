"""Reference agents: guessers, a regression without a graph, and the exact agent."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from whybench.causal.graph import Graph, members
from whybench.causal.seeds import Stream
from whybench.episode.action import Action
from whybench.episode.episode import Moves
from whybench.episode.observation import Observation
from whybench.episode.trace import Step
from whybench.families.causalab.agents.design import level, next_setting
from whybench.families.causalab.hypothesis import Edge, Guess, written
from whybench.families.causalab.numbers import reading_of
from whybench.families.causalab.proof.ambiguity import Verdicts, answers, verdicts
from whybench.families.causalab.proof.disturbance import options
from whybench.families.causalab.proof.equations import Solution
from whybench.families.causalab.proof.evidence import (
    Evidence,
    Inference,
    evidence_of,
    inferred,
    predicted,
)
from whybench.families.causalab.world.observed import glance as at_a_glance
from whybench.families.causalab.world.world import FREQUENCY, Reading, Readings, View, World

Given = Sequence[Step] | None
"""Given experiments, after which the agent may only submit; None if it experiments itself."""


@dataclass
class AgentState:
    """What an agent knows so far, and how it acts."""

    view: View
    given: Given = None
    shown: Readings | None = None
    """The reactor's crystal, once it is open."""
    readings: list[Reading] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.readings = [*self.view.records, self.view.baseline]
        for step in self.given or ():
            self.readings.append(reading_of(self.view, step.action, step.observation))

    @property
    def left(self) -> int:
        """Number of interventions that are left."""
        if self.given is not None:
            return 0
        made = sum(r.crystal == self.view.baseline.crystal for r in self.readings) - 1
        return self.view.budget - made

    def evidence(self) -> Evidence:
        """Return all readings so far."""
        return evidence_of(self.view, tuple(self.readings))

    def intervene(self, v: int, setting: float, guess: Guess | None = None) -> Moves:
        """Set a property and store the reading."""
        args = {"property": self.view.names[v], "value": _plain(setting)}
        if guess is not None:
            args["hypothesis"] = json.dumps(written(self.view, guess))
        action = Action.of("intervene", **args)
        observation = yield action
        if not observation.is_error:
            self.readings.append(reading_of(self.view, action, observation))

    def open(self) -> Moves:
        """Open the reactor; repeat the request if the episode first asks for a check."""
        while self.shown is None:
            observation: Observation = yield Action.of("open_reactor")
            if observation.data.get("reactor") is not None:
                crystal = observation.data["reactor"]
                own = [0.0 if v == FREQUENCY else crystal[name] for v, name in self._named()]
                self.shown = tuple(own)
            elif observation.is_error:
                return

    def _named(self) -> Iterator[tuple[int, str]]:
        return enumerate(self.view.names)

    def submit(self, frequency: float, guess: Guess) -> Moves:
        """Submit the prediction with a hypothesis; the released rules may ask twice."""
        action = Action.of(
            "submit",
            frequency=_plain(frequency),
            hypothesis=json.dumps(written(self.view, guess)),
        )
        observation: Observation = yield action
        if observation.data.get("activated") is not None:
            yield action


def _plain(value: float) -> str:
    return repr(round(value, 6) + 0.0)


Strategy = Callable[[AgentState, Stream], Moves]
"""A reference agent; it gets the view that every agent gets, and nothing more."""


# The exact experimenter.


def exact(state: AgentState, _: Stream) -> Moves:
    """Experiment until every equation is forced, then compute."""
    if state.view.disturbance:
        yield from _under_disturbance(state)
        return
    while state.left > 0:
        evidence = state.evidence()
        found = inferred(evidence)
        step = None if found.complete else next_setting(evidence, found)
        if step is None:
            break
        yield from state.intervene(*step)
    yield from state.open()
    evidence = state.evidence()
    found = inferred(evidence)
    guess, frequency = conclusion(state, evidence, found)
    yield from state.submit(frequency, guess)


def conclusion(state: AgentState, evidence: Evidence, found: Inference) -> tuple[Guess, float]:
    """Return what the readings force, and the shortest solution of open equations."""
    view = state.view
    solution = evidence.solved(FREQUENCY, found.causes[FREQUENCY])
    said = predicted(evidence, solution, state.shown or (0.0,) * view.k)
    sure = found.edges() if found.complete else verdicts(evidence).always
    edges = frozenset(sure) | {(p, FREQUENCY) for p in members(solution.parents(view.k))}
    guess = _guess(view, _without_circles(view.k, edges), solution, said.base)
    return _with_open_pairs(evidence, guess), said.value


def _with_open_pairs(evidence: Evidence, guess: Guess) -> Guess:
    """Mark the edges that readings leave open as undetermined, where verdicts are asked for."""
    if not evidence.view.observed:
        return guess
    unsettled = verdicts(evidence).sometimes
    return replace(guess, edges=guess.edges - unsettled, undetermined=unsettled)


def _guess(view: View, edges: frozenset[Edge], solution: Solution, base: float) -> Guess:
    parents = sorted(cause for cause, effect in edges if effect == FREQUENCY)
    k = view.k
    linear = tuple((p, round(float(solution.weights[p]), 6)) for p in parents)
    square: tuple[tuple[int, float], ...] = ()
    if view.quadratic:
        square = tuple((p, round(float(solution.weights[k + p]), 8)) for p in parents)
    return Guess(edges, round(base, 6), linear, square)


def _without_circles(k: int, edges: frozenset[Edge]) -> frozenset[Edge]:
    """Drop edges that are not forced together, if the evidence leaves the frequency open."""
    if Graph.from_edges(k, edges).is_acyclic():
        return edges
    kept: list[Edge] = []
    for edge in sorted(edges, key=lambda e: e[1] == FREQUENCY):
        if Graph.from_edges(k, [*kept, edge]).is_acyclic():
            kept.append(edge)
    return frozenset(kept)


def _under_disturbance(state: AgentState) -> Moves:
    """Set properties in turn until each node has one equation or the budget is used up."""
    view, targets, turn = state.view, state.view.targets(), 0
    waiting = list(range(view.k))
    while state.left > 0:
        evidence = state.evidence()
        while waiting and options(evidence, waiting[0], view.disturbance).settled:
            waiting.pop(0)  # what is settled stays settled
        if not waiting:
            break
        setting = level(view, turn // len(targets))
        yield from state.intervene(targets[turn % len(targets)], setting)
        turn += 1
    yield from state.open()
    guess, frequency = disturbed_conclusion(state)
    yield from state.submit(frequency, guess)


def disturbed_conclusion(state: AgentState) -> tuple[Guess, float]:
    """Return the likeliest equation of every node, and the frequency that it predicts."""
    view, evidence = state.view, state.evidence()
    edges: set[Edge] = set()
    linear: tuple[tuple[int, float], ...] = ()
    base = frequency = 0.0
    for v in range(view.k):
        option = options(evidence, v, view.disturbance).best()
        if option is None:
            continue
        edges |= {(p, v) for p in members(option.parents())}
        if v == FREQUENCY:
            base = round(option.base, 6)
            linear = tuple((p, round(option.weights[p], 6)) for p in members(option.parents()))
    kept = _without_circles(view.k, frozenset(edges))
    linear = tuple((p, w) for p, w in linear if (p, FREQUENCY) in kept)
    if state.shown is not None:
        frequency = base + sum(w * state.shown[p] for p, w in linear)
    return Guess(kept, base, linear), frequency


# Others.


def regression(state: AgentState, _: Stream) -> Moves:
    """Collect readings until the frequency is forced, and claim nothing beyond its equation."""
    while state.left > 0:
        found = inferred(state.evidence())
        step = next_setting(state.evidence(), found)
        if found.settled >> FREQUENCY & 1 or step is None:
            break
        yield from state.intervene(*step)
    yield from state.open()
    yield from state.submit(*_fitted(state))


def _fitted(state: AgentState) -> tuple[float, Guess]:
    """Return the frequency that a fit of its readings predicts, and the fit."""
    view, evidence = state.view, state.evidence()
    solution = evidence.solved(FREQUENCY, evidence.may_cause(FREQUENCY))
    said = predicted(evidence, solution, state.shown or (0.0,) * view.k)
    edges = frozenset((p, FREQUENCY) for p in members(solution.parents(view.k)))
    return said.value, _guess(view, edges, solution, said.base)


def glance(state: AgentState, _: Stream) -> Moves:
    """Fit the frequency to the given readings; judge other pairs by what moved."""
    yield from state.open()
    frequency, guess = _fitted(state)
    seen = at_a_glance(state.evidence())
    claimed = _without_circles(state.view.k, guess.edges | seen.always)
    yield from state.submit(frequency, replace(guess, edges=claimed, undetermined=seen.sometimes))


def undetermined(state: AgentState, _: Stream) -> Moves:
    """Predict the mean of the observed frequencies; mark every edge as undetermined."""
    yield from state.open()
    mean, every = _mean(state), answers(state.view, Verdicts(frozenset(), frozenset()))
    yield from state.submit(mean, Guess(frozenset(), mean, undetermined=frozenset(every)))


def _mean(state: AgentState) -> float:
    seen = [reading.values[FREQUENCY] for reading in state.readings]
    return sum(seen) / len(seen)


def null(state: AgentState, _: Stream) -> Moves:
    """Predict the mean of the observed frequencies."""
    yield from state.open()
    mean = _mean(state)
    yield from state.submit(mean, Guess(frozenset(), mean))


def by_size(state: AgentState, _: Stream) -> Moves:
    """Claim that smaller quantities cause all larger ones, and that all cause the frequency."""
    view = state.view
    yield from state.open()
    means = [abs(sum(r.values[v] for r in state.readings)) for v in range(view.k)]
    order = sorted(range(1, view.k), key=lambda v: means[v])
    edges = {(a, b) for i, a in enumerate(order) for b in order[i + 1 :]}
    edges |= {(v, FREQUENCY) for v in order}
    terms = tuple((v, 1.0) for v in range(1, view.k))
    square = tuple((v, 0.0) for v in range(1, view.k)) if view.quadratic else ()
    yield from state.submit(_mean(state), Guess(frozenset(edges), 0.0, terms, square))


def random(state: AgentState, stream: Stream) -> Moves:
    """Set random properties, claim random edges, predict a random frequency that was seen."""
    view = state.view
    targets = view.targets()
    for _ in range(stream.below(view.k) if targets and state.given is None else 0):
        if state.left > 0:
            setting = float(stream.below(int(view.limit or 100.0) + 1))
            yield from state.intervene(stream.choice(targets), setting)
    yield from state.open()
    order = [*stream.shuffled(range(1, view.k)), FREQUENCY]
    edges = {(a, b) for i, a in enumerate(order) for b in order[i + 1 :] if stream.below(2)}
    terms = tuple((a, float(1 + stream.below(3))) for a, b in sorted(edges) if b == FREQUENCY)
    square = tuple((a, 0.0) for a, _ in terms) if view.quadratic else ()
    seen = stream.choice(state.readings).values[FREQUENCY]
    yield from state.submit(seen, Guess(frozenset(edges), 20.0, terms, square))


STRATEGIES: dict[str, Strategy] = {
    "null": null,
    "random": random,
    "by_size": by_size,
    "regression": regression,
    "glance": glance,
    "undetermined": undetermined,
    "exact": exact,
}


def oracle(world: World, state: AgentState) -> Moves:
    """Submit the truth; for tests and ceilings only."""
    law, view = world.law, world.view
    edges = frozenset(law.graph.edges())
    terms = sorted(law.terms[FREQUENCY], key=lambda term: term.cause)
    linear = tuple((term.cause, term.linear) for term in terms)
    square = tuple((term.cause, term.square) for term in terms) if view.quadratic else ()
    yield from state.open()
    guess = _with_open_pairs(state.evidence(), Guess(edges, law.base, linear, square))
    yield from state.submit(world.target, guess)
