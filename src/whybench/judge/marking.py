"""Mark an exam: how often a judge's labels are right, beyond chance, and the side of its errors.

If several labels are right, the judge's own label counts if it is among them. Chance is what the
judge would reach if it assigned its labels blindly: to every element, in the shares in which it
gave them. With one right label each this is Cohen's kappa. With several, a judge that guesses stays
at 0. A family's kappa adds the agreement and the chance agreement over its fields, because the
labels of different fields are not the same.

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
"""Share of one label from which a judge counts as always giving it."""


@dataclass(frozen=True, slots=True)
class Answer:
    """One label of a judge, and the right labels."""

    given: str
    right: tuple[str, ...]

    @property
    def key(self) -> str:
        """The label that counts as the right one."""
        return self.given if self.given in self.right else self.right[0]


@dataclass(frozen=True, slots=True)
class Marks:
    """Figures for the labels of one field or of a family of fields."""

    n: int
    accuracy: float
    kappa: float
    """Agreement beyond chance: 0 for guessing, 1 for perfect; NaN if chance cannot fail."""
    bias: float
    """Mean worth of the labels given, minus the worth of the right labels."""
    key_rates: Mapping[str, float]
    """Shares of the right labels."""
    judge_rates: Mapping[str, float]
    """Shares of the labels given."""
    constant: bool
    """Whether the judge always gives one label although the key does not."""
    constant_share: float
    """Share of its favourite label; for a family, of its favourite in each field."""


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
    """Mark a judge's labels of papers."""
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
    """Return the expected number of right answers if the labels were given blindly."""
    rates = _rates(answer.given for answer in answers)
    return sum(rates.get(label, 0.0) for answer in answers for label in answer.right)


def _rates(labels: Iterable[str]) -> dict[str, float]:
    counts = Counter(labels)
    return {label: count / counts.total() for label, count in counts.items()}


def _most(labels: Iterable[str]) -> int:
    return Counter(labels).most_common(1)[0][1]
