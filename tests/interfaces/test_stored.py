"""Stored sets read back: rows at random, ids in a stream, gaps, and sets that are none."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest

from whybench.causal.canonical import thaw
from whybench.episode.family import Suite
from whybench.episode.registry import load_suite
from whybench.interfaces.stored import index, reading
from whybench.interfaces.stored.index import INDEX, index_flaws, indexed, write_index
from whybench.interfaces.stored.place import Place
from whybench.interfaces.stored.plan import Plan
from whybench.interfaces.stored.reading import StoredSet, find_set
from whybench.scale.generate import generate

N = 190
"""Rows: two whole blocks of the suite's 84, and some of a third."""
MISSING = 5
"""One row in so many is refused in the set with gaps."""


def suite_of() -> Suite:
    return load_suite("causallink/core")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sets") / "whole"
    generate(Plan.of(suite_of(), N, rows=60), Place(str(folder)))
    return folder


@pytest.fixture(scope="module")
def gaps(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sets") / "gaps"
    suite = suite_of()
    certify = suite.family.certify
    calls = count()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            type(suite.family),
            "certify",
            lambda _, instance: replace(certify(instance), solvable=next(calls) % MISSING > 0),
        )
        generate(Plan.of(suite, 40, rows=12, truth=False), Place(str(folder)))
    return folder


def test_every_row_is_the_instance_of_its_number(folder: Path) -> None:
    stored, suite = StoredSet(str(folder)), suite_of()
    assert len(stored) == N
    for position in (0, 59, 60, 83, 84, 167, 168, N - 1, 1):
        row, wanted = stored[position], suite.row(position)
        assert (row.number, row.instance) == (position, wanted)
        assert stored.instance(position) == wanted
        assert row.instructions == suite.family.open(wanted).instructions("plain")
        assert row.certificate == suite.family.certify(wanted).to_json()
        assert stored.truth(position) == json.loads(json.dumps(thaw(suite.family.truth(wanted))))
    for outside in (-1, N):
        with pytest.raises(IndexError, match="has rows 0"):
            stored[outside]


def test_ids_come_in_order_with_and_without_the_index(folder: Path, tmp_path: Path) -> None:
    wanted = [suite_of().row(number).id for number in range(N)]
    stored = StoredSet(str(folder))
    assert list(stored.ids()) == wanted
    for part in (range(0), range(55, 130), range(N - 1, N), [3, 1], list(range(N))[::-1]):
        assert list(stored.names(part)) == [wanted[position] for position in part]
    (folder / INDEX).rename(tmp_path / INDEX)
    try:
        bare = StoredSet(str(folder))
        assert list(bare.ids()) == wanted
        for part in (range(0), range(55, 130), range(N - 1, N)):
            assert list(bare.names(part)) == [wanted[position] for position in part]
    finally:
        (tmp_path / INDEX).rename(folder / INDEX)


@pytest.mark.parametrize("size", [7, 60, 95, 1000])
def test_groups_of_ids_are_filled_across_shards(folder: Path, monkeypatch, size: int) -> None:
    monkeypatch.setattr(index, "GROUP", size)
    wanted = [suite_of().row(number).id for number in range(N)]
    place, manifest = Place("memory://sets/index"), StoredSet(str(folder)).manifest
    for name in ("manifest.json", *(f"instances/{shard:06d}.parquet" for shard in range(4))):
        place.commit(name, (folder / name).read_bytes())
    write_index(place, manifest.plan, manifest.digest)
    file = indexed(place, manifest)
    assert file is not None
    groups = [file.metadata.row_group(g).num_rows for g in range(file.num_row_groups)]
    assert groups == [min(size, N - first) for first in range(0, N, size)]
    stored = StoredSet(place.address)
    for part in (range(N), range(55, 130), range(N - 1, N)):
        assert list(stored.names(part)) == [wanted[position] for position in part]
    assert index_flaws(place, manifest) == []


