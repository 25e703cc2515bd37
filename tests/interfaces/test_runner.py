"""The standard run: one command, its estimate, a kill in the middle, and the same table."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from inspect_ai.log import list_eval_logs, read_eval_log
from tests.interfaces.test_kill import recovered
from typer.testing import CliRunner

from whybench.cli import app
from whybench.release.data import load_release
from whybench.release.estimate import estimates

pytestmark = pytest.mark.wire

QUICK = ["causallink", "causalab", "prism"]
"""Families whose exact agent is fast."""


def words(folder: Path, *more: str) -> list[str]:
    chosen = [word for family in QUICK for word in ("--family", family)]
    return ["run", "whybench/exact", "--set", "lite", "--log-dir", str(folder), *chosen, *more]


def table(folder: Path) -> dict[str, object]:
    found = CliRunner().invoke(app, ["table", str(folder), "--format", "json"])
    return dict(json.loads(found.stdout))


def test_a_run_ends_with_the_table_and_all_samples(tmp_path: Path) -> None:
    found = CliRunner().invoke(app, words(tmp_path / "runs", "--limit", "3"))
    assert found.exit_code == 0, found.output
    assert "exact (reference agent)" in found.stdout
    assert "prism" in found.stdout
    logs = [read_eval_log(info) for info in list_eval_logs(str(tmp_path / "runs"))]
    assert len(logs) == len(QUICK)
    assert all(log.status == "success" and len(log.samples or ()) == 3 for log in logs)
    (system,) = table(tmp_path / "runs")["systems"]  # type: ignore[misc]
    assert system["cells"]["causallink"]["score"]["value"] == pytest.approx(1.0)
    again = CliRunner().invoke(app, words(tmp_path / "runs", "--limit", "3"))
    assert again.exit_code == 0
    assert len(list_eval_logs(str(tmp_path / "runs"))) == len(QUICK), "a finished run was repeated"


def test_the_estimate_of_a_reference_agent_is_close(tmp_path: Path) -> None:
    CliRunner().invoke(app, words(tmp_path / "runs"))
    (system,) = table(tmp_path / "runs")["systems"]  # type: ignore[misc]
    for one in estimates(load_release("1rc"), "lite"):
        if one.family in QUICK:
            cell = system["cells"][one.family]
            assert cell["episodes"] == one.samples
            for name, told in (("input_tokens", one.input), ("output_tokens", one.output)):
                assert 1 / 1.5 < cell[name] / told < 1.5, (one.family, name, cell[name], told)


def test_a_killed_run_goes_on_with_the_same_command(tmp_path: Path) -> None:
    journal = tmp_path / "calls.txt"
    steady, cut = tmp_path / "steady", tmp_path / "cut"
    slow = ["-M", f"journal={journal}", "-M", "delay=0.05", "--connections", "4"]
    whole = CliRunner().invoke(app, words(steady, *slow))
    assert whole.exit_code == 0, whole.output
    calls = journal.read_text().splitlines()
    journal.unlink()
    victim = subprocess.Popen(
        [sys.executable, "-m", "whybench", *words(cut, *slow)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    deadline = time.monotonic() + 300
    while not journal.exists() or len(journal.read_text().splitlines()) <= len(calls) / 2:
        assert time.monotonic() < deadline, "not half-way in time: a slow machine?"
        assert victim.poll() is None, "the run ended before it was killed"
        time.sleep(0.05)
    os.killpg(victim.pid, signal.SIGKILL)
    victim.wait()
    finished = set().union(*(recovered(log) for log in cut.glob("*.eval")))
    assert finished, "nothing had ended before the kill"
    journal.unlink()
    again = CliRunner().invoke(app, words(cut, *slow))
    assert again.exit_code == 0, again.output
    assert not finished & set(journal.read_text().splitlines()), "a finished sample was repeated"
    one, two = table(steady), table(cut)
    assert _figures(one) == _figures(two)


def _figures(found: dict[str, object]) -> object:
    (system,) = found["systems"]  # type: ignore[misc]
    return {f: {k: c[k] for k in ("score", "raw", "episodes")} for f, c in system["cells"].items()}


@pytest.mark.parametrize(
    ("more", "why"),
    [
        (["--max-cost", "1"], "--max-cost needs a price"),
        (["--price", "100000,100000", "--max-cost", "1"], "above --max-cost"),
        (["--price", "one"], "write two numbers"),
        (["--family", "nothing"], "Unknown family"),
        (["--set", "tiny"], "Unknown set"),
    ],
)
def test_a_run_is_refused_before_the_first_call(tmp_path: Path, more: list[str], why: str) -> None:
    found = CliRunner().invoke(app, [*words(tmp_path / "runs"), *more])
    assert found.exit_code == 2, found.output
    assert why in found.output
    assert not (tmp_path / "runs").exists()


def test_a_missing_model_is_found_before_the_first_call(tmp_path: Path) -> None:
    for model, why in (("whybench/nobody", "has no reference agent"), ("gpt", "names no provider")):
        found = CliRunner().invoke(app, ["run", model, "--log-dir", str(tmp_path / "runs")])
        assert found.exit_code == 2
        assert why in found.output


def test_inspect_users_get_the_same_rows(tmp_path: Path) -> None:
    from inspect_ai import eval as inspect_eval

    (log,) = inspect_eval(
        "whybench/prism", task_args={"release": "1rc", "set": "lite"}, model="whybench/exact",
        limit=12, log_dir=str(tmp_path), display="none",
    )  # fmt: skip
    release = load_release("1rc")
    wanted = [template for _, _, template in release.samples("prism", "lite")][:12]
    assert sorted(sample.metadata["template"] for sample in log.samples or ()) == sorted(wanted)
    assert log.eval.task_args["release"] == "1rc"


@pytest.mark.parametrize("wrong", ["suite", "seed", "template", "budget"])
def test_a_release_cannot_be_changed(wrong: str) -> None:
    from whybench.interfaces.inspectai.tasks import tasks

    with pytest.raises(ValueError, match="it fixes suites, rows and prompts"):
        tasks()["causallink"](release="1rc", **{wrong: "x"})


def test_replies_that_cannot_be_used_are_named_in_the_table_and_on_the_page(tmp_path: Path) -> None:
    runs, page = tmp_path / "runs", tmp_path / "page.html"
    asked = ["run", "whybench/script", "-M", 'replies=[""]', "--family", "causallink"]
    found = CliRunner().invoke(app, [*asked, "--limit", "6", "--log-dir", str(runs)])
    assert found.exit_code == 0, found.output
    assert "causallink: empty 100 %" in found.stdout
    (system,) = table(runs)["systems"]  # type: ignore[misc]
    assert system["cells"]["causallink"]["outcomes"] == {"empty": 1.0}
    assert system["cells"]["causallink"]["unusable"] == 1.0
    made = CliRunner().invoke(app, ["report", str(runs), "-o", str(page)])
    assert made.exit_code == 0, made.output
    text = page.read_text("utf-8")
    assert "100 % of its episodes ended because a reply could not be used" in text
    assert "empty" in text
