"""Agreement and family bias of judges, on examples worked out by hand, closed forms, simulation."""

import csv
import math
from collections.abc import Iterable, Sequence
from itertools import combinations, permutations
from pathlib import Path

import numpy as np
import pytest
from scipy.special import ndtri, stdtr, stdtrit

from whybench.causal.seeds import Stream
from whybench.families.recite.extras.analyses.bias import FamilyBias, family_bias
from whybench.families.recite.extras.analyses.judges import Mark, agreements, matched_agreements
from whybench.families.recite.extras.analyses.table import table
from whybench.stats.association import kendall, pearson, spearman

PUBLISHED = Path(__file__).parents[4] / "shared" / "published" / "recite.csv"
needs_tables = pytest.mark.skipif(
    not PUBLISHED.is_file(), reason="the published tables lie outside the repository"
)


def normals(stream: Stream, n: int) -> np.ndarray:
    return ndtri(np.maximum(stream.uniforms(n), 1e-12))


def marks(judge: str, scores: Iterable[float | None], system: str = "s") -> list[Mark]:
    return [Mark(judge, system, f"i{at}", score) for at, score in enumerate(scores)]


# Association, on which the rest builds


def test_pearson_of_four_pairs_has_its_closed_form() -> None:
    """Four pairs of unrelated normals have an r that is uniform from -1 to 1, so p = 1 - |r|."""
    stream = Stream("recite", "pearson")
    for _ in range(20):
        x, y = normals(stream, 4), normals(stream, 4)
        cross = ((x - x.mean()) * (y - y.mean())).sum()
        r = cross / math.sqrt(((x - x.mean()) ** 2).sum() * ((y - y.mean()) ** 2).sum())
        found = pearson(x, y)
        assert found.value == pytest.approx(r, abs=1e-12)
        assert found.p == pytest.approx(1 - abs(r), abs=1e-9)


def test_spearman_counts_squared_differences_of_ranks() -> None:
    stream = Stream("recite", "spearman")
    for n in (5, 8, 13):
        ranks = stream.shuffled(range(n))
        apart = sum((a - b) ** 2 for a, b in enumerate(ranks))
        rho = 1 - 6 * apart / (n * (n * n - 1))
        found = spearman([math.exp(rank) for rank in range(n)], [2.0 * rank for rank in ranks])
        assert found.value == pytest.approx(rho)
        if n == 13:
            t = abs(rho) * math.sqrt((n - 2) / (1 - rho * rho))
            assert found.p == pytest.approx(2 * float(stdtr(n - 2, -t)))


def test_spearman_of_few_pairs_counts_every_order() -> None:
    assert spearman([1, 2, 3], [4, 5, 9]).p == pytest.approx(2 / 6)
    assert spearman([1, 2, 3, 4, 5], [9, 8, 7, 6, 5]).p == pytest.approx(2 / 120)
    # Of the 24 orders of 1, 1, 2, 2 each pattern comes four times; two patterns are in full order.
    assert spearman([1, 2, 3, 4], [1, 1, 2, 2]).p == pytest.approx(8 / 24)


def test_kendall_counts_pairs_and_its_p_value_all_orders() -> None:
    def s(order: Sequence[float]) -> int:
        return sum(1 if b > a else -1 for a, b in combinations(order, 2))

    every = [abs(s(order)) for order in permutations(range(6))]
    for order in ((0, 2, 1, 3, 4, 5), (5, 4, 3, 2, 1, 0), (2, 0, 5, 1, 4, 3)):
        found = kendall(range(6), order)
        assert found.value == pytest.approx(s(order) / 15)
        assert found.p == pytest.approx(np.mean([one >= abs(s(order)) for one in every]))


def test_nothing_that_varies_has_no_correlation() -> None:
    for measure in (pearson, spearman, kendall):
        flat = measure([1, 2, 3], [0.1 + 0.2, 0.3, 0.3])
        assert (flat.n, math.isnan(flat.value), math.isnan(flat.p)) == (3, True, True)
        two = measure([1, 2], [3, 4])
        assert two.value == pytest.approx(1)
        assert math.isnan(two.p)
        assert math.isnan(measure([], []).value)
    with pytest.raises(ValueError, match="equally many"):
        pearson([1, 2], [1])


