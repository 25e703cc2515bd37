"""The battery: guessers that draw arrows without an inference from what the text says.

Some do not read, some look at which names stand together or correlate, some have learned by heart
which words stand near the names of cause and effect. All know the words for quantities. What is
learned comes from documents of a training seed, whose sentences come from the part of the grammar
that test documents do not use.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import combinations, pairwise

from whybench.episode.family import Suite
from whybench.episode.guesser import Guesser, Player, unlearned
from whybench.families.recite.agents import learned as learners
from whybench.families.recite.agents.correlations import correlated, regressed
from whybench.families.recite.agents.learned import Draw, Training, learned, shaped, weighing
from whybench.families.recite.agents.words import Arrow, Read, both_ways
from whybench.families.recite.world.knowledge import FIELDS, field_named
from whybench.families.recite.world.world import View

CAUSAL = re.compile(
    r"\b(?:rais|lower|reduc|increas|lead|led|caus|driv|push|boost|cut|affect|influenc|act|chang|"
    r"shap|add|weigh|lift|depress|determin|effect|consequence|result|because|follow)\w*"
)
BACKWARDS = re.compile(r"\b(?:by|from|because|due|depends|follows|result of|consequence of)\b")
KNOWS = "it knows which effects the world has, and does not read"


def _names(found: Iterable[tuple[int, str]]) -> list[str]:
    return list(dict.fromkeys(name for _, name in found))


# Names that stand together.


def together(_: View, read: Read) -> Iterator[Arrow]:
    """Connect all names of a sentence, both ways."""
    for found in read.sentences:
        yield from both_ways(_names(found))


def forward(_: View, read: Read) -> Iterator[Arrow]:
    """Connect each name of a sentence with the later ones."""
    for found in read.sentences:
        yield from combinations(_names(found), 2)


def backward(_: View, read: Read) -> Iterator[Arrow]:
    """Connect each name of a sentence with the earlier ones."""
    for found in read.sentences:
        yield from combinations(_names(found)[::-1], 2)


def two_names(_: View, read: Read) -> Iterator[Arrow]:
    """Connect first and second name where a sentence has two."""
    for found in read.sentences:
        if len(names := _names(found)) == 2:
            yield names[0], names[1]


def next_name(_: View, read: Read) -> Iterator[Arrow]:
    """Connect each name with the next one in the text."""
    return ((a, b) for a, b in pairwise(read.names) if a != b)


def verbs(_: View, read: Read) -> Iterator[Arrow]:
    """Look for a word of cause between two names, whatever else the sentence says."""
    for found in read.sentences:
        for (one, name), (two, other) in pairwise(found):
            between = " ".join(read.words[one + 1 : two])
            if name != other and CAUSAL.search(between):
                yield (other, name) if BACKWARDS.search(between) else (name, other)


def often_together(training: Training) -> Draw:
    """Connect names that stand in one sentence at least so many times; learn how many."""

    def drawing(least: int) -> Draw:
        def draw(view: View, read: Read) -> Iterator[Arrow]:
            times: dict[Arrow, int] = {}
            for arrow in forward(view, read):
                times[arrow] = times.get(arrow, 0) + 1
            return (arrow for arrow, number in times.items() if number >= least)

        return draw

    return training.best([drawing(least) for least in range(1, 7)])


# What the world is like.


@cache
def admissible() -> frozenset[Arrow]:
    """Return all arrows that the tables of the fields admit, by names."""
    fields = [field_named(name) for name in FIELDS]
    return frozenset(
        (names[cause], names[effect])
        for field in fields
        for names in [{one.key: one.name for one in field.concepts}]
        for (cause, effect), pair in field.pairs.items()
        if pair.admissible
    )


def knowledge(view: View, read: Read) -> Iterator[Arrow]:
    """Connect what is known to act on what, among the quantities of the document."""
    here = set(view.nodes or read.names)
    return (arrow for arrow in sorted(admissible()) if here.issuperset(arrow))


def known_together(view: View, read: Read) -> Iterator[Arrow]:
    """Connect what is known to act on what, if one sentence has both."""
    return (arrow for arrow in together(view, read) if arrow in admissible())


def _plain(draw: Draw) -> Callable[[Suite], Player]:
    return learned(lambda _: draw, documents=False)


def _learned(fitted: Callable[[Training], Draw]) -> Callable[[Suite], Player]:
    return learned(fitted, grammar="seen")


BATTERY: tuple[Guesser, ...] = (
    Guesser("constant", "submits a graph without arrows", 0, unlearned("null")),
    Guesser("random", "about as many arrows as usual, at random", 0, _learned(learners.chance)),
    Guesser(
        "prior_only",
        "a ring, chain, star or all arrows along the given or most frequent names, unread",
        0,
        _learned(learners.prior),
    ),
    Guesser(
        "first_mention", "such a shape in order of mention", 0, _learned(shaped(learners.in_order))
    ),
    Guesser("co_mention", "all names of a sentence, both ways", 0, _plain(together)),
    Guesser("co_mention_forward", "from each name to later ones", 0, _plain(forward)),
    Guesser("co_mention_backward", "from each name to earlier ones", 0, _plain(backward)),
    Guesser("often_together", "names that often share a sentence", 0, _learned(often_together)),
    Guesser("two_names", "first to second name in sentences with two", 0, _plain(two_names)),
    Guesser("next_name", "from each name to the next in the text", 0, _plain(next_name)),
    Guesser("verbs", "two names with a word of cause between them", 0, _plain(verbs)),
    Guesser("pattern", "the rule-based reader of stated arrows", 0, unlearned("pattern")),
    Guesser("correlation", "every large correlation is an arrow", 0, _learned(correlated)),
    Guesser("regression", "every significant coefficient is an arrow", 0, _learned(regressed)),
    Guesser("memory", "the graph of the most similar document", 0, _learned(learners.memory)),
    Guesser(
        "remembered_sentences",
        "two names in a sentence, or with words between them, that stood for an arrow before",
        0,
        _learned(weighing(learners.remembered)),
    ),
    Guesser(
        "bag_of_words",
        "ridge regression on words and pairs of words around all mentions of two names",
        0,
        _learned(weighing(learners.ridge)),
    ),
    Guesser(
        "knowledge",
        "every admissible pair of the quantities mentioned",
        0,
        _plain(knowledge),
        counts=False,
        reason=KNOWS,
    ),
    Guesser(
        "known_together",
        "every admissible pair that one sentence mentions",
        0,
        _plain(known_together),
    ),
    Guesser(
        "remembered_arrows",
        "all arrows of training documents between the names here",
        0,
        _learned(learners.remembered_arrows),
    ),
    Guesser(
        "remembered_grammar",
        "as remembered_sentences, but it has learned from the grammar of the test",
        0,
        learned(weighing(learners.remembered), grammar="held_out"),
    ),
)
"""All guessers. Only `knowledge` does not count: it does not read, and shows what memory gives."""
