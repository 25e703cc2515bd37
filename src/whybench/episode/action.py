"""What an agent asks for."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

from whybench.causal.canonical import EMPTY, Json, Record, freeze, thaw

Form = Literal["strict", "lenient", "in_text"]
"""Whether the words of an action were just as asked, had to be read with good will, or were a tool
call that the model wrote as text."""

IN_TEXT: Form = "in_text"

Note = Literal["surrogates", "nul", "cut", "values", "arguments", "ids", "calls", "no_choice"]
"""What was changed in a reply so that it can be kept; see `whybench.episode.cleaning`."""

NOTES: tuple[Note, ...] = get_args(Note)

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
    """`strict`: exactly the requested form. `lenient`: read with good will. `in_text`: a tool call
    that the model wrote in its text."""
    cleaned: tuple[Note, ...] = ()
    """What was changed in the reply before it was used, such as `nul`; see `NOTES`."""

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
        if self.cleaned:
            data["cleaned"] = list(self.cleaned)
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
        form: Form = next((one for one in get_args(Form) if one == data.get("form")), "strict")
        told = data.get("cleaned")
        cleaned = tuple(note for note in NOTES if note in told) if isinstance(told, list) else ()
        return cls(data["name"], freeze(args), form, cleaned)


def parse_call(name: object, args: object) -> Action:
    """Return the action that a call by name asks for: the same through every interface, and total.

    In an action, arguments are texts. A number becomes its JSON, and nulls are left out. An object
    or a list becomes its JSON, and a text that holds one becomes the same text, so both are the
    same action.

    >>> parse_call("intervene", {"property": "mass", "value": 2.5, "hypothesis": None}).to_json()
    {'name': 'intervene', 'args': {'property': 'mass', 'value': '2.5'}}
    >>> parse_call("try", {"inputs": {"a": 1}}) == parse_call("try", {"inputs": '{"a":1}'})
    True
    """
    if not isinstance(name, str) or not isinstance(args, Mapping):
        return Action.malformed("a call has a name and an object of named arguments")
    if name == MALFORMED:
        return Action.malformed("there is no action of this name")
    try:
        texts = [(str(key), _text(value)) for key, value in args.items() if value is not None]
    except ValueError:
        return Action.malformed("an argument is nested too deeply, or is no JSON value")
    return Action(name, Record(texts))


def _text(value: Json) -> str:
    """Return an argument as text; raise ValueError if it is not JSON or is nested too deeply."""
    found = value
    if isinstance(value, str):
        if value.lstrip()[:1] not in ("{", "["):
            return value
        try:
            found = json.loads(value, object_pairs_hook=_unique)
        except (ValueError, RecursionError):
            return value
    return json.dumps(thaw(freeze(found)))


def _unique(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    """Build an object; raise ValueError if a key is there twice, so that its text stays as it is.

    An episode may reject such a text, and no object stands for it.
    """
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key is there twice")
    return found


TEXT = Record.of(type="string")
"""The schema of an argument that is any text."""


@dataclass(frozen=True, slots=True)
class Argument:
    """One named argument of an action, with its type.

    The type tells an agent what to send. Only the episode validates arguments, so that every
    interface treats a wrong value alike. An object or a list may also be sent as JSON text.

    Examples:
        >>> Argument("shape", "the shape to hold").json_schema()
        {'type': 'string', 'description': 'the shape to hold'}
        >>> Argument("count", "how many", schema={"type": "integer", "minimum": 1}).optional
        False

    """

    name: str
    """The name."""
    meaning: str
    """What the argument means, in the words that the agent sees."""
    optional: bool = False
    """Whether the argument may be left out."""
    schema: Any = TEXT
    """The type, as a JSON schema of the keywords in `KEYWORDS`. It is frozen. An `enum` lists only
    names that the instructions show, in their order there."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "schema", freeze(self.schema))

    def json_schema(self) -> dict[str, Json]:
        """Return the JSON schema of the argument, with its meaning as the description.

        Returns:
            The schema.

        """
        return {**thaw(self.schema), "description": self.meaning}


KEYWORDS = frozenset(
    {"type", "enum", "minimum", "maximum", "items", "properties", "required", "anyOf"}
    | {"additionalProperties"}
)
"""The keywords of JSON schema that arguments use. Every interface can pass them on."""


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

    def json_schema(self) -> dict[str, Json]:
        """Return the JSON schema of the arguments, which all interfaces show.

        Returns:
            The schema of an object with one property for each argument.

        """
        return {
            "type": "object",
            "properties": {one.name: one.json_schema() for one in self.arguments},
            "required": [one.name for one in self.arguments if not one.optional],
        }
