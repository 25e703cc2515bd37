"""Inspect logs of the reference agents, so that floors and ceilings are real logs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from inspect_ai import eval as inspect_eval

from whybench.episode.family import Suite

LAB = "replayscm/lab"

PLAIN: Mapping[str, Mapping[str, Any]] = {"causalgame": {"analysis": False}}
"""Task arguments without which a reference agent would need what it never uses: a sandbox."""


def task_of(path: str) -> str:
    """Return the Inspect task that plays a suite.

    >>> task_of("causalab/main_4"), task_of("replayscm/lab")
    ('whybench/causalab', 'whybench/replayscm_lab')
    """
    return "whybench/replayscm_lab" if path == LAB else f"whybench/{path.partition('/')[0]}"


def reference_logs(
    suite: Suite,
    agents: Sequence[str],
    log_dir: Path,
    limit: int | None = None,
    args: Mapping[str, Any] | None = None,
) -> list[str]:
    """Let reference agents play a suite as Inspect models; return the logs' paths."""
    unknown = [agent for agent in agents if agent not in suite.family.agents]
    if unknown:
        known = ", ".join(suite.family.agents)
        raise ValueError(f"{suite.family.name} has no agent {unknown[0]!r}: try {known}")
    given: dict[str, Any] = {"profile": suite.profile, "salt": suite.salt, **suite.knobs.asdict()}
    if suite.path != LAB:
        given["suite"] = suite.name
    logs = inspect_eval(
        task_of(suite.path),
        model=[f"whybench/{agent}" for agent in agents],
        task_args=given | dict(PLAIN.get(suite.family.name, {})) | dict(args or {}),
        limit=limit,
        log_dir=str(log_dir),
        log_realtime=False,
        display="none",
    )
    failed = [log for log in logs if log.status != "success"]
    if failed:
        why = failed[0].error.message if failed[0].error else failed[0].status
        raise RuntimeError(f"{failed[0].eval.model} on {suite.path}: {why}")
    return [log.location for log in logs]
