"""What a command imports: little, and only the family that it needs."""

import json
import subprocess
import sys

import pytest

from whybench.episode.registry import families

HEAVY = ("inspect_ai", "matplotlib", "networkx", "pandas", "pyarrow", "ray", "scipy")
CODE = """
import json, sys
try:
    from whybench.cli import app
    app(sys.argv[1:])
except SystemExit:
    pass
print("\\n" + json.dumps(sorted(sys.modules)))
"""


def modules_after(*words: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", CODE, *words], capture_output=True, text=True, check=True
    )
    return set(json.loads(done.stdout.splitlines()[-1]))


def families_in(modules: set[str]) -> set[str]:
    lead = "whybench.families."
    found = {name.removeprefix(lead).split(".")[0] for name in modules if name.startswith(lead)}
    return found & set(families())


@pytest.mark.parametrize(
    "words",
    [
        ("--help",),
        ("data", "generate", "--help"),
        ("list",),
        ("show", "causalink/core"),
        ("show", "causallink/core", "--template", "plan"),
        ("solve", "causallink/core", "--agent", "exakt"),
        ("solve", "causallink/core", "--profile", "publish"),
        ("certify", "causallink/core", "-T", "bugdet=1"),
        ("reference", "causallink/core", "--agents", "exakt"),
        ("plan", "causallink/cor", "--detect", "0.1"),
        ("shwo",),
    ],
)
def test_help_list_and_misspelt_names_import_no_family(words: tuple[str, ...]) -> None:
    found = modules_after(*words)
    assert not found & {*HEAVY, "numpy", "rich"}
    assert families_in(found) == set()


@pytest.mark.parametrize(
    "path", ["causallink/core", "causalab/main_4", "causalgame/antenna", "recite/short"]
)
def test_show_imports_one_family_and_nothing_heavy(path: str) -> None:
    found = modules_after("show", path, "--index", "3")
    assert not found & {*HEAVY, "rich"}
    assert families_in(found) == {path.partition("/")[0]}


def test_stored_records_are_read_without_pandas() -> None:
    found = modules_after("show", "replayscm/hid_cert")
    assert not found & (set(HEAVY) - {"pyarrow"})


def test_import_whybench_and_core_are_light() -> None:
    code = """
import json, sys
before = set(sys.modules)
import whybench
alone = sorted(set(sys.modules) - before)
import whybench.causal.seeds, whybench.causal.graph, whybench.causal.structure
import whybench.episode.family
print(json.dumps([alone, sorted(sys.modules)]))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    alone, core = json.loads(done.stdout)
    ours = sys.stdlib_module_names | {"whybench"}
    assert {name.partition(".")[0] for name in alone} <= ours
    assert not set(core) & {*HEAVY, "pydantic", "typer"}
