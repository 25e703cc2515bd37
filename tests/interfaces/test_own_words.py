"""A user's template and theme through Inspect, its log, and the report."""

from pathlib import Path

import pytest
from inspect_ai import eval as inspect_eval
from inspect_ai.log import read_eval_log
from tests.episode.test_own_files import MINE, THEME

from whybench.report.runs import read_runs


def test_a_log_and_a_report_name_the_files_with_their_hashes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    Path("mine.md").write_text(MINE, "utf-8")
    Path("pets.toml").write_text(THEME, "utf-8")
    asked = {"suite": "core", "profile": "published", "template": "mine.md", "theme": "pets.toml"}
    [log] = inspect_eval(
        "whybench/causallink",
        task_args=asked,
        model="whybench/exact",
        display="none",
        limit=3,
        log_realtime=False,
        log_dir="logs",
    )
    assert log.status == "success"
    sample = (read_eval_log(log.location).samples or [])[0]
    name, _, found = sample.metadata["template"].partition("@")
    assert (name, len(found)) == ("mine.md", 12)
    assert '"theme":"pets.toml@' in sample.metadata["instance"]
    assert "Here are gadgets: $ and wake." in sample.messages[0].text
    [run] = read_runs([Path("logs")]).runs
    assert run.template == sample.metadata["template"]
    assert str(run.parameters["theme"]).startswith("pets.toml@")
    assert list(run.frame["accuracy"]) == [1.0, 1.0, 1.0]


def test_a_bad_file_stops_a_task_with_the_line_that_is_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from whybench.interfaces.inspectai.tasks import tasks

    monkeypatch.chdir(tmp_path)
    Path("bad.md").write_text(MINE.replace("$nouns", "$nounz"), "utf-8")
    with pytest.raises(ValueError, match=r"bad\.md, line 6: there is no field \$nounz"):
        tasks()["causallink"](suite="core", template="bad.md")
