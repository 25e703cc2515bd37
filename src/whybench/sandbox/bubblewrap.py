"""Inspect's sandbox provider `bwrap`: commands under bubblewrap, without a daemon or an image.

Every command gets its own namespaces (users, processes, network, IPC, host name), no capabilities,
an empty environment and a read-only system. The files of a sample are on its own disk
(`sandbox.room`) and persist between commands; processes do not.
"""

import os
import sys
from pathlib import Path, PurePosixPath
from typing import Any, Literal, overload

import anyio
from inspect_ai.util import (
    ExecResult,
    OutputLimitExceededError,
    SandboxEnvironment,
    SandboxEnvironmentConfigType,
    SandboxEnvironmentLimits,
    SandboxUserUnsupportedError,
    concurrency,
    sandboxenv,
)

from whybench.sandbox import seccomp
from whybench.sandbox.in_force import in_force
from whybench.sandbox.limits import GRACE_SECONDS, Limits
from whybench.sandbox.process import Bounds, Finished, Gate, finish
from whybench.sandbox.room import Room, open_room
from whybench.sandbox.system import DEVICES, PROGRAMS, SITE, system, tools

NAME = "bwrap"
WORK = "/desk"
"""The work directory, inside."""

USERS = ("agent", "1000")
"""Names of the only user inside."""

STOPPED = "stopped by the sandbox: "
"""Prefix of the error stream of a command that a limit has ended."""

ENVIRONMENT = {
    "HOME": WORK,
    "LANG": "C.UTF-8",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "PATH": f"{PROGRAMS}:/usr/bin:/bin:/usr/sbin:/sbin",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONPATH": SITE,
    "USER": USERS[0],
}
"""The environment inside: one numpy thread per process, to save the process limit."""

AT_ONCE = 4
"""Maximum number of concurrent service commands of one sample."""

SAMPLES = 64
"""Maximum number of open sandboxes, unless `--max-sandboxes` is set."""

_FIRST = '"$@"; exit $?'
"""The first process of a plain command only waits: it reaps orphans; no signal inside ends it."""

_READ = """
[ -d "$1" ] && exit 21
[ -e "$1" ] || exit 20
[ -f "$1" ] && [ -r "$1" ] || exit 22
exec cat -- "$1"
"""
_WRITE = """
[ -d "$1" ] && exit 21
case $1 in */*) mkdir -p -- "${1%/*}/" || exit 22 ;; esac
if [ -e "$1" ] && ! { [ -f "$1" ] && [ -w "$1" ]; }; then exit 22; fi
exec cat >"$1"
"""
_PROBE = """
import importlib.util as find
import numpy
found = [name for name in ("pandas", "whybench") if find.find_spec(name)]
assert found == ["pandas"], found
"""


