"""Each analysis on examples small enough to work out by hand, then on the published tables."""

import csv
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from whybench.families.replayscm.extras.analyses import cohorts
from whybench.families.replayscm.extras.analyses.alternatives import (
    alternative_changes,
    alternative_problems,
    alternative_rates,
    is_alternative,
    solved_intersection,
)
from whybench.families.replayscm.extras.analyses.ambiguity import by_bits
from whybench.families.replayscm.extras.analyses.attempt import (
    Attempt,
    by_latent,
    mean,
    measured,
    pooled,
    rows,
)
from whybench.families.replayscm.extras.analyses.conditional import Conditional, change
from whybench.families.replayscm.extras.analyses.disclosure import (
    DISCLOSURE_STEPS,
    disclosure_deltas,
    paired_deltas,
)
from whybench.families.replayscm.extras.analyses.editing import (
    edit_depths,
    edit_locality,
    success_after_failure,
)
from whybench.families.replayscm.extras.analyses.funnel import FORM, GATES, funnels
from whybench.families.replayscm.extras.analyses.retention import retentions
from whybench.families.replayscm.extras.analyses.roots import (
    root_breakdown,
    root_conditioned,
    root_nested,
)
from whybench.families.replayscm.extras.analyses.support import (
    LADDERS,
    ORDER_GAPS,
    SUPPORT_STEPS,
    support_deltas,
    support_ladder,
)
from whybench.stats.interval import mean_interval, rate_interval

Number = float | None


def tried(pool: str, system: str = "s", **columns: Sequence[Number]) -> list[Attempt]:
    """Give attempts at latents m0, m1 … with one value of each metric for each."""
    lengths = {len(column) for column in columns.values()}
    assert len(lengths) == 1
    return [
        Attempt(system, pool, f"m{i}", {metric: column[i] for metric, column in columns.items()})
        for i in range(lengths.pop())
    ]


# Attempts


def test_what_does_not_apply_is_neither_zero_nor_a_condition_that_holds() -> None:
    attempt = Attempt("s", "block", "m1", {"a": None, "b": math.nan, "c": 0, "d": True})
    assert [attempt.value(name) for name in "abcde"] == [None, None, 0.0, 1.0, None]
    assert [attempt.holds(name) for name in "abcde"] == [False, False, False, True, False]


def test_attempts_are_values() -> None:
    one, same = (Attempt("s", "block", "m1", {"valid": 1}) for _ in range(2))
    assert one == same
    assert hash(one) == hash(same)
    assert one != Attempt("s", "block", "m1", {"valid": 0})


def test_groups_keep_the_order_of_first_appearance() -> None:
    attempts = [Attempt(s, p, "m", {}) for s, p in [("b", "y"), ("a", "x"), ("b", "x"), ("b", "y")]]
    assert list(rows(attempts)) == [("b", "y"), ("a", "x"), ("b", "x")]
    assert list(rows(pooled(attempts))) == [("all systems", "y"), ("all systems", "x")]


def test_means_are_over_what_applies_and_repeats_are_averaged() -> None:
    attempts = tried("block", valid=[1, 0, None])
    attempts += [Attempt("s", "block", "m0", {"valid": 0.5}), Attempt("s", "block", "m9", {})]
    assert mean(attempts, "valid") == 0.5
    assert mean(attempts, "unheard_of") is None
    assert by_latent(attempts, "valid") == {"m0": 0.75, "m1": 0.0}


def test_intervals_count_latents_and_suit_the_scale() -> None:
    attempts = tried("block", valid=[1, 0, 1], parent_shd=[0, 1, 1], depth=[1, 2, 5]) * 2
    latents = ["m0", "m1", "m2"] * 2
    assert measured(attempts, "valid") == rate_interval([1, 0, 1] * 2, latents)
    assert measured(attempts, "parent_shd") == mean_interval([0, 1, 1] * 2, latents)
    assert measured(attempts, "depth") == mean_interval([1, 2, 5] * 2, latents)


# Suppression


