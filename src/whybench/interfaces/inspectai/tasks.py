"""Inspect tasks of all installed families, made from what each family declares.

`inspect eval whybench/FAMILY -T suite=SUITE -T protocol=tools`. A family without a `[tasks]` table
in its `family.toml` gets one task of its own name. The table may add tasks and change defaults:

    [tasks.NAME]
    summary = "what the task is for"
    suite = "the default suite"
    protocol = "the default protocol"
    fixed = ["arguments that cannot be given"]
    arms = [{parameter = 1}, {parameter = 2}]     # each instance is played once with each of these
    setup = "a function of the module that `[extras] inspect` names: adds arguments and scorers"
    reference = {argument = false}      # arguments for runs of reference agents
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import EntryPoint
from typing import Any

from inspect_ai import Task, task

from whybench.episode.family import PUBLIC_SEED, Suite
from whybench.episode.registry import families, load_suite
from whybench.interfaces.inspectai.build import Parts, build
from whybench.interfaces.inspectai.errors import one_line_errors
from whybench.interfaces.inspectai.instance_selection import chosen, frozen, listed, stored_set
from whybench.release.data import load_release

STANDARD = "standard"
"""The set that is played if none is named."""

Setup = Callable[..., Parts]
"""A function of the protocol and, by keyword, the arguments that it adds to the task."""


@dataclass(frozen=True, slots=True)
class Declared:
    """One task, as declared by its family."""

    name: str
    family: str
    suites: tuple[str, ...]
    protocols: tuple[str, ...]
    templates: tuple[str, ...]
    summary: str
    suite: str
    protocol: str
    fixed: tuple[str, ...] = ()
    arms: tuple[Mapping[str, Any], ...] = ()
    setup: str = ""
    reference: Mapping[str, Any] = field(default_factory=dict)
    module: str = ""
    """The family's module for Inspect."""


@cache
def declared_tasks() -> dict[str, Declared]:
    """Return the declarations of all installed families, by task name."""
    return {task.name: task for family in families() for task in _declared(family)}


def _declared(family: str) -> Iterator[Declared]:
    data = families().declared(family)
    usual: dict[str, Any] = {
        "summary": f"{family}: {data['summary']}.",
        "suite": next(iter(data.get("recommended") or data["suites"])),
        "protocol": data["protocols"][0],
        "module": data.get("extras", {}).get("inspect", ""),
    }
    for name, table in ({family: {}} | data.get("tasks", {})).items():
        given = {key: tuple(v) if isinstance(v, list) else v for key, v in table.items()}
        choices = {of: tuple(data[of]) for of in ("suites", "protocols", "templates")}
        yield Declared(name, family, **choices | usual | given)


@cache
def tasks() -> dict[str, Callable[..., Task]]:
    """Make and register the tasks of all installed families, with their other Inspect parts."""
    return {name: family_task(declared) for name, declared in declared_tasks().items()}


def family_task(declared: Declared) -> Callable[..., Task]:
    """Make the Inspect task that a family declares."""
    module = EntryPoint("inspect", declared.module, "").load() if declared.module else None
    setup: Setup = getattr(module, declared.setup) if declared.setup else _nothing
    own = [p for p in inspect.signature(setup).parameters.values() if p.kind is p.KEYWORD_ONLY]
    signature = _signature(declared, own)

    @one_line_errors
    def make(*args: Any, **given: Any) -> Task:
        refused = [name for name in declared.fixed if name in given]
        if refused:
            raise ValueError(f"Task {declared.name} has no argument {refused[0]}. Omit it.")
        bound = signature.bind(*args, **_frozen(declared, given))
        bound.apply_defaults()
        asked = dict(bound.arguments)
        parameters = asked.pop("parameters")
        parts = setup(asked["protocol"], **{p.name: asked.pop(p.name) for p in own})
        return _made(declared, parts, **{"suite": declared.suite} | asked | parameters)

    make.__name__ = make.__qualname__ = declared.name
    make.__doc__ = _documented(declared, setup)
    make.__signature__ = signature  # type: ignore[attr-defined]
    return task(make)


