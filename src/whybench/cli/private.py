"""`whybench data secret`, `commit` and `prove`: private splits that can be verified later."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from whybench.cli.options import Address, AsJson, Stored, Workers, engine
from whybench.interfaces.command_line import needing_extra, plain_errors, print_json
from whybench.interfaces.progress import progress


def secret(
    file: Annotated[
        Path | None, typer.Option(help="File of secrets. Default: the path in WHYBENCH_SECRETS.")
    ] = None,
) -> None:
    """Create a secret seed and print its public name.

    The secret is kept in the file of secrets.
    """
    from whybench.causal.suite_seeds import keep, new_secret

    with plain_errors():
        typer.echo(keep(new_secret(), file))


def commit(
    path: Stored,
    out: Annotated[Path | None, typer.Option(help="File for the full commitment.")] = None,
) -> None:
    """Print a line that commits to a stored set."""
    from whybench.interfaces.stored.place import Place
    from whybench.scale.commitment import announcement, commitment, write_commitment

    with plain_errors():
        data = commitment(Place(path))
        if out is not None:
            write_commitment(data, out)
    typer.echo(announcement(data))


def prove(
    commitment: Annotated[Path, typer.Argument(help="File from `whybench data commit --out`.")],
    path: Annotated[str | None, typer.Argument(metavar="[PATH]", help="Stored set.")] = None,
    secret_file: Annotated[
        Path | None, typer.Option(help="Revealed secret. Default: the file of secrets.")
    ] = None,
    seal: Annotated[str | None, typer.Option(help="Seal that was published.")] = None,
    sample: Annotated[
        int | None, typer.Option(min=1, help="Number of shards to regenerate. Needs --challenge.")
    ] = None,
    challenge: Annotated[
        str, typer.Option(help="Verifier's text, chosen after the seal was published.")
    ] = "",
    workers: Workers = None,
    address: Address = None,
    as_json: AsJson = False,
) -> None:
    """Regenerate a committed set and compare it.

    The exit code is 1 if something differs.
    """
    from whybench.interfaces.stored.place import Place
    from whybench.scale.commitment import disclosed, read_commitment, sampled
    from whybench.scale.commitment import prove as proven

    with plain_errors():
        data = read_commitment(commitment)
        known = None if secret_file is None else disclosed(secret_file, data["plan"]["seed"])
        shards = len(data["shards"])
        made = shards if sample is None else len(sampled(data, sample, challenge))
        looked = shards if path is not None else made
        with (
            needing_extra("ray"),
            progress(looked, f"prove {commitment.name}", "shards") as advance,
        ):
            faults = proven(
                data, secret=known, place=None if path is None else Place(path), published=seal,
                sample=sample, challenge=challenge, workers=engine(workers, address),
                address=address, progress=lambda _: advance(1),
            )  # fmt: skip
    if as_json:
        compared = seal is not None
        print_json(
            {"shards": shards, "made_anew": made, "seal_compared": compared, "faults": faults}
        )
    else:
        for fault in faults:
            typer.echo(fault)
        typer.echo(
            f"Not proven: {len(faults)} faults."
            if faults
            else f"Proven: {made} of {shards} shards were regenerated and are identical."
        )
        if seal is None:
            typer.echo(
                "No published seal was compared, so this does not show that the set was fixed "
                f"before. Give --seal with the seal that was published. Here it is {data['seal']}."
            )
    if faults:
        raise typer.Exit(1)
