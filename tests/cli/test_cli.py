"""The command line, as a person or a script uses it."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from whybench.cli import app


def run(*words: object, stdin: str | None = None) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words], input=stdin)


def read(*words: object) -> Any:
    result = run(*words, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_solve_core_exact_reaches_its_bars() -> None:
    found = read("solve", "causallink/core", "--agent", "exact")
    assert {
        "suite", "agent", "profile", "version", "instances", "metrics", "intervals",
    } <= found.keys()  # fmt: skip
    assert (found["suite"], found["agent"], found["profile"]) == (
        "causallink/core",
        "exact",
        "certified",
    )
    assert found["instances"] == 84
    metrics = found["metrics"]
    assert metrics["accuracy"] == metrics["accuracy_true"] == metrics["accuracy_false"] == 1
    assert metrics["understood"] == 1
    assert metrics["experiments"] <= 1.25
    for name in ("lucky", "premature", "contradicted", "wasted_steps", "regret"):
        assert metrics[name] == 0
    assert found["intervals"].keys() == metrics.keys()
    low, high = found["intervals"]["accuracy"]
    assert 0 <= low < high <= 1


def test_certify_exits_0_or_1() -> None:
    both = read("certify", "causallink/core", "causallink/collider")
    assert [report["instances"] for report in both] == [84, 30]
    for report in both:
        assert report["failed"] == []
        assert report["figures"]["identified"] == report["instances"]
    assert both[0]["figures"]["fewest"]["counts"] == {"0": 15, "1": 48, "2": 21}
    assert both[0]["figures"]["minimax"]["counts"] == {"0": 15, "1": 36, "2": 27, "3": 6}
    broken = run("certify", "causallink/core", "-T", "budget=1", "--json")
    assert broken.exit_code == 1
    failed = json.loads(broken.stdout)["failed"]
    assert 0 < len(failed) < 84
    certificate = read("show", "causallink/core", "--truth", "-T", "budget=0")["certificate"]
    assert certificate["identified"] == (certificate["fewest"] == 0)
    assert "does not reach the best score" in failed[0]["why"][0]


def test_a_broken_instance_makes_certify_exit_1(monkeypatch: pytest.MonkeyPatch) -> None:
    from dataclasses import replace

    from whybench.families.causallink.family import CausalLink

    sound = CausalLink.certify

    def spoilt(self: CausalLink, instance: Any) -> Any:
        certificate = sound(self, instance)
        return replace(certificate, minimax=0) if instance.index == 3 else certificate

    monkeypatch.setattr(CausalLink, "certify", spoilt)
    assert run("certify", "causallink/core", "--limit", 2).exit_code == 0
    result = run("certify", "causallink/advanced", "--limit", 6, "--json")
    assert result.exit_code == 1
    (failed,) = json.loads(result.stdout)["failed"]
    assert failed["why"] == ["the exact agent needs more than the worst case"]


def test_solve_and_score_agree(tmp_path: Path) -> None:
    traces = tmp_path / "traces.jsonl"
    solved = read("solve", "causallink/core", "--agent", "random", "--traces", traces)
    scored = read("score", "causallink/core", "--predictions", traces)
    assert scored["metrics"] == solved["metrics"]
    assert scored["intervals"] == solved["intervals"]


def test_a_short_predictions_file_counts_the_rest_as_unfinished(tmp_path: Path) -> None:
    ids = [read("show", "causallink/core", "--index", i)["instance"]["id"] for i in (0, 1)]
    rows = [
        {"id": ids[0], "answer": "yes"},
        {"id": ids[1], "actions": [{"name": "answer", "args": {"answer": "yes"}}]},
    ]
    path = tmp_path / "p.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows))
    found = read("score", "causallink/core", "--predictions", path)
    assert found["outcomes"] == {"answered": 2, "unfinished": 82}
    assert found["metrics"]["accuracy"] == pytest.approx(1 / 84)
    assert found["metrics"]["accuracy_answered"] == 0.5


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("not json", "Line 1"),
        ('{"id": "x"}', "Line 1"),
        ('{"id": "x", "actions": [7]}', "Line 1"),
        ('{"id": ["x"], "answer": "yes"}', "Line 1"),
        ('{"id": "x", "answer": "yes"}', "are not among"),
        ('{"id": "x", "answer": "yes"}\n{"id": "x", "answer": "no"}', "repeats x"),
    ],
)
def test_bad_predictions_are_refused(tmp_path: Path, line: str, why: str) -> None:
    path = tmp_path / "p.jsonl"
    path.write_text(line)
    result = run("score", "causallink/core", "--predictions", path)
    assert result.exit_code == 2
    assert why in " ".join(result.output.split())


def test_show_tells_the_truth_only_when_asked() -> None:
    shown = read("show", "causallink/advanced", "--index", 700)
    assert shown.keys() == {"instance", "instructions", "difficulty"}
    told = read("show", "causallink/advanced", "--index", 700, "--truth")
    assert told["truth"]["answer"] in ("yes", "no")
    assert told["certificate"]["identified"]
    assert "question" in run("show", "causallink/core", "--index", 3).output


def test_play_to_the_end_and_to_the_end_of_input(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    result = run("play", "causallink/core", "--trace", path, stdin="dance\nmove [/x]\nanswer yes\n")
    assert result.exit_code == 0
    assert "answered" in result.output
    assert json.loads(path.read_text())["outcome"] == "answered"
    assert "unfinished" in run("play", "causallink/core", stdin="").output


def test_help_and_quit_are_understood_and_not_played(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    result = run("play", "causallink/core", "--trace", path, stdin="help\nHELP \nquit\n")
    assert result.exit_code == 0
    assert result.output.count("hold <the name of one shape>") == 3
    assert json.loads(path.read_text())["steps"] == []


def test_parameters_seeds_and_limits_reach_the_suite() -> None:
    found = read(
        "solve", "causallink/advanced", "--limit", 12, "--seed", "s", "-T", "n=9",
        "-T", "graphs=2", "-T", "theme=nonsense",
    )  # fmt: skip
    assert found["instances"] == 12
    assert found["parameters"] == {"graphs": 2, "n": 9, "theme": "nonsense"}
    assert found["metrics"]["understood"] == 1


@pytest.mark.parametrize(
    "words",
    [
        ("solve", "causallink/nothing"),
        ("solve", "nothing"),
        ("solve", "causallink/core", "--agent", "nobody"),
        ("solve", "causallink/core", "--profile", "secret"),
        ("solve", "causallink/core", "--evidence", "yoked"),
        ("solve", "causallink/core", "-T", "colour=red"),
        ("certify", "causallink/core", "-T", "n=5"),
        ("show", "causallink/core", "--index", "84"),
        ("show", "causallink/core", "--template", "velvet"),
        ("solve", "causallink/advanced", "-T", "n=5", "-T", "n=6"),
        ("solve", "causallink/core", "-T", "budget"),
        ("solve", "causallink/core", "-T", "theme=[x"),
        ("solve", "causallink/core", "--limit", "1", "--traces", "no/such/folder/x.jsonl"),
    ],
)
def test_bad_callers_get_a_sentence_and_not_a_traceback(words: tuple[str, ...]) -> None:
    result = run(*words)
    assert result.exit_code == 2, result.output
    assert "Traceback" not in result.output


def test_a_paper_without_its_edge_list_is_refused_before_any_model_is_asked(tmp_path: Path) -> None:
    (tmp_path / "paper.pdf").write_bytes(b"%PDF-1.4")
    (tmp_path / "lists").mkdir()
    result = run(
        "recite", "prepare", tmp_path / "paper.pdf", "--annotations", tmp_path / "lists",
        "--out", tmp_path / "out", "--model", "none/none",
    )  # fmt: skip
    assert result.exit_code == 2
    assert "paper" in result.output
    assert "Traceback" not in result.output


def test_released_files_are_checked(tmp_path: Path) -> None:
    told = read("data", "released", "causalab")
    assert "CausaLab-Benchmark" in told["source"]
    assert len(told["files"]) == 19
    assert set(told["files"].values()) == {"not checked"}
    (tmp_path / "3nodes.jsonl").write_text("{}\n")
    result = run("data", "released", "causalab", tmp_path, "--json")
    assert result.exit_code == 1
    found = json.loads(result.stdout)
    assert found["files"]["3nodes.jsonl"] == "differs"
    assert found["files"]["4nodes.jsonl"] == "missing"
    assert found["wrong"] == 19
    assert run("data", "released", "causallink").exit_code == 2


def test_solve_in_the_words_of_a_template_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.md"
    path.write_text("extends: paper\n\n## rules\nHere are $nouns.\n")
    found = read("solve", "causallink/core", "--limit", "6", "--template", path)
    assert found["template"].startswith(f"{path}@")
    assert found["metrics"]["accuracy"] == 1
    path.write_text("extends: paper\n\n## rules\nHere are $noun and $nothing.\n")
    for command in ("show", "play", "solve"):
        result = run(command, "causallink/core", "--template", path)
        assert result.exit_code == 2
        assert "mine.md, line 4: there is no field $nothing" in result.output
