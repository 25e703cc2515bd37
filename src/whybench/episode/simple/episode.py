"""An episode of declared experiments and one answer, in the words of a template."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from importlib.resources import files
from itertools import product
from math import prod
from typing import Any, Generic, TypeVar

from whybench import CANARY
from whybench.causal.canonical import EMPTY, Json, Record, thaw
from whybench.episode.action import TEXT, Action, ActionSpec, Argument, parse_call
from whybench.episode.declaration import declared
from whybench.episode.episode import ANSWERED, INVALID_ACTION, INVALID_ANSWER, Episode
from whybench.episode.instance import Instance
from whybench.episode.observation import OK, Observation
from whybench.episode.prompts.conversation import object_schema
from whybench.episode.prompts.dialogue import JsonDialogue
from whybench.episode.prompts.extraction import json_objects
from whybench.episode.prompts.template import (
    PromptTemplate,
    load_templates,
    paragraphs,
    read_template,
)

World = TypeVar("World")


class SimpleEpisode(Episode, Generic[World]):
    """An episode with one method for each experiment that `family.toml` declares in `actions`.

    The experiment `flip` runs the method `do_flip`, which takes the declared arguments
    as texts and returns a `Record` of what is seen, or an `Observation.refused`. It is called only
    with legal values (`choices`) and within the `budget`. The final action has one argument,
    `answer`.

    A template must have the passages `rules`, filled with `words()`, and `observation`, filled with
    what is seen. Other passages have a default, which a template may replace (`passages.md`).

    >>> class LampEpisode(SimpleEpisode[str]):
    ...     @property
    ...     def right(self) -> str:
    ...         return self.world
    ...
    ...     def do_flip(self, switch: str) -> Record:
    ...         return Record.of(switch=switch, lamp="on" if switch == self.world else "off")
    >>> instance = Instance("lamp", "1", "core", "certified", "public", 0)
    >>> LampEpisode(instance, "left", 3).do_flip("right").asdict()
    {'switch': 'right', 'lamp': 'off'}
    """

    def __init__(self, instance: Instance, world: World, max_errors: int) -> None:
        super().__init__(instance, max_errors)
        self.world = world
        """The hidden system."""
        self.used = 0
        """Experiments so far."""
        self.answer: str | None = None
        """The answer, once it is given."""

    @property
    @abstractmethod
    def right(self) -> str:
        """The right answer."""

    @property
    def budget(self) -> int:
        """How many experiments are allowed: by default as many as there are different ones."""
        return sum(prod(map(len, legal)) for _, legal in self._experiments())

    def choices(self, argument: str) -> Sequence[str] | None:  # noqa: ARG002 - may be any text
        """Return the legal values of an argument, in an order that does not reveal the truth.

        Args:
            argument: The name of an argument of some action.

        Returns:
            The values; None if any text is legal.

        """
        return None

    def words(self) -> Mapping[str, object]:
        """Return the values of the placeholders in the passage `rules`.

        Returns:
            Placeholder → value: by default `budget`, and for every argument its legal values.

        """
        specs = declared_actions(_package(self))
        names = dict.fromkeys(one.name for spec in specs for one in spec.arguments)
        return {"budget": self.budget} | {n: ", ".join(self.choices(n) or ()) for n in names}

    def experiments(self) -> list[Action]:
        """Return all legal experiments.

        Returns:
            The actions, in the order of `family.toml` and of `choices`.

        """
        return [
            Action.of(
                spec.name, **{one.name: v for one, v in zip(spec.arguments, values, strict=True)}
            )
            for spec, legal in self._experiments()
            for values in product(*legal)
        ]

    def _experiments(self) -> Iterator[tuple[ActionSpec, list[Sequence[str]]]]:
        """Yield each kind of experiment, with the legal values of its arguments."""
        for spec in declared_actions(_package(self)):
            legal = [self.choices(one.name) for one in spec.arguments]
            if not spec.final:
                if None in legal:
                    raise TypeError(
                        f"An argument of {spec.name!r} may be any text, so experiments cannot be "
                        "listed: override `budget` in the episode, and `exact` and `certify`."
                    )
                yield spec, [one or () for one in legal]

    @property
    def actions(self) -> tuple[ActionSpec, ...]:
        """The declared actions; only the final one once evidence is given.

        The legal values of an argument (`choices`) are its enumeration.
        """
        package = _package(self)
        names = (one.name for spec in declared_actions(package) for one in spec.arguments)
        legal = tuple((name, self.choices(name)) for name in names)
        specs = _with_choices(package, tuple((n, tuple(v)) for n, v in legal if v is not None))
        return specs if self.evidence == "own" else tuple(spec for spec in specs if spec.final)

    def _carry_out(self, action: Action) -> Observation:
        spec = next((spec for spec in self.actions if spec.name == action.name), None)
        if spec is None:
            return Observation.refused(INVALID_ACTION, "there is no such action")
        code = INVALID_ANSWER if spec.final else INVALID_ACTION
        args = {one.name: action.args.get(one.name) for one in spec.arguments}
        for name, value in args.items():
            legal = self.choices(name)
            if not isinstance(value, str) or (legal is not None and value not in legal):
                expected = "a text" if legal is None else f"one of: {', '.join(legal)}"
                return Observation.refused(code, f"`{name}` must be {expected}")
        if spec.final:
            return self._finish(args["answer"])
        if self.used >= self.budget:
            return Observation.refused(code, f"all {self.budget} experiments are used up")
        experiment = getattr(self, f"do_{spec.name}", None)
        if experiment is None:
            raise NotImplementedError(
                f"family.toml declares the action {spec.name!r}. Write the method `do_{spec.name}`."
            )
        seen: Record | Observation = experiment(**args)
        if isinstance(seen, Record):
            self.used += 1
            return Observation(OK, seen)
        return seen

    def _finish(self, answer: str) -> Observation:
        """Take an answer; override this to reject one that `choices` cannot list."""
        self.answer, self.outcome = answer, ANSWERED
        return Observation(OK, EMPTY)

    def template(self, name: str) -> PromptTemplate:
        """Return a template of the family, with the default passages that it does not replace.

        Args:
            name: The name of the template.

        Returns:
            The template.

        """
        return _template(_package(self), name)

    def rules(self, template: str) -> str:
        """Return the rules, and any evidence that was given.

        Args:
            template: The name of the template.

        Returns:
            The text; the canary is part of it.

        """
        words, record = self.template(template), ""
        if self.evidence_given is not None:
            shown = [self.describe(step.observation, template) for step in self.evidence_given]
            record = words.say("given", record="\n".join(shown) or "(none)")
        return paragraphs(words.say("rules", **self.words()), CANARY, record)

    def instructions(self, template: str) -> str:
        """Return the instructions of an agent that calls tools.

        Args:
            template: The name of the template.

        Returns:
            The text.

        """
        return paragraphs(self.rules(template), self.template(template).say("tools"))

    def describe(self, observation: Observation, template: str) -> str:
        """Return an observation in the words of a template.

        Args:
            observation: What came of an action.
            template: The name of the template.

        Returns:
            The text.

        """
        words = self.template(template)
        if observation.is_error:
            return words.say("error", reason=observation.data.get("reason", "it is over"))
        return words.say("end" if self.done else "observation", **observation.data.asdict())


class SimpleDialogue(JsonDialogue[SimpleEpisode[Any]]):
    """A simple episode in turns of text: each reply is one JSON object that names an action."""

    _kind = "action"

    def find_template(self, name: str, /) -> PromptTemplate:
        """Return a template of the episode's family."""
        return self._episode.template(name)

    @property
    def system(self) -> str:
        """The rules, and any evidence that was given."""
        return self._episode.rules(self._template.name)

    def _prompt(self) -> str:
        """Say what the last action showed, and ask for the next."""
        forms = [
            json.dumps({"action": spec.name} | {one.name: "..." for one in spec.arguments})
            for spec in self._episode.actions
        ]
        ask = self._template.say("turn", forms=" or ".join(forms))
        last = self._last
        seen = "" if last is None else self._episode.describe(last, self._template.name)
        return paragraphs(seen, ask)

    def _schema(self) -> Json:
        return _schema(self._episode.actions)

    def _read(self, text: str) -> Action:
        """Read the first JSON object in a reply that names an action."""
        said = next((one.value for one in json_objects(text) if "action" in one.value), None)
        if said is None:
            return Action.malformed("no JSON object with `action` in the reply")
        return parse_call(said["action"], {k: v for k, v in said.items() if k != "action"})

    def say(self, action: Action) -> tuple[str, bool]:
        """Return the reply that asks for an action."""
        return json.dumps({"action": action.name} | action.args.asdict()), True