def test_an_index_of_other_shards_is_not_used_and_told(folder: Path, tmp_path: Path) -> None:
    place, own = Place(str(folder)), (folder / INDEX).read_bytes()
    manifest = StoredSet(str(folder)).manifest
    assert indexed(place, manifest) is not None
    assert index_flaws(place, manifest) == []
    other = Place(str(tmp_path / "other"))
    plan = Plan.of(replace(suite_of(), seed="s1"), N, rows=60)
    generate(plan, other)
    foreign = other.read(INDEX)
    write_index(other, plan, manifest.digest)
    forged = other.read(INDEX)
    wanted = [suite_of().row(number).id for number in range(N)]
    try:
        for put in (foreign, b"no Parquet at all", own[: len(own) // 2]):
            (folder / INDEX).write_bytes(put)
            assert list(StoredSet(str(folder)).ids()) == wanted
            (flaw,) = index_flaws(place, manifest)
            assert "whybench data generate" in flaw
        (folder / INDEX).write_bytes(forged)
        assert index_flaws(place, manifest) == [f"ids 0 … {N - 1} differ from the shards"]
        (folder / INDEX).unlink()
        assert index_flaws(place, manifest) == []
    finally:
        (folder / INDEX).write_bytes(own)


def test_an_index_in_other_groups_is_told(folder: Path, monkeypatch) -> None:
    place, manifest = Place(str(folder)), StoredSet(str(folder)).manifest
    monkeypatch.setattr(index, "GROUP", 50)
    told = index_flaws(place, manifest)
    assert told[0] == "ids 0 … 49 differ from the shards"
    assert len(told) == 4


def test_an_index_beside_a_lost_shard_cannot_be_compared(folder: Path, tmp_path: Path) -> None:
    place, manifest = Place(str(tmp_path)), StoredSet(str(folder)).manifest
    place.commit(INDEX, (folder / INDEX).read_bytes())
    (flaw,) = index_flaws(place, manifest)
    assert "a shard cannot be read" in flaw


def test_an_id_is_found_by_what_it_says_and_checked(folder: Path) -> None:
    stored, suite = StoredSet(str(folder)), suite_of()
    for number in (0, 83, 84, N - 1):
        assert stored.find(suite.row(number).id).instance == suite.row(number)
    other = replace(suite, seed="s1").row(84).id
    for name, why in (
        (other, "Check the seed"),
        (suite.row(N).id, f"no row {N}"),
        ("advanced-0001-0123456789ab", "not an id of causallink/core"),
        ("nonsense", "not an id"),
    ):
        with pytest.raises(ValueError, match=why):
            stored.find(name)


def test_refused_instances_leave_gaps_that_positions_close(gaps: Path) -> None:
    stored, suite = StoredSet(str(gaps)), suite_of()
    kept = [number for number in range(40) if number % MISSING]
    assert [stored[position].number for position in range(len(stored))] == kept
    assert list(stored.ids()) == [suite.row(number).id for number in kept]
    for position, number in enumerate(kept):
        assert stored.position(suite.row(number).id) == position
    with pytest.raises(ValueError, match="no row 10"):
        stored.find(suite.row(10).id)
    with pytest.raises(ValueError, match="without truth"):
        stored.truth(0)
    reads = stored._numbers.cache_info()
    assert reads.misses == 3, "the numbers of a shard are read once, and only where some lack"
    assert reads.hits > 20


def test_few_shards_and_groups_stay_in_memory(folder: Path, monkeypatch) -> None:
    monkeypatch.setattr(reading, "OPENED", 2)
    monkeypatch.setattr(reading, "GROUPS", 2)
    stored = StoredSet(str(folder))
    for position in range(0, N, 7):
        stored.instance(position)
    assert stored._file.cache_info().currsize <= 2
    assert stored._group.cache_info().currsize <= 2
    assert stored._group.cache_info().misses == 4


def test_a_set_stays_where_it_was_when_the_working_folder_changes(
    folder: Path, monkeypatch
) -> None:
    monkeypatch.chdir(folder.parent)
    stored = StoredSet(folder.name)
    monkeypatch.chdir("/")
    assert stored.instance(70) == suite_of().row(70)


def test_a_set_may_be_anywhere_that_fsspec_knows() -> None:
    suite = suite_of()
    place = Place("memory://sets/some")
    generate(Plan.of(suite, 6, rows=4), place)
    stored = find_set(place.address)
    assert stored is not None
    assert stored.find(suite.row(5).id).number == 5
    assert list(stored.ids()) == [suite.row(number).id for number in range(6)]


def test_what_is_no_set_is_told_from_what_is_not_finished(folder: Path, tmp_path: Path) -> None:
    assert find_set(str(folder)) is not None
    assert find_set(str(tmp_path / "nowhere")) is None
    (tmp_path / "plan.json").write_text('{"my": "plan"}')
    assert find_set(str(tmp_path)) is None
    half = tmp_path / "half"
    half.mkdir()
    (half / "plan.json").write_bytes((folder / "plan.json").read_bytes())
    with pytest.raises(ValueError, match="whybench data generate"):
        find_set(str(half))
    lost = tmp_path / "lost"
    lost.mkdir()
    (lost / "manifest.json").write_bytes((folder / "manifest.json").read_bytes())
    with pytest.raises(ValueError, match=r"instances/000000.parquet .* cannot be read"):
        StoredSet(str(lost)).instance(0)
