"""Actions and observations: the agent reads one document and submits one graph."""

from __future__ import annotations

import json

from whybench import CANARY
from whybench.episode.action import Action, ActionSpec, Argument
from whybench.episode.episode import ANSWERED, INVALID_ACTION, INVALID_ANSWER, Episode
from whybench.episode.instance import Instance
from whybench.episode.observation import OK, Observation
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
        return SPECS

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
        """Return the part that is the same for every document of a suite."""
        return paragraphs(words.say("rules"), words.say(f"names_{self._names}"), CANARY)

    def document(self, words: PromptTemplate) -> str:
        """Return the text between two marker lines."""
        text = self.world.view.text
        mark = MARK
        while mark in text:
            mark += MARK[0]
        return words.say("document", text=text, mark=mark)

    def form(self, words: PromptTemplate) -> str:
        """Return the number of nodes, their names if they are given, and how to answer."""
        view = self.world.view
        listed = "\n".join(f"{k}: {name}" for k, name in enumerate(view.nodes, 1))
        return words.say(f"answer_{self._names}", count=view.count, nodes=listed)

    def describe(self, observation: Observation, template: str) -> str:
        """Return an observation in words."""
        words = template_named(template)
        if observation.is_error:
            reason = observation.data.get("reason", "the episode is over")
            return words.say("error", reason=reason)
        return words.say("end")

    @property
    def _names(self) -> str:
        return self.world.view.names


SPECS = (
    ActionSpec(
        "submit",
        "Hand in the graph. If it is valid, this ends the task.",
        (
            Argument(
                "answer",
                "the graph, as one JSON text: "
                + json.dumps({"relationships": [{"source": "…", "sink": "…"}]}, ensure_ascii=False),
            ),
        ),
        final=True,
    ),
)
