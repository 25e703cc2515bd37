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

    >>> Action.of("hold", shape="circle").to_json()
    {'name': 'hold', 'args': {'shape': 'circle'}}
    """

    name: str
    args: Record = EMPTY
    form: Form = "strict"

    @classmethod
    def of(cls, name: str, /, **args: Json) -> Action:
        """Build an action from keyword arguments."""
        return cls(name, freeze(args))

    @classmethod
    def malformed(cls, reason: str) -> Action:
        """Return the action that stands for something no interface could read."""
        return cls(MALFORMED, Record.of(reason=reason))

    def read(self, *, strictly: bool) -> Action:
        """Return the action with how its words were read."""
        return replace(self, form="strict" if strictly else "lenient")

    def to_json(self) -> dict[str, Json]:
        """Return the action as JSON data; defaults are left out."""
        data: dict[str, Json] = {"name": self.name, "args": thaw(self.args)}
        if self.form != "strict":
            data["form"] = self.form
        return data

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Action:
        """Rebuild an action, or say what is wrong with the data."""
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
    """One named argument of an action: always a string, so that no interface rejects a bad one."""

    name: str
    meaning: str
    optional: bool = False


@dataclass(frozen=True, slots=True)
class ActionSpec:
    """One kind of action that an episode understands, in the words of its template and theme."""

    name: str
    meaning: str
    arguments: tuple[Argument, ...] = ()
    final: bool = False
    """Whether this action ends the episode."""