@pytest.mark.parametrize(
    ("numerator", "denominator", "shown"),
    [(0, 0, "–"), (1, 1, "*"), (0, 5, "*"), (5, 6, "0.833"), (0, 6, "0.000"), (58, 100, "0.580")],
)
def test_few_cases_are_suppressed(numerator: int, denominator: int, shown: str) -> None:
    found = Conditional(numerator, denominator)
    assert found.shown == shown
    assert found.suppressed == (shown == "*")
    assert found.rate == (numerator / denominator if denominator else None)


def test_a_change_needs_two_rates_that_can_be_shown() -> None:
    enough = Conditional(3, 6)
    assert change(enough, Conditional(6, 6)) == 0.5
    assert change(enough, Conditional(5, 5)) is None
    assert change(Conditional(0, 0), enough) is None


# Table C.1


def test_funnel_counts_each_loss_at_the_first_gate_it_failed() -> None:
    def reached(count: int, strict: Number) -> dict[str, Number]:
        gates: dict[str, Number] = {gate: float(i < count) for i, gate in enumerate(GATES)}
        return {FORM: strict, **gates}

    values = [reached(7, 1), reached(7, 0), reached(5, 0), reached(4, None), reached(0, 0)]
    attempts = [Attempt("s", "hid_match", f"m{i}", v) for i, v in enumerate(values)]
    [row] = funnels(attempts)
    assert row.n == 5
    assert [stage.name for stage in row.stages] == [FORM, *GATES]
    assert [stage.passed.numerator for stage in row.stages] == [1, 4, 4, 4, 4, 3, 2, 2]
    assert [stage.lost for stage in row.stages] == [0, 1, 0, 0, 0, 1, 1, 0]
    assert row.stage(FORM).passed.denominator == 4  # one system did not write text
    assert row.stage("valid").passed == Conditional(2.0, 5)


# Table D.1


def test_disclosure_deltas_are_first_minus_second_over_common_latents() -> None:
    attempts = tried("ord_match", train_exact=[1, 1, 1, 0], parent_shd=[0, 2, None, 4])
    attempts += tried("block", train_exact=[1, 0, 0], parent_shd=[1, 5, 9])
    attempts += tried("hid_match", train_exact=[0, 0, None, 0], parent_shd=[None] * 4)
    attempts += tried("block", "other", train_exact=[1], parent_shd=[1])
    found = disclosure_deltas(attempts, ["train_exact", "parent_shd"], resamples=200)
    assert [(d.first, d.second, d.metric, d.difference.n) for d in found] == [
        ("ord_match", "block", "train_exact", 3),
        ("ord_match", "block", "parent_shd", 2),
        ("block", "hid_match", "train_exact", 2),
        ("block", "hid_match", "parent_shd", 0),
        ("ord_match", "hid_match", "train_exact", 3),
        ("ord_match", "hid_match", "parent_shd", 0),
    ]
    estimates = [d.difference.estimate for d in found]
    assert estimates[:3] == pytest.approx([2 / 3, -2.0, 0.5])
    assert math.isnan(estimates[3])
    assert {d.system for d in found} == {"s"}
    first = found[0].difference
    assert first.p_value == 0.5  # two differences, both up: 2 of 4 sign patterns
    assert 0 <= first.low <= first.high == 1


def test_deltas_average_repeats_and_follow_the_seed() -> None:
    attempts = tried("a", x=[1, 1, 0.5]) + tried("a", x=[0, 1, 0.5]) + tried("b", x=[0, 0, 0.5])
    [one] = paired_deltas(attempts, [("a", "b")], ["x"], seed=3)
    assert one.difference.estimate == pytest.approx(0.5)
    assert one.difference.n == 3
    assert [one] == paired_deltas(attempts, [("a", "b")], ["x"], seed=3)


# Tables E.1, F.7, F.10


