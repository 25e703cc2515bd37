"""Judge scores corrected by the exam: the interval covers the truth where the raw one does not."""

import math
from functools import cache
from statistics import fmean

import numpy as np
import pytest

from whybench.causal.seeds import Stream
from whybench.families.recite.extras.judge.credit import points
from whybench.families.recite.extras.judge.exam.papers import paper
from whybench.families.recite.extras.judge.exam_task import JUDGE
from whybench.families.recite.extras.judge.labels import LABELS, PASSES
from whybench.families.recite.parameters import Shares
from whybench.families.recite.world.generate import Order, made
from whybench.judge.correction import corrected
from whybench.judge.credit import Point
from whybench.judge.judged_report import (
    Exam,
    JudgeScores,
    examined,
    judged_report,
)
from whybench.judge.label_judge import Paper, Sitting
from whybench.judge.labels import Field
from whybench.judge.scripted import Chooses, always_strong, judged_by, perfect

pytestmark = pytest.mark.slow  # judges are models of the engine

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


def coverage(papers: int, answers: int, mix: tuple[float, ...]) -> tuple[float, float, float]:
    """Return how often the corrected and the raw interval hold the truth, and the mean width."""
    runs, covered, raw, width = 120, 0, 0, 0.0
    for run in range(runs):
        stream = Stream("coverage", papers, run)
        exam = judged_groups(stream, papers, 15, (0.35, mix[1], 0.65 - mix[1]))
        # Other answers than those of the exam: a plain shift by its bias would be wrong.
        judged = judged_groups(stream, answers, 12, mix)
        scores = [fmean(point.given for point in held) for held in judged]
        found = corrected(scores, None, exam, Stream("draws", run), draws=200)
        truth = mix[1] * 0.5 + mix[2]
        covered += found.low <= truth <= found.high
        raw += found.judged.low <= truth <= found.judged.high
        width += found.high - found.low
    return covered / runs, raw / runs, width / runs


@pytest.mark.slow
@pytest.mark.parametrize(("papers", "answers"), [(20, 30), (12, 60)])
def test_the_corrected_interval_covers_the_truth_and_the_raw_one_does_not(
    papers: int, answers: int
) -> None:
    covered, raw, _ = coverage(papers, answers, (0.45, 0.0, 0.55))
    assert 0.9 <= covered <= 0.99
    assert raw < 0.1


def test_with_three_levels_the_interval_is_wider_as_the_mix_is_unknown() -> None:
    covered, raw, width = coverage(20, 30, (0.2, 0.3, 0.5))
    assert covered >= 0.97
    assert raw < 0.1
    assert width < 0.35


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
def papers(seed: str, count: int) -> list[Paper]:
    shares = Shares(0.877, 0.4, 0.2)
    return [
        paper(made(Order("short", seed, k, shares, field="water")), Stream(seed, k), f"{seed}{k}")
        for k in range(count)
    ]


def lenient(stream: Stream) -> Chooses:
    """Give the best label instead of the right one, two times in five."""

    def chooses(field: Field, right: tuple[str, ...]) -> str:
        pleased = stream.uniform() < 0.4
        return always_strong(field, right) if pleased else perfect(field, right)

    return chooses


def sittings(judge: Chooses, seed: str, count: int) -> list[Sitting]:
    return [(one, judged_by(judge, LABELS, one.key)) for one in papers(seed, count)]


def mean(found: list[list[Point]], side: str) -> list[float]:
    return [
        sum(p.weight * getattr(p, side) for p in held) / sum(p.weight for p in held)
        for held in found
    ]


@pytest.mark.slow
def test_a_lenient_judge_of_real_papers_is_put_right_on_other_papers() -> None:
    exam = examined(JUDGE, "lenient", sittings(lenient(Stream("l", 1)), "sat", 30))
    others = points(sittings(lenient(Stream("l", 2)), "others", 30))
    names = (
        "graph_precision", "recall", "unweighted_precision", "unweighted_recall", "node_precision",
        "node_recall", "node_f1",
    )  # fmt: skip
    scores = JudgeScores(JUDGE, "lenient", {name: mean(others[name], "given") for name in names})
    table = judged_report(scores, exam)
    for name in names:
        truth, found = fmean(mean(others[name], "right")), table.scores[name]
        assert found.bias > 0.05, name
        assert found.judged.low > truth, name
        assert found.low <= truth <= found.high, name
        assert abs(found.estimate - truth) < abs(found.judged.estimate - truth) / 2, name


BLUR = {
    "MODERATE": "STRONG", "PARTIAL": "COMPLETE", "MINIMAL": "COMPLETE", "BROADER": "ALIGNED",
    "NARROWER": "ALIGNED", "WEAK": "STRONG", "WEAK_MATCH": "STRONG_MATCH",
}  # fmt: skip


def blurs(field: Field, right: tuple[str, ...]) -> str:
    """Give the best label for anything that has a counterpart at all."""
    family, label = perfect(field, right).split("_", 1)
    better = f"{family}_{BLUR.get(label, label)}"
    return better if better in field.labels else perfect(field, right)


@pytest.mark.parametrize("kept", [0.0, 1.0])
def test_a_judge_that_blurs_levels_is_not_put_right_by_a_line_on_another_mix(kept: float) -> None:
    """Answers whose matches are all half right, or all wholly right: the judge sees no odds."""
    exam = examined(JUDGE, "blurs", sittings(blurs, "sat", 30))
    names = ("precision", "recall", "f1", "node_precision", "node_recall", "node_f1")
    truth = dict.fromkeys(names, 0.5 + 0.5 * kept)
    scores = JudgeScores(JUDGE, "blurs", {name: [1.0] * 40 for name in names})
    for name, found in judged_report(scores, exam).scores.items():
        assert found.low <= truth[name] <= found.high, name
        assert found.high - found.low > 0.4, name
    others = [one for one in papers("others", 30) if _mean_right(one, "recall") > 0.7]
    assert len(others) > 3
    judged = points([(one, judged_by(blurs, LABELS, one.key)) for one in others])
    mixed = JudgeScores(JUDGE, "blurs", {name: mean(judged[name], "given") for name in names})
    for name, found in judged_report(mixed, exam).scores.items():
        assert found.low <= fmean(mean(judged[name], "right")) <= found.high, name


