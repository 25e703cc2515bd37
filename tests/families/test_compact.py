"""The template `compact` has every fact of the default template, in fewer characters."""

import re

import pytest

from whybench.episode.episode import play
from whybench.episode.instance import Instance
from whybench.episode.prompts.template import load_templates
from whybench.episode.registry import families, load_suite

SUITES = [
    *("causallink/advanced", "causallink/limited", "causalab/main_5", "causalab/quad_hard"),
    *("causalab/hidden_freq_2", "causalab/observed_5", "causalab/partial_4", "replayscm/hid_cert"),
    *("replayscm/rows", "replayscm/ord_ext", "replayscm/block", "replayscm/hid_roots"),
    *("replayscm/alt_hid", "replayscm/lab", "causalgame/antenna", "causalgame/weather"),
    *("prism/main", "prism/hidden", "prism/lab", "recite/short"),
]

WORD = re.compile(r"[^\W\d][\w-]*|\d+(?:\.\d+)?")


def words(text: str) -> set[str]:
    return set(WORD.findall(text))


def rows(text: str) -> list[str]:
    """Return the rows of tables of 0 and 1."""
    lines = (re.fullmatch(r"(?:\d+: )?([01][01* ]*)", line) for line in text.splitlines())
    return [line[1].replace(" ", "") for line in lines if line]


def texts(instance: Instance, template: str) -> list[str]:
    """Return the instructions and what the exact agent is shown."""
    family = families()[instance.family]
    episode = family.open(instance)
    played = family.exact_run(instance).actions
    seen = [episode.describe(episode.step(action), template) for action in played]
    return [family.open(instance).instructions(template), *seen]


@pytest.mark.parametrize("suite", SUITES)
def test_every_name_and_number_is_told(suite: str) -> None:
    """What an instance fills in, every number, and every row of a table is in both."""
    family, instance = load_suite(suite).family, load_suite(suite)[2]
    default = family.templates[0]
    episode = family.open(instance)
    long, short = (episode.instructions(name) for name in (default, "compact"))
    passages = load_templates(f"whybench.families.{family.name}.prompts")(default).passages
    filled = words(long) - words(" ".join(passages.values()))
    numbers = {word for word in words(long) if word[0].isdigit()}
    asked = (filled | numbers) - {"0", "1"}
    assert asked, "nothing to compare"
    assert asked <= words(short)
    assert rows(long) == rows(short)
    assert len(short) < len(long)


@pytest.mark.parametrize("suite", ["causalab/main_5", "replayscm/lab", "prism/lab"])
def test_observations_have_the_same_numbers(suite: str) -> None:
    instance = load_suite(suite)[1]
    default = families()[instance.family].templates[0]
    pairs = list(zip(texts(instance, default), texts(instance, "compact"), strict=True))[1:]
    for long, short in pairs:
        assert rows(long) == rows(short)
        assert re.findall(r"-?\d+\.\d+", long) == re.findall(r"-?\d+\.\d+", short)
    assert any(rows(long) or re.search(r"\d[.]\d", long) for long, _ in pairs)
    assert sum(len(short) for _, short in pairs) < sum(len(long) for long, _ in pairs)


def test_a_causallink_state_is_read_back() -> None:
    instance = load_suite("causallink/large")[1]
    family = families()["causallink"]
    episode = family.open(instance)
    trace = play(family.open(instance), family.agent("exact", instance, None))
    for step in trace.steps[:-1]:
        seen = episode.step(step.action)
        listed = re.fullmatch(r"moving: (.*)\. Left: \d+\.", episode.describe(seen, "compact"))
        assert listed is not None
        assert listed[1] == (", ".join(seen.data["on"]) or "none")