def test_support_ladder_climbs_each_disclosure() -> None:
    attempts = tried("ord_cert", train_exact=[1, 1]) + tried("ord_match", train_exact=[1, 0])
    attempts += tried("hid_cex", train_exact=[0, None]) + tried("block", train_exact=[1, 1])
    found = support_ladder(attempts, ["train_exact"])
    assert [(r.disclosure, r.level, r.pool, r.mean.estimate, r.mean.n) for r in found] == [
        ("ordered", "original", "ord_match", 0.5, 2),
        ("ordered", "certified", "ord_cert", 1.0, 2),
        ("hidden", "counterexamples", "hid_cex", 0.0, 1),
    ]


def test_support_deltas_are_later_minus_earlier_and_hidden_minus_ordered() -> None:
    assert SUPPORT_STEPS[0] == ("ord_ext", "ord_match")
    assert ORDER_GAPS[1] == ("hid_ext", "ord_ext")
    attempts = (
        tried("ord_match", x=[0, 0]) + tried("ord_ext", x=[1, 1]) + tried("hid_ext", x=[0, 1])
    )
    found = support_deltas(attempts, ["x"], resamples=100)
    assert [(d.first, d.second, d.difference.estimate) for d in found] == [
        ("ord_ext", "ord_match", 1.0),
        ("hid_ext", "ord_ext", -0.5),
    ]


# Tables C.4, F.3


def test_retention_is_a_ratio_of_means_and_conditions_on_exact_fits() -> None:
    attempts = tried(
        "ord_match",
        train_exact=[1] * 6 + [0, 0],
        train_world_exact=[1.0] * 6 + [0.5, 0.0],
        heldout_world_exact=[1.0, 1.0, 1.0, 0.5, 0.5, 0.5, 0.25, 0.0],
        heldout_exact=[1, 1, 1, 0, 0, 0, 0, 0],
    )
    attempts += tried(
        "ord_match", train_exact=[None], train_world_exact=[None], heldout_exact=[None]
    )
    [row] = retentions(attempts)
    assert row.n == 9
    assert row.train_exact == Conditional(6.0, 8)
    assert row.train_world_exact == 6.5 / 8
    assert row.heldout_world_exact == 4.75 / 8
    assert row.gap == pytest.approx(1.75 / 8)
    assert row.retention == pytest.approx(4.75 / 6.5)
    assert row.heldout_world_given_train_exact.shown == "0.750"
    assert row.heldout_exact_given_train_exact.shown == "0.500"


def test_retention_of_nothing_fitted_is_undefined() -> None:
    zero = [0.0, 0.0]
    [row] = retentions(
        tried("block", train_exact=zero, train_world_exact=zero, heldout_world_exact=[0.0, 0.25])
    )
    assert (row.gap, row.retention) == (-0.125, None)
    assert row.heldout_world_given_train_exact.shown == "–"
    [bare] = retentions([Attempt("s", "block", "m", {})])
    assert (bare.train_world_exact, bare.gap, bare.retention) == (None, None, None)


# Tables F.11 to F.14


def test_alternatives_are_exact_fits_that_are_not_the_gold_scm() -> None:
    def made(exact: Number, match: Number) -> Attempt:
        return Attempt("s", "ord_ext", "m", {"train_exact": exact, "latent_match": match})

    cases = [(1, 0), (1, 1), (0, 0), (0, None), (1, None), (None, None)]
    assert [is_alternative(made(*case)) for case in cases] == [True, *[False] * 5]
    [row] = alternative_rates(made(*case) for case in cases)
    assert row.per_attempt == Conditional(1.0, 4)  # the last two cannot be judged
    assert row.per_train_exact == Conditional(1.0, 2)
    assert row.per_train_exact.shown == "*"


def test_change_of_alternatives_is_after_minus_before() -> None:
    attempts = tried("hid_match", train_exact=[1] * 8, latent_match=[0] * 4 + [1] * 4)
    attempts += tried("hid_ext", train_exact=[1] * 4 + [0] * 4, latent_match=[0, 1, 1, 1] + [0] * 4)
    [row] = alternative_changes(attempts)
    assert (row.before.pool, row.after.pool) == ("hid_match", "hid_ext")
    assert row.per_attempt_change == 1 / 8 - 4 / 8
    assert row.before.per_train_exact.shown == "0.500"
    assert row.after.per_train_exact.shown == "*"


