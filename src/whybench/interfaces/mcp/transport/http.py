"""Serve over streamable HTTP until a signal stops the server."""

from __future__ import annotations

import asyncio
import resource
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from types import FrameType

import anyio
import uvicorn

from whybench.interfaces.mcp.catalogue import Offer, Order
from whybench.interfaces.mcp.refusal import Refused, unexpected
from whybench.interfaces.mcp.server import Interface
from whybench.interfaces.mcp.sessions import Sessions
from whybench.interfaces.mcp.transport.bounded import Bounded
from whybench.interfaces.mcp.transport.middleware import PATH, Guard
from whybench.interfaces.mcp.transport.names import Names
from whybench.interfaces.mcp.transport.tokens import VARIABLE, Tokens
from whybench.interfaces.session import Session

LOOPBACK = ("127.0.0.1", "localhost", "::1")
GRACE = 10
"""Seconds that running requests get to finish when the server stops."""

FILES = 65536
"""Number of connections and files that may be open, if the system allows it."""

SWITCH = 0.001
"""Seconds after which a busy thread yields to another one."""

SWEEP = 60.0
"""Maximum seconds between two searches for idle sessions."""


def bound(host: str, port: int, tokens: Tokens) -> socket.socket:
    """Return a listening socket. An address that other machines can reach needs a token."""
    if host not in LOOPBACK and not tokens.owners:
        raise ValueError(
            f"Other machines can reach {host}, so a token is needed. Give --token-file or set "
            f"{VARIABLE}."
        )
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio sends small answers immediately only on sockets with an explicit TCP protocol.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(2048)
    except OSError as error:
        listening.close()
        raise ValueError(
            f"The server cannot listen on {host}:{port}: {error.strerror}. Choose another --port."
        ) from error
    return listening


def security(host: str, names: tuple[str, ...] = ()) -> Names:
    """Return the accepted names in `Host` and `Origin`. They protect against DNS rebinding."""
    return Names((*LOOPBACK, host, *names))


def serve(
    sessions: Sessions,
    tokens: Tokens,
    listening: socket.socket,
    *,
    names: tuple[str, ...] = (),
    shard: str = "",
    drain: float = 0.0,
    tell: Callable[[str], None],
) -> None:
    """Serve until a signal arrives. `tell` gets the address when the server is ready.

    A signal makes the server say at once that it is not ready. It takes calls for `drain` seconds
    more, until proxies know, and then finishes those that run. With a shard, a proxy is told to
    wait until all families are warm.
    """
    host, port = listening.getsockname()[:2]
    guard = Guard(Interface(sessions), tokens, security(host, names), shard)
    config = uvicorn.Config(
        guard,
        http=Bounded,
        ws="none",
        lifespan="off",
        access_log=False,
        log_level="warning",
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=GRACE,
        timeout_keep_alive=75,
    )
    web = Draining(config, guard, drain)

    async def run() -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(_sweep, guard)
            if shard:
                guard.ready = False
                group.start_soon(_warm, guard)
            tell(f"http://{f'[{host}]' if ':' in host else host}:{port}{PATH}")
            await web.serve([listening])
            group.cancel_scope.cancel()

    _make_ready()
    anyio.run(run)


class Draining(uvicorn.Server):
    """A web server that waits for its proxy before it stops. A second signal stops it at once."""

    def __init__(self, config: uvicorn.Config, guard: Guard, drain: float) -> None:
        super().__init__(config)
        self._guard, self._drain = guard, drain

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop now, or after a while."""
        if not self._drain or not self._guard.ready:
            super().handle_exit(sig, frame)
            return
        self._guard.ready = False
        loop = asyncio.get_running_loop()
        loop.call_later(self._drain, super().handle_exit, sig, frame)


def warm_up(offer: Offer) -> None:
    """Open one episode of each family that is offered, because the first one may take seconds."""
    first = {path.split("/")[0]: path for path in reversed(offer.paths)}
    for path in first.values():
        with suppress(Refused, ValueError):
            Session(*offer.instance(Order(path))).instructions  # noqa: B018 - for its effect


async def _warm(guard: Guard) -> None:
    await guard.interface.turns.aside(partial(warm_up, guard.sessions.offer))
    guard.ready = True


def _make_ready() -> None:
    """Raise the limit of open connections, and let threads switch often so that answers go out."""
    few, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = FILES if most == resource.RLIM_INFINITY else min(FILES, most)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(few, wanted), most))
    sys.setswitchinterval(SWITCH)


async def _sweep(guard: Guard) -> None:
    """End idle sessions at intervals. A failure is logged and stops nothing else."""
    idle = guard.sessions.limits.idle
    while idle:
        await anyio.sleep(min(SWEEP, max(0.1, idle / 20)))
        try:
            await guard.interface.turns.take("sweep", guard.sessions.expire)
        except Exception:  # noqa: BLE001 - the cause may pass, such as a full disk
            unexpected("Idle sessions could not be ended. The server will try again.")