@sandboxenv(name=NAME)
class Bubblewrap(SandboxEnvironment):
    """The sandbox of one sample."""

    def __init__(self, room: Room) -> None:
        super().__init__()
        self.room = room
        self._service = anyio.CapacityLimiter(AT_ONCE)

    @classmethod
    async def task_init(
        cls,
        task_name: str,  # noqa: ARG003 - Inspect's signature
        config: SandboxEnvironmentConfigType | None,
    ) -> None:
        """Try the sandbox once, so that an unsupported system fails at the start."""
        room = await open_room(_limits(config))
        try:
            tried = await cls(room).exec(["python3", "-c", _PROBE], concurrency=False)
        finally:
            await room.close()
        if not tried.success:
            raise RuntimeError(
                "The sandbox `bwrap` cannot run Python on this system: "
                f"{tried.stderr.strip()[-500:]}. It needs bubblewrap 0.8 or later, user "
                "namespaces, and an interpreter and packages that every user can read. "
                "Alternatively, use docker; see docs/how-to/sandbox.md."
            )
        sys.stderr.write(in_force(room))

    @classmethod
    async def sample_init(
        cls,
        task_name: str,  # noqa: ARG003 - Inspect's signature
        config: SandboxEnvironmentConfigType | None,
        metadata: dict[str, str],  # noqa: ARG003 - Inspect's signature
    ) -> dict[str, SandboxEnvironment]:
        """Open the private file system of a sample."""
        return {"default": cls(await open_room(_limits(config)))}

    @classmethod
    async def sample_cleanup(
        cls,
        task_name: str,  # noqa: ARG003 - Inspect's signature
        config: SandboxEnvironmentConfigType | None,  # noqa: ARG003 - Inspect's signature
        environments: dict[str, SandboxEnvironment],
        interrupted: bool,  # noqa: ARG003 - Inspect's signature
    ) -> None:
        """Close the sandbox, with every process and file in it."""
        for environment in environments.values():
            await environment.as_type(Bubblewrap).room.close()

    @classmethod
    def default_concurrency(cls) -> int | None:
        """Maximum number of concurrent sandboxes."""
        return SAMPLES

    @classmethod
    def config_deserialize(cls, config: dict[str, Any]) -> Limits:
        """Read the limits from a log."""
        return Limits.model_validate(config)

    def default_polling_interval(self) -> float:
        """Polling interval of Inspect's service without a notification."""
        return 0.1

    async def exec(
        self,
        cmd: list[str],
        input: str | bytes | None = None,  # noqa: A002 - Inspect's name
        cwd: str | None = None,
        env: dict[str, str] | None = None,
        user: str | None = None,
        timeout: int | None = None,
        timeout_retry: bool = True,  # noqa: ARG002 - a program is never run twice
        concurrency: bool = True,
    ) -> ExecResult[str]:
        """Run a command; `Limits` bound it."""
        if user is not None and user not in USERS:
            raise SandboxUserUnsupportedError(f"the only user of this sandbox is {USERS[0]}")
        given = input.encode() if isinstance(input, str) else input or b""
        most = SandboxEnvironmentLimits.MAX_EXEC_OUTPUT_SIZE
        done = await self._run(cmd, given, most, cwd, env or {}, timeout, concurrency)
        out, err = (_text(stream[:most]) for stream in (done.stdout, done.stderr))
        if done.stopped == "output":
            raise OutputLimitExceededError(
                SandboxEnvironmentLimits.MAX_EXEC_OUTPUT_SIZE_STR, truncated_output=out + err
            )
        if done.stopped == "timeout":
            raise TimeoutError(f"the command took longer than {self._seconds(timeout)} s")
        if done.stopped:
            err = f"{STOPPED}{done.stopped}\n{err}"
        elif done.returncode == 126 and err.endswith(f": {cmd[0]}: Permission denied\n"):
            raise PermissionError(13, "not permitted in the sandbox", cmd[0])
        return ExecResult(done.returncode == 0, done.returncode, out, err)

    async def run(self, cmd: list[str], given: bytes, seconds: int, output: int) -> Finished:
        """Run a command as the first process inside; the result says which limit ended it.

        No signal from inside ends or stops the first process. What it is told and what it says
        passes by pipes that only it holds, if it makes itself unreadable.
        """
        return await self._run(cmd, given, output, None, {}, seconds, True, alone=True)

    async def write_file(self, file: str, contents: str | bytes) -> None:
        """Write a file from inside, so that a link reaches no further than a program's write."""
        given = contents.encode() if isinstance(contents, str) else contents
        await self._file(_WRITE, file, given, 65536)

    @overload
    async def read_file(self, file: str, text: Literal[True] = True) -> str: ...

    @overload
    async def read_file(self, file: str, text: Literal[False]) -> bytes: ...

    async def read_file(self, file: str, text: bool = True) -> str | bytes:
        """Read a file from inside, so that a link reaches no further than a program's read."""
        most = SandboxEnvironmentLimits.MAX_READ_FILE_SIZE
        done = await self._file(_READ, file, b"", most)
        if done.stopped == "output":
            raise OutputLimitExceededError(SandboxEnvironmentLimits.MAX_READ_FILE_SIZE_STR, None)
        return done.stdout.decode() if text else bytes(done.stdout)

    def asked(self, name: str) -> bool:
        """Tell whether a request waits for Inspect's service `name`, without starting a command."""
        folder = os.dup(self.room.post)
        try:
            for part in ("sandbox-services", name, "requests"):
                inner = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=folder)
                os.close(folder)
                folder = inner
            with os.scandir(folder) as entries:
                return next(entries, None) is not None
        except OSError:
            return False
        finally:
            os.close(folder)

    async def _file(self, script: str, file: str, given: bytes, most: int) -> Finished:
        done = await self._run(
            ["/bin/sh", "-c", script, "sh", file], given, most, None, {}, None, False
        )
        if done.stopped in ("", "output") and done.returncode in (0, -9):
            return done
        if done.returncode == 20:
            raise FileNotFoundError(2, "no such file in the sandbox", file)
        if done.returncode == 21:
            raise IsADirectoryError(21, "a directory of the sandbox", file)
        if done.stopped == "timeout":
            raise TimeoutError(f"reading or writing {file} took too long")
        said = _text(done.stderr).strip()
        if "No space left" in said:
            raise OSError(28, "the sandbox's disk is full", file)
        if "File too large" in said or "File size limit" in said:
            raise OSError(27, "too large for one file of the sandbox", file)
        if "name too long" in said.lower():
            raise FileNotFoundError(2, "no such file in the sandbox", file)
        raise PermissionError(13, f"not permitted in the sandbox {said}".strip(), file)

    async def _run(
        self,
        cmd: list[str],
        given: bytes,
        most: int,
        cwd: str | None,
        env: dict[str, str],
        timeout: int | None,
        throttled: bool,
        alone: bool = False,
    ) -> Finished:
        bounds = Bounds(self._seconds(timeout), most)
        async with concurrency(NAME, os.cpu_count() or 1) if throttled else self._service:
            gate, inherited = Gate(), []
            words = [*self.room.entry(), tools()["bwrap"], *self._walls(), *gate.words()]
            if throttled:
                words += self._covers()
            if (calls := seccomp.program()) is not None:
                inherited = [_file_of(calls)]
                words += ["--seccomp", str(inherited[0])]
            for name, value in {**_environment(), **env}.items():
                words += ["--setenv", name, value]
            words += ["--chdir", str(PurePosixPath(WORK, cwd or "")), "--"]
            words += self._bounds(bounds.seconds)
            if not alone:
                words += ["/bin/sh", "-c", _FIRST, "sh"]
            return await finish(
                [*words, *cmd], bounds, self.room, gate, given=given, inherited=inherited
            )

    def _seconds(self, timeout: int | None) -> float:
        most = self.room.limits.seconds
        return most if timeout is None else min(timeout, most + GRACE_SECONDS)

    def _walls(self) -> list[str]:
        disk, post = f"{self.room.stage}/disk", f"{self.room.stage}/post"
        return [
            "--unshare-user", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts",
            "--unshare-cgroup-try", "--disable-userns", "--cap-drop", "ALL",
            "--as-pid-1", "--die-with-parent", "--new-session", "--uid", "1000", "--gid", "1000",
            "--hostname", "sandbox",
            "--ro-bind", f"{self.room.stage}/root", "/",
            "--proc", "/proc",
            *(word for name in DEVICES for word in ("--dev-bind", f"/dev/{name}", f"/dev/{name}")),
            "--bind", f"{disk}/shm", "/dev/shm",  # noqa: S108 - inside
            "--bind", f"{disk}/desk", WORK,
            "--bind", f"{disk}/tmp", "/tmp",  # noqa: S108 - inside
            "--bind", post, "/var/tmp",  # noqa: S108 - inside
        ]  # fmt: skip

    def _covers(self) -> list[str]:
        """Hide the host's figures; the service's own commands have no use for that."""
        words: list[str] = []
        for name in system().covered:
            kind = "empty" if Path("/proc", name).is_dir() else "none"
            words += ["--ro-bind", f"{self.room.stage}/{kind}", f"/proc/{name}"]
        return words

    def _bounds(self, seconds: float) -> list[str]:
        """Return the command line that starts a command inside with limits.

        The limits are set inside, after the user namespace exists, so that the number of processes
        counts in that namespace only.
        """
        limits = self.room.limits
        return [
            "/usr/bin/prlimit", f"--nproc={limits.processes}", f"--as={limits.memory}",
            f"--fsize={limits.file}", f"--cpu={int(seconds) + 1}", "--core=0", "--nofile=256",
            "--memlock=65536", "--msgqueue=0", "--sigpending=256", "--",
        ]  # fmt: skip


def _environment() -> dict[str, str]:
    libraries = system().libraries
    return {**ENVIRONMENT, "LD_LIBRARY_PATH": libraries} if libraries else ENVIRONMENT


def _limits(config: SandboxEnvironmentConfigType | None) -> Limits:
    if config is None:
        return Limits()
    if isinstance(config, Limits):
        return config
    raise ValueError(f"The configuration of the sandbox `bwrap` must be `Limits`, not {config!r}.")


def _text(stream: bytes | bytearray) -> str:
    return stream.decode(errors="replace")


def _file_of(content: bytes) -> int:
    """Return an open anonymous file."""
    number = os.memfd_create(NAME)
    os.write(number, content)
    os.lseek(number, 0, os.SEEK_SET)
    return number
