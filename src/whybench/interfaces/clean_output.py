"""Clean the replies of an Inspect model before Inspect logs them.

Inspect writes a reply to its log as soon as the provider returns it, and one text that is not
Unicode ends the whole task there. So the provider's own `generate` is wrapped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from whybench.episode.action import MALFORMED, Note, parse_call
from whybench.episode.cleaning import LONGEST_ACTION, Cleaner, clean_action, clean_text, in_order

if TYPE_CHECKING:
    from inspect_ai.model import ChatMessageAssistant, Model, ModelOutput
    from inspect_ai.tool import ToolCall

MOST_CALLS = 100
"""Calls of one reply that are run."""

TOO_MANY = f"a reply can make {MOST_CALLS} calls: the others were not run"

CLEANED = "whybench:cleaned"
"""Key in the metadata of a model output of what was changed."""

_LONGEST_NAME, _LONGEST_ERROR = 200, 2_000
_GUARDED = "_whybench_guarded"


def guarded(model: Model) -> Model:
    """Return a model whose provider cleans every reply, from now on."""
    api = vars(model.api)
    if _GUARDED not in api:
        plain = model.api.generate

        async def generate(*args: Any, **options: Any) -> Any:
            found = await plain(*args, **options)
            output, call = found if isinstance(found, tuple) else (found, None)
            if not isinstance(output, Exception):
                clean_output(output)
            if call is not None:
                call.response = Cleaner().value(call.response)
            return found

        api.update({"generate": generate, _GUARDED: True})
    return model


def notes_of(output: ModelOutput) -> tuple[Note, ...]:
    """Return what was changed in an output."""
    return in_order((output.metadata or {}).get(CLEANED, ()))


def clean_output(output: ModelOutput) -> None:
    """Clean an output in place, and name in its metadata what was changed."""
    from inspect_ai.model import ChatCompletionChoice, ChatMessageAssistant

    cleaner = _OutputCleaner()
    if not output.choices:
        nothing = ChatMessageAssistant(content="")
        output.choices = [ChatCompletionChoice(message=nothing, stop_reason="unknown")]
        cleaner.notes.add("no_choice")
    for choice in output.choices:
        cleaner.calls(choice.message)
    cleaner.fields(output)
    if cleaner.notes:
        output.completion = output.message.text
        output.metadata = {**(output.metadata or {}), CLEANED: list(in_order(cleaner.notes))}


class _OutputCleaner(Cleaner):
    """A cleaner that also walks through the objects of Inspect."""

    def value(self, value: Any, depth: int = 0) -> Any:
        if hasattr(value, "__pydantic_fields__"):
            self.fields(value)
            return value
        return super().value(value, depth)

    def fields(self, thing: Any) -> None:
        """Clean the fields of an object in place. Depth counts inside the value of a field."""
        own = vars(thing)
        for name, value in own.items():
            if value is not None and not isinstance(value, bool | float):
                own[name] = self.value(value)

    def calls(self, message: ChatMessageAssistant) -> None:
        """Give every call its own id and arguments that are JSON, and drop calls that are many."""
        calls = message.tool_calls
        if not calls:
            return
        if len(calls) > MOST_CALLS:
            message.tool_calls = calls = calls[:MOST_CALLS]
            self.notes.add("calls")
        ids: set[str] = set()
        for number, call in enumerate(calls):
            if not isinstance(call.id, str) or not call.id or call.id in ids:
                call.id = f"{call.id or 'call'}_{number}"
                while call.id in ids:
                    call.id += "_"
                self.notes.add("ids")
            ids.add(call.id)
            self._call(call)

    def _call(self, call: ToolCall) -> None:
        name = call.function if call.function != MALFORMED else "unknown"
        action = parse_call(name, call.arguments)
        long = len(action.name) + sum(len(text) for pair in action.args for text in pair)
        if action.name == MALFORMED:
            call.arguments, call.parse_error = {}, str(action.args["reason"])
            self.notes.add("arguments")
        elif long > LONGEST_ACTION:
            call.arguments, call.parse_error = {}, str(clean_action(action).args["reason"])
            self.notes.add("cut")
        call.function = clean_text(call.function)[0][:_LONGEST_NAME]
        if call.parse_error and len(call.parse_error) > _LONGEST_ERROR:
            call.parse_error = call.parse_error[:_LONGEST_ERROR]
