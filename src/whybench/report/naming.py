"""Name runs by model and differing arguments, without ever showing a secret seed."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from whybench.episode.family import PUBLIC_SEED
from whybench.report.run import REFERENCE, Run


def seed_tag(seed: str) -> str:
    """Return a seed as shown to readers, because a private seed would reveal its instances.

    >>> seed_tag("public"), seed_tag("hush")
    ('public', 'private-dc8331')
    """
    return seed if seed == PUBLIC_SEED else f"private-{sha256(seed.encode()).hexdigest()[:6]}"


FILES = ("data", "yoke")
"""Arguments that can name files; folders of the user's machine are not shown."""


def shown(name: str, value: object) -> str:
    """Return an argument as shown to readers: a file as its name, a seed as its tag."""
    if name == "seed":
        return seed_tag(str(value))
    if name in FILES and value is not None:
        return Path(str(value)).name
    if isinstance(value, list | tuple):
        return ",".join(shown("", one) for one in value)
    return str(value).lower() if isinstance(value, bool) else str(value)


def displayed(model: str) -> str:
    """Return the name of a model or reference agent, the same everywhere in a report.

    >>> displayed("lab/one"), displayed("whybench/null")
    ('lab/one', 'null (reference agent)')
    """
    agent = model.removeprefix(REFERENCE)
    return model if agent == model else f"{agent} (reference agent)"


def named(runs: Sequence[Run]) -> list[Run]:
    """Give every run a unique name: the model, and the arguments in which its runs differ."""
    ways: dict[tuple[str, str, str], dict[str, set[str]]] = {}
    for run in runs:
        seen = ways.setdefault((run.model, run.family.name, run.suite), {})
        for name, value in manner(run).items():
            seen.setdefault(name, set()).add(json.dumps(value, default=str))
    differing: dict[tuple[str, str], set[str]] = {}
    for (model, family, _), seen in ways.items():
        kept = differing.setdefault((model, family), set())
        kept |= {name for name, values in seen.items() if len(values) > 1}
    found: list[Run] = []
    taken: Counter[tuple[object, ...]] = Counter()
    for run in runs:
        names = sorted(differing[run.model, run.family.name])
        told = [f"{name}={manner(run)[name]}" for name in names]
        system = " · ".join([displayed(run.model), *told])
        taken[system, *run.setting] += 1
        again = taken[system, *run.setting]
        found.append(replace(run, system=f"{system} · run {again}" if again > 1 else system))
    return found


def manner(run: Run) -> dict[str, Any]:
    """Return the settings of a run: arguments and parameters without the suite."""
    how = {name: value for name, value in run.args.items() if name != "suite"}
    how |= {name: shown(name, how[name]) for name in FILES if how.get(name)}
    how |= {"profile": run.profile, "seed": seed_tag(run.seed)}
    parameters = {name: run.parameters.get(name) for name in run.family.parameters}
    return dict.fromkeys((*how, *parameters), "default") | {
        name: value for name, value in (parameters | how).items() if value is not None
    }
