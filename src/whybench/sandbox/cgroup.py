"""A control group (version 2) per sample, where the host has delegated one to this user.

Without it, `sandbox.watch` bounds memory by looking. With it, the kernel bounds memory as well, and
exactly. `WHYBENCH_CGROUP` names the delegated folder; otherwise the run's own group is used, if its
children may have the controllers.
"""

import contextlib
import os
import secrets
from dataclasses import dataclass
from pathlib import Path

from whybench.sandbox.limits import Limits

VARIABLE = "WHYBENCH_CGROUP"
MOUNTED = Path("/sys/fs/cgroup")
NEEDED = {"memory", "pids"}

_JOIN = 'echo $$ >"$0/cgroup.procs" && exec "$@"'


@dataclass(frozen=True, slots=True)
class Group:
    """The control group of one sample."""

    folder: Path

    def entry(self) -> list[str]:
        """Return the command line that starts a command in the group."""
        return ["/bin/sh", "-c", _JOIN, str(self.folder)]

    def stopped(self) -> bool:
        """Tell whether the kernel has ended a process of the group for its memory."""
        with contextlib.suppress(OSError):
            lines = (self.folder / "memory.events").read_text().splitlines()
            return any(line.startswith("oom_kill ") and line != "oom_kill 0" for line in lines)
        return False

    def close(self) -> None:
        """Remove the group; its processes have ended."""
        with contextlib.suppress(OSError):
            self.folder.rmdir()


def delegated() -> Path | None:
    """Return the folder in which this user may make groups with the controllers, if any."""
    named = os.environ.get(VARIABLE)
    folder = Path(named) if named else _own()
    if folder is None or not os.access(folder, os.W_OK):
        return None
    try:
        given = set((folder / "cgroup.subtree_control").read_text().split())
    except OSError:
        return None
    return folder if given >= NEEDED else None


def open_group(limits: Limits) -> Group | None:
    """Make the control group of a sample, if the host allows it."""
    parent = delegated()
    if parent is None:
        return None
    folder = parent / f"whybench-{secrets.token_hex(8)}"
    bounds = {
        "memory.max": limits.memory,
        "memory.swap.max": 0,
        "memory.oom.group": 1,
        "pids.max": 4 * limits.processes,
    }
    try:
        folder.mkdir()
        for name, value in bounds.items():
            (folder / name).write_text(str(value))
    except OSError:
        Group(folder).close()
        return None
    return Group(folder)


def _own() -> Path | None:
    try:
        lines = Path("/proc/self/cgroup").read_text().splitlines()
    except OSError:
        return None
    paths = [line.removeprefix("0::/") for line in lines if line.startswith("0::/")]
    return MOUNTED / paths[0] if paths else None
