"""`whybench dev new-family` writes a family that can be played, and rejects bad names."""

import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest
from typer.testing import CliRunner

from whybench.cli import app
from whybench.cli.new_family import EXAMPLE, example_folder, renamed
from whybench.episode.family import Family

MOST = 120
"""Lines of the example, with its blank lines, pyproject and card."""


def call(*words: str) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["dev", "new-family", *words])
    return done.exit_code, done.output


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Family]:
    code, said = call("water_pipes", "--into", str(tmp_path))
    assert code == 0, said
    folder = tmp_path / "whybench-water_pipes"
    assert str(folder) in said
    monkeypatch.syspath_prepend(folder)
    yield import_module("whybench_water_pipes.family").FAMILY
    for module in [name for name in sys.modules if name.startswith("whybench_water_pipes")]:
        del sys.modules[module]


def test_the_family_can_be_played_in_both_protocols(made: Family) -> None:
    suite = made.suite("panel", parameters={"switches": 5})
    for instance in [suite[index] for index in range(8)]:
        assert made.certify(instance).defects() == []
        episode = made.open(instance)
        talk = made.conversation(episode, "plain")
        for action in made.exact_run(instance).actions:
            turn = talk.turn()
            assert turn is not None
            assert '"flip"' in turn.prompt
            talk.reply(f"I think so.\n{talk.say(action)[0]}")
        assert talk.turn() is None
        assert episode.trace == made.exact_run(instance)
        values = made.score(instance, episode.trace).values
        assert (values["accuracy"], values["lucky"]) == (1, 0)


def test_a_right_guess_is_lucky_until_the_evidence_forces_it(made: Family) -> None:
    instance = made.suite("panel")[0]
    episode = made.open(instance)
    assert made.bits_left(episode) == 2
    [answer] = made.agent("oracle", instance)
    episode.step(answer)
    score = made.score(instance, episode.trace)
    assert score.labels["proof"] == "lucky"
    assert score.values.asdict() == {
        "accuracy": 1,
        "understood": 0,
        "lucky": 1,
        "premature": 0,
        "contradicted": 0,
        "experiments": 0,
        "regret": None,
        "bits_share": 0,
    }


def test_a_reply_that_names_no_action_is_an_error(made: Family) -> None:
    episode = made.open(made.suite("panel")[0])
    talk = made.conversation(episode, "plain")
    for text, code in [
        ("no object", "invalid_format"),
        ('{"action": ["flip"]}', "invalid_format"),
        ('{"action": "flip", "switch": "none"}', "invalid_action"),
    ]:
        talk.reply(text)
        assert episode.trace.steps[-1].observation.code == code
    assert talk.turn() is None


def test_nothing_of_the_example_is_left(made: Family, tmp_path: Path) -> None:
    files = [path for path in tmp_path.rglob("*") if path.suffix != ".pyc"]
    for path in files:
        assert EXAMPLE not in path.name.lower()
        assert path.is_dir() or EXAMPLE not in path.read_text("utf-8").lower()
    assert {path.name for path in files} > {"pyproject.toml", "family.toml", "card.md", "plain.md"}


def test_the_example_is_short() -> None:
    files = [path for path in example_folder().rglob("*") if path.suffix in {".py", ".toml", ".md"}]
    assert len(files) == 7
    assert sum(len(path.read_text("utf-8").splitlines()) for path in files) <= MOST


@pytest.mark.parametrize("name", ["Valves", "9valves", "two-words", "a__b", "class", "", "../up"])
def test_a_bad_name_is_rejected(name: str, tmp_path: Path) -> None:
    code, said = call(name, "--into", str(tmp_path))
    assert code == 2
    assert "lower-case letters" in said
    assert list(tmp_path.iterdir()) == []


def test_a_taken_name_is_rejected(tmp_path: Path) -> None:
    assert call("causallink", "--into", str(tmp_path)) == (
        2,
        "The name 'causallink' is already installed. Choose another one.\n",
    )
    (tmp_path / "whybench-valves").mkdir()
    code, said = call("valves", "--into", str(tmp_path))
    assert code == 2
    assert "already exists" in said


def test_the_class_gets_a_name_of_its_own() -> None:
    assert renamed("Wiring wiring", "water_pipes") == "WaterPipes water_pipes"
