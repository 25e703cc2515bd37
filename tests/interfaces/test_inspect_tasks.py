"""Inspect tasks come from what families declare; a family of another distribution gets one too."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from inspect_ai import Task
from inspect_ai import eval as inspect_eval

from whybench.episode.declaration import declared
from whybench.episode.registry import families
from whybench.interfaces.inspectai.runner import task_of
from whybench.interfaces.inspectai.tasks import declared_tasks, tasks

pytestmark = pytest.mark.wire  # tasks are the engine's

MODULE = """
from whybench.families.causallink.family import CausalLink

class Levers(CausalLink):
    name = "levers"

FAMILY = Levers()
"""
DECLARED = """
recommended = ["collider"]
summary = "one of the levers lights the lamp"
protocols = ["tools", "dialogue"]
templates = ["plain", "notebook"]
[suites]
core = "four levers"
collider = "two levers"
[parameters]
budget = "most interventions"
[tasks.levers_twice]
arms = [{ budget = 2 }, { budget = 3 }]
fixed = ["suite", "evidence", "yoke"]
"""


@pytest.fixture
def installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[str | None], None]]:
    """Return how to install a distribution with one family, with or without a `family.toml`."""
    caches = (declared, families, declared_tasks, tasks)

    def install(toml: str | None) -> None:
        package = tmp_path / "whybench_levers"
        package.mkdir()
        (package / "__init__.py").touch()
        (package / "family.py").write_text(MODULE)
        if toml is not None:
            (package / "family.toml").write_text(toml)
        info = tmp_path / "whybench_levers-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: whybench-levers\nVersion: 1.0")
        (info / "entry_points.txt").write_text(
            "[whybench.families]\nlevers = whybench_levers.family:FAMILY\n"
        )
        monkeypatch.syspath_prepend(str(tmp_path))
        for cache in caches:
            cache.cache_clear()

    yield install
    for module in ("whybench_levers", "whybench_levers.family"):
        sys.modules.pop(module, None)
    for cache in caches:
        cache.cache_clear()


def played(task: str | Task, folder: Path, **args: object) -> list[float]:
    (log,) = inspect_eval(
        task, model="whybench/exact", task_args=args, limit=2, log_dir=str(folder),
        log_realtime=False, display="none",
    )  # fmt: skip
    assert log.status == "success", log.error
    return [sample.scores["episode_score"].value["accuracy"] for sample in log.samples or ()]


@pytest.mark.parametrize("toml", [None, DECLARED])
def test_an_installed_family_gets_its_task_without_code(
    installed: Callable[[str | None], None], toml: str | None, tmp_path: Path
) -> None:
    installed(toml)
    made = tasks()["levers"]
    defaults = {name: p.default for name, p in inspect.signature(made).parameters.items()}
    assert defaults["suite"] == ("advanced" if toml is None else "collider")
    assert defaults["protocol"] == ("dialogue" if toml is None else "tools")
    assert played("whybench/levers", tmp_path) == [1.0, 1.0]
    assert played("whybench/levers", tmp_path, protocol="dialogue", rows="3-4") == [1.0, 1.0]


def test_a_family_declares_further_tasks(
    installed: Callable[[str | None], None], tmp_path: Path
) -> None:
    installed(DECLARED)
    made = tasks()["levers_twice"]
    assert not {"suite", "evidence", "yoke"} & inspect.signature(made).parameters.keys()
    first, second = [sample.metadata["instance"] for sample in made(rows=2).dataset]
    assert '"budget":2' in first
    assert '"budget":3' in second
    for args, why in (
        ({"budget": 4}, "sets budget itself. Use whybench/levers"),
        ({"suite": "core"}, "Task levers_twice has no argument suite"),
        ({"template": "none"}, "try plain, notebook"),
    ):
        with pytest.raises(ValueError, match=why):
            made(**args)


def test_a_task_that_plays_one_suite_alone_is_found_by_that_suite() -> None:
    found = task_of("replayscm/lab")
    assert (found.name, found.suite, found.fixed) == ("replayscm_lab", "lab", ("suite",))
    assert task_of("replayscm/ord_cert").name == "replayscm"
