"""Rank agreement of scores: worked examples, and the paper's figures from its printed tables."""

import csv
import math
from pathlib import Path

import pytest

from whybench.families.recite.extras.analyses.ranks import (
    Move,
    means,
    places,
    rank_agreement,
    rank_agreements,
)
from whybench.families.recite.extras.analyses.table import table

PUBLISHED = Path(__file__).parents[4] / "shared" / "published" / "recite.csv"
needs_tables = pytest.mark.skipif(
    not PUBLISHED.is_file(), reason="the published tables lie outside the repository"
)


def test_means_are_over_what_is_scored() -> None:
    scores = {"s": {"a": 0.2, "b": 0.4, "c": math.nan}, "t": {"a": 0.9}, "u": {"a": None}}
    assert means(scores) == pytest.approx({"s": 0.3, "t": 0.9})
    assert means({"s": scores["s"], "t": scores["t"]}, shared=True) == {"s": 0.2, "t": 0.9}
    assert means(scores, shared=True) == {}
    with pytest.raises(ValueError, match="infinite"):
        means({"s": {"a": math.inf}})


def test_equal_scores_share_a_place_and_the_next_is_skipped() -> None:
    assert places({"s": 0.5, "t": 0.7, "u": 0.5, "v": 0.1}) == {"s": 2, "t": 1, "u": 2, "v": 4}


def test_one_swap_of_neighbours_among_n() -> None:
    """ρ falls by 12 / (n(n² - 1)), τ by 4 / (n(n - 1))."""
    n = 10
    before = {f"s{i}": float(-i) for i in range(n)}
    after = before | {"s3": before["s4"], "s4": before["s3"]}
    found = rank_agreement(before, after)
    assert found.rho.value == pytest.approx(1 - 12 / (n * (n * n - 1)))
    assert found.tau.value == pytest.approx(1 - 4 / (n * (n - 1)))
    assert found.moves == (Move("s3", 4, 5), Move("s4", 5, 4))


def test_only_systems_that_both_scores_have_are_ranked() -> None:
    found = rank_agreement({"s": 1, "t": 2, "u": 3, "v": 9}, {"s": 3, "t": 2, "u": 1, "w": 0})
    assert (found.rho.n, found.tau.n) == (3, 3)
    assert (found.rho.value, found.tau.value) == pytest.approx((-1, -1))
    assert [str(move) for move in found.moves] == ["u 1→3", "s 3→1"]


def test_every_two_scores_are_compared_and_print_as_a_table() -> None:
    up, down = {"s": 1.0, "t": 2.0, "u": 4.0}, {"s": 0.3, "t": 0.2, "u": 0.1}
    found = rank_agreements({"weighted": up, "unweighted": up, "deterministic": down})
    assert [(row.first, row.second, row.tau.value) for row in found] == [
        ("weighted", "unweighted", 1),
        ("weighted", "deterministic", -1),
        ("unweighted", "deterministic", -1),
    ]
    lines = table(found).splitlines()
    assert len(lines) == 5
    assert lines[2] == "| weighted | unweighted | 3 | 1.000 | 0.333 | 1.000 | 0.333 | none |"


# From the printed tables


def printed(number: str, metric: str = "f1") -> dict[str, float]:
    with PUBLISHED.open(encoding="utf-8", newline="") as file:
        return {
            row["system"]: float(row["value"])
            for row in csv.DictReader(file)
            if (row["table"], row["metric"]) == (number, metric)
        }


def both(number: str, other: str) -> dict[str, float]:
    first, second = printed(number), printed(other)
    return {system: (first[system] + second[system]) / 2 for system in first}


@needs_tables
def test_the_paper_ranks_by_the_mean_of_node_and_edge_f1() -> None:
    found = rank_agreement(printed("3"), both("10", "11"))
    assert (found.rho.n, round(found.rho.value, 3), round(found.tau.value, 3)) == (10, 0.915, 0.778)
    assert max(found.rho.p, found.tau.p) < 0.001
    assert [str(move) for move in found.moves] == [
        "GPT 5.2 2→4",
        "Gemini 3 Pro 3→2",
        "GLM 4.7 4→3",
        "Kimi K2 5→7",
        "DeepSeek R1 7→5",
    ]


@needs_tables
@pytest.mark.parametrize(
    ("table_", "rho", "tau"), [("10", 0.952, 0.867), ("11", 0.784, 0.674), ("4", 0.900, 0.809)]
)
def test_other_printed_f1_rank_otherwise(table_: str, rho: float, tau: float) -> None:
    """Unweighted edges alone, unweighted nodes alone, and the deterministic name-assisted score."""
    found = rank_agreement(printed("3"), printed(table_))
    assert (round(found.rho.value, 3), round(found.tau.value, 3)) == (rho, tau)
