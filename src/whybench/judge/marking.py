"""An exam marked: how far a judge's labels are right, beyond chance, and to which side they err.

Where several labels are right the judge's own counts if it is among them. Chance is what the judge
would reach if it dealt its labels without looking: it gives them to every element in the shares in
which it gave them at all. With one right label each that makes Cohen's kappa; with several, a judge
that guesses stays at 0. A family's kappa adds what was reached and what chance gives over its
fields, for the labels of different fields are not the same.

References:
    J. Cohen (1960), A coefficient of agreement for nominal scales, Educational and Psychological
        Measurement 20.

"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from whybench.judge.label_judge import Sitting
from whybench.judge.labels import LabelScheme

CONSTANT = 0.95
"""A judge that gives one label at least this often gives it always, for all we can tell."""


@dataclass(frozen=True, slots=True)
class Answer:
    """One label that a judge gave, and those that are right."""

    given: str
    right: tuple[str, ...]

    @property
    def key(self) -> str:
        """The label that counts as the right one."""
        return self.given if self.given in self.right else self.right[0]


@dataclass(frozen=True, slots=True)
class Marks:
    """Figures of the labels of one field, or of a family."""

    n: int
    accuracy: float
    kappa: float
    """Beyond chance: 0 guesses, 1 is perfect; NaN where chance cannot fail."""
    bias: float
    """What the labels given are worth, minus the worth of the right ones, on average."""
    key_rates: Mapping[str, float]
    """Shares of the right labels."""
    judge_rates: Mapping[str, float]
    """Shares of the labels given."""
    constant: bool
    """Whether the judge gives one label always, though the key does not."""
    constant_share: float
    """How often it gives its favourite; of a family, its favourite in each field."""


@dataclass(frozen=True, slots=True)
class Report:
    """A judge's exam, marked label by label."""

    fields: Mapping[str, Marks]
    """By `pass.field`."""
    families: Mapping[str, Marks]
    overall: Marks
    papers: int
    passes: int
    unreadable: float
    """Share of passes without labels; nothing else here counts them."""


def marked(sittings: Sequence[Sitting], labels: LabelScheme) -> Report:
    """Mark what a judge said of papers."""
    said: dict[str, list[Answer]] = {}
    for field, answer in _answers(sittings, labels):
        said.setdefault(field, []).append(answer)
    kind = {f"{name}.{f.name}": f.family for name, own in labels.passes.items() for f in own}
    asked = [given[name] for _, given in sittings for name in labels.passes if name in given]
    return Report(
        fields={field: _marks({field: answers}, labels) for field, answers in said.items()},
        families={
            family: _marks({f: own for f, own in said.items() if kind[f] == family}, labels)
            for family in labels.families
        },
        overall=_marks(said, labels),
        papers=len(sittings),
        passes=len(asked),
        unreadable=fmean(one is None for one in asked) if asked else math.nan,
    )


def _answers(sittings: Iterable[Sitting], labels: LabelScheme) -> Iterator[tuple[str, Answer]]:
    for paper, given in sittings:
        for name in labels.passes:
            for number, entry in (given.get(name) or {}).items():
                for field, right in paper.key[name][number].items():
                    yield f"{name}.{field}", Answer(entry[field], right)


def _marks(said: Mapping[str, Sequence[Answer]], labels: LabelScheme) -> Marks:
    """Mark the answers of some fields together."""
    every = [answer for answers in said.values() for answer in answers]
    if not every:
        return Marks(0, math.nan, math.nan, math.nan, {}, {}, False, math.nan)
    n = len(every)
    hits = sum(answer.given in answer.right for answer in every)
    chance = sum(_by_chance(answers) for answers in said.values())
    favourite = sum(_most(a.given for a in answers) for answers in said.values()) / n
    usual = sum(_most(a.right[0] for a in answers) for answers in said.values()) / n
    worth = labels.values
    key_rates, judge_rates = _rates(a.key for a in every), _rates(a.given for a in every)
    return Marks(
        n=n,
        accuracy=hits / n,
        kappa=(hits - chance) / (n - chance) if n - chance > 1e-9 else math.nan,
        bias=sum(worth[a.given] - worth[a.key] for a in every) / n,
        key_rates={label: key_rates[label] for label in worth if label in key_rates},
        judge_rates={label: judge_rates[label] for label in worth if label in judge_rates},
        constant=favourite >= CONSTANT > usual,
        constant_share=favourite,
    )


def _by_chance(answers: Sequence[Answer]) -> float:
    """Return how many of a field's answers would be right if the labels were dealt blindly."""
    rates = _rates(answer.given for answer in answers)
    return sum(rates.get(label, 0.0) for answer in answers for label in answer.right)


def _rates(labels: Iterable[str]) -> dict[str, float]:
    counts = Counter(labels)
    return {label: count / counts.total() for label, count in counts.items()}


def _most(labels: Iterable[str]) -> int:
    return Counter(labels).most_common(1)[0][1]
