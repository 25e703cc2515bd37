"""One episode as seen from outside: words and calls go in, words come out, at the end a score.

Interfaces for agents and training loops wrap this, so that they differ in their wire alone.
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
from whybench.interfaces.lines import read_action


@dataclass(frozen=True, slots=True)
class Reply:
    """What comes back for one action."""

    text: str
    """The observation in the words of the template."""
    observation: Observation
    done: bool


class Session:
    """An episode in one template.

    >>> from whybench.episode.registry import load_suite
    >>> session = Session(load_suite("causallink/core")[0])
    >>> session.call("answer", {"answer": "yes"}).done
    True
    >>> session.score().outcome
    'answered'
    """

    __slots__ = ("_left", "episode", "family", "instance", "template")

    def __init__(self, instance: Instance, template: str | None = None) -> None:
        self.family: Family[Any] = families()[instance.family]
        self.instance = instance
        self.template = self.family.templates[0] if template is None else template
        if self.template not in self.family.templates:
            known = ", ".join(self.family.templates)
            raise ValueError(f"{self.family.name} has no template {template!r}: try {known}")
        self.episode = self.family.open(instance)
        self._left = False

    @property
    def instructions(self) -> str:
        """Everything the agent is told before it acts."""
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
        """Carry out a call by name."""
        return self.act(parse_call(name, args))

    def say(self, line: str) -> Reply:
        """Carry out what a line of text asks for."""
        return self.act(read_action(line, self.episode.actions))

    def act(self, action: Action) -> Reply:
        """Carry out an action; after the end, and once the episode was left, nothing counts."""
        observation = Observation(OVER) if self._left else self.episode.step(action)
        text = self.episode.describe(observation, self.template)
        return Reply(text, observation, self.done)

    def leave(self) -> None:
        """Stop where the episode stands: its trace is closed to further actions."""
        self._left = True

    def score(self) -> Score:
        """Score the episode as it stands."""
        return self.family.score_episode(self.episode)


def tool_schema(spec: ActionSpec) -> dict[str, Json]:
    """Return an action as a tool with plain strings: the episode judges them, not the interface."""
    return {
        "name": spec.name,
        "description": spec.meaning,
        "parameters": {
            "type": "object",
            "properties": {
                argument.name: {"type": "string", "description": argument.meaning}
                for argument in spec.arguments
            },
            "required": [argument.name for argument in spec.arguments if not argument.optional],
        },
    }
