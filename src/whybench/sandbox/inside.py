# It runs what a model wrote and starts for every program anew: light imports, broad catches.
# ruff: noqa: BLE001, PTH101, PTH103, PTH108, PTH109, PTH112, PTH114, PTH116, PTH118, PTH120, PTH123, PTH208, S102, SIM115
"""What runs inside the sandbox: a supervisor, and under it one program written by a model.

Nothing here runs on the host: the text of this file is sent into the sandbox, where only the
standard library is certain. The supervisor caps time and output, clears away what the program
leaves running, and names the outcome by its exit code. In the sandbox `bwrap` it is the first
process, which no signal from inside ends or stops, and no other process can open its files.
"""

import builtins
import errno
import json
import os
import re
import resource
import select
import signal
import sys
import time
import types
from collections.abc import Callable
from typing import Any

CODES = {
    "ok": 0,
    "error": 10,
    "memory": 11,
    "disk": 12,
    "processes": 13,
    "timeout": 14,
    "output": 15,
    "killed": 16,
}
RAISED = ("ok", "error", "memory", "disk", "processes")
"""Outcomes that a program's own process can have; only the supervisor gives the others."""
FILE = "program.py"
"""The name of the program in its own tracebacks."""
NAMES = {"np": "numpy", "pd": "pandas"}
"""Modules that a program finds imported, if it mentions their short name."""


class ClientError(Exception):
    """A call of the client was refused; the text says why."""


def supervise(program: str, order: dict[str, Any]) -> int:
    """Run the program in a process of its own and return the code of its outcome."""
    adopt()
    readable(False)
    clear(order.get("mailbox"))
    if order.get("clear"):
        return CODES["ok"]
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reader)
        nothing = os.open(os.devnull, os.O_RDONLY)
        for number, end in enumerate((nothing, writer, writer)):
            os.dup2(end, number)
        os.close(nothing)
        os.close(writer)
        os.setpgid(0, 0)
        readable(True)
        raise SystemExit(play(program, order))
    os.close(writer)
    os.set_blocking(reader, False)
    deadline = time.monotonic() + order["seconds"]
    kept = bytearray()
    outcome, listening = None, True
    while outcome is None:
        ended, status = os.waitpid(pid, os.WNOHANG)
        wait = 0 if ended else min(0.01, max(deadline - time.monotonic(), 0))
        if listening:
            select.select([reader], [], [], wait)
            listening = drain(reader, kept, order["output"])
        else:
            time.sleep(wait)
        if len(kept) > order["output"]:
            outcome = "output"
        elif ended:
            outcome = named(status)
        elif time.monotonic() > deadline:
            outcome = "timeout"
    sweep()
    sys.stdout.buffer.write(kept[: order["output"]])
    sys.stdout.buffer.flush()
    return CODES[outcome]


def drain(reader: int, kept: bytearray, most: int) -> bool:
    """Take what the program has printed so far; say whether more may come."""
    while len(kept) <= most:
        try:
            chunk = os.read(reader, 65536)
        except BlockingIOError:
            return True
        if not chunk:
            return False
        kept += chunk
    return True


def named(status: int) -> str:
    """Return the outcome of a program that has ended by itself."""
    code = os.waitstatus_to_exitcode(status)
    if code == -signal.SIGXCPU:
        return "timeout"
    if code < 0:
        return "killed"
    names = {CODES[name]: name for name in RAISED}
    return names.get(code, "error")


def adopt() -> None:
    """Become the parent of every orphan, so that none is lost sight of."""
    prctl(36, 1)


def readable(yes: bool) -> None:
    """Let other processes of the user open this one's files and memory, or refuse it to them."""
    prctl(4, int(yes))


def prctl(what: int, value: int) -> None:
    """Change an attribute of this process."""
    try:
        import ctypes

        ctypes.CDLL(None).prctl(what, value, 0, 0, 0)
    except (ImportError, OSError, AttributeError):
        return  # then only the sandbox's own walls hold


def sweep() -> None:
    """Kill every process that the program has left, and those that these leave in turn."""
    me, deadline = os.getpid(), time.monotonic() + 1
    while time.monotonic() < deadline:
        for pid in children(me):
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                continue
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except OSError:
            return
        time.sleep(0.001)


