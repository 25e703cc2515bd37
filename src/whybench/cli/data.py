"""`whybench data …`: stored sets of instances. The commands import heavy modules when they run."""

from __future__ import annotations

import json
import time
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from whybench.causal.whole_files import whole
from whybench.cli.options import (
    Address,
    AsJson,
    Parameters,
    Profile,
    Seed,
    Stored,
    SuiteArg,
    Suites,
    Template,
    Where,
    Workers,
    asked_suite,
    engine,
)
from whybench.episode.declaration import known
from whybench.episode.registry import families
from whybench.interfaces.command_line import (
    needing_extra,
    plain_errors,
    print_figures,
    print_json,
    print_table,
    refused,
)
from whybench.interfaces.progress import progress

if TYPE_CHECKING:
    from whybench.episode.family import Suite

LISTED = 50
"""Maximum number of flaws that are listed. All of them are counted."""


def generate(
    suite: SuiteArg,
    n: Annotated[
        int, typer.Option("--n", min=1, help="Number of instances, before --where leaves some out.")
    ],
    out: Annotated[
        str, typer.Option(help="Folder or URL (s3://, gs://, …) of the set; file of transcripts.")
    ],
    seed: Seed = "public",
    profile: Profile = "certified",
    parameters: Parameters = None,
    where: Where = None,
    truth: Annotated[
        bool,
        typer.Option("--truth/--no-truth", help="Store the hidden systems beside the instances."),
    ] = True,
    rows: Annotated[int, typer.Option(min=1, help="Rows per shard.")] = 1000,
    transcripts: Annotated[
        bool,
        typer.Option(
            "--transcripts",
            help="Write the exact agent's episodes in the training split as chat messages (JSONL).",
        ),
    ] = False,
    template: Template = None,
    workers: Workers = None,
    address: Address = None,
    as_json: AsJson = False,
) -> None:
    """Generate a stored set of certified instances.

    After an interruption, the same command resumes.
    """
    found = asked_suite(suite, profile, seed, parameters, template=template)
    if transcripts:
        _write_transcripts(found, n, out, template, where, as_json)
        return
    if template is not None:
        raise refused("--template has no effect without --transcripts. Give --transcripts as well.")

    from whybench.interfaces.stored.place import Place
    from whybench.interfaces.stored.plan import Plan
    from whybench.scale.generate import generate as make

    with plain_errors():
        plan = Plan.of(found, n, rows=rows, truth=truth, where=where)
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


def _write_transcripts(
    suite: Suite, n: int, out: str, template: str | None, where: str | None, as_json: bool
) -> None:
    """Write transcripts of the first n instances that are in the training split."""
    from whybench.interfaces.sampling import Choice
    from whybench.interfaces.transcripts import transcripts

    written = 0
    with (
        plain_errors(),
        whole(Path(out), make_folder=False) as draft,
        draft.open("w", encoding="utf-8") as file,
        progress(n, f"transcripts {suite.path}", "episodes") as advance,
    ):
        chosen = Choice.of(suite, "train", n, where=where).once()
        for row in transcripts(suite, chosen, template):
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
            written += 1
            advance(1)
    print_figures({"file": out, "instances": n, "transcripts": written}, as_json)


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


def curriculum(
    suites: Suites,
    n: Annotated[int, typer.Option("--n", min=1, help="Number of instances per suite.")] = 100,
    seed: Seed = "public",
    profile: Profile = "certified",
    as_json: AsJson = False,
) -> None:
    """List levels of difficulty with counts, and the filter that selects each."""
    from whybench.curriculum.levels import levels

    with plain_errors():
        found = [
            level for path in suites for level in levels(asked_suite(path, profile, seed, None), n)
        ]
    if as_json:
        print_json([level.to_json() for level in found])
        return
    print_table(
        ("suite", "filter", "instances", "systems", "exact steps", "tokens"),
        [
            [one.suite, one.where, f"{one.instances:,}", f"{one.systems:,}", f"{one.exact_steps:g}",
             f"{one.tokens:,.0f}"]
            for one in found
        ],
    )  # fmt: skip


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


def released(
    family: Annotated[str, typer.Argument(help="Family; see `whybench list`.")],
    folder: Annotated[
        Path | None, typer.Argument(help="Folder with the released files, to check.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Say where a paper's released files come from, and check a folder of them.

    Exit code 1: a file is missing or differs.
    """
    with plain_errors():
        known("family", family, families())
        found = families()[family].capability("released")
        if found is None:
            raise ValueError(f"{family} reads no released files.")
        if folder is not None and not folder.is_dir():
            raise ValueError(f"There is no folder {folder}.")
    files = {name: _state(folder, name, wanted) for name, wanted in found["sha256"].items()}
    wrong = sum(state not in ("as released", "not checked") for state in files.values())
    if as_json:
        print_json({"source": found["source"], "files": files, "wrong": wrong})
    else:
        typer.echo(f"Source: {found['source']}.")
        typer.echo(f"Use the folder as `-T {found['parameter']}=FOLDER` in profile published.")
        print_table(("file", "state"), [[name, state] for name, state in files.items()])
    if wrong:
        raise typer.Exit(1)


def _state(folder: Path | None, name: str, wanted: str) -> str:
    """Compare a file with the released one."""
    if folder is None:
        return "not checked"
    if not (folder / name).is_file():
        return "missing"
    same = sha256((folder / name).read_bytes()).hexdigest() == wanted
    return "as released" if same else "differs"
