"""The rules of an episode: read or fetch trials, run your own in a laboratory, and answer."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache

from whybench import CANARY
from whybench.causal.canonical import Json, Record
from whybench.causal.seeds import Stream
from whybench.causal.version_space import MOST_HELD, outcome
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
from whybench.episode.prompts.template import PromptTemplate, paragraphs
from whybench.episode.trace import Evidence
from whybench.families.prism.prompts.surface import (
    Surface,
    numbers,
    rules,
    surface_of,
    template_named,
)
from whybench.families.prism.submission import Submission, SubmissionError, read, shown
from whybench.families.prism.world.questions import design_of
from whybench.families.prism.world.world import ANSWERS, Trial, Values, World

OPEN = Action.of("open_record")
"""The step with which an episode begins whose trials are fetched."""


class PrismEpisode(Episode):
    """Trials of a hidden system, and one question with the answers yes, no and cannot.

    Without a laboratory the trials are given in the prompt, or fetched one by one. In a laboratory
    the agent runs trials of its own after the shown ones.
    """

    __slots__ = ("_fetched", "_own", "submission", "world")

    def __init__(self, instance: Instance, world: World, max_errors: int) -> None:
        super().__init__(instance, max_errors)
        self.world = world
        self.submission: Submission | None = None
        """The answer, once it was accepted."""
        self._fetched = 0
        self._own: tuple[Trial, ...] = ()
        if world.lab is None:
            self.evidence = "given"

    def give(self, actions: Sequence[Action], evidence: Evidence) -> None:
        """Run experiments for the agent, or open the record from which it fetches trials."""
        if self.world.lab is not None and evidence in ("given", "fetched"):
            raise ValueError("A laboratory has no record. Use own, optimal or yoked.")
        self.evidence = "own"
        super().give([OPEN] if evidence == "fetched" else actions, evidence)

    @property
    def seen(self) -> tuple[Trial, ...]:
        """The trials that the agent has seen."""
        if self.evidence == "fetched":
            return self.world.trials[: self._fetched]
        return (*self.world.trials, *self._own)

    @property
    def left(self) -> int:
        """How many trials the agent may still run."""
        return 0 if self.world.lab is None else self.world.lab.budget - len(self._own)

    @property
    def justify(self) -> bool:
        """Whether a justification is asked for; in a laboratory the trials are one."""
        return self.world.lab is None and bool(self.instance.parameters.get("justify", False))

    @property
    def actions(self) -> tuple[ActionSpec, ...]:
        """`answer`, and `next` or `try` where trials are fetched or run."""
        return action_specs(self.mode, self.justify)

    @property
    def mode(self) -> str:
        """How the agent gets trials: `given`, `fetched` or `lab`."""
        if self.world.lab is not None and self.evidence == "own":
            return "lab"
        return "fetched" if self.evidence == "fetched" else "given"

    def _is_left(self, action: Action) -> bool:
        return self.evidence == "own" or any(spec.name == action.name for spec in self.actions)

    def _carry_out(self, action: Action) -> Observation:
        if action.name == "answer":
            return self._answer(action)
        if action.name == "next" and self.evidence == "fetched":
            return self._next()
        if action.name == "try" and self.world.lab is not None:
            return self._try(action)
        if action == OPEN and self.world.lab is None and self.evidence == "own":
            return Observation(OK)
        return Observation.refused(INVALID_ACTION, f"there is no action {shown(action.name)}")

    def _answer(self, action: Action) -> Observation:
        names = numbers(self.instance, self.world.n) if action.args.get("systems") else {}
        try:
            self.submission = read(action.args, self.world.space, names, len(self.seen))
        except SubmissionError as error:
            return Observation.refused(INVALID_ANSWER, str(error))
        self.outcome = ANSWERED
        return Observation(OK)

    def _next(self) -> Observation:
        if self._fetched == len(self.world.trials):
            return Observation(OK, Record.of(trial=None))
        self._fetched += 1
        return self._sight()

    def _try(self, action: Action) -> Observation:
        if self.left == 0:
            self.outcome = TIMEOUT
            return Observation.refused(TIMEOUT, "all trials of your own are used up")
        try:
            trial = self._run(action)
        except ValueError as error:
            return Observation.refused(INVALID_ACTION, str(error))
        self._own = (*self._own, trial)
        return self._sight()

    def _run(self, action: Action) -> Trial:
        """Return the trial that an action asks for; raise ValueError if it is not allowed."""
        world, lab = self.world, self.world.lab
        inputs, held = (self._values(action, name) for name in ("inputs", "held"))
        if lab is None or inputs.keys() != {*range(world.roots)}:
            raise ValueError("`inputs` must give 0 or 1 for each input and for nothing else")
        if not held.keys() <= {*lab.holdable} or len(held) > MOST_HELD:
            raise ValueError(f"`held` may name at most {MOST_HELD} of those that may be held")
        told: Values = tuple(sorted(held.items()))
        design = design_of([inputs[v] for v in range(world.roots)], told)
        coin = Stream("prism", "coin", self.instance.stream_seed, self.instance.suite,
                      self.instance.index, len(self._own))  # fmt: skip
        row = outcome(world.space, world.truth, design, coin.below(1 + world.hidden_inputs))
        return Trial.of(world.space, row)

    def _values(self, action: Action, name: str) -> dict[int, int]:
        """Return an argument as variable → value; raise ValueError if it cannot be read."""
        text = action.args.get(name) or "{}"
        problem = ValueError(f"`{name}` must be a JSON object of names and values, 0 or 1")
        try:
            given: Json = json.loads(text[:2000]) if isinstance(text, str) else None
        except (ValueError, RecursionError) as error:
            raise problem from error
        names = numbers(self.instance, self.world.n)
        if not isinstance(given, dict) or not all(
            key.strip().casefold() in names and x in (0, 1) for key, x in given.items()
        ):
            raise problem
        return {names[key.strip().casefold()]: int(x) for key, x in given.items()}

    def _sight(self) -> Observation:
        """Return the last trial, in the names of the default surface."""
        trial, plain = self.seen[-1], surface_of(self.instance, self.world.n, "table")
        held = dict(trial.held)
        return Observation(OK, Record.of(
            trial=len(self.seen),
            values=Record((plain.names[v], trial.values[v]) for v in plain.order),
            held=tuple(plain.names[v] for v in plain.order if v in held),
        ))  # fmt: skip

    # Words.

    def surface(self, template: str) -> Surface:
        """Return the words of this instance in a template."""
        return surface_of(self.instance, self.world.n, template)

    def instructions(self, template: str) -> str:
        """Return the rules, the trials, the question, and how to answer."""
        words = template_named(template)
        return paragraphs(self.rules(words), self.situation(template), self.how("tools", words))

    def rules(self, words: PromptTemplate) -> str:
        """Return what is the same for all problems of a suite."""
        return paragraphs(rules(words, self.world), CANARY)

    def situation(self, template: str) -> str:
        """Return the names, the trials that are shown, and the question."""
        surface, world = self.surface(template), self.world
        say = surface.words.say
        parts = [surface.things(world)]
        if self.mode == "fetched":
            parts.append(say("record", count=len(world.trials)))
        else:
            parts.append(surface.shown(self.seen))
        parts.append(surface.question(world))
        if world.lab is not None:
            parts.insert(2, say("lab", budget=world.lab.budget,
                                holdable=surface.listed(world.lab.holdable)))  # fmt: skip
        return paragraphs(*parts)

    def how(self, passage: str, words: PromptTemplate) -> str:
        """Return how to answer: by tools (`tools`) or in JSON (`form`)."""
        surface = self.surface(words.name)
        driven = [v for v in surface.order if v >= self.world.roots]
        first, second = surface.names[driven[0]], surface.names[driven[1]]
        inputs = [surface.names[v] for v in surface.order if v < self.world.roots]
        trial = {"inputs": dict.fromkeys(inputs, 1), "held": {self._holdable(surface): 0}}
        filled = {
            "inputs_example": json.dumps(trial["inputs"]),
            "held_example": json.dumps(trial["held"]),
            "try": json.dumps({"try": trial}),
        }
        said = [words.say(passage if self.mode == "given" else f"{passage}_{self.mode}", **filled)]
        said.append(words.say("answer"))
        if self.justify or self.mode == "lab":
            said.append(words.say("code"))
        if self.justify:
            named = f" {words.say('named')}" if self.world.hidden_inputs else ""
            example = json.dumps({first: f"(and {inputs[0]} (not {second}))", second: inputs[1]})
            said.append(words.say("justify", named=named, example=example))
        return " ".join(part for part in said if part)

    def _holdable(self, surface: Surface) -> str:
        lab = self.world.lab
        return surface.names[self.world.roots if lab is None else lab.holdable[0]]

    def describe(self, observation: Observation, template: str) -> str:
        """Return an observation in words."""
        surface = self.surface(template)
        say = surface.words.say
        if observation.is_error:
            return say("error", reason=observation.data.get("reason", "the episode is over"))
        if self.done:
            return say("end")
        number = observation.data.get("trial")
        if number is None:
            return say("no_more")
        told = surface.shown(self.seen[number - 1 : number], number)
        return paragraphs(told, say("left", left=self.left) if self.mode == "lab" else "")


@cache
def action_specs(mode: str, justify: bool) -> tuple[ActionSpec, ...]:
    """Return the kinds of action; the words are the same in all surfaces."""
    verdict = {"type": "string", "enum": ANSWERS}
    likely = {"type": "number", "minimum": 0, "maximum": 1}
    arguments = [
        Argument("answer", "yes, no or cannot", schema=verdict),
        Argument("probability", "how likely the answer yes is, from 0 to 1", True, likely),
    ]
    if justify:
        forced = {"type": "array", "items": {"type": "integer"}}
        formulas = {"type": "object", "additionalProperties": {"type": "string"}}
        pair = {"type": "array", "items": formulas}
        arguments += [
            Argument("trials", "with yes or no: the trials that force it", True, forced),
            Argument("systems", "with cannot: two systems, name to formula", True, pair),
        ]
    final = ActionSpec("answer", "Answer the question. This ends the task.", tuple(arguments), True)
    if mode == "fetched":
        return ActionSpec("next", "Read the next trial of the record."), final
    if mode == "lab":
        values = {"type": "object", "additionalProperties": {"type": "integer", "enum": [0, 1]}}
        objects = (
            Argument("inputs", "each input and its value, 0 or 1", schema=values),
            Argument("held", "held names and their values, 0 or 1", True, values),
        )
        return ActionSpec("try", "Run a trial of your own and see its result.", objects), final
    return (final,)
