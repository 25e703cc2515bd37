"""The paper's dialogue in JSON: a required first intervention, then choice, interaction, answer."""

from __future__ import annotations

import json
from typing import Literal

from whybench.causal.canonical import Json
from whybench.episode.action import MALFORMED, Action
from whybench.episode.episode import INVALID_FORMAT
from whybench.episode.prompts.conversation import object_schema
from whybench.episode.prompts.dialogue import JsonDialogue
from whybench.episode.prompts.extraction import Found, is_bare_object, json_objects
from whybench.episode.prompts.template import paragraphs
from whybench.families.causallink.rules import LinkEpisode, template_named

Phase = Literal["first", "choice", "interaction", "answer"]

CHOICES = ("experiment", "answer")
"""The words of a choice; a template may ask for others in `choice_more` and `choice_done`."""


class Dialogue(JsonDialogue[LinkEpisode]):
    """Run a CausalLink episode in four kinds of turn; an invalid reply repeats the turn."""

    find_template = staticmethod(template_named)

    def __init__(self, episode: LinkEpisode, template: str) -> None:
        super().__init__(episode, template)
        self._kind: Phase = "answer" if episode.evidence != "own" else "first"
        self._opened = False
        self._lenient = False
        passages = self._template.passages
        self._choices = tuple(
            passages.get(f"choice_{name}", usual)
            for name, usual in zip(("more", "done"), CHOICES, strict=True)
        )

    @property
    def system(self) -> str:
        """The rules, as the system message."""
        return self._episode.rules(self._template)

    def _prompt(self) -> str:
        words = self._episode.words()
        parts = []
        if self._last is not None and self._last.is_error:
            parts.append(self._template.say("error", reason=self._last.data["reason"], **words))
        if not self._opened:
            parts.append(self._episode.situation(self._template))
        return paragraphs(*parts, self._template.say(self._kind, **words))

    def reply(self, text: str) -> None:
        """Take a reply; after an intervention, the next turn asks for the choice."""
        super().reply(text)
        self._opened = True
        if self._last is None:
            return
        self._lenient = False
        carried = self._last.code != INVALID_FORMAT and self._kind in ("first", "interaction")
        if carried and (not self._last.is_error or self._episode.released_rules):
            self._kind = "choice"

    def _read(self, text: str) -> Action | None:
        """Read a reply: the last object that answers the turn counts."""
        fields = self._fields()
        best: tuple[Found, dict[str, Json]] | None = None
        for found in json_objects(text):
            read = _lower(found.value)
            if fields.keys() <= read.keys():
                best = best or (found, read)
                if all(_word(read[key]) in fields[key] for key in fields):
                    best = (found, read)
                    break
        if best is None:
            return Action.malformed(f"no JSON object with {' and '.join(fields)} in the reply")
        found, read = best
        self._lenient = self._lenient or not self._is_strict(text, found)
        return self._action({key: _word(read[key]) for key in fields})

    def _is_strict(self, text: str, found: Found) -> bool:
        """Tell whether a reply has the requested form: the object alone, or after reasoning."""
        fields = self._fields()
        if found.value.keys() != fields.keys():
            return False
        if not all(found.value[key] in fields[key] for key in fields):
            return False
        comes_last = not text[found.end :].strip()
        return comes_last and (self._template.passages["strict"] == "last" or is_bare_object(text))

    def say(self, action: Action) -> tuple[str, bool]:
        """Return an action as the reply that this turn asks for."""
        theme, view = self._episode.theme, self._episode.world.view
        final = action.name == "answer"
        if self._kind == "choice":
            return json.dumps({"next": self._choices[final]}), False
        if self._kind == "answer":
            return json.dumps({"answer": action.args["answer"]}), True
        if final:
            return json.dumps({theme.noun: view.movable[0], "action": theme.stop}), False
        return json.dumps({theme.noun: action.args[theme.noun], "action": action.name}), True

    def _action(self, said: dict[str, str]) -> Action | None:
        """Return the action of a reply; it is lenient if any reply since the last action was."""
        if self._kind == "choice":
            if said["next"] not in (*self._choices, *CHOICES):
                return Action.malformed(f"`next` must be {' or '.join(self._choices)}")
            more = said["next"] in (self._choices[0], CHOICES[0])
            self._kind = "interaction" if more else "answer"
            return None
        if self._kind == "answer":
            action = Action.of("answer", answer=said["answer"])
        else:
            noun, verb = self._episode.theme.noun, said["action"]
            if verb in ("answer", MALFORMED):  # words of the protocol, but no interventions
                verb = f"to {verb}"
            action = Action.of(verb[:40], **{noun: said[noun][:40]})
        return action.read(strictly=not self._lenient)

    def _fields(self) -> dict[str, tuple[str, ...]]:
        """The fields that a reply to this turn must have, with their legal values."""
        if self._kind == "choice":
            return {"next": self._choices}
        if self._kind == "answer":
            return {"answer": self._episode.world.view.answers}
        theme, view = self._episode.theme, self._episode.world.view
        return {theme.noun: view.movable, "action": (theme.start, theme.stop)}

    def _schema(self) -> Json:
        fields = self._fields()
        return object_schema({key: {"type": "string", "enum": list(fields[key])} for key in fields})


def _lower(read: dict[str, Json]) -> dict[str, Json]:
    return {key.strip().casefold(): value for key, value in read.items()}


def _word(value: Json) -> str:
    """Return a value as a word; for other types, return the name of the type."""
    return value.strip().casefold() if isinstance(value, str) else f"({type(value).__name__})"
