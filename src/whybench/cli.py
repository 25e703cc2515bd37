"""The command line. Heavy imports wait inside the commands: `--help` must answer at once."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from whybench.interfaces.asking import plain, print_json, print_table
from whybench.interfaces.mcp import commands as mcp_commands
from whybench.interfaces.parity import commands as parity_commands
from whybench.interfaces.recite_commands import app as recite_commands
from whybench.report import commands as report_commands
from whybench.report import deciding_commands
from whybench.scale import commands as scale_commands
from whybench.scale import private_commands

if TYPE_CHECKING:
    from rich.console import Console

    from whybench.episode.family import Suite
    from whybench.episode.instance import Instance

app = typer.Typer(
    help="Does a model find out why? Causal-reasoning benchmarks with every instance proven.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

app.add_typer(recite_commands, name="recite")
app.command()(report_commands.report)
app.command()(deciding_commands.compare)
app.command()(deciding_commands.plan)
app.command()(report_commands.reference)
app.command()(scale_commands.generate)
app.command()(scale_commands.stats)
app.command()(scale_commands.distinct)
app.command()(parity_commands.parity)
app.command()(private_commands.secret)
app.command()(private_commands.commit)
app.command()(private_commands.prove)
app.command()(mcp_commands.serve)
app.command()(mcp_commands.claim)

SuiteArg = Annotated[str, typer.Argument(metavar="SUITE", help="family/suite, see `whybench list`")]
Profile = Annotated[str, typer.Option(help="certified or published")]
Salt = Annotated[str, typer.Option(help="another salt gives other instances")]
Knob = Annotated[list[str] | None, typer.Option(help="name=value; repeat for more")]
Data = Annotated[
    str | None, typer.Option(help="profile published: a folder with released problems")
]
Limit = Annotated[int | None, typer.Option(min=1, help="only the first so many instances")]
AsJson = Annotated[bool, typer.Option("--json", help="one JSON document and nothing else")]
Index = Annotated[int, typer.Option(min=0, help="which instance of the suite")]
Skin = Annotated[str, typer.Option(help="wording of the prompts")]

T = TypeVar("T")


@app.callback(invoke_without_command=True)
def main(
    version: Annotated[bool, typer.Option("--version", help="show the version")] = False,
) -> None:
    """Find out whether a model finds out why."""
    if version:
        from whybench import __version__

        typer.echo(__version__)
        raise typer.Exit


@app.command(name="list")
def list_suites(as_json: AsJson = False) -> None:
    """List families, suites and agents."""
    from whybench.episode.family import families

    rows = [
        {
            "suite": f"{family.name}/{name}",
            "instances": len(family.suite(name)),
            "version": family.version,
            "what": what,
            "agents": list(family.agents),
            "skins": list(family.skins),
            "protocols": list(family.protocols),
            "knobs": dict(family.knobs),
        }
        for family in families().values()
        for name, what in family.suites.items()
    ]
    if as_json:
        print_json(rows)
        return
    columns = ("suite", "instances", "what")
    print_table(columns, [[str(row[column]) for column in columns] for row in rows])
    for family in families().values():
        _console().print(f"\n[bold]{family.name}[/bold]: {family.summary}", highlight=False)
        _console().print(f"agents: {', '.join(family.agents)}", highlight=False)
        _console().print(f"skins: {', '.join(family.skins)}", highlight=False)
        _console().print(f"protocols: {', '.join(family.protocols)}", highlight=False)
        for knob, what in family.knobs.items():
            _console().print(f"knob {knob}: {what}", highlight=False)


@app.command()
def show(
    suite: SuiteArg,
    index: Index = 0,
    truth: Annotated[bool, typer.Option(help="also the hidden truth and the certificate")] = False,
    skin: Skin = "plain",
    profile: Profile = "certified",
    salt: Salt = "public",
    knob: Knob = None,
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """Show an instance as an agent sees it."""
    found = _suite(suite, profile, salt, knob, data)
    instance, family = _instance(found, index, skin), found.family
    shown: dict[str, Any] = {
        "instance": instance.to_json(),
        "brief": family.open(instance).brief(skin),
    }
    if truth:
        shown["truth"] = family.truth(instance)
        shown["certificate"] = family.certify(instance).to_json()
    if as_json:
        print_json(shown)
        return
    console = _console()
    console.print(f"[bold]{instance.id}[/bold]\n", highlight=False)
    console.print(shown["brief"], highlight=False, markup=False)
    for part in ("truth", "certificate"):
        if part in shown:
            console.print(f"\n[bold]{part}[/bold]")
            console.print_json(json.dumps(shown[part]))


@app.command()
def play(
    suite: SuiteArg,
    index: Index = 0,
    skin: Skin = "plain",
    profile: Profile = "certified",
    salt: Salt = "public",
    knob: Knob = None,
    data: Data = None,
    trace: Annotated[Path | None, typer.Option(help="write the trace to this file")] = None,
) -> None:
    """Play an instance yourself."""
    from whybench.interfaces.play import play_terminal

    found = _suite(suite, profile, salt, knob, data)
    instance, family, console = _instance(found, index, skin), found.family, _console()
    episode = family.open(instance)
    play_terminal(episode, skin, console)
    score = family.score(instance, episode.trace)
    console.print(f"\n[bold]{score.outcome}[/bold]")
    values = {name: value for name, value in score.values if value}
    console.print_json(json.dumps(values | score.to_json()["labels"]))
    if trace is not None:
        trace.write_text(json.dumps(episode.trace.to_json()) + "\n", "utf-8")


@app.command()
def solve(
    suite: SuiteArg,
    agent: Annotated[str, typer.Option(help="a reference agent of the family")] = "exact",
    evidence: Annotated[str, typer.Option(help="own or optimal")] = "own",
    profile: Profile = "certified",
    salt: Salt = "public",
    knob: Knob = None,
    data: Data = None,
    limit: Limit = None,
    traces: Annotated[Path | None, typer.Option(help="write id and actions, a line each")] = None,
    as_json: AsJson = False,
) -> None:
    """Let a reference agent play a suite."""
    from whybench.interfaces import solve as door

    if evidence not in ("own", "optimal"):
        raise typer.BadParameter("a reference agent works from evidence `own` or `optimal`")
    found = _suite(suite, profile, salt, knob, data)
    if agent not in found.family.agents:
        raise typer.BadParameter(f"no agent {agent!r}: try {', '.join(found.family.agents)}")
    instances = _progress(_first(found, limit), f"{agent} on {suite}")
    try:
        results = list(
            door.solve(found, agent, instances, "optimal" if evidence == "optimal" else "own")
        )
    except RuntimeError as error:  # an extra that the agent needs is not installed
        typer.echo(str(error), err=True)
        raise typer.Exit(1) from error
    if traces is not None:
        lines = [
            json.dumps(
                {
                    "id": r.instance.id,
                    "actions": [a.to_json() for a in r.trace.actions[r.trace.given :]],
                }
            )
            for r in results
        ]
        try:
            traces.write_text("\n".join(lines) + "\n", "utf-8")
        except OSError as error:
            raise typer.BadParameter(str(error)) from error
    _report(door.summary(found, agent, results), as_json)


@app.command()
def score(
    suite: SuiteArg,
    predictions: Annotated[Path, typer.Option(exists=True, dir_okay=False, help="JSON lines")],
    profile: Profile = "certified",
    salt: Salt = "public",
    knob: Knob = None,
    data: Data = None,
    limit: Limit = None,
    as_json: AsJson = False,
) -> None:
    """Score recorded actions or answers."""
    from whybench.interfaces import solve as door

    found = _suite(suite, profile, salt, knob, data)
    try:
        given = door.read_predictions(found, predictions)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
    instances = list(_first(found, limit))
    unknown = given.keys() - {instance.id for instance in instances}
    if unknown and limit is not None:
        unknown -= {instance.id for instance in found}
    if unknown:
        raise typer.BadParameter(
            f"{len(unknown)} ids are not among these {len(instances)} instances of {found.path} "
            f"(profile {found.profile}, salt {found.salt}), for example {min(unknown)}"
        )
    results = list(door.score_predictions(found, given, _progress(instances, f"score {suite}")))
    _report(door.summary(found, predictions.name, results), as_json)


@app.command()
def certify(
    suites: Annotated[
        list[str], typer.Argument(metavar="SUITE...", help="family/suite, or one stored set")
    ],
    profile: Profile = "certified",
    salt: Salt = "public",
    knob: Knob = None,
    data: Data = None,
    limit: Limit = None,
    workers: scale_commands.Workers = None,
    address: scale_commands.Address = None,
    as_json: AsJson = False,
) -> None:
    """Prove every instance of suites, or check a stored set again; exit 1 if a proof fails."""
    from whybench.interfaces import solve as door
    from whybench.interfaces.stored.plan import is_set

    if len(suites) == 1 and is_set(suites[0]):
        scale_commands.recheck(suites[0], workers, address, as_json)
        return
    reports = []
    for path in suites:
        found = _suite(path, profile, salt, knob, data)
        proofs = [
            (instance, found.family.certify(instance))
            for instance in _progress(_first(found, limit), f"certify {path}")
        ]
        reports.append(door.certified(found, proofs, found.family.prove(found)))
    if as_json:
        print_json(reports[0] if len(reports) == 1 else reports)
    else:
        for report in reports:
            figures = report.pop("figures")
            rows = [[key, plain(value)] for key, value in report.items()]
            listed = {key: value for key, value in figures.items() if _is_list(value)}
            rows += [[key, plain(value)] for key, value in figures.items() if key not in listed]
            print_table(("figure", "value"), rows)
            for key, entries in listed.items():
                columns = list(next(iter(entries.values())))
                rows = [[n, *(plain(entry[c]) for c in columns)] for n, entry in entries.items()]
                print_table((key, *columns), rows)
    if any(report["failed"] for report in reports):
        raise typer.Exit(1)


@app.command(name="local-model")
def local_model(
    port: Annotated[int, typer.Option(help="port on 127.0.0.1")] = 8765,
    threads: Annotated[int | None, typer.Option(min=1, help="threads for the model")] = None,
) -> None:
    """Serve a small local model, so that everything can be tried without a key."""
    from whybench.interfaces import local_model as door

    try:
        door.run(port=port, threads=threads or door.THREADS)
    except RuntimeError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(1) from error


def _suite(
    path: str, profile: str, salt: str, knobs: Sequence[str] | None, data: str | None
) -> Suite:
    from whybench.episode.family import find_suite

    pairs = [knob.partition("=") for knob in knobs or ()]
    if data is not None:
        pairs.append(("data", "=", data))
    if len({name for name, _, _ in pairs}) < len(pairs):
        raise typer.BadParameter("a knob is given twice")
    try:
        return find_suite(
            path, profile=profile, salt=salt, knobs={name: value for name, _, value in pairs}
        )
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error


def _instance(suite: Suite, index: int, skin: str) -> Instance:
    if skin not in suite.family.skins:
        raise typer.BadParameter(f"no skin {skin!r}: try {', '.join(suite.family.skins)}")
    try:
        return suite[index]
    except IndexError as error:
        raise typer.BadParameter(str(error)) from error


def _first(suite: Suite, limit: int | None) -> Iterator[Instance]:
    return (suite[index] for index in range(min(len(suite), limit or len(suite))))


def _progress(items: Iterable[T], what: str) -> Iterable[T]:
    """Show a bar on a terminal, and nothing anywhere else."""
    if not sys.stderr.isatty():
        return items
    from rich.console import Console
    from rich.progress import track

    return track(list(items), what, console=Console(stderr=True), transient=True)


def _report(figures: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print_json(figures)
        return
    metrics, intervals = figures.pop("metrics"), figures.pop("intervals")
    print_table(("run", "value"), [[key, plain(value)] for key, value in figures.items()])
    rows = [
        [name, plain(mean), " … ".join(plain(bound) for bound in intervals[name])]
        for name, mean in metrics.items()
        if mean is not None
    ]
    print_table(("metric", "mean", "95 % interval"), rows)


def _is_list(figure: object) -> bool:
    """Tell whether a figure holds figures of several things, which deserve a table."""
    return isinstance(figure, dict) and all(isinstance(v, dict) for v in figure.values())


def _console() -> Console:
    from rich.console import Console

    return Console()
