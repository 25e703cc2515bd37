"""What a family must provide."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Generic, TypeVar

from whybench.causal.canonical import EMPTY, Json, Record, digest, freeze
from whybench.causal.suite_seeds import PRIVATE, secret_of
from whybench.episode.action import Action
from whybench.episode.annotated import AnnotatedEpisode, plain_annotation
from whybench.episode.certificate import Certificate, SuiteProof
from whybench.episode.declaration import Declaration, declared
from whybench.episode.episode import Episode, Moves, play
from whybench.episode.instance import Instance, Profile
from whybench.episode.nearest import in_one_line, known
from whybench.episode.prompts.conversation import Conversation
from whybench.episode.prompts.turn_limits import TurnLimits
from whybench.episode.score import Score, declared_metrics
from whybench.episode.trace import Evidence, Step, Trace

World = TypeVar("World")

PUBLIC_SEED = "public"


@dataclass(frozen=True, slots=True)
class Suite:
    """A named, versioned, fixed-size list of instances, made when asked for."""

    family: Family[Any]
    name: str
    profile: Profile
    seed: str
    parameters: Record
    size: int
    block: int = 0
    """Suites of further blocks are of the same kind and size, and share no draw."""

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, index: int) -> Instance:
        if not 0 <= index < self.size:
            raise IndexError(f"{self.path} has instances 0 … {self.size - 1}, not {index}")
        return self.family.instance(
            self.name, self.profile, self.seed, self.parameters, index, self.block
        )

    def __iter__(self) -> Iterator[Instance]:
        return (self[index] for index in range(self.size))

    def row(self, number: int) -> Instance:
        """Return an instance of the endless list that the suite begins: block after block."""
        block, index = divmod(number, self.size)
        return replace(self, block=block)[index]

    @property
    def path(self) -> str:
        """`family/suite`."""
        return f"{self.family.name}/{self.name}"


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """What names a world in ids and statistics."""

    content: Json
    """All that defines the world; it is hashed into the instance's id."""
    cluster: Json
    """What worlds share that are not independent: the unit of statistics."""


