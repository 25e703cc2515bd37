"""The messages between client and server.

The episode validates an action, not the types of these fields. Any JSON object that an agent sends
reaches the episode, and an invalid one becomes an error of the agent.
"""

from __future__ import annotations

import json
from typing import Any

from openenv.core.env_server.types import Action, Observation, State
from pydantic import ConfigDict, Field

from whybench import Json


class WhyBenchAction(Action):
    """A call by name, or a line of text; a call wins if both are given."""

    model_config = ConfigDict(extra="ignore")

    name: Any = Field(None, description="The name of a tool, as listed by reset.")
    args: Any = Field(default_factory=dict, description="Its arguments: an object of named values.")
    line: Any = Field(
        None, description='A line of text instead: `hold circle`, or {"name": …, "args": {…}}.'
    )
    finish: Any = Field(
        False, description="true: leave the episode here and have it scored as it stands."
    )


class WhyBenchObservation(Observation):
    """What comes back for an action, and for reset."""

    text: str = Field(
        "", description="What a language model reads: the instructions, then each result."
    )
    result: dict[str, Any] | None = Field(
        None, description="The same as data: `code` (`ok`, or the kind of error) and `data`."
    )
    tools: list[dict[str, Any]] | None = Field(
        None, description="At reset: the actions, with name, description and JSON schema."
    )
    score: dict[str, Any] | None = Field(
        None, description="At the end: `outcome`, `values` by metric, `labels`."
    )
    trace: str | None = Field(
        None, description="At the end: the record of the episode, as canonical JSON text."
    )


class WhyBenchState(State):
    """The state of an episode, for the training or evaluation loop, not for its agent."""

    instance: dict[str, Any] | None = Field(None, description="The coordinates of the instance.")
    done: bool = Field(False, description="Whether the episode has ended or was left.")
    seed: int | None = Field(None, description="The seed that drew the instance, if one did.")
    index: int | None = Field(
        None, description="The index in the finite list, if the episode was chosen by index."
    )
    split: str | None = Field(None, description="The requested split: `train` or `eval`.")
    reward: str | None = Field(None, description="The reward: `sparse` or `dense`.")
    template: str | None = Field(None, description="The prompt template.")


def sendable(value: Json) -> Json:
    r"""Return JSON data that UTF-8 can encode. A lone surrogate becomes a `?`.

    >>> sendable({"said": "\ud800!"})
    {'said': '?!'}
    """
    text = json.dumps(value, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.loads(text.encode(errors="replace"))
    return value
