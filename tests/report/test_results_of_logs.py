"""Results of real logs: their figures, dates and digests come from the logs, and no secret does."""

import hashlib
import json
from dataclasses import replace

import pytest
from tests.report.made_up_results import result
from typer.testing import CliRunner

from whybench.cli import app
from whybench.report.results.files import dumped, read_results, write_results
from whybench.report.results.make import results, settings
from whybench.report.runs import Logs
from whybench.report.standings.build import standings

pytestmark = pytest.mark.wire

RUN = CliRunner()


def test_results_are_the_standings_with_what_produced_them(logs, tmp_path):
    made = results(logs)
    assert repr([one.system for one in made]) == repr(list(standings(logs).systems))  # nan
    write_results(made, tmp_path)
    found = {one.system.name: one for one in read_results(tmp_path).values()}
    exact = found["exact (reference agent)"]
    mine = [run for run in logs.runs if run.model == "whybench/exact"]
    assert exact.date == max(run.created for run in mine)[:10]
    assert exact.versions["inspect_ai"] == mine[0].packages["inspect_ai"]
    assert {"causallink", "causalab", "whybench"} <= set(exact.versions)
    assert exact.settings["causallink"]["protocol"] == "tools"
    assert len(exact.logs) == len(mine) == 2
    for run in mine:
        with open(run.path.removeprefix("file://"), "rb") as file:  # noqa: PTH123
            assert exact.logs[run.log] == hashlib.sha256(file.read()).hexdigest()


def test_the_same_logs_give_the_same_bytes_in_any_order(logs):
    again = Logs(tuple(reversed(logs.runs)))
    first, second = ([dumped(one.to_json()) for one in results(found)] for found in (logs, again))
    assert first == second


def test_neither_seeds_nor_folders_nor_model_arguments_are_told(logs):
    run = logs.runs[0]
    hidden = replace(
        run,
        seed="hush-seed",
        args={**run.args, "data": "private/hush-folder/set", "seed": "hush-seed"},
        config={"temperature": 0.5, "model_args": {"api_key": "hush-key"}, "max_tokens": 32},
    )
    told = settings([hidden])[run.family.name]
    assert "hush" not in json.dumps(told)
    assert told["data"] == "set"
    assert told["seed"].startswith("private-")
    assert (told["temperature"], told["max_tokens"]) == ("0.5", "32")


def test_commands_write_files_and_a_site(log_dir, tmp_path):
    folder, public = tmp_path / "results", tmp_path / "public"
    called = RUN.invoke(app, ["results", str(log_dir), "-o", str(folder), "--json"])
    assert called.exit_code == 0, called.output
    assert sorted(json.loads(called.stdout)) == sorted(map(str, folder.glob("*.json")))
    called = RUN.invoke(app, ["site", str(folder), "-o", str(public)])
    assert called.exit_code == 0, called.output
    assert called.stdout == f"Wrote {public / 'index.html'} with 6 results.\n"
    for form in ("every-eval-ever", "hub"):
        out = str(tmp_path / form)
        called = RUN.invoke(app, ["results", str(log_dir), "-o", out, "--format", form])
        assert called.exit_code == 0, called.output
        assert len(called.stdout.splitlines()) == 6


def test_commands_refuse_in_plain_lines(tmp_path):
    write_results([result()], tmp_path)
    (tmp_path / "bad.json").write_text('{"schema": NaN}')
    called = RUN.invoke(app, ["site", str(tmp_path), "-o", str(tmp_path / "public")])
    assert called.exit_code == 2
    assert called.stderr == "bad.json: file: contains NaN, which is not a number.\n"
    called = RUN.invoke(app, ["results", str(tmp_path), "--schema", "x.json"])
    assert called.exit_code == 2
    assert called.stderr == "--schema needs --format every-eval-ever.\n"
