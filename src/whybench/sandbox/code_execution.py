"""Run the Python programs that a model writes for one sample.

It uses only Inspect's sandbox interface, so it works on every provider that offers Python: on
`bwrap` and, with the compose file beside this module, on docker.
"""

import inspect
import json
import secrets
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from importlib.resources import files
from pathlib import Path

import anyio
from inspect_ai.util import (
    OutputLimitExceededError,
    SandboxEnvironment,
    SandboxEnvironmentType,
    sandbox_service,
)
from pydantic import JsonValue

from whybench.episode.cleaning import visible
from whybench.sandbox.bubblewrap import Bubblewrap
from whybench.sandbox.inside import CODES
from whybench.sandbox.limits import GRACE_SECONDS, Limits

Method = Callable[..., Awaitable[JsonValue]]
"""A client method; called with keywords, raises `ClientError` to reject a call."""

SERVICE = "episode"
MAILBOX = f"/var/tmp/sandbox-services/{SERVICE}"  # noqa: S108 - Inspect's place, inside
REDIRECT = "there is no client here: use the tools of the conversation"
LOOK_SECONDS = 0.01
"""Polling interval for requests, where polling is cheap."""
LONGEST_PAUSE = 1.0
"""Pause after requests that cannot be answered; a hostile program may write such requests."""

_START = (
    "import sys; p, o, s = sys.stdin.buffer.read().decode().rsplit(chr(0), 2); "
    "exec(compile(s, '<sandbox>', 'exec'), {'__name__': '<sandbox>', 'PROGRAM': p, 'ORDER': o})"
)


_NAMES = {code: name for name, code in CODES.items()}


class ClientError(Exception):
    """A call was rejected; the program sees the text as an exception of its client."""


@dataclass(frozen=True, slots=True)
class Ran:
    """The output of a program, and how it ended."""

    output: str
    """Both streams, truncated at the limit with a mark, without control characters."""
    outcome: str
    """`ok`, `error` (it raised), or the limit that ended it: `timeout`, `memory`, `output`, `disk`,
    `processes`; `killed` by a signal."""


