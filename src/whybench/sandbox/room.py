"""The private file system of one sample: a root folder and a bounded disk.

A waiting process (`sandbox.watch`) holds a mount namespace with the read-only root and a disk in
memory of a fixed size. Commands start in that namespace. The process ends with us, because it reads
from a pipe that only we hold open, and the disk disappears with it. Nothing is written to the
host's file system, so nothing can remain there.

Folders of the host are shown through overlays: each sample has inodes of its own, so that locks,
notices and times of use do not pass between samples, and no path of the host is listed.
"""

import contextlib
import itertools
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path

import anyio
from anyio.abc import Process

from whybench.sandbox.cgroup import Group, open_group
from whybench.sandbox.limits import MIB, Limits
from whybench.sandbox.system import DEVICES, PROGRAMS, SETTINGS, SITE, system, tools
from whybench.sandbox.uids import Uid, is_root, take

STAGES = ("/mnt", "/media", "/srv", "/opt", "/home")
"""Folders over which the root may be mounted, in its own namespace only."""

POST = 16 * MIB
"""Bytes of the disk on which Inspect's service exchanges messages. It is separate, so that a full
work directory cannot cut a program off from its client."""
POST_INODES = 1024

START_SECONDS = 30

_BUILD = """
set -eu
umask 022
stage=$1 uid=$2 disk=$3 inodes=$4 post=$5 post_inodes=$6 python=$7 inside=$8 watch=$9
shift 9
memory=$1 shown=overlay
shift
show() {
  if ! (cd "$1" && mount -t overlay -o "ro,lowerdir=.:$stage/empty" shown "$2") 2>/dev/null; then
    mount --rbind "$1" "$2"
    shown=bind
  fi
}
mount -t tmpfs -o size=8m,mode=0755 room "$stage"
root=$stage/root
mkdir "$root" "$stage/disk" "$stage/post" "$stage/empty"
: >"$stage/none"
mount -t tmpfs -o "size=$disk,nr_inodes=$inodes,mode=0711,nosuid,nodev" disk "$stage/disk"
mount -t tmpfs -o "size=$post,nr_inodes=$post_inodes,mode=0700,uid=$uid,gid=$uid,nosuid,nodev" \
  post "$stage/post"
for name in desk tmp shm; do
  mkdir -m 0700 "$stage/disk/$name"
  chown "$uid:$uid" "$stage/disk/$name"
done
mkdir -p "$root/proc" "$root/dev/shm" "$root/desk" "$root/tmp" "$root/var/tmp" "$root/etc" \
  "$root/PROGRAMS" "$root/SITE"
while [ "$1" != -- ]; do : >"$root/dev/$1"; shift; done; shift
ln -s /proc/self/fd "$root/dev/fd"
for number in 0:stdin 1:stdout 2:stderr; do
  ln -s "/proc/self/fd/${number%:*}" "$root/dev/${number#*:}"
done
while [ "$1" != -- ]; do cp -P "$1" "$root$1"; shift; done; shift
while [ "$1" != -- ]; do
  mkdir -p "$root$2"
  show "$1" "$root$2"
  shift 2
done; shift
while [ "$1" != -- ]; do mount --bind "$stage/empty" "$root$1"; shift; done; shift
while [ "$1" != -- ]; do
  to=$root/SITE/${1##*/}
  if [ -d "$1" ]; then mkdir "$to"; show "$1" "$to"; else cp "$1" "$to"; fi
  shift
done; shift
while [ $# -gt 0 ]; do
  if [ -e "/etc/$1" ]; then cp -L "/etc/$1" "$root/etc/$1"; fi
  shift
done
echo 'agent:x:1000:1000::/desk:/bin/sh' >"$root/etc/passwd"
echo 'agent:x:1000:' >"$root/etc/group"
ln -s "$inside" "$root/PROGRAMS/python3"
ln -s python3 "$root/PROGRAMS/python"
exec "$python" -I -S -c "$watch" "$shown" "$memory" "$stage/disk" "$stage/post"
""".replace("/PROGRAMS", PROGRAMS).replace("/SITE", SITE)