def _made(
    declared: Declared,
    parts: Parts,
    suite: str,
    protocol: str,
    template: str | None = None,
    profile: str = "certified",
    seed: str | None = None,
    evidence: str = "own",
    yoke: str | None = None,
    schema: bool = False,
    rows: int | str | None = None,
    where: str | None = None,
    release: str | None = None,
    set: str | None = None,  # noqa: A002 - as users say it
    **parameters: Any,
) -> Task:
    if release is not None:
        made = load_release(release)
        rows_of = frozen(made, set or STANDARD, declared.family, rows)
        longest = made.max_tokens
        return build(rows_of, protocol, template, evidence, yoke, schema, longest, **parts)
    path = f"{declared.family}/{suite}"
    if declared.arms:
        found = listed(list(_arms(declared, path, profile, seed, parameters)), rows)
        if where is not None:
            raise ValueError(f"A filter could separate the arms. Use whybench/{declared.family}.")
    else:
        found = chosen(path, profile, seed, parameters, rows, where)
    return build(found, protocol, template, evidence, yoke, schema, **parts)


def _arms(
    declared: Declared, path: str, profile: str, seed: str | None, parameters: Mapping[str, Any]
) -> Iterator[Suite]:
    """Yield the suites that a task compares."""
    other = f"Use whybench/{declared.family}."
    if stored_set(parameters) is not None:
        raise ValueError(f"A stored set holds one of {len(declared.arms)} arms. {other}")
    for arm in declared.arms:
        if twice := parameters.keys() & arm.keys():
            raise ValueError(f"Task {declared.name} sets {', '.join(twice)} itself. {other}")
        given = PUBLIC_SEED if seed is None else seed
        yield load_suite(path, profile=profile, seed=given, parameters={**arm, **parameters})


def _frozen(declared: Declared, given: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments with those that a release fixes. Others can be given."""
    if given.get("release") is None:
        if given.get("set") is not None:
            raise ValueError("A set is a part of a release. Add release=NAME.")
        return given
    known = {"release", "set", "protocol", "schema", "rows", "evidence", "yoke"}
    refused = [name for name in given if name not in known]
    if refused or declared.name != declared.family:
        what = f"argument {refused[0]}" if refused else f"task {declared.name}"
        raise ValueError(f"A release has no {what}: it fixes suites, rows and prompts. Omit it.")
    played = load_release(str(given["release"])).families.get(declared.family)
    if played is None:
        raise ValueError(f"Release {given['release']} does not have {declared.family}.")
    fixed = {"set": STANDARD, "protocol": played.protocol, "template": played.templates[0]}
    return {**fixed, **played.arguments, **given}


def _nothing(protocol: str) -> Parts:  # noqa: ARG001 - as every setup is called
    return {}


def _signature(declared: Declared, own: list[inspect.Parameter]) -> inspect.Signature:
    """Return the signature: common parameters with the task's defaults, own ones before `rows`."""
    usual = {
        "suite": declared.suite,
        "protocol": declared.protocol,
    }
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    found: list[inspect.Parameter] = []
    for one in list(inspect.signature(_made).parameters.values())[2:]:
        if one.name == "rows":
            found += [parameter.replace(kind=kind) for parameter in own]
        if one.name not in declared.fixed:
            found.append(one.replace(default=usual.get(one.name, one.default)))
    return inspect.Signature(found, return_annotation=Task)


def _documented(declared: Declared, setup: Setup) -> str:
    """Return the docstring of a task: its summary and its arguments."""
    common = {
        "suite": ", ".join(declared.suites),
        "protocol": f"How the model answers: {', '.join(declared.protocols)}.",
        "template": "Wording of the prompts: "
        f"{', '.join(declared.templates)}. Default: that of the profile.",
        "profile": "`certified`, or `published` for comparison with published figures.",
        "seed": "Another seed than `public` gives other instances.",
        "evidence": "`own` experiments, `optimal` ones, or another run's (`yoked`, with `yoke`).",
        "yoke": "A log whose experiments are given to this run.",
        "schema": "Constrain replies by a JSON schema.",
        "rows": "Only these, as `--limit` counts: 1000, 11-20, or `distinct` of a stored set.",
        "release": "A release, such as 1rc. It fixes suites, rows and prompts.",
        "set": "A set of the release: lite, standard or full.",
        "where": "Only rows that pass a filter on difficulty, such as `bits <= 6`.",
    }
    lines = [f"{name}: {what}" for name, what in common.items() if name not in declared.fixed]
    lines += (inspect.getdoc(setup) or "").partition("Args:\n")[2].replace("    ", "").splitlines()
    lines.append(f"**parameters: See `whybench list {declared.family}`; data: a stored set.")
    return "\n".join([declared.summary, "", "Args:", *(f"    {line}" for line in lines), ""])
