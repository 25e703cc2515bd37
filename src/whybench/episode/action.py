"""What an agent asks for."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from whybench.causal.canonical import EMPTY, Json, Record, freeze, thaw

Form = Literal["strict", "lenient"]
"""Whether the words of an action were just as asked, or had to be read with good will."""

MALFORMED = "malformed"
"""The name of an action that an interface could not read; its `reason` says why."""


@dataclass(frozen=True, slots=True)
class Action:
    """One request of an agent.

    Examples:
        >>> Action.of("hold", shape="circle").to_json()
        {'name': 'hold', 'args': {'shape': 'circle'}}

    """

    name: str
    """The kind of action."""
    args: Record = EMPTY
    """Argument name → value."""
    form: Form = "strict"
    """Whether the reply had exactly the requested form, or was read leniently."""

    @classmethod
    def of(cls, name: str, /, **args: Json) -> Action:
        """Build an action from keyword arguments.

        Args:
            name: The kind of action.
            **args: The arguments, as JSON data.

        Returns:
            The action.

        """
        return cls(name, freeze(args))

    @classmethod
    def malformed(cls, reason: str) -> Action:
        """Return the action that represents a request which no interface could read.

        Args:
            reason: What is wrong with the request. The agent sees it.

        Returns:
            The action. An episode answers it with the error `invalid_format`.

        """
        return cls(MALFORMED, Record.of(reason=reason))

    def read(self, *, strictly: bool) -> Action:
        """Return the action with the form in which it was read.

        Args:
            strictly: Whether the reply had exactly the requested form.

        Returns:
            A copy of the action.

        """
        return replace(self, form="strict" if strictly else "lenient")

    def to_json(self) -> dict[str, Json]:
        """Return the action as JSON data. Defaults are left out.

        Returns:
            The data, which `from_json` reads.

        """
        data: dict[str, Json] = {"name": self.name, "args": thaw(self.args)}
        if self.form != "strict":
            data["form"] = self.form
        return data

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Action:
        """Rebuild an action from JSON data.

        Args:
            data: An object with `name` and, if there are any, `args`.

        Returns:
            The action.

        Raises:
            ValueError: The data is not an action. The message states the expected form.

        """
        if not isinstance(data, Mapping) or not isinstance(data.get("name"), str):
            raise ValueError('an action is an object like {"name": "hold", "args": {…}}')
        args = data.get("args", {})
        if not isinstance(args, Mapping):
            raise ValueError("`args` of an action is an object of named values")
        form: Form = "lenient" if data.get("form") == "lenient" else "strict"
        return cls(data["name"], freeze(args), form)


def parse_call(name: object, args: object) -> Action:
    """Return the action that a call by name asks for: the same through every interface, and total.

    Arguments are texts (see `Argument`): other values become their JSON, and nulls are left out.

    >>> parse_call("intervene", {"property": "mass", "value": 2.5, "hypothesis": None}).to_json()
    {'name': 'intervene', 'args': {'property': 'mass', 'value': '2.5'}}
    """
    if not isinstance(name, str) or not isinstance(args, Mapping):
        return Action.malformed("a call has a name and an object of named arguments")
    if name == MALFORMED:
        return Action.malformed("there is no action of this name")
    try:
        given = [(str(key), freeze(value)) for key, value in args.items() if value is not None]
        texts = [(key, v if isinstance(v, str) else json.dumps(thaw(v))) for key, v in given]
    except ValueError:
        return Action.malformed("an argument is nested too deeply, or is no JSON value")
    return Action(name, Record(texts))


@dataclass(frozen=True, slots=True)
class Argument:
    """One named argument of an action.

    Arguments are always strings. Only the episode validates them, so that every interface treats a
    wrong value alike.

    Examples:
        >>> Argument("shape", "the shape to hold").optional
        False

    """

    name: str
    """The name."""
    meaning: str
    """What the argument means, in the words that the agent sees."""
    optional: bool = False
    """Whether the argument may be left out."""


@dataclass(frozen=True, slots=True)
class ActionSpec:
    """One kind of action that an episode accepts, in the words of its template and theme.

    Examples:
        >>> import whybench as wb
        >>> suite = wb.load_suite("causallink/core")
        >>> episode = suite.family.open(suite[3])
        >>> [spec.name for spec in episode.actions if spec.final]
        ['answer']

    """

    name: str
    """The name."""
    meaning: str
    """What the action does, in the words that the agent sees."""
    arguments: tuple[Argument, ...] = ()
    """The arguments that the action takes."""
    final: bool = False
    """Whether this action ends the episode."""
