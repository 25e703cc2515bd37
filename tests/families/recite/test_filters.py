"""Filters by field, explicitness, size, density, cycles, date and length."""

import math
from dataclasses import replace

import pytest
from tests.tables import together

from whybench.families.recite.world.published.filters import (
    Filter,
    Range,
    density,
    is_cyclic,
    kept,
    parse,
)
from whybench.families.recite.world.published.texts import Released

LOOP = Released(
    id=1,
    title="",
    source="PLOS",
    url="",
    domains=("Medicine", "Education"),
    text="x" * 1000,
    abstract="",
    date="2023-06-15",
    nodes=("a", "b", "c", "d"),
    edges=((0, 1), (1, 0), (2, 3)),
    mention=("explicit", "implicit", "absent", "explicit"),
    stored_explicitness=None,
    duplicates=0,
    self_loops=0,
)
DAG = replace(
    LOOP,
    id=2,
    domains=("Environment & Earth",),
    text="x" * 5000,
    date="2024-02-01",
    nodes=("a", "b", "c"),
    edges=((0, 1), (0, 2), (1, 2)),
    mention=("explicit", "explicit", "explicit"),
)
BARE = replace(LOOP, id=3, domains=(), date="", mention=(None, None, None, None))
ALL = (LOOP, DAG, BARE)


@together(
    ("text", "ids"),
    [
        ("", [1, 2, 3]),
        ("domain=medicine", [1]),
        ("domain=Environment & Earth|Education", [1, 2]),
        ("domain=Law", []),
        ("explicitness=0.75..1", [1, 2]),
        ("explicitness=0.75", [1]),
        ("explicitness=0.6..,explicitness_kind=strict", [2]),
        ("explicitness=..0.5,explicitness_kind=strict", [1]),
        ("explicitness=0..1", [1, 2]),
        ("nodes=4..", [1, 3]),
        ("nodes=3", [2]),
        ("edges=4..", []),
        ("edges=..3", [1, 2, 3]),
        ("density=..0.25", [1, 3]),
        ("density=0.5", [2]),
        ("cyclic=true", [1, 3]),
        ("cyclic=False", [2]),
        ("date=2024-01-01..", [2]),
        ("date=..2023-06-15", [1]),
        ("date=2023-06-16..2024-02-01", [2]),
        ("date=2024-02-01", [2]),
        ("length=1001..", [2]),
        ("length=..1000", [1, 3]),
        (" nodes = 4 .. 10 , cyclic = true , domain = Medicine ,", [1]),
        ("domain=Medicine,cyclic=false", []),
    ],
)
def test_a_filter_keeps_what_it_says(text: str, ids: list[int]) -> None:
    assert [record.id for record in kept(ALL, parse(text))] == ids


def test_density_counts_ordered_pairs_and_cycles_are_found() -> None:
    assert [density(record) for record in ALL] == [0.25, 0.5, 0.25]
    assert [is_cyclic(record) for record in ALL] == [True, False, True]


@pytest.mark.parametrize(
    ("day", "wanted", "inside"),
    [
        ("2024", "2024-01-01..2024-12-31", True),
        ("2024", "2024-01-02..", False),
        ("2024", "..2024-12-30", False),
        ("2024-03", "2024-03-01..2024-03-31", True),
        ("2024-03", "2024-03-02..", False),
    ],
)
def test_a_month_or_year_is_kept_only_if_all_of_it_is_wanted(
    day: str, wanted: str, inside: bool
) -> None:
    found = kept([replace(LOOP, date=day)], parse(f"date={wanted}"))
    assert bool(found) == inside


def test_parsing_fills_every_field() -> None:
    assert parse(
        "domain=A|B,explicitness=0.5..1,explicitness_kind=strict,nodes=5..30,edges=..40,"
        "density=..0.15,length=700..,cyclic=false,date=2024-01-01.."
    ) == Filter(
        domains=("A", "B"),
        explicitness=Range(0.5, 1),
        explicitness_kind="strict",
        nodes=Range(5, 30),
        edges=Range(-math.inf, 40),
        density=Range(-math.inf, 0.15),
        length=Range(700, math.inf),
        cyclic=False,
        dated_from="2024-01-01",
        dated_to="",
    )
    assert parse("") == Filter()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nodes", "Write it like domain="),
        ("nodes=", "Write it like domain="),
        ("domain=Medicine,Education", "'Education' is not a part of a filter"),
        ("size=3", "Unknown filter 'size'. Try one of domain, explicitness"),
        ("nodes=3,nodes=4", "nodes is given twice"),
        ("nodes=many", "Write nodes=low..high"),
        ("nodes=9..3", "the lower number first"),
        ("nodes=nan..3", "Write nodes=low..high"),
        ("domain=|", "domain is empty"),
        ("explicitness_kind=soft", "Write lenient or strict"),
        ("cyclic=yes", "Write true or false"),
        ("date=2024..", "Write date=2023-01-01..2024-12-31"),
        ("date=2024-02-30..", "Write date=2023-01-01..2024-12-31"),
        ("date=2024-05-01..2024-04-01", "the earlier day first"),
    ],
)
def test_a_wrong_filter_says_how_to_mend_it(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message.replace("|", r"\|").replace("..", r"\.\.")):
        parse(text)
