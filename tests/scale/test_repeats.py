import math
from collections import Counter
from collections.abc import Sequence
from itertools import combinations, product

import numpy as np
import pytest

from whybench.causal.seeds import Stream
from whybench.episode.registry import load_suite
from whybench.scale.duplicate_forecast import Pilot
from whybench.scale.repeats import (
    CLUMPED,
    SURE,
    _foretold,
    collision,
    expected,
    figure,
    listed,
    sampled,
    uniform,
)


def skewed(keys: int, power: float) -> list[float]:
    weights = [(k + 1) ** -power for k in range(keys)]
    total = sum(weights)
    return [w / total for w in weights]


def drawn(law: Sequence[float], n: int, *path: str | int) -> list[int]:
    chances = Stream("repeats", *path).uniforms(n)
    found = np.searchsorted(np.cumsum(law), chances, side="right")
    return np.minimum(found, len(law) - 1).tolist()


def test_a_listed_law_gives_the_mean_over_all_outcomes() -> None:
    law = (0.5, 0.3, 0.2)
    mean = sum(
        math.prod(law[k] for k in outcome) * len(set(outcome))
        for outcome in product(range(3), repeat=4)
    )
    assert listed(law, 4) == pytest.approx(mean)


def test_chances_of_drawn_keys_give_the_same_as_the_listed_law() -> None:
    law = skewed(300, 1.2)
    found, error = sampled([law[k] for k in drawn(law, 4000, "sampled")], 200)
    assert error < 0.02 * found
    assert abs(found - listed(law, 200)) < 4 * error


def test_equal_chances_show_the_fewest_keys_of_all_laws_that_collide_as_often() -> None:
    assert uniform(40, 30) == pytest.approx(listed([1 / 40] * 40, 30))
    for power in (0.3, 1.0, 2.0):
        law = skewed(50, power)
        for draws in (2, 10, 100, 1000):
            assert uniform(1 / sum(p * p for p in law), draws) <= listed(law, draws) + 1e-9


def test_up_to_its_size_a_pilot_tells_the_mean_over_its_parts() -> None:
    draws = ["ab", "ac", "dd", "ae", "bb", "ac", "fg"]
    pilot = Pilot.of("".join(draws), width=2)
    for size in range(1, 8):
        parts = [len(set("".join(part))) for part in combinations(draws, size)]
        assert expected(pilot, 2 * size).distinct == pytest.approx(sum(parts) / len(parts))


def test_without_a_repeat_in_the_pilot_the_rule_of_three_holds() -> None:
    pilot = Pilot.of(range(200))
    chance = collision(pilot)
    assert (chance.chance, chance.low, chance.alike) == (0, 0, math.inf)
    assert chance.high == pytest.approx(3 / math.comb(200, 2), rel=0.01)
    told = expected(pilot, 20_000)
    assert (told.distinct, told.high, told.rate) == (20_000, 20_000, 0)
    assert told.low == pytest.approx(uniform(1 / chance.high, 20_000), rel=0.02)


@pytest.mark.parametrize(("size", "most"), [(500, 1), (1000, 4), (1001, 4), (1500, 8)])
def test_without_a_repeat_in_the_pilot_a_few_in_the_set_are_no_surprise(
    size: int, most: int
) -> None:
    pilot = Pilot.of(range(1000))
    curve = [(size, size - repeats) for repeats in range(most + 2)]
    assert [row["inside"] for row in figure(curve, pilot)] == [True] * (most + 1) + [False]


@pytest.mark.parametrize(
    ("seen", "ratio", "over"), [(0, 1, 1), (3, 0.25, 1), (9, 4, 2), (19, 100, 1)]
)
def test_a_count_is_foretold_as_the_binomial_law_of_both_counts_says(
    seen: int, ratio: float, over: float
) -> None:
    from scipy.stats import binom

    low, high = _foretold(seen * over, ratio, over)
    counts, share = np.arange(int(high / over) + 50), 1 / (1 + ratio)
    as_few = binom.cdf(seen, seen + counts, share) > 1 - SURE
    as_many = binom.sf(seen - 1, seen + counts, share) > 1 - SURE
    told = (low / over <= counts) & (counts <= high / over)
    assert told.tolist() == (as_few & as_many).tolist()


def test_repeats_vary_little_more_than_poisson_counts() -> None:
    means = np.linspace(0.01, 30, 3000)
    mean = means - 1 + np.exp(-means)
    varies = means + (means - 1) ** 2 - np.exp(-means) - mean**2
    assert 0.99 * CLUMPED < (varies / mean).max() <= CLUMPED


