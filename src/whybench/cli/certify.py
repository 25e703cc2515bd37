"""`whybench certify`: certify suites, or check a stored set again."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from whybench.cli.options import (
    Address,
    AsJson,
    Limit,
    Parameters,
    Profile,
    Seed,
    Workers,
    asked_suite,
    first,
    wanted,
)
from whybench.interfaces.command_line import plain, print_json, print_table
from whybench.interfaces.progress import tracked


def certify(
    suites: Annotated[
        list[str],
        typer.Argument(metavar="SUITE...", help="Suite as family/suite, or one stored set."),
    ],
    profile: Profile = "certified",
    seed: Seed = "public",
    parameters: Parameters = None,
    limit: Limit = None,
    workers: Workers = None,
    address: Address = None,
    as_json: AsJson = False,
) -> None:
    """Certify every instance of suites or of a stored set.

    The exit code is 1 if a claim fails.
    """
    from whybench.interfaces.stored.plan import is_set

    if len(suites) == 1 and is_set(suites[0]):
        from whybench.cli.data import recheck

        recheck(suites[0], workers, address, as_json)
        return
    asked = [asked_suite(path, profile, seed, parameters) for path in suites]

    from whybench.interfaces import solve as interface

    reports = []
    for found in asked:
        instances = tracked(first(found, limit), wanted(found, limit), f"certify {found.path}")
        proofs = [(instance, found.family.certify(instance)) for instance in instances]
        reports.append(interface.certified(found, proofs, found.family.prove(found)))
    failed = any(report["failed"] for report in reports)
    if as_json:
        print_json(reports[0] if len(reports) == 1 else reports)
    else:
        for report in reports:
            _print(report)
    raise typer.Exit(failed)


def _print(report: dict[str, Any]) -> None:
    figures = report.pop("figures")
    rows = [[key, plain(value)] for key, value in report.items()]
    listed = {key: value for key, value in figures.items() if _is_list(value)}
    rows += [[key, _short(value)] for key, value in figures.items() if key not in listed]
    print_table(("figure", "value"), rows)
    for key, entries in listed.items():
        columns = list(next(iter(entries.values())))
        rows = [[n, *(plain(entry[c]) for c in columns)] for n, entry in entries.items()]
        print_table((key, *columns), rows)


def _short(figure: Any) -> str:
    """Return a figure as text: of a distribution its mean, its range and its counts."""
    if not isinstance(figure, dict) or not {"mean", "min", "max"} <= figure.keys():
        return plain(figure)
    text = f"mean {figure['mean']:.4g}, {figure['min']:.4g} … {figure['max']:.4g}"
    counts = ", ".join(f"{value}: {n}" for value, n in figure.get("counts", {}).items())
    return f"{text} ({counts})" if counts else text


def _is_list(figure: object) -> bool:
    """Return whether a figure holds figures of several things, which get their own table."""
    return isinstance(figure, dict) and all(isinstance(v, dict) for v in figure.values())
