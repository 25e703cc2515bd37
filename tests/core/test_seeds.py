from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from whybench.core.seeds import Stream


def test_neighbouring_paths_share_nothing() -> None:
    paths = [
        (family, version, salt, index)
        for family in ("causallink", "causallin", "causallinkk")
        for version in ("1", "2", 1)
        for salt in ("public", "public ", "")
        for index in range(40)
    ]
    words = [stream.word() for stream in (Stream(*path) for path in paths) for _ in range(2)]
    assert len(set(words)) == 2 * len(paths)


def test_paths_are_not_confused() -> None:
    paths = [
        ("a", "bc"),
        ("ab", "c"),
        ("abc",),
        ("a,b", "c"),
        ('a","b', "c"),
        ("1",),
        (1,),
        ("", ""),
    ]
    assert len({Stream(*path).word() for path in paths}) == len(paths)


def test_the_same_path_gives_the_same_draws() -> None:
    assert [Stream("x", 1).word() for _ in range(3)] == [Stream("x", 1).word()] * 3


def test_draws_are_uniform() -> None:
    stream = Stream("uniform")
    counts = Counter(stream.below(7) for _ in range(70_000))
    assert stats.chisquare([counts[i] for i in range(7)]).pvalue > 1e-4
    orders = Counter(tuple(stream.shuffled("abcd")) for _ in range(24_000))
    assert len(orders) == 24
    assert stats.chisquare(list(orders.values())).pvalue > 1e-4
    assert stats.kstest([stream.uniform() for _ in range(20_000)], "uniform").pvalue > 1e-4


@given(st.lists(st.integers(), max_size=20), st.integers(0, 20))
def test_samples_are_parts_of_the_whole(items: list[int], k: int) -> None:
    if k > len(items):
        with pytest.raises(ValueError, match="cannot sample"):
            Stream("s").sample(items, k)
    else:
        assert not Counter(Stream("s", k).sample(items, k)) - Counter(items)
        assert sorted(Stream("s").shuffled(items)) == sorted(items)


def test_impossible_draws_are_refused() -> None:
    for n in (0, -1, 2**64 + 1):
        with pytest.raises(ValueError, match="cannot draw"):
            Stream("s").below(n)
