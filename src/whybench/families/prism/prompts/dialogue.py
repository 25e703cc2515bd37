"""An episode as a dialogue: the problem, then one JSON object in each reply."""

from __future__ import annotations

import json
from typing import Any

from whybench.causal.canonical import Json
from whybench.episode.action import Action, parse_call
from whybench.episode.prompts.conversation import object_schema
from whybench.episode.prompts.dialogue import JsonDialogue
from whybench.episode.prompts.extraction import is_bare_object, json_objects
from whybench.episode.prompts.template import paragraphs
from whybench.families.prism.prompts.surface import template_named
from whybench.families.prism.rules import PrismEpisode
from whybench.families.prism.world.world import ANSWERS

FIELDS = ("answer", "probability", "trials", "systems")


class Dialogue(JsonDialogue[PrismEpisode]):
    """A Prism episode as a dialogue; a reply that is not accepted may be corrected."""

    find_template = staticmethod(template_named)

    @property
    def system(self) -> str:
        """The rules, as the system message."""
        return self._episode.rules(self._template)

    def _prompt(self) -> str:
        """Return the problem, or the result of the last reply."""
        episode, template = self._episode, self._template
        if self._last is not None and self._last.is_error:
            return self._again()
        if self._last is not None:
            return episode.describe(self._last, template.name)
        return paragraphs(episode.situation(template.name), episode.how("form", template))

    def _read(self, text: str) -> Action:
        """Return the action in a reply: the last object that asks for one counts."""
        for found in json_objects(text):
            given = {str(key).strip().casefold(): value for key, value in found.value.items()}
            action = _action(given)
            if action is not None:
                return action.read(strictly=is_bare_object(text.strip()))
        return Action.malformed("there is no JSON object with an answer in the reply")

    def say(self, action: Action) -> tuple[str, bool]:
        """Return an action in the form of a reply."""
        args = {name: _value(name, text) for name, text in action.args}
        said = {"next": {"next": True}, "try": {"try": args}}.get(action.name, args)
        return json.dumps(said), True

    def _schema(self) -> Json:
        """Return the JSON schema of a reply."""
        text: Json = {"type": "string", "enum": list(ANSWERS)}
        number: Json = {"type": "number", "minimum": 0, "maximum": 1}
        fields: dict[str, Any] = {"answer": text, "probability": number}
        if self._episode.justify:
            fields["trials"] = {"type": "array", "items": {"type": "integer"}}
            formulas = {"type": "object", "additionalProperties": {"type": "string"}}
            fields["systems"] = {"type": "array", "items": formulas}
        final = {**object_schema(fields), "required": ["answer"]}
        if self._episode.mode == "fetched":
            return {"anyOf": [object_schema({"next": {"type": "boolean"}}), final]}
        if self._episode.mode == "lab":
            values = {"type": "object", "additionalProperties": {"type": "integer"}}
            trial = object_schema({"inputs": values, "held": values})
            return {"anyOf": [object_schema({"try": trial}), final]}
        return final


def _action(given: dict[str, Any]) -> Action | None:
    """Return the action of a reply's object; None if it asks for none."""
    if "answer" in given:
        return parse_call("answer", {name: given[name] for name in FIELDS if name in given})
    if given.get("next"):
        return Action.of("next")
    trial = given.get("try")
    return parse_call("try", trial) if isinstance(trial, dict) else None


def _value(name: str, text: Any) -> Any:
    """Return an argument as the JSON value that a reply has."""
    try:
        return text if name == "answer" else json.loads(text)
    except (TypeError, ValueError):
        return text
