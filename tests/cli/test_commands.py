"""The table of commands: it says what is there, and misspelt names are answered shortly."""

import inspect
import json
import sys
from collections.abc import Iterator, Mapping
from importlib.metadata import EntryPoint
from types import SimpleNamespace
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from whybench.cli import app
from whybench.cli.table import COMMANDS, Entry
from whybench.episode import registry
from whybench.episode.registry import families
from whybench.interfaces import progress


def run(*words: str) -> Result:
    return CliRunner().invoke(app, words)


def commands(entries: Mapping[str, Entry], lead: tuple[str, ...] = ()) -> Iterator[tuple[Any, ...]]:
    for name, entry in entries.items():
        if entry.members:
            yield from commands(entry.members, (*lead, name))
        else:
            yield (*lead, name), entry


ALL = dict(commands(COMMANDS))


@pytest.mark.parametrize("path", ALL, ids=" ".join)
def test_a_command_has_an_example_and_the_help_of_its_function(path: tuple[str, ...]) -> None:
    entry = ALL[path]
    function = EntryPoint("", entry.place, "").load()
    assert inspect.getdoc(function).partition("\n")[0] == entry.help
    shown = run(*path, "--help")
    assert shown.exit_code == 0
    example = shown.output[shown.output.index("Example:") :]
    assert f"whybench {' '.join(path)}" in example


@pytest.mark.parametrize("path", ALL, ids=" ".join)
def test_what_prints_figures_prints_json(path: tuple[str, ...]) -> None:
    plain = {"play", "secret", "commit", "serve", "claim", "local-model", "new-family", "upgrade"}
    assert ("--json" in run(*path, "--help").output) == (path[-1] not in plain)


def test_a_family_alone_means_the_first_suite_that_it_recommends() -> None:
    assert run("show", "causallink").output == run("show", "causallink/advanced").output


@pytest.mark.parametrize(
    "words",
    [
        "recite prepare", "recite judged", "recite revision",
        "replayscm alternatives", "replayscm counterexamples",
    ],
)  # fmt: skip
def test_a_family_brings_its_own_commands(words: str) -> None:
    family, command = words.split()
    assert family in run("--help").output
    assert "Example:" in run(family, command, "--help").output


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("show causalink/core", "no suite 'causalink/core': try causallink/core "),
        ("show core", "no suite 'core': try causallink/core "),
        ("show causallink/cor", "no suite 'causallink/cor': try causallink/core "),
        ("show hid_cerd", "try replayscm/hid_cert"),
        ("show nothing_like_it", "causallink/advanced"),
        ("list causalink", "no family 'causalink': try causallink"),
        ("show causallink/core --template plan", "no template 'plan': try plain"),
        ("show causallink/core --profile publish", "no profile 'publish': try published"),
        ("solve causallink/core --agent exakt", "no agent 'exakt': try exact"),
        ("reference causallink/core --agents null,exakt", "no agent 'exakt': try exact"),
        ("solve causallink/core -T bugdet=1", "no parameter 'bugdet': try budget"),
        ("show causallink/core -T foo=1", "try theme, n, graphs, budget, max_errors"),
        ("show causallink/advanced -T n=many", "parameter n: Input should be a valid integer"),
        ("plan causallink/cor --detect 0.1", "try causallink/core"),
        ("dev parity solv", "no interface 'solv': try solve"),
        ("shwo causallink/core", "Unknown command 'shwo'. Try show."),
        ("generate causallink/core", "Unknown command 'generate'. Try data generate."),
        ("data generat x", "Unknown command 'generat'. Try generate."),
        ("recite judge", "Unknown command 'judge'. Try judged."),
    ],
)
def test_a_misspelt_name_is_answered_in_one_line(words: str, said: str) -> None:
    result = run(*words.split())
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1
    assert len(result.stderr) < 200
    assert said in result.stderr
    assert "http" not in result.stderr


def test_list_is_one_screen_from_declared_data() -> None:
    lines = run("list").output.splitlines()
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 80
    words = " ".join(lines).replace(",", " ").split()
    for name in families():
        assert {name, *families().declared(name)["recommended"]} <= set(words)
    rows = json.loads(run("list", "--json").stdout)
    assert [row["family"] for row in rows] == list(families())
    assert "core_distinct" in next(r for r in rows if r["family"] == "causallink")["suites"]


@pytest.mark.parametrize("name", list(families()))
def test_list_of_a_family_names_all_and_cuts_nothing(name: str) -> None:
    shown, data = run("list", name).output, families().declared(name)
    assert max(map(len, shown.splitlines())) <= 80
    for kind in ("suites", "agents", "parameters"):
        for one in data[kind]:
            assert f"\n  {one}: " in shown
    for one in (*data["templates"], *data["protocols"]):
        assert one in shown
    told = json.loads(run("list", name, "--json").stdout)
    assert told["suites"].keys() == data["suites"].keys()
    assert all(one["instances"] > 0 for one in told["suites"].values())


@pytest.mark.parametrize("name", list(families()))
def test_declared_parameters_are_those_of_the_family(name: str) -> None:
    module = __import__(f"whybench.families.{name}.parameters", fromlist=["Parameters"])
    assert list(families().declared(name)["parameters"]) == list(module.Parameters.model_fields)


def test_a_family_without_declared_data_is_asked_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    family = SimpleNamespace(name="levers", suites={"four": "four levers"}, version="1")
    monkeypatch.setitem(sys.modules, "levers", SimpleNamespace(FAMILY=family))
    point = EntryPoint("levers", "levers:FAMILY", registry.GROUP)
    monkeypatch.setattr(registry, "entry_points", lambda group: [point])
    found = registry.Families()
    assert (list(found), found["levers"]) == (["levers"], family)
    assert found.declared("levers")["suites"] == family.suites
    assert found.declared("levers").get("recommended") is None


@pytest.mark.parametrize(
    ("words", "stop", "said"),
    [
        ("solve causallink/core", "whybench.interfaces.solve.solve", "--limit"),
        (
            "data generate causallink/core --n 2 --out {} --workers 0",
            "whybench.scale.generate.generate",
            "The same command resumes",
        ),
    ],
)
def test_ctrl_c_says_how_to_go_on(
    words: str, stop: str, said: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    def stopped(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(stop, stopped)
    result = run(*words.format(tmp_path).split())
    assert result.exit_code == 130
    assert result.stderr.strip().count("\n") == 0
    assert said in result.stderr


def test_a_long_run_in_a_file_writes_a_line_every_30_seconds_with_the_time_left(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = iter(range(0, 400, 20))
    monkeypatch.setattr(progress.time, "monotonic", lambda: float(next(clock)))
    assert list(progress.tracked("abcdefg", 7, "solve x")) == list("abcdefg")
    lines = capsys.readouterr().err.splitlines()
    assert lines == [
        "solve x: 2/7 instances (29%), 0.05 instances/s, 1 min 40 s left",
        "solve x: 4/7 instances (57%), 0.05 instances/s, 1 min 0 s left",
        "solve x: 6/7 instances (86%), 0.05 instances/s, 20 s left",
    ]