class CodeRunner:
    """Runs the programs of one sample, one at a time.

    `methods` are the methods of the program's `client`; without any, every call raises `redirect`.
    If a method raises anything other than `ClientError`, the program ends and `run` raises that
    exception.
    """

    def __init__(
        self,
        sandbox: SandboxEnvironment,
        methods: Mapping[str, Method] | None = None,
        *,
        redirect: str = REDIRECT,
        limits: Limits | None = None,
    ) -> None:
        self._sandbox = sandbox
        self._methods = dict(methods or {})
        self._redirect = redirect
        self._room = _room(sandbox)
        self._limits = limits or (self._room.room.limits if self._room else Limits())
        self._handle: Callable[[], Awaitable[None]] | None = None
        self._client = ""
        self._answers: dict[str, JsonValue] = {}
        self._failure: Exception | None = None
        self._token = ""
        self._scope = anyio.CancelScope()
        self._turn = anyio.Lock()

    async def run(self, program: str, data: JsonValue = None) -> Ran:
        """Run a program, with `data` among its variables."""
        async with self._turn:
            await self._open()
            await self._clear()
            self._answers, self._failure = {}, None
            self._token = secrets.token_hex(8)
            ran: Ran | None = None
            with anyio.CancelScope() as self._scope:
                async with anyio.create_task_group() as group:
                    if self._handle is not None:
                        group.start_soon(self._serve, self._handle)
                    ran = await self._exec(program, data)
                    group.cancel_scope.cancel()
            if self._failure is not None:
                raise self._failure
            return ran or Ran("", "killed")

    async def _open(self) -> None:
        """Start the service once; its client is stored where no program can change it."""
        if self._handle is None and self._methods:
            methods: dict[str, Method] = {
                name: partial(self._call, method) for name, method in self._methods.items()
            }
            handle = await sandbox_service(
                SERVICE, methods, until=lambda: False, sandbox=self._sandbox, handle_requests=False
            )
            written = await self._sandbox.exec(["/bin/cat", f"{MAILBOX}/{SERVICE}.py"])
            if not written.success:
                raise RuntimeError(f"Inspect's service left no client: {written.stderr}")
            self._client = written.stdout
            self._handle = handle

    async def _exec(self, program: str, data: JsonValue) -> Ran:
        limits = self._limits
        order: dict[str, JsonValue] = {
            "seconds": limits.seconds,
            "memory": limits.memory,
            "file": limits.file,
            "output": limits.output,
            "data": data,
            "methods": {name: _parameters(each) for name, each in self._methods.items()},
            "redirect": self._redirect,
            "service": SERVICE,
            "client": self._client,
            "token": self._token,
            "mailbox": MAILBOX if self._methods else None,
        }
        cmd, sent = _command(program, order)
        seconds = limits.seconds + GRACE_SECONDS
        if self._room is not None:
            done = await self._room.run(cmd, sent, seconds, 2 * limits.output)
            text = done.stdout.decode(errors="replace")
            return _cut(text, done.stopped or _NAMES.get(done.returncode, "killed"), limits)
        try:
            result = await self._sandbox.exec(cmd, input=sent, timeout=seconds, timeout_retry=False)
        except TimeoutError:
            return Ran("", "timeout")
        except OutputLimitExceededError as problem:
            return _cut(problem.truncated_output or "", "output", limits)
        return _cut(result.stdout, _NAMES.get(result.returncode, "killed"), limits)

    async def _clear(self) -> None:
        """Remove the requests that a program has left, before the service looks for new ones.

        Otherwise the service would try to answer each of them, while the next program waits.
        """
        if self._handle is None or (self._room is not None and not self._room.asked(SERVICE)):
            return
        cmd, sent = _command("", {"mailbox": MAILBOX, "clear": True})
        await self._sandbox.exec(cmd, input=sent, timeout=GRACE_SECONDS, timeout_retry=False)

    async def _serve(self, handle: Callable[[], Awaitable[None]]) -> None:
        """Answer requests while a program runs; slow down for requests that make no sense."""
        pause = 0.0
        while True:
            await anyio.sleep(pause or self._look())
            if self._room is None or self._room.asked(SERVICE):
                before = len(self._answers)
                await handle()
                hopeless = self._room is not None and len(self._answers) == before
                pause = min(max(2 * pause, 0.02), LONGEST_PAUSE) if hopeless else 0.0

    def _look(self) -> float:
        return self._sandbox.default_polling_interval() if self._room is None else LOOK_SECONDS

    async def _call(
        self, method: Method, /, number: str = "", given: JsonValue = None, **more: JsonValue
    ) -> JsonValue:
        """Answer a request of this program once, however often the service repeats it."""
        if not isinstance(number, str) or not number.startswith(self._token):
            return {"refused": "a call must come from the client of the running program"}
        if more or not isinstance(given, dict):
            return {"refused": "a call takes named values"}
        if number not in self._answers:
            self._answers[number] = await self._answer(method, given)
        return self._answers[number]

    async def _answer(self, method: Method, given: dict[str, JsonValue]) -> JsonValue:
        try:
            inspect.signature(method).bind(**given)
        except TypeError as problem:
            return {"refused": str(problem)}
        try:
            return {"value": await method(**given)}
        except ClientError as refusal:
            return {"refused": str(refusal)}
        except Exception as failure:  # noqa: BLE001 - raised again by `run`, in the sample's task
            self._failure = failure
            self._scope.cancel()
            return {"refused": "the episode has ended"}


def _room(sandbox: SandboxEnvironment) -> Bubblewrap | None:
    try:
        return sandbox.as_type(Bubblewrap)
    except TypeError:
        return None


@cache
def _inside() -> str:
    return files("whybench.sandbox").joinpath("inside.py").read_text("utf-8")


def sandbox_named(name: str) -> SandboxEnvironmentType:
    """Return an Inspect sandbox by name; docker uses the compose file that we ship."""
    return (name, str(Path(__file__).with_name("compose.yaml"))) if name == "docker" else name


def _parameters(method: Method) -> list[JsonValue]:
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return [p.name for p in inspect.signature(method).parameters.values() if p.kind in kinds]


def _command(program: str, order: Mapping[str, JsonValue]) -> tuple[list[str], bytes]:
    """Return the command that starts the supervisor inside, and its input."""
    sent = "\0".join((program, json.dumps(order), _inside()))
    return ["python3", "-P", "-s", "-c", _START], sent.encode(errors="replace")


def _cut(text: str, outcome: str, limits: Limits) -> Ran:
    """State in the output that a limit has ended the program."""
    notes = {
        "timeout": f"stopped after {limits.seconds} s",
        "memory": f"out of memory: {limits.memory // 1024**2} MiB",
        "output": f"stopped: more than {limits.output} bytes printed",
        "disk": f"disk full: {limits.disk // 1024**2} MiB, {limits.file // 1024**2} per file",
        "processes": f"too many processes or threads: {limits.processes}",
        "killed": "ended by a signal",
    }
    note = f"\n[{notes[outcome]}]" if outcome in notes else ""
    return Ran(visible(text[: limits.output]) + note, outcome)