@pytest.mark.parametrize(
    "keys",
    [800, 8_000, *(pytest.param(n, marks=pytest.mark.slow) for n in (32_000, 80_000, 320_000))],
)
def test_nine_of_ten_sets_are_inside_at_every_size(keys: int) -> None:
    draws, runs, inside = 400, 400, Counter[int]()
    sizes = (200, draws, draws + 1, 3 * draws // 2, 10 * draws)
    for run in range(runs):
        chances = Stream("repeats", "inside", keys, run).uniforms(11 * draws)
        found = (np.asarray(chances) * keys).astype(int)
        pilot, later = Pilot.of(found[:draws].tolist()), found[draws:]
        curve = [(size, len(np.unique(later[:size]))) for size in sizes]
        inside.update(row["rows"] for row in figure(curve, pilot) if row["inside"])
    assert all(inside[size] >= 0.87 * runs for size in sizes), inside


@pytest.mark.parametrize("systems", [40, 2_000, 100_000])
def test_nine_of_ten_sets_are_inside_where_a_draw_asks_several_things(systems: int) -> None:
    """A draw asks six of ten questions, some of them twice."""
    draws, runs, inside = 150, 100, Counter[int]()
    sizes = (100, draws, draws + 1, 3 * draws)
    for run in range(runs):
        stream = Stream("repeats", "several", systems, run)
        drawn_systems = np.floor(np.asarray(stream.uniforms(4 * draws)) * systems)
        questions = np.floor(np.asarray(stream.uniforms(24 * draws)) * 10).reshape(-1, 6)
        found = (10 * drawn_systems[:, None] + questions).ravel()
        pilot, later = Pilot.of(found[: 6 * draws].tolist(), 6), found[6 * draws :]
        curve = [(6 * size, len(np.unique(later[: 6 * size]))) for size in sizes]
        inside.update(row["rows"] // 6 for row in figure(curve, pilot) if row["inside"])
    assert all(inside[size] >= 0.87 * runs for size in sizes), inside


@pytest.mark.parametrize("power", [0.0, 0.7, 1.3])
def test_intervals_hold_for_even_and_skewed_laws(power: float) -> None:
    law = skewed(2000, power)
    chance, runs = sum(p * p for p in law), 40
    held = Counter[str]()
    for run in range(runs):
        keys = drawn(law, 4300, power > 0, int(10 * power), run)
        pilot = Pilot.of(keys[:300])
        told = collision(pilot)
        held["chance"] += told.low <= chance <= told.high
        for size in (100, 300, 1000, 4000):
            told_at = expected(pilot, size)
            found = len(set(keys[300 : 300 + size]))
            held[str(size)] += told_at.low <= found <= told_at.high
            assert told_at.low <= told_at.distinct <= told_at.high
    assert min(held.values()) >= 0.75 * runs, held  # nominally 0.9, and the sides of it vary


def test_a_pilot_foretells_a_set_ten_times_its_size() -> None:
    law = skewed(20_000, 0.9)
    pilot = Pilot.of(drawn(law, 3000, "large pilot"))
    told = expected(pilot, 30_000)
    assert told.distinct == pytest.approx(listed(law, 30_000), rel=0.1)
    assert uniform(collision(pilot).alike, 30_000) < 0.2 * listed(law, 30_000)


def test_in_the_long_run_a_pilot_without_triples_promises_what_chao_says() -> None:
    singles, doubles = 30, 6
    pilot = Pilot.of([*range(singles), *range(100, 100 + doubles), *range(100, 100 + doubles)])
    t = pilot.draws
    unseen = (t - 1) / t * singles**2 / (2 * doubles)  # Chao 1984, the classes not yet seen
    assert expected(pilot, 10**6).distinct == pytest.approx(singles + doubles + unseen)


@pytest.mark.parametrize("kind", ["system", "problem"])
def test_a_pilot_of_causallink_foretells_another_seed(kind: str) -> None:
    def keys(seed: str, graphs: int) -> list[str]:
        parameters = {"n": 5, "graphs": graphs}
        suite = load_suite("causallink/advanced", parameters=parameters, seed=seed)
        name = getattr(suite.family, kind)
        return [repr(name(suite.family.world(instance))) for instance in suite]

    told = expected(Pilot.of(keys("pilot", 20)), 300)
    found = len(set(keys("another", 50)))
    assert told.low <= found <= told.high
    assert 0.2 < found / 300 < 0.6 if kind == "problem" else found < 60


def test_the_figure_sets_expected_beside_found() -> None:
    law = skewed(500, 0.5)
    pilot = Pilot.of(drawn(law, 400, "figure"))
    keys = drawn(law, 1000, "another seed")
    curve = [(size, len(set(keys[:size]))) for size in (10, 100, 1000)]
    table = figure(curve, pilot)
    assert [(row["rows"], row["found_distinct"]) for row in table] == curve
    for row in table:
        assert row["found_rate"] == pytest.approx(1 - row["found_distinct"] / row["rows"])
        assert row["expected_rate_low"] <= row["expected_rate"] <= row["expected_rate_high"]
        assert row["inside"]
    assert not figure([(1000, 20)], pilot)[0]["inside"]


def test_a_pilot_of_one_draw_is_refused() -> None:
    with pytest.raises(ValueError, match="more rows"):
        Pilot.of("aaaaaa", width=6)
