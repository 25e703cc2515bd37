import json
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow.parquet as parquet
import pytest
from tests.scale.planted import Row, planted
from tests.scale.sets import planned, stored

from whybench import CANARY
from whybench.causal.seeds import Stream
from whybench.interfaces.stored.place import Place
from whybench.interfaces.stored.plan import DISTINCT
from whybench.scale import keys as counting
from whybench.scale.distinct import Duplicates, as_pilot, duplicates, write_distinct
from whybench.scale.keys import By
from whybench.scale.repeats import figure

WIDTH = 3
"""Rows of a draw in the sets that are made up here."""


def rows_of(folder: Path) -> list[dict[str, Any]]:
    paths = sorted((folder / "truth").iterdir())
    return [row for path in paths for row in parquet.read_table(path).to_pylist()]


def random_rows(*path: str | int, n: int = 100) -> list[Row | None]:
    """Return draws of three questions about common and rare systems; some rows are refused."""
    stream, rows = Stream("planted", *path), list[Row | None]()
    while len(rows) < n:
        system = stream.below(1 + stream.below(12))
        rows += [{"system": system, "problem": [system, stream.below(5)]} for _ in range(WIDTH)]
    return [row if stream.below(8) else None for row in rows[:n]]


def counted_plainly(sets: list[list[dict[str, Any]]], by: By, width: int) -> dict[str, Any]:
    """Count all rows in memory."""
    found = []
    for rows in sets:
        kept, draws = [], set[int]()
        for row in rows:
            if by == "problem" or row["row"] // width not in draws:
                kept.append(row)
            draws.add(row["row"] // width)
        found.append(kept)
    every = [row[by] for rows in found for row in rows]
    shown = Counter[bytes]()
    for rows in found:
        shown.update(key for key, _ in {(row[by], row["row"] // width) for row in rows})
    have = [{row[by] for row in rows} for rows in found]
    return {
        "sets": [(len(rows), len(keys)) for rows, keys in zip(found, have, strict=True)],
        "all": (len(every), len(set(every))),
        "shared": tuple(tuple(len(a & b) for b in have) for a in have),
        "largest": max(Counter(every).values()),
        "spectrum": tuple(sorted(Counter(shown.values()).items())),
        "draws": sum(len({row["row"] // width for row in rows}) for rows in found),
        "keys": every,
    }


def agree(found: Duplicates, plain: dict[str, Any]) -> None:
    assert [(one.counted, one.distinct) for one in found.sets] == plain["sets"]
    assert (found.all.counted, found.all.distinct) == plain["all"]
    assert found.all.rate == 1 - plain["all"][1] / plain["all"][0]
    for name in ("shared", "largest", "spectrum", "draws"):
        assert getattr(found, name) == plain[name], name
    assert found.curve == tuple((n, len(set(plain["keys"][:n]))) for n, _ in found.curve)
    assert found.curve[-1] == plain["all"]


@pytest.mark.parametrize("by", ["problem", "system"])
@pytest.mark.parametrize("seed", range(4))
def test_planted_sets_are_counted_as_in_memory(
    tmp_path: Path, by: By, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counting, "BATCH", (5, 20, 64, 1000)[seed])
    names = ["one", "two", "three"]
    sets = [
        planted(str(tmp_path / name), random_rows(seed, name), size=7 + i, seed=name)
        for i, name in enumerate(names)
    ]
    found = duplicates([str(tmp_path / name) for name in names], by)
    assert found.widths == (WIDTH,) * 3
    agree(found, counted_plainly(sets, by, WIDTH))
    alone = duplicates([str(tmp_path / "two")], by)
    agree(alone, counted_plainly(sets[1:2], by, WIDTH))
    json.dumps(found.to_json())


@pytest.mark.parametrize("by", ["problem", "system"])
def test_generated_sets_are_counted_as_in_memory(tmp_path: Path, by: By) -> None:
    for seed in ("a", "b"):
        parameters = {"n": 4, "graphs": 12}
        plan = planned(
            "causallink/advanced", 72, 20, seed=seed, profile="published", parameters=parameters
        )
        stored(tmp_path / seed, plan)
    paths = [tmp_path / "a", tmp_path / "b"]
    found = duplicates([str(path) for path in paths], by)
    assert found.widths == (6, 6)
    agree(found, counted_plainly([rows_of(path) for path in paths], by, 6))
    if by == "system":
        assert found.all.counted == 24
        assert found.all.distinct <= 8
        pilot = duplicates([str(tmp_path / "a")], by).pilot
        assert all(row["inside"] for row in figure(found.curve, pilot))


def test_rows_that_are_all_different_do_not_repeat(tmp_path: Path) -> None:
    planted(str(tmp_path), [{} for _ in range(50)])
    found = duplicates([str(tmp_path)])
    assert (found.all.rate, found.largest, found.widths) == (0, 1, (1,))


def test_one_system_throughout_is_no_draw(tmp_path: Path) -> None:
    planted(str(tmp_path), [{"system": 1} for _ in range(30)])
    found = duplicates([str(tmp_path)], "system")
    assert (found.all.counted, found.all.distinct, found.largest) == (30, 1, 30)


def kept(folder: Path) -> list[int]:
    rows: list[int] = parquet.read_table(folder / DISTINCT)["row"].to_pylist()
    return rows


@pytest.mark.parametrize("by", ["problem", "system"])
def test_the_first_row_of_each_key_is_kept(tmp_path: Path, by: By) -> None:
    rows = planted(str(tmp_path), random_rows("keep"))
    told = write_distinct(str(tmp_path), by)
    firsts = {row[by]: row["row"] for row in reversed(rows)}
    assert kept(tmp_path) == sorted(firsts.values())
    assert (told.rows, told.distinct, told.shared, told.kept) == (
        len(rows), len(firsts), 0, len(firsts),
    )  # fmt: skip


def test_splits_share_nothing_with_the_sets_they_are_kept_apart_from(tmp_path: Path) -> None:
    train = planted(
        str(tmp_path / "train"), [{"problem": k} for k in range(40)], seed="train", size=9
    )
    more = planted(str(tmp_path / "more"), [{"problem": 58}] * 3, seed="more")
    test = planted(str(tmp_path / "test"), [{"problem": k % 35 + 25} for k in range(70)], size=9)
    paths = [str(tmp_path / name) for name in ("train", "more", "test")]
    assert duplicates(paths).shared == ((40, 0, 15), (0, 1, 1), (15, 1, 35))

    told = write_distinct(paths[2], against=paths[:2])
    assert (told.distinct, told.shared, told.kept) == (35, 16, 19)
    left = {row["problem"] for row in test if row["row"] in kept(tmp_path / "test")}
    assert not left & {row["problem"] for row in train + more}
    assert kept(tmp_path / "test") == [k for k in range(15, 35) if k + 25 != 58]


def test_the_file_is_the_same_whenever_and_wherever_it_is_made(tmp_path: Path) -> None:
    for place in ("here", "there"):
        planted(str(tmp_path / place / "own"), random_rows("own"))
        planted(str(tmp_path / place / "one"), random_rows("one"), seed="one")
        planted(str(tmp_path / place / "two"), random_rows("two"), seed="two")
    files = []
    for place, order in (
        ("here", ("one", "two")),
        ("here", ("two", "one")),
        ("there", ("one", "two")),
    ):
        others = [str(tmp_path / place / name) for name in order]
        write_distinct(str(tmp_path / place / "own"), against=others)
        files.append((tmp_path / place / "own" / DISTINCT).read_bytes())
    assert files[0] == files[1] == files[2]
    words = parquet.read_metadata(tmp_path / "here" / "own" / DISTINCT).metadata
    assert words[b"canary"].decode() == CANARY
    note = json.loads(words[b"whybench"])
    assert note["by"] == "problem"
    assert len(note["against"]) == 2
    assert str(tmp_path) not in words[b"whybench"].decode()


def test_sets_elsewhere_are_counted_too(tmp_path: Path) -> None:
    rows = random_rows("remote")
    here, there = str(tmp_path), "memory://whybench-distinct/set"
    planted(here, rows)
    planted(there, rows)
    assert duplicates([there]).all.distinct == duplicates([here]).all.distinct
    write_distinct(there)
    write_distinct(here)
    assert Place(there).read(DISTINCT) == (tmp_path / DISTINCT).read_bytes()


def test_bad_questions_are_refused_with_advice(tmp_path: Path) -> None:
    stored(tmp_path / "blind", planned(n=10, rows=10, truth=False))
    planted(str(tmp_path / "set"), [{}, {}])
    with pytest.raises(ValueError, match="--no-truth"):
        duplicates([str(tmp_path / "blind")])
    with pytest.raises(ValueError, match="--no-truth"):
        write_distinct(str(tmp_path / "set"), against=[str(tmp_path / "blind")])
    with pytest.raises(ValueError, match="also in `against`"):
        write_distinct(str(tmp_path / "set"), against=[str(tmp_path / "set")])
    with pytest.raises(ValueError, match="Use `problem` or `system`"):
        duplicates([str(tmp_path / "set")], "truth")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="no manifest"):
        duplicates([str(tmp_path / "nowhere")])
    with pytest.raises(ValueError, match="at least one"):
        duplicates([])


def test_the_same_set_is_not_counted_twice(tmp_path: Path) -> None:
    for name in ("one", "copy"):
        planted(str(tmp_path / name), [{}, {}])
    planted(str(tmp_path / "two"), [{"problem": 5}, {}], seed="two")
    one, copy, two = (str(tmp_path / name) for name in ("one", "copy", "two"))
    for paths in ([one, one], [one, two, copy]):
        with pytest.raises(ValueError, match=r"the same set.*Give the set once"):
            duplicates(paths)
    assert duplicates([one, two]).all.counted == 4


def test_a_pilot_is_of_the_same_law_and_of_other_draws(tmp_path: Path) -> None:
    def made(name: str, n: int = 12, **more: Any) -> str:
        parameters = {"n": 4, "graphs": 12} | more.pop("parameters", {})
        more.setdefault("profile", "published")  # there, six questions are about one graph
        plan = planned("causallink/advanced", n, 6, parameters=parameters, **more)
        stored(tmp_path / name, plan)
        return str(tmp_path / name)

    path, one, two = made("set"), made("one", seed="a"), made("two", seed="b")
    assert as_pilot([one, two], [path]) == duplicates([one, two]).pilot
    assert as_pilot([one], [path, two], "system").rows == 2
    with pytest.raises(ValueError, match=r"share rows.*another seed than 'public'"):
        as_pilot([path], [path])
    with pytest.raises(ValueError, match="share rows"):
        as_pilot([one, made("shorter", 6)], [path])
    with pytest.raises(ValueError, match="share rows"):
        as_pilot([one, made("longer", 18, seed="a")], [path])
    with pytest.raises(ValueError, match=r"differ in parameters.*differs only in --seed"):
        as_pilot([made("larger", seed="c", parameters={"n": 5})], [path])
    with pytest.raises(ValueError, match="differ in profile"):
        as_pilot([made("certified", seed="c", profile="certified")], [path])
