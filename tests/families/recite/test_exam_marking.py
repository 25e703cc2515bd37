"""The exam marked: it tells a perfect judge from one that guesses or is always pleased."""

import math
from functools import cache

import pytest

from whybench.causal.seeds import Stream
from whybench.families.recite.extras.judge.exam.papers import paper
from whybench.families.recite.extras.judge.labels import LABELS, PASSES
from whybench.families.recite.parameters import Shares
from whybench.families.recite.world.generate import Order, made
from whybench.judge.label_judge import Paper
from whybench.judge.labels import Field
from whybench.judge.marking import Report, marked
from whybench.judge.scripted import (
    Chooses,
    always_strong,
    guessing,
    judged_by,
    perfect,
)
from whybench.stats.agreement import cohen_kappa

pytestmark = pytest.mark.slow  # judges are models of the engine


@cache
def papers() -> list[Paper]:
    shares = Shares(0.877, 0.4, 0.2)
    return [
        paper(made(Order("short", "marking", k, shares, field="health")), Stream("mark", k), str(k))
        for k in range(20)
    ]


def report(chooses: Chooses) -> Report:
    return marked([(one, judged_by(chooses, LABELS, one.key)) for one in papers()], LABELS)


def test_a_perfect_judge_has_kappa_one_and_no_bias() -> None:
    found = report(perfect)
    for marks in (found.overall, *found.families.values(), *found.fields.values()):
        assert marks.accuracy == 1
        assert marks.kappa == pytest.approx(1)
        assert marks.bias == 0
        assert not marks.constant
        assert marks.key_rates == marks.judge_rates
    assert set(found.families) == set(LABELS.families)
    assert (found.papers, found.passes, found.unreadable) == (20, 80, 0)


def test_a_guessing_judge_has_kappa_about_zero_in_every_family() -> None:
    found = report(guessing(Stream("guess")))
    assert abs(found.overall.kappa) < 0.03
    for marks in found.families.values():
        assert abs(marks.kappa) < 0.12
        assert 0.2 < marks.accuracy < 0.5
        assert not marks.constant


def test_a_judge_that_is_always_pleased_is_named_by_its_base_rates() -> None:
    found = report(always_strong)
    for marks in (found.overall, *found.families.values()):
        assert marks.kappa == pytest.approx(0)
        assert marks.constant
        assert marks.constant_share == 1
        assert marks.bias > 0.2
    one = found.fields["node_recall.presence"]
    assert one.judge_rates == {"PRESENCE_STRONG_MATCH": 1.0}
    assert one.key_rates["PRESENCE_STRONG_MATCH"] < 0.8


def test_a_judge_that_is_never_pleased_has_a_bias_the_other_way() -> None:
    found = report(lambda field, right: field.nothing or field.labels[-1])
    assert found.overall.constant
    assert found.overall.bias < -0.2


def test_kappa_is_cohens_where_one_label_is_right() -> None:
    stream = Stream("half")

    def half(field: Field, right: tuple[str, ...]) -> str:
        return right[0] if right and stream.uniform() < 0.5 else stream.choice(field.labels)

    said = [(one, judged_by(half, LABELS, one.key)) for one in papers()]
    found = marked(said, LABELS).fields["edge_precision.graph_presence"]
    codes = {label: float(code) for code, label in enumerate(LABELS.values)}
    pairs = [
        (codes[entry["graph_presence"]], codes[one.key["edge_precision"][n]["graph_presence"][0]])
        for one, given in said
        for n, entry in (given["edge_precision"] or {}).items()
    ]
    assert found.n == len(pairs)
    cohen = cohen_kappa([a for a, _ in pairs], [b for _, b in pairs])
    assert found.kappa == pytest.approx(cohen, abs=1e-12)
    assert 0.3 < found.kappa < 0.7


def test_a_second_right_label_is_right_too() -> None:
    found = report(lambda field, right: right[-1] if right else field.labels[0])
    assert found.overall.accuracy == 1
    assert found.overall.kappa == pytest.approx(1)
    assert found.overall.bias == 0


def test_an_unread_pass_is_counted_apart_and_marks_only_what_was_read() -> None:
    said = [(one, {**judged_by(perfect, LABELS, one.key), "edge_recall": None}) for one in papers()]
    found = marked(said, LABELS)
    assert found.unreadable == pytest.approx(0.25)
    assert found.overall.accuracy == 1
    assert not any(name.startswith("edge_recall") for name in found.fields)
    nothing = marked([(one, dict.fromkeys(PASSES)) for one in papers()], LABELS)
    assert nothing.unreadable == 1
    assert nothing.overall.n == 0
    assert math.isnan(nothing.overall.kappa)
