"""A small family that can be told to leak, in one way at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from pydantic import BaseModel

from whybench.causal.canonical import Json, Record
from whybench.causal.seeds import Stream
from whybench.episode.action import Action, ActionSpec, Argument
from whybench.episode.annotated import AnnotatedEpisode, Arrow
from whybench.episode.certificate import Certificate
from whybench.episode.episode import Episode, Moves
from whybench.episode.family import Family, Suite
from whybench.episode.hooks import Fingerprint
from whybench.episode.instance import Instance
from whybench.episode.observation import Observation
from whybench.episode.prompts.conversation import Turn
from whybench.episode.score import Metric, Score
from whybench.episode.trace import Trace

NAMES = ("amber", "blue", "coral", "dun", "ecru", "fawn")


@dataclass(frozen=True)
class Chain:
    """Quantities in causal order, and whether the asked one is in the first half."""

    order: tuple[str, ...]
    shown: tuple[str, ...]
    decimals: tuple[int, ...]
    answer: str


class ToyEpisode(Episode):
    """Look, then answer yes or no."""

    def __init__(self, instance: Instance, world: Chain, leak: str) -> None:
        super().__init__(instance, 3)
        self.world, self.leak = world, leak
        self.said: str | None = None

    @property
    def actions(self) -> tuple[ActionSpec, ...]:
        hint = self.world.answer if self.leak == "tools" else "yes or no"
        answer = ActionSpec("answer", "Answer.", (Argument("answer", hint),), final=True)
        return ActionSpec("look", "Look.", ()), answer

    def instructions(self, template: str) -> str:
        hint = f"It is {self.world.answer}." if self.leak == "look_alikes" else "Is it?"
        numbers = [f"{7:.{n}f}" for n in self.world.decimals]
        return f"{' | '.join(self.world.shown)}\n{' | '.join(numbers)}\n{hint}"

    def describe(self, observation: Observation, template: str) -> str:
        return observation.code

    def _carry_out(self, action: Action) -> Observation:
        if action.name == "look":
            return Observation("ok", Record.of(answer=self.world.answer))
        self.said, self.outcome = str(action.args.get("answer")), "answered"
        return Observation("ok")


class ToyTalk:
    """One turn per action, with the name of the action and its argument."""

    def __init__(self, episode: ToyEpisode, template: str) -> None:
        self.episode, self.template, self.system = episode, template, "toy"

    def turn(self) -> Turn | None:
        told = self.episode.instructions(self.template)
        return None if self.episode.done else Turn(told, "move", {})

    def reply(self, text: str) -> None:
        name, _, argument = text.partition(" ")
        if argument == "no" and self.episode.leak == "deaf":
            argument = "yes"
        self.episode.step(Action.of(name, **({"answer": argument} if argument else {})))

    def say(self, action: Action) -> tuple[str, bool]:
        return " ".join([action.name, *map(str, action.args.asdict().values())]), True


class Parameters(BaseModel):
    """None."""


class Toy(Family[Chain]):
    """A chain of six quantities, and a question."""

    name = "toy"
    version = "1"
    summary = "a toy"
    suites: ClassVar = {"one": "toys", "fixed": "the same toys under every seed"}
    templates = ("plain",)
    protocols = ("dialogue",)
    agents: ClassVar = {"null": "yes", "random": "either", "exact": "looks", "oracle": "knows"}
    metrics = (Metric("right", "the answer is right"),)
    headline = "right"
    floor_ceiling: ClassVar = {"null": 0.6, "random": 0.6}
    parameters: ClassVar = {}
    audit: ClassVar = {"zero": 0.55, "few": 0.55, "gap": 0.35}
    parameter_model = Parameters
    prompts = ToyTalk

    def __init__(self, leak: str = "") -> None:
        self.leak = leak

    def build(self, instance: Instance) -> Chain:
        seed = "fixed" if instance.suite == "fixed" else instance.stream_seed
        stream = Stream("toy", seed, instance.index)
        order = tuple(stream.shuffled(NAMES))
        shown = order if self.leak == "order" else tuple(stream.shuffled(NAMES))
        roots = {order[0], order[1]}
        decimals = tuple(0 if self.leak == "formats" and n in roots else 2 for n in shown)
        answer = stream.choice(("yes", "no"))
        if self.leak == "ids":
            answer = ("yes", "no")[instance.index % 2]
        if self.leak == "sequence":  # pairs of opposite answers
            first = Stream("toy-pair", seed, instance.index // 2).choice((0, 1))
            answer = ("yes", "no")[first ^ (instance.index % 2)]
        return Chain(order, shown, decimals, answer)

    def fingerprint(self, world: Chain) -> Fingerprint:
        content: Json = [list(world.order), list(world.shown), world.answer]
        return Fingerprint(content, content)

    def open_world(self, instance: Instance, world: Chain) -> ToyEpisode:
        return ToyEpisode(instance, world, self.leak)

    def look_alikes(self, instance: Instance) -> Iterator[Episode]:
        world = self.world(instance)
        other = "no" if world.answer == "yes" else "yes"
        yield self.open_world(instance, replace(world, answer=other))

    def certify(self, instance: Instance) -> Certificate:
        return Certificate(
            instance=instance.id,
            hypotheses="toys",
            status="proven",
            solvable=True,
            identified=True,
            best_score=0.5 if self.leak == "certificate" else 1.0,
        )

    def score_episode(self, episode: Any) -> Score:
        right = float(episode.said == episode.world.answer)
        truth = [f"{one.cause} -> {one.effect}" for one in links(episode.world)]
        labels = Record.of(note=", ".join(truth) if self.leak == "logs" else "")
        return Score(episode.outcome or "unfinished", Record.of(right=right), labels)

    def moves(self, name: str, instance: Instance, given: Any) -> Moves:
        def agent() -> Moves:
            if name == "exact":
                seen = yield Action.of("look")
                yield Action.of("answer", answer=seen.data["answer"])
                return
            chance = Stream("agent", name, instance.id).choice(("yes", "no"))
            said = {"null": "yes", "random": chance, "oracle": self.world(instance).answer}
            yield Action.of("answer", answer=said[name])

        return agent()

    def annotate(self, instance: Instance, trace: Trace) -> AnnotatedEpisode:
        return AnnotatedEpisode("", truth=links(self.world(instance)))

    def __hash__(self) -> int:
        return hash(self.leak)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Toy) and other.leak == self.leak


def links(world: Chain) -> tuple[Arrow, ...]:
    """Return the links: two roots, then a chain."""
    order = world.order
    return (Arrow(order[0], order[2]), *map(Arrow, order[1:], order[2:]))


def toys(leak: str = "", suite: str = "one") -> list[Suite]:
    """Return the suites of two seeds."""
    family = Toy(leak)
    return [family.suite(suite, seed=seed) for seed in ("one", "two")]
