"""Score an episode on its hidden system; a pure function."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TypeAlias

from whybench.causal.canonical import Record
from whybench.episode.episode import ANSWERED
from whybench.episode.score import (
    CLAIMS,
    ERROR_MODES,
    UNFINISHED,
    Score,
    claims,
    formats,
    proof,
)
from whybench.episode.trace import Trace
from whybench.families.causallink.failure_patterns import BIASES, Change, bias
from whybench.families.causallink.prompts.theme import read_theme
from whybench.families.causallink.proof.beliefs import Beliefs
from whybench.families.causallink.proof.evidence import EvidenceLog, Verdict
from whybench.families.causallink.proof.plan import right_answer
from whybench.families.causallink.world.world import State, View, World

SMALL = 3
"""Up to this number of entities there are few different histories, so verdicts are cached."""

PROOF = ("understood", "lucky", "premature", "contradicted")


@dataclass(frozen=True, slots=True)
class EvidenceTimeline:
    """The interventions of an episode, and what they force."""

    changes: tuple[Change, ...]
    verdict: str
    """The answer that is forced, or `undecided`."""
    forced_after: int | None
    """Number of interventions after which the answer was first forced; None if never."""
    possible: frozenset[str] = frozenset()
    """The answers that the evidence leaves open."""


def evidence_timeline(world: World, trace: Trace) -> EvidenceTimeline:
    """Return a trace's interventions with the verdict of their evidence."""
    changes = tuple(_changes(world, trace))
    possible = frozenset(world.view.answers)
    for count, possible in enumerate(_possible(world.view, changes)):
        if len(possible) == 1:
            return EvidenceTimeline(changes, min(possible), count, possible)
    return EvidenceTimeline(changes, "undecided", None, possible)


def _possible(view: View, changes: tuple[Change, ...]) -> Iterator[frozenset[str]]:
    """Yield the answers that are open before the first intervention and after each."""
    if view.fixed:
        beliefs = Beliefs(view)
        yield beliefs.possible()
        for change in changes:
            beliefs.add(change.starts, change.v, change.after)
            yield beliefs.possible()
        return
    for verdict in _verdicts(view, changes):
        yield frozenset(view.answers if verdict == "undecided" else [verdict])


def _verdicts(view: View, changes: tuple[Change, ...]) -> Iterator[Verdict]:
    """Yield the verdict before the first intervention and after each; a forced one stays."""
    if view.n <= SMALL:
        yield from _small_verdicts(view, changes)
        return
    log = EvidenceLog(view)
    yield log.verdict()
    for change in changes:
        log.add(change.starts, change.v, change.after)
        yield log.verdict()


def _small_verdicts(view: View, changes: tuple[Change, ...]) -> Iterator[Verdict]:
    """Do the same in a small system, which has few different sets of informative changes."""
    shown: Shown = frozenset()
    verdict = _small_verdict(view.n, view.start, view.x, view.y, shown)
    yield verdict
    for c in changes:
        if c.starts != bool(c.before >> c.v & 1):
            shown |= {(c.starts, c.v, c.before, c.after)}
            verdict = _small_verdict(view.n, view.start, view.x, view.y, shown)
        yield verdict


Shown: TypeAlias = frozenset[tuple[bool, int, State, State]]
"""Starts of entities that were off, stops of those that were on: (start?, entity, before, after).

Other interventions change nothing in any system. What the changes force does not depend on their
order or on names.
"""


@lru_cache(maxsize=4096)
def _small_verdict(n: int, start: State, x: int, y: int, shown: Shown) -> Verdict:
    """Return what a set of changes forces; cached."""
    log = _ChangeLog(View("", ("",) * n, start, x, y, 0))
    for change in sorted(shown):
        log.add_change(*change)
    return log.verdict()


class _ChangeLog(EvidenceLog):
    """Evidence whose changes can be added in any order."""

    __slots__ = ()

    def add_change(self, starts: bool, v: int, before: State, after: State) -> None:
        """Add that starting v, or trying to stop it, led from `before` to `after`."""
        self._see(before)
        self.add(starts, v, after)


def _changes(world: World, trace: Trace) -> list[Change]:
    theme = read_theme(world.view.theme)
    changes, state = [], world.view.start
    for step in trace.steps:
        if not step.observation.is_error and step.action.name in (theme.start, theme.stop):
            starts = step.action.name == theme.start
            v = world.view.find(step.action.args[theme.noun])
            if v is None:
                raise ValueError("An intervention names no entity. Replay the trace first.")
            after = world.after_start(state, v) if starts else world.after_stop(state, v)
            changes.append(Change(starts, v, state, after))
            state = after
    return changes


def score(world: World, trace: Trace) -> Score:
    """Score an episode whose trace has been replayed on its world."""
    told = evidence_timeline(world, trace)
    outcome = trace.outcome or UNFINISHED
    said, gold = _answer(trace) if outcome == ANSWERED else None, right_answer(world)
    right = None if said is None else said == gold
    rests = None if said is None else proof(said, gold, told.possible)
    pattern = None
    if said is not None and not right and not world.view.fixed:
        pattern = bias(world.view.x, world.view.y, told.changes, said == "yes", told.verdict)
    own = told.changes[trace.given :]
    free = trace.evidence == "own"
    wasted = 0 if told.forced_after is None else len(told.changes) - told.forced_after
    values: dict[str, float | None] = {
        "accuracy": float(bool(right)),
        "accuracy_true": float(bool(right)) if gold == "yes" else None,
        "accuracy_false": float(bool(right)) if gold == "no" else None,
        "accuracy_cannot": float(bool(right)) if gold == "cannot" else None,
        "accuracy_answered": None if right is None else float(right),
        **(claims(said, gold) if world.view.fixed else dict.fromkeys(CLAIMS)),
        **_marked(PROOF, rests),
        **_marked(ERROR_MODES, outcome),
        "errors": float(any(step.observation.is_error for step in trace.steps)),
        **formats(trace),
        "ineffective_actions": float(sum(c.before == c.after for c in own)),
        "wasted_steps": float(wasted) if free else None,
        **(_UNMARKED if pattern is None else _marked(BIASES, pattern)),
    }
    labels = Record.of(verdict=told.verdict, proof=rests, bias=pattern)
    return Score(outcome, Record(values.items()), labels)


_UNMARKED: dict[str, None] = dict.fromkeys(BIASES)


@cache
def _marked(names: tuple[str, ...], mark: str | None) -> dict[str, float]:
    """Return 1 for the name that is marked, and 0 for the others."""
    return {name: float(name == mark) for name in names}


def _answer(trace: Trace) -> str:
    return str(trace.steps[-1].action.args["answer"]).strip().casefold()
