"""An episode told in turns of text, each answered with one JSON object."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Generic, TypeVar

from whybench.causal.canonical import Json
from whybench.episode.action import Action
from whybench.episode.episode import Episode
from whybench.episode.observation import Observation
from whybench.episode.prompts.conversation import Turn
from whybench.episode.prompts.template import PromptTemplate

Ep = TypeVar("Ep", bound=Episode)


class JsonDialogue(ABC, Generic[Ep]):
    """The turns of a conversation; a family says what is told, asked for and read.

    A reply that cannot be read is an error of the episode, so every loop ends with its patience.
    """

    _kind = "answer"
    """The name of a turn and of its schema."""

    @staticmethod
    @abstractmethod
    def find_template(name: str, /) -> PromptTemplate:
        """Return a template by name."""

    def __init__(self, episode: Ep, template: str) -> None:
        self._episode = episode
        self._template = self.find_template(template)
        self._last: Observation | None = None
        """What came of the last reply."""

    @property
    @abstractmethod
    def system(self) -> str:
        """What is said before the first turn."""

    @abstractmethod
    def _prompt(self) -> str:
        """Return what is said now."""

    @abstractmethod
    def _schema(self) -> Json:
        """Return the JSON schema of a reply to this turn."""

    @abstractmethod
    def _read(self, text: str) -> Action | None:
        """Return the action that a reply stands for; None if it only leads to another turn."""

    def _fresh(self) -> bool:
        """Tell whether the model is shown this turn alone."""
        return False

    def _again(self) -> str:
        """Say why the last reply was not taken, and ask once more."""
        reason = "" if self._last is None else self._last.data["reason"]
        return f"{self._template.say('error', reason=reason)} {self._template.say('again')}"

    def turn(self) -> Turn | None:
        """Return the next thing to say, or None when the episode has ended."""
        if self._episode.done:
            return None
        return Turn(self._prompt(), self._kind, self._schema(), self._fresh())

    def reply(self, text: str) -> None:
        """Take a reply and carry out what it stands for."""
        action = self._read(text)
        self._last = None if action is None else self._episode.step(action)

    def say(self, action: Action) -> tuple[str, bool]:
        """Put an action into the words that a reply is made of."""
        return str(action.args["answer"]), True
