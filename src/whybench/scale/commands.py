"""`whybench generate` and what goes with stored sets. Heavy imports wait inside the commands."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import Annotated, Any

import typer

from whybench.interfaces.asking import needing_extra, pairs, plain, print_json, print_table

Workers = Annotated[
    int | None,
    typer.Option(
        min=0, help="0: a plain loop in this process; default: all processors if Ray is there"
    ),
]
Address = Annotated[
    str | None, typer.Option(help="a running Ray cluster, `auto` on one of its nodes")
]
Stored = Annotated[
    str, typer.Argument(metavar="PATH", help="a stored set: folder or s3://, gs://, …")
]
LISTED = 50
"""Flaws that are listed; all are counted."""

AsJson = Annotated[bool, typer.Option("--json", help="one JSON document and nothing else")]


def generate(
    suite: Annotated[str, typer.Argument(metavar="SUITE", help="family/suite")],
    n: Annotated[int, typer.Option("--n", min=1, help="how many instances")],
    out: Annotated[str, typer.Option(help="folder or address (s3://, gs://, …) of the set")],
    salt: Annotated[str, typer.Option(help="another salt gives other instances")] = "public",
    profile: Annotated[str, typer.Option(help="certified or published")] = "certified",
    knob: Annotated[list[str] | None, typer.Option(help="name=value; repeat for more")] = None,
    truth: Annotated[
        bool, typer.Option("--truth/--no-truth", help="store hidden truths beside the instances")
    ] = True,
    rows: Annotated[int, typer.Option(min=1, help="rows of a shard")] = 1000,
    workers: Workers = None,
    address: Address = None,
    as_json: AsJson = False,
) -> None:
    """Make a stored set of proven instances; the same command goes on where it was stopped."""
    from whybench.episode.family import find_suite
    from whybench.interfaces.stored.place import Place
    from whybench.interfaces.stored.plan import Plan
    from whybench.scale.generate import generate as make
    from whybench.scale.progress import progress

    with plainly():
        found = find_suite(suite, profile=profile, salt=salt, knobs=pairs(knob))
        plan = Plan.of(found, n, rows=rows, truth=truth)
        started = time.monotonic()
        with needing_extra("ray"), progress(n, f"generate {suite}") as advance:
            manifest = make(
                plan, Place(out), workers=engine(workers, address), address=address,
                progress=lambda shard: advance(len(plan.numbers(shard.number))),
            )  # fmt: skip
    seconds = time.monotonic() - started
    written = manifest.to_json()
    told = {name: written[name] for name in written if name not in ("plan", "shards")}
    told |= {"shards": len(manifest.shards), "seconds": round(seconds, 1)}
    _print(told, as_json)


def recheck(path: str, workers: int | None, address: str | None, as_json: bool) -> None:
    """Check a stored set again with the independent checkers; exit 1 if something is wrong."""
    from whybench.interfaces.stored.manifest import read_manifest
    from whybench.interfaces.stored.place import Place
    from whybench.scale.progress import progress
    from whybench.scale.recheck import recheck as check

    flaws, rows = [], 0
    with plainly():
        plan = read_manifest(Place(path)).plan
        unchecked = plan.opened().family.unchecked
        used = engine(workers, address)
        with needing_extra("ray"), progress(plan.n, f"certify {path}") as advance:
            for shard in check(Place(path), workers=used, address=address):
                flaws += [{"id": what, "why": why} for what, why in shard.flaws]
                rows += shard.rows
                advance(len(plan.numbers(shard.number)) if shard.number >= 0 else 0)
    _print(
        {
            "suite": plan.suite,
            "instances": rows,
            "flaws": len(flaws),
            "failed": flaws[:LISTED],
            "not_checked": dict(unchecked),
        },
        as_json,
    )
    if flaws:
        raise typer.Exit(1)


def stats(path: Stored, as_json: AsJson = False) -> None:
    """Tell what a stored set holds: counts, bits, difficulty, rejections."""
    from whybench.scale.figures import figures, lines

    with plainly():
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
        list[str] | None, typer.Option(help="sets of other salts, to tell what was to be expected")
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

    if by not in ("problem", "system"):
        raise typer.BadParameter("count by `problem` or by `system`")
    key: By = "system" if by == "system" else "problem"
    if against and not write:
        raise typer.BadParameter("`--against` says what to leave out when `--write` writes")
    with plainly():
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


@contextmanager
def plainly() -> Iterator[None]:
    """Say what is wrong with what was asked, and how to mend it, without a traceback."""
    try:
        yield
    except (ValueError, OSError, ImportError) as error:
        raise typer.BadParameter(str(error)) from error


def engine(workers: int | None, address: str | None) -> int | None:
    """Return the workers to use where nothing is said: none if Ray is not there."""
    if workers is not None and address is not None:
        raise typer.BadParameter("a cluster has its own workers: leave out --workers or --address")
    from whybench.scale.work import default_workers

    return default_workers() if workers is None and address is None else workers


def _print(figures: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print_json(figures)
    else:
        print_table(("figure", "value"), [[key, plain(value)] for key, value in figures.items()])
