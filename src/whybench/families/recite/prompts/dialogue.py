"""An episode as a dialogue: the document, and one graph in JSON."""

from __future__ import annotations

import json

from whybench.causal.canonical import Json
from whybench.episode.action import Action
from whybench.episode.prompts.dialogue import JsonDialogue
from whybench.episode.prompts.template import paragraphs
from whybench.families.recite.agents.strategies import answer_text
from whybench.families.recite.answer import AnswerError, find, read
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
        if self._last is not None:
            return self._again()
        return paragraphs(
            self._episode.document(self._template), self._episode.form(self._template)
        )

    def _read(self, text: str) -> Action:
        """Take the last graph in a reply, or the whole reply under the rules of the release."""
        if self._episode.world.view.released:
            return Action.of("submit", answer=text)
        found = find(text)
        if found is None:
            return Action.malformed("there is no JSON object with `relationships` in the reply")
        action = Action.of("submit", answer=json.dumps(found.value))
        return action.read(strictly=found.strict)

    def broken(self, text: str) -> str | None:
        """Return the prompt for a second model that reformats a reply; None if none is needed."""
        view = self._episode.world.view
        found = find(text)
        if found is not None:
            try:
                read(view, found.value)
            except AnswerError:
                pass
            else:
                return None
        return repair.prompt(view, text)

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
