"""Tasks by name: `inspect eval whybench/causallink -T suite=core -T protocol=tools`."""

from __future__ import annotations

from typing import Any

from inspect_ai import Task, task
from inspect_ai.util import SandboxEnvironmentType

from whybench.episode.family import PUBLIC_SALT, find_suite
from whybench.interfaces.inspectai.bubblewrap import NAME as BWRAP
from whybench.interfaces.inspectai.build import build
from whybench.interfaces.inspectai.choosing import chosen, listed, stored_set
from whybench.interfaces.inspectai.graph_judge import graph_judge
from whybench.interfaces.inspectai.judge import report_judge
from whybench.interfaces.inspectai.metrics import figures
from whybench.interfaces.inspectai.pairing import verify_gain
from whybench.interfaces.inspectai.solver import TOOLS
from whybench.interfaces.inspectai.workshop import compose

DOCKER = "docker"


@task
def causallink(
    suite: str = "core",
    protocol: str = "dialogue",
    skin: str = "plain",
    profile: str = "certified",
    salt: str | None = None,
    evidence: str = "own",
    yoke: str | None = None,
    schema: bool = False,
    rows: int | str | None = None,
    **knobs: Any,
) -> Task:
    """CausalLink: intervene on a small world, then say whether one thing drives another.

    Args:
        suite: core, core_distinct, collider, advanced or large.
        protocol: `dialogue` (the paper's turns in JSON) or `tools` (function calling).
        skin: Wording of the prompts: plain, step_limited, think_first or notebook.
        profile: `certified`, or `published` for comparison with published figures.
        salt: Another salt than `public` gives other instances.
        evidence: `own` experiments, `optimal` ones, or another run's (`yoked`, with `yoke`).
        yoke: A log whose experiments are given to this run.
        schema: Constrain replies of the dialogue by a JSON schema.
        rows: Only these, as `--limit` counts: 1000, 11-20, or `distinct` of a stored set.
        **knobs: theme, n, graphs, budget, max_errors; data (a stored set).

    """
    found = chosen(f"causallink/{suite}", profile, salt, knobs, rows)
    return build(found, protocol, skin, evidence, yoke, schema)


@task
def replayscm(
    suite: str = "hid_cert",
    protocol: str = "dialogue",
    skin: str = "plain",
    profile: str = "certified",
    salt: str | None = None,
    schema: bool = False,
    rows: int | str | None = None,
    **knobs: Any,
) -> Task:
    """ReplaySCM: from worlds under interventions, write mechanisms that replay them and others.

    Args:
        suite: ord_cert, block_cert, hid_cert, roots_cert, ord_full, … (`whybench list`).
        protocol: `dialogue` (one answer in JSON) or `tools` (`submit`).
        skin: Wording of the prompts: plain, pairs or terse.
        profile: `certified`, or `published` for comparison with published figures.
        salt: Another salt than `public` gives other instances.
        schema: Constrain replies by a JSON schema.
        rows: As for `causallink`.
        **knobs: max_errors (answers after which it ends), data (a stored set, or
            released problems with profile published).

    """
    found = chosen(f"replayscm/{suite}", profile, salt, knobs, rows)
    return build(found, protocol, skin, "own", None, schema)


@task
def replayscm_lab(
    protocol: str = "tools",
    skin: str = "plain",
    profile: str = "certified",
    salt: str | None = None,
    evidence: str = "own",
    yoke: str | None = None,
    schema: bool = False,
    rows: int | str | None = None,
    **knobs: Any,
) -> Task:
    """ReplaySCM in the laboratory: choose the interventions, then hand in the mechanisms.

    Args:
        protocol: `tools` (`experiment` and `submit`) or `dialogue` (the same in JSON).
        skin: Wording of the prompts: plain, pairs or terse.
        profile: `certified`, or `published`: no bound on parents is told or kept.
        salt: Another salt than `public` gives other instances.
        evidence: `own` experiments, `optimal` ones, or another run's (`yoked`, with `yoke`).
        yoke: A log whose experiments are given to this run.
        schema: Constrain replies of the dialogue by a JSON schema.
        rows: As for `causallink`.
        **knobs: budget, max_errors; data (a stored set).

    """
    found = chosen("replayscm/lab", profile, salt, knobs, rows)
    return build(found, protocol, skin, evidence, yoke, schema)


@task
def causalab(
    suite: str = "main_4",
    protocol: str = "record",
    skin: str = "plain",
    profile: str = "certified",
    salt: str | None = None,
    evidence: str = "own",
    yoke: str | None = None,
    schema: bool = False,
    rows: int | str | None = None,
    **knobs: Any,
) -> Task:
    """CausaLab: experiment on one crystal, predict another's frequency, say what causes what.

    Args:
        suite: main_3 … main_7, scaling_4, quad_hard, hidden_count_1, … (`whybench list`).
        protocol: `record` (one JSON object a turn) or `tools` (function calling).
        skin: Wording of the prompts: plain or terse.
        profile: `certified`, or `published` for comparison with published figures.
        salt: Another salt than `public` gives other instances.
        evidence: `own` experiments, `optimal` ones, or another run's (`yoked`, with `yoke`).
        yoke: A log whose experiments are given to this run.
        schema: Constrain records by a JSON schema.
        rows: As for `causallink`.
        **knobs: verify, candidates, context, regime, semantics, signs, limit, tolerance, k,
            graphs, max_errors, data (a stored set, or released problems).

    """
    found = chosen(f"causalab/{suite}", profile, salt, knobs, rows)
    return build(found, protocol, skin, evidence, yoke, schema)