def test_solved_intersection_keeps_latents_exact_in_both() -> None:
    """The row of GPT-5.4 on Ord-Match in Table F.14: 44 solved both, 18 and 7 alternatives."""
    before = [1] * 58 + [0] * 42
    after = [1] * 44 + [0] * 14 + [1] * 19 + [0] * 23
    attempts = tried(
        "ord_match",
        train_exact=before,
        latent_match=[0] * 18 + [1] * 26 + [0] * 9 + [1] * 5 + [0] * 42,
    )
    attempts += tried(
        "ord_ext", train_exact=after, latent_match=[0] * 7 + [1] * 51 + [0] * 6 + [1] * 36
    )
    [row] = solved_intersection(attempts)
    assert row.solved_both == 44
    assert (row.before.shown, row.after.shown) == ("0.409", "0.159")
    assert row.rate_change == pytest.approx(-0.25)
    [rates, later] = alternative_rates(attempts)
    assert (rates.per_attempt.shown, rates.per_train_exact.shown) == ("0.270", "0.466")  # F.12
    assert (later.per_attempt.shown, later.per_train_exact.shown) == ("0.130", "0.206")


def test_solved_intersection_of_few_or_missing_problems() -> None:
    attempts = tried("ord_match", train_exact=[1, 1], latent_match=[0, 0])
    assert solved_intersection(attempts) == []
    [row] = solved_intersection(
        attempts + tried("ord_ext", train_exact=[0, 1], latent_match=[0, 1])
    )
    assert (row.solved_both, row.before.shown, row.rate_change) == (1, "*", None)
    [row] = solved_intersection(attempts + tried("ord_ext", train_exact=[0], latent_match=[0]))
    assert (row.solved_both, row.before.shown) == (0, "–")


def test_a_problem_has_an_alternative_if_any_system_found_one() -> None:
    attempts = tried("ord_ext", "one", train_exact=[1, 1, 0], latent_match=[0, 1, 0])
    attempts += tried("ord_ext", "two", train_exact=[1, 1], latent_match=[1, 0])
    attempts += tried("hid_ext", "two", train_exact=[1], latent_match=[None])
    groups = {"one": ["one"], "two": ["two", "absent"], "both": ["one", "two"]}
    found = alternative_problems(attempts, groups)
    assert [(p.pool, p.group, p.without, p.with_alternative.denominator) for p in found] == [
        ("ord_ext", "one", 2, 3),
        ("ord_ext", "two", 1, 2),
        ("ord_ext", "both", 1, 3),
    ]
    assert [p.group for p in alternative_problems(attempts)] == ["all systems"]


# Table G.1


def test_success_given_failure_uses_only_tried_sources() -> None:
    attempts = tried("hid_match", task_correct=[1, 0, 0, None, 0])
    attempts += tried("hid_match", task_correct=[0, 0, 1])  # a repeat: m2 is solved after all
    attempts += tried("alt_hid", joint_success=[1, 0, 1, 1, None, 1])
    attempts += tried("alt_ord", joint_success=[1])
    [row] = success_after_failure(attempts)
    assert (row.source, row.pool) == ("hid_match", "alt_hid")
    assert row.source_correct == Conditional(2.0, 3)
    assert row.joint_success == Conditional(2.0, 3)
    assert row.given_failure == Conditional(0.0, 1)


# Tables G.4, G.5


def edited(*edits: tuple[int, bool], success: Number = 1, valid: float = 1) -> Attempt:
    labels = {
        "edits": [
            {"variable": f"X{i}", "depth": depth, "same_parents": same}
            for i, (depth, same) in enumerate(edits)
        ],
        "depths": {0: 3, 1: 2, 2: 1, 3: 1, 5: 1},
    }
    return Attempt("s", "alt_ord", "m", {"alt_success": success, "valid": valid}, labels)