class Family(Declaration, ABC, Generic[World]):
    """One published benchmark: worlds, rules, proofs, scores and agents behind one interface.

    `family.toml` beside the family's module declares its data. A family implements eight hooks:
    `parameter_model`, `build`, `fingerprint`, `open_world`, `certify`, `score_episode`, `moves` and
    `prompts`. Everything else has a default.
    """

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Take what the family declares in `family.toml` beside its module, if there is one."""
        super().__init_subclass__(**kwargs)
        package = cls.__module__.rpartition(".")[0]
        for name, value in declared(package).items():
            setattr(cls, name, declared_metrics(package) if name == "metrics" else value)

    # What a family implements, besides `parameter_model` and `prompts`.

    @abstractmethod
    def build(self, instance: Instance) -> World:
        """Rebuild the hidden world from coordinates alone; `world` keeps the latest."""

    @abstractmethod
    def fingerprint(self, world: World) -> Fingerprint:
        """Return what names a world."""

    @abstractmethod
    def open_world(self, instance: Instance, world: World) -> Episode:
        """Start an episode on a world."""

    @abstractmethod
    def certify(self, instance: Instance) -> Certificate:
        """Prove what can be proven of an instance."""

    @abstractmethod
    def score_episode(self, episode: Any) -> Score:
        """Score an episode of the instance's own world as it stands; pure."""

    @abstractmethod
    def moves(self, name: str, instance: Instance, given: Sequence[Step] | None) -> Moves:
        """Start a declared reference agent; only `oracle` may look at the world.

        `given` is evidence laid before it, after which it may only finish.
        """

    # What a family may add.

    def size(self, suite: str, profile: Profile, params: Any) -> int:  # noqa: ARG002
        """Return a suite's size; raise ValueError if parameters do not go with it."""
        return 100

    def system(self, world: World) -> Json:
        """Return the hidden system up to renaming: what one would know of a world like it."""
        return self.fingerprint(world).cluster

    def problem(self, world: World) -> Json:
        """Return the whole problem up to renaming: the system, what is shown, what is asked."""
        return [self.system(world), self.fingerprint(world).content]

    def truth(self, instance: Instance) -> Json:
        """Return the hidden truth in readable form, for authors only."""
        return self.system(self.world(instance))

    def covariates(self, instance: Instance) -> Record:  # noqa: ARG002 - a family may have none
        """Return what a report may sort instances by (size, structure, difficulty); for authors."""
        return EMPTY

    def discarded(self, instance: Instance) -> Record:  # noqa: ARG002 - most keep the first draw
        """Return what was thrown away before this world was kept: reason → how often."""
        return EMPTY

    def look_alikes(self, instance: Instance) -> Iterable[Episode]:  # noqa: ARG002 - for tests of leaks
        """Open episodes on other worlds that nothing told beforehand sets apart from this one."""
        return ()

    def bits_left(self, episode: Any) -> float:  # noqa: ARG002 - some have no experiments
        """Return what the evidence so far leaves open, in bits; it hangs on what was seen alone."""
        return 0.0

    def turn_limits(self, episode: Any, template: str) -> TurnLimits | None:  # noqa: ARG002 - some families lead
        """Return how a model that calls tools is led; None: it is left alone until it ends."""
        return None

    def prove(self, suite: Suite) -> SuiteProof:  # noqa: ARG002 - most proofs are of instances
        """Prove what can only be proven of a suite as a whole; this may take minutes."""
        return SuiteProof()

    def experiments(self, trace: Trace) -> tuple[Action, ...]:
        """Return the experiments of a trace: its legal actions without the final one."""
        return tuple(
            step.action
            for step in trace.steps
            if not step.observation.is_error and step.action.name != self.final_action
        )

    def submission(self, answer: Json) -> tuple[Action, ...]:
        """Return the actions that hand in an answer, or its JSON text, without an experiment."""
        text = answer if isinstance(answer, str) else json.dumps(answer)
        return (Action.of(self.final_action, answer=text),)

    # What every family gets.

    def suite(
        self,
        name: str,
        *,
        profile: str = "certified",
        seed: str = PUBLIC_SEED,
        parameters: Mapping[str, Any] | None = None,
        block: int = 0,
    ) -> Suite:
        """Return a suite by name."""
        known("suite", name, self.suites, self.name)
        if not isinstance(seed, str):
            raise ValueError(
                f"seed {seed!r} was read as a number: use one with a letter, like s{seed}"
            )
        known("profile", profile, self.profiles, self.name)
        asked: Profile = "published" if profile == "published" else "certified"
        secret_of(seed)  # an unknown one is refused here, not in the middle of a run
        for parameter in parameters or {}:
            known("parameter", parameter, self.parameters, self.name)
        try:
            params = self.parameter_model(**(parameters or {}))
        except ValueError as error:
            raise ValueError(in_one_line(error)) from error
        given = params.model_dump(exclude_defaults=True)
        kept = Record((parameter, freeze(given[parameter])) for parameter in sorted(given))
        return Suite(self, name, asked, seed, kept, self.size(name, asked, params), block)

    def instance(
        self,
        suite: str,
        profile: Profile,
        seed: str,
        parameters: Record,
        index: int,
        block: int = 0,
    ) -> Instance:
        """Return the instance at these coordinates, with the id of its content."""
        bare = Instance(
            self.name, self.version, suite, profile, seed, index, parameters, block=block
        )
        found = self.fingerprint(self.world(bare))
        cluster = digest([self.name, bare.stream_seed, "latent", found.cluster]).hex()[:12]
        return replace(bare, id=_content_id(bare, found.content), cluster=cluster)

    def rebuilt(self, data: Mapping[str, Any]) -> Instance:
        """Rebuild an instance from logged coordinates; refuse one that is no longer the same."""
        logged = Instance.from_json(data)
        suite = self.suite(
            logged.suite,
            profile=logged.profile,
            seed=logged.seed,
            parameters=logged.parameters.asdict(),
        )
        if not 0 <= logged.index < len(suite):
            raise ValueError(f"{suite.path} has no instance {logged.index}: is the log whole?")
        bare = replace(logged, version=self.version, parameters=suite.parameters, id="", cluster="")
        now = _content_id(bare, self.fingerprint(self.world(bare)).content)
        if (now, self.version) != (logged.id, logged.version):
            raise ValueError(
                f"instance {logged.id} (family version {logged.version}) is {now} in this "
                f"installation (version {self.version}): score it with the WhyBench that made it"
            )
        return logged

    def params(self, instance: Instance) -> Any:
        """Return an instance's parameters as the family's own model."""
        return _params(self, instance.parameters)

    def world(self, instance: Instance) -> World:
        """Return the hidden world; a pure function, so the latest ones are kept."""
        found: World = _world(self, instance, instance.stream_seed)
        return found

    def open(
        self,
        instance: Instance,
        *,
        evidence: Evidence = "own",
        given: Sequence[Action] = (),
    ) -> Episode:
        """Start an episode; `optimal` and `yoked` evidence is laid before the agent at once."""
        episode = self.open_world(instance, self.world(instance))
        if evidence == "optimal":
            given = self.experiments(self.exact_run(instance))
        if evidence != "own":
            episode.give(given, evidence)
        elif given:
            raise ValueError("`given` actions need evidence='yoked'")
        return episode

    def replay_episode(
        self, instance: Instance, actions: Sequence[Action], given: int, evidence: Evidence
    ) -> Any:
        """Return an episode in which actions were carried out, the first as given evidence."""
        episode = self.open_world(instance, self.world(instance))
        if evidence != "own":
            episode.give(actions[:given], evidence)
        for action in actions[given:]:
            episode.step(action)
        return episode

    def again(self, instance: Instance, trace: Trace) -> Any:
        """Return an episode in which a trace's actions were carried out again."""
        if trace.instance != instance.id:
            raise ValueError(f"this is a trace of {trace.instance}, not of {instance.id}")
        return self.replay_episode(instance, trace.actions, trace.given, trace.evidence)

    def replay(self, instance: Instance, trace: Trace) -> Trace:
        """Carry out a trace's actions again, from the same evidence, and return what happens."""
        again: Trace = self.replay_episode(
            instance, trace.actions, trace.given, trace.evidence
        ).trace
        return again

    def score(self, instance: Instance, trace: Trace) -> Score:
        """Carry out a trace's actions on the rebuilt world and score what happened; pure."""
        return self.score_episode(self.again(instance, trace))

    def agent(self, name: str, instance: Instance, given: Sequence[Step] | None = None) -> Moves:
        """Start a reference agent, or say which there are."""
        if name not in self.agents:
            raise ValueError(f"{self.name} has no agent {name!r}: try {', '.join(self.agents)}")
        return self.moves(name, instance, given)

    def exact_run(self, instance: Instance) -> Trace:
        """Let the exact agent play; a pure function, so the latest runs are kept."""
        return _exact_run(self, instance)

    def conversation(self, episode: Episode, template: str) -> Conversation:
        """Tell an episode in turns of text."""
        if episode.instance.family != self.name:
            raise ValueError(f"this is not an episode of {self.name}")
        told: Conversation = self.prompts(episode, template)
        return told

    @property
    def unverified_claims(self) -> Mapping[str, str]:
        """Claims of certificates that `check` does not look into → why."""
        checker = self.capability("checker")
        found: Mapping[str, str] = (
            UNVERIFIED_CLAIMS if checker is None else checker.UNVERIFIED_CLAIMS
        )
        return found

    def check(self, instance: Instance, certificate: Certificate) -> list[str]:
        """Check a certificate by other means than those that made it; return what is wrong."""
        checker = self.capability("checker")
        if checker is not None:
            return list(checker.flaws(instance, self.world(instance), certificate))
        reached = self.score(instance, self.exact_run(instance)).values[self.headline]
        if reached == certificate.best_score:
            return []
        return [f"best_score is {certificate.best_score}, the exact agent reaches {reached}"]

    def annotate(self, instance: Instance, trace: Trace) -> AnnotatedEpisode:
        """Tell an episode again beside the truth, step by step; for authors."""
        annotated = self.capability("annotated")
        if annotated is None:
            return plain_annotation(trace, f"{self.score(instance, trace).outcome}.")
        told: AnnotatedEpisode = annotated(self, instance, trace)
        return told


