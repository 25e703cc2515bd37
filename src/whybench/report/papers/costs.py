"""Say how many samples and tokens a table needs.

`costs.json` holds, for every run that a table names, its samples and the tokens of an episode of
the exact agent. `scripts/reproduce_page.py` measures them.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any

from whybench.episode.registry import families, load_suite
from whybench.interfaces.inspectai.runner import task_of
from whybench.report.papers.model import Item, Paper, Wanted

COSTS = files("whybench.report.papers") / "costs.json"


@cache
def _known() -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = json.loads(COSTS.read_text("utf-8"))
    return found


def cost(paper: Paper, item: Item) -> tuple[int | None, int | None]:
    """Return the samples and tokens of an item; None if a run was not measured."""
    found = [_known().get(run.key) for run in paper.wanted(item)]
    if any(one is None for one in found):
        return None, None
    kept = [one for one in found if one is not None]
    return sum(one["samples"] for one in kept), sum(one["tokens"] for one in kept)


def measured(run: Wanted, samples: int | None = None, arms: int = 1) -> dict[str, int]:
    """Return the samples of a run, and the tokens that the exact agent's first episode implies."""
    from whybench.release.usage import counted

    family = run.suite.partition("/")[0]
    declared = families().declared(family)
    parameters = {k: v for k, v in run.args.items() if k in declared["parameters"] and k != "data"}
    profile: Any = run.args.get("profile", "certified")
    suite = load_suite(run.suite, profile=profile, parameters=parameters)
    protocol = str(run.args.get("protocol") or task_of(run.suite).protocol)
    template = suite.family.template_for(profile, run.args.get("template"))
    instance = suite[0]
    count = counted(suite.family, instance, "exact", protocol, template)
    number = (samples or len(suite)) * arms
    return {"samples": number, "tokens": round((count.asked + count.said) * number)}
