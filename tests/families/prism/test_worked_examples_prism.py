"""The page with answers by hand: its texts are the code's, and its answers are exact."""

from pathlib import Path

import pytest
from tests.families.prism.drawn_worlds import placed
from tests.families.prism.worked_examples import EXAMPLES

from whybench.causal.version_space import VersionSpace
from whybench.families.prism.justification import fits, possible
from whybench.families.prism.prompts.surface import rules, template_named
from whybench.families.prism.rules import PrismEpisode
from whybench.families.prism.world.questions import verdict

PAGE = (Path(__file__).parents[3] / "docs" / "prism.md").read_text("utf-8")
SURFACES = ("table", "shapes", "board", "game", "prose")
SYSTEMS = {"do": 8, "direct": 3, "goal": 20, "ancestor": 6, "case": 3}
ENOUGH = {"do": (1,), "ancestor": (0, 2), "case": (0, 3, 5, 6)}
"""Trials that the derivation uses, from 0."""


@pytest.mark.parametrize("kind", EXAMPLES)
def test_the_page_has_the_problem_in_five_surfaces(kind: str) -> None:
    episode = PrismEpisode(placed(list(EXAMPLES).index(kind)), EXAMPLES[kind], 4)
    for template in SURFACES:
        assert f"```text\n{episode.situation(template)}\n```" in PAGE, template


def test_the_page_has_the_rules() -> None:
    for template in SURFACES:
        assert rules(template_named(template), EXAMPLES["do"]) in PAGE, template


@pytest.mark.parametrize("kind", EXAMPLES)
def test_the_answer_by_hand_is_the_exact_one(kind: str) -> None:
    world = EXAMPLES[kind]
    found = VersionSpace.of(world.space, world.rows, 1000)
    assert found is not None
    assert len(found) == SYSTEMS[kind]
    told = verdict(found, world.question, world.rows)
    assert told is not None
    assert (told.answer, told.posterior) == (world.answer, world.posterior)
    assert fits(world.space, world.truth, world.rows)
    assert f"(`{kind}`): {world.answer}" in PAGE
    if world.answer != "cannot":
        rows = [world.rows[t] for t in ENOUGH[kind]]
        assert not possible(world, rows, int(world.answer == "no"))