EDITED = [
    edited((1, False)),
    edited((2, True)),
    edited((2, True)),
    edited((3, False)),
    edited((5, True), (2, False)),
    edited((5, False)),
    edited((1, True), success=0),
    edited(success=0, valid=0),
]


def test_edit_locality_conditions_on_success() -> None:
    [row] = edit_locality([*EDITED, *tried("block", valid=[1])])
    assert (row.system, row.pool, row.valid, row.successes) == ("s", "alt_ord", 7, 6)
    assert row.one_variable == Conditional(5.0, 6)
    assert row.same_parents == Conditional(2.0, 6)
    assert row.changed_parents == Conditional(3.0, 6)


def test_edit_depths_join_three_and_deeper() -> None:
    one, two, deep = edit_depths(EDITED)
    assert [row.depth for row in (one, two, deep)] == ["1", "2", "3+"]
    assert one.changed == one.structure_changed == Conditional(1, 12)
    assert one.mechanism_only == Conditional(0, 12)
    assert two.changed == Conditional(3, 6)
    assert (two.structure_changed, two.mechanism_only) == (Conditional(1, 6), Conditional(2, 6))
    assert deep.changed == Conditional(3, 12)
    assert [row.share_of_changes for row in (one, two, deep)] == [
        Conditional(1, 7),
        Conditional(3, 7),
        Conditional(3, 7),
    ]
    assert deep.structure_among_changed == Conditional(2, 3)


def test_no_success_has_undefined_edits() -> None:
    attempts = [edited((1, True), success=0)]
    [row] = edit_locality(attempts)
    assert row.one_variable.shown == "–"
    assert {row.changed.shown for row in edit_depths(attempts)} == {"–"}


def test_a_success_without_labels_is_refused() -> None:
    bare = [Attempt("s", "alt_ord", "m7", {"alt_success": 1})]
    with pytest.raises(ValueError, match=r"alt_ord \(m7\) has no labels\['edits'\]"):
        edit_locality(bare)
    with pytest.raises(ValueError, match=r"no labels\['depths'\]"):
        edit_depths(bare)
    with pytest.raises(ValueError, match="its depth is 1 or more"):
        edit_depths([edited((0, True))])


# Tables G.6 to G.8


def rooted() -> list[Attempt]:
    """Nine attempts: seven root-exact (one invalid), a lucky wrong set, an unreadable set."""
    return tried(
        "hid_roots",
        valid=[1, 1, 1, 1, 1, 1, 0, 1, 0],
        root_set_exact=[1, 1, 1, 1, 1, 1, 1, 0, None],
        task_correct=[1, 1, 1, 0, 0, 0, 0, 0, 0],
        train_exact=[1, 1, 1, 0, 0, 0, 0, 1, 0],
        heldout_exact=[1, 0, 0, 0, 0, 0, 0, 0, 0],
        heldout_world_exact=[1, 0.75, 0.5, 0.25, 0, 0, 0, 0.5, 0],
        mechanism_train_exact=[1, 1, 1, 0, 0, 0, None, 1, None],
        mechanism_heldout_exact=[1, 0, 0, 0, 0, 0, None, 0, None],
        parent_f1=[1, 0.5, 0.5, 0.5, 0.5, 0, None, None, None],
        parent_map_exact=[1, 0, 0, 0, 0, 0, None, None, None],
    )


def test_root_breakdown_counts_every_attempt() -> None:
    [row] = root_breakdown([*rooted(), *tried("block", task_correct=[1])])
    assert row.task_correct == Conditional(3, 9)
    assert row.root_set_exact == Conditional(7, 9)
    assert row.mechanism_train_exact == Conditional(4, 9)
    assert row.mechanism_heldout_exact == Conditional(1, 9)


