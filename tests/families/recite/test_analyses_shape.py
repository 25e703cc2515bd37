"""Scores by shape, size, explicitness, reasoning and date: closed forms, twins, printed values."""

import csv
import math
import subprocess
import sys
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from scipy.special import chdtrc, ndtri, stdtr, stdtrit

from whybench.causal.seeds import Stream
from whybench.families.recite.extras.analyses.bins import apart, binned
from whybench.families.recite.extras.analyses.compare import difference, one_way, permutation_p
from whybench.families.recite.extras.analyses.cutoff import around_cutoff
from whybench.families.recite.extras.analyses.scores import over_systems
from whybench.families.recite.extras.analyses.shape import (
    TABLE_13,
    by_cyclicity,
    by_density,
    shape_correlations,
)
from whybench.families.recite.extras.analyses.sizes import (
    by_explicitness,
    by_reasoning,
    log_size,
    quarters,
    quartile_gap,
    quartiles,
    reasoning,
    share_of,
)
from whybench.families.recite.extras.analyses.table import table
from whybench.families.recite.world.topology import METRICS, topology
from whybench.stats.multiplicity import holm

PUBLISHED = Path(__file__).parents[4] / "shared" / "published" / "recite.csv"
needs_tables = pytest.mark.skipif(
    not PUBLISHED.is_file(), reason="the published tables lie outside the repository"
)


def normals(stream: Stream, n: int) -> np.ndarray:
    return ndtri(np.maximum(stream.uniforms(n), 1e-12))


def named(values: Sequence[float | None]) -> dict[str, float | None]:
    return {f"i{at}": value for at, value in enumerate(values)}


# Groups


def test_welch_has_its_textbook_form() -> None:
    stream = Stream("recite", "welch")
    a, b = 0.3 + normals(stream, 7), 2 * normals(stream, 12)
    found = difference(a, b)
    parts = a.var(ddof=1) / 7, b.var(ddof=1) / 12
    error = math.sqrt(sum(parts))
    freedom = sum(parts) ** 2 / (parts[0] ** 2 / 6 + parts[1] ** 2 / 11)
    assert found.estimate == pytest.approx(a.mean() - b.mean())
    assert found.welch_p == pytest.approx(2 * float(stdtr(freedom, -abs(found.estimate) / error)))
    half = float(stdtrit(freedom, 0.975)) * error
    assert (found.low, found.high) == pytest.approx((found.estimate - half, found.estimate + half))
    assert found.sd == pytest.approx(math.sqrt((6 * 7 * parts[0] + 11 * 12 * parts[1]) / 17))


def test_permutation_p_value_nears_the_share_of_all_partings() -> None:
    stream = Stream("recite", "partings")
    for _ in range(5):
        a, b = normals(stream, 4) + 1, normals(stream, 5)
        pool = np.concatenate((a, b))
        seen = abs(a.mean() - b.mean())
        far = []
        for chosen in combinations(range(9), 4):
            inside = np.isin(np.arange(9), chosen)
            far.append(abs(pool[inside].mean() - pool[~inside].mean()) >= seen - 1e-12)
        exact = float(np.mean(far))
        error = math.sqrt(exact * (1 - exact) / 10_000)
        assert permutation_p(a, b) == pytest.approx(exact, abs=4 * error + 1e-4)


def test_permutation_p_value_hangs_on_scores_and_seed_alone() -> None:
    a, b = [0.1, 0.5, 0.4, 0.9], [0.3, 0.2, 0.0]
    assert permutation_p(a, b) == permutation_p(a[::-1], b) == permutation_p(a, b[::-1])
    assert len({permutation_p(a, b, 999, seed) for seed in range(5)}) > 1
    assert permutation_p([0.5] * 4, [0.5] * 3) == 1.0


def test_groups_that_are_too_small_say_nothing() -> None:
    one = difference([1.0], [0.0, 1.0])
    assert (one.estimate, math.isnan(one.low), math.isnan(one.welch_p)) == (0.5, True, True)
    none = difference([], [0.0, 1.0])
    assert math.isnan(none.estimate)
    assert math.isnan(none.permutation_p)
    assert math.isnan(difference([1.0, 1.0], [1.0, 1.0]).welch_p)
    for groups in ([], [[1.0, 2.0]], [[1.0], []], [[1.0, 1.0], [1.0]]):
        assert math.isnan(one_way(groups).f)
    parted = one_way([[1.0, 1.0], [2.0, 2.0]])
    assert (parted.eta_squared, math.isnan(parted.f)) == (1.0, True)


