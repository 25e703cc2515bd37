"""What the rules of the contract share: samples of suites, and actions that are wrong.

WHYBENCH_FULL=1 makes all samples four times as large.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterator, Sequence
from functools import cache, lru_cache
from math import sqrt
from typing import Any, TypeVar

from whybench.causal.canonical import canonical_json
from whybench.causal.seeds import Stream
from whybench.episode.action import Action
from whybench.episode.certificate import Certificate
from whybench.episode.episode import Episode, play
from whybench.episode.family import Family, Suite
from whybench.episode.instance import Instance
from whybench.episode.registry import families
from whybench.episode.trace import Trace

Rule = TypeVar("Rule", bound=Callable[..., None])

LARGER = 4 if os.environ.get("WHYBENCH_FULL") else 1


def spread(suite: Suite, most: int) -> Iterator[Instance]:
    """Yield instances spread evenly over a suite, fewer where a family has many suites.

    A smaller sample is the beginning of a larger one.
    """
    count = max(1, most * LARGER * 4 // max(4, len(suite.family.suites)))
    places = dict.fromkeys(int(halved(step) * len(suite)) for step in range(2 * count))
    return (made(suite, place) for place in list(places)[:count])


def halved(step: int) -> float:
    """Return the next place between 0 and 1: 0, 1/2, 1/4, 3/4, 1/8 and so on.

    >>> [halved(step) for step in range(4)]
    [0.0, 0.5, 0.25, 0.75]
    """
    return int(f"{step:032b}"[::-1], 2) / 2**32


@lru_cache(maxsize=4096)
def made(suite: Suite, index: int) -> Instance:
    """Return an instance of a suite; the latest ones are kept."""
    return suite[index]


@cache
def certified(instance: Instance) -> Certificate:
    """Certify an instance; a pure function, so one certificate serves all rules."""
    return families()[instance.family].certify(instance)


@cache
def played(agent: str, instance: Instance) -> Trace:
    """Let a reference agent play; a pure function, so one trace serves all rules."""
    family = families()[instance.family]
    return play(family.open(instance), family.agent(agent, instance))


def more_alike_than_chance(here: Sequence[Hashable], there: Sequence[Hashable]) -> bool:
    """Tell whether two lists agree place by place more often than values at different places do.

    A quarter of the places may always agree. If few different values exist, more places may agree:
    as many as chance allows, and three standard deviations. Lists of one value cannot tell.

    >>> more_alike_than_chance("abcdefgh", "abcdefgh"), more_alike_than_chance("abcd", "efgh")
    (True, False)
    >>> more_alike_than_chance("aaaaaaaa", "aaaaaaaa")
    False
    """
    size = len(here)
    pairs = [(a, b) for i, a in enumerate(here) for j, b in enumerate(there) if i != j]
    chance = sum(a == b for a, b in pairs) / max(1, len(pairs))
    agreeing = sum(a == b for a, b in zip(here, there, strict=True))
    return agreeing > max(size / 4, size * chance + 3 * sqrt(size * chance * (1 - chance)))


def headline(suite: Suite, agent: str, instance: Instance) -> float:
    """Return an agent's headline metric on an instance."""
    family = suite.family
    value: float = family.score(instance, played(agent, instance)).values[family.headline]
    return value


def contents(family: Family[Any], instances: Sequence[Instance]) -> list[str]:
    """Return what defines each hidden system, as text."""
    worlds = map(family.world, instances)
    return [canonical_json(family.fingerprint(world).content) for world in worlds]


def instructions(family: Family[Any], instances: Sequence[Instance]) -> list[str]:
    """Return what agents are told of each instance."""
    return [
        family.open(instance).instructions(family.template_for(instance.profile))
        for instance in instances
    ]


def bad_actions(episode: Episode) -> list[Action]:
    """Return actions that no episode may take."""
    spec = episode.actions[0]
    return [
        Action.malformed("nothing readable"),
        Action.of("no-such-action", x=1),
        Action.of(spec.name),
        Action.of(spec.name, **{a.name: {"a": [None]} for a in spec.arguments}),
        Action.of(spec.name, **{a.name: "no such thing" for a in spec.arguments}),
        Action.of(spec.name, **{a.name: "x" * 100_000 for a in spec.arguments}),
    ]


def fuzzed(stream: Stream, episode: Episode) -> Action:
    """Return an action that may be sensible in name, arguments, both or neither."""
    spec = stream.choice(episode.actions)
    values = [
        stream.choice(words_shown(episode.instance)),
        *("yes", "no", "", None, 7, True, [1], {"a": None}, "ÿ\ud800"),
    ]
    name = stream.choice([spec.name, spec.name, spec.name, "malformed", "", "answer", "move"])
    arguments = [argument.name for argument in spec.arguments] + ["reason", "extra"]
    args = {stream.choice(arguments): stream.choice(values) for _ in range(stream.below(4))}
    return Action.from_json({"name": name, "args": args})


@cache
def words_shown(instance: Instance) -> list[str]:
    """Return the words of the instructions, names among them."""
    family = families()[instance.family]
    text = family.open(instance).instructions(family.template_for(instance.profile))
    return [word.strip(".,:") for word in text.split()]


def certified_only(rule: Rule) -> Rule:
    """Apply a rule to suites in profile `certified` alone."""
    setattr(rule, "certified_only", True)  # noqa: B010 - functions have no such attribute
    return rule
