"""The battery: guessers that draw arrows without an inference from what the text says.

Some do not read, some look at which names stand together, some have learned by heart which words
stand between the names of cause and effect. All know the words for quantities; what is learned
comes from documents of a training seed.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import combinations, pairwise, permutations

import numpy as np

from whybench.causal.structure import edge_f1
from whybench.episode.action import Action
from whybench.episode.episode import Moves
from whybench.episode.family import Suite
from whybench.episode.guesser import Guesser, Player, unlearned
from whybench.episode.instance import Instance
from whybench.families.recite.agents.strategies import answer_text
from whybench.families.recite.world.vocabulary import FIELDS, field_named
from whybench.families.recite.world.world import View, World

CHARACTERS = 4_000_000
"""Length of all training documents together, at least."""
DOCUMENTS = 800
"""Most training documents; making them takes most of the time."""
TESTED = 4
"""Every so many training documents, one serves to choose a threshold."""
LEVELS = tuple(level / 20 for level in range(1, 20))
SAMPLED = 400
"""Words from which the field of a text is guessed."""
NAME = "{c}"
LIST = re.compile(r"\{c\}(?: (?:,|and|, and) \{c\})+")
AROUND = 6
"""Words before the first and after the second of two names that are looked at."""
FARTHEST = 40
"""Most words between two names that are looked at together."""
CAUSAL = re.compile(
    r"\b(?:rais|lower|reduc|increas|lead|led|caus|driv|push|boost|cut|affect|influenc|act|chang|"
    r"shap|add|weigh|lift|depress|determin|effect|consequence|result|because|follow)\w*"
)
BACKWARDS = re.compile(r"\b(?:by|from|because|due|depends|follows|result of|consequence of)\b")

Arrow = tuple[str, str]
Graph = set[Arrow]
Draw = Callable[[View, "Read"], Iterable[Arrow]]


@dataclass(frozen=True, slots=True)
class Read:
    """A document as guessers see it: words, with the names of quantities found."""

    words: tuple[str, ...]
    """In small letters; a name is one word `{c}`, and a full stop ends a sentence."""
    at: tuple[int, ...]
    """Where the names are."""
    names: tuple[str, ...]

    @property
    def sentences(self) -> Iterator[list[str]]:
        """The names of each sentence that has any, each name once."""
        found: dict[int, dict[str, None]] = defaultdict(dict)
        stops = np.cumsum([word == "." for word in self.words])
        for place, name in zip(self.at, self.names, strict=True):
            found[int(stops[place])][name] = None
        return map(list, found.values())

    @property
    def pairs(self) -> Iterator[tuple[Arrow, tuple[int, int]]]:
        """Pairs of different names that are near each other, in the order of the text."""
        for (one, name), (two, other) in combinations(zip(self.at, self.names, strict=True), 2):
            if name != other and two - one <= FARTHEST:
                yield (name, other), (one, two)


@cache
def _forms(field: str) -> tuple[Mapping[tuple[str, ...], str], Sequence[int]]:
    """Return the words for the quantities of a field, and their lengths, longest first."""
    concepts = field_named(field).concepts
    found = {_words(form): one.name for one in concepts for form in (*one.said, *one.hinted)}
    return found, sorted({len(form) for form in found}, reverse=True)


def _read(view: View) -> Read:
    """Find the names of quantities in a text."""
    words = _words(re.sub(r"^#.*$", "", view.text, flags=re.M))
    field = max(FIELDS, key=lambda field: len(_found(words[:SAMPLED], field).at))
    return _found(words, field, view.nodes)


def _found(words: Sequence[str], field: str, known: Sequence[str] = ()) -> Read:
    forms, sizes = _forms(field)
    shown: list[str] = []
    at: list[int] = []
    names: list[str] = []
    place = 0
    while place < len(words):
        for size in sizes:
            name = forms.get(tuple(words[place : place + size]))
            if name is not None and (not known or name in known):
                at.append(len(shown))
                names.append(name)
                shown.append(NAME)
                place += size
                break
        else:
            shown.append("0" if words[place].isdigit() else words[place])
            place += 1
    return Read(tuple(shown), tuple(at), tuple(names))


def _words(text: str) -> tuple[str, ...]:
    return tuple(re.findall(r"\w+(?:['’-]\w+)*|[.,;:]", text.casefold()))


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
            found = [edge_f1(gold, set(draw(view, read))) for view, read, gold in self.tested]
            return sum(found) / len(found)

        return max(drawn, key=score)


@lru_cache(maxsize=2)
def _training(suite: Suite) -> Training:
    worlds: list[World] = []
    while len(worlds) < DOCUMENTS and sum(len(w.view.text) for w in worlds) < CHARACTERS:
        worlds.append(suite.family.world(suite.row(len(worlds))))
    return Training(tuple((one.view, _read(one.view), set(one.named())) for one in worlds))


def _learned(fitted: Callable[[Training], Draw]) -> Callable[[Suite], Player]:
    """Return the `fit` of a guesser that submits one graph."""

    def fit(suite: Suite) -> Player:
        training = _training(suite)
        draw = fitted(training)

        def moves(instance: Instance) -> Moves:
            view: View = suite.family.world(instance).view
            arrows = dict.fromkeys(draw(view, _read(view)))
            yield Action.of("submit", answer=answer_text(view, arrows))

        return moves

    return fit


def _plain(draw: Draw) -> Callable[[Suite], Player]:
    return _learned(lambda _: draw)


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


def _shaped(listed: Callable[[View, Read], Sequence[str]]) -> Callable[[Training], Draw]:
    """Return a guesser that draws the shape with the best score along a list of names."""

    def fitted(training: Training) -> Draw:
        def drawing(shape: str) -> Draw:
            return lambda view, read: SHAPES[shape](listed(view, read))

        return training.best([drawing(shape) for shape in SHAPES])

    return fitted


def _prior(training: Training) -> Draw:
    often = Counter(name for _, _, gold in training.documents for arrow in gold for name in arrow)
    usual = [name for name, _ in often.most_common()]
    return _shaped(lambda view, _: view.nodes or usual[: view.count])(training)


def _in_order(view: View, read: Read) -> Sequence[str]:
    """Return the names in the order of first mention; if too many, the most mentioned."""
    often = [name for name, _ in Counter(read.names).most_common(view.count)]
    return [name for name in dict.fromkeys(read.names) if name in often]


# Names that stand together.


def _together(_: View, read: Read) -> Iterator[Arrow]:
    for names in read.sentences:
        yield from permutations(names, 2)


def _forward(_: View, read: Read) -> Iterator[Arrow]:
    for names in read.sentences:
        yield from combinations(names, 2)


def _backward(_: View, read: Read) -> Iterator[Arrow]:
    for names in read.sentences:
        yield from combinations(names[::-1], 2)


def _two_names(_: View, read: Read) -> Iterator[Arrow]:
    for names in read.sentences:
        if len(names) == 2:
            yield names[0], names[1]


def _next_name(_: View, read: Read) -> Iterator[Arrow]:
    return ((a, b) for a, b in pairwise(read.names) if a != b)


def _verbs(_: View, read: Read) -> Iterator[Arrow]:
    """Look for a word of cause between two names, whatever else the sentence says."""
    for (one, name), (two, other) in pairwise(zip(read.at, read.names, strict=True)):
        between = " ".join(read.words[one + 1 : two])
        if name != other and "." not in between and CAUSAL.search(between):
            yield (other, name) if BACKWARDS.search(between) else (name, other)


# What is remembered of the training documents.


def _memory(training: Training) -> Draw:
    """Return the graph of the document with the most names in common."""
    known = [
        ({name for arrow in gold for name in arrow}, gold) for _, _, gold in training.documents
    ]

    def draw(view: View, read: Read) -> Iterable[Arrow]:
        here = set(view.nodes or read.names)

        def alike(other: tuple[set[str], Graph]) -> float:
            return len(here & other[0]) / len(here | other[0])

        _, gold = max(known, key=alike)
        return sorted(arrow for arrow in gold if here.issuperset(arrow))

    return draw


def _remembered_arrows(training: Training) -> Draw:
    """Return all arrows of training documents between the names here."""
    known = sorted({arrow for _, _, gold in training.documents for arrow in gold})
    return lambda view, read: [a for a in known if set(view.nodes or read.names).issuperset(a)]


def _sentence(read: Read, one: int, two: int) -> Iterable[str]:
    """Return the sentences of two names with their places, then only the words between them."""
    first, last = one, two
    while first and read.words[first - 1] != ".":
        first -= 1
    while last < len(read.words) and read.words[last] != ".":
        last += 1
    before, between, after = (
        LIST.sub(NAME, " ".join(part))
        for part in (read.words[first:one], read.words[one : two + 1], read.words[two + 1 : last])
    )
    return [f"{before} [{between}] {after}", f"{between}] {after}", f"{before} [{between}", between]


def _bag(read: Read, one: int, two: int) -> Iterable[str]:
    """Return single words and pairs of words before, between and after two names."""
    parts = {
        "before": read.words[max(0, one - AROUND) : one],
        "between": read.words[one : two + 1],
        "after": read.words[two + 1 : two + 1 + AROUND],
    }
    for part, words in parts.items():
        yield from (f"{part} {word}" for word in words)
        yield from (f"{part} {a} {b}" for a, b in pairwise(words))


Weigh = Callable[[Read, int, int], tuple[float, float]]
"""How likely the first of two names acts on the second, and the second on the first."""


def _weighing(weighed: Callable[[Documents], Weigh]) -> Callable[[Training], Draw]:
    """Return a guesser that draws what has more than a certain weight, chosen by its score."""

    def fitted(training: Training) -> Draw:
        weigh = weighed(training.learned)

        def weights(read: Read) -> dict[Arrow, float]:
            found: dict[Arrow, float] = defaultdict(float)
            for (a, b), place in read.pairs:
                there, back = weigh(read, *place)
                found[a, b] = max(found[a, b], there)
                found[b, a] = max(found[b, a], back)
            return found

        tested = [(weights(read), gold) for _, read, gold in training.tested]

        def score(level: float) -> float:
            return sum(
                edge_f1(gold, {arrow for arrow, weight in found.items() if weight >= level})
                for found, gold in tested
            )

        level = max(LEVELS, key=score)
        return lambda _, read: [a for a, weight in weights(read).items() if weight >= level]

    return fitted


def _remembered(documents: Documents) -> Weigh:
    """Return how often a sentence, or else the words between two names, stood for an arrow."""
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    for _, read, gold in documents:
        for (a, b), place in read.pairs:
            for key in _sentence(read, *place):
                held = counts[key]
                held[0] += (a, b) in gold
                held[1] += (b, a) in gold
                held[2] += 1

    def weigh(read: Read, one: int, two: int) -> tuple[float, float]:
        keys = (key for key in _sentence(read, one, two) if key in counts)
        there, back, number = counts.get(next(keys, ""), (0, 0, 0))
        return there / (number + 0.5), back / (number + 0.5)

    return weigh


def _ridge(documents: Documents) -> Weigh:
    """Fit both directions linearly to words, with a penalty on large weights."""
    # Takes most of a second to import: only who fits shall wait for it.
    from scipy.sparse import csr_array
    from scipy.sparse.linalg import lsqr

    number: dict[str, int] = {}
    columns: list[int] = []
    ends: list[int] = [0]
    wanted: list[tuple[bool, bool]] = []
    for _, read, gold in documents:
        for (a, b), place in read.pairs:
            columns += [number.setdefault(key, len(number)) for key in set(_bag(read, *place))]
            ends.append(len(columns))
            wanted.append(((a, b) in gold, (b, a) in gold))
    shape = len(wanted), len(number)
    table = csr_array((np.ones(len(columns)), columns, ends), shape=shape)
    target = np.array(wanted, dtype=float)
    fits = [lsqr(table, target[:, way], damp=2.0, iter_lim=60)[0] for way in (0, 1)]

    def weigh(read: Read, one: int, two: int) -> tuple[float, float]:
        known = [number[key] for key in set(_bag(read, one, two)) if key in number]
        return float(fits[0][known].sum()), float(fits[1][known].sum())

    return weigh


BATTERY: tuple[Guesser, ...] = (
    Guesser("constant", "submits a graph without arrows", 0, unlearned("null")),
    Guesser(
        "prior_only",
        "a ring, chain, star or all arrows along the given or most frequent names, unread",
        0,
        _learned(_prior),
    ),
    Guesser("first_mention", "such a shape in order of mention", 0, _learned(_shaped(_in_order))),
    Guesser("co_mention", "all names of a sentence, both ways", 0, _plain(_together)),
    Guesser("co_mention_forward", "from each name to later ones", 0, _plain(_forward)),
    Guesser("co_mention_backward", "from each name to earlier ones", 0, _plain(_backward)),
    Guesser("two_names", "first to second name in sentences with two", 0, _plain(_two_names)),
    Guesser("next_name", "from each name to the next in the text", 0, _plain(_next_name)),
    Guesser("verbs", "two names with a word of cause between them", 0, _plain(_verbs)),
    Guesser("pattern", "the rule-based reader of stated arrows", 0, unlearned("pattern")),
    Guesser("memory", "the graph of the most similar document", 0, _learned(_memory)),
    Guesser(
        "remembered_arrows",
        "all arrows of training documents between the names here",
        0,
        _learned(_remembered_arrows),
    ),
    Guesser(
        "remembered_sentences",
        "two names in a sentence, or with words between them, that stood for an arrow before",
        0,
        _learned(_weighing(_remembered)),
    ),
    Guesser(
        "bag_of_words",
        "ridge regression on words and pairs of words around two names",
        0,
        _learned(_weighing(_ridge)),
    ),
)
"""All guessers; all of them count."""
