"""Where every figure comes from: logs, commands, versions."""

from __future__ import annotations

import shlex

from whybench.report.frames import tidy
from whybench.report.naming import shown
from whybench.report.runs import ExamLog, Logs, Run
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
    "sample_id": "--sample-id",
    "message_limit": "--message-limit",
    "token_limit": "--token-limit",
    "time_limit": "--time-limit",
}
"""Settings that change what is measured → Inspect's options for them."""


HIDDEN = ("key", "token", "secret", "password", "url", "header")
"""Words in the names of model arguments whose values are nobody's business."""


def provenance(logs: Logs, reveal: bool = False) -> Section:
    """Return the commands that would run each log again, with the versions that made it."""
    rows = tidy(
        {
            "log": log.log,
            "made": log.created,
            "command": command(log, reveal),
            "family version": log.version.partition("-")[0],
            **{f"{name} version": version for name, version in sorted(log.packages.items())},
        }
        for log in logs.files.values()
    )
    parts: list[Part] = [Table("commands", "Commands and versions", rows)]
    if logs.left_out:
        left = tidy({"log": name, "why": why} for name, why in logs.left_out)
        parts.append(Table("left-out", "Logs that were left out", left))
    intro = (
        "The command that each log records, with the versions that made it. Instances are rebuilt "
        "from their coordinates; one that this installation would build differently is not shown. "
        "Secret seeds are not printed, and of files only the names."
    )
    return Section("provenance", "Commands and versions", intro, tuple(parts))


def command(log: Run | ExamLog, reveal: bool = False) -> str:
    """Return the command line that a log records; keys and addresses are not in it."""
    words = ["inspect", "eval", log.task]
    for name, value in log.passed.items():
        words += ["-T", f"{name}={value if reveal and name == 'seed' else shown(name, value)}"]
    words += ["--model", log.model]
    for name, value in (log.config.get("model_args") or {}).items():
        hidden = any(word in name.lower() for word in HIDDEN)
        words += ["-M", f"{name}={'…' if hidden else shown('', value)}"]
    for role, model in (log.config.get("roles") or {}).items():
        words += ["--model-role", f"{role}={model}"]
    for name, option in OPTIONS.items():
        value = log.config.get(name)
        if value is not None and not (name == "epochs" and value == 1):
            words += [option, _range(value) if name == "limit" else shown("", value)]
    return shlex.join(words)


def _range(limit: object) -> str:
    """Return Inspect's limit: a number, or from where to where."""
    if isinstance(limit, list | tuple):
        first, last = limit
        return f"{int(first) + 1}-{last}"
    return str(limit)
