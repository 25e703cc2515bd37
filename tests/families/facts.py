"""What prompts tell, fact by fact: `facts.toml` of a family, and the table in its card.

`python -m tests.families.facts` writes the tables into the cards.
"""

from __future__ import annotations

import re
import textwrap
import tomllib
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from tests.documents.pages import ROOT

from whybench.episode.prompts.conversation import Turn
from whybench.episode.registry import families

FAMILIES = ("causallink", "causalab", "causalgame", "replayscm", "recite")
"""Those with a paper."""

HEADING = "## What the prompts tell"
INTRO = """Template `paper` is the default in profile `published`. It tells what the paper's prompts
tell, in our own words, and leaves to the agent what they leave to it. The table compares it with
`plain`, both in profile `published`. A test reads the prompts and checks every row.

"""


@dataclass(frozen=True)
class Fact:
    """A fact that a prompt may tell."""

    fact: str
    paper: str
    released: str
    tells: dict[str, bool]
    pattern: str
    suite: str
    example: str = ""
    why: str = ""

    def told_in(self, text: str) -> bool:
        return re.search(self.pattern, text) is not None


@dataclass
class Listener:
    """All that an agent reads in an episode of a family, in one template."""

    family: str
    suite: str
    template: str
    heard: list[str] = field(default_factory=list)

    def text(self) -> str:
        family = families()[self.family]
        instance = family.suite(self.suite, profile="published")[1]
        episode = family.open(instance)
        self.heard += [episode.instructions(self.template)]
        self.heard += [f"{spec.name}: {spec.meaning}" for spec in episode.actions]
        talk = family.conversation(episode, self.template)
        turn: Turn | None = talk.turn()
        assert turn is not None
        self.heard += [talk.system, turn.prompt]
        if (limits := family.turn_limits(episode, self.template)) is not None:
            self.heard += [limits.opening(1), limits.late(1), limits.spent, limits.closed]
        moves = family.agent("random", instance)
        action: Any = next(moves, None)
        while action is not None and not episode.done:
            seen = episode.step(action)
            self.heard.append(episode.describe(seen, self.template))
            try:
                action = moves.send(seen)
            except StopIteration:
                break
        return "\n".join(self.heard)


@cache
def told(family: str, suite: str, template: str) -> str:
    return Listener(family, suite, template).text()


@cache
def facts(family: str) -> tuple[Fact, ...]:
    path = ROOT / f"src/whybench/families/{family}/facts.toml"
    data = tomllib.loads(path.read_text("utf-8"))
    return tuple(Fact(**{"suite": data["suite"]} | one) for one in data["facts"])


def section(family: str) -> str:
    """Return the section of the card."""
    shown = {True: "yes", False: "no"}
    lines = ["| fact | paper tells | released code tells | `paper` tells | `plain` tells |"]
    lines.append("|---|---|---|---|---|")
    notes = []
    for one in facts(family):
        ours = (shown[one.tells["paper"]], shown[one.tells["plain"]])
        lines.append(f"| {' | '.join((one.fact, one.paper, one.released, *ours))} |")
        if one.why:
            notes.append(textwrap.fill(f"{one.fact.rstrip('.')}: {one.why}", 100))
    return f"{HEADING}\n\n{INTRO}" + "\n".join([*lines, "", *notes]).rstrip() + "\n"


def carded(family: str, card: str) -> str:
    """Return a card with its section brought up to date."""
    before, _, after = card.partition("## Citation")
    before = before.partition(HEADING)[0]
    return f"{before}{section(family)}\n## Citation{after}"


def card_of(family: str) -> Path:
    return ROOT / f"src/whybench/families/{family}/card.md"


if __name__ == "__main__":
    for name in FAMILIES:
        path = card_of(name)
        path.write_text(carded(name, path.read_text("utf-8")), "utf-8")
