"""What a family must provide, and the registry of families."""

from __future__ import annotations

import tomllib
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from importlib.metadata import EntryPoint, entry_points
from importlib.resources import files
from typing import Any, Generic, TypeVar

from whybench.core.canonical import EMPTY, Json, Record, digest, freeze
from whybench.episode.action import Action
from whybench.episode.certificate import Certificate, SuiteProof
from whybench.episode.conversation import Conversation
from whybench.episode.episode import Episode, Moves, play
from whybench.episode.instance import PROFILES, Instance, Profile
from whybench.episode.pace import Pace
from whybench.episode.retelling import Retelling, plainly
from whybench.episode.salts import PRIVATE, secret_of
from whybench.episode.score import Metric, Score
from whybench.episode.trace import Evidence, Step, Trace

World = TypeVar("World")
Model = TypeVar("Model")

PUBLIC_SALT = "public"


@dataclass(frozen=True, slots=True)
class Suite:
    """A named, versioned, fixed-size list of instances, made when asked for."""

    family: Family[Any]
    name: str
    profile: Profile
    salt: str
    knobs: Record
    size: int
    block: int = 0
    """Suites of further blocks are of the same kind and size, and share no draw."""

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, index: int) -> Instance:
        if not 0 <= index < self.size:
            raise IndexError(f"{self.path} has instances 0 … {self.size - 1}, not {index}")
        return self.family.instance(
            self.name, self.profile, self.salt, self.knobs, index, self.block
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


def declared(package: str) -> dict[str, Any]:
    """Return what `family.toml` in a family's package declares; nothing if it has none.

    >>> declared("whybench.families.causallink")["recommended"]
    ('core', 'advanced')
    """
    file = files(package) / "family.toml" if package else None
    if file is None or not file.is_file():
        return {}
    found = tomllib.loads(file.read_text("utf-8"))
    return {name: tuple(v) if isinstance(v, list) else v for name, v in found.items()}


class Family(ABC, Generic[World]):
    """One published benchmark: worlds, rules, proofs, scores and agents behind one face."""

    name: str
    version: str
    """Comparability version: scores are comparable only within one."""
    summary: str
    suites: Mapping[str, str]
    """Suite → what it holds."""
    profiles: tuple[Profile, ...] = PROFILES
    skins: tuple[str, ...]
    protocols: tuple[str, ...]
    agents: Mapping[str, str]
    """Reference agent → what it does."""
    knobs: Mapping[str, str]
    """Knob → what it turns."""
    metrics: tuple[Metric, ...]
    headline: str
    """The metric that floor and ceiling are stated for."""
    floor_ceiling: Mapping[str, float]
    """Agent that knows nothing → the headline it must stay below on every suite."""
    recommended: tuple[str, ...] = ()
    """The suites to begin with."""
    extras: Mapping[str, str] = {}
    """Capability beyond the game (`report`, `tasks`, `commands`, …) → `module:attribute`."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Take what the family declares in `family.toml` beside its module, if there is one."""
        super().__init_subclass__(**kwargs)
        for name, value in declared(cls.__module__.rpartition(".")[0]).items():
            setattr(cls, name, value)

    def capability(self, name: str) -> Any | None:
        """Load what the family declares under a capability; None if it declares nothing."""
        place = self.extras.get(name)
        return None if place is None else EntryPoint(name, place, "").load()

    # What a family implements.

    @abstractmethod
    def validated(
        self, suite: str, profile: Profile, knobs: Mapping[str, Any]
    ) -> tuple[Record, int]:
        """Check knobs; return those that differ from their defaults, and the suite's size."""

    @abstractmethod
    def world(self, instance: Instance) -> World:
        """Rebuild the hidden world from coordinates alone."""

    @abstractmethod
    def content(self, world: World) -> Json:
        """Return all that defines a world, to be hashed into the instance's id."""

    @abstractmethod
    def latent(self, world: World) -> Json:
        """Return what is the same for worlds that differ only in names: the statistical cluster."""

    @abstractmethod
    def open_world(self, instance: Instance, world: World) -> Episode:
        """Start an episode on a world."""

    @abstractmethod
    def certify(self, instance: Instance) -> Certificate:
        """Prove what can be proven of an instance."""

    @abstractmethod
    def score(self, instance: Instance, trace: Trace) -> Score:
        """Score a trace; pure."""

    @abstractmethod
    def agent(self, name: str, instance: Instance, given: Sequence[Step] | None = None) -> Moves:
        """Start a reference agent; only `oracle` may look at the world.

        `given` is evidence laid before it, after which it may only finish.
        """

    @abstractmethod
    def conversation(self, episode: Episode, skin: str) -> Conversation:
        """Tell an episode in turns of text."""

    def pace(self, episode: Episode, skin: str) -> Pace | None:  # noqa: ARG002 - some families lead
        """Return how a model that calls tools is led; None: it is left alone until it ends."""
        return None

    @abstractmethod
    def rivals(self, instance: Instance) -> Iterator[Episode]:
        """Open episodes on other worlds that nothing told beforehand sets apart from this one."""

    @abstractmethod
    def truth(self, instance: Instance) -> Json:
        """Return the hidden truth in readable form, for authors only."""

    # What a family may add.

    def system(self, world: World) -> Json:
        """Return the hidden system up to renaming: what one would know of a world like it."""
        return self.latent(world)

    def problem(self, world: World) -> Json:
        """Return the whole problem up to renaming: the system, what is shown, what is asked."""
        return [self.system(world), self.content(world)]

    def discarded(self, instance: Instance) -> Record:  # noqa: ARG002 - most keep the first draw
        """Return what was thrown away before this world was kept: reason → how often."""
        return EMPTY

    def score_episode(self, episode: Episode) -> Score:
        """Score an episode of the instance's own world as it stands: as `score` its trace."""
        return self.score(episode.instance, episode.trace)

    def bits_left(self, episode: Episode) -> float:  # noqa: ARG002 - some have no experiments
        """Return what the evidence so far leaves open, in bits; it hangs on what was seen alone."""
        return 0.0

    unchecked: Mapping[str, str] = {
        "all but best_score": "the family brings no checker of its own: see `check`"
    }
    """Claims of certificates that `check` does not look into → why."""

    def check(self, instance: Instance, certificate: Certificate) -> list[str]:
        """Check a certificate by other means than those that made it; return what is wrong."""
        reached = self.score(instance, self.exact_run(instance)).values[self.headline]
        if reached == certificate.best_score:
            return []
        return [f"best_score is {certificate.best_score}, the exact agent reaches {reached}"]

    # What every family gets.

    def suite(
        self,
        name: str,
        *,
        profile: str = "certified",
        salt: str = PUBLIC_SALT,
        knobs: Mapping[str, Any] | None = None,
        block: int = 0,
    ) -> Suite:
        """Return a suite by name."""
        if name not in self.suites:
            raise ValueError(f"{self.name} has no suite {name!r}: try {', '.join(self.suites)}")
        if not isinstance(salt, str):
            raise ValueError(
                f"salt {salt!r} was read as a number: use one with a letter, like s{salt}"
            )
        known = next((p for p in self.profiles if p == profile), None)
        if known is None:
            raise ValueError(f"no profile {profile!r}: try {', '.join(self.profiles)}")
        secret_of(salt)  # an unknown one is refused here, not in the middle of a run
        kept, size = self.validated(name, known, knobs or {})
        return Suite(self, name, known, salt, kept, size, block)

    def instance(
        self, suite: str, profile: Profile, salt: str, knobs: Record, index: int, block: int = 0
    ) -> Instance:
        """Return the instance at these coordinates, with the id of its content."""
        bare = Instance(self.name, self.version, suite, profile, salt, index, knobs, block=block)
        latent = self.latent(self.world(bare))
        cluster = digest([self.name, bare.seed, "latent", latent]).hex()[:12]
        return replace(bare, id=self._content_id(bare), cluster=cluster)

    def _content_id(self, bare: Instance) -> str:
        """Name the content; with a private salt also its secret, so that no guess can be tested."""
        secret = [bare.seed] if bare.salt.startswith(PRIVATE) else []
        content = digest([bare.to_json(), self.content(self.world(bare)), *secret]).hex()[:12]
        number = f"{bare.block}.{bare.index:04d}" if bare.block else f"{bare.index:04d}"
        return f"{bare.suite}-{number}-{content}"

    def rebuilt(self, data: Mapping[str, Any]) -> Instance:
        """Rebuild an instance from logged coordinates; refuse one that is no longer the same."""
        logged = Instance.from_json(data)
        suite = self.suite(
            logged.suite, profile=logged.profile, salt=logged.salt, knobs=logged.knobs.asdict()
        )
        if not 0 <= logged.index < len(suite):
            raise ValueError(f"{suite.path} has no instance {logged.index}: is the log whole?")
        bare = replace(logged, version=self.version, knobs=suite.knobs, id="", cluster="")
        now = self._content_id(bare)
        if (now, self.version) != (logged.id, logged.version):
            raise ValueError(
                f"instance {logged.id} (family version {logged.version}) is {now} in this "
                f"installation (version {self.version}): score it with the WhyBench that made it"
            )
        return logged

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

    def exact_run(self, instance: Instance) -> Trace:
        """Let the exact agent play; a pure function, so the latest runs are kept."""
        return _exact_run(self, instance)

    def experiments(self, trace: Trace) -> tuple[Action, ...]:
        """Return the experiments of a trace: its legal actions without the final one."""
        return tuple(
            step.action
            for step in trace.steps
            if not step.observation.is_error and step.action.name != self.final_action
        )

    excluded: Collection[str] = ()
    """Outcomes that are left out of every average, and counted by name."""

    final_action: str = "answer"
    """The name of the action that ends an episode; see `submission` for its arguments."""

    def submission(self, answer: Json) -> tuple[Action, ...]:
        """Return the actions that hand in an answer without an experiment."""
        return (Action.of(self.final_action, answer=answer),)

    def replay(self, instance: Instance, trace: Trace) -> Trace:
        """Carry out a trace's actions again, from the same evidence, and return what happens."""
        return self.retrace(instance, trace.actions, trace.given, trace.evidence)

    def retrace(
        self, instance: Instance, actions: Sequence[Action], given: int, evidence: Evidence
    ) -> Trace:
        """Carry out actions, the first of them as given evidence, and return what happens."""
        return self.reopened(instance, actions, given, evidence).trace

    def reopened(
        self, instance: Instance, actions: Sequence[Action], given: int, evidence: Evidence
    ) -> Episode:
        """Return an episode in which actions were carried out, the first as given evidence."""
        episode = self.open_world(instance, self.world(instance))
        if evidence != "own":
            episode.give(actions[:given], evidence)
        for action in actions[given:]:
            episode.step(action)
        return episode

    def traits(self, instance: Instance) -> Record:  # noqa: ARG002 - a family may have none
        """Return what a report may sort instances by (size, structure, difficulty); for authors."""
        return EMPTY

    def retell(self, instance: Instance, trace: Trace) -> Retelling:
        """Tell an episode again beside the truth, step by step; for authors."""
        return plainly(trace, f"{self.score(instance, trace).outcome}.")

    def prove(self, suite: Suite) -> SuiteProof:  # noqa: ARG002 - most proofs are of instances
        """Prove what can only be proven of a suite as a whole; this may take minutes."""
        return SuiteProof()

    def card(self) -> str:
        """Return `card.md` beside the family: what it measures, its paper, known defects."""
        folder = files(type(self).__module__.rpartition(".")[0])
        return (folder / "card.md").read_text("utf-8")

    def checked(self, kind: Callable[..., Model], knobs: Mapping[str, Any]) -> Model:
        """Return knobs as the family's own model, or say which there are."""
        try:
            return kind(**knobs)
        except ValueError as error:
            known = "; ".join(f"{name}: {what}" for name, what in self.knobs.items())
            raise ValueError(f"{error}\nKnobs of {self.name}: {known}") from error

    def knob_record(self, knobs: Mapping[str, Any]) -> Record:
        """Return knobs in canonical order."""
        return Record((name, freeze(knobs[name])) for name in sorted(knobs))


@lru_cache(maxsize=1024)
def _exact_run(family: Family[Any], instance: Instance) -> Trace:
    return play(family.open(instance), family.agent("exact", instance))


@cache
def families() -> Mapping[str, Family[Any]]:
    """Return all installed families, by name (entry point group `whybench.families`)."""
    return {
        point.name: point.load()
        for point in sorted(entry_points(group="whybench.families"), key=lambda point: point.name)
    }


def find_suite(
    path: str,
    *,
    profile: str = "certified",
    salt: str = PUBLIC_SALT,
    knobs: Mapping[str, Any] | None = None,
) -> Suite:
    """Return the suite at `family/suite`."""
    name, _, suite = path.partition("/")
    if not suite or name not in families():
        known = ", ".join(f"{f.name}/{s}" for f in families().values() for s in f.suites)
        raise ValueError(f"no suite {path!r}: give family/suite, one of {known}")
    return families()[name].suite(suite, profile=profile, salt=salt, knobs=knobs)