def test_root_conditioned_splits_right_from_wrong_sets() -> None:
    [row] = root_conditioned(rooted())
    assert row.root_set_exact == Conditional(7, 9)
    assert row.train_exact_given_root_exact == Conditional(3, 7)
    assert row.heldout_world_given_root_exact == Conditional(2.5, 7)
    assert row.heldout_exact_given_root_exact == Conditional(1, 7)
    assert row.train_exact_given_root_wrong == Conditional(1, 2)
    assert row.heldout_world_given_root_wrong == Conditional(0.5, 2)
    assert (row.train_failures, row.heldout_failures) == (4, 2)


def test_root_nested_leaves_out_root_exact_but_invalid() -> None:
    [row] = root_nested(rooted())
    assert row.valid == Conditional(7, 9)
    assert row.root_exact_and_valid == 6
    assert row.parent_f1 == Conditional(3.0, 6)
    assert row.parent_map_exact.shown == "0.167"
    assert row.train_exact == Conditional(3, 6)
    assert row.heldout_world_given_train_exact == Conditional(2.25, 3)
    assert row.heldout_world_given_train_exact.shown == "*"


# Bins by bits


def test_bits_on_an_edge_belong_below_it() -> None:
    attempts = tried("bits_4", bits=[0, 0.5, 2, 2.1, None, 9], train_exact=[1, 1, 0, 0, 1, None])
    found = by_bits(attempts, ["train_exact"], [0, 2])
    assert [(b.over, b.up_to, b.mean.n) for b in found] == [
        (-math.inf, 0, 1),
        (0, 2, 2),
        (2, math.inf, 1),
    ]
    assert [b.mean.estimate for b in found] == [1.0, 0.5, 0.0]


def test_bins_are_clustered_by_latent_across_pools() -> None:
    attempts = tried("bits_4", bits=[1, 1], x=[1, 0]) + tried("bits_8", bits=[1, 5], x=[1, 0])
    first, last = by_bits(attempts, ["x"], [2])
    assert first.mean == rate_interval([1, 0, 1], ["m0", "m1", "m0"])
    assert (last.mean.n, last.mean.clusters) == (1, 1)
    [empty, _] = by_bits(attempts, ["x"], [0.5])
    assert empty.mean.n == 0


def test_edges_must_rise() -> None:
    with pytest.raises(ValueError, match="edges must be increasing"):
        by_bits([], ["x"], [2, 2])
    assert [b.mean.n for b in by_bits(tried("p", bits=[1], x=[1]), ["x"], [])] == [1]


# Nothing in, nothing out


def test_no_attempts_give_no_rows() -> None:
    functions: Iterable[Any] = (
        funnels,
        disclosure_deltas,
        support_ladder,
        support_deltas,
        retentions,
        alternative_rates,
        alternative_changes,
        solved_intersection,
        alternative_problems,
        success_after_failure,
        edit_locality,
        edit_depths,
        root_breakdown,
        root_conditioned,
        root_nested,
    )
    assert all(function([]) == [] for function in functions)


# The published tables, recomputed from attempts that have the published counts

PUBLISHED = Path(__file__).parents[4] / "shared" / "published" / "replayscm.csv"
needs_tables = pytest.mark.skipif(
    not PUBLISHED.is_file(), reason="the published tables lie outside the repository"
)
Table = dict[tuple[str, str], dict[str, dict[str, str]]]


def published(table: str) -> Table:
    """(suite, system) → metric → row of the file."""
    found: Table = {}
    with PUBLISHED.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["table"] == table:
                found.setdefault((row["suite"], row["system"]), {})[row["metric"]] = row
    assert found
    return found


def count(row: Mapping[str, str], of: int) -> int:
    """The whole number behind a printed rate; 0 where it is not printed."""
    rate = float(row["value"] or 0)
    number = round(rate * of)
    assert abs(number - rate * of) <= 0.0011 * of
    return number


def agrees(found: Conditional, row: Mapping[str, str]) -> bool:
    """Whether a rate is shown as printed, up to the paper's double rounding."""
    if row["value"]:
        return abs(float(found.shown) - float(row["value"])) < 0.0015
    return found.shown == ("*" if row["note"].startswith("suppressed") else "–")


