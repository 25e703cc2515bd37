"""An episode as turns of text, for models that answer in prose or JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from whybench.causal.canonical import Json
from whybench.episode.action import Action, ActionSpec
from whybench.episode.observation import Observation


@dataclass(frozen=True, slots=True)
class Turn:
    """One prompt to the model, and the form of the reply.

    Examples:
        >>> Turn("Which shape?", "choice", {"type": "object"}).fresh
        False

    """

    prompt: str
    """The text of the prompt."""
    name: str
    """The kind of turn, such as `choice`. It names the schema."""
    schema: Json
    """JSON schema of the reply."""
    fresh: bool = False
    """Whether the model sees this turn alone, without the earlier ones."""


def object_schema(properties: dict[str, Any]) -> dict[str, Any]:
    """Return the JSON schema of an object with exactly these fields."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


class Conversation(Protocol):
    """An episode as turns of text. A conversation does no I/O.

    Examples:
        >>> import whybench as wb
        >>> suite = wb.load_suite("causallink/core")
        >>> episode = suite.family.open(suite[3])
        >>> conversation = suite.family.conversation(episode, "plain")
        >>> conversation.turn() is None
        False

    """

    @property
    def system(self) -> str:
        """The system message."""

    def turn(self) -> Turn | None:
        """Return the next turn.

        Returns:
            The turn; None when the episode has ended.

        """

    def reply(self, text: str) -> None:
        """Process the reply of the model to the last turn.

        Args:
            text: The reply.

        """

    def say(self, action: Action) -> tuple[str, bool]:
        """Return the reply to this turn that leads to an action. Reference agents use it.

        Args:
            action: The action.

        Returns:
            The reply, and whether it runs the action. A turn that asks for something else first
            gets that reply.

        """


@runtime_checkable
class Mendable(Conversation, Protocol):
    """A conversation whose replies a second model may reformat, without adding anything."""

    def broken(self, text: str) -> str | None:
        """Return the prompt for the second model; None if the reply needs no reformatting."""

    def mended(self, text: str, by_second: str) -> None:
        """Use the reformatted reply, or the original if the new one is not better."""


@runtime_checkable
class Coding(Conversation, Protocol):
    """A conversation in which the model writes programs, for an interface with a sandbox."""

    @property
    def data(self) -> Json:
        """What a program finds as `data`."""

    @property
    def analysis(self) -> ActionSpec:
        """The tool that runs a program beside the actions, in the words of the template."""

    def program(self, text: str) -> str | None:
        """Return the program in a reply; None if there is none, and `reply` processes the text."""

    def on_program_output(self, output: str, outcome: str) -> None:
        """Process what the program printed, and how it ended."""

    def answer(self, observation: Observation) -> Json:
        """Return what a call of the client returns, or raise ValueError with what it raises."""
