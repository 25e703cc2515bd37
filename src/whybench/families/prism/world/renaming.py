"""Hidden systems up to renaming, and hidden systems of a triple in one part of the split."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from whybench.causal.canonical import Json
from whybench.causal.labelled_graph_canon import Cells, smallest_code
from whybench.causal.seeds import Stream
from whybench.causal.version_space import Rule, System
from whybench.episode.split import PARTS, SHARE, Part, part_of_system
from whybench.families.prism.world.world import ANSWERS, Answer

TRIES = 16
"""Systems that are drawn for a problem until one lies in the wanted part of the split."""


def renamed(n: int, system: System) -> Json:
    """Return a system; equal for two systems exactly if renaming variables makes them equal.

    Inputs stay inputs. A hidden input that no rule uses is not part of the system.
    """
    roots, ones = n - len(system), [_ones(rule) for rule in system]
    used = range(n + any(n in rule.arguments for rule in system))
    around: list[list[tuple[bool, int, int]]] = [[] for _ in used]
    for v, (rule, counts) in enumerate(zip(system, ones, strict=True), roots):
        for u, count in zip(rule.arguments, counts, strict=True):
            around[v].append((True, count, u))
            around[u].append((False, count, v))
    driven = [(1, len(rule.arguments), rule.table.bit_count()) for rule in system]
    kinds = [(0, 0, 0)] * roots + driven + [(2, 0, 0)] * (len(used) - n)
    order = sorted(kinds)

    def marks(cells: Cells) -> list[Any]:
        """The arguments and effects of each variable, with the weight of each argument."""
        return [
            (cell, sorted((into, count, cells[u]) for into, count, u in joined))
            for cell, joined in zip(cells, around, strict=True)
        ]

    def code(names: Cells) -> tuple[tuple[Any, ...], ...]:
        rules = ((names[v], *_moved(rule, names)) for v, rule in enumerate(system, roots))
        return tuple(sorted(rules))

    return [n, smallest_code([order.index(kind) for kind in kinds], marks, code)]


def _ones(rule: Rule) -> list[int]:
    """Return for each argument how often the rule is 1 while the argument is 1."""
    at = [r for r in range(1 << len(rule.arguments)) if rule.table >> r & 1]
    return [sum(r >> i & 1 for r in at) for i in range(len(rule.arguments))]


def _moved(rule: Rule, names: Cells) -> Rule:
    """Return a rule under new names, with its arguments in order."""
    order = sorted(range(len(rule.arguments)), key=lambda i: names[rule.arguments[i]])
    table = 0
    for r in range(1 << len(order)):
        old = sum((r >> at & 1) << i for at, i in enumerate(order))
        table |= (rule.table >> old & 1) << r
    return Rule(tuple(names[rule.arguments[i]] for i in order), table)


@lru_cache(maxsize=4096)
def _part(n: int, system: System) -> Part:
    return part_of_system("prism", renamed(n, system))


def in_one_part(
    stream: Stream, n: int, draws: Mapping[Answer, Callable[[], System]]
) -> dict[Answer, System] | None:
    """Draw the hidden systems of three problems, all in one part of the split; None if they fail.

    The part is drawn first, with its share of the systems. Where no three systems lie in it, the
    other part is tried.
    """
    kept = stream.uniform() < SHARE
    for part in sorted(PARTS, key=lambda part: (part == "eval") != kept):
        found: dict[Answer, System] = {}
        for answer in ANSWERS:
            drawn = (draws[answer]() for _ in range(TRIES))
            system = next((one for one in drawn if _part(n, one) == part), None)
            if system is None:
                break
            found[answer] = system
        if len(found) == len(ANSWERS):
            return found
    return None
