from __future__ import annotations

import json
import shutil
from dataclasses import replace

import pandas as pd
import pytest

from whybench.episode.registry import load_suite
from whybench.interfaces.inspectai.runner import reference_logs
from whybench.interfaces.solve import solve
from whybench.report.episodes import episodes, places, rebuilt, spread_out
from whybench.report.naming import named as names_of
from whybench.report.runs import Logs, read_runs
from whybench.report.view import estimate


def the(logs: Logs, suite: str, agent: str):
    return next(r for r in logs.runs if r.suite == suite and r.model == f"whybench/{agent}")


def test_a_run_has_the_scores_that_the_agent_gets_without_inspect(logs: Logs) -> None:
    run = the(logs, "causallink/core", "random")
    suite = load_suite("causallink/core")
    played = list(solve(suite, "random", [suite[i] for i in range(12)]))
    frame = run.frame.set_index("instance")
    for result in played:
        row = frame.loc[result.instance.id]
        assert row["outcome"] == result.score.outcome
        assert row["cluster"] == result.instance.cluster
        assert row["labels"]["verdict"] == result.score.labels["verdict"]
        for name in ("accuracy", "understood", "experiments", "accuracy_true"):
            wanted = result.score.values[name]
            assert (pd.isna(row[name]) and wanted is None) or row[name] == wanted


def test_all_logs_of_a_folder_are_runs_with_plain_names(logs: Logs) -> None:
    found = {(run.suite, run.system) for run in logs.runs}
    agents = ("null", "null_no", "random", "first_listed", "exact")
    assert found == {("causallink/core", f"{agent} (reference agent)") for agent in agents} | {
        ("causalab/main_3", f"{agent} (reference agent)") for agent in ("regression", "exact")
    }
    assert all(run.reference and run.evidence == "own" for run in logs.runs)
    assert not logs.left_out


def test_runs_that_differ_in_an_argument_are_told_apart_by_it(logs: Logs) -> None:
    run = the(logs, "causallink/core", "exact")
    other = replace(run, args={**run.args, "template": "think_first"})
    harder = replace(run, parameters={"budget": 2})
    named = [r.system for r in names_of([run, other, harder, run])]
    assert named == [
        "exact (reference agent) · budget=default · template=plain",
        "exact (reference agent) · budget=default · template=think_first",
        "exact (reference agent) · budget=2 · template=plain",
        "exact (reference agent) · budget=default · template=plain · run 2",
    ]


def test_an_unfinished_log_is_left_out_with_its_reason(log_dir, tmp_path) -> None:
    from inspect_ai.log import read_eval_log

    source = next(path for path in log_dir.iterdir() if "causalab" in path.name)
    log = read_eval_log(str(source))
    data = json.loads(log.model_dump_json(exclude_none=True))
    data["status"], data["eval"]["eval_id"] = "started", "another"
    half = "2026-01-02T03-04-05-00-00_causalab_half.json"
    (tmp_path / half).write_text(json.dumps(data), "utf-8")
    shutil.copy(source, tmp_path)
    found = read_runs([tmp_path])
    assert len(found.runs) == 1
    assert found.left_out == ((half, "not finished (status started)"),)


def test_no_logs_is_an_error_that_says_what_to_give(tmp_path) -> None:
    with pytest.raises(ValueError, match="Found no logs"):
        read_runs([tmp_path])
    with pytest.raises(ValueError, match="There is no log or folder"):
        read_runs([tmp_path / "nowhere"])
    (tmp_path / "renamed.json").write_text("{}", "utf-8")
    with pytest.raises(ValueError, match="Do not rename logs"):
        read_runs([tmp_path / "renamed.json"])


def test_epochs_are_averaged_before_the_interval(logs: Logs) -> None:
    run = the(logs, "causallink/core", "random")
    first = run.frame["instance"].iloc[0]
    again = run.frame[run.frame["instance"] == first]
    doubled = pd.concat([run.frame, *(again.assign(epoch=e) for e in range(2, 9))])
    assert estimate(replace(run, frame=doubled), "accuracy").estimate == pytest.approx(
        run.frame["accuracy"].mean()
    )


def test_episodes_are_played_again_from_a_log(logs: Logs) -> None:
    run = the(logs, "causallink/core", "exact")
    told = list(episodes(run, 5))
    assert len(told) == 5
    for row, instance, trace in told:
        assert row["instance"] == instance.id == trace.instance
        assert run.family.score(instance, trace).values["accuracy"] == row["accuracy"] == 1.0


def test_the_same_instances_are_chosen_every_time_and_from_all_over() -> None:
    names = [f"i{place:04d}" for place in range(1000)]
    chosen = spread_out(names, 50)
    assert chosen == spread_out(names, 50) == sorted(chosen)
    assert len(chosen) == 50
    assert min(chosen) < "i0100" < "i0900" < max(chosen)


def test_an_instance_of_another_version_is_refused(logs: Logs) -> None:
    run = the(logs, "causallink/core", "exact")
    row = places(run, 1)[0]
    assert rebuilt(run, row).id == row["instance"]
    with pytest.raises(ValueError, match="score it with the WhyBench that made it"):
        rebuilt(replace(run, version="0-0.0.1"), row)


def test_a_reference_agent_that_does_not_exist_is_named(tmp_path) -> None:

    with pytest.raises(ValueError, match="has no agent 'clever'"):
        reference_logs(load_suite("causallink/core"), ("clever",), tmp_path)


def test_a_private_seed_is_never_part_of_a_name(logs: Logs) -> None:
    run = the(logs, "causallink/core", "exact")
    secret = replace(run, seed="hush-4711")
    released = replace(run, profile="published")
    named = [r.system for r in names_of([run, secret, released])]
    assert len(set(named)) == 3
    assert not any("hush" in name for name in named)
    assert "seed=private-" in named[1]
    assert "profile=published" in named[2]
