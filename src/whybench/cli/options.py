"""Options that several commands share, and how they load a suite."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from whybench.episode.declaration import known
from whybench.episode.prompts.own_files import is_file
from whybench.episode.registry import families, load_suite, split_path
from whybench.interfaces.command_line import plain_errors, read_values, refused

if TYPE_CHECKING:
    from whybench.episode.family import Suite
    from whybench.episode.instance import Instance

SuiteArg = Annotated[
    str, typer.Argument(metavar="SUITE", help="family/suite, or family; see `whybench list`.")
]
Suites = Annotated[list[str], typer.Argument(metavar="SUITE...", help="Suite as family/suite.")]
Profile = Annotated[str, typer.Option(help="Profile: certified or published.")]
Seed = Annotated[str, typer.Option(help="Suite seed.")]
Parameters = Annotated[
    list[str] | None,
    typer.Option("-T", metavar="NAME=VALUE", help="Parameter of the family. Repeat for more."),
]
Where = Annotated[
    str | None,
    typer.Option(help="Filter on difficulty, such as 'bits <= 6 and tokens < 2000'."),
]
Limit = Annotated[int | None, typer.Option(min=1, help="Number of instances, from the first.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]
Index = Annotated[int, typer.Option(min=0, help="Index of the instance.")]
Template = Annotated[
    str | None,
    typer.Option(help="Prompt template, or your own file. Default: that of the profile."),
]
Workers = Annotated[
    int | None,
    typer.Option(
        min=0,
        help="Ray workers; 0: a loop in this process. Default: all processors if Ray is installed.",
    ),
]
Address = Annotated[
    str | None, typer.Option(help="Address of a Ray cluster; `auto` on one of its nodes.")
]
Stored = Annotated[
    str, typer.Argument(metavar="PATH", help="Stored set: folder or URL (s3://, gs://, …).")
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
    """Return the requested suite. A misspelt name ends the command with a one-line message."""
    with plain_errors():
        check_names(path, agents, template)
        suite = load_suite(path, profile=profile, seed=seed, parameters=read_values(parameters))
        suite.family.template_for(profile, template)
        return suite


def check_names(path: str, agents: Sequence[str] = (), template: str | None = None) -> None:
    """Reject names that a family does not declare, before the family is imported."""
    name, _ = split_path(path)
    declared: Any = families().declared(name)
    for agent in agents:
        known("agent", agent, declared["agents"], name)
    if template is not None and not is_file(template):
        known("template", template, declared["templates"], name)


def instance_at(suite: Suite, index: int) -> Instance:
    """Return an instance of a suite. A wrong index ends the command with the valid range."""
    try:
        return suite[index]
    except IndexError as error:
        raise refused(error) from error


def first(suite: Suite, limit: int | None) -> Iterator[Instance]:
    """Yield the first `limit` instances of a suite, or all of them."""
    return (suite[index] for index in range(wanted(suite, limit)))


def wanted(suite: Suite, limit: int | None) -> int:
    """Return the number of instances that `first` yields."""
    return min(len(suite), limit or len(suite))


def engine(workers: int | None, address: str | None) -> int | None:
    """Return the number of workers. The default is a loop in this process if Ray is missing."""
    if workers is not None and address is not None:
        raise ValueError("A Ray cluster has its own workers. Give either --workers or --address.")
    from whybench.scale.task_runner import default_workers

    return default_workers() if workers is None and address is None else workers
