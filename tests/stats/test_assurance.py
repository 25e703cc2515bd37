"""Planning with the spread of a pilot: the bound holds as often as it says."""

import numpy as np
import pytest

from whybench.causal.seeds import Stream
from whybench.stats.assurance import allowance, freedom_of, scaled
from whybench.stats.spread import Spread


@pytest.mark.parametrize("assurance", [0.5, 0.8, 0.95])
def test_normal_scores_lie_below_the_bound_as_often_as_it_says(assurance):
    draws = np.random.Generator(np.random.Philox(7)).normal(size=(4000, 21))
    above = draws.var(axis=1, ddof=1) * allowance(20, assurance) >= 1
    assert above.mean() == pytest.approx(assurance, abs=0.03)


@pytest.mark.parametrize("share", [0.15, 0.3, 0.5])
def test_the_variance_of_rare_disagreements_lies_below_the_bound_in_most_pilots(share):
    """Differences of 0/1 scores are far from normal: the bound keeps about what it says."""
    stream, truth, enough = Stream("test-assurance", str(share)), share - 0.01, 0
    for _ in range(600):
        draws = stream.uniforms(100)
        first = (share + 0.1) / 2
        gaps = (draws < first).astype(float) - ((draws >= first) & (draws < share))
        factor = allowance(freedom_of(gaps.tolist(), range(100)))
        enough += float(gaps.var(ddof=1)) * factor >= truth
    assert enough / 600 > 0.75


def test_clusters_not_instances_make_freedom():
    values = Stream("test-assurance", "clusters").uniforms(600).tolist()
    alone, together = (freedom_of(values, [at // size for at in range(600)]) for size in (1, 20))
    assert alone == 599
    assert together <= 29


def test_a_spread_known_for_sure_gets_no_allowance_and_few_worlds_a_large_one():
    assert allowance(1e9) == pytest.approx(1, abs=1e-3)
    assert allowance(2) > 4
    assert scaled(Spread(0.2, 0.1, 0.3, 4, 0.5), 2) == Spread(0.4, 0.2, 0.3, 4, 0.5)


def test_what_makes_no_sense_is_refused():
    with pytest.raises(ValueError, match="fewer than two clusters"):
        freedom_of([0.0, 1.0], "aa")
    with pytest.raises(ValueError, match="between 0 and 1"):
        allowance(10, 1.0)
