"""The rules of an episode: actions and observations."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from whybench import CANARY
from whybench.causal.canonical import Record
from whybench.causal.graph import members
from whybench.episode.action import Action, ActionSpec, Argument
from whybench.episode.episode import (
    ANSWERED,
    INVALID_ACTION,
    INVALID_ANSWER,
    TIMEOUT,
    Episode,
)
from whybench.episode.instance import Instance
from whybench.episode.observation import OK, Observation
from whybench.episode.prompts.template import PromptTemplate, load_templates, paragraphs
from whybench.families.causallink.prompts.theme import Theme, read_theme
from whybench.families.causallink.world.world import State, View, World

template_named = load_templates("whybench.families.causallink.prompts")


class LinkEpisode(Episode):
    """Start and stop entities, observe the whole state, then answer yes or no."""

    __slots__ = ("_seen", "applied", "state", "world")

    def __init__(self, instance: Instance, world: World, max_errors: int) -> None:
        super().__init__(instance, max_errors)
        self.world = world
        self.state: State = world.view.start
        self.applied = 0
        self._seen: dict[State, Observation] = {}

    @property
    def theme(self) -> Theme:
        """The theme of this instance."""
        return read_theme(self.world.view.theme)

    @property
    def left(self) -> int:
        """Number of interventions that are left."""
        return self.world.view.budget - self.applied

    @property
    def actions(self) -> tuple[ActionSpec, ...]:
        """Start, stop and answer in the theme's words; only answer if evidence is given."""
        view = self.world.view
        specs = action_specs(view.theme, view.answers, view.movable)
        return specs if self.evidence == "own" else specs[-1:]

    def _carry_out(self, action: Action) -> Observation:
        theme, view = self.theme, self.world.view
        if action.name == "answer":
            return self._answer(action)
        if action.name not in (theme.start, theme.stop):
            return self._unknown(f"there is no action {_shown(action.name)}")
        if self.left == 0:
            return self._too_late()
        named = action.args.get(theme.noun)
        v = view.find(named)
        if v is None:
            return self._unknown(f"there is no {theme.noun} {_shown(named)}")
        if view.fixed >> v & 1:
            return self._unknown(f"{view.names[v]} is out of reach")
        act = self.world.after_start if action.name == theme.start else self.world.after_stop
        self.state = act(self.state, v)
        self.applied += 1
        return self._see()

    def _answer(self, action: Action) -> Observation:
        answer = action.args.get("answer")
        answers = self.world.view.answers
        if not isinstance(answer, str) or answer.strip().casefold() not in answers:
            neither = f"neither {' nor '.join(answers)}"
            return Observation.refused(INVALID_ANSWER, f"{_shown(answer)} is {neither}")
        self.outcome = ANSWERED
        return Observation(OK)

    def _unknown(self, reason: str) -> Observation:
        """Reject an unknown word; it costs an intervention only under the released rules."""
        if self.released_rules:
            if self.left == 0:
                return self._too_late()
            self.applied += 1
        return Observation.refused(INVALID_ACTION, reason)

    def _too_late(self) -> Observation:
        self.outcome = TIMEOUT
        return Observation.refused(
            TIMEOUT, f"all {self.world.view.budget} interventions are used up"
        )

    def _is_fatal(self, error: Observation) -> bool:
        """Under the released rules, unknown words never end an episode; every other error does."""
        if self.released_rules:
            return error.code != INVALID_ACTION
        return super()._is_fatal(error)

    @property
    def released_rules(self) -> bool:
        """Whether errors follow the rules of the released code."""
        return self.instance.profile == "published"

    def _see(self) -> Observation:
        """Show the state; cached by state, to keep open episodes small."""
        observation = self._seen.get(self.state)
        if observation is None:
            observation = self._seen[self.state] = _sight(self.world.view.names, self.state)
        return observation

    # Words.

    def instructions(self, template: str) -> str:
        """Return rules, tools, the current state, and the question."""
        words = template_named(template)
        how = "tools" if self.evidence == "own" else "tools_given"
        return paragraphs(self.rules(words), self.situation(words), words.say(how, **self.words()))

    def rules(self, words: PromptTemplate) -> str:
        """Return the rules; they depend only on the theme, so that they can be cached."""
        given = self.words()
        return paragraphs(words.say("rules", **given), words.say("goal", **given), CANARY)

    def situation(self, words: PromptTemplate) -> str:
        """Return any given evidence, the current state, and the question."""
        given = self.words()
        record, budget = "", f" {words.say('budget', **given)}"
        if self.evidence != "own":
            budget = ""
            lines = [
                f"{i}. {step.action.name} {step.action.args[self.theme.noun]}: "
                f"{self.listing(step.observation.data['on'])}"
                for i, step in enumerate(self.evidence_given or (), 1)
            ]
            begin = self.listing(
                tuple(self.world.view.names[v] for v in members(self.world.view.start))
            )
            shown = "\n".join(lines) or "(none)"
            record = words.say("given", begin=begin, record=shown, **given)
        limited = words.say("limited", **given) if self.world.view.fixed else ""
        told = words.say("situation", budget=budget, limited=limited, **given)
        return paragraphs(record, *told.split("\n\n"))

    def describe(self, observation: Observation, template: str) -> str:
        """Return an observation in words."""
        words = template_named(template)
        if observation.is_error:
            reason = observation.data.get("reason", "the episode is over")
            return words.say("error", reason=reason, **self.words())
        if self.done:
            return words.say("end", **self.words())
        return words.say("state", **self.words())

    def words(self) -> dict[str, object]:
        """Return the current values of a template's placeholders."""
        view = self.world.view
        on = ", ".join(view.names[v] for v in members(self.state)) or "none"
        return {**_lasting_words(view), "left": self.left, "listing": self.listing(), "active": on}

    def listing(self, on: tuple[str, ...] | None = None) -> str:
        """Return every entity with its condition, in display order: now, or with these on."""
        view = self.world.view
        if on is None:
            state = self.state
            return ", ".join(
                [said[state >> v & 1] for v, said in enumerate(_conditions(view.theme, view.names))]
            )
        conditions = zip(view.names, _conditions(view.theme, view.names), strict=True)
        return ", ".join([said[name in on] for name, said in conditions])


