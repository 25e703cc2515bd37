"""Correlations against SciPy's own, and without what makes SciPy slow to import."""

import math
import subprocess
import sys

import pytest
import scipy

from whybench.causal.seeds import Stream
from whybench.stats.association import COUNTED, pearson, ranked, spearman

ENOUGH = COUNTED + 1
"""With fewer pairs Spearman's p-value is counted, where SciPy's is not."""


def drawn(place: int) -> tuple[list[float], list[float]]:
    """Return two lists with ties."""
    stream = Stream("association", place)
    n = ENOUGH + stream.below(30)
    first = [float(stream.below(7)) for _ in range(n)]
    return first, [x * stream.below(2) + stream.below(4) for x in first]


@pytest.mark.parametrize("place", range(40))
def test_correlations_equal_those_of_scipy(place):
    first, second = drawn(place)
    for ours, theirs in ((pearson, scipy.stats.pearsonr), (spearman, scipy.stats.spearmanr)):
        found, wanted = ours(first, second), theirs(first, second)
        assert found.value == pytest.approx(wanted.statistic, abs=1e-12)
        assert found.p == pytest.approx(wanted.pvalue, abs=1e-9)
    assert ranked(first).tolist() == scipy.stats.rankdata(first).tolist()


def test_a_perfect_line_leaves_no_doubt_and_a_flat_side_says_nothing():
    assert pearson([1, 2, 3, 4], [2, 4, 6, 8]).p == pytest.approx(0, abs=1e-7)
    assert math.isnan(spearman([1, 2, 3], [5, 5, 5]).value)


def test_scipys_statistics_are_not_loaded_for_it():
    code = "import sys, whybench.stats.association; sys.exit('scipy.stats' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