@dataclass(slots=True)
class Room:
    """An open file system; `close` ends it and every process in it."""

    limits: Limits
    stage: str
    keeper: Process
    uid: Uid | None
    post: int
    """An open folder: the disk of Inspect's service."""
    shown: str
    """How folders of the host are shown: `overlay`, or `bind` where the kernel has no overlays."""
    group: Group | None = None
    running: set[Process] = field(default_factory=set)
    _asking: anyio.Lock = field(default_factory=anyio.Lock)

    def entry(self) -> list[str]:
        """Return the command line that starts a command in the namespace, as its user."""
        path = tools()
        enter = [path["nsenter"], "--target", str(self.keeper.pid), "--mount"]
        if self.uid is None:
            enter += ["--user", "--preserve-credentials", "--"]
        else:
            number = str(self.uid.number)
            enter += ["--", path["setpriv"], "--reuid", number, "--regid", number]
            enter += ["--clear-groups", "--"]
        join = self.group.entry() if self.group else []
        return [*join, *enter, path["choom"], "-n", "1000", "--"]

    async def begin(self, first: int) -> None:
        """Have a command watched, before it does anything."""
        await self._ask(f"begin {first} {self.limits.processes} {_core()}")

    async def finish(self, first: int) -> tuple[str, int]:
        """Return the limit that ended a command, if any, and the most bytes that were counted."""
        try:
            reason, peak = (await self._ask(f"end {first}")).split()
        except (anyio.BrokenResourceError, anyio.ClosedResourceError, anyio.EndOfStream):
            return "killed", 0  # the sandbox was closed meanwhile
        if reason == "-" and self.group is not None and self.group.stopped():
            reason = "memory"
        return reason.removeprefix("-"), int(peak)

    async def _ask(self, line: str) -> str:
        if self.keeper.stdin is None or self.keeper.stdout is None:
            raise RuntimeError("The sandbox's waiting process has no pipes.")
        said = b""
        with anyio.CancelScope(shield=True):
            async with self._asking:
                await self.keeper.stdin.send(f"{line}\n".encode())
                while not said.endswith(b"\n"):
                    said += await self.keeper.stdout.receive()
        return said.decode()

    async def close(self) -> None:
        """End every process in the namespace and release its user id."""
        with anyio.CancelScope(shield=True):
            for process in [*self.running, self.keeper]:
                await end(process)
            os.close(self.post)
            if self.group is not None:
                self.group.close()
            if self.uid is not None:
                self.uid.release()


async def open_room(limits: Limits) -> Room:
    """Build the file system; if the system cannot, the error says what to change."""
    uid = take() if is_root() else None
    keeper: Process | None = None
    try:
        stage = _stage()
        keeper = await anyio.open_process(_keeping(stage, limits, uid), env={})
        shown = await _ready(keeper)
        post = os.open(f"/proc/{keeper.pid}/root{stage}/post", os.O_RDONLY | os.O_DIRECTORY)
    except BaseException:
        with anyio.CancelScope(shield=True):
            if keeper is not None:
                await end(keeper)
            if uid is not None:
                uid.release()
        raise
    return Room(limits, stage, keeper, uid, post, shown, open_group(limits))


async def end(process: Process) -> None:
    """Kill a process and wait for its end."""
    with anyio.CancelScope(shield=True):
        if process.returncode is None:
            process.kill()
        await process.aclose()


def _keeping(stage: str, limits: Limits, uid: Uid | None) -> list[str]:
    path, shown = tools(), system()
    apart = ["--mount", "--propagation", "private"]
    if uid is None:
        apart += ["--user", "--map-root-user"]
    owner = "0" if uid is None else str(uid.number)
    bounds = (owner, limits.disk, limits.inodes, POST, POST_INODES)
    folders = [path for pair in shown.folders for path in pair]
    lists: Sequence[Sequence[str]] = (DEVICES, shown.links, folders, shown.hidden, shown.packages)
    words = [word for words in lists for word in (*words, "--")]
    return [
        path["unshare"], *apart, "--", path["sh"], "-c", _BUILD, "sh",
        stage, *map(str, bounds), shown.python, shown.python_inside, _watch(), str(limits.memory),
        *words, *SETTINGS,
    ]  # fmt: skip


def _stage() -> str:
    """Choose a folder as mount point: one that hides nothing that programs need."""
    shown = system()
    needed = [Path(path) for path in (*dict(shown.folders), *shown.packages)]
    for stage in STAGES:
        if Path(stage).is_dir() and not any(path.is_relative_to(stage) for path in needed):
            return stage
    raise RuntimeError(f"The sandbox needs one of the folders {', '.join(STAGES)}. Run: mkdir /mnt")


_cores = itertools.count()


def _core() -> int:
    """Choose the one core of a command: the cores take turns."""
    cores = sorted(os.sched_getaffinity(0))
    return cores[next(_cores) % len(cores)]


@cache
def _watch() -> str:
    return files("whybench.sandbox").joinpath("watch.py").read_text("utf-8")


async def _ready(keeper: Process) -> str:
    if keeper.stdout is None or keeper.stderr is None:
        raise RuntimeError("The sandbox's waiting process has no pipes.")
    said = b""
    with anyio.move_on_after(START_SECONDS):
        with contextlib.suppress(anyio.EndOfStream):
            while not said.endswith(b"\n"):
                said += await keeper.stdout.receive()
            return said.decode().split()[1]
    problem = b""
    with anyio.move_on_after(1), contextlib.suppress(anyio.EndOfStream):
        problem = await keeper.stderr.receive()
    raise RuntimeError(
        "The sandbox `bwrap` could not start: "
        f"{problem.decode(errors='replace').strip() or 'no answer'}. It needs user and mount "
        "namespaces. As root in a container, run the container with --privileged. On the host, set "
        "the sysctls user.max_user_namespaces above 0, kernel.unprivileged_userns_clone=1 and "
        "kernel.apparmor_restrict_unprivileged_userns=0 where they exist. Alternatively, use "
        "docker; see docs/how-to/sandbox.md."
    )
