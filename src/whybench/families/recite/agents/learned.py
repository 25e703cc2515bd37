"""Guessers that learn from documents of a training seed which words stand for an arrow."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, pairwise, permutations
from typing import Any

import numpy as np

from whybench.causal.seeds import Stream
from whybench.causal.structure import edge_f1
from whybench.episode.action import Action
from whybench.episode.episode import Moves
from whybench.episode.family import Suite
from whybench.episode.guesser import Player
from whybench.episode.instance import Instance
from whybench.families.recite.agents.strategies import answer_text
from whybench.families.recite.agents.words import NAME, STOP, Arrow, Read, read
from whybench.families.recite.world.world import View, World

CHARACTERS = 4_000_000
"""Length of all training documents together, at least."""
DOCUMENTS = 400
"""Most training documents; making them takes most of the time."""
TESTED = 4
"""Every so many training documents, one serves to choose a threshold."""
LEVELS = tuple(level / 20 for level in range(1, 20))
AROUND = 6
"""Words before the first and after the second of two names that are looked at."""
LIST = re.compile(r"\{c\}(?: (?:,|and|, and) \{c\})+")

Graph = set[Arrow]
Draw = Callable[[View, Read], Iterable[Arrow]]
Documents = Sequence[tuple[View, Read, Graph]]


@dataclass(frozen=True, slots=True)
class Training:
    """The documents of the training seed."""

    documents: Documents

    @property
    def learned(self) -> Documents:
        """The documents that a guesser with a threshold learns from."""
        return [one for k, one in enumerate(self.documents) if k % TESTED]

    @property
    def tested(self) -> Documents:
        """The documents on which it chooses the threshold."""
        return self.documents[::TESTED]

    def best(self, drawn: Sequence[Draw]) -> Draw:
        """Return the guesser with the best score on the documents kept for this."""

        def score(draw: Draw) -> float:
            found = [edge_f1(gold, set(draw(view, own))) for view, own, gold in self.tested]
            return sum(found) / len(found)

        return max(drawn, key=score)


@lru_cache(maxsize=4)
def training(suite: Suite) -> Training:
    """Return the documents of a suite, as many as guessers learn from."""
    worlds: list[World] = []
    while len(worlds) < DOCUMENTS and sum(len(w.view.text) for w in worlds) < CHARACTERS:
        worlds.append(suite.family.world(suite.row(len(worlds))))
    return Training(tuple((one.view, read(one.view), set(one.named())) for one in worlds))


def learned(
    fitted: Callable[[Training], Draw], *, documents: bool = True, **parameters: Any
) -> Callable[[Suite], Player]:
    """Return the `fit` of a guesser that submits one graph.

    `parameters` are those of the training documents; a guesser may need none.
    """

    def fit(suite: Suite) -> Player:
        family = suite.family
        other = {**suite.parameters.asdict(), **parameters}
        own = family.suite(suite.name, profile=suite.profile, seed=suite.seed, parameters=other)
        draw = fitted(training(own) if documents else Training(()))

        def moves(instance: Instance) -> Moves:
            view: View = family.world(instance).view
            arrows = dict.fromkeys(draw(view, read(view)))
            yield Action.of("submit", answer=answer_text(view, arrows))

        return moves

    return fit


# Shapes along a list of names.

SHAPES: Mapping[str, Callable[[Sequence[str]], Iterable[Arrow]]] = {
    "chain": pairwise,
    "ring": lambda names: pairwise([*names, *names[:1]]),
    "chain back": lambda names: pairwise(names[::-1]),
    "star": lambda names: ((names[0], name) for name in names[1:]),
    "sink": lambda names: ((name, names[0]) for name in names[1:]),
    "all": lambda names: permutations(names, 2),
    "all forward": lambda names: combinations(names, 2),
}


def shaped(listed: Callable[[View, Read], Sequence[str]]) -> Callable[[Training], Draw]:
    """Return a guesser that draws the shape with the best score along a list of names."""

    def fitted(training: Training) -> Draw:
        def drawing(shape: str) -> Draw:
            return lambda view, own: SHAPES[shape](listed(view, own))

        return training.best([drawing(shape) for shape in SHAPES])

    return fitted


def prior(training: Training) -> Draw:
    """Draw a shape along the given names, or along the names that training graphs have most."""
    often = Counter(name for _, _, gold in training.documents for arrow in gold for name in arrow)
    usual = [name for name, _ in often.most_common()]
    return shaped(lambda view, _: view.nodes or usual[: view.count])(training)


def in_order(view: View, own: Read) -> Sequence[str]:
    """Return the names in the order of first mention; if too many, the most mentioned."""
    often = [name for name, _ in Counter(own.names).most_common(view.count)]
    return [name for name in dict.fromkeys(own.names) if name in often]


def chance(training: Training) -> Draw:
    """Draw as many arrows per node as training graphs have, at random."""
    arrows = sum(len(gold) for _, _, gold in training.documents)
    per_node = arrows / sum(view.count for view, _, _ in training.documents)

    def draw(view: View, own: Read) -> Iterable[Arrow]:
        every = list(permutations(view.nodes or in_order(view, own), 2))
        return Stream("chance", view.text).sample(every, round(per_node * view.count))

    return draw


# What is remembered of training graphs.


def memory(training: Training) -> Draw:
    """Return the graph of the document with the most names in common."""
    known = [
        ({name for arrow in gold for name in arrow}, gold) for _, _, gold in training.documents
    ]

    def draw(view: View, own: Read) -> Iterable[Arrow]:
        here = set(view.nodes or own.names)

        def alike(other: tuple[set[str], Graph]) -> float:
            return len(here & other[0]) / len(here | other[0])

        _, gold = max(known, key=alike)
        return sorted(arrow for arrow in gold if here.issuperset(arrow))

    return draw


def remembered_arrows(training: Training) -> Draw:
    """Return all arrows of training documents between the names here."""
    known = sorted({arrow for _, _, gold in training.documents for arrow in gold})
    return lambda view, own: [a for a in known if set(view.nodes or own.names).issuperset(a)]


# What is remembered of training sentences.


def sentence(own: Read, one: int, two: int) -> Iterable[str]:
    """Return the sentences of two names with their places, then only the words between them."""
    first, last = one, two
    while first and own.words[first - 1] != STOP:
        first -= 1
    while last < len(own.words) and own.words[last] != STOP:
        last += 1
    before, between, after = (
        LIST.sub(NAME, " ".join(part))
        for part in (own.words[first:one], own.words[one : two + 1], own.words[two + 1 : last])
    )
    return [f"{before} [{between}] {after}", f"{between}] {after}", f"{before} [{between}", between]


Weights = Callable[[Read], Mapping[Arrow, float]]
"""How likely each arrow is, by the words of a document."""


def weighing(weighed: Callable[[Documents], Weights]) -> Callable[[Training], Draw]:
    """Return a guesser that draws what has more than a certain weight, chosen by its score."""

    def fitted(training: Training) -> Draw:
        weights = weighed(training.learned)
        tested = [(weights(own), gold) for _, own, gold in training.tested]

        def score(level: float) -> float:
            return sum(
                edge_f1(gold, {arrow for arrow, weight in found.items() if weight >= level})
                for found, gold in tested
            )

        level = max(LEVELS, key=score)
        return lambda _, own: [a for a, weight in weights(own).items() if weight >= level]

    return fitted


def remembered(documents: Documents) -> Weights:
    """Return how often a sentence, or else the words between two names, stood for an arrow."""
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    for _, own, gold in documents:
        for (a, b), place in own.pairs:
            for key in sentence(own, *place):
                held = counts[key]
                held[0] += (a, b) in gold
                held[1] += (b, a) in gold
                held[2] += 1

    def weights(own: Read) -> dict[Arrow, float]:
        found: dict[Arrow, float] = defaultdict(float)
        for (a, b), place in own.pairs:
            keys = (key for key in sentence(own, *place) if key in counts)
            there, back, number = counts.get(next(keys, ""), (0, 0, 0))
            found[a, b] = max(found[a, b], there / (number + 0.5))
            found[b, a] = max(found[b, a], back / (number + 0.5))
        return found

    return weights


def features(own: Read) -> dict[Arrow, set[str]]:
    """Return, for each arrow between names of a sentence, the words around all its mentions."""
    found: dict[Arrow, set[str]] = defaultdict(set)
    often: Counter[Arrow] = Counter()
    for (a, b), (one, two) in own.pairs:
        between = own.words[one + 1 : two]
        if STOP in between:
            continue
        parts = {
            "before": _last_sentence(own.words[max(0, one - AROUND) : one]),
            "between": between,
            "after": _first_sentence(own.words[two + 1 : two + 1 + AROUND]),
        }
        words = [f"{part} {word}" for part, words in parts.items() for word in words]
        words += [f"{x} {y}" for x, y in pairwise(("^", *between, "$"))]
        words.append(f"distance {min(len(between), 12) // 3}")
        for arrow, way in (((a, b), ">"), ((b, a), "<")):
            often[arrow] += 1
            found[arrow].update(f"{way} {word}" for word in words)
    for arrow, number in often.items():
        found[arrow].add(f"times {min(number, 8)}")
    return found


def _last_sentence(words: Sequence[str]) -> Sequence[str]:
    stops = [place for place, word in enumerate(words) if word == STOP]
    return words[stops[-1] + 1 :] if stops else words


def _first_sentence(words: Sequence[str]) -> Sequence[str]:
    return words[: words.index(STOP)] if STOP in words else words


def ridge(documents: Documents) -> Weights:
    """Fit arrows linearly to the words around their mentions, with a penalty on large weights."""
    # Takes most of a second to import: only who fits shall wait for it.
    from scipy.sparse import csr_array
    from scipy.sparse.linalg import lsqr

    number: dict[str, int] = {}
    columns: list[int] = []
    ends: list[int] = [0]
    wanted: list[bool] = []
    for _, own, gold in documents:
        for arrow, words in features(own).items():
            columns += [number.setdefault(word, len(number)) for word in sorted(words)]
            ends.append(len(columns))
            wanted.append(arrow in gold)
    table = csr_array((np.ones(len(columns)), columns, ends), shape=(len(wanted), len(number)))
    fit = lsqr(table, np.array(wanted, dtype=float), damp=2.0, iter_lim=80)[0]

    def weights(own: Read) -> dict[Arrow, float]:
        return {
            arrow: float(fit[[number[word] for word in words if word in number]].sum())
            for arrow, words in features(own).items()
        }

    return weights
