"""Judge scores corrected by the exam: the interval covers the truth where the raw one does not."""

import math
from functools import cache
from statistics import fmean

import numpy as np
import pytest

from whybench.core.seeds import Stream
from whybench.families.recite.generate import Order, made
from whybench.families.recite.judging.correction import corrected
from whybench.families.recite.judging.credit import Point, points
from whybench.families.recite.judging.exam import Paper, paper
from whybench.families.recite.judging.judged_report import (
    Exam,
    JudgeScores,
    examined,
    judged_report,
)
from whybench.families.recite.judging.labels import Field
from whybench.families.recite.judging.marking import Sitting
from whybench.families.recite.judging.scripted import Chooses, always_strong, judged_by, perfect
from whybench.families.recite.plan import Shares

LEVELS = np.array([0.0, 0.5, 1.0])
LENIENT = np.cumsum([[0.6, 0.2, 0.2], [0.1, 0.4, 0.5], [0.02, 0.08, 0.9]], axis=1)
"""What a lenient judge makes of credits 0, 0.5 and 1: cumulated chances of giving each."""


def judged_groups(stream: Stream, groups: int, size: int, mix: tuple[float, ...]) -> list:
    """Draw groups of elements, of unlike quality, with the credit that is right and that given."""
    tilt = stream.uniforms(groups)[:, None] * 0.3 - 0.15
    chance = np.cumsum(np.array(mix) + tilt * np.array([1, 0, -1]), axis=1)
    right = (stream.uniforms(groups * size).reshape(groups, size, 1) >= chance[:, None, :2]).sum(2)
    luck = stream.uniforms(groups * size).reshape(groups, size, 1)
    given = (luck >= LENIENT[right][:, :, :2]).sum(2)
    return [
        [Point(float(x), float(y)) for x, y in zip(LEVELS[a], LEVELS[b], strict=True)]
        for a, b in zip(right, given, strict=True)
    ]


@pytest.mark.parametrize(("papers", "answers"), [(20, 30), (12, 60)])
def test_the_corrected_interval_covers_the_truth_and_the_raw_one_does_not(
    papers: int, answers: int
) -> None:
    runs, covered, raw = 120, 0, 0
    for run in range(runs):
        stream = Stream("coverage", papers, run)
        exam = judged_groups(stream, papers, 15, (0.35, 0.3, 0.35))
        # Better answers than those of the exam: a plain shift by its bias would be wrong.
        judged = judged_groups(stream, answers, 12, (0.2, 0.3, 0.5))
        scores = [fmean(point.given for point in held) for held in judged]
        found = corrected(scores, None, exam, Stream("draws", run), draws=200)
        truth = 0.3 * 0.5 + 0.5
        covered += found.low <= truth <= found.high
        raw += found.judged.low <= truth <= found.judged.high
    assert 0.91 <= covered / runs <= 0.99
    assert raw / runs < 0.1


def test_with_credits_of_nought_and_one_it_is_rogan_and_gladen() -> None:
    wrong = [Point(0.0, float(k < 3)) for k in range(10)]  # 30 % of the wrong are let pass
    right = [Point(1.0, float(k < 8)) for k in range(10)]  # 80 % of the right are seen
    found = corrected([0.5, 0.6], None, [wrong, right], Stream("rg"))
    sensitivity, specificity = 0.8, 0.7
    assert found.estimate == pytest.approx(
        (0.55 + specificity - 1) / (sensitivity + specificity - 1)
    )
    assert (found.offset, found.slope) == (pytest.approx(0.3), pytest.approx(0.5))


def test_a_judge_without_errors_is_left_alone() -> None:
    exam = [[Point(x, x) for x in (0.0, 0.5, 1.0)]] * 12
    found = corrected([0.2, 0.4, 0.9, None, math.nan], None, exam, Stream("same"))
    assert found.estimate == pytest.approx(0.5)
    assert found.bias == 0
    assert found.judged.n == 3
    assert found.low < 0.5 < found.high


def test_a_judge_that_tells_nothing_apart_leaves_everything_open() -> None:
    exam = [[Point(x, 1.0) for x in (0.0, 0.5, 1.0)]] * 12
    found = corrected([1.0] * 30, None, exam, Stream("flat"))
    assert not found.usable
    assert math.isnan(found.estimate)
    assert (found.low, found.high) == (0.0, 1.0)


