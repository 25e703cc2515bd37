"""Actions and observations: the agent reads one document and submits one graph."""

from __future__ import annotations

from functools import cache
from typing import Any

from whybench import CANARY
from whybench.causal.canonical import Json
from whybench.episode.action import Action, ActionSpec, Argument
from whybench.episode.episode import ANSWERED, INVALID_ACTION, INVALID_ANSWER, Episode
from whybench.episode.instance import Instance
from whybench.episode.observation import OK, Observation
from whybench.episode.prompts.conversation import object_schema
from whybench.episode.prompts.template import PromptTemplate, load_templates, paragraphs
from whybench.families.recite.answer import Answer, AnswerError, read, read_released
from whybench.families.recite.world.world import World

REPAIRED = "repaired"
"""Marks an answer that a second model reformatted."""

MARK = "=" * 20
"""The line before and after the document; longer if the document contains such a line."""

template_named = load_templates("whybench.families.recite.prompts")


class ReciteEpisode(Episode):
    """One episode: the agent reads a document and submits its causal graph."""

    __slots__ = ("answer", "world")

    def __init__(self, instance: Instance, world: World, max_errors: int) -> None:
        super().__init__(instance, max_errors)
        self.world = world
        self.answer: Answer | None = None
        """The submitted graph."""

    @property
    def actions(self) -> tuple[ActionSpec, ...]:
        """The only action, `submit`."""
        return action_specs(self.ids)

    @property
    def ids(self) -> int | None:
        """The number of nodes if an answer names them by ids; None if it names them by texts."""
        return self.world.view.count if self._names == "told" else None

    def _carry_out(self, action: Action) -> Observation:
        if action.name != "submit":
            return Observation.refused(INVALID_ACTION, f"there is no action {action.name[:40]!r}")
        taken = read_released if self.world.view.released else read
        try:
            self.answer = taken(self.world.view, action.args.get("answer"))
        except AnswerError as error:
            return Observation.refused(INVALID_ANSWER, str(error), stage=error.stage)
        self.outcome = ANSWERED
        return Observation(OK)

    # Words.

    def instructions(self, template: str) -> str:
        """Return rules, the document, and how to answer."""
        words = template_named(template)
        return paragraphs(
            self.rules(words), self.document(words), self.form(words), words.say("tools")
        )

    def rules(self, words: PromptTemplate) -> str:
        """Return what comes before the document: in most templates the same for a whole suite."""
        names = self._say(words, f"names_{self._names}", **self._nodes())
        return paragraphs(self._say(words, "rules"), names, CANARY)

    def document(self, words: PromptTemplate) -> str:
        """Return the text between two marker lines."""
        text = self.world.view.text
        mark = MARK
        while mark in text:
            mark += MARK[0]
        return words.say("document", text=text, mark=mark)

    def form(self, words: PromptTemplate) -> str:
        """Return the number of nodes, their names if they are given, and how to answer."""
        return self._say(words, f"answer_{self._names}", **self._nodes())

    def _nodes(self) -> dict[str, object]:
        view = self.world.view
        listed = "\n".join(f"{k}: {name}" for k, name in enumerate(view.nodes, 1))
        return {"count": view.count, "nodes": listed}

    def describe(self, observation: Observation, template: str) -> str:
        """Return an observation in words."""
        words = template_named(template)
        if observation.is_error:
            reason = observation.data.get("reason", "the episode is over")
            return words.say("error", reason=reason)
        return words.say("end")

    def _say(self, words: PromptTemplate, passage: str, **filled: object) -> str:
        """Return a passage; published texts have some of their own, unless these are empty."""
        own = f"{passage}_texts"
        by_others = self.instance.parameters.get("data") is not None and words.passages.get(own)
        return words.say(own if by_others else passage, **filled)

    @property
    def _names(self) -> str:
        return self.world.view.names


def graph_schema(ids: int | None) -> dict[str, Any]:
    """Return the JSON schema of a graph: of ids from 1 to a number, or of names."""
    end: Json = {"type": "string"}
    if ids is not None:
        end = {"type": "integer", "minimum": 1, "maximum": ids}
    arrow = object_schema({"source": end, "sink": end})
    return object_schema({"relationships": {"type": "array", "items": arrow}})


@cache
def action_specs(ids: int | None) -> tuple[ActionSpec, ...]:
    """Return the only kind of action."""
    answer = Argument("answer", "the graph", schema=graph_schema(ids))
    meaning = "Hand in the graph. If it is valid, this ends the task."
    return (ActionSpec("submit", meaning, (answer,), final=True),)
