"""Failure modes: exclusive and total over every combination of verdicts."""

import itertools
from collections import Counter

import pytest

from whybench.families.causalgame.extras.judge.modes import later_mode, mode
from whybench.families.causalgame.extras.judge.rubric import VERDICTS

IDS = ("CR1", "CR2", "CR3", "ED1", "RQ1", "DU1")
WEIGHTS = (5, 4, 2, 2, 2, 1)
ALL = [dict(zip(IDS, v, strict=True)) for v in itertools.product(VERDICTS, repeat=6)]
NONE = dict.fromkeys(IDS, 0.0)


def fits(six: dict[str, float], survival: float) -> list[str]:
    """Return all modes whose own condition holds, each written out without the others."""
    cr1, cr2, cr3, ed1, rq1, du1 = (
        six[key] * weight for key, weight in zip(IDS, WEIGHTS, strict=True)
    )
    cr = cr1 + cr2 + cr3
    total = cr + ed1 + rq1 + du1
    conditions = {
        "A": cr == 0 and ed1 < 1,
        "B": cr == 0 and ed1 >= 1,
        "C": total >= 16 * 9 / 22 and rq1 >= 1 and survival < 0.5,
        "D": cr < 5.5 and du1 >= 0.5,
        "E": cr <= 5.5 and ed1 <= 1 and rq1 <= 1 and du1 <= 0.5,
    }
    return [name for name, holds in conditions.items() if holds] or ["none"]


@pytest.mark.parametrize("survival", [0.0, 0.49, 0.5, 1.0])
def test_the_mode_is_the_first_that_fits_for_every_combination(survival: float) -> None:
    assert len(ALL) == 729
    found = Counter()
    for six in ALL:
        got = mode(six, survival)
        assert got == fits(six, survival)[0]
        found[got] += 1
    every = {"A", "B", "D", "E", "none"} | ({"C"} if survival < 0.5 else set())
    assert found.keys() == every


def test_precedence_matters_where_rules_overlap() -> None:
    overlapping = [six for six in ALL if len(fits(six, 0.3)) > 1]
    assert len(overlapping) > 100


def later_fits(six: dict[str, float]) -> list[str]:
    reasoning = six["CR1"] > 0 or six["CR2"] > 0 or six["CR3"] > 0
    good, mechanism = six["ED1"] in (0.5, 1), six["CR1"] in (0.5, 1)
    conditions = {
        "A": not good and not reasoning,
        "B": good and not mechanism,
        "C": six["DU1"] == 1 and not mechanism,
        "D": reasoning and min(six["ED1"], six["DU1"], six["RQ1"]) > 0,
    }
    return [name for name, holds in conditions.items() if holds] or ["other"]


def test_the_later_mode_is_the_first_that_fits_for_every_combination() -> None:
    found = Counter()
    for six in ALL:
        got = later_mode(six)
        assert got == later_fits(six)[0]
        found[got] += 1
    assert found.keys() == {"A", "B", "C", "D", "other"}


def test_examples_by_hand() -> None:
    assert mode(NONE, 0.9) == "A"
    assert mode(NONE | {"ED1": 0.5}, 0.2) == "B"
    good = dict.fromkeys(IDS, 1.0)
    assert (mode(good, 0.3), mode(good, 0.6)) == ("C", "none")
    # 2 + 2.5 + 2 points are 6.5, just below 9/22 of 16
    below = NONE | {"CR1": 0.5, "CR3": 1.0, "RQ1": 1.0}
    assert mode(below, 0.3) == "none"
    assert mode(below | {"DU1": 0.5}, 0.3) == "C"
    assert mode(below | {"DU1": 0.5}, 0.6) == "D"
    assert mode(NONE | {"CR2": 0.5, "ED1": 0.5, "RQ1": 0.5}, 0.3) == "E"


def test_means_of_several_judges_have_a_mode_too() -> None:
    third = dict.fromkeys(IDS, 1 / 3)
    assert mode(third, 0.3) == "E"
    assert later_mode(third) == "D"