def test_three_groups_have_closed_forms() -> None:
    """With two degrees of freedom between groups both tails are elementary functions."""
    stream = Stream("recite", "one way")
    for _ in range(10):
        groups = [shift + normals(stream, n) for shift, n in ((0.0, 5), (0.4, 8), (0.9, 6))]
        found = one_way([group.tolist() for group in groups])
        pool = np.concatenate(groups)
        between = sum(len(g) * (g.mean() - pool.mean()) ** 2 for g in groups)
        within = sum(((g - g.mean()) ** 2).sum() for g in groups)
        f = between / 2 / (within / 16)
        assert (found.groups, found.n, found.f) == (3, 19, pytest.approx(f))
        assert found.f_p == pytest.approx((1 + 2 * f / 16) ** -8)
        assert found.eta_squared == pytest.approx(between / (between + within))
        ranks = pool.argsort().argsort() + 1.0
        sums = [part.sum() for part in np.split(ranks, [5, 13])]
        h = 12 / (19 * 20) * sum(s**2 / n for s, n in zip(sums, (5, 8, 6), strict=True)) - 60
        assert found.h == pytest.approx(h)
        assert found.h_p == pytest.approx(math.exp(-h / 2))


def test_a_value_on_an_edge_belongs_to_the_bin_above() -> None:
    values = named([0.149, 0.15, 0.3, 6 / 20, 1.0, None])
    found = binned(named([1, 2, 3, 4, None, 6]), values, (0.15, 0.3))
    assert [(row.name, row.scores) for row in found] == [
        ("< 0.15", (1,)),
        ("0.15 to 0.3", (2,)),
        ("≥ 0.3", (3, 4)),
    ]
    with pytest.raises(ValueError, match="not increasing"):
        binned({}, {}, (0.3, 0.3))
    with pytest.raises(ValueError, match="one name per bin"):
        binned({}, {}, (0.3,), ("one",))


# Shape


def shapes_of(stream: Stream, n: int) -> dict[str, dict[str, float]]:
    found = {}
    for at in range(n):
        nodes = 4 + stream.below(8)
        pairs = [(a, b) for a in range(nodes) for b in range(nodes) if a != b]
        found[f"i{at}"] = topology(nodes, stream.sample(pairs, nodes + stream.below(nodes)))
    return found


def test_metrics_of_the_table_are_those_of_topology() -> None:
    assert set(TABLE_13) == set(METRICS) - {"path_length", "cycles_capped"}


def test_a_score_made_of_edges_goes_with_edges() -> None:
    shapes = shapes_of(Stream("recite", "shapes"), 40)
    scores = {one: 1 / (1 + shape["edges"]) for one, shape in shapes.items()} | {"i3": None}
    rows = {row.metric: row for row in shape_correlations(scores, shapes)}
    edges = rows["edges"]
    assert (edges.pearson.n, edges.spearman.value) == (39, pytest.approx(-1))
    x = [shape["edges"] for one, shape in shapes.items() if one != "i3"]
    y = [score for score in scores.values() if score is not None]
    r = np.corrcoef(x, y)[0, 1]
    assert edges.pearson.value == pytest.approx(r)
    assert [row.metric for row in rows.values()] == list(TABLE_13)
    assert [row.pearson_holm for row in rows.values()] == holm(
        [row.pearson.p for row in rows.values()]
    )
    assert table(rows.values()).count("\n") == 16


def test_unrelated_scores_seldom_survive_the_correction() -> None:
    stream = Stream("recite", "luck")
    shapes = shapes_of(stream, 40)
    rounds, raw, corrected = 40, 0, 0
    for _ in range(rounds):
        rows = shape_correlations(named(stream.uniforms(40).tolist()), shapes)
        raw += min(row.pearson.p for row in rows) <= 0.05
        corrected += min(row.pearson_holm for row in rows) <= 0.05
    assert raw > 8
    assert corrected <= 6, "at most 2 of 40 on average, with a standard error of 1.4"


