"""Episodes of the exact agent as chat messages with tool calls, for supervised training."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from whybench import CANARY
from whybench.causal.canonical import Json
from whybench.episode.action import Action
from whybench.episode.family import Suite
from whybench.episode.instance import Instance
from whybench.episode.split import part_of
from whybench.interfaces.session import Session


def transcripts(
    suite: Suite, instances: Iterable[Instance], template: str | None = None
) -> Iterator[dict[str, Json]]:
    """Let the exact agent play instances through tools, and yield one transcript for each.

    Examples:
        >>> import whybench as wb
        >>> suite = wb.load_suite("causallink/advanced")
        >>> row = next(transcripts(suite, wb.Choice(suite, split="train").once()))
        >>> [message["role"] for message in row["messages"]][:3]
        ['user', 'assistant', 'tool']

    Args:
        suite: The suite.
        instances: Instances of the suite that are in the training split.
        template: The name of a prompt template. Default: that of the profile.

    Yields:
        `messages` and `tools` in the form of the OpenAI chat format, `score`, `template`, and the
        coordinates of the `instance`. The line with the canary is left out of the instructions,
        because this text is meant for training.

    Raises:
        ValueError: An instance is in the evaluation split, or the template is unknown.

    """
    for instance in instances:
        if part_of(suite, instance) != "train":
            raise ValueError(f"Instance {instance.id} is in the evaluation split. Use split=train.")
        session = Session(instance, template)
        told = "\n\n".join(p for p in session.instructions.split("\n\n") if p != CANARY)
        messages: list[Json] = [{"role": "user", "content": told}]
        for number, action in enumerate(session.family.exact_run(instance).actions, 1):
            called = {"name": action.name, "arguments": json.dumps(_typed(session, action))}
            call = {"id": f"call_{number}", "type": "function", "function": called}
            messages.append({"role": "assistant", "content": "", "tool_calls": [call]})
            reply = session.act(action)
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": reply.text})
        yield {
            "messages": messages,
            "tools": [{"type": "function", "function": tool} for tool in session.tools],
            "score": session.score().to_json(),
            "template": session.template,
            "instance": instance.to_json(),
        }


def _typed(session: Session, action: Action) -> dict[str, Json]:
    """Return arguments in the types of the tool's schema; in an action they are texts."""
    [spec] = [spec for spec in session.episode.actions if spec.name == action.name]
    texts = {
        one.name
        for one in spec.arguments
        if "type" in one.schema and one.schema["type"] == "string"
    }
    given: dict[str, Json] = action.args.asdict()
    for name in given.keys() - texts:
        try:
            given[name] = json.loads(str(given[name]))
        except ValueError:
            continue  # a word where the schema also allows one
    return given


def replayed(row: Mapping[str, Any]) -> Session:
    """Run the tool calls of a transcript again, and return the session after the last one."""
    session = Session(Instance.from_json(row["instance"]), row["template"])
    for message in row["messages"]:
        for call in message.get("tool_calls", ()):
            session.call(call["function"]["name"], json.loads(call["function"]["arguments"]))
    return session
