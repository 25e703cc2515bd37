"""`whybench run` and `whybench release`. The commands import heavy modules when they run."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from whybench.causal.whole_files import write_whole
from whybench.cli.options import AsJson
from whybench.cli.standard.prices import prices_of, show_estimate
from whybench.interfaces.command_line import (
    needing_extra,
    plain_errors,
    print_json,
    read_values,
    refused,
)
from whybench.interfaces.progress import progress

if TYPE_CHECKING:
    from whybench.release.data import Part, Release
    from whybench.release.estimate import Estimate, Pilot, Price

NEWEST = "1rc"
"""The release that is run if none is named."""

ASK_ABOVE = 5.0
"""Estimated price above which the command asks."""

ReleaseName = Annotated[str, typer.Option(help="Release.")]
WhichSet = Annotated[str, typer.Option("--set", help="Set of rows: lite, standard or full.")]
PriceOption = Annotated[
    str | None,
    typer.Option(help="Price per million tokens as IN,OUT, or a JSON file: model to [IN, OUT]."),
]
PilotOption = Annotated[
    str | None, typer.Option(help="Log, or folder of logs, of a similar model, for the estimate.")
]
MaxTokens = Annotated[
    int | None, typer.Option(min=1, help="Longest reply. Default: the limit of the release.")
]

Connections = Annotated[int, typer.Option(min=1, help="Parallel calls to each model.")]
ModelArgs = Annotated[
    list[str] | None,
    typer.Option("-M", metavar="NAME=VALUE", help="Argument of the model. Repeat for more."),
]
ModelUrl = Annotated[str | None, typer.Option(help="Base URL of the model's API.")]


def run(
    models: Annotated[
        list[str], typer.Argument(metavar="MODEL...", help="Models as Inspect names them.")
    ],
    release: ReleaseName = NEWEST,
    which: WhichSet = "lite",
    log_dir: Annotated[Path, typer.Option(help="Folder for the logs.")] = Path("runs"),
    family: Annotated[
        list[str] | None, typer.Option(help="Only this family. Repeat for more.")
    ] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Only the first rows of each family, for a trial.")
    ] = None,
    connections: Connections = 10,
    max_tokens: MaxTokens = None,
    price: PriceOption = None,
    max_cost: Annotated[
        float | None, typer.Option(help="Refuse to start above this estimated price.")
    ] = None,
    pilot: PilotOption = None,
    protocol: Annotated[
        str | None, typer.Option(help="Other protocol than that of the release.")
    ] = None,
    model_args: ModelArgs = None,
    model_base_url: ModelUrl = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask before a large price.")] = False,
    as_json: AsJson = False,
) -> None:
    """Evaluate models on a release, and print the table."""
    from whybench.release.data import load_release
    from whybench.release.estimate import estimates

    with needing_extra("report"):
        from whybench.cli.standard.tables import print_standings
        from whybench.report.runs import read_runs
    with plain_errors():
        made = load_release(release)
        families = _families(made, family)
        _missing_parts(models, families)
        found = estimates(made, which, pilots_in(pilot), max_tokens, limit)
        found = [one for one in found if one.family in families]
        costs = prices_of(price, models)
        if not as_json:
            show_estimate(found, models, costs, connections, f"Release {release}, set {which}")
        _agreed(found, models, costs, max_cost, yes)
        given = {"protocol": protocol} if protocol else {}
        ended = _play(
            models,
            made,
            which,
            log_dir,
            families,
            given,
            {
                "limit": limit,
                "max_connections": connections,
                "max_samples": connections,
                "model_args": read_values(model_args),
                "model_base_url": model_base_url,
                **({} if max_tokens is None else {"max_tokens": max_tokens}),
            },
        )
        print_standings(read_runs([log_dir]), "json" if as_json else "text")
    if not as_json:
        typer.echo(f"Page: whybench report {log_dir} -o report.html")
    if not ended:
        raise refused("Some samples failed. The same command plays them again.", 1)


def release(
    name: Annotated[str, typer.Argument(help="Name of the release, such as 1rc.")] = NEWEST,
    check: Annotated[bool, typer.Option(help="Rebuild instances and compare hashes.")] = False,
    make: Annotated[bool, typer.Option(help="Make the release from its recipe.")] = False,
    family: Annotated[
        list[str] | None, typer.Option(help="With --make: only this family. Repeat for more.")
    ] = None,
    which: WhichSet = "standard",
    limit: Annotated[
        int | None, typer.Option(min=1, help="Check only so many rows of each suite.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show what a release contains, check it, or make it."""
    from whybench.release.data import SETS, load_release

    with plain_errors():
        if which not in SETS:
            raise ValueError(f"Unknown set {which!r}. Use {', '.join(SETS)}.")
        if make:
            _make(name, family or ())
            return
        found = load_release(name)
        if check:
            _check(found, which, limit, as_json)
            return
    _contents(found, which, as_json)


def pilots_in(path: str | None) -> dict[str, Pilot]:
    """Return the mean episode of each family in logs."""
    if path is None:
        return {}
    from whybench.release.estimate import Pilot
    from whybench.report.runs import read_runs
    from whybench.report.standings.build import pooled

    found: dict[str, list[Any]] = {}
    for one in read_runs([path]).runs:
        found.setdefault(one.family.name, []).append(one)
    frames = {family: pooled(runs) for family, runs in found.items()}
    return {
        family: Pilot(
            float(frame["input_tokens"].mean()),
            float(frame["output_tokens"].mean()),
            float(frame["seconds"].mean()),
        )
        for family, frame in frames.items()
        if frame["input_tokens"].notna().any()
    }


