"""`whybench data …`: stored sets of instances. Heavy imports wait inside the commands."""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import Annotated

import typer

from whybench.cli.options import (
    Address,
    AsJson,
    Parameters,
    Profile,
    Seed,
    Stored,
    SuiteArg,
    Workers,
    asked_suite,
    engine,
)
from whybench.episode.nearest import known
from whybench.interfaces.command_line import (
    needing_extra,
    plain_errors,
    print_figures,
    print_json,
    print_table,
)
from whybench.interfaces.progress import progress

LISTED = 50
"""Flaws that are listed; all are counted."""


def generate(
    suite: SuiteArg,
    n: Annotated[int, typer.Option("--n", min=1, help="how many instances")],
    out: Annotated[str, typer.Option(help="folder or address (s3://, gs://, …) of the set")],
    seed: Seed = "public",
    profile: Profile = "certified",
    parameters: Parameters = None,
    truth: Annotated[
        bool, typer.Option("--truth/--no-truth", help="store hidden truths beside the instances")
    ] = True,
    rows: Annotated[int, typer.Option(min=1, help="rows of a shard")] = 1000,
    workers: Workers = None,
    address: Address = None,
    as_json: AsJson = False,
) -> None:
    """Make a stored set of proven instances.

    The same command goes on where it was stopped.
    """
    found = asked_suite(suite, profile, seed, parameters)

    from whybench.interfaces.stored.place import Place
    from whybench.interfaces.stored.plan import Plan
    from whybench.scale.generate import generate as make

    with plain_errors():
        plan = Plan.of(found, n, rows=rows, truth=truth)
        started = time.monotonic()
        with needing_extra("ray"), progress(n, f"generate {suite}", "rows") as advance:
            manifest = make(
                plan, Place(out), workers=engine(workers, address), address=address,
                progress=lambda shard: advance(len(plan.numbers(shard.number))),
            )  # fmt: skip
    seconds = time.monotonic() - started
    written = manifest.to_json()
    told = {name: written[name] for name in written if name not in ("plan", "shards")}
    told |= {"shards": len(manifest.shards), "seconds": round(seconds, 1)}
    print_figures(told, as_json)


def recheck(path: str, workers: int | None, address: str | None, as_json: bool) -> None:
    """Check a stored set again with the independent checkers; exit 1 if something is wrong."""
    from whybench.interfaces.stored.manifest import read_manifest
    from whybench.interfaces.stored.place import Place
    from whybench.scale.recheck import recheck as check

    flaws, rows = [], 0
    with plain_errors():
        plan = read_manifest(Place(path)).plan
        unverified_claims = plan.opened().family.unverified_claims
        used = engine(workers, address)
        with needing_extra("ray"), progress(plan.n, f"certify {path}", "rows") as advance:
            for shard in check(Place(path), workers=used, address=address):
                flaws += [{"id": what, "why": why} for what, why in shard.flaws]
                rows += shard.rows
                advance(len(plan.numbers(shard.number)) if shard.number >= 0 else 0)
    print_figures(
        {
            "suite": plan.suite,
            "instances": rows,
            "flaws": len(flaws),
            "failed": flaws[:LISTED],
            "not_checked": dict(unverified_claims),
        },
        as_json,
    )
    if flaws:
        raise typer.Exit(1)


def stats(path: Stored, as_json: AsJson = False) -> None:
    """Tell what a stored set holds: counts, bits, difficulty, rejections."""
    from whybench.scale.figures import figures, lines

    with plain_errors():
        told = figures(path)
    if as_json:
        print_json(told)
    else:
        print_table(("what", "figure", "spread"), lines(told))


def distinct(
    paths: Annotated[list[str], typer.Argument(metavar="PATH...", help="stored sets")],
    by: Annotated[
        str, typer.Option(help="problem (all that is shown) or system (hidden)")
    ] = "problem",
    pilot: Annotated[
        list[str] | None, typer.Option(help="sets of other seeds, to tell what was to be expected")
    ] = None,
    write: Annotated[bool, typer.Option(help="write distinct.parquet: the rows to keep")] = False,
    against: Annotated[
        list[str] | None, typer.Option(help="with --write: keep nothing that this set has; repeat")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Count repeats up to renaming, in sets and across them."""
    from whybench.scale.distinct import as_pilot, duplicates, write_distinct
    from whybench.scale.keys import By
    from whybench.scale.repeats import figure

    key: By = "system" if by == "system" else "problem"
    with plain_errors():
        known("key", by, ("problem", "system"))
        if against and not write:
            raise ValueError("`--against` says what to leave out when `--write` writes")
        found = duplicates(paths, key)
        told = found.to_json()
        if pilot:
            told["expected"] = figure(found.curve, as_pilot(pilot, paths, key))
        if write:
            told["kept"] = [asdict(write_distinct(path, key, against or ())) for path in paths]
    if as_json:
        print_json(told)
        return
    print_table(
        ("set", f"rows by {by}", "distinct", "repeats"),
        [
            [one.address, f"{one.counted:,}", f"{one.distinct:,}", f"{one.rate:.4%}"]
            for one in (*found.sets, found.all)
        ],
    )
    if pilot:
        shown = ("rows", "expected_rate_low", "expected_rate", "expected_rate_high", "found_rate")
        rows = [
            [f"{row[name]:,}" if name == "rows" else f"{row[name]:.4%}" for name in shown]
            for row in told["expected"]
        ]
        print_table(("rows", "expected: at least", "expected", "at most", "found"), rows)
    for path, kept in zip(paths, told.get("kept", ()), strict=False):
        typer.echo(f"{path}: {kept['kept']:,} of {kept['rows']:,} rows kept")
