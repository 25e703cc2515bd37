"""`whybench audit`: try to break suites. Heavy imports wait inside the command."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from whybench.cli.options import Address, AsJson, Profile, Workers, engine
from whybench.interfaces.command_line import needing_extra, plain_errors, print_json, print_table
from whybench.interfaces.progress import progress


def audit(
    suites: Annotated[
        list[str] | None,
        typer.Argument(metavar="[SUITE]...", help="Suites. Default: all that are recommended."),
    ] = None,
    profile: Profile = "certified",
    seeds: Annotated[
        list[str] | None,
        typer.Option("--seed", help="Unused suite seed. Repeat for more. Default: two of our own."),
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder of finished parts.")] = Path("audit"),
    quick: Annotated[int, typer.Option(min=2, help="Instances of a quick guesser.")] = 1000,
    slow: Annotated[int, typer.Option(min=2, help="Instances of a slow guesser.")] = 200,
    exact: Annotated[int, typer.Option(min=2, help="Instances of the exact agent.")] = 100,
    certificates: Annotated[int, typer.Option(min=1, help="Certificates to check.")] = 50,
    seconds: Annotated[
        float, typer.Option(min=0, help="Seconds of CPU after which an agent stops.")
    ] = 120,
    logs: Annotated[bool, typer.Option(help="Look for leaks in an Inspect log, too.")] = True,
    page: Annotated[Path | None, typer.Option(help="File for a page with figures.")] = None,
    workers: Workers = None,
    address: Address = None,
    as_json: AsJson = False,
) -> None:
    """Try to break suites with guessers and leak tests.

    The exit code is 1 if a verdict is FAIL.
    """
    from whybench.audit.plays import Sizes
    from whybench.audit.run import SEEDS, Order
    from whybench.audit.run import audit as run
    from whybench.audit.summary import HEADER, row_of, shortened
    from whybench.episode.registry import families, split_path

    with plain_errors():
        paths = suites or [
            f"{name}/{one}"
            for name in families()
            for one in families().declared(name).get("recommended", ())
        ]
        paths = ["/".join(split_path(path)) for path in paths]
        sizes = Sizes(quick, slow, exact, certificates, seconds)
        orders = [Order(path, profile, tuple(seeds or SEEDS), sizes, logs) for path in paths]
        total = sum(len(order.parts) for order in orders)
        with needing_extra("ray"), progress(total, "audit", "parts") as advance:
            found = list(
                run(
                    orders,
                    out,
                    workers=engine(workers, address),
                    address=address,
                    progress=advance,
                )
            )
    told = [one.to_json() for one in found]
    if page is not None:
        with needing_extra("report"):
            from whybench.audit.page import write_page
        write_page(told, page)
    if as_json:
        print_json(told)
    else:
        print_table(HEADER, [[c.replace(" [", "\n[") for c in row_of(one)] for one in told])
        for one in found:
            for reason in shortened(one.judged.reasons):
                typer.echo(f"{one.order.path}: {reason}")
    raise typer.Exit(any(one.judged.verdict == "FAIL" for one in found))
