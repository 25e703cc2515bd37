"""The server: OpenEnv's routes for the WhyBench environment, on uvicorn.

Options come from the command line, otherwise from environment variables such as
`WHYBENCH_OPENENV_SUITE`, so that they can be set for a container.
"""

from __future__ import annotations

import json
import os
import socket
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import count
from typing import Any

import uvicorn
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse
from openenv.core.env_server.http_server import create_app
from openenv.core.env_server.types import ConcurrencyConfig

from whybench_openenv.environment import WhyBenchEnvironment
from whybench_openenv.models import WhyBenchAction, WhyBenchObservation
from whybench_openenv.options import NAMES, Options
from whybench_openenv.wire import LARGEST, Wire

PREFIX = "WHYBENCH_OPENENV_"
"""Prefix of the environment variables for options."""

SESSIONS = 64
"""Default of the maximum number of parallel sessions. Each session has its own thread."""

IDLE = 1800.0
"""Default of the seconds after which an idle session is closed."""


def make_app(
    options: Options | None = None,
    *,
    seed: int = 0,
    sessions: int = SESSIONS,
    idle: float = IDLE,
    pinned: bool = False,
) -> FastAPI:
    """Return the application. `seed` is the first seed for endless resets without a seed."""
    if seed < 0:
        raise ValueError(f"The first seed is {seed}. It must be 0 or more.")
    factory = partial(WhyBenchEnvironment, options or Options(), count(seed), pinned=pinned)
    app: FastAPI = create_app(
        factory,
        WhyBenchAction,
        WhyBenchObservation,
        env_name="whybench",
        concurrency_config=ConcurrencyConfig(max_concurrent_envs=sessions, session_timeout=idle),
    )
    app.add_exception_handler(ValueError, _mendable)
    app.add_middleware(Wire)
    return app


async def _mendable(_request: Request, error: Exception) -> JSONResponse:
    """Answer a wrong request with a message that says how to fix it."""
    return JSONResponse({"detail": str(error)}, status_code=400)


def app_from_environment() -> FastAPI:
    """Return the application that the environment variables describe."""
    return _app(_parser(os.environ).parse_args([]))


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the address, and serve until interrupted."""
    parser = _parser(os.environ)
    chosen = parser.parse_args(arguments)
    try:
        app = _app(chosen)
    except ValueError as error:
        parser.error(str(error))
    listening = socket.create_server((chosen.host, chosen.port), backlog=1024)
    port = listening.getsockname()[1]
    sys.stdout.write(f"WhyBench for OpenEnv at http://{chosen.host}:{port}\n")
    sys.stdout.flush()
    config = uvicorn.Config(
        app, ws_max_size=LARGEST, log_level="warning", timeout_graceful_shutdown=5
    )
    uvicorn.Server(config).run(sockets=[listening])


def _app(chosen: Namespace) -> FastAPI:
    given = {name: value for name, value in vars(chosen).items() if name in NAMES}
    return make_app(
        replace(
            Options().changed({name: value for name, value in given.items() if value is not None}),
            data=chosen.data,
        ),
        seed=chosen.seed,
        sessions=chosen.sessions,
        idle=chosen.idle,
        pinned=chosen.pinned,
    )


def _parser(environ: Mapping[str, str]) -> ArgumentParser:
    """Return the parser. An environment variable is the default of its option."""
    parser = ArgumentParser("whybench-openenv", description="Serve WhyBench to OpenEnv's clients.")

    def add(name: str, what: str, default: Any = None, kind: Any = str) -> None:
        told = environ.get(PREFIX + name.upper().replace("-", "_"))
        parser.add_argument(f"--{name}", type=kind, default=told or default, help=what)

    def flag(name: str, what: str) -> None:
        told = environ.get(f"{PREFIX}{name.upper()}", "").casefold() in {"1", "true", "yes"}
        parser.add_argument(f"--{name}", action="store_true", default=told, help=what)

    add("suite", "Suite as family/suite, or a family for its first recommended suite.")
    add("split", "Split: train or eval. They share no hidden system.")
    flag("endless", "Draw new instances without end.")
    add("rows", "Length of the finite list before the split.", kind=int)
    add("reward", "Reward: sparse or dense.")
    add("template", "Prompt template.")
    add("profile", "Profile: certified or published.")
    add("suite-seed", "Suite seed. Another seed gives other instances.")
    add("where", "Filter on difficulty, such as 'bits <= 6 and tokens < 2000'.")
    add("data", "Address of a stored set of the suite, to take its rows.")
    add("parameters", 'Parameters of the family as JSON, such as {"n": 4}.', kind=_object)
    add("seed", "First seed for endless resets without a seed.", 0, int)
    add("sessions", f"Maximum number of parallel sessions. Default: {SESSIONS}.", SESSIONS, int)
    add("idle", "Seconds after which an idle session is closed.", IDLE, float)
    flag("pinned", "Let reset choose only seed and index.")
    add("host", "Address. Clients are not authenticated.", "127.0.0.1")
    add("port", "Port; 0 takes a free one.", 8000, int)
    return parser


def _object(text: str) -> Any:
    """Return JSON data. argparse reports a ValueError."""
    return json.loads(text)
