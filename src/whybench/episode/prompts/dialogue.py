"""An episode as turns of text, each answered with one JSON object."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Generic, Literal, TypeVar

from whybench.causal.canonical import Json
from whybench.episode.action import Action
from whybench.episode.cleaning import clean_text
from whybench.episode.episode import Episode
from whybench.episode.observation import Observation
from whybench.episode.prompts.conversation import Turn
from whybench.episode.prompts.template import PromptTemplate

Ep = TypeVar("Ep", bound=Episode)

Retry = Literal["reason", "same"]
"""What follows an invalid reply: the reason, or the first prompt again as if nothing was said."""


class JsonDialogue(ABC, Generic[Ep]):
    """A conversation in which every reply is one JSON object.

    A subclass implements `find_template`, `system`, `_prompt`, `_schema` and `_read`. A reply that
    cannot be read is an error of the episode, so every loop ends at the limit of errors.

    Examples:
        >>> import whybench as wb
        >>> suite = wb.load_suite("causallink/core")
        >>> episode = suite.family.open(suite[3])
        >>> isinstance(suite.family.conversation(episode, "plain"), wb.JsonDialogue)
        True

    Args:
        episode: The episode.
        template: The name of a prompt template.

    """

    _kind = "answer"
    """The name of a turn and of its schema."""

    @abstractmethod
    def find_template(self, name: str, /) -> PromptTemplate:
        """Return a template by name.

        Args:
            name: The name.

        Returns:
            The template.

        """

    def __init__(self, episode: Ep, template: str) -> None:
        self._episode = episode
        self._template = self.find_template(template)
        self._last: Observation | None = None
        """What came of the last reply."""

    @property
    @abstractmethod
    def system(self) -> str:
        """The system message."""

    @abstractmethod
    def _prompt(self) -> str:
        """Return the text of the next prompt."""

    @abstractmethod
    def _schema(self) -> Json:
        """Return the JSON schema of a reply to this turn."""

    @abstractmethod
    def _read(self, text: str) -> Action | None:
        """Return the action in a reply; None if the reply only leads to another turn."""

    def _fresh(self) -> bool:
        """Return whether the model sees only this turn, without the earlier ones."""
        return self._asks_anew()

    def _asks_anew(self) -> bool:
        """Return whether the parameter `retry` asks for the first prompt after an invalid reply."""
        failed = self._last is not None and self._last.is_error
        return failed and self._episode.instance.parameters.get("retry") == "same"

    def _again(self) -> str:
        """Return a text that says why the last reply was rejected, and asks again."""
        reason = "" if self._last is None else self._last.data["reason"]
        return f"{self._template.say('error', reason=reason)} {self._template.say('again')}"

    def turn(self) -> Turn | None:
        """Return the next turn.

        Returns:
            The turn; None when the episode has ended.

        """
        if self._episode.done:
            return None
        return Turn(self._prompt(), self._kind, self._schema(), self._fresh())

    def reply(self, text: str) -> None:
        """Run the action that a reply asks for.

        Args:
            text: The reply of the model.

        """
        text, notes = clean_text(text)
        self._episode.note(notes)
        action = self._read(text)
        self._last = None if action is None else self._episode.step(action)

    def say(self, action: Action) -> tuple[str, bool]:
        """Return the reply that leads to an action.

        Args:
            action: The action.

        Returns:
            The reply, and whether it runs the action.

        """
        return str(action.args["answer"]), True
