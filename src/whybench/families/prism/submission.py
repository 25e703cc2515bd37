"""Read an answer: the verdict, the probability, and the justification."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass

from whybench.causal.boolean import FormulaError, essential, parse, projected, truth_table
from whybench.causal.canonical import Json, Record
from whybench.causal.graph import members
from whybench.causal.version_space import Rule, Space, System
from whybench.families.prism.world.world import ANSWERS, Answer

LONGEST = 20_000
"""The most characters of an argument that are read."""

HIDDEN = "hidden"
"""The name of the hidden input in formulas."""


class SubmissionError(ValueError):
    """Raised for an answer that cannot be read; the message says why."""


@dataclass(frozen=True, slots=True)
class Submission:
    """An answer as it was read."""

    answer: Answer
    probability: float | None = None
    trials: tuple[int, ...] | None = None
    """The numbers of the trials that are said to force the answer, from 0."""
    systems: tuple[System, ...] | None = None
    """Two systems that are said to fit, one for yes and one for no."""


def read(args: Record, space: Space, names: Mapping[str, int], seen: int) -> Submission:
    """Return the answer in the arguments of an action.

    Args:
        args: The arguments.
        space: The class of hidden systems.
        names: The name of each variable in lower case → its number.
        seen: How many trials the agent has seen.

    Raises:
        SubmissionError: An argument cannot be read.

    """
    said = args.get("answer")
    word = said.strip().casefold() if isinstance(said, str) else ""
    answer = next((one for one in ANSWERS if one == word), None)
    if answer is None:
        raise SubmissionError(f"{shown(said)} is not yes, no or cannot")
    trials, systems = (_json(args, name) for name in ("trials", "systems"))
    return Submission(
        answer,
        _probability(args.get("probability")),
        None if trials is None else _trials(trials, seen),
        None if systems is None else _systems(systems, space, names),
    )


def _json(args: Record, name: str) -> Json:
    """Return an argument as JSON data; None if it is missing or empty."""
    text = args.get(name)
    if text is None or text == "":
        return None
    try:
        return json.loads(text[:LONGEST]) if isinstance(text, str) else [*text]
    except (ValueError, TypeError, RecursionError) as error:
        raise SubmissionError(f"`{name}` is not a JSON list") from error


def _probability(said: object) -> float | None:
    if said is None or said == "":
        return None
    try:
        value = float(said[:40]) if isinstance(said, str) else float(said)  # type: ignore[arg-type]
    except (TypeError, ValueError) as error:
        raise SubmissionError(f"`probability` {shown(said)} is not a number") from error
    if not (math.isfinite(value) and 0 <= value <= 1):
        raise SubmissionError("`probability` is not between 0 and 1")
    return value


def _trials(listed: Json, seen: int) -> tuple[int, ...]:
    if not isinstance(listed, list) or not all(type(one) is int for one in listed):
        raise SubmissionError("`trials` is not a list of numbers, such as [2, 5]")
    if not all(1 <= one <= seen for one in listed):
        raise SubmissionError(f"`trials` names a trial that you have not seen: there are {seen}")
    return tuple(sorted({one - 1 for one in listed}))


def _systems(listed: Json, space: Space, names: Mapping[str, int]) -> tuple[System, ...]:
    if not isinstance(listed, list) or len(listed) != 2:
        raise SubmissionError("`systems` is not a list of two systems")
    return tuple(_system(one, space, names) for one in listed)


def _system(given: Json, space: Space, names: Mapping[str, int]) -> System:
    if not isinstance(given, dict):
        raise SubmissionError("a system is an object of names and formulas")
    texts = {names.get(str(name).strip().casefold()): text for name, text in given.items()}
    driven = range(space.roots, space.n)
    if texts.keys() != {*driven} or len(given) != len(driven):
        raise SubmissionError("a system has one formula for each name that is not an input")
    return tuple(_rule(texts[v], space, names) for v in driven)


def _rule(text: Json, space: Space, names: Mapping[str, int]) -> Rule:
    """Return a formula as a rule of its essential variables; a constant has none."""
    known = dict(names) | ({HIDDEN: space.n} if space.hidden else {})
    size = space.n + space.hidden
    try:
        table = truth_table(parse(str(text)[:LONGEST].casefold(), known), size)
    except FormulaError as error:
        raise SubmissionError(f"a formula cannot be read: {error}") from error
    arguments = tuple(members(essential(table, size)))
    return Rule(arguments, projected(table, arguments))


def shown(value: object) -> str:
    """Return what an agent sent, shortened for a reply."""
    text = value if isinstance(value, str) else repr(value)
    return repr(text[:40])
