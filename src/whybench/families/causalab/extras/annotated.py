"""Annotate an episode with the truth: settings, readings, hypotheses and what was forced."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from whybench.causal.canonical import EMPTY, Json, Record
from whybench.causal.equivalence import class_size
from whybench.episode.action import MALFORMED, Action
from whybench.episode.annotated import AnnotatedEpisode, Arrow, Moment, shortened
from whybench.episode.instance import Instance
from whybench.episode.observation import Observation
from whybench.episode.score import Score
from whybench.episode.trace import Trace
from whybench.families.causalab.episode import LabEpisode
from whybench.families.causalab.extras.verdict import listed, notes, verdict
from whybench.families.causalab.family import CausaLab, undecided
from whybench.families.causalab.hypothesis import Guess
from whybench.families.causalab.numbers import number, shown
from whybench.families.causalab.proof.disturbance import options
from whybench.families.causalab.proof.evidence import inferred
from whybench.families.causalab.proof.inference_timeline import InferenceTimeline
from whybench.families.causalab.world.world import FREQUENCY

FORCED, WRONG = "equations forced", "wrong edges"
"""Names of the figures drawn over the steps."""


def annotated(family: CausaLab, instance: Instance, trace: Trace) -> AnnotatedEpisode:
    """Show a trace beside the truth; the trace is replayed step by step."""
    episode = family.open_world(instance, family.world(instance))
    score = family.score(instance, trace)
    told = _Wording(episode)
    own = trace.actions
    if trace.evidence != "own":
        own = trace.actions[trace.given :]
        episode.give(trace.actions[: trace.given], trace.evidence)
        for step in episode.trace.steps:
            told.add(step.action, step.observation, given=True)
    for action in own:
        told.add(action, episode.step(action))
    timeline = InferenceTimeline(episode.view, episode.trace)
    after = timeline.sufficed_after()
    names = episode.view.names
    return AnnotatedEpisode(
        verdict=verdict(episode, score),
        moments=tuple(_with_evidence(told, timeline, score)),
        nodes=(*names, *sorted(told.strangers)),
        truth=tuple(
            Arrow(names[term.cause], names[v], _weight(term.linear, term.square))
            for v, terms in enumerate(episode.world.law.terms)
            for term in terms
        ),
        sufficed=None if after is None else _moments_until(told.made, after),
        notes=tuple(notes(episode, score, after, undecided(episode.world))),
        targets=Record([(FORCED, episode.view.k), (WRONG, 0)]),
    )


@dataclass
class _Wording:
    """The moments so far, and the state on which the next one depends."""

    episode: LabEpisode
    moments: list[Moment] = field(default_factory=list)
    made: list[int] = field(default_factory=list)
    """Number of interventions by the end of each moment."""
    noted: list[int] = field(default_factory=list)
    """Number of recorded hypotheses by the end of each moment."""
    strangers: set[str] = field(default_factory=set)
    """Claimed names that do not exist, under the released rules."""

    def __post_init__(self) -> None:
        self._before = dict(zip(self.episode.view.names, self._baseline, strict=True))

    @property
    def _baseline(self) -> Sequence[float]:
        return self.episode.view.baseline.values

    def add(self, action: Action, observation: Observation, *, given: bool = False) -> None:
        """Add the step that the episode has just run."""
        done = action.name == "intervene" and not observation.is_error
        self.made.append((self.made[-1] if self.made else 0) + done)
        guesses = self.episode.guesses
        fresh = not given and len(guesses) > (self.noted[-1] if self.noted else 0)
        guess = guesses[-1][1] if fresh else None
        self.noted.append(0 if given else len(guesses))
        self.moments.append(
            Moment(
                did=shortened(_did(action)),
                saw=shortened(self._saw(action, observation)),
                error=observation.is_error,
                given=given,
                arrows=None if guess is None else tuple(self._arrows(guess)),
                marks=self._marks(action, observation),
                belief_marks=self._claimed(action, observation),
            )
        )
        if done:
            self._before = dict(observation.data)

    def _saw(self, action: Action, observation: Observation) -> str:
        data, episode = observation.data, self.episode
        if observation.is_error:
            return str(data.get("reason", "the episode was over"))
        if data.get("check"):
            return "was asked to check its hypothesis against all its data"
        if data.get("activated") is not None:
            return "wrong; one more attempt"
        if action.name == "submit":
            return f"{'right' if episode.right else 'wrong'}: it is {shown(episode.world.target)}"
        if data.get("reactor") is not None:
            return f"another crystal: {listed(f'{n} {shown(x)}' for n, x in data['reactor'])}"
        return self._changes(data) if action.name == "intervene" else "noted"

    def _changes(self, now: Record) -> str:
        """Return what moved, the frequency first."""
        before = self._before
        moved = [f"{n} {shown(before[n])} → {shown(x)}" for n, x in now if x != before[n]]
        return listed(moved) if moved else "nothing moved"

    def _marks(self, action: Action, observation: Observation) -> Record:
        """Return the current values of the quantities."""
        if observation.is_error:
            return EMPTY
        if action.name == "submit":
            return Record([(self.episode.view.names[FREQUENCY], shown(self.episode.world.target))])
        values = observation.data if action.name == "intervene" else EMPTY
        return Record((n, shown(x)) for n, x in observation.data.get("reactor", values))

    def _claimed(self, action: Action, observation: Observation) -> Record:
        """Return the predicted frequency."""
        if observation.is_error or action.name != "submit":
            return EMPTY
        return Record([(self.episode.view.names[FREQUENCY], _plain(action, "frequency"))])

    def _arrows(self, guess: Guess) -> Iterator[Arrow]:
        linear, square = dict(guess.linear), dict(guess.square)
        for cause, effect in sorted(guess.edges):
            weight = linear.get(cause) if effect == FREQUENCY else None
            label = "" if weight is None else _weight(weight, square.get(cause) or 0.0)
            yield Arrow(self._name(cause), self._name(effect), label)

    def _name(self, v: int) -> str:
        names = self.episode.view.names
        if v < len(names):
            return names[v]
        stranger = f"unknown {v - len(names) + 1}"
        self.strangers.add(stranger)
        return stranger


def _did(action: Action) -> str:
    if action.name == "intervene":
        return f"set {_plain(action, 'property')} to {_plain(action, 'value')}"
    if action.name == "submit":
        return f"predicted {_plain(action, 'frequency')} Hz"
    known = {
        "propose": "wrote down a hypothesis",
        "open_reactor": "opened the reactor",
        MALFORMED: "sent an unreadable reply",
    }
    return known.get(action.name) or f"asked for {action.name[:40]!r}"


def _plain(action: Action, argument: str) -> str:
    """Return an argument as a short text, with the usual format of numbers."""
    value: Json = action.args.get(argument)
    found = number(value)
    return shortened(value, 40) if found is None else shown(found)


def _weight(linear: float, square: float) -> str:
    """Return a coefficient as text, or both coefficients of a quadratic term.

    >>> _weight(2.0, 0.0), _weight(-1.2, 0.012)
    ('2', '0.012 x² − 1.2 x')
    """
    if not square:
        return f"{linear:.5g}"
    return f"{square:.4g} x² {'−' if linear < 0 else '+'} {abs(linear):.4g} x"


# What the evidence forced.


def _with_evidence(told: _Wording, timeline: InferenceTimeline, score: Score) -> Iterator[Moment]:
    """Yield the moments with what the readings force, and the error of the hypothesis.

    Bits measure the interventional equivalence class. As in certificates, they are 0 once every
    equation is forced, and at least 1 before.
    """
    graph, k = told.episode.world.law.graph, told.episode.view.k
    steps = score.labels.get("trajectory", ())
    forced: dict[int, int] = {}
    for moment, made, noted in zip(told.moments, told.made, told.noted, strict=True):
        if made not in forced:
            forced[made] = k if k in forced.values() else _equations_forced(timeline, made)
        readings = timeline.readings[: timeline.start + made]
        touched = sum({1 << r.target for r in readings if r.target is not None})
        left = 0.0 if forced[made] == k else max(1.0, math.log2(class_size(graph, touched)))
        figures: list[tuple[str, Json]] = [(FORCED, forced[made])]
        wrong = [step["shd"] for step in steps[:noted] if step["shd"] is not None]
        if wrong:
            figures.append((WRONG, wrong[-1]))
        yield replace(moment, bits=left, figures=Record(figures))


def _equations_forced(timeline: InferenceTimeline, interventions: int) -> int:
    view, evidence = timeline.view, timeline.evidence(interventions)
    if view.disturbance:
        return sum(options(evidence, v, view.disturbance).settled for v in range(view.k))
    return inferred(evidence).settled.bit_count()


def _moments_until(made: Sequence[int], interventions: int) -> int:
    """Return the number of moments until this number of interventions was reached."""
    if not interventions:
        return 0
    return next(place for place, count in enumerate(made, start=1) if count >= interventions)
