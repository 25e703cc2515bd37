"""(world, episode) → score; pure."""

from __future__ import annotations

from dataclasses import dataclass

from whybench.core.canonical import Record
from whybench.episode.action import MALFORMED
from whybench.episode.episode import (
    ANSWERED,
    INVALID_ACTION,
    INVALID_ANSWER,
    INVALID_FORMAT,
    TIMEOUT,
)
from whybench.episode.score import ERROR_MODES, UNFINISHED, Metric, Score
from whybench.episode.trace import Trace
from whybench.families.causallink.bias import BIASES, Change, bias
from whybench.families.causallink.evidence import EvidenceLog, Verdict
from whybench.families.causallink.theme import read_theme
from whybench.families.causallink.world import World

PROOF = ("proved", "lucky", "premature", "contradicts_evidence")

METRICS = (
    Metric("accuracy", "right answers; an episode without an answer counts as wrong"),
    Metric("accuracy_true", "the same, where x does drive y"),
    Metric("accuracy_false", "the same, where x does not drive y"),
    Metric("accuracy_answered", "right answers among those given", role="side"),
    Metric("avg_steps", "interventions carried out", rate=False),
    Metric("proved", "right, and the evidence forced the answer"),
    Metric("lucky", "right, but the evidence left both answers open"),
    Metric("premature", "wrong, and the evidence left both answers open: bad experiments"),
    Metric("contradicts_evidence", "wrong against evidence that forced the answer: bad inference"),
    Metric(INVALID_FORMAT, "ended because replies could not be read", role="side"),
    Metric(INVALID_ACTION, "ended because of unknown actions or names", role="side"),
    Metric(INVALID_ANSWER, "ended because the answer was neither yes nor no", role="side"),
    Metric(TIMEOUT, "asked for an intervention after the last", role="side"),
    Metric(UNFINISHED, "left open: gave up, or a limit of the engine struck", role="side"),
    Metric("errors", "at least one error of any kind on the way", role="detail"),
    Metric("strict_format", "every reply was just as asked", role="side"),
    Metric("lenient_format", "every reply could be read", role="side"),
    Metric("ineffective_actions", "interventions that changed nothing", False, "detail"),
    Metric("wasted_steps", "interventions after the answer was forced", False, "side"),
    Metric("step_regret", "interventions more than the exact experimenter's", False, "side"),
    *(
        Metric(name, f"{name.replace('_', ' ')}: share of wrong answers", role="detail")
        for name in BIASES
    ),
)


@dataclass(frozen=True, slots=True)
class Story:
    """What an episode amounts to: the interventions, and what they proved."""

    changes: tuple[Change, ...]
    verdict: Verdict
    forced_after: int | None
    """Interventions after which the answer was first forced; None if it never was."""


def story(world: World, trace: Trace) -> Story:
    """Retell a trace as interventions with the verdict of their evidence."""
    changes = tuple(_changes(world, trace))
    log = EvidenceLog(world.view)
    after = 0 if log.verdict() != "undecided" else None
    for count, change in enumerate(changes, 1):
        log.add(change.starts, change.v, change.after)
        if after is None and log.verdict() != "undecided":
            after = count
    return Story(changes, log.verdict(), after)


def _changes(world: World, trace: Trace) -> list[Change]:
    theme = read_theme(world.view.theme)
    changes, state = [], world.view.start
    for step in trace.steps:
        if not step.observation.is_error and step.action.name in (theme.start, theme.stop):
            starts = step.action.name == theme.start
            v = world.view.find(step.action.args[theme.noun])
            if v is None:
                raise ValueError("a carried-out intervention names no entity: replay the trace")
            after = world.after_start(state, v) if starts else world.after_stop(state, v)
            changes.append(Change(starts, v, state, after))
            state = after
    return changes


def score(world: World, trace: Trace, exact_steps: int) -> Score:
    """Score an episode whose trace has been replayed on its world."""
    told = story(world, trace)
    outcome = trace.outcome or UNFINISHED
    said_yes = _answer(trace) if outcome == ANSWERED else None
    right = None if said_yes is None else said_yes == world.truth
    proof = None if right is None else _proof(right, told.verdict)
    pattern = None
    if said_yes is not None and not right:
        pattern = bias(world.view.x, world.view.y, told.changes, said_yes, told.verdict)
    own = told.changes[trace.given :]
    free = trace.evidence == "own"
    wasted = 0 if told.forced_after is None else len(told.changes) - told.forced_after
    values: dict[str, float | None] = {
        "accuracy": float(bool(right)),
        "accuracy_true": float(bool(right)) if world.truth else None,
        "accuracy_false": None if world.truth else float(bool(right)),
        "accuracy_answered": None if right is None else float(right),
        "avg_steps": float(len(own)),
        **{name: float(name == proof) for name in PROOF},
        **{mode: float(mode == outcome) for mode in ERROR_MODES},
        "errors": float(any(step.observation.is_error for step in trace.steps)),
        **_formats(trace),
        "ineffective_actions": float(sum(c.before == c.after for c in own)),
        "wasted_steps": float(wasted) if free else None,
        "step_regret": float(len(own) - exact_steps) if free and right is not None else None,
        **{name: None if pattern is None else float(name == pattern) for name in BIASES},
    }
    labels = Record.of(verdict=told.verdict, proof=proof, bias=pattern)
    return Score(outcome, Record(values.items()), labels)


def _answer(trace: Trace) -> bool:
    return bool(trace.steps[-1].action.args["answer"].strip().casefold() == "yes")


def _proof(right: bool, verdict: Verdict) -> str:
    if verdict == "undecided":
        return "lucky" if right else "premature"
    return "proved" if right else "contradicts_evidence"


def _formats(trace: Trace) -> dict[str, float | None]:
    actions = trace.actions[trace.given :]
    readable = all(action.name != MALFORMED for action in actions)
    strict = readable and all(action.form == "strict" for action in actions)
    if not actions:
        return {"strict_format": None, "lenient_format": None}
    return {"strict_format": float(strict), "lenient_format": float(readable)}