@task
def causalab_verify(
    suite: str = "main_4",
    protocol: str = "record",
    skin: str = "plain",
    profile: str = "certified",
    salt: str | None = None,
    schema: bool = False,
    rows: int | str | None = None,
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
        rows: As for `causallink`.
        **knobs: Those of `causalab` without verify.

    """
    if stored_set(knobs) is not None:
        raise ValueError("a stored set holds one arm of two: play it with whybench/causalab")
    given = PUBLIC_SALT if salt is None else salt
    arms = [
        find_suite(
            f"causalab/{suite}", profile=profile, salt=given, knobs=dict(verify=verify, **knobs)
        )
        for verify in (False, True)
    ]
    found = listed(arms, rows)
    return build(found, protocol, skin, "own", None, schema, [figures(), verify_gain()])


@task
def causalgame(
    suite: str = "antenna_trap",
    protocol: str = "tools",
    skin: str = "plain",
    profile: str = "certified",
    salt: str | None = None,
    evidence: str = "own",
    yoke: str | None = None,
    schema: bool = False,
    sandbox: str = BWRAP,
    analysis: bool = True,
    judge: str | list[str] | bool = False,
    rubric: str = "six",
    allow_self: bool = False,
    rows: int | str | None = None,
    **knobs: Any,
) -> Task:
    """CausalGame: study biased records, deploy small batches, submit a fleet's design, report.

    Args:
        suite: antenna_trap, deployment_zone_trap_categorical, weather_noise, all, knobs, …
        protocol: `tools` (function calling, in turns) or `code` (programs against a client).
        skin: Wording of the prompts: plain or terse.
        profile: `certified`, or `published` for comparison with published figures.
        salt: Another salt than `public` gives other instances.
        evidence: `own` experiments, `optimal` ones, or another run's (`yoked`, with `yoke`).
        yoke: A log whose experiments are given to this run.
        schema: Constrain programs by a JSON schema.
        sandbox: Where programs run: `bwrap`, or `docker` with the compose file that we ship.
        analysis: Whether a model that calls tools may run programs on the records.
        judge: A model, or several, that judge the report; true: the model role `judge`.
        rubric: `six` criteria (16 points) or `full` (17 items).
        allow_self: Let a model judge itself, to test the plumbing; such scores are labelled.
        rows: As for `causallink`.
        **knobs: keep_failed, counts, drones, deploys, queries, threshold, guard, max_errors;
            data (a stored set).

    """
    found = chosen(f"causalgame/{suite}", profile, salt, knobs, rows)
    wanted = sandbox_named(sandbox) if analysis or protocol != TOOLS else None
    judges = None if isinstance(judge, bool) else judge
    scorers = [report_judge(judges, rubric, allow_self=allow_self)] if judge else []
    return build(
        found, protocol, skin, evidence, yoke, schema,
        sandbox=wanted, analysis=analysis, scorers=scorers,
    )  # fmt: skip


@task
def recite(
    suite: str = "made_short",
    protocol: str = "dialogue",
    skin: str = "plain",
    profile: str = "certified",
    salt: str | None = None,
    schema: bool = False,
    repair: str | bool = False,
    judge: str | list[str] | bool = False,
    allow_self: bool = False,
    rows: int | str | None = None,
    **knobs: Any,
) -> Task:
    """ReCITE: read a long document and return the causal graph that it describes.

    Args:
        suite: made_short, made_long, made_ladder, standard or name_assisted.
        protocol: `dialogue` (one answer in JSON) or `tools` (`submit`).
        skin: Wording of the prompts: plain or terse.
        profile: `certified`, or `published` for comparison with published figures.
        salt: Another salt than `public` gives other documents.
        schema: Constrain replies by a JSON schema.
        repair: A second model that puts unreadable replies into form; true: the role `repair`.
        judge: A model, or several, that judge the graph; true: the model role `judge`.
        allow_self: Let a model judge itself, to test the plumbing; such scores are labelled.
        rows: As for `causallink`.
        **knobs: names, similarity, max_errors, data (a stored set, or released texts), filter,
            nodes, length, field, explicit, implicit, stated, implied, distractors.

    """
    found = chosen(f"recite/{suite}", profile, salt, knobs, rows)
    judges = None if isinstance(judge, bool) else judge
    scorers = [graph_judge(judges, allow_self=allow_self)] if judge else []
    return build(found, protocol, skin, "own", None, schema, scorers=scorers, repair=repair)


def sandbox_named(name: str) -> SandboxEnvironmentType:
    """Return a sandbox: our own, or docker with the compose file that we ship."""
    if name == DOCKER:
        return DOCKER, compose()
    return name
