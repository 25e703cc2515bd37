"""A judge that gives labels: what a family declares of it, and how it is asked in passes.

A family declares one as its capability `exam`. The kit then asks it, examines it on papers whose
right labels are known, and corrects its scores by its exam.
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
"""Field → right labels, the one that a perfect judge gives first; none where the key is silent."""

Key = Mapping[str, Mapping[int, Rights]]
"""Pass → number of the element → field → its right labels."""


@dataclass(frozen=True, slots=True)
class Paper(Generic[Case]):
    """A case whose right labels are known."""

    case: Case
    key: Key


Sitting = tuple[Paper[Any], Given]
"""A paper, and what the judge said of it."""


@dataclass(frozen=True)
class LabelJudge(Generic[Case]):
    """What the kit needs to know of a family's judge by labels."""

    family: str
    """The family's name; streams of chance are named after it."""
    scorer: str
    """The scorer's name; the keys of its scores in a log begin like this."""
    task: str
    """The name of the exam's task."""
    labels: LabelScheme
    questions: Callable[[Case, str, bool], Sequence[tuple[Sequence[int], Question]]]
    """Case, pass, and whether reasons are asked for → questions, with the elements of each."""
    paper: Callable[[Instance], Paper[Case]]
    """Makes the exam's paper of an instance."""
    points: Callable[[Sequence[Sitting]], Points]
    """What sittings say of each score."""
    means: Mapping[str, tuple[str, str]]
    """Each F1 → its precision and its recall."""
    unasked: tuple[str, ...]
    """Figures that are 1 where an answer has its 0 without a judge being asked."""

    async def ask_pass(
        self,
        judge: Model,
        case: Case,
        name: str,
        schema: bool,
        reasons: bool,
        paper: Paper[Case] | None = None,
    ) -> Asked[dict[int, Entry]]:
        """Ask a judge about every element of a pass; if one reply stays unreadable the pass is."""
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
        """Ask a judge all there is to ask, so that a provider may keep what comes first."""
        passes = {
            name: await self.ask_pass(judge, case, name, schema, reasons)
            for name in self.labels.passes
        }
        unreadable = sum(told.unreadable for told in passes.values())
        return Asked({name: told.answer for name, told in passes.items()}, unreadable)


@dataclass(frozen=True, slots=True)
class Seat:
    """What a judge has before it, for a scripted one to look at."""

    judge: LabelJudge[Any]
    name: str
    """The pass."""
    numbers: Sequence[int]
    word: str
    paper: Paper[Any] | None
    """None outside of the exam."""


SEAT: ContextVar[Seat] = ContextVar("whybench_seat")
"""Set before each question in its own context, so that samples running at once never meet."""
