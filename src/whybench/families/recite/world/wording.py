"""Statements put into words: which frame, which form of a name."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from whybench.causal.seeds import Stream
from whybench.families.recite.world.frames import MOST_USES, SLOT, Frame, frames, furniture
from whybench.families.recite.world.plan import MOST_GROUPS, Statement
from whybench.families.recite.world.vocabulary import Concept
from whybench.families.recite.world.world import Mention

KIND = "a matter of {kind}"
FIRST_YEAR, YEARS = 1995, 30
HINTS = 0.2
"""Share of mentions of an explicit node that are indirect."""


@dataclass(frozen=True, slots=True)
class Block:
    """A statement and the frame that says it, before names are chosen."""

    frame: Frame
    statement: Statement


class Deck:
    """Chooses frames: each at most three times, and none again before all others of its role."""

    def __init__(self, stream: Stream, held_out: bool) -> None:
        self._stream = stream
        self._held_out = held_out
        self._piles: dict[tuple[str, str], list[Frame]] = {}

    def draw(self, statement: Statement) -> Block | None:
        """Return a statement with the next frame of a matching sign; None if none is left."""
        role, sign = statement.role, statement.sign
        own, plain = self._pile(role, sign), self._pile(role, "0")
        if sign != "0" and own and (not plain or self._stream.below(3)):
            return Block(own.pop(), statement)
        return Block(plain.pop(), statement) if plain else None

    def _pile(self, role: str, sign: str) -> list[Frame]:
        if (role, sign) not in self._piles:
            known = [
                frame
                for frame in frames()[role]
                if frame.sign == sign and (self._held_out or not frame.held_out)
            ]
            rounds = [self._stream.shuffled(known) for _ in range(MOST_USES)]
            self._piles[role, sign] = [frame for dealt in rounds for frame in dealt]
        return self._piles[role, sign]


class Speaker:
    """Finds words for statements in one document."""

    def __init__(
        self, stream: Stream, cast: Sequence[Concept], spoken: Sequence[Mention], place: str
    ) -> None:
        self._stream = stream
        self._cast = cast
        self._spoken = spoken
        self._place = place
        self._introduced: set[int] = set()
        names = furniture()
        self._labels = stream.sample(names["labels"], MOST_GROUPS)
        self._bodies = stream.sample(names["bodies"], 4)
        self._others = stream.sample(names["elsewhere"], 8)

    def say(self, block: Block) -> str:
        """Put a block into words; blocks must come in the order of the text."""
        text = SLOT.sub(lambda slot: self._fill(slot[1], block.statement), block.frame.text)
        return _capitalised(text)

    def _fill(self, slot: str, statement: Statement) -> str:
        if slot in statement.fills:
            found = statement.fills[slot]
            if slot == "kind":
                return KIND.format(kind=self._cast[found[0]].kind)
            return joined([self._form(concept) for concept in found])
        return self._scenery(slot, statement)

    def _scenery(self, slot: str, statement: Statement) -> str:
        if slot == "label" and statement.group is not None:
            return str(self._labels[statement.group])
        if slot == "year":
            return str(FIRST_YEAR + self._stream.below(YEARS))
        shown: Mapping[str, Sequence[str]] = {
            "place": (self._place,),
            "body": self._bodies,
            "elsewhere": self._others,
        }
        return str(self._stream.choice(shown[slot]))

    def _form(self, index: int) -> str:
        """Return a form of a name: the name itself when an explicit node comes up first."""
        concept = self._cast[index]
        if self._spoken[index] == "implicit":
            return self._stream.choice(concept.hinted)
        if index not in self._introduced:
            self._introduced.add(index)
            return concept.said[0]
        if self._stream.uniform() < HINTS:
            return self._stream.choice(concept.hinted)
        return self._stream.choice(concept.said)


def usual_length(concept: Concept, spoken: Mention) -> float:
    """Return how many characters a concept takes in a text, on average."""
    hinted = sum(map(len, concept.hinted)) / len(concept.hinted)
    said = sum(map(len, concept.said)) / len(concept.said)
    return hinted if spoken == "implicit" else HINTS * hinted + (1 - HINTS) * said


def joined(phrases: Sequence[str]) -> str:
    """Return a list in words.

    >>> joined(["rain", "wind", "sun"])
    'rain, wind and sun'
    """
    if len(phrases) == 1:
        return phrases[0]
    return f"{', '.join(phrases[:-1])} and {phrases[-1]}"


def _capitalised(text: str) -> str:
    """Return sentences that begin with capitals."""
    return re.sub(r"(^|\. )([a-z])", lambda m: m[1] + m[2].upper(), text)
