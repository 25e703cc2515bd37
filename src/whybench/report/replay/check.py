"""Compute every score of logs again from the stored actions, and name what differs.

A log is a file that anyone can edit. The actions in it determine the score, so an edited score
differs from the replayed one. Edited actions that are legal, with all scores and messages made to
fit, cannot be noticed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd
from inspect_ai.log import EvalSample, read_eval_log, read_eval_log_samples_by_id
from inspect_ai.scorer import SampleScore, Score

from whybench.episode.action import Action
from whybench.interfaces.inspectai.metrics import figures
from whybench.interfaces.inspectai.record import (
    CLUSTER,
    EPISODE,
    INSTANCE,
    TEMPLATE,
    crashed,
    located,
    lost_kind,
    replayed,
)
from whybench.interfaces.inspectai.scorer import SCORER, differences, score_of
from whybench.interfaces.inspectai.solver import TOOLS
from whybench.report.replay.messages import in_tools, in_turns
from whybench.report.run import Run
from whybench.report.runs import Logs, own_key

AT_ONCE = 100
"""Samples that are read together."""

UNNEEDED = {"events", "attachments", "output", "timelines", "invocations"}
"""Fields of a stored sample that the check does not read."""

SHOWN = 20
"""Differences that are printed one by one."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One value of a log that its own actions do not give."""

    log: str
    sample: str
    """The id and the epoch of the sample; empty for the log as a whole."""
    what: str
    stored: str
    replayed: str

    def __str__(self) -> str:
        place = f"{self.log}, {self.sample}" if self.sample else self.log
        return f"{place}: {self.what}: stored {self.stored}, replayed {self.replayed}"


def checked(logs: Logs) -> Logs:
    """Return logs with replayed scores, and with the differences from the stored ones.

    An episode that cannot be played again here, such as one of an older version of its family,
    keeps its stored score, and `unchecked` says so.
    """
    found: list[Difference] = []
    unchecked: list[tuple[str, str]] = []
    runs: list[Run] = []
    again: dict[str, list[SampleScore]] = {}
    for run in logs.runs:
        rows = run.frame.to_dict("records")
        for row, sample in _samples(run, rows):
            name = f"{row['sample']} (epoch {row['epoch']})"
            try:
                score, more = _replayed(run, row, sample)
            except (ValueError, KeyError, OSError, RuntimeError, ImportError) as error:
                unchecked.append((f"{run.log}, {name}", str(error)[:200] or type(error).__name__))
                continue
            found += [Difference(run.log, name, what, *map(_told, pair)) for what, *pair in more]
            if score is not None:
                row |= {"outcome": score.answer, "labels": score.metadata or {}}
                row |= score.as_dict()
                again.setdefault(run.path, []).append(
                    SampleScore(score=score, sample_id=sample.id, sample_metadata=sample.metadata)
                )
        runs.append(replace(run, frame=pd.DataFrame(rows, columns=run.frame.columns)))
    for path, scores in again.items():
        found += _header(path, scores, [run for run in runs if run.path == path])
    return replace(logs, runs=tuple(runs), differences=tuple(found), unchecked=tuple(unchecked))


def said(logs: Logs) -> list[str]:
    """Return what the check of logs found, in sentences."""
    lines = [str(one) for one in logs.differences[:SHOWN]]
    if len(logs.differences) > SHOWN:
        lines.append(f"… and {len(logs.differences) - SHOWN} more differences.")
    if lines:
        lines.append(
            f"{len(logs.differences)} values of the logs differ from what their actions give. "
            "The replayed scores are used."
        )
    if logs.unchecked:
        name, why = logs.unchecked[0]
        lines.append(
            f"{len(logs.unchecked)} episodes could not be replayed, so their stored scores are "
            f"used. The first is {name}: {why}"
        )
    return lines


