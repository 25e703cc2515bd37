import pytest

from whybench.episode.skin import read_skin

FILES = {
    "base": "A note to readers.\n\n## one\nFirst $x.\n\n## two\nSecond.\n",
    "child": "extends: base\n\nAnother note.\n\n## two\nOther $x.\n",
}


def test_a_skin_extends_another() -> None:
    skin = read_skin("child", FILES.__getitem__)
    assert skin.say("one", x="thing") == "First thing."
    assert skin.say("two", x="thing", unused=1) == "Other thing."
    assert not any("note" in passage for passage in skin.passages.values())


def test_a_missing_word_is_an_error() -> None:
    with pytest.raises(KeyError):
        read_skin("base", FILES.__getitem__).say("one")
