"""`whybench list` and `whybench show`. Both import no heavy module, so that they start fast."""

from __future__ import annotations

import json
from collections.abc import Mapping
from textwrap import fill
from typing import Annotated, Any

import typer

from whybench.cli.options import (
    AsJson,
    Index,
    Parameters,
    Profile,
    Seed,
    SuiteArg,
    Template,
    asked_suite,
    instance_at,
)
from whybench.episode.declaration import known
from whybench.episode.instance import PROFILES
from whybench.episode.registry import families
from whybench.interfaces.command_line import plain_errors, print_json

WIDTH = 80

MORE = """
whybench list FAMILY             its suites, agents, templates and parameters
whybench show FAMILY/SUITE       an instance as an agent sees it
inspect eval whybench/FAMILY -T suite=SUITE --model MODEL"""


def list_families(
    family: Annotated[
        str | None, typer.Argument(metavar="[FAMILY]", help="Family to show.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List families and recommended suites, or one family."""
    if family is not None:
        with plain_errors():
            told = _all_of(known("family", family, families()))
        if as_json:
            print_json(told)
        else:
            typer.echo(_page(told))
        return
    rows = [_summary(name, families().declared(name)) for name in families()]
    if as_json:
        print_json(rows)
        return
    wide = max(len(row["family"]) for row in rows) + 2
    for row in rows:
        count = len(row["suites"])
        total = f"{count} suite{'' if count == 1 else 's'} in all"
        begin = f"{', '.join(row['recommended'])} ({total})"
        typer.echo(_filled(row["family"].ljust(wide) + row["summary"], "", wide))
        typer.echo(_filled(begin, " " * wide, wide))
    typer.echo(MORE)


def show(
    suite: SuiteArg,
    index: Index = 0,
    truth: Annotated[
        bool, typer.Option(help="Show the hidden system and the certificate too.")
    ] = False,
    template: Template = None,
    profile: Profile = "certified",
    seed: Seed = "public",
    parameters: Parameters = None,
    as_json: AsJson = False,
) -> None:
    """Show an instance as an agent sees it."""
    found = asked_suite(suite, profile, seed, parameters, template=template)
    instance, family = instance_at(found, index), found.family
    shown: dict[str, Any] = {
        "instance": instance.to_json(),
        "instructions": family.open(instance).instructions(family.template_for(profile, template)),
    }
    if as_json or truth:
        from whybench.curriculum.columns import difficulty

        shown["difficulty"] = difficulty(instance)
    if truth:
        shown["truth"] = family.truth(instance)
        shown["certificate"] = family.certify(instance).to_json()
    if as_json:
        print_json(shown)
        return
    typer.secho(f"{instance.id}\n", bold=True)
    typer.echo(shown["instructions"])
    for part in ("difficulty", "truth", "certificate"):
        if part in shown:
            typer.secho(f"\n{part}", bold=True)
            typer.echo(json.dumps(shown[part], indent=2, ensure_ascii=False))


def _summary(name: str, data: Mapping[str, Any]) -> dict[str, Any]:
    """Return a summary of a family, from its declaration only."""
    suites = list(data["suites"])
    return {
        "family": name,
        "version": data["version"],
        "summary": data["summary"],
        "recommended": list(data.get("recommended") or suites[:2]),
        "suites": suites,
    }


def _all_of(name: str) -> dict[str, Any]:
    """Return everything that a family offers. Only the sizes of suites need the family's code."""
    data, family = families().declared(name), families()[name]
    audits = families().audited(name)
    return _summary(name, data) | {
        "suites": {
            suite: {
                "instances": len(family.suite(suite, profile=family.profiles_of(suite)[0])),
                "what": what,
                "profiles": list(family.profiles_of(suite)),
                "audit": audits.get((suite, "certified"), {}).get("verdict"),
            }
            for suite, what in data["suites"].items()
        },
        "agents": dict(data["agents"]),
        "templates": list(data["templates"]),
        "protocols": list(data["protocols"]),
        "profiles": list(data.get("profiles", PROFILES)),
        "parameters": dict(data["parameters"]),
    }


def _page(told: Mapping[str, Any]) -> str:
    """Return the page of a family as text of at most 80 columns. No name is cut."""
    name = told["family"]
    suites = {
        suite: f"{one['instances']} instances; audit {one['audit'] or '–'}; {one['what']}"
        for suite, one in told["suites"].items()
    }
    parts = [
        _filled(f"{name} (version {told['version']}): {told['summary']}", "", 2),
        _filled(f"start with: {', '.join(told['recommended'])}", "", 2),
        *_listed("suites", suites),
        *_listed("agents (`whybench solve --agent NAME`)", told["agents"]),
        *_listed("parameters (`-T NAME=VALUE`)", told["parameters"]),
        "",
        *(
            _filled(f"{word}: {', '.join(told[word])}", "", 2)
            for word in ("templates", "protocols", "profiles")
        ),
    ]
    return "\n".join(parts)


def _listed(title: str, entries: Mapping[str, str]) -> list[str]:
    return ["", title, *(_filled(f"{name}: {what}", "  ", 6) for name, what in entries.items())]


def _filled(text: str, first: str, rest: int) -> str:
    return fill(
        text, WIDTH, initial_indent=first, subsequent_indent=" " * rest, break_long_words=False,
        break_on_hyphens=False,
    )  # fmt: skip
