"""Filters on difficulty: what they admit, and what they reject."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whybench.curriculum.columns import COLUMNS, figure
from whybench.curriculum.where import LONGEST, Where
from whybench.episode.registry import load_suite

INSTANCE = load_suite("causallink/advanced")[0]

comparisons = st.tuples(
    st.sampled_from(["bits", "fewest", "size"]),
    st.sampled_from(["<", "<=", ">", ">=", "=", "!="]),
    st.integers(-2, 3),
).map(lambda parts: f"{parts[0]} {parts[1]} {parts[2]}")
filters = st.recursive(
    comparisons,
    lambda inner: st.one_of(
        inner.map(lambda text: f"not {text}" if text[0] != "n" else f"not ({text})"),
        inner.map(lambda text: f"({text})"),
        st.tuples(inner, st.sampled_from(["and", "or"]), inner).map(" ".join),
    ),
    max_leaves=6,
)


@given(filters)
def test_a_filter_means_what_python_means_by_it(text: str) -> None:
    meant = compile(text.replace(" = ", " == "), "filter", "eval")
    for bits, fewest, size in product((0, 1, 2), repeat=3):
        figures = {"bits": bits, "fewest": fewest, "size": size}
        assert Where(text).admits(INSTANCE, figures) == eval(meant, {}, figures)


def test_figures_are_computed_where_none_are_given() -> None:
    bits = figure(INSTANCE, "bits")
    assert Where(f"bits = {bits:g}").admits(INSTANCE)
    assert not Where(f"bits != {bits:g}").admits(INSTANCE)


def test_a_figure_without_meaning_passes_no_comparison() -> None:
    for sign in ("<", "<=", ">", ">=", "=", "!="):
        assert not Where(f"fewest {sign} 1").admits(INSTANCE, {"fewest": None})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "at its end. Expected a column"),
        ("bits", "Expected one of <"),
        ("bits <", "Expected a number"),
        ("bits < x", "at `x`. Expected a number"),
        ("bits < 1e9", "at `e`"),
        ("depth < 3", "at `depth`. Expected a column (bits"),
        ("(bits < 3", "Expected `)`"),
        ("bits < 3)", "Expected `and`, `or` or the end"),
        ("bits < 3 size = 4", "at `size`"),
        ("__import__('os')", "at `__import__`"),
        ("(" * 400 + "bits", "30 parentheses"),
        ("x" * (LONGEST + 1), "at most 500 characters"),
    ],
)
def test_other_text_is_rejected_with_what_was_expected(text: str, expected: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the message is compared below
        Where(text)
    assert expected in str(caught.value)


@given(st.text(max_size=60))
def test_any_text_is_a_filter_or_a_value_error(text: str) -> None:
    try:
        Where(text)
    except ValueError:
        return
    assert any(name in text for name in COLUMNS)
