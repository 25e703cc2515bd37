"""Users' own files of words: read with their hash, refused with the line that is wrong."""

import json
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from tests.tables import together

from whybench.episode.instance import Instance
from whybench.episode.prompts.template import template_fields
from whybench.episode.registry import families, load_suite
from whybench.families.causalab.prompts.wording import Wording as LabWording
from whybench.families.causalgame.prompts.wording import Wording as GameWording
from whybench.interfaces.session import Session
from whybench.interfaces.solve import solve

MINE = "extends: paper\n\nA note.\n\n## rules\nHere are $nouns: $$ and $start.\n"
THEME = """noun = "gadget"
nouns = "gadgets"
start = "wake"
stop = "calm"
on = "awake"
off = "asleep"
question = "Does a waking $x wake the $y?"
entities = ["ant", "bee", "cat", "dog", "eel", "fox", "gnu", "hen", "ibis", "jay", "kite", "lark"]
"""


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(tmp_path)

    def write(text: str, name: str = "mine.md") -> str:
        Path(name).write_text(text, "utf-8")
        return name

    return write


def first(**parameters: object) -> Instance:
    return load_suite("causallink/core", profile="published", parameters=parameters)[30]


def test_a_template_of_ones_own_is_used_with_its_hash(written: Any) -> None:
    session = Session(first(), written(MINE))
    assert session.instructions.startswith("Here are shapes: $ and move.")
    assert "What you observe at present" in session.instructions, "the rest is the paper's"
    name, _, found = session.template.partition("@")
    assert (name, len(found)) == ("mine.md", 12)
    assert Session(first(), session.template).template == session.template
    written(MINE.replace("Here", "There"))
    with pytest.raises(ValueError, match="has changed: its hash is"):
        Session(first(), session.template)


@together(
    ("text", "line", "why"),
    [
        (MINE.replace("$nouns", "$nounz"), 6, r"there is no field \$nounz"),
        (MINE.replace("$$", "$5"), 6, "without a name"),
        (MINE.replace("## rules", "## ruler"), 5, "no passage 'ruler'"),
        (MINE.replace("paper", "papyrus"), 1, "no template 'papyrus' to extend"),
        (MINE + "\n## rules\nAgain.\n", 8, "is there twice"),
        ("## rules\nAll.\n", 1, "passage 'answer' is missing"),
        ("", 1, "is missing"),
    ],
)
def test_a_bad_template_is_refused_with_its_line(
    written: Any, text: str, line: int, why: str
) -> None:
    with pytest.raises(ValueError, match=rf"mine\.md, line {line}: .*{why}"):
        Session(first(), written(text))


def test_a_file_that_cannot_be_read_is_refused(written: Any) -> None:
    with pytest.raises(ValueError, match=r"cannot read none\.md"):
        Session(first(), "none.md")
    Path("bytes.md").write_bytes(b"\xff\xfe")
    with pytest.raises(ValueError, match=r"cannot read bytes\.md"):
        Session(first(), "bytes.md")


def test_a_theme_of_ones_own_names_instances_by_its_hash(written: Any) -> None:
    instance = first(theme=written(THEME, "pets.toml"))
    assert str(instance.parameters["theme"]).startswith("pets.toml@")
    told = Session(instance).instructions
    assert "world of gadgets" in told
    assert "shape" not in told
    found = families()["causallink"].rebuilt(json.loads(json.dumps(instance.to_json())))
    assert found == instance
    results = list(solve(load_suite("causallink/core", parameters={"theme": "pets.toml"}), "exact"))
    assert {result.score.values["accuracy"] for result in results} == {1.0}


@together(
    ("old", "new", "line", "why"),
    [
        ('stop = "calm"', "stop = 3", 4, "`stop` must be a text"),
        ('stop = "calm"', 'stop = "wake"', 4, "must differ"),
        ('start = "wake"', 'start = "wake up"', 3, "one word"),
        ('on = "awake"\n', "", 1, "`on` is missing"),
        ('off = "asleep"', "off = ", 6, "Invalid value"),
        ("$y", "$z", 7, r"there is no field \$z"),
        (', "lark"', "", 8, "at least 12 entities"),
        ('"lark"', '"Ant"', 8, "all different"),
        ('"lark"', "7", 8, "must be a text"),
        ('noun = "', 'colour = "red"\nnoun = "', 1, "there is no key `colour`"),
    ],
)
def test_a_bad_theme_is_refused_with_its_line(
    written: Any, old: str, new: str, line: int, why: str
) -> None:
    assert THEME.count(old) == 1
    with pytest.raises(ValueError, match=rf"pets\.toml, line {line}: .*{why}"):
        first(theme=written(THEME.replace(old, new), "pets.toml"))


@pytest.mark.parametrize("family", ["causallink", "causalab", "causalgame", "replayscm", "recite"])
def test_an_agent_plays_in_the_words_of_a_file(family: str, written: Any) -> None:
    """The file has all passages of `paper`, as a user would write them."""
    found = families()[family]
    text = files(f"whybench.families.{family}.prompts") / "templates/paper.md"
    name = written(text.read_text("utf-8"))
    asked, agent = (
        ("antenna_trap", "random") if family == "causalgame" else (found.recommended[0], "exact")
    )
    suite = found.suite(asked, profile="published")
    for result in solve(suite, agent, [suite[0]], template=name):
        same = next(solve(suite, agent, [suite[0]], template="paper"))
        assert result.score == same.score
        assert Session(suite[0], name).instructions == Session(suite[0]).instructions


def test_fields_that_are_promised_everywhere_are_filled_everywhere() -> None:
    def promised(family: str) -> set[str]:
        fields = template_fields(f"whybench.families.{family}.prompts")
        return set.intersection(*(set(found) for found in fields.values()))

    link: Any = families()["causallink"].open(first())
    opened: Iterator[Any] = (
        families()[name].open(load_suite(path, profile="published")[0])
        for name, path in (("causalab", "causalab/main_4"), ("causalgame", "causalgame/all"))
    )
    lab, game = opened
    assert promised("causallink") == {*link.words()}
    assert promised("causalab") == {*LabWording(lab, "paper")._named}
    assert promised("causalgame") == {*GameWording(game, "paper")._named}
    assert promised("replayscm") == promised("recite") == set()
