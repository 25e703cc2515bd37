"""Options that several commands take, and the suite that they ask for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from whybench.episode.nearest import known
from whybench.episode.registry import families, load_suite, split_path
from whybench.interfaces.command_line import plain_errors, read_values, refused

if TYPE_CHECKING:
    from whybench.episode.family import Suite
    from whybench.episode.instance import Instance

SuiteArg = Annotated[str, typer.Argument(metavar="SUITE", help="family/suite, see `whybench list`")]
Suites = Annotated[list[str], typer.Argument(metavar="SUITE...", help="family/suite")]
Profile = Annotated[str, typer.Option(help="certified or published")]
Seed = Annotated[str, typer.Option(help="another seed gives other instances")]
Parameters = Annotated[
    list[str] | None,
    typer.Option("-T", metavar="NAME=VALUE", help="parameter of the family; repeat for more"),
]
Limit = Annotated[int | None, typer.Option(min=1, help="only the first so many instances")]
AsJson = Annotated[bool, typer.Option("--json", help="one JSON document and nothing else")]
Index = Annotated[int, typer.Option(min=0, help="which instance of the suite")]
Template = Annotated[str, typer.Option(help="wording of the prompts")]
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


def asked_suite(
    path: str,
    profile: str,
    seed: str,
    parameters: Sequence[str] | None,
    *,
    agents: Sequence[str] = (),
    template: str | None = None,
) -> Suite:
    """Return the suite that is asked for; misspelt names end the command in one line."""
    with plain_errors():
        check_names(path, agents, template)
        return load_suite(path, profile=profile, seed=seed, parameters=read_values(parameters))


def check_names(path: str, agents: Sequence[str] = (), template: str | None = None) -> None:
    """Refuse names that a family does not declare, before the family is imported."""
    name, _ = split_path(path)
    declared: Any = families().declared(name)
    for agent in agents:
        known("agent", agent, declared["agents"], name)
    if template is not None:
        known("template", template, declared["templates"], name)


def instance_at(suite: Suite, index: int) -> Instance:
    """Return an instance of a suite, or say which there are."""
    try:
        return suite[index]
    except IndexError as error:
        raise refused(error) from error


def first(suite: Suite, limit: int | None) -> Iterator[Instance]:
    """Yield the first instances of a suite, or all."""
    return (suite[index] for index in range(wanted(suite, limit)))


def wanted(suite: Suite, limit: int | None) -> int:
    """Return how many instances `first` yields."""
    return min(len(suite), limit or len(suite))


def engine(workers: int | None, address: str | None) -> int | None:
    """Return the workers to use where nothing is said: none if Ray is not there."""
    if workers is not None and address is not None:
        raise ValueError("a cluster has its own workers: leave out --workers or --address")
    from whybench.scale.task_runner import default_workers

    return default_workers() if workers is None and address is None else workers