UNVERIFIED_CLAIMS = {"all but best_score": "the family declares no `checker` of its own"}
"""What `Family.check` does not look into where a family declares no checker."""


def _content_id(bare: Instance, content: Json) -> str:
    """Name the content; with a secret seed also its secret, so that no guess can be tested."""
    secret = [bare.stream_seed] if bare.seed.startswith(PRIVATE) else []
    named = digest([bare.identity(), content, *secret]).hex()[:12]
    number = f"{bare.block}.{bare.index:04d}" if bare.block else f"{bare.index:04d}"
    return f"{bare.suite}-{number}-{named}"


@lru_cache(maxsize=1024)
def _params(family: Family[Any], record: Record) -> Any:
    return family.parameter_model(**record.asdict())


@lru_cache(maxsize=1024)
def _world(family: Family[Any], instance: Instance, seed: str) -> Any:
    """Find the world of an instance that may have its id already."""
    return _built(family, replace(instance, id="", cluster=""), seed)


@lru_cache(maxsize=1024)
def _built(family: Family[Any], bare: Instance, seed: str) -> Any:  # noqa: ARG001 - part of the key
    return family.build(bare)


@lru_cache(maxsize=1024)
def _exact_run(family: Family[Any], instance: Instance) -> Trace:
    return play(family.open(instance), family.agent("exact", instance))
