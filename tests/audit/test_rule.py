"""The rule: each condition decides alone, and only as far as it should."""

from dataclasses import replace
from itertools import product
from math import nan
from typing import Any

import pytest

from whybench.audit.limits import Limits
from whybench.audit.rule import (
    RULE,
    VERDICTS,
    Case,
    Findings,
    Measured,
    corrected_level,
    in_doubt_kept,
    judged,
    worse,
)
from whybench.audit.run import Order, check_names
from whybench.episode.registry import families

LIMITS = Limits(0.1, 0.2, named={"memory": 0.05}, also={"edges": 0.35}, exempt={"old": "warm-up"})
EXACT = Measured("exact", None, 0.95, 0.9, 0.99, 100)
GUESSERS = (
    Measured("constant", 0, 0.05, 0.03, 0.08, 1000),
    Measured("constant", 0, 0.2, 0.1, 0.3, 1000, metric="edges"),
    Measured("search", None, 0.15, 0.1, 0.2, 1000),
    Measured("search", None, 0.9, 0.85, 0.95, 1000, metric="edges"),
    Measured("memory", 0, 0.04, 0.02, 0.06, 1000),
    Measured("reader", 0, 0.9, 0.85, 0.95, 1000, counts=False, reason="it knows the answer"),
)
GOOD = Case("new", LIMITS, EXACT, GUESSERS)
RELATIVE = replace(GOOD, limits=Limits(relative=0.5))


def with_guesser(case: Case, name: str, metric: str = "", **values: Any) -> Case:
    changed = [
        replace(one, **values) if (one.name, one.metric) == (name, metric) else one
        for one in case.guessers
    ]
    return replace(case, guessers=tuple(changed))


def with_exact(case: Case, **values: float) -> Case:
    return replace(case, exact=replace(case.exact, **values))


def found(**values: Any) -> Case:
    return replace(GOOD, findings=Findings(**values))


ONE_BROKEN = {
    "a wrong claim": (found(wrong_claims=("x",)), "FAIL"),
    "a leak": (found(leaks=("x",)), "FAIL"),
    "a prompt that misleads": (found(obedient=("x",)), "FAIL"),
    "a guesser above exact": (found(above_exact=("x",)), "FAIL"),
    "memory gains": (found(memory_gain=(0.06, 0.01)), "FAIL"),
    "no battery": (found(no_battery=True), "WEAK"),
    "a guesser without experiments above its limit": (
        with_guesser(GOOD, "constant", estimate=0.11),
        "WEAK",
    ),
    "its upper bound": (with_guesser(GOOD, "constant", high=0.151), "WEAK"),
    "its upper bound is not a number": (with_guesser(GOOD, "constant", high=nan), "WEAK"),
    "a guesser with experiments": (with_guesser(GOOD, "search", estimate=0.21), "WEAK"),
    "upper bound of a guesser with experiments": (with_guesser(GOOD, "search", high=0.26), "WEAK"),
    "a guesser with a limit of its own": (with_guesser(GOOD, "memory", estimate=0.06), "WEAK"),
    "another metric": (with_guesser(GOOD, "constant", "edges", estimate=0.36), "WEAK"),
    "upper bound of another metric": (with_guesser(GOOD, "constant", "edges", high=0.41), "WEAK"),
    "exact is low": (with_exact(GOOD, estimate=0.79), "WEAK"),
    "exact is uncertain": (with_exact(GOOD, low=0.74), "WEAK"),
    "exact has no lower bound": (with_exact(GOOD, low=nan), "WEAK"),
    "the gap": (replace(GOOD, limits=replace(LIMITS, gap=0.81)), "WEAK"),
    "half of exact": (with_guesser(RELATIVE, "search", estimate=0.48), "WEAK"),
    "upper bound of half of exact": (with_guesser(RELATIVE, "search", high=0.53), "WEAK"),
    "no guesser counts": (replace(GOOD, guessers=GUESSERS[-1:]), "WEAK"),
}
ALL_KEPT = {
    "good": GOOD,
    "at every limit": with_guesser(
        with_guesser(GOOD, "constant", estimate=0.1, high=0.15), "search", estimate=0.2, high=0.25
    ),
    "exact at its least": with_exact(GOOD, estimate=0.8, low=0.75),
    "gap at its least": replace(GOOD, limits=replace(LIMITS, gap=0.8)),
    "two answers": with_guesser(
        replace(GOOD, limits=Limits(0.55, 0.6, gap=0.35)), "constant", estimate=0.55, high=0.59
    ),
    "memory gains little": found(memory_gain=(0.05, 0.01)),
    "memory may gain nothing": found(memory_gain=(0.06, 0.0)),
    "memory loses": found(memory_gain=(-0.3, -0.4)),
    "relative": RELATIVE,
    "relative asks for no gap": with_guesser(
        with_exact(RELATIVE, estimate=0.84), "search", estimate=0.42, high=0.46
    ),
    "one with experiments may know the other metric": with_guesser(
        GOOD, "search", "edges", estimate=1.0, high=1.0
    ),
    "one that does not count may know all": with_guesser(GOOD, "reader", estimate=1.0, high=1.0),
}


