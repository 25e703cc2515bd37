"""Judges that give labels: what a family declares, and how a judge is asked in passes.

A family declares one as its capability `exam`. This package then asks the judge, examines it on
papers with known labels, and corrects its scores by its exam.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from whybench.episode.instance import Instance
from whybench.judge.credit import Points
from whybench.judge.labels import Entry, Given, LabelScheme
from whybench.judge.question import Asked, Question

if TYPE_CHECKING:
    from inspect_ai.model import Model

Case = TypeVar("Case")

Rights = Mapping[str, tuple[str, ...]]
"""Field → right labels, the one of a perfect judge first; empty if the key does not decide."""

Key = Mapping[str, Mapping[int, Rights]]
"""Pass → number of the element → field → its right labels."""


@dataclass(frozen=True, slots=True)
class Paper(Generic[Case]):
    """A case with known labels."""

    case: Case
    key: Key


Sitting = tuple[Paper[Any], Given]
"""A paper, and the judge's labels for it."""


@dataclass(frozen=True)
class LabelJudge(Generic[Case]):
    """What a family declares about its label judge."""

    family: str
    """The family's name; random streams are named after it."""
    scorer: str
    """The scorer's name; the keys of its scores in a log start with it."""
    task: str
    """The name of the exam's task."""
    labels: LabelScheme
    questions: Callable[[Case, str, bool], Sequence[tuple[Sequence[int], Question]]]
    """Case, pass, and whether reasons are wanted → questions, with the elements of each."""
    paper: Callable[[Instance], Paper[Case]]
    """Builds the exam's paper of an instance."""
    points: Callable[[Sequence[Sitting]], Points]
    """Computes the points of each score from sittings."""
    means: Mapping[str, tuple[str, str]]
    """Each F1 → its precision and its recall."""
    unasked: tuple[str, ...]
    """Figures that are 1 if an answer has 0 by rule and no judge was asked."""

    async def ask_pass(
        self,
        judge: Model,
        case: Case,
        name: str,
        schema: bool,
        reasons: bool,
        paper: Paper[Case] | None = None,
    ) -> Asked[dict[int, Entry]]:
        """Ask a judge about every element of a pass; one unreadable reply invalidates the pass."""
        from whybench.judge.panel import ask  # imports the engine, which only asking needs

        entries: dict[int, Entry] = {}
        unreadable = 0
        for numbers, question in self.questions(case, name, reasons):

            def read(
                text: str, numbers: Sequence[int] = numbers, word: str = question.word
            ) -> dict[int, Entry]:
                return self.labels.read_entries(name, numbers, word, text)

            SEAT.set(Seat(self, name, numbers, question.word, paper))
            told = await ask(judge, question, schema, read)
            unreadable += told.unreadable
            if told.answer is None:
                return Asked(None, unreadable)
            entries |= told.answer
        return Asked(entries, unreadable)

    async def ask_all(self, judge: Model, case: Case, schema: bool, reasons: bool) -> Asked[Given]:
        """Ask a judge all questions in an order that lets a provider cache the common prefix."""
        passes = {
            name: await self.ask_pass(judge, case, name, schema, reasons)
            for name in self.labels.passes
        }
        unreadable = sum(told.unreadable for told in passes.values())
        return Asked({name: told.answer for name, told in passes.items()}, unreadable)


@dataclass(frozen=True, slots=True)
class Seat:
    """What a judge is being asked, for scripted judges."""

    judge: LabelJudge[Any]
    name: str
    """The pass."""
    numbers: Sequence[int]
    word: str
    paper: Paper[Any] | None
    """None outside the exam."""


SEAT: ContextVar[Seat] = ContextVar("whybench_seat")
"""Set before each question in its own context, so that concurrent samples do not interfere."""
