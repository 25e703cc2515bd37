"""List the logs, commands and versions behind a report."""

from __future__ import annotations

import shlex

from whybench.report.frames import tidy
from whybench.report.naming import shown
from whybench.report.runs import ExamLog, Logs, Run
from whybench.report.section import Part, Remark, Section, Table

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
"""Setting that changes results → Inspect's option for it."""


HIDDEN = ("key", "token", "secret", "password", "url", "header")
"""Words in names of model arguments whose values are not shown."""


def provenance(logs: Logs, reveal: bool = False) -> Section:
    """Return the section with the command and the versions of each log."""
    rows = tidy(
        {
            "log": log.log,
            "created": log.created,
            "command": command(log, reveal),
            "family version": log.version.partition("-")[0],
            **{f"{name} version": version for name, version in sorted(log.packages.items())},
        }
        for log in logs.files.values()
    )
    parts: list[Part] = [Table("commands", "Commands and versions", rows)]
    if logs.left_out:
        left = tidy({"log": name, "reason": why} for name, why in logs.left_out)
        parts.append(Table("left-out", "Logs that were left out", left))
    if logs.differences:
        text = (
            f"{len(logs.differences)} values of the logs differ from what their own actions give. "
            "The page uses the replayed scores."
        )
        rows = tidy(
            {"log": d.log, "sample": d.sample, "what": d.what, "stored": d.stored,
             "replayed": d.replayed}
            for d in logs.differences
        )  # fmt: skip
        parts += [Remark(text, "warning"), Table("differences", "Edited values", rows)]
    if logs.unchecked:
        rows = tidy({"episode": name, "reason": why} for name, why in logs.unchecked)
        parts.append(Table("unchecked", "Scores that could not be replayed", rows))
    intro = (
        "Each row has the command that a log records, and the versions that produced the log. The "
        "report rebuilds instances from their suite, seed and index. It does not show instances "
        "that this installation would build differently. A secret seed appears as a tag, and a "
        "file as its name without its folder."
    )
    return Section("provenance", "Commands and versions", intro, tuple(parts))


def command(log: Run | ExamLog, reveal: bool = False) -> str:
    """Return the command line that a log records, without keys and addresses."""
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
    """Return Inspect's limit as text: a number, or the first and last sample."""
    if isinstance(limit, list | tuple):
        first, last = limit
        return f"{int(first) + 1}-{last}"
    return str(limit)
