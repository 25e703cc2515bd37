"""What a document says: sentences by role, with their concepts, numbers, arrows and denials."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations

from whybench.families.recite.world.drawing import Link
from whybench.families.recite.world.simulate import PAIRS, Estimate, Study, p_value, printed
from whybench.families.recite.world.world import Correlation, Status

LEVEL: dict[str, Status] = {
    **dict.fromkeys(
        ("claim", "hypothesis", "reasoned", "because", "chain", "causes", "effects", "mutual",
         "cited", "common", "overturn", "revised"),
        "stated",
    ),
    **dict.fromkeys(("this", "latter", "former", "both", "response"), "implied"),
    **dict.fromkeys(("acts", "receives", "except", "through", "absent"), "derivable"),
}  # fmt: skip
"""How a role gives its arrows."""

COUNT = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
SIGNIFICANT = 3.3
"""Estimate divided by standard error from which an effect is called secure (p < 0.001)."""
NOTHING = 1.5
"""Below this the text says that there is no effect."""


@dataclass(frozen=True, slots=True)
class Say:
    """One sentence."""

    role: str
    concepts: Mapping[str, int | tuple[int, ...]] = field(default_factory=dict)
    signs: Mapping[str, int] = field(default_factory=dict)
    """Polarity variable → sign of the effect that it tells."""
    phrases: Mapping[str, str] = field(default_factory=dict)
    """Numbers and other phrases by slot."""
    links: tuple[Link, ...] = ()
    """The arrows that it gives, alone or with the sentences before it."""
    denied: tuple[Link, ...] = ()
    """The pairs of which it says that there is no direct effect."""
    with_last: int = 0
    """How many of the sentences before it belong to the passage."""
    refers: tuple[int, ...] = ()
    """The quantities for which "the latter", "the former" or "both" stand."""
    label: str = ""
    """The group that it refers to, whose definition belongs to the passage."""
    tag: str = ""
    """The number of a hypothesis or a first result, such as `H3`."""
    tags: tuple[str, ...] = ()
    """The numbers, or the keys of studies, on which it decides."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table with a caption; cells are texts, concepts or keys of studies."""

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[str | int, ...], ...]
    about: int | None = None
    """The concept that ends the caption."""


Paragraph = list[Say] | Table


@dataclass(frozen=True, slots=True)
class Section:
    """A section; its title is empty for the abstract's head."""

    title: str
    paragraphs: list[Paragraph]


