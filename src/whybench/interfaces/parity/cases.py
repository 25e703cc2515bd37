"""Lists of legal and illegal calls that every interface must pass on in the same way."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import count as count_from
from typing import Any, TypeAlias

from whybench.causal.canonical import Json, thaw
from whybench.causal.seeds import Stream
from whybench.episode.action import Action, ActionSpec, parse_call
from whybench.episode.family import Family
from whybench.episode.instance import Instance
from whybench.episode.registry import families
from whybench.episode.score import Score
from whybench.episode.trace import Trace
from whybench.interfaces.session import Session

Call: TypeAlias = tuple[str, Mapping[str, Json]]

MOST = 40
"""Maximum number of calls of a list before the calls that end the episode."""


@dataclass(frozen=True, slots=True)
class ParityCase:
    """An instance, and the calls to make on it.

    Examples:
        >>> import whybench as wb
        >>> case = next(wb.parity_cases(wb.installed_families()["causallink"], 1))
        >>> trace, score, texts = case.expected()
        >>> trace.instance == case.instance.id
        True

    """

    instance: Instance
    """The instance."""
    calls: tuple[Call, ...]
    """The calls, as name and arguments."""
    ends: bool
    """Whether the calls end the episode."""

    def expected(self) -> tuple[Trace, Score, list[str]]:
        """Run the calls on a bare episode. Every interface must give the same result.

        Returns:
            The trace, the score, and the texts: the instructions, then the reply to each call.

        """
        family = families()[self.instance.family]
        episode, template = family.open(self.instance), family.template_for(self.instance.profile)
        texts = [episode.instructions(template)]
        texts += [
            episode.describe(episode.step(parse_call(*call)), template) for call in self.calls
        ]
        return episode.trace, family.score(self.instance, episode.trace), texts


def parity_cases(
    family: Family[Any], count: int, seed: str = "parity", *, leave: bool = True
) -> Iterator[ParityCase]:
    """Yield cases on instances of a family. Suites with experiments are preferred.

    Examples:
        >>> import whybench as wb
        >>> len(list(wb.parity_cases(wb.installed_families()["causallink"], 3)))
        3

    Args:
        family: The family.
        count: The number of cases.
        seed: The seed of the calls.
        leave: Whether cases may leave their episode open.

    Yields:
        The cases.

    """
    names = [name for name in family.suites if _experiments(family, name)] or list(family.suites)
    seen: set[str] = set()
    for number in count_from(0):
        if len(seen) == count:
            return
        stream = Stream(seed, family.name, number)
        profile = family.profiles[(number % 5 == 4) % len(family.profiles)]
        there = [name for name in names if profile in family.profiles_of(name)]
        suite = family.suite(stream.choice(there), profile=profile)
        instance = suite.row(stream.below(4 * len(suite)))
        if instance.id in seen:
            continue
        made = case(instance, stream, leave)
        if made.ends or leave:
            seen.add(instance.id)
            yield made


def case(instance: Instance, stream: Stream, leave: bool = True) -> ParityCase:
    """Return a list of calls: those of a reference agent, mixed with errors and nonsense."""
    session = Session(instance)
    agent = stream.choice(("exact", "random", "random"))
    moves = session.family.agent(agent, instance)
    often = stream.choice((0.0, 0.1, 0.3, 0.7))
    calls: list[Call] = []

    def make(call: Call) -> None:
        calls.append(call)
        session.call(*call)

    action = next(moves)
    while not session.done and len(calls) < MOST:
        if stream.uniform() < often:
            make(nonsense(session.episode.actions, action, stream))
            continue
        args = _mapping(action)
        make((action.name, _typed(args) if stream.below(2) else args))
        if session.done:
            break
        try:
            action = moves.send(session.trace.steps[-1].observation)
        except StopIteration:
            break
    while not session.done and len(calls) < 2 * MOST:
        make(("no_such_action", {}))
    if len(calls) > 1 and leave and stream.below(4) == 0:
        return ParityCase(instance, tuple(calls[: 1 + stream.below(len(calls) - 1)]), ends=False)
    if session.done and stream.below(2):
        make(nonsense(session.episode.actions, action, stream))
    return ParityCase(instance, tuple(calls), session.done)


def nonsense(specs: tuple[ActionSpec, ...], action: Action, stream: Stream) -> Call:
    """Return a call with one error. Some episodes may still accept it."""
    spec = stream.choice(specs)
    if stream.below(4) == 0:
        return stream.choice(NAMES), {"answer": "yes"} if stream.below(2) else {}
    types = {one.name: thaw(one.schema) for one in spec.arguments}
    if spec.name == action.name:
        args = _typed(_mapping(action))
    else:
        args = {name: sample(schema, stream) for name, schema in types.items()}
    if types and stream.below(2):
        return spec.name, {**args, (name := stream.choice(list(types))): off(types[name], stream)}
    return spec.name, stream.choice(SPOILS)(dict(args), stream)


def sample(schema: Mapping[str, Any], stream: Stream) -> Json:
    """Return a value that fits the schema of an argument."""
    if "anyOf" in schema:
        return sample(stream.choice(schema["anyOf"]), stream)
    if "enum" in schema:
        return stream.choice(schema["enum"])
    kind = schema["type"] if isinstance(schema["type"], str) else stream.choice(schema["type"])
    if kind == "array":
        return [sample(schema["items"], stream) for _ in range(stream.below(3))]
    if kind == "object":
        named = {name: sample(one, stream) for name, one in schema.get("properties", {}).items()}
        more = schema.get("additionalProperties") or None
        return named | ({} if more is None else {"x": sample(more, stream)})
    return PLAIN[kind]


def off(schema: Mapping[str, Any], stream: Stream) -> Json:
    """Return a value that is wrong for the schema of an argument, at some level.

    A few values still fit, where a schema allows several types.
    """
    if "anyOf" in schema:
        return off(stream.choice(schema["anyOf"]), stream)
    value = sample(schema, stream)
    if isinstance(value, dict) and value and stream.below(3):
        key = stream.choice(sorted(value))
        inner = schema.get("properties", {}).get(key) or schema["additionalProperties"]
        return {**value, key: off(inner, stream)}
    if isinstance(value, list) and value and stream.below(3):
        return [*value[1:], off(schema["items"], stream)]
    if "enum" in schema and stream.below(2):
        return f"no {value}" if isinstance(value, str) else 7
    return stream.choice([one for one in JUNK if type(one) is not type(value)])


PLAIN: Mapping[str, Json] = {
    "string": "x", "integer": 1, "number": 0.25, "boolean": True, "null": None,
}  # fmt: skip
"""A value of each simple type."""

JUNK: tuple[Json, ...] = (
    True,
    -3,
    0.5,
    "junk",
    [[]],
    [{"name": "answer", "arguments": {}}],
    {"": {"": [None]}},
    {"type": "object", "properties": {"a": 1}},
)
"""Values of which all but one type are wrong, nested ones among them."""


def _dropped(args: dict[str, Json], stream: Stream) -> dict[str, Json]:
    if args:
        args.pop(stream.choice(sorted(args)))
    return args


def _added(args: dict[str, Json], stream: Stream) -> dict[str, Json]:
    return {**args, stream.choice(("bogus", "self", "", "größe", "name")): "1"}


def _replaced(args: dict[str, Json], stream: Stream) -> dict[str, Json]:
    for name in sorted(args)[:1]:
        args[name] = stream.choice(VALUES)
    return args


SPOILS: tuple[Callable[[dict[str, Json], Stream], dict[str, Json]], ...] = (
    _dropped,
    _added,
    _replaced,
    _replaced,
)

NAMES = ("no_such_action", "Answer", "submit ", "holdñ", "__class__", "x" * 120, "malformed")

VALUES: tuple[Json, ...] = (
    None,
    True,
    0,
    -17,
    2.5,
    1e22,
    10**18,
    [],
    ["a", 1, None],
    {"a": {"b": [1, 2.0, "ü"]}},
    "",
    " ",
    "yes\nno",
    "ſ𝕏 \u202e\u0000",
    '{"a": 1',
    "NaN",
    "1e999",
    "x" * 3000,
)


def _mapping(action: Action) -> dict[str, Json]:
    found: dict[str, Json] = thaw(action.args)
    return found


def _typed(args: dict[str, Json]) -> dict[str, Json]:
    """Return arguments with the JSON values of those that are JSON text."""
    return {name: _value(text) for name, text in args.items()}


def _value(text: Json) -> Json:
    try:
        return json.loads(text)
    except (TypeError, ValueError):
        return text


def _experiments(family: Family[Any], suite: str) -> bool:
    """Return whether a suite offers any action that does not end the episode."""
    episode = family.open(family.suite(suite, profile=family.profiles_of(suite)[0])[0])
    return any(not spec.final for spec in episode.actions)
