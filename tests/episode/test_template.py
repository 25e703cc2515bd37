import pytest

from whybench.episode.prompts.template import read_template

FILES = {
    "base": "A note to readers.\n\n## one\nFirst $x.\n\n## two\nSecond.\n",
    "child": "extends: base\n\nAnother note.\n\n## two\nOther $x.\n",
}


def test_a_template_extends_another() -> None:
    template = read_template("child", FILES.__getitem__)
    assert template.say("one", x="thing") == "First thing."
    assert template.say("two", x="thing", unused=1) == "Other thing."
    assert not any("note" in passage for passage in template.passages.values())


def test_a_missing_word_is_an_error() -> None:
    with pytest.raises(KeyError):
        read_template("base", FILES.__getitem__).say("one")
