"""The hypothesis language: edges, and the equation of the frequency with its coefficients."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from whybench.causal.canonical import Json, Record, thaw
from whybench.causal.graph import Graph
from whybench.episode.prompts.conversation import object_schema
from whybench.families.causalab.world.names import canonical, is_frequency
from whybench.families.causalab.world.world import FREQUENCY, View

LONGEST = 40_000
"""Maximum length of a hypothesis, in characters."""

LARGEST = 1e12
"""Largest coefficient; sums of larger ones would overflow."""

MOST_CANDIDATES = 50
"""Maximum number of candidate graphs that are read."""

Edge = tuple[int, int]


class HypothesisError(ValueError):
    """An invalid hypothesis; the message gives the reason."""


@dataclass(frozen=True, slots=True)
class Guess:
    """A parsed hypothesis."""

    edges: frozenset[Edge]
    base: float | None = None
    linear: tuple[tuple[int, float | None], ...] = ()
    """Coefficient of each parent of the frequency; None if it is not known yet."""
    square: tuple[tuple[int, float | None], ...] = ()
    candidates: tuple[frozenset[Edge], ...] | None = None
    """All graphs that the agent considers possible, if the task asks for them."""
    undetermined: frozenset[Edge] = frozenset()
    """Edges that are marked as undetermined; they are not claimed."""
    keys: int = 0
    """Under the released rules: the number of named coefficients, valid or not."""

    def frequency(self, values: Sequence[float]) -> float | None:
        """Return the equation's value at some readings; None if a coefficient is missing."""
        total = self.base
        for power, terms in ((1, self.linear), (2, self.square)):
            for cause, weight in terms:
                if total is None or weight is None:
                    return None
                total += weight * values[cause] ** power
        return total if total is None or math.isfinite(total) else None


NOTHING = Guess(frozenset())


def read(view: View, text: Json, *, final: bool, candidates: bool = False) -> Guess:
    """Parse a hypothesis; raise HypothesisError with the reason if it is invalid."""
    data = loaded(text)
    if view.released:
        return _released(view, data)
    edges, undetermined = _edges(view, data.get("edges"), "edges")
    _acyclic(view, edges, "edges")
    base, linear, square = _coefficients(view, data.get("coefficients"), final)
    parents = {cause for cause, effect in edges if effect == FREQUENCY}
    terms = {cause for cause, _ in (*linear, *square)}
    if parents != terms:
        bare = parents - terms
        name = view.names[min(bare or terms - parents)]
        what = "an edge but no coefficient" if bare else "a coefficient but no edge to frequency"
        raise HypothesisError(f"edges and equation disagree: {name} has {what}")
    _same_terms(view, data.get("freq_equation"), parents)
    asked = candidates and "candidates" in data
    listed = _candidates(view, data["candidates"]) if asked else None
    return Guess(frozenset(edges), base, linear, square, listed, frozenset(undetermined))


_WORD = re.compile(r"[^\W\d]\w*")


def _same_terms(view: View, equation: Json, parents: set[int]) -> None:
    """Check an equation as text, if there is one: its quantities are the causes of the frequency.

    Names of coefficients, and words that name no quantity, are ignored.
    """
    if not isinstance(equation, str) or "=" not in equation:
        return
    words = _WORD.findall(equation[:LONGEST].rpartition("=")[2])
    named = (node(view, word) for word in words if not word.casefold().startswith("c_"))
    terms = {v for v in named if v is not None}
    if terms != parents:
        bare = parents - terms
        what = "an edge, but is not in" if bare else "no edge to frequency, but is in"
        name = view.names[min(bare or terms - parents)]
        raise HypothesisError(f"edges and freq_equation disagree: {name} has {what} the equation")


def hypothesis_schema(names: tuple[str, ...], candidates: bool) -> dict[str, Any]:
    """Return the JSON schema of a hypothesis about quantities, in their order of display."""
    name = {"type": "string", "enum": list(names)}
    edge = object_schema({"from": name, "to": name})
    edge["properties"]["undetermined"] = {"type": "boolean"}
    graph = {"type": "array", "items": edge}
    weights = {"type": "object", "additionalProperties": {"type": ["number", "null"]}}
    parts = {"edges": graph, "coefficients": weights}
    if candidates:
        parts["candidates"] = {"type": "array", "items": graph}
    return object_schema(parts)


