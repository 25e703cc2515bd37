"""The hostile programs, and what gets through when one of them runs.

`hostile/` has a table for each kind: what a program tries, the outcome that it must meet, and its
text, which nothing imports or collects: a fork bomb must never run outside the sandbox. What floods
has a bound of its own, so that a failing test does the host no harm. A program prints `LEAK` for
whatever it reaches that it must not, and `done` when it has tried all, unless a limit ends it.
Instead of a text, an entry may list calls with their numbers on x86_64 and aarch64: each must be
refused.
"""

import hashlib
import os
import platform
import socket
import tomllib
from collections.abc import Callable, Coroutine
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import numpy as np
import pytest
from pydantic import JsonValue
from tests.interfaces.sandboxes import SMALL, sample

from whybench.sandbox.bubblewrap import Bubblewrap
from whybench.sandbox.code_execution import CodeRunner, Ran
from whybench.sandbox.limits import MIB

TABLES = Path(__file__).parent / "hostile"
TRUTH = "the-optimum-is-7"
SECRET = "WHYBENCH_TEST_SECRET"
HARMLESS = "print(sum(range(10)))"

_CALLS = """
import ctypes, errno
libc = ctypes.CDLL(None, use_errno=True)
for name, number in {calls}.items():
    ctypes.set_errno(0)
    answer = libc.syscall(number, -1, -1, -1, -1, -1, -1)
    if answer != -1 or ctypes.get_errno() != (errno.ENOSYS if number >= 424 else errno.EPERM):
        print("LEAK:", name, answer, ctypes.get_errno())
print("done")
"""


@dataclass(frozen=True)
class Attack:
    """One hostile program."""

    name: str
    kind: str
    tries: str
    meets: str
    program: str = ""
    calls: dict[str, list[int]] = field(default_factory=dict)
    client: bool = False
    seconds: int = SMALL.seconds
    disk: int = SMALL.disk // MIB
    machine: str = platform.machine()

    def text(self) -> str:
        """Return the program."""
        if self.program:
            return self.program
        column = ("x86_64", "aarch64").index(platform.machine())
        return _CALLS.format(calls={name: both[column] for name, both in self.calls.items()})


ATTACKS = {
    name: Attack(name, path.stem, **entry)
    for path in sorted(TABLES.glob("*.toml"))
    for name, entry in tomllib.loads(path.read_text()).items()
    if entry.get("machine", platform.machine()) == platform.machine()
}


class Episode:
    """Something to call, with a truth that no program may learn."""

    def __init__(self) -> None:
        self.truth = TRUTH
        self.designs: list[object] = []

    async def deploy(self, design: object) -> int:
        self.designs.append(design)
        return len(self.designs)


class Host:
    """What no program may reach: a port, a socket, a file, a variable of the environment."""

    def __init__(self, folder: Path) -> None:
        self.stack = ExitStack()
        self.port = self.stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        self.nameless = self.stack.enter_context(socket.socket(socket.AF_UNIX))
        self.name = f"whybench-hostile-{os.getpid()}"
        self.nameless.bind(f"\0{self.name}")
        self.nameless.listen()
        for server in (self.port, self.nameless):
            server.setblocking(False)
        self.file = folder / "host.txt"
        self.file.write_text(TRUTH)

    def data(self) -> JsonValue:
        """Return what a program is told, so that it need not search."""
        package = Path(np.__file__).parents[1]
        return {
            "abstract": self.name,
            "checkout": str(Path(__file__).parents[2] / "src"),
            "host_file": str(self.file),
            "namespaces": {
                path.name: str(path.readlink())
                for path in Path("/proc/self/ns").iterdir()
                if path.name in ("cgroup", "ipc", "mnt", "net", "pid", "user", "uts")
            },
            "paths": [str(package), str(Path(__file__).parents[2])],
            "port": self.port.getsockname()[1],
            "secret": SECRET,
            "truth": hashlib.sha256(TRUTH.encode()).hexdigest(),
        }

    def reached(self) -> list[str]:
        """Return what was reached."""
        found = []
        for server in (self.port, self.nameless):
            try:
                server.accept()
                found.append(f"a socket of the host: {server.getsockname()}")
            except BlockingIOError:
                continue
        if self.file.read_text() != TRUTH:
            found.append("a file of the host")
        return found


async def through(
    attack: Attack,
    host: Host,
    meanwhile: Callable[[], Coroutine[Any, Any, None]] | None = None,
) -> list[str]:
    """Run an attack in a new sample; return what got through, or nothing if all was held."""
    episode, found = Episode(), []
    methods = {"deploy": episode.deploy} if attack.client else {}
    changed = {"seconds": attack.seconds, "disk": attack.disk * MIB}
    async with sample(SMALL.model_copy(update=changed)) as box:
        shop = CodeRunner(box, methods)
        async with anyio.create_task_group() as group:
            if meanwhile is not None:
                group.start_soon(meanwhile)
            ran = await shop.run(attack.text(), host.data())
        if ran.outcome != attack.meets:
            found.append(f"outcome {ran.outcome[:40]!r}, not {attack.meets!r}: {ran.output[-600:]}")
        lines = ran.output.splitlines()
        found += [line for line in lines if "LEAK" in line or TRUTH in line]
        if len(ran.output.encode()) > 2 * SMALL.output:
            found.append(f"{len(ran.output)} characters")
        if any((ord(c) < 32 and c not in "\n\t") or c in "\u202e\u2066" for c in ran.output):
            found.append("control characters")
        if attack.meets == "ok" and not (lines and lines[-1].startswith("done")):
            found.append(f"not done: {ran.output[-300:]}")
        elif attack.meets == "ok" and "False" in lines[-1]:
            found.append(lines[-1])
        after = await shop.run(f"{HARMLESS}\nclient.deploy(design=0)" if methods else HARMLESS)
        if after != Ran("45\n", "ok"):
            found.append(f"the next program: {after}")
        if attack.name in AFTERWARDS:
            await AFTERWARDS[attack.name](box, shop, episode)
    return found + host.reached()


async def links_are_not_followed(box: Bubblewrap, shop: CodeRunner, episode: Episode) -> None:
    for name in ("shadow", "host", "up", "self"):
        with pytest.raises((FileNotFoundError, PermissionError)):
            await box.read_file(name)
    with pytest.raises((IsADirectoryError, FileNotFoundError, PermissionError)):
        await box.read_file("root")
    with pytest.raises(PermissionError):
        await box.read_file("pipe")
    with pytest.raises((PermissionError, FileNotFoundError)):
        await box.write_file("host", "overwritten")


async def the_daemon_is_dead(box: Bubblewrap, shop: CodeRunner, episode: Episode) -> None:
    before = await box.read_file("heartbeat")
    await anyio.sleep(0.1)
    assert await box.read_file("heartbeat") == before


async def only_honest_calls_counted(box: Bubblewrap, shop: CodeRunner, episode: Episode) -> None:
    assert episode.designs == [2, 0]


async def the_unknown_did_not_count(box: Bubblewrap, shop: CodeRunner, episode: Episode) -> None:
    assert episode.designs == [3, 0]


async def names_do_no_harm(box: Bubblewrap, shop: CodeRunner, episode: Episode) -> None:
    listed = await shop.run("import os; print('planted' in os.listdir(), len(os.listdir(b'.')))")
    assert listed.output == "False 11\n"


AFTERWARDS = {
    "daemon": the_daemon_is_dead,
    "file_names": names_do_no_harm,
    "forged_requests": only_honest_calls_counted,
    "links": links_are_not_followed,
    "patched_client": the_unknown_did_not_count,
}