def children(me: int) -> list[int]:
    """Return the processes whose parent this one is."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdecimal():
            try:
                with open(f"/proc/{name}/stat", "rb") as file:
                    parent = int(file.read().rpartition(b")")[2].split()[1])
            except (OSError, ValueError, IndexError):
                continue
            if parent == me:
                found.append(int(name))
    return found


def clear(mailbox: str | None) -> None:
    """Empty the folders in which the client and the service meet, however they were left."""
    if mailbox is None:
        return
    try:
        folder(os.path.dirname(mailbox), 0o1777)
        folder(mailbox, 0o700)
        for part in ("requests", "responses"):
            path = os.path.join(mailbox, part)
            folder(path, 0o700)
            for entry in os.scandir(path):
                remove(entry.path)
    except OSError:
        return  # the first call of the client will say what is wrong


def folder(path: str, mode: int) -> None:
    """Make sure that a folder is there, a real one, with this mode."""
    if os.path.islink(path) or not os.path.isdir(path):
        remove(path)
        os.makedirs(path)
    if os.stat(path).st_uid == os.getuid():
        os.chmod(path, mode)


def remove(path: str) -> None:
    """Remove whatever has this name."""
    if os.path.isdir(path) and not os.path.islink(path):
        import shutil

        shutil.rmtree(path, ignore_errors=True)
    elif os.path.lexists(path):
        os.unlink(path)


def play(program: str, order: dict[str, Any]) -> int:
    """Run the program here; what it raises is printed with its own lines only."""
    bound(resource.RLIMIT_AS, order["memory"])
    bound(resource.RLIMIT_FSIZE, order["file"])
    sys.stdout = open(1, "w", encoding="utf-8", errors="replace", buffering=8192, closefd=False)
    sys.stderr = open(2, "w", encoding="utf-8", errors="replace", buffering=1, closefd=False)
    sys.stdin = open(0, closefd=False)
    sys.path.append(os.getcwd())
    sys.argv = [FILE]
    main = types.ModuleType("__main__")
    main.__dict__.update(__builtins__=builtins, data=order["data"], client=client(order))
    sys.modules["__main__"] = main
    outcome = "ok"
    try:
        for short, module in NAMES.items():
            if re.search(rf"\b{short}\b", program):
                main.__dict__[short] = __import__(module)
        exec(compile(program, FILE, "exec"), main.__dict__)
    except SystemExit as wish:
        outcome = "ok" if wish.code in (None, 0) else "error"
        if isinstance(wish.code, str):
            report(wish.code)
    except BaseException as problem:
        outcome = kind(problem)
        report(told(problem, program))
    return CODES[outcome]


def bound(what: int, most: int) -> None:
    """Lower a limit; one that is lower already stays."""
    _, hard = resource.getrlimit(what)
    least = most if hard == resource.RLIM_INFINITY else min(hard, most)
    resource.setrlimit(what, (least, least))


def kind(problem: BaseException) -> str:
    """Return the outcome that an exception stands for."""
    number = problem.errno if isinstance(problem, OSError) else None
    if isinstance(problem, MemoryError) or number == errno.ENOMEM:
        return "memory"
    if number in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return "disk"
    if number == errno.EAGAIN or "can't start new thread" in str(problem):
        return "processes"
    return "error"


def told(problem: BaseException, program: str) -> str:
    """Return the end of a traceback: the program's own lines, then the exception."""
    try:
        import linecache
        import traceback

        linecache.cache[FILE] = (len(program), None, program.splitlines(True), FILE)
        frames = traceback.extract_tb(problem.__traceback__)
        own = traceback.format_list([frame for frame in frames if frame.filename == FILE])
        last = traceback.format_exception_only(type(problem), problem)
        first = ["Traceback (most recent call last):\n"] if own else []
        return "".join([*first, *own, *last]).replace("<sandbox>.", "")
    except BaseException:
        return f"{type(problem).__name__}\n"


def report(text: str) -> None:
    """Print to the error stream, after what was printed before."""
    try:
        sys.stdout.flush()
        sys.stderr.write(text if text.endswith("\n") else f"{text}\n")
        sys.stderr.flush()
    except (OSError, ValueError):
        return


def client(order: dict[str, Any]) -> object:
    """Return the object by which the program reaches its episode, or is told why it cannot."""
    methods: dict[str, list[str]] = order["methods"]
    redirect: str = order["redirect"]

    class Client:
        """The episode. Its methods are called with keywords and return plain values."""

        def __getattr__(self, name: str) -> Callable[..., Any]:
            if name.startswith("__"):
                raise AttributeError(name)
            if not methods:

                def refuse(*_: Any, **__: Any) -> Any:
                    raise ClientError(redirect)

                return refuse
            if name not in methods:
                raise AttributeError(f"client has no {name!r}; it has {', '.join(methods)}")

            def call(*args: Any, **named: Any) -> Any:
                if len(args) > len(methods[name]):
                    raise TypeError(f"client.{name} takes {', '.join(methods[name]) or 'nothing'}")
                given = dict(zip(methods[name], args, strict=False))
                if twice := sorted(given.keys() & named.keys()):
                    raise TypeError(f"client.{name} got {', '.join(twice)} twice")
                return ask(order, name, {**given, **named})

            return call

        def __dir__(self) -> list[str]:
            return list(methods)

        def __repr__(self) -> str:
            return f"client with {', '.join(methods) or 'no methods here'}"

    return Client()


def ask(order: dict[str, Any], method: str, given: dict[str, Any]) -> Any:
    """Make one call through Inspect's service and wait for its answer.

    The client that Inspect wrote for the service waits slowly, so its two halves are used where
    it has them.
    """
    import uuid

    part: dict[str, Any] = {}
    exec(order["client"], part)
    plain = json.loads(json.dumps(given, default=simple, allow_nan=False))
    params = {"number": order["token"] + uuid.uuid4().hex, "given": plain}
    service = order["service"]
    send, receive = part.get(f"_write_{service}_request"), part.get(f"_read_{service}_response")
    if send is None or receive is None:
        answer = part[f"call_{service}"](method, **params)
    else:
        request = send(method, **params)
        wait, done = 0.002, False
        while not done:
            time.sleep(wait)
            wait = min(wait * 1.2, 0.05)
            done, answer = receive(request, method)
    if "refused" in answer:
        raise ClientError(answer["refused"])
    return answer["value"]


def simple(value: Any) -> Any:
    """Turn numbers, arrays and tables of numpy and pandas into plain values."""
    if hasattr(value, "to_dict") and hasattr(value, "columns"):
        return value.to_dict("records")
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"a client's call takes plain values, not {type(value).__name__}")


if __name__ == "<sandbox>":
    sys.exit(supervise(PROGRAM, json.loads(ORDER)))  # type: ignore[name-defined] # noqa: F821 - given by the host