# Agreement


def test_agreement_leaves_out_what_only_one_judge_has_scored() -> None:
    given = [*marks("J", [0.1, 0.5, None, 0.9]), *marks("K", [0.0, 0.2, 0.7, 0.8, 0.3])]
    (found,) = agreements(given)
    assert (found.first, found.second, found.n) == ("J", "K", 3)
    assert found.mean == pytest.approx((0.1 + 0.3 + 0.1) / 3)
    assert found.sd == pytest.approx(np.std([0.1, 0.3, 0.1], ddof=1))
    assert found.r == pytest.approx(np.corrcoef([0.1, 0.5, 0.9], [0.0, 0.2, 0.8])[0, 1])
    (turned,) = agreements(given, ["K", "J"])
    assert (turned.mean, turned.r) == pytest.approx((-found.mean, found.r))


def test_outputs_of_two_systems_on_one_instance_are_two_outputs() -> None:
    given = [*marks("J", [0, 1]), *marks("J", [2, 3], "t"), *marks("K", [0, 1]), *marks("K", [9])]
    with pytest.raises(ValueError, match=r"twice\. Average repetitions"):
        agreements(given)
    (found,) = agreements([*given[:-1], *marks("K", [2, 4], "t")])
    assert (found.n, found.mean) == (4, -0.25)


def test_matched_pairs_rest_on_the_same_outputs_so_their_differences_add_up() -> None:
    stream = Stream("recite", "matched")
    given = []
    for judge, missing in (("J", 3), ("K", 5), ("L", 8), ("M", 3)):
        scores = stream.uniforms(30).tolist()
        given += marks(judge, [None if at == missing else one for at, one in enumerate(scores)])
    rows = {(row.first, row.second): row for row in matched_agreements(given)}
    assert len(rows) == 6
    assert {row.n for row in rows.values()} == {27}
    for a, b, c in combinations("JKLM", 3):
        assert rows[a, b].mean + rows[b, c].mean == pytest.approx(rows[a, c].mean)
    assert {row.n for row in agreements(given)} == {28, 29}


def test_judges_without_shared_outputs_give_a_row_of_dashes() -> None:
    (found,) = agreements([*marks("J", [0.5]), *marks("K", [0.5], "t")])
    assert str(found) == "| J | K | 0 | – | – | – | – |"
    assert table([]) == ""


@needs_tables
def test_printed_agreement_of_matched_judges_cannot_rest_on_the_same_outputs() -> None:
    """Table 8: J - K and K - L must make J - L, and its rows do not, beyond any rounding."""
    gap = {}
    with PUBLISHED.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if (row["table"], row["metric"]) == ("8", "judge_mean_delta"):
                gap[tuple(row["system"].split(" vs "))] = float(row["value"])
    judges = ("DeepSeek R1", "DeepSeek v3.2", "Gemini 3 Flash", "GLM 4.7")
    apart = [abs(gap[a, b] + gap[b, c] - gap[a, c]) for a, b, c in combinations(judges, 3)]
    assert all(one > 0.0015 for one in apart)


# Family bias

FAMILIES = {"own": "red", "other": "blue", "third": "green"}


def judged(stream: Stream, n: int, bias: float, missing: int = 0) -> list[Mark]:
    """Two judges: K says what an output is worth, J 0.1 more and a bias for its family, with noise.

    How far J strays hangs on the instance too, so outputs on one instance are alike.
    """
    found = []
    for at in range(n):
        stray = 0.05 * float(normals(stream, 1)[0])
        for system in FAMILIES:
            if system == "other" and at < missing:
                continue
            worth, noise = stream.uniform(), 0.03 * float(normals(stream, 1)[0])
            more = 0.1 + stray + noise + bias * (system == "own")
            found += [
                Mark("K", system, f"i{at}", worth),
                Mark("J", system, f"i{at}", worth + more),
            ]
    return found


def bias_of(given: Iterable[Mark], seed: int = 0, resamples: int = 500) -> FamilyBias:
    return family_bias(given, "J", "K", FAMILIES, "red", resamples, seed)


