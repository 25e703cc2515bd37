"""`whybench arena …`: agents over a wire. Heavy imports wait inside the commands."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Literal

import typer

from whybench.cli.options import Profile, Seed
from whybench.interfaces.command_line import needing_extra, plain_errors, print_json, refused

Stored = Annotated[
    str | None,
    typer.Option(
        "--store", help="SQLite file of the sessions, or :memory:; default: in the state folder"
    ),
]


def serve(
    http: Annotated[bool, typer.Option("--http", help="over HTTP; default: stdio")] = False,
    host: Annotated[str, typer.Option(help="any other than loopback needs a token")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0: any that is free")] = 8765,
    suite: Annotated[str, typer.Option(help="stdio: the suite to open at once")] = "",
    index: Annotated[
        int | None, typer.Option(min=0, help="stdio: which of its instances; default: 0")
    ] = None,
    instance: Annotated[str, typer.Option(help="stdio: instead, an instance by name")] = "",
    template: Annotated[str | None, typer.Option(help="stdio: wording of the prompts")] = None,
    session: Annotated[str, typer.Option(help="stdio: go on with the stored session NAME")] = "",
    store: Stored = None,
    token_file: Annotated[
        Path | None,
        typer.Option(exists=True, dir_okay=False, help="tokens, one a line; each is an owner"),
    ] = None,
    allow_host: Annotated[
        list[str] | None, typer.Option(help="a further name this server goes by; repeat for more")
    ] = None,
    blind: Annotated[bool, typer.Option("--blind", help="withhold scores, give receipts")] = False,
    attempts: Annotated[
        Literal["owner", "session"], typer.Option(help="within what attempts are numbered")
    ] = "owner",
    run: Annotated[str, typer.Option(help="attempts of differently named runs are apart")] = "",
    suites: Annotated[
        list[str] | None, typer.Option(help="family/suite or family; repeat for more; none: all")
    ] = None,
    profile: Profile = "certified",
    seed: Seed = "public",
    sessions: Annotated[int, typer.Option(min=1, help="most open sessions")] = 5000,
    live: Annotated[int, typer.Option(min=1, help="most episodes in memory")] = 2000,
    rate: Annotated[float, typer.Option(min=0, help="requests a second in all; 0: any")] = 1000,
    session_rate: Annotated[
        float, typer.Option(min=0, help="requests a second of one session; 0: any")
    ] = 100,
    idle: Annotated[
        float, typer.Option(min=0, help="seconds until a silent session ends; 0: never")
    ] = 3600,
    body: Annotated[int, typer.Option(min=1024, help="most bytes of a request")] = 262144,
    steps: Annotated[int, typer.Option(min=1, help="most actions of an attempt")] = 1000,
) -> None:
    """Let any agent play over the Model Context Protocol: one session is one episode."""
    with needing_extra("mcp"):
        from whybench.interfaces.mcp.transport import http as web
        from whybench.interfaces.mcp.transport import stdio as pipe

    from whybench.interfaces.mcp.catalogue import Offer, Order
    from whybench.interfaces.mcp.limits import Limits
    from whybench.interfaces.mcp.refusal import Refused
    from whybench.interfaces.mcp.scoring_policy import Rules
    from whybench.interfaces.mcp.sessions import Sessions
    from whybench.interfaces.mcp.store.sqlite import SqliteStore
    from whybench.interfaces.mcp.transport.tokens import Tokens

    with plain_errors():
        if http and (suite or index is not None or instance or template or session):
            raise ValueError(
                "--suite, --index, --instance, --template and --session are for stdio: over HTTP "
                "the address says which episode, like /mcp?suite=causallink/core&index=3"
            )
        if index is not None and not suite:
            raise ValueError("--index is a place in a suite: give --suite as well")
        if template and not (suite or instance):
            raise ValueError("--template is of an episode: give --suite or --instance as well")
        if not http:
            idle = 0
        offer = Offer(tuple(suites or ()), profile, seed)
        limits = Limits(sessions, live, rate, session_rate, idle, body, steps)
        base = SqliteStore(store or default_store())
        try:
            table = Sessions(base, offer, Rules(blind, attempts, run), limits)
            if http:
                tokens = Tokens.read(token_file)
                listening = web.bound(host, port, tokens)
                names = tuple(allow_host or ())
                web.serve(table, tokens, listening, names=names, tell=typer.echo)
                return
            asked = {
                "suite": suite,
                "index": index or 0,
                "instance": instance,
                "template": template,
            }
            pipe.serve(table, session, Order.read(asked))
        except Refused as error:
            raise refused(error) from error
        finally:
            base.shut()


def claim(
    receipts: Annotated[list[str] | None, typer.Argument(metavar="RECEIPT…")] = None,
    store: Stored = None,
    every: Annotated[bool, typer.Option("--all", help="every attempt of the store")] = False,
) -> None:
    """Score what receipts of a blind server stand for, from the stored actions."""
    from whybench.interfaces.mcp.refusal import Refused
    from whybench.interfaces.mcp.store.receipts import claim as claimed
    from whybench.interfaces.mcp.store.receipts import results
    from whybench.interfaces.mcp.store.sqlite import SqliteStore

    with plain_errors():
        if bool(receipts) == every:
            raise ValueError("give receipts, or --all")
        base = SqliteStore(Path(store or default_store()), make=False)
        try:
            rows = list(results(base) if every else claimed(base, receipts or ()))
        except Refused as error:
            raise refused(error) from error
        finally:
            base.shut()
        print_json(rows)
        if failed := sum("error" in row for row in rows):
            raise refused(f"{failed} of {len(rows)} attempts could not be scored: see `error`", 1)


def default_store() -> Path:
    """Return where sessions are kept if nothing else is said."""
    state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(state) / "whybench" / "mcp.sqlite"