@dataclass(frozen=True)
class Findings:
    """What a study found about its links, in the form in which sentences need it."""

    study: Study

    @cached_property
    def causes(self) -> dict[int, list[int]]:
        """Return the causes of each node."""
        found: dict[int, list[int]] = {v: [] for v in range(self.study.system.n)}
        for a, b in self.study.system.arrows:
            found[b].append(a)
        return found

    @cached_property
    def _above(self) -> list[int]:
        """Return the nodes that act on each node, directly or not, as bits."""
        n = self.study.system.n
        above = [0] * n
        changed = True
        while changed:
            changed = False
            for a, b in self.study.system.arrows:
                more = above[b] | above[a] | 1 << a
                changed |= more != above[b]
                above[b] = more
        return above

    @cached_property
    def estimates(self) -> dict[Link, Estimate]:
        """Return the coefficient of each arrow, with all direct causes in the regression."""
        found: dict[Link, Estimate] = {}
        for b, own in self.causes.items():
            if own:
                values, _ = self.study.regression(b, own)
                found |= {(a, b): value for a, value in zip(own, values[1:], strict=True)}
        return found

    def figures(self, link: Link) -> dict[str, str]:
        """Return the figures of an arrow; none if the estimate is not secure."""
        estimate = self.estimates[link]
        right = estimate.value * self.study.weights[link] > 0
        secure = right and abs(estimate.ratio) > SIGNIFICANT
        return coefficient(estimate) if secure else {}

    def without(self, link: Link) -> dict[str, str]:
        """Return the figures of a pair without arrow; none if the estimate is not near 0."""
        estimate = self._extra(link)
        return coefficient(estimate) if abs(estimate.ratio) < NOTHING else {}

    def control(self, link: Link) -> dict[str, str]:
        """Return the figures of a control variable, whatever they are."""
        return coefficient(self._extra(link))

    def _extra(self, link: Link) -> Estimate:
        values, _ = self.study.regression(link[1], [*self.causes.get(link[1], []), link[0]])
        return values[-1]

    def described(self, v: int) -> dict[str, str]:
        """Return mean and standard deviation of a quantity."""
        concept = self.study.system.concepts[v]
        return {
            "#mean": printed(self.study.means[v], concept.decimals),
            "#sd": printed(self.study.deviations[v], concept.decimals),
            "unit_a": concept.said_unit,
        }

    def tested(self, link: Link, up: int) -> tuple[dict[str, str], dict[str, str]] | None:
        """Return the figures of an experiment and its result, or None if nobody would see it."""
        study, (a, b) = self.study, link
        size = abs(study.weights[link]) * float(study.scale[a])
        if size < 2.5 * (2.0 / PAIRS) ** 0.5:
            return None
        cause, effect = study.system.concepts[a], study.system.concepts[b]
        trial = study.trial(link, up)
        digits = effect.decimals + 1
        edges = (trial.change - 1.96 * trial.error, trial.change + 1.96 * trial.error)
        done = {
            "#n": str(PAIRS),
            "#da": printed(trial.step, cause.decimals),
            "unit_a": cause.said_unit,
            "#year": str(2004 + (7 * a + 3 * b) % 16),
        }
        seen = {
            "#db": printed(abs(trial.change), digits),
            "#sdb": printed(trial.change, digits),
            "#lo": printed(edges[0] if trial.change > 0 else -edges[1], digits),
            "#hi": printed(edges[1] if trial.change > 0 else -edges[0], digits),
            "#slo": printed(edges[0], digits),
            "#shi": printed(edges[1], digits),
            "unit_b": effect.said_unit,
        }
        return done, seen

    @property
    def clear(self) -> float:
        """The correlation from which chance is no longer an explanation (p < 0.0005)."""
        return float(3.5 / len(self.study.values) ** 0.5)

    def correlated(self) -> Iterator[Correlation]:
        """Yield the clear correlations between nodes without an arrow, strongest first."""
        n, arrows = self.study.system.n, set(self.study.system.arrows)
        table = self.study.correlations
        pairs = [
            (a, b) for a, b in combinations(range(n), 2)
            if not {(a, b), (b, a)} & arrows and abs(table[a, b]) > self.clear
        ]  # fmt: skip
        for a, b in sorted(pairs, key=lambda pair: (-round(abs(float(table[pair])), 6), pair)):
            found = self.explained(a, b)
            if found:
                yield found

    def explained(self, a: int, b: int) -> Correlation | None:
        """Return a correlation with its path or confounder; None if it has neither."""
        value = float(printed(float(self.study.correlations[a, b]), 2).replace("−", "-"))
        path = self._path(a, b) or self._path(b, a)
        if path:
            return Correlation(a, b, value, "path", path)
        both = self._above[a] & self._above[b]
        if not both:
            return None
        return Correlation(a, b, value, "confounder", ((both & -both).bit_length() - 1,))

    def _path(self, a: int, b: int) -> tuple[int, ...]:
        """Return the nodes of a shortest directed path, without its ends; empty if none."""
        if not self._above[b] >> a & 1:
            return ()
        effects: dict[int, list[int]] = {}
        for cause, effect in self.study.system.arrows:
            effects.setdefault(cause, []).append(effect)
        before, queue = {a: a}, [a]
        for v in queue:
            for w in effects.get(v, ()):
                if w not in before:
                    before[w] = v
                    queue.append(w)
        path = [before[b]]
        while path[-1] != a:
            path.append(before[path[-1]])
        return tuple(path[-2::-1])


def coefficient(estimate: Estimate) -> dict[str, str]:
    """Return a coefficient as phrases."""
    return {
        "#beta": printed(estimate.value, 2),
        "#se": printed(estimate.error, 2),
        "#p": p_value(estimate.ratio),
    }


def regression_table(
    about: int, names: Iterable[str | int], estimates: Iterable[Estimate]
) -> Table:
    """Return the table of a regression."""
    rows = tuple(
        (name, figures["#beta"], figures["#se"], figures["#p"].removeprefix("= "))
        for name, figures in zip(names, map(coefficient, estimates), strict=True)
    )
    return Table("Regression of", ("Regressor", "Coefficient", "SE", "p"), rows, about)


def r_of(value: float, periods: int) -> dict[str, str]:
    """Return a correlation as phrases; its p-value by Fisher's transformation."""
    return {"#r": printed(value, 2), "#p": p_value(math.atanh(value) * (periods - 3) ** 0.5)}


def joined(names: Iterable[str]) -> str:
    """Return a list in words."""
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last
