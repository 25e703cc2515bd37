"""The commands around stored sets, as a user gives them."""

import json
from pathlib import Path

import pytest
from tests.scale.sets import planned, stored
from typer.testing import CliRunner, Result

from whybench.cli import app


def run(*asked: str) -> Result:
    return CliRunner().invoke(app, list(asked))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("set")
    stored(path, planned("causallink/advanced", n=120, rows=50, parameters={"n": 4, "graphs": 20}))
    return str(path)


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("other")
    stored(
        path,
        planned(
            "causallink/advanced", n=60, rows=50, seed="pilot", parameters={"n": 4, "graphs": 20}
        ),
    )
    return str(path)


def test_stats_tells_counts_bits_and_difficulty(folder: str) -> None:
    told = json.loads(run("data", "stats", folder, "--json").stdout)
    assert told["counts"]["rows"] == 120
    assert told["counts"]["problems"] <= 41
    assert told["figures"]["bits"]["mean"] == 12
    shown = run("data", "stats", folder)
    assert shown.exit_code == 0
    assert "exact_steps" in shown.stdout


def test_distinct_sets_expected_beside_found(folder: str, other: str) -> None:
    told = json.loads(run("data", "distinct", folder, "--pilot", other, "--json").stdout)
    assert told["all"]["counted"] == 120
    assert told["all"]["distinct"] <= 41
    last = told["expected"][-1]
    assert last["found_distinct"] == told["all"]["distinct"]
    assert last["expected_rate_low"] <= last["expected_rate"] <= last["expected_rate_high"]
    assert "found" in run("data", "distinct", folder, "--pilot", other).stdout


def test_distinct_writes_what_to_keep(folder: str, other: str) -> None:
    alone = json.loads(run("data", "distinct", folder, "--write", "--json").stdout)
    assert alone["kept"][0]["kept"] == alone["all"]["distinct"]
    apart = json.loads(
        run("data", "distinct", folder, "--write", "--against", other, "--json").stdout
    )
    assert apart["kept"][0]["kept"] == alone["all"]["distinct"] - apart["kept"][0]["shared"]
    assert run("data", "distinct", folder, "--against", other).exit_code == 2
    assert run("data", "distinct", folder, "--by", "colour").exit_code == 2


def test_a_private_split_is_committed_to_and_proven(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secrets = tmp_path / "secrets"
    monkeypatch.setenv("WHYBENCH_SECRETS", str(secrets))
    name = run("data", "secret").stdout.strip()
    assert name.startswith("private:")
    out, public = str(tmp_path / "set"), str(tmp_path / "commitment.json")
    plan = ["data", "generate", "causallink/core", "--n", "9", "--rows", "3", "--workers", "0"]
    assert run(*plan, "--seed", name, "--out", out).exit_code == 0
    line = run("data", "commit", out, "--out", public).stdout
    assert name in line
    secret = secrets.read_text().strip()
    assert secret not in line + Path(public).read_text()
    seal = line.split("seal ")[1].strip()
    monkeypatch.delenv("WHYBENCH_SECRETS")
    unknown = run("data", "prove", public, "--workers", "0")
    assert unknown.exit_code == 1
    asked = ["data", "prove", public, "--secret-file", str(secrets), "--workers", "0"]
    assert run(*asked, out, "--seal", seal).exit_code == 0
    some = run(*asked, "--sample", "1", "--challenge", "rain on Tuesday", "--json")
    told = {"shards": 3, "made_anew": 1, "faults": [], "seal_compared": False}
    assert json.loads(some.stdout) == told
    assert run(*asked, "--seal", "0" * 64).exit_code == 1
    assert run(*asked, "--sample", "1").exit_code == 2


def test_what_is_no_set_is_said_plainly(tmp_path: Path) -> None:
    for command in ("stats", "distinct", "commit"):
        found = run("data", command, str(tmp_path))
        assert found.exit_code == 2
        assert "not a stored set" in found.output
