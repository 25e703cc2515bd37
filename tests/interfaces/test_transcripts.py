"""Transcripts: what is written can be played again, and nothing of the evaluation split is."""

import json
from itertools import islice
from pathlib import Path

import pytest
from typer.testing import CliRunner

import whybench as wb
from whybench.cli import app
from whybench.interfaces.transcripts import replayed, transcripts

SUITES = [
    *(f"{name}/small" for name in ("causalab", "causalgame", "causallink", "prism", "replayscm")),
    *("causallink/advanced", "recite/short"),
]


@pytest.mark.parametrize("suite", SUITES)
def test_tool_calls_give_the_same_trace_and_score(suite: str) -> None:
    found = wb.load_suite(suite)
    for template in (None, "compact"):
        chosen = islice(wb.Choice(found, split="train").once(), 3)
        rows = list(transcripts(found, chosen, template))
        assert len(rows) == 3
        for row in json.loads(json.dumps(rows)):
            instance = wb.Instance.from_json(row["instance"])
            assert wb.part_of(found, instance) == "train"
            again = replayed(row)
            assert again.trace == found.family.exact_run(instance)
            assert again.score().to_json() == row["score"]
            assert wb.CANARY not in json.dumps(row)
            told, *rest = row["messages"]
            first = wb.Session(instance, row["template"]).instructions
            assert told["content"] == first.replace(f"{wb.CANARY}\n\n", "")
            names = {tool["function"]["name"] for tool in row["tools"]}
            calls = [call["function"]["name"] for m in rest for call in m.get("tool_calls", ())]
            assert names.issuperset(calls)


def test_an_instance_of_the_evaluation_split_is_refused() -> None:
    suite = wb.load_suite("causallink/advanced")
    kept = next(iter(wb.Choice(suite, split="eval").once()))
    with pytest.raises(ValueError, match="evaluation split"):
        next(transcripts(suite, [kept]))


def test_the_command_writes_one_episode_a_line(tmp_path: Path) -> None:
    file = tmp_path / "episodes.jsonl"
    asked = ["data", "generate", "replayscm/small", "--n", "8", "--out", str(file)]
    run = CliRunner().invoke(app, [*asked, "--transcripts", "--template", "compact"])
    assert run.exit_code == 0, run.output
    rows = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    suite = wb.load_suite("replayscm/small")
    train = [suite[i] for i in range(8) if wb.part_of(suite, suite[i]) == "train"]
    assert 0 < len(train) < 8
    assert [row["instance"]["id"] for row in rows] == [instance.id for instance in train]
    assert {row["template"] for row in rows} == {"compact"}
    run = CliRunner().invoke(app, [*asked, "--template", "compact"])
    assert run.exit_code == 2
