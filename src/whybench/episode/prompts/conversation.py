"""An episode told in turns of text, for models that answer in prose or JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from whybench.causal.canonical import Json
from whybench.episode.action import Action, ActionSpec
from whybench.episode.observation import Observation


@dataclass(frozen=True, slots=True)
class Turn:
    """One thing to say to the model, and the shape of the reply that is asked for."""

    prompt: str
    name: str
    """The turn's kind, such as `choice`; names the schema."""
    schema: Json
    """JSON schema of the reply."""
    fresh: bool = False
    """Whether the model is shown this turn alone, without those before."""


def object_schema(properties: dict[str, Any]) -> dict[str, Any]:
    """Return the JSON schema of an object with just these fields."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


class Conversation(Protocol):
    """Turns an episode into text and replies into actions; free of I/O, like the episode."""

    @property
    def system(self) -> str:
        """What is said before the first turn."""

    def turn(self) -> Turn | None:
        """Return the next thing to say, or None when the episode has ended."""

    def reply(self, text: str) -> None:
        """Take the model's reply to the last turn."""

    def say(self, action: Action) -> tuple[str, bool]:
        """Return the reply to this turn that leads to an action, and whether it carries it out.

        Reference agents speak through this. A turn that forces something else is answered with it.
        """


@runtime_checkable
class Mendable(Conversation, Protocol):
    """A conversation whose replies a second model may put into form, without adding anything."""

    def broken(self, text: str) -> str | None:
        """Return what to ask the second model; None if the reply can be taken as it is."""

    def mended(self, text: str, by_second: str) -> None:
        """Take a reply as the second model put it, or as it was if that is no better."""


@runtime_checkable
class Coding(Conversation, Protocol):
    """A conversation in programs, for an interface that has a sandbox."""

    @property
    def data(self) -> Json:
        """What a program finds as `data`."""

    @property
    def analysis(self) -> ActionSpec:
        """The tool that runs a program beside the actions, in the words of the template."""

    def program(self, text: str) -> str | None:
        """Return the program in a reply; None if there is none, which `reply` takes."""

    def on_program_output(self, output: str, outcome: str) -> None:
        """Take what the program printed, and how it ended."""

    def answer(self, observation: Observation) -> Json:
        """Return what a call of the client returns, or raise ValueError with what it raises."""
