"""The paper's dialogue in JSON: a forced first intervention, then choice, interaction, answer."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Literal

from whybench.core.canonical import Json
from whybench.episode.action import MALFORMED, Action
from whybench.episode.conversation import Turn
from whybench.episode.extraction import Found, is_bare_object, json_objects
from whybench.episode.observation import Observation
from whybench.episode.skin import paragraphs
from whybench.families.causallink.rules import ANSWERS, LinkEpisode, skin_named

Phase = Literal["first", "choice", "interaction", "answer"]

CHOICES = ("experiment", "answer")


class Dialogue:
    """Tells a CausalLink episode in four kinds of turn.

    A reply that cannot be read is an error of the episode and its turn is asked again, so every
    loop ends with the episode's patience or its last intervention.
    """

    def __init__(self, episode: LinkEpisode, skin: str) -> None:
        self._episode = episode
        self._skin = skin_named(skin)
        self._phase: Phase = "answer" if episode.evidence != "own" else "first"
        self._opened = False
        self._lenient = False
        self._error: Observation | None = None

    @property
    def system(self) -> str:
        """The rules of the world."""
        return self._episode.rules(self._skin)

    def turn(self) -> Turn | None:
        """Return the next prompt, or None when the episode has ended."""
        if self._episode.done:
            return None
        words = self._episode.words()
        parts = []
        if self._error is not None:
            parts.append(self._skin.say("error", reason=self._error.data["reason"], **words))
        if not self._opened:
            parts.append(self._episode.situation(self._skin))
        parts.append(self._skin.say(self._phase, **words))
        return Turn(paragraphs(*parts), self._phase, self._schema())

    def reply(self, text: str) -> None:
        """Read a reply: the last object that answers the turn counts."""
        self._opened = True
        self._error = None
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
            self._step(Action.malformed(f"no JSON object with {' and '.join(fields)} in the reply"))
            return
        found, read = best
        self._lenient = self._lenient or not self._is_strict(text, found)
        self._act({key: _word(read[key]) for key in fields})

    def _is_strict(self, text: str, found: Found) -> bool:
        """Tell whether a reply is as asked: the object alone, or last if reasons are invited."""
        fields = self._fields()
        if found.value.keys() != fields.keys():
            return False
        if not all(found.value[key] in fields[key] for key in fields):
            return False
        comes_last = not text[found.end :].strip()
        return comes_last and (self._skin.passages["strict"] == "last" or is_bare_object(text))

    def say(self, action: Action) -> tuple[str, bool]:
        """Put an action into the words that this turn asks for."""
        theme, view = self._episode.theme, self._episode.world.view
        final = action.name == "answer"
        if self._phase == "choice":
            return json.dumps({"next": "answer" if final else "experiment"}), False
        if self._phase == "answer":
            return json.dumps({"answer": action.args["answer"]}), True
        if final:
            return json.dumps({theme.noun: view.names[0], "action": theme.stop}), False
        return json.dumps({theme.noun: action.args[theme.noun], "action": action.name}), True

    def _act(self, said: dict[str, str]) -> None:
        if self._phase == "choice":
            if said["next"] in CHOICES:
                self._phase = "interaction" if said["next"] == "experiment" else "answer"
            else:
                self._step(Action.malformed("`next` must be experiment or answer"))
        elif self._phase == "answer":
            self._step(Action.of("answer", answer=said["answer"]))
        else:
            noun, verb = self._episode.theme.noun, said["action"]
            if verb in ("answer", MALFORMED):  # words of the protocol, but no interventions
                verb = f"to {verb}"
            observation = self._step(Action.of(verb[:40], **{noun: said[noun][:40]}))
            if not observation.is_error or self._episode.released_rules:
                self._phase = "choice"

    def _step(self, action: Action) -> Observation:
        """Step the episode; an action keeps the loosest reading needed since the one before."""
        observation = self._episode.step(replace(action, form=self._form(action)))
        self._lenient = False
        self._error = observation if observation.is_error else None
        return observation

    def _form(self, action: Action) -> Literal["strict", "lenient"]:
        return "lenient" if self._lenient and action.name != MALFORMED else "strict"

    def _fields(self) -> dict[str, tuple[str, ...]]:
        """The fields that a reply to this turn must have, with their legal values."""
        if self._phase == "choice":
            return {"next": CHOICES}
        if self._phase == "answer":
            return {"answer": ANSWERS}
        theme, view = self._episode.theme, self._episode.world.view
        return {theme.noun: view.names, "action": (theme.start, theme.stop)}

    def _schema(self) -> Json:
        fields = self._fields()
        return {
            "type": "object",
            "properties": {key: {"type": "string", "enum": list(fields[key])} for key in fields},
            "required": list(fields),
            "additionalProperties": False,
        }


def _lower(read: dict[str, Json]) -> dict[str, Json]:
    return {key.strip().casefold(): value for key, value in read.items()}


def _word(value: Json) -> str:
    """Return a value as a word; what is no text is only named, however deep it goes."""
    return value.strip().casefold() if isinstance(value, str) else f"({type(value).__name__})"
