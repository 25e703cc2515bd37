"""Tasks by name: `inspect eval whybench/causallink -T suite=core -T protocol=tools`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import read_eval_log
from inspect_ai.scorer import Metric, Scorer
from inspect_ai.util import SandboxEnvironmentType

from whybench import __version__
from whybench.core.canonical import Json, canonical_json
from whybench.episode.action import Action
from whybench.episode.family import Suite, find_suite
from whybench.episode.instance import Instance
from whybench.episode.trace import EVIDENCE, Evidence
from whybench.interfaces.inspectai.bubblewrap import NAME as BWRAP
from whybench.interfaces.inspectai.graph_judge import graph_judge
from whybench.interfaces.inspectai.judge import report_judge
from whybench.interfaces.inspectai.metrics import figures
from whybench.interfaces.inspectai.pairing import verify_gain
from whybench.interfaces.inspectai.record import (
    CLUSTER,
    EPISODE,
    GIVEN,
    INSTANCE,
    from_store,
    located,
)
from whybench.interfaces.inspectai.scorer import episode_score
from whybench.interfaces.inspectai.solver import TOOLS, play_episode
from whybench.interfaces.inspectai.workshop import compose

DOCKER = "docker"


@task
def causallink(
    suite: str = "core",
    protocol: str = "dialogue",
    skin: str = "plain",
    profile: str = "certified",
    salt: str = "public",
    evidence: str = "own",
    yoke: str | None = None,
    schema: bool = False,
    **knobs: Any,
) -> Task:
    """CausalLink: intervene on a small world, then say whether one thing drives another.

    Args:
        suite: core, core_distinct, collider or advanced.
        protocol: `dialogue` (the paper's turns in JSON) or `tools` (function calling).
        skin: Wording of the prompts: plain, step_limited, think_first or notebook.
        profile: `certified`, or `published` for comparison with published figures.
        salt: Another salt gives other instances.
        evidence: `own` experiments, `optimal` ones, or another run's (`yoked`, with `yoke`).
        yoke: A log whose experiments are given to this run.
        schema: Constrain replies of the dialogue by a JSON schema.
        **knobs: theme, n, graphs, budget, max_errors.

    """
    found = find_suite(f"causallink/{suite}", profile=profile, salt=salt, knobs=knobs)
    return build([found], protocol, skin, evidence, yoke, schema)


@task
def replayscm(
    suite: str = "hid_cert",
    protocol: str = "dialogue",
    skin: str = "plain",
    profile: str = "certified",
    salt: str = "public",
    schema: bool = False,
    **knobs: Any,
) -> Task:
    """ReplaySCM: from worlds under interventions, write mechanisms that replay them and others.

    Args:
        suite: ord_cert, block_cert, hid_cert, roots_cert, ord_full, … (`whybench list`).
        protocol: `dialogue` (one answer in JSON) or `tools` (`submit`).
        skin: Wording of the prompts: plain, pairs or terse.
        profile: `certified`, or `published` for comparison with published figures.
        salt: Another salt gives other instances.
        schema: Constrain replies by a JSON schema.
        **knobs: max_errors (answers after which it ends), data (released problems, published only).

    """
    found = find_suite(f"replayscm/{suite}", profile=profile, salt=salt, knobs=knobs)
    return build([found], protocol, skin, "own", None, schema)


@task
def replayscm_lab(
    protocol: str = "tools",
    skin: str = "plain",
    profile: str = "certified",
    salt: str = "public",
    evidence: str = "own",
    yoke: str | None = None,
    schema: bool = False,
    **knobs: Any,
) -> Task:
    """ReplaySCM in the laboratory: choose the interventions, then hand in the mechanisms.

    Args:
        protocol: `tools` (`experiment` and `submit`) or `dialogue` (the same in JSON).
        skin: Wording of the prompts: plain, pairs or terse.
        profile: `certified`, or `published`: no bound on parents is told or kept.
        salt: Another salt gives other instances.
        evidence: `own` experiments, `optimal` ones, or another run's (`yoked`, with `yoke`).
        yoke: A log whose experiments are given to this run.
        schema: Constrain replies of the dialogue by a JSON schema.
        **knobs: budget, max_errors.

    """
    found = find_suite("replayscm/lab", profile=profile, salt=salt, knobs=knobs)
    return build([found], protocol, skin, evidence, yoke, schema)


@task
def causalab(
    suite: str = "main_4",
    protocol: str = "record",
    skin: str = "plain",
    profile: str = "certified",
    salt: str = "public",
    evidence: str = "own",
    yoke: str | None = None,
    schema: bool = False,
    **knobs: Any,
) -> Task:
    """CausaLab: experiment on one crystal, predict another's frequency, say what causes what.

    Args:
        suite: main_3 … main_7, scaling_4, quad_hard, hidden_count_1, … (`whybench list`).
        protocol: `record` (one JSON object a turn) or `tools` (function calling).
        skin: Wording of the prompts: plain or terse.
        profile: `certified`, or `published` for comparison with published figures.
        salt: Another salt gives other instances.
        evidence: `own` experiments, `optimal` ones, or another run's (`yoked`, with `yoke`).
        yoke: A log whose experiments are given to this run.
        schema: Constrain records by a JSON schema.
        **knobs: verify, candidates, context, regime, semantics, signs, limit, tolerance, k,
            graphs, max_errors, data.

    """
    found = find_suite(f"causalab/{suite}", profile=profile, salt=salt, knobs=knobs)
    return build([found], protocol, skin, evidence, yoke, schema)


@task
def causalab_verify(
    suite: str = "main_4",
    protocol: str = "record",
    skin: str = "plain",
    profile: str = "certified",
    salt: str = "public",
    schema: bool = False,
    **knobs: Any,
) -> Task:
    """CausaLab twice, without and with the explicit check of the hypothesis, compared in pairs.

    The two samples of a pair stand together, so `--limit 20` runs ten pairs. Experiments are the
    model's own: with given ones there is no reactor to open, and so nothing to check before.

    Args:
        suite: As for `causalab`.
        protocol: As for `causalab`.
        skin: As for `causalab`.
        profile: As for `causalab`.
        salt: As for `causalab`.
        schema: As for `causalab`.
        **knobs: Those of `causalab` without verify.

    """
    arms = [
        find_suite(
            f"causalab/{suite}", profile=profile, salt=salt, knobs=dict(verify=verify, **knobs)
        )
        for verify in (False, True)
    ]
    return build(arms, protocol, skin, "own", None, schema, [figures(), verify_gain()])


@task
def causalgame(
    suite: str = "antenna_trap",
    protocol: str = "tools",
    skin: str = "plain",
    profile: str = "certified",
    salt: str = "public",
    evidence: str = "own",
    yoke: str | None = None,
    schema: bool = False,
    sandbox: str = BWRAP,
    analysis: bool = True,
    judge: str | list[str] | bool = False,
    rubric: str = "six",
    allow_self: bool = False,
    **knobs: Any,
) -> Task:
    """CausalGame: study biased records, deploy small batches, submit a fleet's design, report.

    Args:
        suite: antenna_trap, deployment_zone_trap_categorical, weather_noise, all, knobs, …
        protocol: `tools` (function calling, in turns) or `code` (programs against a client).
        skin: Wording of the prompts: plain or terse.
        profile: `certified`, or `published` for comparison with published figures.
        salt: Another salt gives other instances.
        evidence: `own` experiments, `optimal` ones, or another run's (`yoked`, with `yoke`).
        yoke: A log whose experiments are given to this run.
        schema: Constrain programs by a JSON schema.
        sandbox: Where programs run: `bwrap`, or `docker` with the compose file that we ship.
        analysis: Whether a model that calls tools may run programs on the records.
        judge: A model, or several, that judge the report; true: the model role `judge`.
        rubric: `six` criteria (16 points) or `full` (17 items).
        allow_self: Let a model judge itself, to test the plumbing; such scores are labelled.
        **knobs: keep_failed, counts, drones, deploys, queries, threshold, guard, max_errors.

    """
    found = find_suite(f"causalgame/{suite}", profile=profile, salt=salt, knobs=knobs)
    wanted = sandbox_named(sandbox) if analysis or protocol != TOOLS else None
    judges = None if isinstance(judge, bool) else judge
    scorers = [report_judge(judges, rubric, allow_self=allow_self)] if judge else []
    return build(
        [found], protocol, skin, evidence, yoke, schema,
        sandbox=wanted, analysis=analysis, scorers=scorers,
    )  # fmt: skip


@task
def recite(
    suite: str = "made_short",
    protocol: str = "dialogue",
    skin: str = "plain",
    profile: str = "certified",
    salt: str = "public",
    schema: bool = False,
    repair: str | bool = False,
    judge: str | list[str] | bool = False,
    allow_self: bool = False,
    **knobs: Any,
) -> Task:
    """ReCITE: read a long document and return the causal graph that it describes.

    Args:
        suite: made_short, made_long, made_ladder, standard or name_assisted.
        protocol: `dialogue` (one answer in JSON) or `tools` (`submit`).
        skin: Wording of the prompts: plain or terse.
        profile: `certified`, or `published` for comparison with published figures.
        salt: Another salt gives other documents.
        schema: Constrain replies by a JSON schema.
        repair: A second model that puts unreadable replies into form; true: the role `repair`.
        judge: A model, or several, that judge the graph; true: the model role `judge`.
        allow_self: Let a model judge itself, to test the plumbing; such scores are labelled.
        **knobs: names, similarity, max_errors, data, filter, nodes, length, field, explicit,
            implicit, stated, implied, distractors.

    """
    found = find_suite(f"recite/{suite}", profile=profile, salt=salt, knobs=knobs)
    judges = None if isinstance(judge, bool) else judge
    scorers = [graph_judge(judges, allow_self=allow_self)] if judge else []
    return build([found], protocol, skin, "own", None, schema, scorers=scorers, repair=repair)


def build(
    suites: Sequence[Suite],
    protocol: str,
    skin: str,
    evidence: str,
    yoke: str | None,
    schema: bool,
    metrics: Sequence[Metric] | None = None,
    *,
    sandbox: SandboxEnvironmentType | None = None,
    analysis: bool = False,
    scorers: Sequence[Scorer] = (),
    repair: str | bool = False,
) -> Task:
    """Make a task of any family's suite; of several to compare, equal places stand together."""
    suite = suites[0]
    family = suite.family
    if skin not in family.skins:
        raise ValueError(f"no skin {skin!r}: try {', '.join(family.skins)}")
    if protocol not in family.protocols:
        raise ValueError(f"no protocol {protocol!r}: try {', '.join(family.protocols)}")
    if evidence not in EVIDENCE or (evidence == "yoked") != (yoke is not None):
        raise ValueError("evidence is own, optimal, or yoked together with yoke=LOG")
    given = None if yoke is None else experiments_in(yoke, suite)
    kind: Evidence = "yoked" if yoke else ("optimal" if evidence == "optimal" else "own")
    instances = chain.from_iterable(zip(*suites, strict=True))
    made = samples(suite, instances, protocol, skin, kind, given)
    return Task(
        dataset=MemoryDataset(made, name=suite.path),
        solver=play_episode(protocol, skin, kind, schema, analysis, repair),
        scorer=[episode_score(), *scorers],
        sandbox=sandbox,
        metrics=None if metrics is None else list(metrics),
        version=f"{family.version}-{__version__}",
        metadata={"suite": suite.path, "profile": suite.profile, "salt": suite.salt},
    )


def sandbox_named(name: str) -> SandboxEnvironmentType:
    """Return a sandbox: our own, or docker with the compose file that we ship."""
    if name == DOCKER:
        return DOCKER, compose()
    return name


def first_message(
    suite: Suite,
    instance: Instance,
    protocol: str,
    skin: str,
    evidence: Evidence,
    given: Sequence[Any],
) -> str:
    """Return what the model will be told first, to stand as the sample's input in the log."""
    actions = [Action.from_json(action) for action in given]
    episode = suite.family.open(instance, evidence=evidence, given=actions)
    turn = suite.family.conversation(episode, skin).turn() if protocol != TOOLS else None
    return turn.prompt if turn else episode.brief(skin)


def samples(
    suite: Suite,
    instances: Iterable[Instance],
    protocol: str,
    skin: str,
    evidence: Evidence,
    given: Mapping[str, Sequence[Json]] | None,
) -> list[Sample]:
    """Return samples: coordinates and an opaque cluster, never the truth.

    With the experiments of another run, only the instances of that run.
    """
    made = []
    for instance in instances:
        if given is not None and instance.id not in given:
            continue
        metadata: dict[str, Any] = {
            INSTANCE: canonical_json(instance.to_json()),
            CLUSTER: instance.cluster,
        }
        if given is not None:
            metadata[GIVEN] = list(given[instance.id])
        shown = first_message(suite, instance, protocol, skin, evidence, metadata.get(GIVEN, ()))
        made.append(Sample(id=instance.id, input=shown, metadata=metadata))
    if not made:
        raise ValueError(
            f"the log to yoke to holds no instance of {suite.path}: other salt or knobs?"
        )
    return made


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
