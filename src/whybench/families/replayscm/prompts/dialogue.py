"""An episode as a dialogue: the problem and one JSON answer; in the laboratory, many replies."""

from __future__ import annotations

import json

from whybench.causal.canonical import Json
from whybench.episode.action import Action
from whybench.episode.prompts.conversation import object_schema
from whybench.episode.prompts.dialogue import JsonDialogue
from whybench.episode.prompts.extraction import json_objects
from whybench.episode.prompts.template import paragraphs
from whybench.families.replayscm.rules import ReplayEpisode, template_named
from whybench.families.replayscm.submission import answer_schema, extract


class Dialogue(JsonDialogue[ReplayEpisode]):
    """A ReplaySCM episode as a dialogue; an invalid answer may be corrected."""

    find_template = staticmethod(template_named)

    @property
    def system(self) -> str:
        """The rules."""
        return self._episode.rules(self._template)

    def _prompt(self) -> str:
        """Return the problem, or the result of the last reply."""
        if self._last is not None and self._last.is_error and not self._asks_anew():
            return self._again()
        episode = self._episode
        if self._last is None or self._asks_anew():
            told = episode.situation(self._template)
        else:
            told = episode.describe(self._last, self._template.name)
        return paragraphs(told, episode.form(self._template))

    def _read(self, text: str) -> Action:
        """Return the experiment in a reply if there is a laboratory, otherwise the answer."""
        return self._experiment(text) or self._answer(text)

    def _experiment(self, text: str) -> Action | None:
        """Return the experiment that a reply ends with; None if it ends with mechanisms."""
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
        return Action.of("submit", answer=found.text).read(strictly=found.strict)

    def say(self, action: Action) -> tuple[str, bool]:
        """Return an action in the form of a reply."""
        if action.name == "experiment":
            return f'{{"experiment": {action.args["setting"]}}}', True
        return super().say(action)

    def _schema(self) -> Json:
        """Return the JSON schema of a reply; in the laboratory it may be one of two."""
        episode, view = self._episode, self._episode.view
        answer = answer_schema(view.task, view.told, view.display)
        if not episode.left:
            return answer
        settings = {"type": "object", "additionalProperties": {"type": "string"}}
        return {"anyOf": [object_schema({"experiment": settings}), answer]}
