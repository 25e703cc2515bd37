"""Read logs as runs: one system on one suite, with a row per sample and epoch.

Logs are read through Inspect's data frames, from the summaries only, so ten thousand samples take
seconds. Whole samples are read only to replay an episode (`episodes.py`).
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from whybench.causal.canonical import canonical_json
from whybench.episode.registry import families
from whybench.report.naming import named
from whybench.report.run import REFERENCE as REFERENCE
from whybench.report.run import Run as Run

if TYPE_CHECKING:
    from whybench.report.replay.check import Difference

EXAM = "_exam"
"""End of the name of a task whose logs hold the exam of a family's judge."""

SCORER = "episode_score"
"""Start of the key of WhyBench's own score."""


@dataclass(frozen=True, slots=True)
class ExamLog:
    """A log of a judge's exam."""

    model: str
    path: str
    task: str
    """The task's registered name, `whybench/FAMILY_exam`."""
    passed: Mapping[str, Any] = field(default_factory=dict)
    config: Mapping[str, Any] = field(default_factory=dict)
    packages: Mapping[str, str] = field(default_factory=dict)
    created: str = ""
    version: str = ""

    @property
    def log(self) -> str:
        """The log's file name."""
        return Path(self.path).name


@dataclass(frozen=True, slots=True)
class Logs:
    """Runs and exams found in logs, and the logs that were left out, with the reason."""

    runs: tuple[Run, ...]
    exams: tuple[ExamLog, ...] = ()
    left_out: tuple[tuple[str, str], ...] = ()
    differences: tuple[Difference, ...] = ()
    """Values of the logs that their actions do not give, if the logs were checked."""
    unchecked: tuple[tuple[str, str], ...] = ()
    """Episodes that could not be replayed, with the reason."""

    @property
    def files(self) -> dict[str, Run | ExamLog]:
        """Every log that was read, by its path, with its first run or its exam."""
        found: dict[str, Run | ExamLog] = {}
        for run in self.runs:
            found.setdefault(run.path, run)
        return found | {exam.path: exam for exam in self.exams}


def read_runs(paths: Iterable[str | Path], *, trust: bool = True) -> Logs:
    """Read logs and folders of logs. Without `trust`, scores are computed again from actions."""
    files = [name for path in paths for name in _files(str(path))]
    if not files:
        raise ValueError("Found no logs. Give .eval files, or a folder that holds some.")
    from whybench.report.log_frames import heads_of, samples_of  # Inspect, when logs are read

    heads = heads_of(files)
    read = {Path(head["log"]).name for head in heads}
    unread = [name for name in files if Path(name).name not in read]
    if unread:
        raise ValueError(f"Inspect does not recognise {unread[0]} as a log. Do not rename logs.")
    runs: list[Run] = []
    exams: list[ExamLog] = []
    left_out: list[tuple[str, str]] = []
    samples = samples_of([head for head in heads if head["status"] == "success"])
    for head in sorted(heads, key=lambda head: (str(head["created"]), head["log"])):
        head = {name: json.loads(value) for name, value in head.items() if name in JSON} | {
            name: value for name, value in head.items() if name not in JSON
        }
        name, task = Path(head["log"]).name, str(head["task"])
        if head["status"] != "success":
            left_out.append((name, f"not finished (status {head['status']})"))
        elif task.endswith(EXAM):
            told = {name: head[name] for name in ("passed", "config", "created", "version")}
            packages = head["packages"] or {}
            exams.append(ExamLog(head["model"], head["log"], task, packages=packages, **told))
        else:
            found = list(_runs(name, task, head, samples[head["log"]]))
            runs += found
            if not found:
                left_out.append((name, "it has no episode of an installed family"))
    logs = Logs(tuple(named(runs)), tuple(exams), tuple(left_out))
    if trust:
        return logs
    from whybench.report.replay.check import checked

    return checked(logs)


def _files(path: str) -> list[str]:
    if Path(path).is_file():
        return [path]
    if not Path(path).exists():
        raise ValueError(f"There is no log or folder {path}.")
    from whybench.report.log_frames import listed

    return listed(path)


JSON = ("args", "passed", "packages", "config")


USAGE = {
    "input_tokens": "input_tokens",
    "output_tokens": "output_tokens",
    "reasoning_tokens": "reasoning_tokens",
    "cost": "total_cost",
}
"""Column → Inspect's name for this usage of a model."""


CACHED = ("input_tokens_cache_read", "input_tokens_cache_write")
"""Input tokens that Inspect counts apart, because providers bill them at another price."""


def _runs(
    name: str, task: str, head: Mapping[str, Any], samples: Iterable[Mapping[str, Any]]
) -> Iterable[Run]:
    """Yield a run for each suite and template in a log; most logs have one of each."""
    rows: dict[str, list[dict[str, Any]]] = {}
    for sample in samples:
        place = sample["place"]
        if not isinstance(place, str):
            continue
        where = json.loads(place)
        if where["family"] in families():
            told = {"template": sample["template"]} if isinstance(sample["template"], str) else {}
            same = {k: where[k] for k in where if k not in ("block", "index", "id", "cluster")}
            key = canonical_json(same | told)
            rows.setdefault(key, []).append(_row(where, sample, head["model"]))
    for key, found in rows.items():
        where = json.loads(key)
        yield Run(
            log=name,
            path=head["log"],
            model=head["model"],
            family=families()[where["family"]],
            suite=f"{where['family']}/{where['suite']}",
            profile=where["profile"],
            seed=where["seed"],
            parameters=where["parameters"],
            version=f"{where['version']}-{head['version'].partition('-')[2]}",
            task=task,
            args=head["args"] | {name: where[name] for name in ("template",) if name in where},
            passed=head["passed"],
            created=head["created"],
            frame=pd.DataFrame(found),
            packages=head["packages"] or {},
            config=head["config"],
        )


def _row(where: Mapping[str, Any], sample: Mapping[str, Any], model: str) -> dict[str, Any]:
    """Return one row, with the tokens of the system but not those of a judge."""
    scores = json.loads(sample["scores"])
    own = scores.pop(own_key(scores), None) or {}
    value = own.get("value")
    family = families()[where["family"]]
    row: dict[str, Any] = {
        "instance": where["id"],
        "sample": sample["sample"],
        "block": where.get("block", 0),
        "index": where["index"],
        "cluster": where["cluster"],
        "epoch": int(sample["epoch"]),
        "outcome": own.get("answer") or "unscored",
    }
    shown = [metric.name for metric in family.metrics if metric.role != "detail"]
    row |= dict.fromkeys(shown, math.nan)
    if isinstance(value, Mapping):
        row |= {key: _known(v) for key, v in value.items()}
    row["labels"] = own.get("metadata") or {}
    used = json.loads(sample["usage"]).get(model, {})
    row |= {column: _known(used.get(name)) for column, name in USAGE.items()}
    row["input_tokens"] += sum(used.get(name) or 0 for name in CACHED)
    row["seconds"] = _known(sample["seconds"])
    row["error"] = sample["error"] if isinstance(sample["error"], str) else None
    for scorer, score in scores.items():
        given = score.get("value")
        if isinstance(given, Mapping):
            row |= {f"{scorer}.{key}": v for key, v in given.items()}
    return row


def _known(value: Any) -> Any:
    return math.nan if value is None else value


def own_key(scores: Iterable[str]) -> str:
    """Return the key of WhyBench's newest score; Inspect numbers appended scores."""
    found = [name for name in scores if name.rpartition("/")[2].startswith(SCORER)]
    return max(found, key=lambda name: (len(name), name), default=SCORER)