def _schema(specs: tuple[ActionSpec, ...]) -> Json:
    """Return the schema of a call; an argument that not every action has may be null."""
    everywhere = set.intersection(*({a.name for a in s.arguments if not a.optional} for s in specs))
    kinds: dict[str, dict[Record, None]] = {}
    for argument in (a for spec in specs for a in spec.arguments):
        kinds.setdefault(argument.name, {})[argument.schema] = None
    called: dict[str, Json] = {"type": "string", "enum": [spec.name for spec in specs]}
    properties: dict[str, Json] = {"action": called}
    for name, schemas in kinds.items():
        either: list[Json] = [thaw(schema) for schema in schemas]
        either += [] if name in everywhere else [{"type": "null"}]
        properties[name] = either[0] if len(either) == 1 else {"anyOf": either}
    return object_schema(properties)


@cache
def declared_actions(package: str) -> tuple[ActionSpec, ...]:
    """Return the actions that `family.toml` in a family's package declares, in their order."""
    return tuple(
        ActionSpec(
            one["name"],
            one["meaning"],
            tuple(_argument(name, told) for name, told in one.get("arguments", {}).items()),
            one.get("final", False),
        )
        for one in declared(package)["actions"]
    )


def _argument(name: str, told: str | Mapping[str, Any]) -> Argument:
    """Return an argument that is declared by its meaning, or by `meaning` and `schema`."""
    return Argument(name, told) if isinstance(told, str) else Argument(name, **told)


@lru_cache(maxsize=1024)
def _with_choices(
    package: str, legal: tuple[tuple[str, tuple[str, ...]], ...]
) -> tuple[ActionSpec, ...]:
    """Return the declared actions with the legal values of arguments that are texts."""
    values = dict(legal)

    def typed(one: Argument) -> Argument:
        if one.name not in values or one.schema != TEXT:
            return one
        return replace(one, schema={"type": "string", "enum": values[one.name]})

    return tuple(
        replace(spec, arguments=tuple(map(typed, spec.arguments)))
        for spec in declared_actions(package)
    )


@cache
def _template(package: str, name: str) -> PromptTemplate:
    shipped = files("whybench.episode.simple") / "passages.md"
    default = read_template("simple", lambda _: shipped.read_text("utf-8"))
    return PromptTemplate(name, {**default.passages, **load_templates(package)(name).passages})


def _package(episode: SimpleEpisode[Any]) -> str:
    return type(episode).__module__.rpartition(".")[0]
