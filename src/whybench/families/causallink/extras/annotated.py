"""Annotate an episode: what each intervention changed, and which links it showed.

The graph shows the relation "drives, directly or through others", because experiments show nothing
else: no experiment distinguishes a direct link from one that goes through others.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import permutations

from whybench.causal.canonical import Record
from whybench.causal.graph import members
from whybench.episode.action import MALFORMED
from whybench.episode.annotated import (
    AnnotatedEpisode,
    Moment,
    arrows,
    counted,
    in_words,
    shortened,
)
from whybench.episode.episode import (
    INVALID_ACTION,
    INVALID_ANSWER,
    INVALID_FORMAT,
    TIMEOUT,
)
from whybench.episode.instance import Instance
from whybench.episode.score import UNFINISHED, Score
from whybench.episode.trace import Step, Trace
from whybench.families.causallink.failure_patterns import Change
from whybench.families.causallink.family import CausalLink, exact_steps
from whybench.families.causallink.prompts.theme import Theme, read_theme
from whybench.families.causallink.proof.beliefs import Beliefs
from whybench.families.causallink.proof.evidence import EvidenceLog
from whybench.families.causallink.proof.plan import right_answer
from whybench.families.causallink.world.world import View, World

LONGEST = 90
"""Maximum number of characters quoted from an agent."""

MOST = 8
"""Maximum number of items shown of a list."""

ENDINGS = {
    INVALID_FORMAT: "its replies could not be read",
    INVALID_ACTION: "it used actions or names that do not exist",
    INVALID_ANSWER: "it answered neither yes nor no",
    TIMEOUT: "it requested an intervention after the last one",
    UNFINISHED: "the episode was not finished",
}

PATTERNS = {
    "illusive_confounder_bias": "it said no although the evidence had shown the link",
    "root_cause_bias": "it said no after one stop had turned everything off",
    "reverse_collider_bias": "it said no after the cause was stopped and the effect stayed on",
    "other_fn": "it said no to a true link, without a pattern of the paper",
    "correlation_bias": "it said yes because both entities were seen in the same condition",
    "other_fp": "it said yes to a link that does not exist, without a pattern of the paper",
}
"""Failure pattern → its description."""

Pair = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Known:
    """What the evidence decides at one moment."""

    links: frozenset[Pair]
    """Pairs (u, v) such that u drives v in every order that fits."""
    settled: int
    """Number of ordered pairs on which all orders that fit agree, yes or no."""
    forced: bool
    """Whether the answer to the question is forced."""


def annotated(family: CausalLink, instance: Instance, trace: Trace) -> AnnotatedEpisode:
    """Show a trace beside the truth, with the links that its evidence shows at every step."""
    episode = family.again(instance, trace)
    world, trace, score = episode.world, episode.trace, family.score_episode(episode)
    view, names = world.view, world.view.names
    changes = _aligned(world, trace)
    known = learned(view, changes)
    sufficed = next((place for place, now in enumerate(known) if now.forced), None)
    moments, state = [], view.start
    for place, (step, change) in enumerate(zip(trace.steps, changes, strict=True)):
        state = change.after if change else state
        now, before = known[place + 1], known[place]
        moments.append(
            Moment(
                did=_did(view, step),
                saw=_saw(view, step, change),
                error=step.observation.is_error,
                given=place < trace.given,
                bits=0.0 if now.forced else 1.0,
                arrows=None
                if place and now.links == before.links
                else arrows(names, sorted(now.links)),
                marks=_marks(view, state),
                figures=Record((("links shown", len(now.links)), ("pairs settled", now.settled))),
            )
        )
    order = [(u, v) for u, below in enumerate(world.below) for v in members(below)]
    return AnnotatedEpisode(
        verdict=_verdict(world, trace, score, _forced(changes, sufficed)),
        moments=tuple(moments),
        nodes=names,
        truth=arrows(names, order),
        belief="shown by the evidence",
        sufficed=sufficed,
        notes=tuple(_notes(world, trace, score)),
    )


def _aligned(world: World, trace: Trace) -> list[Change | None]:
    """Return what each step changed; None if the step ran no intervention."""
    theme = read_theme(world.view.theme)
    changes: list[Change | None] = []
    state = world.view.start
    for step in trace.steps:
        name, v = step.action.name, world.view.find(step.action.args.get(theme.noun))
        if step.observation.is_error or name not in (theme.start, theme.stop) or v is None:
            changes.append(None)
            continue
        act = world.after_start if name == theme.start else world.after_stop
        changes.append(Change(name == theme.start, v, state, act(state, v)))
        state = changes[-1].after if changes[-1] else state
    return changes


def learned(view: View, changes: Iterable[Change | None]) -> list[Known]:
    """Return what the evidence decides at the start, and after each step.

    Each ordered pair is decided as if it were the question. A decided pair stays decided.
    """
    asked, links, settled = (view.x, view.y), set[Pair](), set[Pair]()
    logs = {(u, v): EvidenceLog(replace(view, x=u, y=v)) for u, v in permutations(range(view.n), 2)}
    beliefs = Beliefs(view) if view.fixed else None

    def now() -> Known:
        for pair in [pair for pair in logs if pair not in settled]:
            verdict = logs[pair].verdict()
            if verdict != "undecided":
                settled.add(pair)
            if verdict == "yes":
                links.add(pair)
        forced = beliefs.verdict() != "undecided" if beliefs else asked in settled
        return Known(frozenset(links), len(settled), forced)

    known, seen = [now()], set[Change]()
    for change in changes:
        if change is not None:
            for pair in [pair for pair in logs if pair not in settled]:
                logs[pair].add(change.starts, change.v, change.after)
            if beliefs:
                beliefs.add(change.starts, change.v, change.after)
        known.append(known[-1] if change is None or change in seen else now())
        seen |= {change} if change else set()
    return known


# Words.


def _marks(view: View, state: int) -> Record:
    return Record(zip(view.names, _conditions(view, state, range(view.n)), strict=True))


def _conditions(view: View, state: int, entities: Iterable[int]) -> list[str]:
    theme = read_theme(view.theme)
    return [theme.condition(view.names[v], bool(state >> v & 1)) for v in entities]


def _did(view: View, step: Step) -> str:
    theme = read_theme(view.theme)
    if step.action.name == MALFORMED:
        return "sent an unreadable reply"
    v = view.find(step.action.args.get(theme.noun))
    if step.action.name in (theme.start, theme.stop) and v is not None:
        return f"{step.action.name} the {view.names[v]}"
    return shortened(in_words(step.action), LONGEST)


def _saw(view: View, step: Step, change: Change | None) -> str:
    if step.observation.is_error:
        reason = step.observation.data.get("reason", step.observation.code)
        return shortened(f"rejected: {reason}", LONGEST)
    if change is None:
        return "the episode ends"
    if change.before == change.after:
        return f"nothing changes: {_idle(view, read_theme(view.theme), change)}"
    turned = sorted(members(change.before ^ change.after), key=lambda v: (v != change.v, v))
    words = zip(turned, _conditions(view, change.after, turned), strict=True)
    return _cut([f"{view.names[v]} now {word}" for v, word in words])


def _idle(view: View, theme: Theme, change: Change) -> str:
    """Say why an intervention changed nothing."""
    name = view.names[change.v]
    on = bool(change.before >> change.v & 1)
    word = theme.condition(name, on)
    if change.starts or not on:
        return f"the {name} was already {word}"
    return f"the {name} stays {word}, so something {theme.on} drives it"


def _forced(changes: list[Change | None], sufficed: int | None) -> str | None:
    """Say what forced the answer; None if nothing did."""
    if sufficed is None:
        return None
    if sufficed == 0:
        return "the start alone showed"
    count = sum(change is not None for change in changes[:sufficed])
    of = sum(change is not None for change in changes)
    return f"the evidence showed after {count} of {counted(of, 'intervention')}"


def _verdict(world: World, trace: Trace, score: Score, forced: str | None) -> str:
    truth = _claim(world, right_answer(world))
    lie = _claim(world, _said(trace) or "")
    whose = "the evidence" if trace.evidence == "own" else "the given evidence"
    match score.labels["proof"]:
        case "understood":
            return f"Right and understood: {forced} that {truth}."
        case "lucky":
            return f"Right but lucky: {truth}, but {whose} left another answer open."
        case "premature" if trace.evidence == "own":
            return f"Wrong by bad experiments: it said that {lie}; {whose} left that open, too."
        case "premature":
            return f"Wrong on an open question: it said that {lie}; {whose} allowed that, too."
        case "contradicted":
            return f"Wrong by bad inference: it said that {lie}, but {forced} that {truth}."
    ending = ENDINGS.get(score.outcome, score.outcome.replace("_", " "))
    shown = f"{forced} that {truth}" if forced else f"{truth}, which {whose} left open"
    return f"No answer, because {ending}: {shown}."


def _said(trace: Trace) -> str | None:
    """Return the answer that was given."""
    last = trace.steps[-1].action if trace.steps else None
    answered = last is not None and last.name == "answer"
    return str(last.args.get("answer")).strip().casefold() if last and answered else None


def _claim(world: World, answer: str) -> str:
    x, y = world.view.names[world.view.x], world.view.names[world.view.y]
    if answer == "cannot":
        return f"nothing within reach shows whether the {x} drives the {y}"
    return f"the {x} drives the {y}" if answer == "yes" else f"the {x} does not drive the {y}"


def _notes(world: World, trace: Trace, score: Score) -> Iterable[str]:
    view, theme = world.view, read_theme(world.view.theme)
    asked = theme.ask(view.names[view.x], view.names[view.y])
    on = [view.names[v] for v in members(view.start)]
    first = "everything" if len(on) == view.n else ", ".join(on) or "nothing"
    yield f"The question: {asked} {theme.on.capitalize()} at the start: {first}."
    built = [f"{view.names[a]} → {view.names[b]}" for a, b in world.graph.edges()]
    yield (
        "An arrow means that one drives the other, directly or through others; no experiment "
        f"distinguishes the two. The hidden system was built from {_cut(built) or 'no links'}."
    )
    if trace.evidence == "own":
        made, wasted = int(score.values["experiments"]), int(score.values["wasted_steps"])
        steps = exact_steps(world)
        after = f", {wasted} of them after the answer was forced" if wasted else ""
        yield f"Interventions: {made}{after}; the exact agent makes {steps} here."
    else:
        yield f"The interventions were given, not its own ({trace.evidence} evidence)."
    pattern = score.labels["bias"]
    if pattern is not None:
        yield f"Failure pattern `{pattern}`: {PATTERNS[pattern]}."


def _cut(items: list[str]) -> str:
    """Join items; a long list is cut."""
    more = [f"… ({len(items) - MOST} more)"] if len(items) > MOST else []
    return ", ".join(items[:MOST] + more)
