"""The tools and resources of a session besides the actions of its family."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import mcp_types as types

OPEN = "episode_open"
INSTRUCTIONS_TOOL = "episode_brief"
RESET = "episode_reset"
SCORE = "episode_score"
INSTRUCTIONS_URI = "whybench://brief"
RECORD = "whybench://record"
STATE = "whybench://state"

INSTRUCTIONS = (
    "One session is one episode: a task with hidden causes. Call episode_brief (or read "
    "whybench://brief) to learn the task, act with the other tools until the episode is done, "
    "then call episode_score. If episode_open is the only tool, open an episode first and list "
    "the tools again."
)


def _tool(name: str, description: str, properties: dict[str, Any] | None = None) -> types.Tool:
    schema = {"type": "object", "properties": properties or {}}
    return types.Tool(name=name, description=description, input_schema=schema)


WHEN_OPEN = (
    _tool(
        INSTRUCTIONS_TOOL,
        "The task in words: everything you are told before you act. Call this first.",
    ),
    _tool(
        RESET,
        "Give this attempt up and start the episode anew. Only a first attempt counts in the end.",
    ),
    _tool(
        SCORE,
        "End the attempt as it stands and learn its score, or get a receipt if scores are "
        "withheld. Call this last: nothing can be done afterwards.",
    ),
)
"""The tools of a session in which an episode is open."""


def opening_tool(paths: Sequence[str]) -> types.Tool:
    """Return the tool of a session without an open episode."""
    return _tool(
        OPEN,
        "Open an episode by suite and index, or by the name of an instance; returns the task. "
        "Then list the tools again: they are the actions of the episode.",
        {
            "suite": {"type": "string", "description": "family/suite", "enum": list(paths)},
            "index": {"type": "integer", "minimum": 0, "description": "which of its instances"},
            "instance": {
                "type": "string",
                "description": "instead: a name like family/suite-0003-0123456789ab",
            },
            "template": {
                "type": "string",
                "description": "in what words; default: the family's own",
            },
        },
    )


RESOURCES = (
    types.Resource(
        uri=INSTRUCTIONS_URI, name="brief", mime_type="text/plain", description="the task in words"
    ),
    types.Resource(
        uri=RECORD,
        name="record",
        mime_type="application/json",
        description="every action so far with its observation",
    ),
    types.Resource(
        uri=STATE,
        name="state",
        mime_type="application/json",
        description="which episode this is, how many steps were made, whether it is done",
    ),
)