def test_the_exam_s_own_uncertainty_widens_the_interval() -> None:
    few = judged_groups(Stream("few"), 6, 15, (0.35, 0.3, 0.35))
    many = judged_groups(Stream("many"), 200, 15, (0.35, 0.3, 0.35))
    scores = [0.6 + 0.01 * (k % 7) for k in range(100)]
    wide, narrow = (corrected(scores, None, exam, Stream("width")) for exam in (few, many))
    assert wide.high - wide.low > 2 * (narrow.high - narrow.low)
    assert narrow.high - narrow.low > narrow.judged.high - narrow.judged.low
    assert wide.few
    assert not narrow.few


def test_clusters_count_and_the_same_stream_gives_the_same_interval() -> None:
    exam = judged_groups(Stream("exam"), 40, 15, (0.35, 0.3, 0.35))
    scores = [k % 10 / 10 for k in range(100)]
    alone = corrected(scores, None, exam, Stream("c"))
    together = corrected(scores, [k % 10 for k in range(100)], exam, Stream("c"))
    assert together.high - together.low > 1.5 * (alone.high - alone.low)
    assert together == corrected(scores, [k % 10 for k in range(100)], exam, Stream("c"))


@cache
def papers(salt: str, count: int) -> list[Paper]:
    shares = Shares(0.7, 0.177, 0.4, 0.2)
    return [
        paper(made(Order("short", salt, k, shares, field="water")), Stream(salt, k), f"{salt}{k}")
        for k in range(count)
    ]


def lenient(stream: Stream) -> Chooses:
    """Give the best label instead of the right one, two times in five."""

    def chooses(field: Field, right: tuple[str, ...]) -> str:
        pleased = stream.uniform() < 0.4
        return always_strong(field, right) if pleased else perfect(field, right)

    return chooses


def sittings(judge: Chooses, salt: str, count: int) -> list[Sitting]:
    return [(one, judged_by(judge, one)) for one in papers(salt, count)]


def mean(found: list[list[Point]], side: str) -> list[float]:
    return [
        sum(p.weight * getattr(p, side) for p in held) / sum(p.weight for p in held)
        for held in found
    ]


def test_a_lenient_judge_of_real_papers_is_put_right_on_other_papers() -> None:
    exam = examined("lenient", sittings(lenient(Stream("l", 1)), "sat", 30))
    others = points(sittings(lenient(Stream("l", 2)), "others", 30))
    names = ("graph_precision", "recall", "unweighted_precision", "unweighted_recall", "node_f1")
    scores = JudgeScores("lenient", {name: mean(others[name], "given") for name in names})
    table = judged_report(scores, exam)
    for name in names:
        truth, found = fmean(mean(others[name], "right")), table.scores[name]
        assert found.bias > 0.05, name
        assert found.judged.low > truth, name
        assert found.low <= truth <= found.high, name
        assert abs(found.estimate - truth) < abs(found.judged.estimate - truth) / 2, name


def test_points_of_a_perfect_judge_are_right_and_an_unread_pass_leaves_its_scores_out() -> None:
    found = points(sittings(perfect, "sat", 5))
    assert {"f1", "precision", "recall", "node_precision", "judged_edge_f1"} <= set(found)
    assert all(p.right == p.given for held in found.values() for paper in held for p in paper)
    one = papers("sat", 1)[0]
    unread = points([(one, {**judged_by(perfect, one), "node_recall": None})])
    assert "node_recall" not in unread
    assert "f1" not in unread
    assert "precision" in unread


def exam_of(judge: str, chooses: Chooses = perfect) -> Exam:
    return examined(judge, sittings(chooses, "sat", 5))


def test_scores_without_the_judge_s_own_exam_are_refused() -> None:
    scores = JudgeScores("openai/gpt-x", {"f1": [0.4, 0.5]})
    with pytest.raises(ValueError, match=r"recite_exam --model openai/gpt-x"):
        judged_report(scores, None)
    with pytest.raises(ValueError, match="cannot rest on the exam of other/judge"):
        judged_report(scores, exam_of("other/judge"))
    with pytest.raises(ValueError, match="says nothing of judged_shd"):
        judged_report(JudgeScores("a/b", {"judged_shd": [3.0]}), exam_of("a/b"))


def test_the_table_shows_scores_exam_and_a_judge_that_is_always_pleased() -> None:
    scores = JudgeScores("a/b", {"recall": [0.4, 0.5, 0.9]}, clusters=["x", "x", "y"])
    fine = judged_report(scores, exam_of("a/b")).markdown()
    assert "| recall | 0.600 [" in fine
    assert "few papers" in fine
    assert "| presence |" in fine
    pleased = judged_report(scores, exam_of("a/b", always_strong)).markdown()
    assert "does not tell good from bad" in pleased
    assert "one label always" in pleased
    assert "strong_match" in pleased
