"""An episode as a dialogue: the document, and one graph in JSON."""

from __future__ import annotations

import json

from whybench.causal.canonical import Json
from whybench.episode.action import Action
from whybench.episode.prompts.dialogue import JsonDialogue
from whybench.episode.prompts.template import paragraphs
from whybench.families.recite.agents.strategies import answer_text
from whybench.families.recite.answer import AnswerError, final_part, find, read, read_released
from whybench.families.recite.prompts import repair
from whybench.families.recite.rules import ReciteEpisode, graph_schema, template_named


class Dialogue(JsonDialogue[ReciteEpisode]):
    """A ReCITE episode as a dialogue: one question, repeated if an answer is invalid."""

    find_template = staticmethod(template_named)
    _kind = "graph"

    @property
    def system(self) -> str:
        """The rules."""
        return self._episode.rules(self._template)

    def _prompt(self) -> str:
        if self._last is not None and not self._asks_anew():
            return self._again()
        return paragraphs(
            self._episode.document(self._template), self._episode.form(self._template)
        )

    def _read(self, text: str) -> Action:
        """Take the last graph in a reply, or the whole reply under the rules of the release."""
        if self._episode.world.view.released:
            return Action.of("submit", answer=final_part(text))
        found = find(text)
        if found is None:
            return Action.malformed("there is no JSON object with `relationships` in the reply")
        action = Action.of("submit", answer=json.dumps(found.value))
        return action.read(strictly=found.strict)

    def broken(self, text: str) -> str | None:
        """Return the prompt for a second model that reformats a reply; None if none is needed."""
        view = self._episode.world.view
        try:
            if view.released:
                read_released(view, final_part(text))
            elif (found := find(text)) is not None:
                read(view, found.value)
            else:
                return repair.prompt(view, text)
        except AnswerError:
            return repair.prompt(view, text)
        return None

    def mended(self, text: str, by_second: str) -> None:
        """Accept a reply reformatted by a second model, unless it invents anything."""
        view = self._episode.world.view
        try:
            repaired = repair.accept(view, text, by_second)
        except ValueError:
            self.reply(text)
            return
        action = Action.of("submit", answer=answer_text(view, repaired.edges), repaired=True)
        self._last = self._episode.step(action.read(strictly=False))

    def _schema(self) -> Json:
        return graph_schema(self._episode.ids)
