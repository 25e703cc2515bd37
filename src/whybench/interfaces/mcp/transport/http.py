"""Serve over streamable HTTP until a signal stops the server."""

from __future__ import annotations

import resource
import socket
import sys
from collections.abc import Callable

import anyio
import uvicorn
from mcp.server.transport_security import TransportSecuritySettings

from whybench.interfaces.mcp.refusal import unexpected
from whybench.interfaces.mcp.server import Interface
from whybench.interfaces.mcp.sessions import Sessions
from whybench.interfaces.mcp.transport.middleware import PATH, Guard
from whybench.interfaces.mcp.transport.tokens import VARIABLE, Tokens

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


def security(host: str, names: tuple[str, ...] = ()) -> TransportSecuritySettings:
    """Return the accepted `Host` and `Origin` values. They protect against DNS rebinding."""
    hosts = [f"[{name}]" if ":" in name else name for name in (*LOOPBACK, host, *names)]
    ours = [*hosts, *(f"{name}:*" for name in hosts)]
    origins = [f"{scheme}://{name}" for scheme in ("http", "https") for name in ours]
    return TransportSecuritySettings(allowed_hosts=ours, allowed_origins=origins)


def serve(
    sessions: Sessions,
    tokens: Tokens,
    listening: socket.socket,
    *,
    names: tuple[str, ...] = (),
    tell: Callable[[str], None],
) -> None:
    """Serve until a signal arrives. `tell` gets the address when the server is ready."""
    host, port = listening.getsockname()[:2]
    guard = Guard(Interface(sessions), tokens, security(host, names))
    config = uvicorn.Config(
        guard,
        lifespan="off",
        access_log=False,
        log_level="warning",
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=GRACE,
        timeout_keep_alive=75,
    )
    web = uvicorn.Server(config)

    async def run() -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(_sweep, guard)
            tell(f"http://{f'[{host}]' if ':' in host else host}:{port}{PATH}")
            await web.serve([listening])
            group.cancel_scope.cancel()

    _make_ready()
    anyio.run(run)


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
