"""Write Inspect logs of reference agents, so that floors and ceilings are real logs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from inspect_ai import eval as inspect_eval

from whybench.episode.family import Suite
from whybench.interfaces.inspectai.tasks import Declared, declared_tasks


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