def _mean_right(one: Paper, name: str) -> float:
    return mean(points([(one, judged_by(perfect, LABELS, one.key))])[name], "right")[0]


def test_f1_follows_from_precision_and_recall_and_answers_without_a_judge_stay_at_nought() -> None:
    exam = examined(JUDGE, "l", sittings(lenient(Stream("l", 1)), "sat", 30))
    values = {"precision": [0.8, 0.6, 0.7], "recall": [0.5, 0.7, 0.9], "f1": [0.6, 0.65, 0.8]}
    alone = judged_report(JudgeScores(JUDGE, "l", values), exam).scores
    f1, p, r = (alone[name] for name in ("f1", "precision", "recall"))
    assert f1.low < f1.estimate < f1.high
    assert min(p.estimate, r.estimate) - 0.05 < f1.estimate < max(p.estimate, r.estimate)
    with pytest.raises(ValueError, match="Give recall as well"):
        judged_report(JudgeScores(JUDGE, "l", {"precision": [0.4], "f1": [0.4]}), exam)
    padded = {name: [*held, 0.0, 0.0, 0.0] for name, held in values.items()}
    partly = JudgeScores(JUDGE, "l", padded, asked=[True] * 3 + [False] * 3)
    half = judged_report(partly, exam).scores
    for name, found in half.items():
        assert found.estimate == pytest.approx(alone[name].estimate / 2), name
    none = judged_report(JudgeScores(JUDGE, "l", {"recall": [0.0] * 4}, asked=[False] * 4), exam)
    assert none.scores["recall"].estimate == none.scores["recall"].high == 0


def test_a_mean_beyond_whatever_the_exam_shows_is_not_corrected() -> None:
    exam = [[Point(0.0, 0.1), Point(0.0, 0.3), Point(1.0, 0.5), Point(1.0, 0.7)]] * 12
    found = corrected([0.9, 0.95] * 10, None, exam, Stream("beyond"))
    assert (found.usable, found.beyond) == (False, True)
    assert math.isnan(found.estimate)
    assert (found.low, found.high) == (0.0, 1.0)
    one = corrected([0.9, 0.95], None, exam[:1], Stream("beyond"))
    assert one.beyond
    assert math.isnan(one.estimate)


def test_bounds_as_judged_stay_between_nought_and_one() -> None:
    exam = [[Point(x, x) for x in (0.0, 0.5, 1.0)]] * 12
    high = corrected([1.0, 1.0, 0.6], None, exam, Stream("high")).judged
    low = corrected([0.0, 0.0, 0.4], None, exam, Stream("low")).judged
    assert (high.high, low.low) == (1.0, 0.0)


def test_points_of_a_perfect_judge_are_right_and_an_unread_pass_leaves_its_scores_out() -> None:
    found = points(sittings(perfect, "sat", 5))
    assert {"f1", "precision", "recall", "node_precision", "judged_edge_f1"} <= set(found)
    assert all(p.right == p.given for held in found.values() for paper in held for p in paper)
    one = papers("sat", 1)[0]
    unread = points([(one, {**judged_by(perfect, LABELS, one.key), "node_recall": None})])
    assert "node_recall" not in unread
    assert "f1" not in unread
    assert "precision" in unread


def exam_of(judge: str, chooses: Chooses = perfect) -> Exam:
    return examined(JUDGE, judge, sittings(chooses, "sat", 5))


def test_scores_without_the_judge_s_own_exam_are_refused() -> None:
    scores = JudgeScores(JUDGE, "openai/gpt-x", {"f1": [0.4, 0.5]})
    with pytest.raises(ValueError, match=r"recite_exam --model openai/gpt-x"):
        judged_report(scores, None)
    with pytest.raises(ValueError, match="The exam of other/judge says nothing about"):
        judged_report(scores, exam_of("other/judge"))
    with pytest.raises(ValueError, match="does not cover judged_shd"):
        judged_report(JudgeScores(JUDGE, "a/b", {"judged_shd": [3.0]}), exam_of("a/b"))
    unread = examined(JUDGE, "a/b", [(one, dict.fromkeys(PASSES)) for one in papers("sat", 3)])
    with pytest.raises(ValueError, match="No pass in the exam"):
        judged_report(JudgeScores(JUDGE, "a/b", {}), unread)


def test_the_table_shows_scores_exam_and_a_judge_that_is_always_pleased() -> None:
    scores = JudgeScores(JUDGE, "a/b", {"recall": [0.4, 0.5, 0.9]}, clusters=["x", "x", "y"])
    fine = judged_report(scores, exam_of("a/b")).markdown()
    assert "| recall | 0.600 [" in fine
    assert "few papers" in fine
    assert "if the judge makes the same errors on similar elements" in fine
    assert "self-judged" not in fine
    assert "| presence |" in fine
    pleased = judged_report(scores, exam_of("a/b", always_strong)).markdown()
    assert "does not distinguish good from bad" in pleased
    assert "always one label" in pleased
    assert "strong_match" in pleased
    own = JudgeScores(JUDGE, "a/b", {"recall": [0.4, 0.5]}, self_judged=True)
    assert "self-judged" in judged_report(own, exam_of("a/b")).markdown()
