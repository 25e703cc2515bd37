"""Build a task from instances of any family: dataset, solver and scorers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypedDict, Unpack

from inspect_ai import Task
from inspect_ai.log import read_eval_log
from inspect_ai.model import GenerateConfig
from inspect_ai.scorer import Metric, Scorer
from inspect_ai.util import SandboxEnvironmentType

from whybench import __version__
from whybench.causal.canonical import Json, canonical_json
from whybench.episode.action import Action
from whybench.episode.family import Suite
from whybench.episode.instance import Instance
from whybench.episode.trace import Evidence
from whybench.interfaces.inspectai.dataset import EpisodeDataset
from whybench.interfaces.inspectai.instance_selection import Chosen
from whybench.interfaces.inspectai.lazy_samples import SampleSource
from whybench.interfaces.inspectai.record import (
    CLUSTER,
    EPISODE,
    GIVEN,
    INSTANCE,
    TEMPLATE,
    from_store,
    located,
)
from whybench.interfaces.inspectai.scorer import episode_score
from whybench.interfaces.inspectai.solver import TOOLS, play_episode


class Parts(TypedDict, total=False):
    """The parts that a family may add to its tasks."""

    scorers: Sequence[Scorer]
    """Scorers in addition to the scorer of the episode."""
    metrics: Sequence[Metric]
    """Metrics that replace the metrics of the scorers."""
    sandbox: SandboxEnvironmentType | None
    analysis: bool
    """Whether a model that calls tools may run programs in the sandbox."""
    repair: str | bool
    """A second model that reformats unreadable replies. True selects the model role `repair`."""


def build(
    found: Chosen,
    protocol: str,
    template: str | None,
    evidence: str,
    yoke: str | None,
    schema: bool,
    max_tokens: int | None = None,
    **parts: Unpack[Parts],
) -> Task:
    """Build a task. Its samples are built when they are played."""
    suite = found.suite
    family = suite.family
    template = family.template_for(suite.profile, template)
    if protocol not in family.protocols:
        raise ValueError(f"Unknown protocol {protocol!r}. Use {', '.join(family.protocols)}.")
    kind = next((kind for kind in family.evidence if kind == evidence), None)
    if kind is None or (kind == "yoked") != (yoke is not None):
        others = ", ".join(kind for kind in family.evidence if kind != "yoked")
        raise ValueError(f"Unknown evidence. Use {others}, or yoked together with yoke=LOG.")
    return Task(
        dataset=_dataset(found, protocol, template, kind, yoke),
        solver=play_episode(
            protocol,
            template,
            kind,
            schema,
            parts.get("analysis", False),
            parts.get("repair", False),
        ),
        scorer=[episode_score(), *parts.get("scorers", ())],
        sandbox=parts.get("sandbox"),
        metrics=list(parts["metrics"]) if "metrics" in parts else None,
        version=f"{family.version}-{__version__}",
        metadata=found.notes,
        config=GenerateConfig(max_tokens=max_tokens),
    )


def _dataset(
    found: Chosen, protocol: str, template: str, evidence: Evidence, yoke: str | None
) -> EpisodeDataset:
    """Return samples with coordinates and an opaque cluster id, never with the truth.

    With the experiments of another run, only the instances of that run are included.
    """
    suite = found.suite
    given = None if yoke is None else experiments_in(yoke, suite)
    positions = found.positions if given is None else found.among(given)
    if not positions:
        raise ValueError(
            f"The log of yoke= has no instance of {suite.path}. Check its seed and parameters."
        )

    def noted(position: int, instance: Instance) -> dict[str, Any]:
        metadata: dict[str, Any] = {
            INSTANCE: canonical_json(instance.to_json()),
            CLUSTER: instance.cluster,
        }
        if given is not None:
            metadata[GIVEN] = list(given[instance.id])
        metadata[TEMPLATE] = found.template(position) or template
        return metadata

    def told(position: int, instance: Instance) -> str:
        laid = () if given is None else given[instance.id]
        words = found.template(position) or template
        return first_message(suite, instance, protocol, words, evidence, laid)

    place = None if found.stored is None else found.stored.place.address
    return EpisodeDataset(
        SampleSource(found.rows, noted, told),
        positions,
        name=found.name or suite.path,
        location=place,
    )


def first_message(
    suite: Suite,
    instance: Instance,
    protocol: str,
    template: str,
    evidence: Evidence,
    given: Sequence[Any],
) -> str:
    """Return the first message to the model. It is the input of the sample in the log."""
    actions = [Action.from_json(action) for action in given]
    episode = suite.family.open(instance, evidence=evidence, given=actions)
    turn = suite.family.conversation(episode, template).turn() if protocol != TOOLS else None
    return turn.prompt if turn else episode.instructions(template)


def experiments_in(log: str, suite: Suite) -> dict[str, list[Json]]:
    """Return the experiments of another run, by sample id."""
    family = suite.family
    found = {}
    for sample in read_eval_log(log).samples or ():
        if EPISODE not in sample.store:
            continue
        _, instance = located(sample.metadata)
        trace = from_store(family, instance, sample.store[EPISODE])
        found[instance.id] = [action.to_json() for action in family.experiments(trace)]
    return found
