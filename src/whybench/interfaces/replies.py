"""Name the replies of a model that an episode cannot use, from the model output of Inspect."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whybench.episode.action import ActionSpec
from whybench.episode.episode import Episode
from whybench.episode.score import (
    CONTEXT_EXCEEDED,
    CUT_OFF,
    NO_REPLY,
    ONLY_THINKING,
    REFUSED,
    UNREAD_CALL,
)
from whybench.interfaces.calls_in_text import looks_like_a_call

if TYPE_CHECKING:
    from inspect_ai.model import ModelOutput


def is_full(output: ModelOutput) -> bool:
    """Return whether the last prompt exceeded the model's context, so that it wrote nothing.

    A reply that was cut because the reply itself was too long still counts as a reply.
    """
    written = 0 if output.usage is None else output.usage.output_tokens
    return bool(output.choices) and output.stop_reason == "model_length" and not written


def kind_of(output: ModelOutput, tools: tuple[ActionSpec, ...] = ()) -> str | None:
    """Return the outcome that a reply leads to if it cannot be used; None for an ordinary one.

    Args:
        output: The output of the model.
        tools: The actions that were offered as tools; none in a conversation.

    """
    if is_full(output):
        return CONTEXT_EXCEEDED
    stopped = {"max_tokens": CUT_OFF, "model_length": CUT_OFF, "content_filter": REFUSED}
    if output.stop_reason in stopped:
        return stopped[output.stop_reason]
    message = output.message
    calls, text = message.tool_calls or (), message.text
    if not calls and not _after_thinking(text):
        parts = [] if isinstance(message.content, str) else message.content
        thought = bool(text.strip()) or any(part.type == "reasoning" for part in parts)
        return ONLY_THINKING if thought else NO_REPLY
    written = bool(tools) and not calls and looks_like_a_call(text, tools)
    return UNREAD_CALL if written or any(call.parse_error for call in calls) else None


def _after_thinking(text: str) -> str:
    """Return what a text says after its thoughts, if these are in tags that Inspect left there."""
    said = text.rpartition("</think>")[2].strip()
    return "" if said.startswith("<think") else said


def lost_reply(
    output: ModelOutput, episode: Episode, before: int, tools: tuple[ActionSpec, ...]
) -> str | None:
    """Return the kind of the last reply if the episode could not use it.

    A reply is used if its last action was accepted. A context that is full after the first action
    cuts the reply off.

    Args:
        output: The last output of the model.
        episode: The episode, after it has processed the output.
        before: The number of steps before the output.
        tools: The actions that were offered as tools; none in a conversation.

    """
    steps = episode.trace.steps
    if not output.choices or (len(steps) > before and not steps[-1].observation.is_error):
        return None
    kind = kind_of(output, tools)
    return CUT_OFF if kind == CONTEXT_EXCEEDED and len(steps) > episode.given else kind
