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

from whybench.families.recite.judging.exam import Paper
from whybench.families.recite.judging.labels import PASSES, fields, values
from whybench.families.recite.judging.verdict import Given
from whybench.stats.agreement import cohen_kappa

CONSTANT = 0.95
"""A judge that gives one label at least this often gives it always, for all we can tell."""

FAMILIES = ("presence", "semantic", "abstraction", "direction", "inference")

Sitting = tuple[Paper, Given]
"""A paper, and what the judge said of it."""


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
    single_n: int
    single_kappa: float
    """Cohen's kappa over the elements with one right label alone; of a family, their mean."""
    bias: float
    """What the labels given are worth, minus the worth of the right ones, on average."""
    key_rates: Mapping[str, float]
    """Shares of the right labels."""
    judge_rates: Mapping[str, float]
    """Shares of the labels given."""
    confusion: Mapping[str, Mapping[str, int]]
    """Right label → label given → how often."""
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


def marked(sittings: Sequence[Sitting]) -> Report:
    """Mark what a judge said of papers."""
    said: dict[str, list[Answer]] = {}
    for field, answer in _answers(sittings):
        said.setdefault(field, []).append(answer)
    by_field = {field: _marks({field: answers}) for field, answers in said.items()}
    asked = [given.get(name) for paper, given in sittings for name in PASSES if name in given]
    return Report(
        fields=by_field,
        families={family: _marks(_of_family(said, family)) for family in FAMILIES},
        overall=_marks(said),
        papers=len({paper.case.instance_id for paper, _ in sittings}),
        passes=len(asked),
        unreadable=fmean(one is None for one in asked) if asked else math.nan,
    )


def _of_family(said: Mapping[str, list[Answer]], family: str) -> dict[str, list[Answer]]:
    names = {f"{name}.{f.name}" for name in PASSES for f in fields(name) if f.family == family}
    return {field: answers for field, answers in said.items() if field in names}


def _answers(sittings: Iterable[Sitting]) -> Iterator[tuple[str, Answer]]:
    for paper, given in sittings:
        for name in PASSES:
            for number, entry in (given.get(name) or {}).items():
                for field, right in paper.key[name][number].items():
                    yield f"{name}.{field}", Answer(entry[field], right)


def _marks(said: Mapping[str, Sequence[Answer]]) -> Marks:
    """Mark the answers of some fields together."""
    every = [answer for answers in said.values() for answer in answers]
    if not every:
        return Marks(0, math.nan, math.nan, 0, math.nan, math.nan, {}, {}, {}, False, math.nan)
    n = len(every)
    hits = sum(answer.given in answer.right for answer in every)
    chance = sum(_by_chance(answers) for answers in said.values())
    single = {f: [a for a in answers if len(a.right) == 1] for f, answers in said.items()}
    favourite = sum(_most(a.given for a in answers) for answers in said.values()) / n
    usual = sum(_most(a.right[0] for a in answers) for answers in said.values()) / n
    worth = values()
    confusion: dict[str, Counter[str]] = {}
    for answer in every:
        confusion.setdefault(answer.key, Counter())[answer.given] += 1
    return Marks(
        n=n,
        accuracy=hits / n,
        kappa=(hits - chance) / (n - chance) if n - chance > 1e-9 else math.nan,
        single_n=sum(map(len, single.values())),
        single_kappa=_mean_known([_cohen(answers) for answers in single.values()]),
        bias=sum(worth[a.given] - worth[a.key] for a in every) / n,
        key_rates=_rates(a.key for a in every),
        judge_rates=_rates(a.given for a in every),
        confusion={key: dict(row) for key, row in sorted(confusion.items())},
        constant=favourite >= CONSTANT > usual,
        constant_share=favourite,
    )


def _by_chance(answers: Sequence[Answer]) -> float:
    """Return how many of a field's answers would be right if the labels were dealt blindly."""
    rates = _rates(answer.given for answer in answers)
    return sum(rates.get(label, 0.0) for answer in answers for label in answer.right)


def _cohen(answers: Sequence[Answer]) -> float:
    codes = {label: float(code) for code, label in enumerate(values())}
    return cohen_kappa([codes[a.given] for a in answers], [codes[a.right[0]] for a in answers])


def _rates(labels: Iterable[str]) -> dict[str, float]:
    counts = Counter(labels)
    return {label: counts[label] / counts.total() for label in values() if label in counts}


def _most(labels: Iterable[str]) -> int:
    return Counter(labels).most_common(1)[0][1]


def _mean_known(numbers: Iterable[float]) -> float:
    known = [number for number in numbers if not math.isnan(number)]
    return fmean(known) if known else math.nan
