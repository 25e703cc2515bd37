"""Where every figure comes from: logs, commands, versions."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from whybench.report.frames import tidy
from whybench.report.runs import Logs, Run
from whybench.report.section import Part, Section, Table

OPTIONS = {
    "temperature": "--temperature",
    "max_tokens": "--max-tokens",
    "seed": "--seed",
    "top_p": "--top-p",
    "reasoning_effort": "--reasoning-effort",
    "reasoning_tokens": "--reasoning-tokens",
    "epochs": "--epochs",
    "limit": "--limit",
    "message_limit": "--message-limit",
    "token_limit": "--token-limit",
    "time_limit": "--time-limit",
}
"""Settings that change what is measured → Inspect's options for them."""


def provenance(logs: Logs) -> Section:
    """Return the commands that would run each log again, with the versions that made it."""
    runs: dict[str, Run] = {}
    for run in logs.runs:
        runs.setdefault(run.path, run)
    rows = tidy(
        {
            "log": run.log,
            "made": run.created,
            "command": command(run),
            "family version": run.version.partition("-")[0],
            **{f"{name} version": version for name, version in sorted(run.packages.items())},
        }
        for run in runs.values()
    )
    parts: list[Part] = [Table("commands", "Commands and versions", rows)]
    if logs.left_out:
        left = tidy({"log": name, "why": why} for name, why in logs.left_out)
        parts.append(Table("left-out", "Logs that were left out", left))
    intro = (
        "The command that each log records, with the versions that made it. Instances are rebuilt "
        "from their coordinates; one that this installation would build differently is not shown."
    )
    return Section("provenance", "Commands and versions", intro, tuple(parts))


def command(run: Run) -> str:
    """Return the command line that a log records.

    Settings that a log does not tell apart from defaults, such as keys and addresses, are not in
    it.
    """
    words: Sequence[str] = (
        ["inspect", "eval", f"whybench/{run.task}"]
        + [part for name, value in run.passed.items() for part in ("-T", f"{name}={_said(value)}")]
        + ["--model", run.model]
        + [
            part
            for name, option in OPTIONS.items()
            if (value := run.config.get(name)) not in (None, 1 if name == "epochs" else None)
            for part in (option, _said(value))
        ]
    )
    return shlex.join(words)


def _said(value: object) -> str:
    if isinstance(value, list):
        return ",".join(map(str, value)) if len(value) != 2 else f"{value[0]}-{value[1]}"
    return str(value).lower() if isinstance(value, bool) else str(value)
