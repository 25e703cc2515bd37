"""A family and its suites: what every family gets from its hooks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, TypeVar

from whybench.causal.canonical import Json, Record, digest, freeze
from whybench.causal.suite_seeds import PRIVATE, secret_of
from whybench.episode.action import Action
from whybench.episode.annotated import AnnotatedEpisode, plain_annotation
from whybench.episode.certificate import Certificate
from whybench.episode.declaration import declared, in_one_line, known
from whybench.episode.episode import Episode, Moves, play
from whybench.episode.hooks import Hooks
from whybench.episode.instance import Instance, Profile
from whybench.episode.prompts.conversation import Conversation
from whybench.episode.score import Score, declared_metrics
from whybench.episode.trace import Evidence, Step, Trace

World = TypeVar("World")

PUBLIC_SEED = "public"


@dataclass(frozen=True, slots=True)
class Suite:
    """A named, versioned list of instances of fixed size, built when they are looked up.

    Examples:
        >>> import whybench as wb
        >>> suite = wb.load_suite("causallink/core")
        >>> len(suite), suite.path, suite[3].index
        (84, 'causallink/core', 3)

    """

    family: Family[Any]
    """The family."""
    name: str
    """The name of the suite."""
    profile: Profile
    """The rules: `certified` or `published`."""
    seed: str
    """The suite seed."""
    parameters: Record
    """The parameters that differ from their defaults."""
    size: int
    """The number of instances of a block."""
    block: int = 0
    """The number of the block. Blocks have the same size and design, and share no draw."""

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
        """Return an instance of the endless list that the suite begins.

        Args:
            number: The row: instance `number % size` of block `number // size`.

        Returns:
            The instance.

        """
        block, index = divmod(number, self.size)
        return replace(self, block=block)[index]

    @property
    def path(self) -> str:
        """The family and the suite, as `family/suite`."""
        return f"{self.family.name}/{self.name}"


class Family(Hooks[World]):
    """One benchmark: hidden systems, rules, certificates, scores and reference agents.

    `family.toml` beside the family's module declares its data. A family implements eight hooks:
    `parameter_model`, `build`, `fingerprint`, `open_world`, `certify`, `score_episode`, `moves` and
    `prompts`. Everything else has a default.

    Examples:
        >>> import whybench as wb
        >>> family = wb.installed_families()["causallink"]
        >>> family.headline, "exact" in family.agents
        ('accuracy', True)

    """

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Take what the family declares in `family.toml` beside its module, if there is one."""
        super().__init_subclass__(**kwargs)
        package = cls.__module__.rpartition(".")[0]
        for name, value in declared(package).items():
            setattr(cls, name, declared_metrics(package) if name == "metrics" else value)

    def suite(
        self,
        name: str,
        *,
        profile: str = "certified",
        seed: str = PUBLIC_SEED,
        parameters: Mapping[str, Any] | None = None,
        block: int = 0,
    ) -> Suite:
        """Return a suite of this family.

        Args:
            name: The name of the suite.
            profile: The rules: `certified` or `published`.
            seed: The suite seed.
            parameters: Parameter name → value.
            block: The number of the block.

        Returns:
            The suite.

        Raises:
            ValueError: A name is unknown, or a value is out of range.

        """
        known("suite", name, self.suites, self.name)
        if not isinstance(seed, str):
            raise ValueError(
                f"seed {seed!r} was read as a number: use one with a letter, like s{seed}"
            )
        known("profile", profile, self.profiles, self.name)
        known("profile", profile, self.profiles_of(name), f"{self.name}/{name}")
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
        """Return the instance at given coordinates, with its id and cluster.

        Args:
            suite: The name of the suite.
            profile: The rules.
            seed: The suite seed.
            parameters: The parameters that differ from their defaults.
            index: The number of the instance in its block.
            block: The number of the block.

        Returns:
            The instance.

        """
        bare = Instance(
            self.name, self.version, suite, profile, seed, index, parameters, block=block
        )
        found = self.fingerprint(self.world(bare))
        cluster = digest([self.name, bare.stream_seed, "latent", found.cluster]).hex()[:12]
        return replace(bare, id=_content_id(bare, found.content), cluster=cluster)

    def rebuilt(self, data: Mapping[str, Any]) -> Instance:
        """Rebuild an instance from logged coordinates.

        Args:
            data: JSON data of the instance.

        Returns:
            The instance.

        Raises:
            ValueError: The coordinates give a different problem in this installation.

        """
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

    def truth(self, instance: Instance) -> Json:
        """Return the hidden system in readable form, for authors only.

        Args:
            instance: The instance.

        Returns:
            JSON data.

        """
        return self.system(self.world(instance))

    def params(self, instance: Instance) -> Any:
        """Return the parameters of an instance.

        Args:
            instance: The instance.

        Returns:
            The family's own parameter model.

        """
        return _params(self, instance.parameters)

    def world(self, instance: Instance) -> World:
        """Return the hidden system of an instance. The latest ones are cached.

        Args:
            instance: The instance.

        Returns:
            The hidden system.

        """
        found: World = _world(self, instance, instance.stream_seed)
        return found

    def open(
        self,
        instance: Instance,
        *,
        evidence: Evidence = "own",
        given: Sequence[Action] = (),
    ) -> Episode:
        """Start an episode.

        Args:
            instance: The instance.
            evidence: Whose experiments the agent works from. `optimal` and `yoked` evidence is
                given to the agent at the start.
            given: The experiments of another run, for `yoked` evidence.

        Returns:
            The episode.

        Raises:
            ValueError: `given` was passed with other evidence than `yoked`.

        """
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
        """Return an episode in which actions were run.

        Args:
            instance: The instance.
            actions: The actions.
            given: The number of first actions that were given as evidence.
            evidence: Whose experiments these are.

        Returns:
            The episode.

        """
        episode = self.open_world(instance, self.world(instance))
        if evidence != "own":
            episode.give(actions[:given], evidence)
        for action in actions[given:]:
            episode.step(action)
        return episode

    def again(self, instance: Instance, trace: Trace) -> Any:
        """Return an episode in which the actions of a trace were run again.

        Args:
            instance: The instance.
            trace: A trace of this instance.

        Returns:
            The episode.

        Raises:
            ValueError: The trace belongs to another instance.

        """
        if trace.instance != instance.id:
            raise ValueError(f"this is a trace of {trace.instance}, not of {instance.id}")
        return self.replay_episode(instance, trace.actions, trace.given, trace.evidence)

    def replay(self, instance: Instance, trace: Trace) -> Trace:
        """Run the actions of a trace again, from the same evidence.

        Args:
            instance: The instance.
            trace: The trace.

        Returns:
            The new trace. It equals the old one if nothing was forged.

        """
        again: Trace = self.replay_episode(
            instance, trace.actions, trace.given, trace.evidence
        ).trace
        return again

    def score(self, instance: Instance, trace: Trace) -> Score:
        """Run the actions of a trace on the rebuilt hidden system and score the result.

        Args:
            instance: The instance.
            trace: A trace of this instance. Only its actions are used.

        Returns:
            The score.

        """
        return self.score_episode(self.again(instance, trace))

    def agent(self, name: str, instance: Instance, given: Sequence[Step] | None = None) -> Moves:
        """Start a reference agent.

        Args:
            name: The name of the agent.
            instance: The instance to play.
            given: Evidence after which the agent may only finish.

        Returns:
            The agent, as a generator that yields actions and is sent observations.

        Raises:
            ValueError: The family has no such agent. The message lists its agents.

        """
        if name not in self.agents:
            raise ValueError(f"{self.name} has no agent {name!r}: try {', '.join(self.agents)}")
        return self.moves(name, instance, given)

    def with_efficiency(self, episode: Any, score: Score) -> Score:
        """Add how the agent's experiments compare with those of the exact agent.

        This is the one definition for all families with experiments. `experiments` counts those
        that the agent chose. `regret` counts those beyond the exact agent's on the same instance;
        it is None unless the answer is `understood`, because a guess needs no experiment.
        `bits_share` is the share of the bits open at the start that they ruled out. The exact
        agent rules out all bits if the instance is identified.

        Args:
            episode: An episode of this family.
            score: Its score. The label `proof` says whether its answer is understood.

        Returns:
            The score with these metrics. The last two are None if evidence was given.

        """
        trace, instance = episode.trace, episode.instance
        names = [metric.name for metric in self.metrics]
        ran = len(self.experiments(trace)) - trace.given
        regret = bits = None
        if trace.evidence == "own":
            if score.labels["proof"] == "understood":
                regret = float(ran - len(self.experiments(self.exact_run(instance))))
            if "bits_share" in names and (start := _bits_at_start(self, instance)):
                bits = 1 - self.bits_left(episode) / start
        added = {"experiments": float(ran), "regret": regret, "bits_share": bits}
        found = score.values.asdict() | added
        return replace(score, values=Record((name, found[name]) for name in names))

    def exact_run(self, instance: Instance) -> Trace:
        """Return the trace of the exact agent. The latest ones are cached.

        Args:
            instance: The instance.

        Returns:
            The trace.

        """
        return _exact_run(self, instance)

    def conversation(self, episode: Episode, template: str) -> Conversation:
        """Return an episode as a conversation in text.

        Args:
            episode: An episode of this family.
            template: The name of a prompt template.

        Returns:
            The conversation.

        Raises:
            ValueError: The episode belongs to another family.

        """
        if episode.instance.family != self.name:
            raise ValueError(f"this is not an episode of {self.name}")
        told: Conversation = self.prompts(episode, template)
        return told

    @property
    def unverified_claims(self) -> Mapping[str, str]:
        """Claims of certificates that `check` does not examine → the reason."""
        checker = self.capability("checker")
        found: Mapping[str, str] = (
            UNVERIFIED_CLAIMS if checker is None else checker.UNVERIFIED_CLAIMS
        )
        return found

    def check(self, instance: Instance, certificate: Certificate) -> list[str]:
        """Check a certificate with code that is independent of the code that made it.

        Args:
            instance: The instance.
            certificate: Its certificate.

        Returns:
            One sentence per wrong claim; empty if none was found.

        """
        checker = self.capability("checker")
        if checker is not None:
            return list(checker.flaws(instance, self.world(instance), certificate))
        reached = self.score(instance, self.exact_run(instance)).values[self.headline]
        if certificate.best_score is None or reached == certificate.best_score:
            return []
        return [f"best_score is {certificate.best_score}, the exact agent reaches {reached}"]

    def annotate(self, instance: Instance, trace: Trace) -> AnnotatedEpisode:
        """Return an episode step by step beside the hidden system, for authors and reports.

        Args:
            instance: The instance.
            trace: A trace of this instance.

        Returns:
            The annotated episode. No agent may see it.

        """
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


@lru_cache(maxsize=2048)
def _world(family: Family[Any], instance: Instance, seed: str) -> Any:
    """Find the world of an instance that may have its id already."""
    return _built(family, replace(instance, id="", cluster=""), seed)


@lru_cache(maxsize=2048)
def _built(family: Family[Any], bare: Instance, seed: str) -> Any:  # noqa: ARG001 - part of the key
    return family.build(bare)


@lru_cache(maxsize=1024)
def _exact_run(family: Family[Any], instance: Instance) -> Trace:
    return play(family.open(instance), family.agent("exact", instance))


@lru_cache(maxsize=1024)
def _bits_at_start(family: Family[Any], instance: Instance) -> float:
    return family.bits_left(family.open(instance))