def _families(made: Release, asked: Sequence[str] | None) -> list[str]:
    for name in asked or ():
        if name not in made.families:
            raise ValueError(f"Unknown family {name!r}. Use {', '.join(made.families)}.")
    return [name for name in made.families if not asked or name in asked]


def _missing_parts(models: Sequence[str], families: Sequence[str]) -> None:
    """Find missing parts before the first call: models, keys and families."""
    from inspect_ai.model import get_model

    from whybench.episode.registry import families as installed

    for name in families:
        if name not in installed():
            raise ValueError(f"The family {name} is not installed.")
    for model in models:
        if "/" not in model:
            raise ValueError(f"{model!r} names no provider. Write PROVIDER/MODEL.")
        agent = model.removeprefix("whybench/")
        if agent != model:
            lacking = [f for f in families if agent not in installed()[f].agents]
            if lacking and agent != "script":
                raise ValueError(f"{lacking[0]} has no reference agent {agent!r}.")
            continue
        try:
            get_model(model)
        except Exception as error:
            raise ValueError(f"{model} cannot be used: {error}") from error


def _agreed(
    found: Sequence[Estimate],
    models: Sequence[str],
    costs: Mapping[str, Price],
    most: float | None,
    yes: bool,
) -> None:
    """Ask before a large price. Raise ValueError if it is above the limit."""
    whole = sum(costs[m].of(e.input, e.output) for m in models if m in costs for e in found)
    if most is not None:
        if lacking := [model for model in models if model not in costs]:
            raise ValueError(f"--max-cost needs a price of {lacking[0]}. Add --price IN,OUT.")
        if whole > most:
            raise ValueError(f"The estimate of {whole:.2f} is above --max-cost {most:.2f}.")
    if whole > ASK_ABOVE and not yes and not typer.confirm(f"Spend about {whole:.2f}?"):
        raise typer.Exit(1)


def _play(
    models: Sequence[str],
    made: Release,
    which: str,
    log_dir: Path,
    families: Sequence[str],
    given: Mapping[str, Any],
    options: Mapping[str, Any],
) -> bool:
    from whybench.interfaces.inspectai.runner import run as play

    try:
        with contextlib.redirect_stdout(sys.stderr):  # words of the engine
            ended, logs = play(
                models,
                made.name,
                which,
                str(log_dir),
                families=families,
                given=given,
                tell=lambda line: typer.echo(line, err=True),
                display="none",
                **options,
            )
    except KeyboardInterrupt as error:
        raise refused(
            f"\nStopped. Logs are in {log_dir}. The same command goes on.", 130
        ) from error
    if any(log.status == "cancelled" for log in logs):
        raise refused(f"\nStopped. Logs are in {log_dir}. The same command goes on.", 130)
    return ended


def _make(name: str, only: Sequence[str]) -> None:
    from whybench.release import make as making
    from whybench.release.data import FOLDER

    found = []
    with progress(making.count(name), f"release {name}", "suites") as advance:
        for part in making.parts(name, only):
            found.append(part)
            advance(1)
    target = Path(str(FOLDER / f"{name}.json"))
    write_whole(target, making.written(making.whole(name, found)))
    rows = sum(len(part["hashes"].split()) for part in found)
    typer.echo(f"Wrote {target.name}: {len(found)} suites, {rows} rows.")


def _check(found: Release, which: str, limit: int | None, as_json: bool) -> None:
    from whybench.release.check import differences, rows_of

    rows = rows_of(found, which, limit)
    wrong = []
    with progress(len(rows), f"release {found.name}") as advance:
        for one in differences(found, rows):
            wrong += [] if one is None else [one]
            advance(1)
    told = {
        "release": found.name,
        "set": which,
        "instances": len(rows),
        "differences": len(wrong),
    }
    if as_json:
        print_json(told | {"rows": wrong[:20]})
    else:
        typer.echo(f"{len(rows)} instances rebuilt, {len(wrong)} differences.")
        typer.echo("\n".join(wrong[:20]))
    if wrong:
        raise typer.Exit(1)


def _contents(found: Release, which: str, as_json: bool) -> None:
    from whybench.interfaces.command_line import print_table
    from whybench.release.estimate import estimates

    rows = [_suite(found, part, which) for part in found.parts if part.rows[which]]
    if as_json:
        tokens = {one.family: one.to_json() for one in estimates(found, which)}
        print_json({"release": found.name, "set": which, "suites": rows, "estimates": tokens})
        return
    columns = ("suite", "rows", "hidden_systems", "calls", "tokens", "floor", "ceiling")
    print_table(
        [name.replace("_", " ") for name in columns],
        [[_figure(row[name]) for name in columns] for row in rows],
    )
    typer.echo("Calls and input tokens are those of an episode of the exact agent.")


def _suite(found: Release, part: Part, which: str) -> dict[str, Any]:
    """Return what a release says of a suite."""
    played = found.families[part.family]
    uses = [part.usage[template] for template in played.templates]
    return {
        "suite": part.path,
        "rows": len(part.rows[which]),
        "hidden_systems": part.clusters[which],
        "templates": list(played.templates),
        "protocol": played.protocol,
        "parameters": dict(part.parameters),
        "status": dict(part.statuses),
        "calls": sum(use.calls for use in uses) / len(uses),
        "tokens": round(sum(use.input for use in uses) / len(uses)),
        "floor": None if part.floor is None else part.floor.score,
        "ceiling": None if part.ceiling is None else part.ceiling.score,
    }


def _figure(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.2f}"
    return "–" if value is None else f"{value:,}" if isinstance(value, int) else str(value)