def test_a_metric_that_does_not_vary_is_no_test() -> None:
    shapes = {f"i{at}": {"nodes": 5.0, "edges": at} for at in range(5)}
    flat, edges = shape_correlations(named([0.1, 0.5, 0.2, 0.9, 0.4]), shapes, ("nodes", "edges"))
    assert str(flat) == "| nodes | 5 | – | – | – | – | – | – |"
    assert edges.pearson_holm == edges.pearson.p
    with pytest.raises(ValueError, match="lacks sinks"):
        shape_correlations({}, shapes, ("sinks",))


def test_density_and_cycles_part_the_scores() -> None:
    shapes = {
        "line": topology(8, [(at, at + 1) for at in range(7)]),
        "ring": topology(5, [(at, (at + 1) % 5) for at in range(5)]),
        "full": topology(3, [(a, b) for a in range(3) for b in range(3) if a != b]),
    }
    scores = {"line": 0.1, "ring": 0.2, "full": 0.3}
    found = {row.name: row.scores for row in by_density(scores, shapes)}
    assert found == {"sparse": (0.1,), "moderate": (0.2,), "dense": (0.3,)}
    found = {row.name: row.scores for row in by_cyclicity(scores, shapes)}
    assert found == {"acyclic": (0.1,), "cyclic": (0.2, 0.3)}
    assert [row.name for row in by_density(scores, shapes, (0.5,))] == ["< 0.5", "≥ 0.5"]


def test_bins_print_and_compare() -> None:
    rows = binned(named([0.1, 0.3, 0.8, 1.0]), named([1, 1, 2, 2]), (2,))
    assert str(rows[0]) == "| < 2 | 2 | 0.200 | 0.141 | 0.000 … 1.000 |"
    assert apart(rows).f == pytest.approx(0.49 / 0.02)
    assert str(binned({}, {}, ())[0]) == "| all | 0 | – | – | – |"


def test_mean_over_systems_can_ask_for_all_of_them() -> None:
    scores = {"s": {"a": 0.2, "b": 0.4}, "t": {"a": 0.6, "b": None}}
    assert over_systems(scores) == pytest.approx({"a": 0.4, "b": 0.4})
    assert over_systems(scores, every=True) == pytest.approx({"a": 0.4})


# Size, explicitness, reasoning


def test_top_minus_bottom_quarter() -> None:
    found = quartile_gap(named([0.1 * at for at in range(9)]), named(range(9)), "edges")
    assert (found.low_cut, found.high_cut, found.found.n) == (2, 6, (3, 3))
    assert found.found.estimate == pytest.approx(0.6)
    assert found.found.sd == pytest.approx(0.1)
    assert found.found.permutation_p == pytest.approx(0.1, abs=0.012), "2 of 20 partings"
    assert len(found.cells()) == len(found.HEAD)


def test_quarters_are_of_scored_instances_and_ties_stay_together() -> None:
    sizes = named([1, 1, 1, 2, 3, 9, 9, 9, 50])
    found = quartile_gap(named([0, 0, 0, 5, 5, 1, 1, 1, None]), sizes)
    assert (found.found.n, found.found.estimate) == ((3, 3), 1)
    flat = quartile_gap(named([0.1, 0.2, 0.3]), named([7, 7, 7]))
    assert flat.found.n == (0, 0)
    assert math.isnan(flat.found.estimate)


def test_outer_quarters_are_never_empty_and_hold_the_gap() -> None:
    stream = Stream("recite", "quarters")
    parted = 0
    for _ in range(200):
        sizes = named([stream.below(4) for _ in range(3 + stream.below(12))])
        scores = named(stream.uniforms(len(sizes)).tolist())
        places = quarters(sizes)
        gap = quartile_gap(scores, sizes, resamples=9)
        assert gap.found.n == tuple(list(places.values()).count(at) for at in (3, 0))
        if places:
            parted += 1
            assert set(places) == set(sizes)
            assert {0, 3} <= set(places.values())
            for one, other in combinations(sizes, 2):
                assert (sizes[one] < sizes[other]) <= (places[one] <= places[other])
                assert (sizes[one] == sizes[other]) <= (places[one] == places[other])
    assert 50 < parted < 200