def test_contrast_of_a_worked_example() -> None:
    def both(system: str, gaps: Sequence[float]) -> list[Mark]:
        return marks("J", [0.5 + gap for gap in gaps], system) + marks("K", [0.5] * 9, system)

    found = bias_of(
        [*both("own", [0.3, 0.2]), *both("other", [0.1, 0.2, 0.3]), *both("third", [0])]
    )
    assert [(gap.system, gap.own, gap.found.n) for gap in found.gaps] == [
        ("own", True, 2),
        ("other", False, 3),
        ("third", False, 1),
    ]
    assert (found.own, found.others) == (2, 4)
    assert found.contrast.estimate == pytest.approx(0.25 - 0.15)
    # Instances 0 and 1 have both kinds; on 0 the others' mean is that of 0.1 and 0.
    assert (found.paired.n, found.paired.estimate) == (2, pytest.approx((0.25 + 0.0) / 2))
    assert len(found.cells()) == len(found.HEAD)


def test_without_shared_instances_the_interval_is_that_of_two_independent_means() -> None:
    stream = Stream("recite", "independent")
    own, other = 0.2 + 0.1 * normals(stream, 30), 0.05 * normals(stream, 50)
    given = []
    for system, gaps in (("own", own), ("other", other)):
        for at, gap in enumerate(gaps.tolist()):
            instance = f"{system}{at}"
            given += [Mark("J", system, instance, gap), Mark("K", system, instance, 0.0)]
    found = bias_of(given)
    error = math.sqrt(80 / 79 * (own.var() / 30 + other.var() / 50))
    half = float(stdtrit(79, 0.975)) * error
    assert found.contrast.estimate == pytest.approx(own.mean() - other.mean())
    assert found.contrast.high - found.contrast.estimate == pytest.approx(half)
    assert found.paired.n == 0
    assert math.isnan(found.paired.p_value)


@pytest.mark.slow
def test_both_intervals_hold_a_planted_bias_as_often_as_they_say() -> None:
    stream = Stream("recite", "coverage")
    rounds, over_all, within, alarms = 200, 0, 0, 0
    for at in range(rounds):
        found = bias_of(judged(stream, 40, 0.02, missing=10), at, 200)
        over_all += found.contrast.low <= 0.02 <= found.contrast.high
        within += found.paired.low <= 0.02 <= found.paired.high
        alarms += bias_of(judged(stream, 40, 0.0), at, 200).paired.p_value <= 0.05
    # Standard errors of a share of 200 at 0.95 and at 0.05: 0.0154.
    assert over_all / rounds == pytest.approx(0.95, abs=0.05)
    assert within / rounds == pytest.approx(0.94, abs=0.05)
    assert alarms / rounds == pytest.approx(0.05, abs=0.05)


def test_pairing_takes_out_what_instances_share() -> None:
    found = bias_of(judged(Stream("recite", "pairing"), 60, 0.03))
    assert found.paired.p_value < 0.01
    gaps = [gap.found for gap in found.gaps]
    naive = math.hypot(*(0.5 * (gap.high - gap.low) for gap in gaps[:2]))
    assert 0.5 * (found.contrast.high - found.contrast.low) < 0.7 * naive


def test_draws_come_from_the_seed_alone() -> None:
    given = judged(Stream("recite", "seed"), 20, 0.0)
    assert bias_of(given) == bias_of(given)
    turned, other = bias_of(given[::-1]), bias_of(given, seed=1)
    assert turned.paired == bias_of(given).paired
    assert (other.paired.low, other.paired.high) != (turned.paired.low, turned.paired.high)


def test_a_system_without_a_family_is_an_error() -> None:
    with pytest.raises(ValueError, match="family of stranger is missing"):
        bias_of([*marks("J", [1.0], "stranger"), *marks("K", [1.0], "stranger")])


def test_printed_gaps_make_the_printed_mean_of_all_outputs() -> None:
    """Table 9's three gaps, weighed by their counts, are the gap of Table 7 on 595 outputs."""
    counts = {"own": (292, -0.128), "other": (214, -0.114), "third": (89, -0.122)}
    given = []
    for system, (n, gap) in counts.items():
        given += marks("J", [0.5 + gap] * n, system) + marks("K", [0.5] * n, system)
    (row,) = agreements(given)
    assert (row.n, round(row.mean, 3)) == (595, -0.122)
    assert round(bias_of(given).contrast.estimate, 4) == -0.0117
