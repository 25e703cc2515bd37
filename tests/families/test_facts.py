"""Prompts tell what `facts.toml` says that they tell, and no more than the paper."""

import pytest
from tests.families.facts import FAMILIES, Fact, card_of, carded, facts, told

from whybench.episode.prompts.conversation import Mendable
from whybench.episode.registry import families

ROWS = [(family, fact) for family in FAMILIES for fact in facts(family)]
every_row = pytest.mark.parametrize(
    ("family", "fact"), ROWS, ids=[f"{family}-{fact.fact}" for family, fact in ROWS]
)


@every_row
def test_a_row_says_what_prompts_tell(family: str, fact: Fact) -> None:
    for template, tells in fact.tells.items():
        assert fact.told_in(told(family, fact.suite, template)) == tells, template


@every_row
def test_a_pattern_finds_its_fact(family: str, fact: Fact) -> None:
    """A pattern that never matches would pass as a fact that is not told."""
    assert any(fact.tells.values()) or fact.told_in(fact.example), family


@every_row
def test_the_template_paper_tells_what_the_paper_or_its_code_tells(family: str, fact: Fact) -> None:
    ours = "yes" if fact.tells["paper"] else "no"
    assert ours in (fact.paper, fact.released) or fact.why, family


@pytest.mark.parametrize("family", FAMILIES)
def test_the_card_shows_the_table(family: str) -> None:
    card = card_of(family).read_text("utf-8")
    assert carded(family, card) == card


@pytest.mark.parametrize("family", FAMILIES)
def test_the_template_paper_is_the_default_of_published(family: str) -> None:
    found = families()[family]
    assert found.template_for("published") == "paper"
    assert found.template_for("certified") == found.templates[0]


THOUGHTS = "<think>First this, then that: {a} or {b}?</think>\nSo my answer is:\n"


@pytest.mark.parametrize("family", ["causallink", "causalab", "replayscm", "recite"])
def test_a_reply_that_thinks_aloud_is_scored_under_the_published_rules(family: str) -> None:
    """CausalGame has tools and programs, which stand apart from thoughts."""
    found = families()[family]
    suite = found.suite(found.recommended[0], profile="published")
    scores = []
    for before, after in (("", ""), (THOUGHTS, ""), (f"{THOUGHTS}```json\n", "\n```")):
        episode, moves = found.open(suite[0]), found.agent("exact", suite[0])
        talk = found.conversation(episode, "paper")
        action = next(moves)
        for _ in range(100):
            if talk.turn() is None:
                break
            text, run = talk.say(action)
            if isinstance(talk, Mendable):
                assert talk.broken(before + text + after) is None, "no second model is asked"
            talk.reply(before + text + after)
            if run and not episode.done:
                action = moves.send(episode.trace.steps[-1].observation)
        scores.append(found.scored(episode).values[found.headline])
    assert scores == [scores[0]] * 3
    assert scores[0] == 1
