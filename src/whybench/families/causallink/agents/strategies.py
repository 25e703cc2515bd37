"""Reference agents: guessers as the floor, and the exact agent as the ceiling."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from whybench.causal.seeds import Stream
from whybench.episode.action import Action
from whybench.episode.episode import Moves
from whybench.episode.observation import Observation
from whybench.episode.trace import Step
from whybench.families.causallink.prompts.theme import read_theme
from whybench.families.causallink.proof.beliefs import Beliefs
from whybench.families.causallink.proof.evidence import EvidenceLog
from whybench.families.causallink.proof.plan import (
    EXACT_UP_TO,
    next_in_sweep,
    right_answer,
)
from whybench.families.causallink.world.world import State, View, World

Given = Sequence[Step] | None
"""Given experiments, after which the agent may only answer; None if it experiments itself."""

Strategy = Callable[[View, Stream, Given], Moves]
"""A reference agent; it gets the view that every agent gets, and nothing more."""


def answer(word: str) -> Action:
    """Return the final action."""
    return Action.of("answer", answer=word)


def intervention(view: View, state: State, v: int) -> Action:
    """Start v if it is off, stop it if it is on."""
    theme = read_theme(view.theme)
    verb = theme.stop if state >> v & 1 else theme.start
    return Action.of(verb, **{theme.noun: view.names[v]})


def seen(view: View, observation: Observation) -> State:
    """Return the state that an observation shows."""
    return sum(1 << view.names.index(name) for name in observation.data["on"])


def exact(view: View, _: Stream, given: Given = None) -> Moves:
    """Follow the best plan and answer as soon as the evidence forces it.

    If the budget is used up before, answer what most orders that fit say (up to five entities), or
    no, because most pairs have no link.
    """
    if given is not None:
        return _inferred(view, given)
    return _searched(view) if view.n <= EXACT_UP_TO else _swept(view)


def _inferred(view: View, given: Sequence[Step]) -> Moves:
    """Answer what given evidence forces; otherwise say no, because most pairs have no link."""
    theme = read_theme(view.theme)
    log = Beliefs(view) if view.fixed else EvidenceLog(view)
    for step in given:
        v = view.find(step.action.args[theme.noun])
        if v is not None:
            log.add(step.action.name == theme.start, v, seen(view, step.observation))
    yield answer(log.guess() if isinstance(log, Beliefs) else _said(log))


def _searched(view: View) -> Moves:
    """Follow the plan found by exhaustive search over belief states, up to five entities."""
    beliefs, state = Beliefs(view), view.start
    for _ in range(view.budget):
        if beliefs.verdict() != "undecided":
            break
        v = beliefs.best()
        after = seen(view, (yield intervention(view, state, v)))
        beliefs.add(not state >> v & 1, v, after)
        state = after
    yield answer(beliefs.guess())


def _swept(view: View) -> Moves:
    """Follow the fixed plan for more entities, until the evidence forces the answer."""
    state, tried = view.start, 0
    log = EvidenceLog(view)
    for _ in range(view.budget):
        if log.verdict() != "undecided":
            break
        v = next_in_sweep(view, state, tried)
        after = seen(view, (yield intervention(view, state, v)))
        log.add(not state >> v & 1, v, after)
        state, tried = after, tried | 1 << v
    yield answer(_said(log))


def _said(log: EvidenceLog) -> str:
    return "yes" if log.verdict() == "yes" else "no"


def random(view: View, stream: Stream, given: Given = None) -> Moves:
    """Intervene at random up to n times, then answer at random."""
    theme = read_theme(view.theme)
    for _ in range(stream.below(view.n + 1) if given is None else 0):
        verb = stream.choice((theme.start, theme.stop))
        yield Action.of(verb, **{theme.noun: stream.choice(view.movable)})
    yield answer(stream.choice(("no", "yes", "cannot")[: len(view.answers)]))


def _constant(judge: Callable[[View], str]) -> Strategy:
    def strategy(view: View, _: Stream, __: Given = None) -> Moves:
        yield answer(judge(view))

    return strategy


STRATEGIES: dict[str, Strategy] = {
    "null": _constant(lambda _: "yes"),
    "null_no": _constant(lambda _: "no"),
    "random": random,
    "null_cannot": _constant(lambda view: view.answers[-1]),
    "first_listed": _constant(lambda view: "yes" if view.x < view.y else "no"),
    "last_listed": _constant(lambda view: "yes" if view.x > view.y else "no"),
    "names_only": _constant(
        lambda view: "yes" if view.names[view.x] < view.names[view.y] else "no"
    ),
    "exact": exact,
}


def oracle(world: World) -> Moves:
    """Answer with the truth; for tests and ceilings only."""
    yield answer(right_answer(world))
