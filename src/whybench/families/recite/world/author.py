"""Tell arrows: which sentences give which arrows, at which level of explicitness.

The author keeps count of what it has told. An arrow is told at most once in a section, and never
more explicitly than its level.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from whybench.causal.seeds import Stream
from whybench.families.recite.world.drawing import Link, reaches
from whybench.families.recite.world.knowledge import scenery
from whybench.families.recite.world.say import COUNT, Findings, Say, joined
from whybench.families.recite.world.world import Status

ENDS = {
    "claim": "b", "because": "b", "chain": "c", "lead": "a", "response": "b",
}  # fmt: skip
"""Role → slot that some of its sentences name last."""
SINGLE = {"lead", "response"}
"""Roles whose sentences name one quantity."""

NUMBERED = {"absent", "this", "latter", "former"}
"""Roles whose sentences have a number in the results, whatever they give."""
PLAIN = 0.15
"""Share of the stated arrows that are told without a number."""
PLACES = ("cited", "R")
"""Where the others are told: as a cited finding, a first result; some also as a hypothesis (H)."""
HYPOTHESES = 10
"""Most hypotheses that hold, and most that do not."""
LISTED = 8
"""Most numbers in a sentence that decides on them."""


@dataclass(slots=True)
class Author:
    """Writes the sentences of a document."""

    stream: Stream
    findings: Findings
    level: Mapping[Link, Status]
    wanted: Mapping[Link, int] = field(default_factory=dict)
    """How often each arrow should be told."""
    lures: Mapping[Link, int] = field(default_factory=dict)
    """Pairs without an arrow that are told like arrows and rejected by their numbers; signs."""
    places: Mapping[Link, frozenset[str]] = field(default_factory=dict)
    """Where a pair is told under a number or with a study: `H`, `R`, `cited`."""
    numbering: str = ""
    """Which numbers the section that is being written gives: `H`, `R` or none."""
    numbered: dict[str, bool] = field(default_factory=dict)
    """Number, or key of a study → whether it stands for arrows."""
    told: Counter[Link] = field(default_factory=Counter)
    here: set[Link] = field(default_factory=set)
    """Arrows told in the section that is being written."""
    used: set[Link] = field(default_factory=set)
    """Pairs without arrow of which the text has said something."""
    described: set[int] = field(default_factory=set)
    """Quantities whose mean and standard deviation a sentence has given."""
    again: bool = False
    """Whether the results have been told; experiments are reported once."""
    shown: int = 0
    """Parts of the results so far; some of them print their correlations in a table."""
    groups: dict[str, tuple[int, ...]] = field(default_factory=dict)

    @property
    def arrows(self) -> tuple[Link, ...]:
        """All arrows."""
        return self.findings.study.system.arrows

    def sign(self, link: Link) -> int:
        """Return the sign of an arrow, or of what is told like one."""
        return self.lures.get(link) or self.findings.study.system.sign(link)

    def begin(self, numbering: str = "") -> None:
        """Begin a section."""
        self.here = set()
        self.numbering = numbering

    def divide(self, lures: Mapping[Link, int], wanted: Mapping[Link, int]) -> None:
        """Choose which stated arrows have numbers, and where they and the lures are told."""
        self.lures, self.wanted = lures, wanted
        stated = self.stream.shuffled([a for a in self.arrows if self.level[a] == "stated"])
        plain = max(1, round(PLAIN * len(stated)))
        self.level = {**self.level, **dict.fromkeys(lures, "stated")}
        kept, false = stated[plain:], self.stream.shuffled(list(lures))
        few = min(HYPOTHESES, 2 + len(self.arrows) // 12, len(kept), len(false))
        supposed = {*kept[:few], *false[:few]}
        self.places = {
            link: frozenset(
                {
                    *(("H",) if link in supposed else ()),
                    *self.stream.sample(
                        PLACES, min(len(PLACES), wanted[link] - (link in supposed))
                    ),
                }
            )
            for link in (*kept, *lures)
        }

    def told_in(self, place: str) -> list[Link]:
        """Return the pairs that have a number or a study in a place, in random order."""
        return self.stream.shuffled([link for link, own in self.places.items() if place in own])

    def number(self, kind: str, holds: bool) -> str:
        """Return the next number of a kind."""
        number = f"{kind}{1 + sum(one.startswith(kind) for one in self.numbered)}"
        self.numbered[number] = holds
        return number

    def decided(self, role: str, kind: str, holds: bool) -> list[Say]:
        """Decide on all numbers, or studies, of a kind that hold or not."""
        own = [one for one, held in self.numbered.items() if one.startswith(kind) and held == holds]
        return [
            Say(
                role, phrases={"tags": joined(own[k : k + LISTED])}, tags=tuple(own[k : k + LISTED])
            )
            for k in range(0, len(own), LISTED)
        ]

    def due(self, *levels: Status) -> list[Link]:
        """Return the arrows of some levels that should be told again, in random order."""
        left = [
            link for link in self.arrows
            if self.level[link] in levels and link not in self.here
            and link not in self.places and self.told[link] < self.wanted[link]
        ]  # fmt: skip
        return self.stream.shuffled(left)

    def tell(self, role: str, links: Sequence[Link], **more: object) -> Say:
        """Return a sentence that gives arrows, or that is rejected by its number or study."""
        self.told.update(links)
        self.here.update(links)
        lure = links[0] in self.lures
        if self.numbering and (links[0] in self.places or role in NUMBERED):
            more["tag"] = self.number(self.numbering, not lure)
        if lure:
            return Say(role, denied=tuple(links), **more)  # type: ignore[arg-type]
        return Say(role, links=tuple(links), **more)  # type: ignore[arg-type]

    # Stated.

    def claim(self, link: Link, role: str = "claim") -> Say:
        """Tell one arrow in one sentence."""
        a, b = link
        phrases = {} if link in self.places else dict(self.findings.figures(link))
        pair = self.findings.study.system.field.pairs.get(self.findings.study.system.keys(link))
        if pair:
            phrases["delay"] = pair.delay
            if pair.mechanism != "-":
                phrases["why"] = pair.mechanism
        if role == "cited" and link in self.places:
            phrases["study"] = self.number("study ", link not in self.lures)
        return self.tell(
            role, [link], concepts={"a": a, "b": b}, signs={"y": self.sign(link)}, phrases=phrases
        )

    def explainable(self, link: Link) -> bool:
        """Return whether a mechanism is known."""
        system = self.findings.study.system
        pair = system.field.pairs.get(system.keys(link))
        return pair is not None and pair.mechanism != "-"

    def chain(self, first: Link, second: Link) -> Say:
        """Tell two arrows that follow each other."""
        concepts = {"a": first[0], "b": first[1], "c": second[1]}
        signs = {"y": self.sign(first), "z": self.sign(second)}
        return self.tell("chain", [first, second], concepts=concepts, signs=signs)

    def mutual(self, link: Link) -> Say:
        """Tell two arrows between two nodes."""
        back = link[1], link[0]
        signs = {"y": self.sign(link), "z": self.sign(back)}
        return self.tell("mutual", [link, back], concepts={"a": link[0], "b": link[1]}, signs=signs)

    def causes(self, links: Sequence[Link]) -> Say:
        """Tell several causes of a node."""
        own = tuple(a for a, _ in links)
        phrases = {"n": COUNT[len(own)]}
        concepts: dict[str, int | tuple[int, ...]] = {"b": links[0][1], "cs": own}
        return self.tell("causes", links, concepts=concepts, phrases=phrases)

    def effects(self, links: Sequence[Link]) -> Say:
        """Tell several effects of a node."""
        concepts = {"a": links[0][0], "es": tuple(b for _, b in links)}
        return self.tell("effects", links, concepts=concepts)

    # Implied.

    def latter(self, link: Link, role: str = "latter") -> Say:
        """Tell an arrow from a node that the sentence before names."""
        phrases = {} if link in self.lures or self.numbering else self.findings.figures(link)
        return self.tell(
            role, [link], concepts={"b": link[1]}, signs={"y": self.sign(link)}, phrases=phrases,
            with_last=1, refers=(link[0],),
        )  # fmt: skip

    def lead(self, v: int) -> Say:
        """Describe a quantity, as the sentence before another one about it."""
        return Say("lead", {"a": v}, phrases=self.findings.described(v))

    def resumed(self, link: Link) -> list[Say]:
        """Tell an arrow again: name its cause, then what the latter does."""
        return [Say("aspect", {"a": link[0]}), self.latter(link, "this")]

    def both(self, first: Link, second: Link) -> list[Say]:
        """Tell two arrows into one node, from nodes that the sentence before names."""
        pair = Say("pair", {"a": first[0], "b": second[0]})
        signs = {"y": self.sign(first)}
        told = self.tell(
            "both", [first, second], concepts={"b": first[1]}, signs=signs, with_last=1,
            refers=(first[0], second[0]),
        )  # fmt: skip
        return [pair, told]

    def trial(self, link: Link) -> list[Say] | None:
        """Report an experiment on an arrow, or None if its effect is too weak to be seen."""
        up = 1 if self.stream.below(2) else -1
        system = self.findings.study.system
        figures = self.findings.tested(link, up)
        if figures is None or {*system.keys(link)} & {*scenery("national", system.field.name)}:
            return None
        done, seen = figures
        moved = up * self.sign(link)
        return [
            Say("trial", {"a": link[0]}, {"!x": up}, done),
            self.tell("response", [link], concepts={"b": link[1]}, signs={"!y": moved},
                      phrases=seen, with_last=1),
        ]  # fmt: skip

    def referred(self, link: Link, before: Say | None) -> list[Say]:
        """Tell a link by reference to the sentence before, if that names its cause."""
        if before is None or before.role not in ENDS:
            return []
        if before.concepts[ENDS[before.role]] == link[0]:
            return [self.latter(link, "this" if before.role in SINGLE else "latter")]
        if before.role == "claim" and before.concepts["a"] == link[0]:
            return [self.latter(link, "former")]
        return []

    def implied(self, link: Link, before: Say | None) -> list[Say]:
        """Tell an arrow by several sentences; the one before may name its cause."""
        if told := self.referred(link, before):
            return told
        if self.again:
            return self.resumed(link)
        if self.stream.uniform() < 0.6 and (trial := self.trial(link)):
            return trial
        return self.led(link)

    def led(self, link: Link) -> list[Say]:
        """Describe a quantity, or name it if that has been done, and tell what it acts on."""
        if link[0] in self.described:
            return self.resumed(link)
        self.described.add(link[0])
        return [self.lead(link[0]), self.latter(link, "this")]

    # Derivable.

    def group(self, links: Sequence[Link]) -> Say | None:
        """Tell several arrows into or out of a node by the label of a group; None if used up."""
        into = links[0][1] == links[-1][1]
        members = tuple(sorted(a if into else b for a, b in links))
        own = next((label for label, held in self.groups.items() if held == members), None)
        if own is None:
            free = [label for label in scenery("label", "-") if label not in self.groups]
            if not free:
                return None
            own = self.stream.choice(free)
            self.groups[own] = members
        concepts = {"b": links[0][1]} if into else {"a": links[0][0]}
        role = "acts" if into else "receives"
        return self.tell(role, links, concepts=concepts, phrases={"label": own}, label=own)

    def all_but(self, links: Sequence[Link], decoy: int) -> Say:
        """Tell several causes of a node by a list with an exception."""
        effect = links[0][1]
        listed = self.stream.shuffled([*(a for a, _ in links), decoy])
        self.used.add((decoy, effect))
        concepts = {"b": effect, "cs": tuple(listed), "d": decoy}
        return self.tell("except", links, concepts=concepts, denied=((decoy, effect),))

    def through(self, first: Link, second: Link) -> Say:
        """Tell two arrows by the way that an indirect effect takes."""
        whole = first[0], second[1]
        self.used.add(whole)
        concepts = {"a": first[0], "b": first[1], "c": second[1]}
        signs = {"y": self.sign(first) * self.sign(second)}
        return self.tell(
            "through", [first, second], concepts=concepts, signs=signs, denied=(whole,)
        )

    def absent(self, link: Link) -> Say:
        """Tell an arrow by what would have happened otherwise."""
        concepts = {"a": link[0], "b": link[1]}
        return self.tell("absent", [link], concepts=concepts, signs={"y": self.sign(link)})

    def derivable(self, links: Sequence[Link]) -> list[Say]:
        """Tell arrows so that they only follow: groups, exceptions, ways, counterfactuals."""
        rest, said = list(links), []
        while rest:
            link = rest.pop(0)
            into = [one for one in rest if one[1] == link[1]]
            out = [one for one in rest if one[0] == link[0]]
            on = [one for one in rest if self._way(link, one)]
            found: Say | None = None
            taken = [link]
            if on:
                taken = [link, on[0]]
                found = self.through(*taken)
            elif len(into) >= 1 and self.stream.uniform() < 0.5 and (decoy := self._decoy(link[1])):
                taken = [link, *into[:3]]
                found = self.all_but(taken, decoy[0])
            elif into or out:
                taken = [link, *(into[:3] or out[:3])]
                found = self.group(taken)
            if found is None and not self.again:  # the results tell it once, with a number
                taken = [link]
                found = self.absent(link)
            said += [found] if found else []
            rest = [one for one in rest if one not in taken]
        return said

    def _way(self, first: Link, second: Link) -> bool:
        whole = first[0], second[1]
        free = whole not in self.used and whole not in set(self.arrows)
        if first[1] != second[0] or whole[0] == whole[1] or not free:
            return False
        rest = [link for link in self.arrows if first[1] not in link]
        return not reaches(rest, *whole)  # the text says that there is no other way

    def _decoy(self, effect: int) -> list[int]:
        """Return a node that is no cause of another, in a list; empty if there is none."""
        known, n = set(self.arrows), self.findings.study.system.n
        free = [
            v for v in range(n)
            if v != effect and (v, effect) not in known and (v, effect) not in self.used
        ]  # fmt: skip
        return self.stream.sample(free, 1) if free else []
