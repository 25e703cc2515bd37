"""An episode told in turns: the document, and one graph in JSON."""

from __future__ import annotations

import json
from typing import Literal

from whybench.core.canonical import Json
from whybench.episode.action import Action
from whybench.episode.conversation import Turn, object_schema
from whybench.episode.observation import Observation
from whybench.episode.skin import paragraphs
from whybench.families.recite import repair
from whybench.families.recite.agents import answer_text
from whybench.families.recite.answer import AnswerError, find, read
from whybench.families.recite.rules import ReciteEpisode, skin_named


class Dialogue:
    """Tells a ReCITE episode: one question, and once more if an answer is not valid."""

    def __init__(self, episode: ReciteEpisode, skin: str) -> None:
        self._episode = episode
        self._skin = skin_named(skin)
        self._last: Observation | None = None

    @property
    def system(self) -> str:
        """The rules."""
        return self._episode.rules(self._skin)

    def turn(self) -> Turn | None:
        """Return the document, or why the last reply was not taken; None at the end."""
        episode = self._episode
        if episode.done:
            return None
        if self._last is None:
            prompt = paragraphs(episode.document(self._skin), episode.form(self._skin))
        else:
            reason = self._last.data["reason"]
            prompt = f"{self._skin.say('error', reason=reason)} {self._skin.say('again')}"
        return Turn(prompt, "graph", self._schema())

    def reply(self, text: str) -> None:
        """Take a reply: the last graph in it, or all of it where the release wants no more."""
        if self._episode.world.view.released:
            action = Action.of("submit", answer=text)
        else:
            action = self._found(text)
        self._last = self._episode.step(action)

    def _found(self, text: str) -> Action:
        found = find(text)
        if found is None:
            return Action.malformed("there is no JSON object with `relationships` in the reply")
        form: Literal["strict", "lenient"] = "strict" if found.strict else "lenient"
        return Action("submit", Action.of("submit", answer=json.dumps(found.value)).args, form)

    def broken(self, text: str) -> str | None:
        """Return what to ask a second model to put a reply into form; None if it needs none."""
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
        """Take a reply as a second model put it into form, unless that invents anything."""
        view = self._episode.world.view
        try:
            repaired = repair.accept(view, text, by_second)
        except ValueError:
            self.reply(text)
            return
        text = answer_text(view, repaired.edges)
        args = Action.of("submit", answer=text, repaired=True).args
        self._last = self._episode.step(Action("submit", args, "lenient"))

    def say(self, action: Action) -> tuple[str, bool]:
        """Put an action into the words that a reply is made of."""
        return str(action.args["answer"]), True

    def _schema(self) -> Json:
        """Return the JSON schema of a reply."""
        view = self._episode.world.view
        end: Json = {"type": "string"}
        if view.names == "told":
            end = {"type": "integer", "minimum": 1, "maximum": view.count}
        arrow = object_schema({"source": end, "sink": end})
        return object_schema({"relationships": {"type": "array", "items": arrow}})
