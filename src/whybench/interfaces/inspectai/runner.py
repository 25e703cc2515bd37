"""Run tasks: a release with Inspect's eval set, or reference agents on a suite.

The same call resumes a release that was stopped.

Samples are written to the log as they end, and Inspect keeps those of a stopped run. So no finished
sample is lost or played twice, even if the process was killed.
"""

from __future__ import annotations

import contextlib
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from inspect_ai import Task, eval_set
from inspect_ai import eval as inspect_eval
from inspect_ai.hooks import Hooks, SampleEnd, TaskStart, hooks
from inspect_ai.log import (
    EvalLog,
    list_eval_logs,
    read_eval_log,
    read_eval_log_sample_summaries,
)

from whybench.episode.family import Suite
from whybench.interfaces.inspectai.tasks import Declared, declared_tasks, tasks
from whybench.interfaces.progress import duration
from whybench.release.data import load_release

Told = Callable[[str], None]
"""Receives lines about the progress of a run."""

EVERY = 15.0
"""Seconds between two lines of progress."""


@dataclass(slots=True)
class Progress:
    """How much of each family is done, and the time left."""

    total: Mapping[str, int]
    tell: Told
    done: dict[str, int] = field(default_factory=dict)
    fresh: int = 0
    """Samples that ended in this process."""
    started: float = field(default_factory=time.monotonic)
    told: float = 0.0

    def ended(self, family: str) -> None:
        """Count a sample."""
        self.done[family] = self.done.get(family, 0) + 1
        self.fresh += 1
        now = time.monotonic()
        if now - self.told >= EVERY or sum(self.done.values()) == sum(self.total.values()):
            self.told = now
            self.tell(self.line(now - self.started))

    def line(self, seconds: float) -> str:
        """Return one line: each family, and the time left at the speed so far.

        >>> told = Progress({"a": 4, "b": 2}, print, {"a": 1, "b": 2}, fresh=3)
        >>> told.line(30.0)
        'a 1/4, b 2/2; about 30 s left'
        """
        each = ", ".join(f"{name} {self.done.get(name, 0)}/{n}" for name, n in self.total.items())
        left = sum(self.total.values()) - sum(self.done.values())
        ahead = seconds * max(0, left) / max(1, self.fresh)
        return f"{each}; about {duration(ahead)} left"


_SHOWN: list[Progress] = []
"""The progress of the run of this process; empty if it is not shown."""


@hooks(name="whybench_progress", description="Shows the progress of `whybench run`.")
class Watch(Hooks):
    """Counts the samples of the run of this process."""

    def __init__(self) -> None:
        self._family: dict[str, str] = {}

    def enabled(self) -> bool:
        """Return whether a run is watched."""
        return bool(_SHOWN)

    async def on_task_start(self, data: TaskStart) -> None:
        """Note the family of a task."""
        self._family[data.eval_id] = data.spec.task.rpartition("/")[2]

    async def on_sample_end(self, data: SampleEnd) -> None:
        """Count a sample."""
        for shown in _SHOWN:
            shown.ended(self._family.get(data.eval_id, "?"))


@contextlib.contextmanager
def _watched(progress: Progress) -> Iterator[None]:
    _SHOWN.append(progress)
    try:
        yield
    finally:
        _SHOWN.remove(progress)


def _finished(log_dir: str, models: Sequence[str], which: str) -> dict[str, int]:
    """Return the finished samples of each family in earlier logs of a run."""
    found: Counter[str] = Counter()
    for info in list_eval_logs(log_dir) if Path(log_dir).is_dir() else ():
        head = read_eval_log(info, header_only=True).eval
        if head.model in models and head.task_args.get("set") == which:
            done = read_eval_log_sample_summaries(info)
            found[head.task.rpartition("/")[2]] += sum(one.completed for one in done)
    return dict(found)


def release_tasks(
    release: str, which: str, families: Sequence[str], given: Mapping[str, Any] | None = None
) -> list[Task]:
    """Return the Inspect tasks of a set, one per family."""
    made = tasks()
    return [made[family](release=release, set=which, **(given or {})) for family in families]


def run(
    models: Sequence[str],
    release: str,
    which: str,
    log_dir: str,
    *,
    families: Sequence[str] = (),
    given: Mapping[str, Any] | None = None,
    tell: Told | None = None,
    **options: Any,
) -> tuple[bool, list[EvalLog]]:
    """Run models on a set, and return whether all samples ended, with the logs.

    `given` are further arguments of the tasks, and `options` those of Inspect's eval set, such as
    `max_connections` or `limit`.
    """
    made = load_release(release)
    names = list(families) or list(made.families)
    todo = dict(zip(names, release_tasks(release, which, names, given), strict=True))
    return play(models, todo, log_dir, _finished(log_dir, models, which), tell, **options)


def play(
    models: Sequence[str],
    todo: Mapping[str, Task],
    log_dir: str,
    done: Mapping[str, int] | None = None,
    tell: Told | None = None,
    **options: Any,
) -> tuple[bool, list[EvalLog]]:
    """Play tasks by name with Inspect's eval set; those that have a finished log are kept."""
    limit = options.get("limit")
    sizes = {
        name: len(models) * min(len(task.dataset), limit or len(task.dataset))
        for name, task in todo.items()
    }
    progress = Progress(sizes, tell or (lambda _: None), dict(done or {}))
    with _watched(progress):
        return eval_set(
            list(todo.values()),
            model=list(models),
            log_dir=log_dir,
            log_buffer=1,
            log_dir_allow_dirty=True,
            max_tasks=max(4, len(todo)),
            **({"retry_attempts": 0, "retry_immediate": False, "fail_on_error": False} | options),
        )


def task_of(path: str) -> Declared:
    """Return the Inspect task that plays a suite: its own task, or the task of its family."""
    family, _, suite = path.partition("/")
    declared = declared_tasks()
    return next(
        (one for one in declared.values() if _plays_only(one, family, suite)), declared[family]
    )


def _plays_only(task: Declared, family: str, suite: str) -> bool:
    return "suite" in task.fixed and (task.family, task.suite) == (family, suite)


def reference_logs(
    suite: Suite,
    agents: Sequence[str],
    log_dir: Path,
    limit: int | None = None,
    args: Mapping[str, Any] | None = None,
) -> list[str]:
    """Let reference agents play a suite as Inspect models, and return the paths of the logs."""
    unknown = [agent for agent in agents if agent not in suite.family.agents]
    if unknown:
        known = ", ".join(suite.family.agents)
        raise ValueError(f"{suite.family.name} has no agent {unknown[0]!r}: try {known}")
    given: dict[str, Any] = {
        "profile": suite.profile,
        "seed": suite.seed,
        **suite.parameters.asdict(),
    }
    task = task_of(suite.path)
    if "suite" not in task.fixed:
        given["suite"] = suite.name
    logs = inspect_eval(
        f"whybench/{task.name}",
        model=[f"whybench/{agent}" for agent in agents],
        task_args=given | dict(task.reference) | dict(args or {}),
        limit=limit,
        log_dir=str(log_dir),
        log_realtime=False,
        display="none",
    )
    if any(log.status == "cancelled" for log in logs):
        raise KeyboardInterrupt  # Inspect ends quietly after Ctrl-C
    failed = [log for log in logs if log.status != "success"]
    if failed:
        why = failed[0].error.message if failed[0].error else failed[0].status
        raise RuntimeError(f"{failed[0].eval.model} on {suite.path}: {why}")
    return [log.location for log in logs]
