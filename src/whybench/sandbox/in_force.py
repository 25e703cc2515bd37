"""Say which limits are in force: some depend on the machine and on what the host delegates."""

import platform

from whybench.sandbox import seccomp
from whybench.sandbox.limits import MIB
from whybench.sandbox.room import Room


def in_force(room: Room) -> str:
    """Return the limits of a sample's sandbox in a few lines."""
    limits, machine = room.limits, platform.machine()
    memory = (
        "bounded by a control group, and watched" if room.group else "watched, no control group"
    )
    calls = (
        f"a list of {len(seccomp.calls(machine))} allowed ones"
        if seccomp.program()
        else f"NOT filtered: unknown machine {machine}; memory can be held that nobody counts"
    )
    folders = (
        "overlays"
        if room.shown == "overlay"
        else "bind mounts, because the kernel refuses overlays: programs see paths of the host"
    )
    lines = (
        "Sandbox `bwrap`, limits of each sample:",
        f"memory {limits.memory // MIB} MiB in all, files and buffers included ({memory})",
        f"{limits.seconds} s per program, {limits.output // 1024} KiB of output",
        f"{limits.processes} processes on one core",
        f"disk {limits.disk // MIB} MiB, {limits.file // MIB} MiB per file, {limits.inodes} files",
        f"system calls: {calls}",
        f"folders of the host: {folders}",
    )
    return "\n  ".join(lines) + "\n"