def _samples(
    run: Run, rows: Sequence[dict[str, Any]]
) -> Iterator[tuple[dict[str, Any], EvalSample]]:
    """Yield the rows of a run with their whole samples."""
    for start in range(0, len(rows), AT_ONCE):
        some = rows[start : start + AT_ONCE]
        asked = [(row.get("sample", row["instance"]), int(row["epoch"])) for row in some]
        read = read_eval_log_samples_by_id(run.path, asked, exclude_fields=UNNEEDED)
        yield from zip(some, read, strict=True)


def _replayed(
    run: Run, row: Mapping[str, Any], sample: EvalSample
) -> tuple[Score | None, list[tuple[str, Any, Any]]]:
    """Return the replayed score of a sample, and everything in which the log differs from it."""
    if (run.family.name, row["instance"]) != _named(sample):
        return None, [("coordinates", row["instance"], _named(sample)[1])]
    stored = sample.store.get(EPISODE)
    if stored is None or crashed(stored):
        return None, []
    family, instance = located(sample.metadata)
    record = json.loads(stored)
    template = sample.metadata.get(TEMPLATE) or run.template or family.templates[0]
    if run.protocol == TOOLS and not record["given"]:
        episode = family.open(instance)
        told = [
            episode.describe(episode.step(Action.from_json(action)), template)
            for action in record["actions"]
        ]
    else:
        episode, told = replayed(family, instance, stored), None
    trace = episode.trace
    limit = None if sample.limit is None else f"{sample.limit.type}_limit"
    score = score_of(family, episode, lost_kind(sample.store), limit)
    scores = sample.scores or {}
    held = scores.get(own_key(scores)) or Score(value={})
    found = differences(held, score)
    summary = Score(
        value={name: row.get(name) for name in score.as_dict()},
        answer=row["outcome"],
        metadata=score.metadata,
    )
    known = {name for name, _, _ in found}
    found += [one for one in differences(summary, score) if one[0] not in known]
    if record["outcome"] != trace.outcome:
        found.append(("outcome of the record", record["outcome"], trace.outcome))
    if len(record["actions"]) != len(trace.steps):
        found.append(("number of actions", len(record["actions"]), len(trace.steps)))
    if instance.cluster != sample.metadata.get(CLUSTER, instance.cluster):
        found.append(("cluster", sample.metadata[CLUSTER], instance.cluster))
    if run.protocol == TOOLS:
        found += in_tools(sample, trace, told)
    elif run.protocol and not trace.given and not run.args.get("repair"):
        again = family.open(instance)
        found += in_turns(sample, family.conversation(again, template), again, trace)
    return score, found


def _named(sample: EvalSample) -> tuple[str, str]:
    place = json.loads(sample.metadata[INSTANCE])
    return place["family"], place["id"]


def _header(path: str, scores: Sequence[SampleScore], runs: Sequence[Run]) -> Iterator[Difference]:
    """Yield what the header of a log states otherwise than its samples."""
    log = read_eval_log(path, header_only=True)
    name = Path(path).name
    versions = {run.version.partition("-")[0] for run in runs}
    stated = str(log.eval.task_version).partition("-")[0]
    if versions != {stated}:
        yield Difference(name, "", "version", stated, ", ".join(sorted(versions)))
    total = sum(len(run.frame) for run in runs)
    if log.results is not None and log.results.total_samples != total:
        yield Difference(name, "", "samples", str(log.results.total_samples), str(total))
    played = {str(name) for run in runs for name in run.frame["sample"]}
    if missing := {str(name) for name in log.eval.dataset.sample_ids or ()} - played:
        yield Difference(name, "", "samples", min(missing), "missing")
    shown = [one for one in (log.results.scores if log.results else ()) if one.name == SCORER]
    if not shown or len(scores) != total or (log.eval.config.epochs or 1) > 1:
        return
    compute: Any = figures()
    for what, new in compute(list(scores)).items():
        old = shown[-1].metrics.get(what)
        if old is not None and abs(old.value - new) > 1e-9:
            yield Difference(name, "", what, _told(old.value), _told(new))


def _told(value: Any) -> str:
    """Return a value as a short text in one line."""
    return f"{value:.4g}" if isinstance(value, float) else " ".join(str(value).split())[:120]