def loaded(text: Json) -> Mapping[str, Json]:
    """Return a hypothesis as a JSON object, from text or data."""
    if isinstance(text, str):
        if len(text) > LONGEST:
            raise HypothesisError(f"the hypothesis is longer than {LONGEST} characters")
        try:
            text = json.loads(text)
        except (ValueError, RecursionError):
            raise HypothesisError("the hypothesis is not a JSON object") from None
    data = thaw(text) if isinstance(text, Record) else text
    if not isinstance(data, dict):
        raise HypothesisError("the hypothesis is not a JSON object")
    return data


@lru_cache(maxsize=1024)
def _numbers(names: tuple[str, ...]) -> dict[str, int]:
    return {canonical(name): v for v, name in enumerate(names)}


def node(view: View, name: Json) -> int | None:
    """Return the node with a name, in any of its spellings."""
    if not isinstance(name, str):
        return None
    if view.released and not is_frequency(name):
        return view.names.index(name) if name in view.names[1:] else None
    return _numbers(view.names).get(canonical(name))


def _declared(view: View, name: Json) -> int:
    found = node(view, name)
    if found is None:
        raise HypothesisError(f"there is no quantity {_quoted(name)}")
    return found


def _quoted(name: Json) -> str:
    """Return a name in quotes, or the type of a value that is not a string."""
    return repr(name[:40]) if isinstance(name, str) else f"of type {type(name).__name__}"


def _edges(view: View, data: Json, where: str) -> tuple[list[Edge], list[Edge]]:
    """Return claimed edges, and those marked as undetermined."""
    if not isinstance(data, list):
        raise HypothesisError(f"`{where}` is a list of objects with `from` and `to`")
    claimed: list[Edge] = []
    open_: list[Edge] = []
    for item in data[: view.k**2 + 1]:
        ends = _ends(item)
        if ends is None:
            raise HypothesisError(f"each of `{where}` is an object with `from` and `to`")
        cause, effect = (_declared(view, end) for end in ends)
        if cause == effect:
            raise HypothesisError(f"{view.names[cause]} cannot be its own cause")
        marked = isinstance(item, dict) and item.get("undetermined") is True
        (open_ if marked else claimed).append((cause, effect))
    return claimed, open_


def _ends(item: Json) -> tuple[Json, Json] | None:
    if isinstance(item, dict) and {"from", "to"} <= item.keys():
        return item["from"], item["to"]
    if isinstance(item, list) and len(item) == 2:
        return item[0], item[1]
    return None


def _acyclic(view: View, edges: Sequence[Edge], where: str) -> None:
    if not Graph.from_edges(view.k, edges).is_acyclic():
        raise HypothesisError(f"`{where}` go round in a circle")


def _coefficients(
    view: View, data: Json, final: bool
) -> tuple[
    float | None, tuple[tuple[int, float | None], ...], tuple[tuple[int, float | None], ...]
]:
    if not isinstance(data, dict):
        raise HypothesisError("`coefficients` is an object with `base` and one entry a parent")
    base: float | None = None
    linear: dict[int, float | None] = {}
    square: dict[int, float | None] = {}
    for key, value in list(data.items())[: 3 * view.k + 1]:
        if value is None and final:
            raise HypothesisError(f"the final hypothesis needs a number for {key[:40]!r}")
        if value is not None and not _is_number(value):
            raise HypothesisError(f"the coefficient {key[:40]!r} is not a number")
        if key == "base":
            base = value
            continue
        cause, power = _term(view, key)
        terms = square if power == 2 else linear
        if cause in terms:
            raise HypothesisError(f"the coefficient of {view.names[cause]} is given twice")
        terms[cause] = value
    if view.quadratic and square.keys() != linear.keys():
        raise HypothesisError("give both c_NAME_1 (of the square) and c_NAME_2 for each parent")
    if final and base is None:
        raise HypothesisError("the final hypothesis needs a number for base")
    return base, tuple(sorted(linear.items())), tuple(sorted(square.items()))


