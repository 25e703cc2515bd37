"""A family: its suites, its instances, its certificates, and what it tells about an episode."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeVar

from whybench.causal.canonical import Json, Record, digest, freeze
from whybench.causal.suite_seeds import PRIVATE, secret_of
from whybench.episode.annotated import AnnotatedEpisode, plain_annotation
from whybench.episode.certificate import Certificate
from whybench.episode.declaration import declared, in_one_line, known
from whybench.episode.episode import Episode
from whybench.episode.family.runs import Runs
from whybench.episode.family.suite import Suite
from whybench.episode.instance import Instance, Profile
from whybench.episode.prompts.conversation import Conversation
from whybench.episode.score import declared_metrics
from whybench.episode.trace import Trace

World = TypeVar("World")

PUBLIC_SEED = "public"


class Family(Runs[World]):
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