def ones(k: int, n: int) -> list[float]:
    return [1.0] * k + [0.0] * (n - k)


@needs_tables
def test_published_conditional_rates_and_their_suppression() -> None:
    """Table C.4."""
    attempts, table = [], published("C.4")
    for (pool, system), row in table.items():
        n, k = int(row["train_exact"]["n"]), int(row["n_train_exact"]["value"])
        attempts += tried(
            pool,
            system,
            train_exact=ones(k, n),
            heldout_exact=ones(count(row["heldout_exact_given_train_exact"], k), n),
            heldout_world_exact=[float(row["heldout_world_exact_given_train_exact"]["value"] or 0)]
            * n,
        )
    found = retentions(attempts)
    assert len(found) == 72
    for each in found:
        row = table[each.pool, each.system]
        assert agrees(each.train_exact, row["train_exact"])
        for name, rate in (
            ("heldout_exact_given_train_exact", each.heldout_exact_given_train_exact),
            ("heldout_world_exact_given_train_exact", each.heldout_world_given_train_exact),
        ):
            assert agrees(rate, row[name]), (each.pool, each.system, name)


@needs_tables
def test_published_deltas_follow_from_the_published_rates() -> None:
    """Table D.1 from Table D.2; TrainExact only, as HeldoutWorld there disagrees with C.4."""
    pools = {pool for step in DISCLOSURE_STEPS for pool in step}
    attempts: list[Attempt] = []
    for (pool, system), row in published("D.2").items():
        if pool in pools:
            attempts += tried(pool, system, train_exact=ones(count(row["train_exact"], 100), 100))
    found = {
        (f"{d.first}->{d.second}", d.system): d.difference
        for d in disclosure_deltas(attempts, ["train_exact"], resamples=50)
    }
    with PUBLISHED.open(encoding="utf-8", newline="") as file:
        printed = [
            line
            for line in csv.DictReader(file)
            if line["table"] == "D.1" and line["metric"] == "train_exact_delta"
        ]
    assert len(printed) == len(found) == 36
    for line in printed:
        difference = found[line["condition"], line["system"]]
        assert difference.estimate == pytest.approx(float(line["value"]), abs=1e-9)
        assert difference.n == int(line["n"])


@needs_tables
def test_published_support_ladder_with_its_missing_row() -> None:
    """Table F.7; Hid-CEx of GPT-5.4 has 99 rows."""
    table, attempts = published("F.7"), []
    for (pool, system), row in table.items():
        n = int(row["train_exact"]["n"])
        attempts += tried(pool, system, train_exact=ones(count(row["train_exact"], n), n))
    found = support_ladder(attempts, ["train_exact"])
    assert len(found) == len(table) == 54
    for rung in found:
        value = float(table[rung.pool, rung.system]["train_exact"]["value"])
        assert round(rung.mean.estimate, 3) == value
        assert rung.pool in LADDERS[rung.disclosure]
    assert {rung.mean.n for rung in found} == {99, 100}


@needs_tables
def test_published_alternative_problems() -> None:
    """Table F.11."""
    for (pool, _), row in published("F.11").items():
        n = int(row["any_alternative_rate"]["n"])
        without = {
            "llm": int(row["problems_no_llm_alternative"]["value"]),
            "symbolic": int(row["problems_no_symbolic_alternative"]["value"]),
            "any": int(row["problems_no_alternative_any_system"]["value"]),
        }
        attempts: list[Attempt] = []
        for system, none in without.items():
            match = [*[0.0] * (n - none), *[1.0] * none]
            attempts += tried(pool, system, train_exact=[1.0] * n, latent_match=match)
        groups = {"llm": ["llm"], "symbolic": ["symbolic"], "any": list(without)}
        found = {p.group: p for p in alternative_problems(attempts, groups)}
        assert {name: problems.without for name, problems in found.items()} == without
        assert agrees(found["any"].with_alternative, row["any_alternative_rate"])