def _term(view: View, key: str) -> tuple[int, int]:
    """Return the parent that a coefficient belongs to, and its power."""
    if not key.startswith("c_"):
        raise HypothesisError(f"the coefficient {key[:40]!r} is neither base nor c_NAME")
    name, power = key[2:], 1
    if view.quadratic:
        name, _, which = name.rpartition("_")
        if which not in ("1", "2"):
            raise HypothesisError(f"write c_NAME_1 (of the square) or c_NAME_2, not {key[:40]!r}")
        power = 2 if which == "1" else 1
    found = _declared(view, name)
    if found == FREQUENCY:
        raise HypothesisError("frequency cannot be in its own equation")
    return found, power


def _is_number(value: Json) -> bool:
    """Tell whether a value is a usable number; NaN and infinities are not."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= LARGEST


def _candidates(view: View, data: Json) -> tuple[frozenset[Edge], ...]:
    if not isinstance(data, list) or not data:
        raise HypothesisError("`candidates` is a list of graphs, each a list of edges")
    found = []
    for item in data[:MOST_CANDIDATES]:
        edges, _ = _edges(view, item, "candidates")
        _acyclic(view, edges, "candidates")
        found.append(frozenset(edges))
    return tuple(dict.fromkeys(found))


# The released rules: nothing is checked, names other than frequency's are taken as they stand.


def _released(view: View, data: Mapping[str, Json]) -> Guess:
    """Parse as the release does: unknown nodes and self-loops count as predictions."""
    strangers: dict[str, int] = {}

    def number(name: Json) -> int:
        found = node(view, name)
        if found is not None:
            return found
        key = str(name) if isinstance(name, str | int | float) else _quoted(name)
        return strangers.setdefault(key, view.k + len(strangers))

    listed = data.get("edges")
    ends = [_ends(item) for item in listed[:200]] if isinstance(listed, list) else []
    edges = frozenset((number(pair[0]), number(pair[1])) for pair in ends if pair is not None)
    raw = data.get("coefficients")
    named = (
        {str(key).casefold(): value for key, value in raw.items()} if isinstance(raw, dict) else {}
    )
    numbers = {key: value for key, value in named.items() if _is_number(value)}
    return Guess(
        edges,
        numbers.get("base"),
        tuple(_looked_up(view, numbers)),
        keys=sum(key.startswith(("c_", "coeff_")) for key in named),
    )


def _looked_up(view: View, numbers: Mapping[str, float]) -> Iterator[tuple[int, float | None]]:
    """Yield the linear coefficients under the names that the release looks for."""
    for v in range(1, view.k):
        name = view.names[v].casefold()
        for key in (f"c_{name}", f"coeff_{name}_freq", f"coeff_{name}_frequency", name):
            if key in numbers:
                yield v, numbers[key]
                break


def written(view: View, guess: Guess) -> dict[str, Json]:
    """Return a hypothesis as JSON data, in the language."""
    named: list[dict[str, Json]] = [
        {"from": view.names[cause], "to": view.names[effect]}
        for cause, effect in sorted(guess.edges)
    ]
    named += [
        {"from": view.names[cause], "to": view.names[effect], "undetermined": True}
        for cause, effect in sorted(guess.undetermined)
    ]
    coefficients: dict[str, Json] = {"base": guess.base}
    for terms, ending in ((guess.square, "_1"), (guess.linear, "_2" if view.quadratic else "")):
        coefficients |= {f"c_{view.names[v]}{ending}": weight for v, weight in terms}
    data: dict[str, Json] = {"edges": named, "coefficients": coefficients}
    if guess.candidates is not None:
        data["candidates"] = [
            [{"from": view.names[a], "to": view.names[b]} for a, b in sorted(graph)]
            for graph in guess.candidates
        ]
    return data
