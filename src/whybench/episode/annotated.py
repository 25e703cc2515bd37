"""Annotated episodes, for readers who may know the truth: what was done, seen and believed.

An annotated episode is made from a trace and the rebuilt hidden system, after the episode, for
authors and reports. It contains the truth, so no part of it may ever reach an agent.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from whybench.causal.canonical import EMPTY, Json, Record, canonical_json, thaw
from whybench.episode.action import Action
from whybench.episode.trace import Trace

Kind = Literal["correct", "missing", "extra", "reversed"]
"""The kind of an arrow: a missing one is true but not believed, an extra one is the opposite."""


@dataclass(frozen=True, slots=True)
class Arrow:
    """One cause and one of its effects."""

    cause: str
    effect: str
    label: str = ""
    """What else is known or believed about the link, such as a coefficient."""


@dataclass(frozen=True, slots=True)
class Moment:
    """One step of an episode."""

    did: str
    """What the agent did, in a short phrase."""
    saw: str
    """What it got back, in a short phrase."""
    error: bool = False
    """Whether the action was rejected."""
    given: bool = False
    """Whether the step was given to the agent as evidence."""
    bits: float | None = None
    """Bits of ambiguity that the evidence leaves open after this step; None if not known."""
    arrows: tuple[Arrow, ...] | None = None
    """The graph believed (or shown by the evidence) after this step; None: as before."""
    marks: Record = EMPTY
    """Node → a short text shown beside it in both graphs, such as its state or value."""
    belief_marks: Record = EMPTY
    """The same for what the agent claimed; shown only in the believed graph."""
    figures: Record = EMPTY
    """Name → number or word, drawn over the steps: the parameters of a design, a distance."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A stretch of a document that gives arrows of the truth."""

    start: int
    end: int
    arrows: tuple[int, ...]
    """Places in the truth's list of arrows."""


@dataclass(frozen=True, slots=True)
class AnnotatedEpisode:
    """An episode step by step beside the hidden system. It holds the answer: no agent may see it.

    Examples:
        >>> import whybench as wb
        >>> suite = wb.load_suite("causallink/core")
        >>> result = next(wb.solve(suite, "exact"))
        >>> annotated = suite.family.annotate(result.instance, result.trace)
        >>> len(annotated.moments) == len(result.trace.steps)
        True

    """

    verdict: str
    """The result of the episode, in one sentence."""
    moments: tuple[Moment, ...] = ()
    """The steps."""
    nodes: tuple[str, ...] = ()
    """The nodes of both graphs."""
    truth: tuple[Arrow, ...] = ()
    """The arrows of the true graph; empty if the family has none."""
    belief: str = "believed"
    """What the other graph shows: `believed` by the agent, or `shown by the evidence`."""
    sufficed: int | None = None
    """The number of steps after which the evidence forced the answer; None if it never did."""
    notes: tuple[str, ...] = ()
    """Further remarks, one sentence each."""
    targets: Record = EMPTY
    """Name of a figure → its best value."""
    text: str | None = None
    """The document, if there is one."""
    passages: tuple[Passage, ...] = ()
    """The parts of the document that state arrows."""

    def to_json(self) -> dict[str, Json]:
        """Return the annotated episode as JSON data, with the kind of every arrow at every step.

        Returns:
            The data that the report's page reads.

        """
        return {
            "verdict": self.verdict,
            "nodes": list(self.nodes),
            "truth": [[arrow.cause, arrow.effect, arrow.label] for arrow in self.truth],
            "belief": self.belief,
            "sufficed": self.sufficed,
            "notes": list(self.notes),
            "targets": thaw(self.targets),
            "text": self.text,
            "passages": [[p.start, p.end, list(p.arrows)] for p in self.passages],
            "moments": [
                {
                    "did": moment.did,
                    "saw": moment.saw,
                    "error": moment.error,
                    "given": moment.given,
                    "bits": moment.bits,
                    "arrows": None
                    if moment.arrows is None
                    else [
                        [arrow.cause, arrow.effect, arrow.label, kind]
                        for arrow, kind in compared(self.truth, moment.arrows)
                    ],
                    "marks": thaw(moment.marks),
                    "belief_marks": thaw(moment.belief_marks),
                    "figures": thaw(moment.figures),
                }
                for moment in self.moments
            ],
        }


def compared(truth: Iterable[Arrow], believed: Iterable[Arrow]) -> list[tuple[Arrow, Kind]]:
    """Compare a believed graph with the true one: its own arrows first, then the missing ones.

    A reversed arrow is listed once, as believed.

    >>> found = compared([Arrow("a", "b"), Arrow("b", "c")], [Arrow("b", "a"), Arrow("a", "c")])
    >>> [(arrow.cause, arrow.effect, kind) for arrow, kind in found]
    [('b', 'a', 'reversed'), ('a', 'c', 'extra'), ('b', 'c', 'missing')]
    """
    true = {(arrow.cause, arrow.effect): arrow for arrow in truth}
    held = {(arrow.cause, arrow.effect): arrow for arrow in believed}
    found: list[tuple[Arrow, Kind]] = []
    for (cause, effect), arrow in held.items():
        turned = (effect, cause) in true and (effect, cause) not in held
        kind: Kind = "correct" if (cause, effect) in true else "reversed" if turned else "extra"
        found.append((arrow, kind))
    for (cause, effect), arrow in true.items():
        turned = (effect, cause) in held and (effect, cause) not in true
        if (cause, effect) not in held and not turned:
            found.append((arrow, "missing"))
    return found


def plain_annotation(trace: Trace, verdict: str) -> AnnotatedEpisode:
    """Annotate a trace step by step, without a graph."""
    return AnnotatedEpisode(
        verdict,
        tuple(
            Moment(
                did=in_words(step.action),
                saw=canonical_json(step.observation.data),
                error=step.observation.is_error,
                given=place < trace.given,
            )
            for place, step in enumerate(trace.steps)
        ),
    )


def in_words(action: Action) -> str:
    """Return an action as one line.

    >>> in_words(Action.of("hold", shape="circle"))
    'hold circle'
    """
    return " ".join([action.name, *(str(thaw(value)) for _, value in action.args)])


def arrows(names: Sequence[str], pairs: Iterable[tuple[int, int]]) -> tuple[Arrow, ...]:
    """Return the arrows between numbered nodes."""
    return tuple(Arrow(names[u], names[v]) for u, v in pairs)


def shortened(text: Json, longest: int = 160) -> str:
    """Return a text on one line, cut to a number of characters.

    >>> shortened("one   line and more", 10)
    'one line …'
    """
    line = " ".join(str(thaw(text)).split())
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


def counted(count: int, thing: str) -> str:
    """Return a number of things.

    >>> counted(1, "row"), counted(2, "row")
    ('1 row', '2 rows')
    """
    return f"{count} {thing}" if count == 1 else f"{count} {thing}s"
