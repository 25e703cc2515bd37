import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whybench.causal.canonical import EMPTY, Record, canonical_json, digest, freeze, thaw

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)  # fmt: skip


@settings(max_examples=30)
@given(json_values)
def test_freezing_and_thawing_changes_nothing(value: object) -> None:
    frozen = freeze(value)
    hash(frozen)
    assert thaw(frozen) == value
    assert json.loads(canonical_json(frozen)) == value


@given(st.dictionaries(st.text(), st.integers(), max_size=6))
def test_order_of_keys_does_not_matter(value: dict[str, int]) -> None:
    assert digest(value) == digest(dict(reversed(value.items())))


def test_what_json_cannot_say() -> None:
    assert freeze([float("nan"), float("inf")]) == ("nan", "inf")
    with pytest.raises(ValueError, match="not a JSON value"):
        freeze({1, 2})
    deep: list[object] = []
    for _ in range(50):
        deep = [deep]
    with pytest.raises(ValueError, match="nested deeper"):
        freeze(deep)


def test_records_are_small_mappings() -> None:
    record = Record.of(a=1, b=(2,))
    assert record["b"] == (2,)
    assert record.get("c", 7) == 7
    assert EMPTY.asdict() == {}
    with pytest.raises(KeyError):
        record["c"]
