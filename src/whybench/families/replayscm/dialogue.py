"""An episode told in turns: the problem, and one answer in JSON; in the laboratory, many."""

from __future__ import annotations

import json
from typing import Any, Literal

from whybench.core.canonical import Json
from whybench.core.graph import members
from whybench.episode.action import Action
from whybench.episode.conversation import Turn, object_schema
from whybench.episode.extraction import json_objects
from whybench.episode.observation import Observation
from whybench.episode.skin import paragraphs
from whybench.families.replayscm.rules import ReplayEpisode, skin_named
from whybench.families.replayscm.submission import extract


class Dialogue:
    """Tells a ReplaySCM episode: direct generation, and once more if an answer is not valid."""

    def __init__(self, episode: ReplayEpisode, skin: str) -> None:
        self._episode = episode
        self._skin_name = skin
        self._skin = skin_named(skin)
        self._last: Observation | None = None

    @property
    def system(self) -> str:
        """The rules."""
        return self._episode.rules(self._skin)

    def turn(self) -> Turn | None:
        """Return the problem, or what came of the last reply; None when the episode has ended."""
        episode = self._episode
        if episode.done:
            return None
        if self._last is None:
            prompt = paragraphs(episode.situation(self._skin), episode.form(self._skin))
        elif self._last.is_error:
            reason = self._last.data["reason"]
            again = self._skin.say("again")
            prompt = f"{self._skin.say('error', reason=reason)} {again}"
        else:
            prompt = paragraphs(
                episode.describe(self._last, self._skin_name), episode.form(self._skin)
            )
        return Turn(prompt, "answer", self._schema())

    def reply(self, text: str) -> None:
        """Take a reply: an experiment where there is a laboratory, else the answer in it."""
        action = self._experiment(text) or self._answer(text)
        self._last = self._episode.step(action)

    def _experiment(self, text: str) -> Action | None:
        """Return the experiment that a reply ends with; None if it hands in mechanisms."""
        if self._episode.lab is None:
            return None
        for found in json_objects(text):
            if "mechanisms" in found.value:
                return None
            if "experiment" in found.value:
                return Action.of("experiment", setting=json.dumps(found.value["experiment"]))
        return None

    def _answer(self, text: str) -> Action:
        found = extract(self._episode.view, text)
        if found is None:
            return Action.malformed("there is no JSON object in the reply")
        form: Literal["strict", "lenient"] = "strict" if found.strict else "lenient"
        return Action("submit", Action.of("submit", answer=found.text).args, form)

    def say(self, action: Action) -> tuple[str, bool]:
        """Put an action into the words that a reply is made of."""
        if action.name == "experiment":
            return f'{{"experiment": {action.args["setting"]}}}', True
        return str(action.args["answer"]), True

    def _schema(self) -> Json:
        """Return the JSON schema of a reply; in the laboratory it may be one of two."""
        episode = self._episode
        view = episode.view
        text: Json = {"type": "string"}
        roots = view.told.roots
        names = [view.names[v] for v in members(view.told.every & ~(roots or 0))]
        mechanisms: dict[str, Any] = object_schema(dict.fromkeys(names, text))
        if roots is None:
            mechanisms = {"type": "object", "additionalProperties": text}
            listed = {"type": "array", "items": text}
            return object_schema({"roots": listed, "mechanisms": mechanisms})
        if episode.lab is not None:
            settings = {"type": "object", "additionalProperties": text}
            either = [
                object_schema({"experiment": settings}),
                object_schema({"mechanisms": mechanisms}),
            ]
            return {"anyOf": either} if episode.left else either[1]
        if view.task == "induce":
            return object_schema({"mechanisms": mechanisms})
        bit: Json = {"type": "integer", "enum": [0, 1]}
        rooted = object_schema(dict.fromkeys((view.names[v] for v in members(roots)), bit))
        difference = object_schema({"variable": text, "reference": bit, "alternative": bit})
        return object_schema(
            {
                "alternative": object_schema({"mechanisms": mechanisms}),
                "experiment": object_schema(
                    {"type": text, "assignments": {"type": "object", "additionalProperties": bit}}
                ),
                "witness": object_schema(
                    {
                        "rootAssignment": rooted,
                        "differences": {"type": "array", "items": difference},
                    }
                ),
            }
        )
