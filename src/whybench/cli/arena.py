"""`whybench arena …`: the server for agents. The commands import heavy modules when they run."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from whybench.cli.options import Profile, Seed, Where
from whybench.interfaces.command_line import needing_extra, plain_errors, print_json, refused

if TYPE_CHECKING:
    from whybench.interfaces.mcp.store.protocol import Store

Stored = Annotated[
    str | None,
    typer.Option("--store", help="SQLite file of the sessions, :memory:, or a URL postgresql://…"),
]


def serve(
    http: Annotated[bool, typer.Option("--http", help="Serve over HTTP instead of stdio.")] = False,
    host: Annotated[
        str, typer.Option(help="Address. Any other than loopback needs a token.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 takes a free one.")] = 8765,
    suite: Annotated[str, typer.Option(help="With stdio: suite to open at the start.")] = "",
    index: Annotated[
        int | None, typer.Option(min=0, help="With stdio: index of the instance. Default: 0.")
    ] = None,
    instance: Annotated[
        str, typer.Option(help="With stdio: id of the instance, instead of suite and index.")
    ] = "",
    template: Annotated[str | None, typer.Option(help="With stdio: prompt template.")] = None,
    session: Annotated[str, typer.Option(help="With stdio: stored session to resume.")] = "",
    store: Stored = None,
    token_file: Annotated[
        Path | None,
        typer.Option(
            exists=True,
            dir_okay=False,
            help="File of tokens, one per line; each token is an owner.",
        ),
    ] = None,
    allow_host: Annotated[
        list[str] | None, typer.Option(help="Further host name of this server. Repeat for more.")
    ] = None,
    blind: Annotated[
        bool, typer.Option("--blind", help="Return receipts instead of scores.")
    ] = False,
    attempts: Annotated[
        Literal["owner", "session"], typer.Option(help="Scope in which attempts are numbered.")
    ] = "owner",
    run: Annotated[str, typer.Option(help="Name of the run. Attempts are counted per run.")] = "",
    suites: Annotated[
        list[str] | None,
        typer.Option(help="Family or family/suite to offer. Repeat for more. Default: all."),
    ] = None,
    profile: Profile = "certified",
    seed: Seed = "public",
    where: Where = None,
    sessions: Annotated[int, typer.Option(min=1, help="Maximum number of open sessions.")] = 5000,
    live: Annotated[int, typer.Option(min=1, help="Maximum number of episodes in memory.")] = 2000,
    rate: Annotated[
        float, typer.Option(min=0, help="Maximum requests per second, all sessions; 0: no limit.")
    ] = 1000,
    session_rate: Annotated[
        float, typer.Option(min=0, help="Maximum requests per second of a session; 0: no limit.")
    ] = 100,
    idle: Annotated[
        float, typer.Option(min=0, help="Seconds after which an idle session ends; 0: never.")
    ] = 3600,
    body: Annotated[
        int, typer.Option(min=1024, help="Maximum size of a request in bytes.")
    ] = 262144,
    steps: Annotated[
        int, typer.Option(min=1, help="Maximum number of actions of an attempt.")
    ] = 1000,
    owner_rate: Annotated[
        float, typer.Option(min=0, help="Maximum requests per second of a token; 0: no limit.")
    ] = 300,
    owner_sessions: Annotated[
        int, typer.Option(min=1, help="Maximum number of open sessions of a token.")
    ] = 1500,
    owner_day: Annotated[
        int, typer.Option(min=1, help="Maximum number of episodes that a token opens on a day.")
    ] = 50_000,
    owner_restore: Annotated[
        float, typer.Option(min=0, help="Share of a core for restores of a token; 0: no limit.")
    ] = 0.25,
    shard: Annotated[
        str, typer.Option(help="With HTTP: name of this process, with which session ids begin.")
    ] = "",
    drain: Annotated[
        float, typer.Option(min=0, help="Seconds between a signal and the end, for a proxy.")
    ] = 0,
) -> None:
    """Serve episodes over the Model Context Protocol."""
    with needing_extra("mcp"):
        from whybench.interfaces.mcp.transport import http as web
        from whybench.interfaces.mcp.transport import stdio as pipe

    from whybench.interfaces.mcp.catalogue import Offer, Order
    from whybench.interfaces.mcp.limits import Limits
    from whybench.interfaces.mcp.refusal import Refused
    from whybench.interfaces.mcp.scoring_policy import Rules
    from whybench.interfaces.mcp.sessions import Sessions
    from whybench.interfaces.mcp.transport.tokens import Tokens

    with plain_errors():
        if http and (suite or index is not None or instance or template or session):
            raise ValueError(
                "--suite, --index, --instance, --template and --session work with stdio only. "
                "Over HTTP, choose the episode in the URL: /mcp?suite=causallink/advanced&index=3."
            )
        if not re.fullmatch("[a-z0-9]{0,16}", shard):
            raise ValueError("--shard has at most 16 small letters and digits.")
        if index is not None and not suite:
            raise ValueError("--index selects an instance of a suite. Give --suite as well.")
        if template and not (suite or instance):
            raise ValueError("--template needs an episode. Give --suite or --instance as well.")
        if not http:
            idle = 0
        offer = Offer(tuple(suites or ()), profile, seed, where)
        limits = Limits(
            sessions,
            live,
            rate,
            session_rate,
            idle,
            body,
            steps,
            owner_rate=owner_rate,
            owner_sessions=owner_sessions,
            owner_day=owner_day,
            owner_restore=owner_restore,
        )
        base = _opened(store)
        try:
            table = Sessions(base, offer, Rules(blind, attempts, run), limits)
            if http:
                tokens = Tokens.read(token_file)
                listening = web.bound(host, port, tokens)
                names = tuple(allow_host or ())
                web.serve(
                    table,
                    tokens,
                    listening,
                    names=names,
                    shard=shard,
                    drain=drain,
                    tell=typer.echo,
                )
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
    every: Annotated[bool, typer.Option("--all", help="Score every attempt in the store.")] = False,
) -> None:
    """Score the attempts behind receipts of a blind server."""
    from whybench.interfaces.mcp.refusal import Refused
    from whybench.interfaces.mcp.store.receipts import claim as claimed
    from whybench.interfaces.mcp.store.receipts import results

    with plain_errors():
        if bool(receipts) == every:
            raise ValueError("Give either receipts or --all.")
        base = _opened(store, make=False)
        try:
            rows = list(results(base) if every else claimed(base, receipts or ()))
        except Refused as error:
            raise refused(error) from error
        finally:
            base.shut()
        print_json(rows)
        if failed := sum("error" in row for row in rows):
            raise refused(
                f"{failed} of {len(rows)} attempts could not be scored. "
                "Their entries state the reason in `error`.",
                1,
            )


def upgrade(store: Stored = None) -> None:
    """Bring a store of an older version to the format of this one.

    A file is copied first.
    """
    from whybench.interfaces.mcp.store.opened import is_postgres, migrate

    name = str(store or default_store())
    with plain_errors(), needing_extra("arena" if is_postgres(name) else "mcp"):
        typer.echo(migrate(name))


def _opened(store: str | None, *, make: bool = True) -> Store:
    from whybench.interfaces.mcp.store.opened import is_postgres, opened

    name = str(store or default_store())
    with needing_extra("arena" if is_postgres(name) else "mcp"):
        return opened(name, make=make)


def default_store() -> Path:
    """Return the default file in which sessions are stored."""
    state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(state) / "whybench" / "mcp.sqlite"
