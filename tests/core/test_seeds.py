from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whybench.causal.seeds import Stream, uniforms_of, words_below


def test_neighbouring_paths_share_nothing() -> None:
    paths = [
        (family, version, seed, index)
        for family in ("causallink", "causallin", "causallinkk")
        for version in ("1", "2", 1)
        for seed in ("public", "public ", "")
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
    from scipy import stats

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


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 21)), max_size=8))
def test_many_uniforms_at_once_are_the_same_as_one_by_one(parts: list[tuple[bool, int]]) -> None:
    at_once, one_by_one = Stream("u"), Stream("u")
    for together, n in parts:
        found = at_once.uniforms(n).tolist() if together else [at_once.uniform() for _ in range(n)]
        assert found == [one_by_one.uniform() for _ in range(n)]
    assert at_once.word() == one_by_one.word()
    with pytest.raises(ValueError, match="cannot draw -1"):
        at_once.uniforms(-1)


def test_many_uniforms_come_in_order_however_many() -> None:
    stream = Stream("many")
    stream.word()
    found = Stream("many").uniforms(10_000).tolist()
    assert found[1:] == stream.uniforms(9_999).tolist()
    one_by_one = Stream("many")
    assert found == [one_by_one.uniform() for _ in range(10_000)]


@given(st.floats(0, 1, exclude_max=True), st.integers(-3, 3))
def test_a_chance_can_be_compared_with_words(chance: float, near: int) -> None:
    limit = words_below(np.array([chance]))
    around = (int(chance * 2**53) + near) % 2**53
    for low_bits in (0, 1, 2**11 - 1):
        word = np.array([around << 11 | low_bits], dtype=np.uint64)
        assert (word < limit) == (uniforms_of(word) < chance)


def test_impossible_draws_are_refused() -> None:
    for n in (0, -1, 2**64 + 1):
        with pytest.raises(ValueError, match="cannot draw"):
            Stream("s").below(n)
