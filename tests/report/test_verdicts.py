"""The sentences of the front page: each is said only where its rule allows it."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from tests.report.made_up_standings import FAMILIES, cell, gap, short_of, standings, system

from whybench.report.front.verdicts import answer, best, compared, knowing, title, verdict
from whybench.report.standings.model import Estimate, Gap, Pair

ASTER, BIRCH, CEDAR, DUNE = (
    system(name) for name in ("aster-large", "birch-think", "cedar-mini", "dune-135m")
)


def understood(one, value, low, high, right=90):
    cells = {name: replace(held, right=right) for name, held in one.cells.items()}
    return replace(one, understood=Estimate(value, low, high), cells=cells)


def alike(one, name):
    return replace(one, name=name)


@pytest.mark.parametrize(
    ("share", "right", "said"),
    [
        (Estimate(0.75, 0.5, 0.9), 20, "knows"),
        (Estimate(0.74, 0.6, 0.9), 20, "between"),
        (Estimate(0.8, 0.49, 0.9), 20, "between"),
        (Estimate(0.3, 0.1, 0.49), 20, "lucky"),
        (Estimate(0.3, 0.1, 0.5), 20, "between"),
        (Estimate(0.9, 0.8, 1.0), 19, "unsaid"),
        (Estimate(), 90, "unsaid"),
    ],
)
def test_what_may_be_said_of_a_share(share, right, said) -> None:
    assert knowing(share, right) == said


def test_the_best_system_and_what_it_knew() -> None:
    rest = (CEDAR, DUNE)
    assert answer(standings()) == "aster-large is best, and it mostly knew why."
    lucky = understood(ASTER, 0.3, 0.2, 0.4)
    assert answer(standings((lucky, *rest))) == "aster-large is best, but mostly by luck."
    some = understood(ASTER, 0.6, 0.5, 0.7)
    said = "aster-large is best, and it knew why about six times in ten."
    assert answer(standings((some, *rest))) == said
    few = understood(ASTER, 0.9, 0.8, 1.0, right=3)
    assert answer(standings((few, *rest))) == "aster-large is best."
    unknown = replace(ASTER, understood=Estimate())
    held = standings((unknown, *rest))
    assert answer(held) == "aster-large is best."
    assert "nan" not in str(verdict(held, unknown))
    assert "better than guessing" in answer(standings((unknown,)))


def test_the_best_of_systems_at_the_floor_is_not_praised() -> None:
    low = replace(DUNE, name="elm", overall=Estimate(-0.3, -0.4, -0.2))
    said = "dune-135m is best, but it is not shown to be better than guessing."
    assert answer(standings((DUNE, low))) == said


def test_without_a_best_system_the_leaders_are_named() -> None:
    near = alike(ASTER, "acer")
    held = standings((ASTER, near, CEDAR))
    assert best(held) is None
    assert answer(held) == "No system is shown to be best: aster-large and acer lead."
    assert answer(standings((ASTER, near))) == "No system is shown to be best."
    many = standings((ASTER, *(alike(ASTER, f"a{n}") for n in range(4)), CEDAR))
    assert answer(many) == "No system is shown to be best."


def test_one_system() -> None:
    way = "0.74 of the way from guessing to perfect."
    assert answer(standings((ASTER,))) == f"aster-large mostly knew why where it was right: {way}"
    lucky = understood(ASTER, 0.3, 0.2, 0.4)
    assert answer(standings((lucky,))) == f"aster-large was right mostly by luck: {way}"
    few = understood(ASTER, 0.3, 0.2, 0.4, right=1)
    assert answer(standings((few,))) == f"aster-large is better than guessing: {way}"
    assert answer(standings((DUNE,))) == "dune-135m is not shown to be better than guessing."


def test_a_first_look_is_called_one() -> None:
    said = "A first look: aster-large is best, and it mostly knew why."
    assert answer(standings(set="lite")) == said
    small = replace(DUNE, cells={**DUNE.cells, "prism": cell("prism", 0.0, None, clusters=29)})
    assert answer(standings((ASTER, BIRCH, CEDAR, small))) == said
    lead = standings((ASTER, alike(ASTER, "acer")), set="lite")
    assert answer(lead) == "A first look: no system is shown to be best."


def test_no_overall_verdict_without_all_families() -> None:
    five = short_of(ASTER, "recite")
    held = standings((BIRCH, CEDAR, five))
    said = "birch-think is best of the two systems run on all six families, but mostly by luck."
    assert answer(held) == said
    assert verdict(held, five) == (
        "was run on five of six families.",
        "No overall score: recite was not run.",
    )
    nobody = standings((five, short_of(BIRCH, "recite", "prism")))
    assert answer(nobody) == "No overall verdict, because no system was run on all six families."
    assert verdict(nobody, nobody.systems[1]).detail == (
        "No overall score: recite and prism were not run."
    )


def test_the_verdict_of_each_system() -> None:
    held = standings()
    assert [verdict(held, one) for one in held.systems] == [
        (
            "is right most often, and mostly knows why.",
            "Score 0.74 (0 is guessing, 1 perfect); 86 % of it follows from what it saw.",
        ),
        (
            "is often right, but mostly by luck.",
            "Score 0.67; only 43 % of it follows from what it saw.",
        ),
        (
            "is right less often, but mostly knows why.",
            "Score 0.38; 79 % of it follows from what it saw.",
        ),
        ("is not shown to be better than guessing.", "Score 0.02."),
    ]


def test_a_low_score_is_only_called_less_often_if_another_is_shown_to_be_better() -> None:
    alone = standings((CEDAR,))
    assert verdict(alone, CEDAR).head == "is sometimes right, and mostly knows why."
    lucky = understood(CEDAR, 0.3, 0.2, 0.4)
    held = standings((ASTER, lucky))
    assert verdict(held, lucky).head == "is right less often, and mostly by luck."


def test_too_few_right_answers_say_nothing_of_understanding() -> None:
    few = understood(BIRCH, 0.9, 0.8, 1.0, right=3)
    said = verdict(standings((ASTER, few)), few)
    assert said.head == "is often right."
    assert said.detail == "Score 0.67; too few right answers to say how much it understood."


@pytest.mark.parametrize(("share", "told"), [(0.1, True), (0.099, False)])
def test_a_tenth_of_unusable_replies_enters_the_verdict(share, told) -> None:
    cells = {name: replace(one, unusable=share) for name, one in DUNE.cells.items()}
    lost = replace(DUNE, cells=cells)
    assert lost.unusable == pytest.approx(share)
    said = "Score 0.02; 10 % of its episodes ended because a reply could not be used."
    assert (verdict(standings((ASTER, lost)), lost).detail == said) == told


def test_unusable_replies_are_weighted_by_episodes_and_may_be_unknown() -> None:
    cells = {"a": cell("a", 0.5, 0.5, unusable=1.0, episodes=10)}
    cells["b"] = cell("b", 0.5, 0.5, unusable=0.0, episodes=30)
    cells["c"] = cell("c", 0.5, 0.5, unusable=math.nan)
    assert replace(DUNE, cells=cells).unusable == 0.25
    none = replace(DUNE, cells={"c": cells["c"]})
    assert math.isnan(none.unusable)


def pair_of(first, second, overall, families) -> tuple:
    made = Pair(first.name, second.name, overall, families)
    return replace(standings((first, second)), pairs=(made,)), made


def test_pairs_in_words() -> None:
    held = standings()
    first, second, third = (held.pairs[place] for place in (0, 3, 5))
    assert compared(held, first) == (
        "Better overall by 0.07 (0.03 to 0.11), on causallink, causalgame and prism. "
        "No difference shown on replayscm, causalab and recite; on replayscm and causalab "
        "birch-think is right mostly by luck."
    )
    assert compared(held, second) == (
        "Better overall by 0.29 (0.25 to 0.33) and on all six families."
    )
    assert compared(held, third) == (
        "Better overall by 0.36 (0.32 to 0.40) and on all six families. "
        "dune-135m is not shown to be above the floor on any family."
    )
    assert [title(pair) for pair in held.pairs] == ["over"] * 6


def test_no_difference_is_never_called_equal() -> None:
    wide = gap(0.02, 0.1)
    held, pair = pair_of(ASTER, CEDAR, wide, dict.fromkeys(FAMILIES, wide))
    assert title(pair) == "and"
    assert compared(held, pair) == (
        "No difference shown overall: 0.02 (−0.08 to 0.12). No difference shown on any family."
    )


def test_level_means_an_interval_within_a_twentieth() -> None:
    near, over = gap(0.01, 0.04), Gap(Estimate(0.02, -0.02, 0.051), 0.4, 0.4, 9, 9)
    families = {**dict.fromkeys(FAMILIES[:5], over), "prism": near}
    held, pair = pair_of(ASTER, CEDAR, near, families)
    assert compared(held, pair) == (
        "About level overall: 0.01 (−0.03 to 0.05). About level on prism. "
        "No difference shown on causallink, replayscm, causalab, causalgame and recite."
    )


def test_a_family_on_which_the_second_is_better_is_named() -> None:
    families = {**dict.fromkeys(FAMILIES[:5], gap(0.3)), "prism": gap(-0.2)}
    held, pair = pair_of(ASTER, CEDAR, gap(0.2), families)
    assert compared(held, pair) == (
        "Better overall by 0.20 (0.16 to 0.24) and on five families. cedar-mini is better on prism."
    )
    held, pair = pair_of(ASTER, CEDAR, gap(-0.2), {})
    assert compared(held, pair) == "cedar-mini is better overall by 0.20 (0.16 to 0.24)."


def test_without_all_families_only_families_are_compared() -> None:
    held, pair = pair_of(ASTER, short_of(BIRCH, "prism"), None, {"recite": gap(0.3)})
    assert compared(held, pair) == "Better on recite. No overall comparison."
