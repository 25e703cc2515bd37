"""`whybench play`, `solve` and `score`: play or score episodes of a suite."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from whybench.causal.whole_files import write_whole
from whybench.cli.options import (
    AsJson,
    Index,
    Limit,
    Parameters,
    Profile,
    Seed,
    SuiteArg,
    Template,
    asked_suite,
    first,
    instance_at,
    wanted,
)
from whybench.interfaces.command_line import plain, plain_errors, print_json, print_table, refused
from whybench.interfaces.progress import tracked

if TYPE_CHECKING:
    from whybench.interfaces.solve import Result


def play(
    suite: SuiteArg,
    index: Index = 0,
    template: Template = None,
    profile: Profile = "certified",
    seed: Seed = "public",
    parameters: Parameters = None,
    trace: Annotated[Path | None, typer.Option(help="File for the trace.")] = None,
) -> None:
    """Play an instance yourself."""
    found = asked_suite(suite, profile, seed, parameters, template=template)
    instance, family = instance_at(found, index), found.family

    from rich.console import Console

    from whybench.interfaces.play import play_terminal

    console, episode = Console(), family.open(instance)
    play_terminal(episode, family.template_for(profile, template), console)
    score = family.score(instance, episode.trace)
    console.print(f"\n[bold]{score.outcome}[/bold]", score.reason)
    values = {name: value for name, value in score.values if value}
    console.print_json(json.dumps(values | score.to_json()["labels"]))
    if trace is not None:
        with plain_errors():
            write_whole(trace, json.dumps(episode.trace.to_json()) + "\n", make_folder=False)


def solve(
    suite: SuiteArg,
    agent: Annotated[str, typer.Option(help="Reference agent of the family.")] = "exact",
    evidence: Annotated[
        Literal["own", "optimal", "given", "fetched"],
        typer.Option(help="Evidence: own or optimal experiments; given or fetched records."),
    ] = "own",
    template: Template = None,
    profile: Profile = "certified",
    seed: Seed = "public",
    parameters: Parameters = None,
    limit: Limit = None,
    traces: Annotated[
        Path | None, typer.Option(help="File for id and actions, one instance per line.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Run a reference agent on a suite."""
    found = asked_suite(suite, profile, seed, parameters, agents=[agent], template=template)

    from whybench.episode.declaration import known
    from whybench.interfaces import solve as interface

    with plain_errors():
        known("evidence", evidence, found.family.evidence, found.family.name)

    instances = tracked(first(found, limit), wanted(found, limit), f"{agent} on {suite}")
    try:
        results = list(interface.solve(found, agent, instances, evidence, template))
    except RuntimeError as error:  # the agent needs an extra that is not installed
        raise refused(error, 1) from error
    if traces is not None:
        with plain_errors():
            lines = "".join(f"{json.dumps(_moves(r))}\n" for r in results)
            write_whole(traces, lines, make_folder=False)
    words = {} if template is None else {"template": found.family.template_for(profile, template)}
    _print(words | interface.summary(found, agent, results), as_json)


def score(
    suite: SuiteArg,
    predictions: Annotated[
        Path, typer.Option(exists=True, dir_okay=False, help="Predictions in JSON Lines.")
    ],
    profile: Profile = "certified",
    seed: Seed = "public",
    parameters: Parameters = None,
    limit: Limit = None,
    as_json: AsJson = False,
) -> None:
    """Score recorded actions or answers."""
    found = asked_suite(suite, profile, seed, parameters)

    from whybench.interfaces import solve as interface

    with plain_errors():
        given = interface.read_predictions(found, predictions)
        instances = list(first(found, limit))
        unknown = given.keys() - {instance.id for instance in instances}
        if unknown and limit is not None:
            unknown -= {instance.id for instance in found}
        if unknown:
            raise ValueError(
                f"{len(unknown)} ids, for example {min(unknown)}, are not among the "
                f"{len(instances)} instances of {found.path} (profile {found.profile}, seed "
                f"{found.seed}). Check the suite, --profile, --seed and -T."
            )
    played = tracked(instances, len(instances), f"score {suite}")
    results = list(interface.score_predictions(found, given, played))
    _print(interface.summary(found, predictions.name, results), as_json)


def _moves(result: Result) -> dict[str, Any]:
    """Return the agent's own actions of an episode as a line of a predictions file."""
    own = result.trace.actions[result.trace.given :]
    return {"id": result.instance.id, "actions": [action.to_json() for action in own]}


def _print(figures: dict[str, Any], as_json: bool) -> None:
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
