"""`whybench data …`: stored sets of instances. The commands import heavy modules when they run."""

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
from whybench.episode.declaration import known
from whybench.interfaces.command_line import (
    needing_extra,
    plain_errors,
    print_figures,
    print_json,
    print_table,
)
from whybench.interfaces.progress import progress

LISTED = 50
"""Maximum number of flaws that are listed. All of them are counted."""


def generate(
    suite: SuiteArg,
    n: Annotated[int, typer.Option("--n", min=1, help="Number of instances.")],
    out: Annotated[str, typer.Option(help="Folder or URL (s3://, gs://, …) of the set.")],
    seed: Seed = "public",
    profile: Profile = "certified",
    parameters: Parameters = None,
    truth: Annotated[
        bool,
        typer.Option("--truth/--no-truth", help="Store the hidden systems beside the instances."),
    ] = True,
    rows: Annotated[int, typer.Option(min=1, help="Rows per shard.")] = 1000,
    workers: Workers = None,
    address: Address = None,
    as_json: AsJson = False,
) -> None:
    """Generate a stored set of certified instances.

    After an interruption, the same command resumes.
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
    """Check a stored set again with the independent checkers. The exit code is 1 for a flaw."""
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
    """Summarize a stored set: counts, bits, difficulty."""
    from whybench.scale.figures import figures, lines

    with plain_errors():
        told = figures(path)
    if as_json:
        print_json(told)
    else:
        print_table(("item", "value", "distribution"), lines(told))


def distinct(
    paths: Annotated[list[str], typer.Argument(metavar="PATH...", help="Stored sets.")],
    by: Annotated[
        str, typer.Option(help="Compare by problem (all that is shown) or by hidden system.")
    ] = "problem",
    pilot: Annotated[
        list[str] | None,
        typer.Option(
            help="Set of another seed, to estimate the expected repeats. Repeat for more."
        ),
    ] = None,
    write: Annotated[
        bool, typer.Option(help="Write the rows to keep to distinct.parquet.")
    ] = False,
    against: Annotated[
        list[str] | None,
        typer.Option(help="With --write: drop what this set has. Repeat for more."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Count instances that repeat up to renaming."""
    from whybench.scale.distinct import as_pilot, duplicates, write_distinct
    from whybench.scale.keys import By
    from whybench.scale.repeats import figure

    key: By = "system" if by == "system" else "problem"
    with plain_errors():
        known("key", by, ("problem", "system"))
        if against and not write:
            raise ValueError("--against has no effect without --write. Give --write as well.")
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
        ("set", "rows" if key == "problem" else "draws", f"distinct {key}s", "repeats"),
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
        typer.echo("Repeats that the pilot predicts, with the limits of the prediction:")
        print_table(("rows", "at least", "expected", "at most", "found"), rows)
    for path, kept in zip(paths, told.get("kept", ()), strict=False):
        typer.echo(f"{path}: {kept['kept']:,} of {kept['rows']:,} rows kept")