@needs_tables
def test_published_success_given_failure() -> None:
    """Table G.1: the three columns fit whole counts of 100 pairs."""
    attempts, table = [], published("G.1")
    sources = {"alt_ord": "ord_match", "alt_hid": "hid_match"}
    for (pool, system), row in table.items():
        right = count(row["paired_train_correct"], 100)
        joint = count(row["alt_joint"], 100)
        after = count(row["alt_joint_given_paired_failure"], 100 - right)
        assert 0 <= joint - after <= right
        attempts += tried(sources[pool], system, task_correct=ones(right, 100))
        success = ones(joint - after, right) + ones(after, 100 - right)
        attempts += tried(pool, system, joint_success=success)
    found = success_after_failure(attempts)
    assert len(found) == len(table) == 18
    for each in found:
        row = table[each.pool, each.system]
        assert agrees(each.source_correct, row["paired_train_correct"])
        assert agrees(each.joint_success, row["alt_joint"])
        assert agrees(each.given_failure, row["alt_joint_given_paired_failure"])


@needs_tables
def test_published_root_tables() -> None:
    """Tables 3B, G.6 and H.2: a correct task is one with exact roots and exact training replay."""
    table, tasks = published("3B"), published("G.6")
    calibration = published("H.2")
    attempts = []
    for (pool, system), row in table.items():
        right, fitted = count(row["root_exact"], 100), count(row["train_exact"], 100)
        both = count(row["train_exact_given_root_exact"], right)
        heldout = count(row["heldout_exact_given_root_exact"], right)
        train = ones(both, right) + ones(fitted - both, 100 - right)
        attempts += tried(
            pool,
            system,
            root_set_exact=ones(right, 100),
            train_exact=train,
            task_correct=ones(both, 100),
            heldout_exact=ones(heldout, 100),
        )
    for each in root_conditioned(attempts):
        row = table["hid_roots", each.system]
        assert agrees(each.root_set_exact, row["root_exact"])
        assert agrees(each.train_exact_given_root_exact, row["train_exact_given_root_exact"])
        assert agrees(each.heldout_exact_given_root_exact, row["heldout_exact_given_root_exact"])
        assert each.train_failures >= 0
    breakdown = {each.system: each for each in root_breakdown(attempts)}
    assert len(breakdown) == 11
    for (_, system), row in tasks.items():
        assert agrees(breakdown[system].task_correct, row["full_task_success"])
        assert agrees(breakdown[system].root_set_exact, row["root_exact"])
    for (pool, system), row in calibration.items():
        if pool == "hid_roots":
            assert agrees(breakdown[system].task_correct, row["task_correct"])


def test_cohorts_have_hand_computed_gaps_retentions_and_paired_differences() -> None:
    def cohort(pool: str, figures: list[tuple[float, float, float]]) -> list[Attempt]:
        names = ("train_world_exact", "heldout_world_exact", "train_exact")
        return [
            Attempt("s", pool, f"m{i}", dict(zip(names, one, strict=True)))
            for i, one in enumerate(figures)
        ]

    base = cohort("hid_base", [(1.0, 0.5, 1), (0.8, 0.4, 0), (0.6, 0.3, 0)])
    later = cohort("hid_match", [(1.0, 1.0, 1), (0.8, 0.6, 0)])
    first, second = cohorts.cohort_summaries([*base, *later])
    assert (first.cohort, first.n) == ("base", 3)
    assert (first.gap, first.retention) == pytest.approx((0.4, 0.5))
    assert (second.gap, second.retention) == pytest.approx((0.1, 1.6 / 1.8))
    [delta] = cohorts.cohort_deltas([*base, *later], resamples=200)
    assert (delta.pool, delta.n) == ("hid_match", 2)
    changes = {name: change[0] for name, change in delta.change.items()}
    assert changes == pytest.approx(
        {"heldout_world": 0.35, "gap": -0.35, "retention": 1.6 / 1.8 - 0.5, "train_exact": 0.0}
    )
    for value, low, high in delta.change.values():
        assert low <= value <= high
    assert cohorts.cohort_deltas(base) == []