@lru_cache(maxsize=1024)
def _lasting_words(view: View) -> dict[str, object]:
    """Return the words that stay the same in an instance; cached."""
    theme = read_theme(view.theme)
    return {
        "noun": theme.noun,
        "nouns": theme.nouns,
        "start": theme.start,
        "stop": theme.stop,
        "on": theme.on,
        "off": theme.off,
        "n": view.n,
        "all": ", ".join(view.names),
        "names": ", ".join(view.movable),
        "movable": ", ".join(view.movable),
        "answers": _listed(view.answers),
        "replies": _listed(f'{{"answer": "{word}"}}' for word in view.answers),
        "conditions": theme.conditions(view.names),
        "question": theme.ask(view.names[view.x], view.names[view.y]),
    }


@lru_cache(maxsize=1024)
def _conditions(theme: str, names: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """Return the text for each entity when it is off, and when it is on."""
    words = read_theme(theme)
    return tuple(
        (f"{name} {words.condition(name, False)}", f"{name} {words.condition(name, True)}")
        for name in names
    )


@lru_cache(maxsize=4096)
def _sight(names: tuple[str, ...], state: State) -> Observation:
    """Return the observation of a state; cached."""
    return Observation(OK, Record((("on", tuple(names[v] for v in members(state))),)))


@lru_cache(maxsize=1024)
def action_specs(
    name: str, answers: tuple[str, ...], movable: tuple[str, ...]
) -> tuple[ActionSpec, ...]:
    """Return the kinds of action in the words of a theme."""
    theme = read_theme(name)
    names = {"type": "string", "enum": movable}
    which = Argument(theme.noun, f"the name of one {theme.noun}", schema=names)
    verdict = {"type": "string", "enum": answers}
    return (
        ActionSpec(theme.start, f"Make a {theme.noun} {theme.on}.", (which,)),
        ActionSpec(theme.stop, f"Try to make a {theme.noun} {theme.off}.", (which,)),
        ActionSpec(
            "answer",
            "Answer the question. This ends the task.",
            (Argument("answer", _listed(answers), schema=verdict),),
            final=True,
        ),
    )


def _listed(words: Iterable[str]) -> str:
    *most, last = words
    return f"{', '.join(most)} or {last}"


def _shown(value: object) -> str:
    """Return what an agent sent, shortened for a reply."""
    text = value if isinstance(value, str) else repr(value)
    return repr(text[:40])