@pytest.mark.parametrize("name", ALL_KEPT)
def test_a_suite_that_keeps_every_limit_passes(name: str) -> None:
    assert judged(ALL_KEPT[name]).verdict == "PASS"
    assert judged(ALL_KEPT[name]).reasons == ()


@pytest.mark.parametrize("name", ONE_BROKEN)
def test_one_broken_condition_decides_alone(name: str) -> None:
    case, verdict = ONE_BROKEN[name]
    assert judged(case).verdict == verdict
    assert len(judged(case).reasons) == 1
    assert sum(any(True for _ in one.breaches(case)) for one in RULE) == 1


def test_a_suite_is_weak_by_size_if_only_bounds_break_a_limit() -> None:
    by_size = {name for name, (case, _) in ONE_BROKEN.items() if judged(case).by_size}
    assert by_size == {name for name in ONE_BROKEN if "bound" in name} | {"exact is uncertain"}


def test_every_condition_is_broken_by_some_case() -> None:
    for condition in RULE:
        assert any(any(True for _ in condition.breaches(case)) for case, _ in ONE_BROKEN.values())


@pytest.mark.parametrize("name", ONE_BROKEN)
def test_an_exempt_suite_has_its_label_and_no_pass(name: str) -> None:
    case, verdict = ONE_BROKEN[name]
    limits = replace(case.limits, exempt={"old": "warm-up"})
    decided = judged(replace(case, suite="old", limits=limits))
    assert decided.label == "warm-up"
    assert decided.verdict == ("WEAK" if name == "memory gains" else verdict)


def test_an_exempt_suite_that_keeps_the_limits_passes() -> None:
    assert judged(replace(GOOD, suite="old")).verdict == "PASS"


def test_the_worst_condition_decides() -> None:
    for (_, (first, one)), (_, (second, other)) in product(ONE_BROKEN.items(), repeat=2):
        if first.findings != Findings() and second.findings == Findings():
            both = replace(second, findings=first.findings)
            assert judged(both).verdict == worse(one, other)


def test_the_floor_is_the_best_guesser_that_counts() -> None:
    assert GOOD.best is not None
    assert GOOD.best.name == "search"


@pytest.mark.parametrize(("size", "level"), [(0, 0.95), (1, 0.95), (5, 0.99), (50, 0.999)])
def test_bonferroni(size: int, level: float) -> None:
    assert corrected_level(range(size)) == pytest.approx(level)


def test_verdicts_are_in_order() -> None:
    assert VERDICTS == ("PASS", "WEAK", "FAIL")


@pytest.mark.parametrize(
    "declared",
    [{}, {"zero": 0.1}, {"zero": 0.1, "few": 0.1, "relative": 0.5}, {"zero": 1, "few": 1, "x": 1}],
)
def test_wrong_limits_are_refused(declared: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="audit"):
        Limits.of(declared)


@pytest.mark.parametrize("family", families())
def test_every_family_declares_limits_that_name_what_it_has(family: str) -> None:
    path = f"{family}/{next(iter(families()[family].suites))}"
    check_names(Order(path))
    assert Order(path).limits.to_json()


@pytest.mark.parametrize("name", ONE_BROKEN)
def test_in_the_best_light_only_certain_breaches_count(name: str) -> None:
    case, verdict = ONE_BROKEN[name]
    light = judged(in_doubt_kept(case)).verdict
    certain = case.findings != Findings() and not case.findings.above_exact
    assert light == (verdict if certain or name == "no guesser counts" else "PASS")


@pytest.mark.parametrize("name", ALL_KEPT)
def test_what_passes_also_passes_in_the_best_light(name: str) -> None:
    assert judged(in_doubt_kept(ALL_KEPT[name])).verdict == "PASS"


def test_in_the_best_light_a_certain_breach_still_counts() -> None:
    high = with_guesser(GOOD, "constant", estimate=0.3, low=0.2, high=0.4)
    assert judged(in_doubt_kept(high)).verdict == "WEAK"
    above = with_guesser(with_exact(found(above_exact=("search",)), high=0.96), "search", low=0.97)
    assert judged(in_doubt_kept(above)).verdict == "FAIL"
