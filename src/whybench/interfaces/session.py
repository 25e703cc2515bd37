"""One episode for code outside the package: calls and text go in, text comes out, then a score.

Interfaces for agents and training loops wrap `Session`, so that they differ only in transport.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from whybench.causal.canonical import Json
from whybench.episode.action import Action, ActionSpec, parse_call
from whybench.episode.family import Family
from whybench.episode.instance import Instance
from whybench.episode.observation import OVER, Observation
from whybench.episode.registry import families
from whybench.episode.score import Score
from whybench.episode.trace import Trace
from whybench.interfaces.calls_in_text import read_text
from whybench.interfaces.lines import read_action


@dataclass(frozen=True, slots=True)
class Reply:
    """What an agent gets back for one action.

    Examples:
        >>> import whybench as wb
        >>> session = wb.Session(wb.load_suite("causallink/core")[0])
        >>> session.call("answer", {"answer": "yes"}).done
        True

    """

    text: str
    """The observation in the words of the template."""
    observation: Observation
    """The observation."""
    done: bool
    """Whether the episode has ended."""


class Session:
    """An episode for code outside: calls or lines of text in, text out, and a score at the end.

    Examples:
        >>> import whybench as wb
        >>> session = wb.Session(wb.load_suite("causallink/core")[0])
        >>> session.call("answer", {"answer": "yes"}).done
        True
        >>> session.score().outcome
        'answered'

    Args:
        instance: The instance to play.
        template: The name of a prompt template. Default: that of the profile.

    Raises:
        ValueError: The family has no such template.

    """

    __slots__ = ("_left", "episode", "family", "instance", "template")

    def __init__(self, instance: Instance, template: str | None = None) -> None:
        self.family: Family[Any] = families()[instance.family]
        """The family of the instance."""
        self.instance = instance
        """The instance that is played."""
        self.template = self.family.template_for(instance.profile, template)
        """The name of the prompt template."""
        self.episode = self.family.open(instance)
        """The episode."""
        self._left = False

    @property
    def instructions(self) -> str:
        """The text that the agent receives before its first action."""
        return self.episode.instructions(self.template)

    @property
    def tools(self) -> list[dict[str, Json]]:
        """The actions as tools: `name`, `description`, and `parameters` as a JSON schema."""
        return [tool_schema(spec) for spec in self.episode.actions]

    @property
    def done(self) -> bool:
        """Whether the episode has ended or was left."""
        return self._left or self.episode.done

    @property
    def trace(self) -> Trace:
        """The record so far."""
        return self.episode.trace

    def call(self, name: object, args: object) -> Reply:
        """Run an action by name.

        Args:
            name: The name of the action.
            args: Argument name → value.

        Returns:
            The reply. Nothing raises an exception, whatever an agent sends.

        """
        return self.act(parse_call(name, args))

    def say(self, line: str) -> Reply:
        """Run the action that a line of text asks for.

        Args:
            line: The line, such as `hold circle`.

        Returns:
            The reply.

        """
        return self.act(read_action(line, self.episode.actions))

    def without_call(self, text: str) -> Reply:
        """Run a model's reply that called no tool.

        Args:
            text: The reply. If it holds exactly one call of a known action in JSON, the call is run
                and counted as `call_in_text`.

        Returns:
            The reply. A text without such a call is an error of the agent.

        """
        return self.act(read_text(text, self.episode.actions))

    def act(self, action: Action) -> Reply:
        """Run an action. After the end, and after `leave`, it has no effect.

        Args:
            action: The action.

        Returns:
            The reply.

        """
        observation = Observation(OVER) if self._left else self.episode.step(action)
        text = self.episode.describe(observation, self.template)
        return Reply(text, observation, self.done)

    def leave(self) -> None:
        """Stop the episode here. Further actions have no effect."""
        self._left = True

    def score(self) -> Score:
        """Score the episode as it is.

        Returns:
            The score.

        """
        return self.family.scored(self.episode)


def tool_schema(spec: ActionSpec) -> dict[str, Json]:
    """Return an action as a tool with typed arguments. Only the episode validates them."""
    return {
        "name": spec.name,
        "description": spec.meaning,
        "parameters": spec.json_schema(),
    }