def test_the_analyses_load_without_scipy_stats() -> None:
    """It takes a second, which a report would pay even if nothing is tested."""
    code = (
        "import sys, whybench.families.recite.extras.analyses.cutoff, "
        "whybench.families.recite.extras.analyses.shape, "
        "whybench.families.recite.extras.analyses.sizes; "
        "sys.exit('scipy.stats' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_four_bins_of_explicitness_lenient_and_strict() -> None:
    shares = {"a": (1.0, 0.75), "b": (0.5, 0.2), "c": (0.74, 0.25), "d": (0.24, 0.0), "e": None}
    scores = {"a": 0.9, "b": 0.5, "c": 0.7, "d": 0.1, "e": 0.3}
    lenient, strict = (
        {row.name: row.scores for row in by_explicitness(scores, shares, kind)}
        for kind in ("lenient", "strict")
    )
    names = ["< 0.25", "0.25 to 0.5", "0.5 to 0.75", "≥ 0.75"]
    assert lenient == dict(zip(names, [(0.1,), (), (0.5, 0.7), (0.9,)], strict=True))
    assert strict == dict(zip(names, [(0.5, 0.1), (0.7,), (), (0.9,)], strict=True))
    cuts = quartiles(share_of(shares, "lenient"))
    full = by_explicitness(scores, shares, "lenient", cuts)
    assert [row.scores for row in full] == [(0.1,), (0.5,), (0.7,), (0.9,)]
    tied = by_explicitness(scores, shares, "lenient", (0.5, 1.0, 1.0))
    assert [row.scores for row in tied] == [(0.1,), (0.5, 0.7), (0.9,)]


def test_size_goes_by_its_logarithm() -> None:
    sizes = {f"i{at}": 2.0**at for at in range(8)}
    line = {one: 3 - 0.2 * at for at, one in enumerate(sizes)}
    assert log_size(sizes, line).value == pytest.approx(-1)
    with pytest.raises(ValueError, match="no logarithm"):
        log_size({"a": 0}, {"a": 1})


def test_reasoning_in_bins_of_a_thousand_tokens() -> None:
    tokens = named([999, 1000, 1999, 4200, None])
    rows = by_reasoning(named([0.1, 0.2, 0.3, 0.4, 0.5]), tokens)
    assert [(row.name, row.scores) for row in rows] == [
        ("0 to 1000", (0.1,)),
        ("1000 to 2000", (0.2, 0.3)),
        ("2000 to 3000", ()),
        ("3000 to 4000", ()),
        ("4000 to 5000", (0.4,)),
    ]
    assert by_reasoning({}, {}) == []
    with pytest.raises(ValueError, match="at least 1 token"):
        by_reasoning({}, {}, 0)
    found = reasoning(named([0.1, 0.2, 0.3, 0.4]), named([10, 20, 30, 70]), "s")
    r = np.corrcoef([10, 20, 30, 70], [1, 2, 3, 4])[0, 1]
    assert (found.median, found.found.value) == (25, pytest.approx(r))
    assert found.cells() == ("s", "4", "25", f"{r:+.3f}", f"{1 - r:.3f}")
    assert math.isnan(reasoning({}, {}).median)


# Cut-off


def test_dates_on_either_side_of_a_cut_off() -> None:
    dates = {
        "a": "2023-12-31",
        "b": "2024-01-01",
        "c": "2023",
        "d": "2024-01",
        "e": "",
        "f": "2023-12",
        "g": "1999-05-05",
    }
    scores = {one: float(at) for at, one in enumerate("abcdefgh")}
    found = around_cutoff(scores, dates, "2023-12", "s")
    assert (found.found.n, found.undated) == ((2, 4), 2)
    assert (found.before, found.after) == ((0 + 2 + 5 + 6) / 4, (1 + 3) / 2)
    assert found.found.estimate == found.after - found.before
    inside = around_cutoff(scores, dates, "2023-12-15")
    assert (inside.found.n, inside.undated) == ((3, 1), 4), "December and 2023 hold the day"
    assert len(found.cells()) == len(found.HEAD)
    with pytest.raises(ValueError, match="not a date"):
        around_cutoff(scores, dates, "December 2023")


def test_memory_of_old_documents_shows_and_its_absence_seldom_seems_to() -> None:
    stream = Stream("recite", "memory")
    dates = {f"i{at}": "2020" if at < 90 else "2025" for at in range(120)}
    hits = alarms = 0
    for at in range(60):
        noise = 0.15 * normals(stream, 120)
        plain = named((0.4 + noise).tolist())
        known = {one: (score or 0) + 0.15 * (dates[one] == "2020") for one, score in plain.items()}
        alarms += around_cutoff(plain, dates, "2024", "", 200, at).found.welch_p <= 0.05
        found = around_cutoff(known, dates, "2024", "", 200, at).found
        hits += found.welch_p <= 0.05 and found.permutation_p <= 0.05 and found.estimate < 0
    assert hits >= 57
    assert alarms <= 9, "3 on average, with a standard error of 1.7"


# Against the printed tables


def table_13() -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    with PUBLISHED.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["table"] == "13":
                found.setdefault(row["condition"], {})[row["metric"]] = float(row["value"])
    return found


def correlated(r: float, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Make numbers with just this correlation."""
    x = np.arange(n) - (n - 1) / 2
    rest = np.where(np.arange(n) % 2, 1.0, -1.0)
    rest -= rest.mean() + x * (rest @ x) / (x @ x)
    return x, r * x / np.linalg.norm(x) + math.sqrt(1 - r * r) * rest / np.linalg.norm(rest)


def p_of(r: float, n: int) -> float:
    x, y = correlated(r, n)
    shapes = {f"i{at}": {"edges": value} for at, value in enumerate(x.tolist())}
    (row,) = shape_correlations(named(y.tolist()), shapes, ("edges",))
    assert row.pearson.value == pytest.approx(r)
    return row.pearson.p


@needs_tables
def test_printed_p_values_follow_from_printed_correlations_of_292() -> None:
    """All thirty of Table 13 do; with the 290 texts that its section names, two would not."""
    rows = table_13()
    assert len(rows) == 15
    misfits = {290: 0, 292: 0}
    for n in misfits:
        for row in rows.values():
            for r, p in (("pearson_r", "pearson_p"), ("spearman_rho", "spearman_p")):
                high, low = p_of(max(0, abs(row[r]) - 5e-4), n), p_of(abs(row[r]) + 5e-4, n)
                misfits[n] += not low - 5e-4 <= row[p] <= high + 5e-4
    assert misfits == {290: 2, 292: 0}


@needs_tables
def test_of_nine_starred_correlations_two_survive_the_correction() -> None:
    rows = table_13()
    survivors = {}
    for kind in ("pearson", "spearman"):
        ps = {name: row[f"{kind}_p"] for name, row in rows.items()}
        starred = [name for name, p in ps.items() if p < 0.05]
        corrected = dict(zip(ps, holm(list(ps.values())), strict=True))
        survivors[kind] = len(starred), [name for name, p in corrected.items() if p < 0.05]
    assert survivors == {"pearson": (5, ["edges", "chains"]), "spearman": (4, [])}


def test_printed_clusters_do_not_make_the_printed_f() -> None:
    """Table 18's counts, means and deviations make F = 1.14, where the text has 1.03."""
    groups = []
    for n, mean, sd in (
        (72, 0.413, 0.146),
        (89, 0.411, 0.170),
        (54, 0.399, 0.147),
        (77, 0.372, 0.153),
    ):
        shape = np.arange(n) - (n - 1) / 2
        groups.append((mean + sd * shape / shape.std(ddof=1)).tolist())
    found = one_way(groups)
    assert (round(found.f, 2), round(found.eta_squared, 3)) == (1.14, 0.012)
    # The text's own F, η² and p cannot all be right for 292 texts: F fixes η².
    assert round(3 * 1.03 / (3 * 1.03 + 288), 3) == 0.011
    assert round(float(chdtrc(3, 3.42)), 2) == 0.33
