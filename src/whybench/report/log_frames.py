"""Read logs through Inspect's data frames: their headers and the summaries of their samples."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from inspect_ai.analysis import EvalColumn, SampleColumn, evals_df, samples_df
from inspect_ai.log import EvalLog, EvalSampleSummary, list_eval_logs

from whybench.interfaces.inspectai.record import INSTANCE, TEMPLATE


def listed(folder: str) -> list[str]:
    """Return the logs in a folder."""
    return [info.name for info in list_eval_logs(folder)]


def heads_of(files: Sequence[str]) -> list[dict[str, Any]]:
    """Return a row per log, from its header."""
    frame = evals_df(list(files), columns=HEAD, strict=True, quiet=True)
    return [{str(name): value for name, value in row.items()} for row in frame.to_dict("records")]


def _text(pick: Callable[[Any], Any]) -> Callable[[Any], str]:
    """Return a column function that gives JSON text, which Inspect does not change."""
    return lambda thing: json.dumps(pick(thing), default=str)


def _models(given: Any) -> str:
    """Return the model of a role, or its models separated by commas."""
    return ",".join(one.model for one in (given if isinstance(given, list) else [given]))


def _config(log: EvalLog) -> dict[str, Any]:
    given = log.eval.model_generate_config.model_dump(exclude_none=True)
    limits = log.eval.config.model_dump(exclude_none=True)
    wanted = ("epochs", "limit", "sample_id", "message_limit", "token_limit", "time_limit")
    roles = {role: _models(model) for role, model in (log.eval.model_roles or {}).items()}
    more = {"roles": roles, "model_args": log.eval.model_args}
    return given | {name: limits[name] for name in wanted if name in limits} | more


LOG = EvalColumn("log", path=lambda log: log.location, required=True)
HEAD = [
    LOG,
    EvalColumn("status", path="status", required=True),
    EvalColumn("created", path="eval.created", required=True, type=str),
    EvalColumn("task", path="eval.task", required=True),
    EvalColumn("version", path="eval.task_version", required=True, type=str),
    EvalColumn("model", path="eval.model", required=True),
    EvalColumn("args", path=_text(lambda log: log.eval.task_args)),
    EvalColumn("passed", path=_text(lambda log: log.eval.task_args_passed)),
    EvalColumn("packages", path=_text(lambda log: log.eval.packages)),
    EvalColumn("config", path=_text(_config)),
    EvalColumn("total", path="results.total_samples"),
]


def _usage(sample: EvalSampleSummary) -> dict[str, Any]:
    return {name: usage.model_dump() for name, usage in sample.model_usage.items()}


def _scores(sample: EvalSampleSummary) -> dict[str, Any]:
    return {name: score.model_dump() for name, score in (sample.scores or {}).items()}


BODY = [
    SampleColumn("epoch", path="epoch", required=True, full=False),
    SampleColumn("sample", path="id", required=True, full=False),
    SampleColumn("template", path=lambda s: s.metadata.get(TEMPLATE), full=False),
    SampleColumn("place", path=lambda s: s.metadata.get(INSTANCE), full=False),
    SampleColumn("scores", path=_text(_scores), full=False),
    SampleColumn("usage", path=_text(_usage), full=False),
    SampleColumn("seconds", path="total_time", full=False),
    SampleColumn("error", path="error", full=False),
    SampleColumn("limit", path="limit", full=False),
]


def samples_of(heads: Sequence[Mapping[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of every log, all read in one call, because a call per log is slow.

    Inspect then keeps each sample only once. A log that shares samples with another one, such as a
    retried log, is therefore read again separately.
    """
    found: dict[str, list[dict[str, Any]]] = {head["log"]: [] for head in heads}
    if found:
        for row in samples_df(list(found), columns=[LOG, *BODY], quiet=True).to_dict("records"):
            found[row["log"]].append(row)
    for head in heads:
        if len(found[head["log"]]) != head["total"]:
            alone = samples_df(head["log"], columns=BODY, quiet=True)
            found[head["log"]] = alone.to_dict("records")
    return found
