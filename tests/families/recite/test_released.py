"""The loader, on small files of the published schema."""

import datetime
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from whybench.families.recite.score import Handed, values
from whybench.families.recite.world.published import hub
from whybench.families.recite.world.published.texts import Released, explicitness, records, world


def row(number: int = 1, **changes: Any) -> dict[str, Any]:
    """A record of the published schema, its nested fields as JSON texts."""
    return {
        "id": number,
        "title": f"Text {number}",
        "source": "PLOS",
        "url": f"doi:{number}",
        "domains": '["Medicine", "Education"]',
        "num_nodes": 4,
        "num_edges": 4,
        "explicitness": 0.75,
        "nodes": '["sleep", "stress", "income", "Work hours"]',
        "edges": json.dumps(
            [
                {"source": "stress", "target": "sleep"},
                {"source": "sleep", "target": "stress"},
                {"source": "stress", "target": "sleep"},
                {"source": "Work hours", "target": "income"},
                {"source": "income", "target": "income"},
            ]
        ),
        "node_explicitness": '{"sleep": 1, "stress": 1, "income": 2, "Work hours": 3}',
        "input_text": "Stress keeps people awake, and lost sleep adds to stress.",
        "abstract": "On sleep.",
        "publication_date": "2023-04-05",
    } | changes


def plain(number: int = 1, **changes: Any) -> dict[str, Any]:
    """The same record with its nested fields as values."""
    decoded = {
        key: json.loads(row()[key]) for key in ("domains", "nodes", "edges", "node_explicitness")
    }
    return row(number, **(decoded | changes))


def written(folder: Path, *rows: dict[str, Any], name: str = "texts.jsonl") -> str:
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    if path.suffix == ".parquet":
        parquet.write_table(pa.Table.from_pylist(list(rows)), path)
    elif path.suffix == ".json":
        path.write_text(json.dumps(rows))
    else:
        path.write_text("".join(json.dumps(item) + "\n" for item in rows))
    return str(path)


def one(folder: Path, **changes: Any) -> Released:
    (found,) = records(written(folder, row(**changes)))
    return found


EXPECTED = Released(
    id=1,
    title="Text 1",
    source="PLOS",
    url="doi:1",
    domains=("Medicine", "Education"),
    text="Stress keeps people awake, and lost sleep adds to stress.",
    abstract="On sleep.",
    date="2023-04-05",
    nodes=("Work hours", "income", "sleep", "stress"),
    edges=((0, 1), (2, 3), (3, 2)),
    mention=("absent", "implicit", "explicit", "explicit"),
    stored_explicitness=0.75,
    duplicates=1,
    self_loops=1,
)


@pytest.mark.parametrize("name", ["texts.jsonl", "texts.json", "texts.parquet"])
@pytest.mark.parametrize("make", [row, plain])
def test_every_kind_of_file_gives_the_same_record(tmp_path: Path, name: str, make: Any) -> None:
    assert records(written(tmp_path, make(), name=name)) == (EXPECTED,)


def test_a_json_file_may_hold_one_record_a_line(tmp_path: Path) -> None:
    path = tmp_path / "lines.json"
    path.write_text(json.dumps(row(1)) + "\n\n" + json.dumps(row(2)) + "\n")
    assert [record.id for record in records(str(path))] == [1, 2]


def test_edges_may_end_in_sinks_or_targets_even_side_by_side(tmp_path: Path) -> None:
    edges = [
        {"source": "stress", "sink": "sleep"},
        {"source": "sleep", "target": "stress"},
        {"source": "Work hours", "sink": "income", "target": None},
    ]
    for name in ("mixed.parquet", "mixed.jsonl"):
        (record,) = records(written(tmp_path, plain(edges=edges), name=name))
        assert record.edges == EXPECTED.edges
        assert (record.duplicates, record.self_loops) == (0, 0)


def test_a_table_with_one_column_per_label_leaves_other_texts_names_out(tmp_path: Path) -> None:
    other = plain(
        2,
        nodes=["rain", "yield"],
        edges=[{"source": "rain", "target": "yield"}],
        node_explicitness={"rain": 1, "yield": 3},
    )
    first, second = records(written(tmp_path, plain(), other, name="wide.parquet"))
    assert first == EXPECTED
    assert second.mention == ("explicit", "absent")


def test_labels_may_come_as_a_map(tmp_path: Path) -> None:
    labels = pa.array(
        [[("sleep", 1), ("stress", 1), ("income", 2), ("Work hours", 3)]],
        pa.map_(pa.string(), pa.int64()),
    )
    table = pa.Table.from_pylist([row()]).drop_columns(["node_explicitness"])
    parquet.write_table(table.append_column("node_explicitness", labels), tmp_path / "m.parquet")
    assert records(str(tmp_path / "m.parquet")) == (EXPECTED,)


def test_blanks_around_and_within_names_do_not_matter(tmp_path: Path) -> None:
    nodes = '[" sleep", "stress ", "income", "Work  hours"]'
    assert one(tmp_path, nodes=nodes).nodes == EXPECTED.nodes


# Explicitness and worlds.


def test_explicitness_is_computed_from_the_labels_not_taken_from_the_record(tmp_path: Path) -> None:
    assert explicitness(one(tmp_path, explicitness=0.1)) == (0.75, 0.5)


def test_nodes_without_a_label_count_in_neither_share(tmp_path: Path) -> None:
    record = one(tmp_path, node_explicitness='{"sleep": 1, "stress": 2, "income": 3}')
    assert record.mention == (None, "absent", "explicit", "implicit")
    assert explicitness(record) == (2 / 3, 1 / 3)


@pytest.mark.parametrize("labels", [None, "", "{}"])
def test_without_labels_there_is_no_explicitness(tmp_path: Path, labels: str | None) -> None:
    record = one(tmp_path, node_explicitness=labels, explicitness=None)
    assert explicitness(record) is None
    assert record.stored_explicitness is None
    mentions = [node.mention for node in world(record, "free").nodes]
    assert mentions == ["implicit", "implicit", "explicit", "explicit"]


def test_a_world_shows_the_text_and_the_count_and_names_only_if_told() -> None:
    free, told = world(EXPECTED, "free"), world(EXPECTED, "told")
    assert (free.view.names, free.view.nodes) == ("free", ())
    assert (told.view.names, told.view.nodes) == ("told", EXPECTED.nodes)
    for made in (free, told):
        assert made.view.released
        assert (made.view.text, made.view.count) == (EXPECTED.text, 4)
        assert list(made.named()) == [
            ("Work hours", "income"),
            ("sleep", "stress"),
            ("stress", "sleep"),
        ]
        assert {(edge.status, edge.spans) for edge in made.edges} == {("unknown", ())}
        assert (made.cluster, made.title, made.date) == ("recast-1", "Text 1", "2023-04-05")
        assert made.domains == ("Medicine", "Education")


@pytest.mark.parametrize(
    ("stored", "expected"),
    [
        ("", ""),
        (None, ""),
        ("2023-04-05T10:00:00", "2023-04-05"),
        ("2023-04", "2023-04"),
        ("2023", "2023"),
        ("20230405", "2023-04-05"),
        ("unknown", ""),
        (20230405, ""),
    ],
)
def test_dates_are_days_months_years_or_unknown(
    tmp_path: Path, stored: object, expected: str
) -> None:
    assert one(tmp_path, publication_date=stored).date == expected


def test_a_date_may_come_as_a_column_of_dates(tmp_path: Path) -> None:
    for number, day in enumerate((datetime.date(2024, 2, 3), datetime.datetime(2024, 2, 3, 4))):
        name = f"dated{number}.parquet"
        (record,) = records(written(tmp_path, row(publication_date=day), name=name))
        assert record.date == "2024-02-03"


# Folders and the hub.


def test_a_folder_may_be_a_copy_of_the_hub_with_answers_beside(tmp_path: Path) -> None:
    written(tmp_path, row(), name="data/test-00000-of-00001.parquet")
    written(tmp_path, {"sample_id": 1}, name="responses.parquet")
    written(tmp_path, {"sample_id": 1}, name="evaluations.parquet")
    (tmp_path / "dataset_infos.json").write_text("{}")
    assert records(str(tmp_path)) == (EXPECTED,)


def test_a_folder_without_or_with_two_files_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="contains no file ending in"):
        records(str(tmp_path))
    written(tmp_path, row(), name="a.jsonl")
    written(tmp_path, row(), name="b.jsonl")
    with pytest.raises(ValueError, match=r"a\.jsonl, b\.jsonl\. Give the file"):
        records(str(tmp_path))


@pytest.mark.slow
def test_the_hub_path_reads_the_test_split_through_datasets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    datasets = pytest.importorskip("datasets")
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "copy"
    folder.mkdir()
    written(folder, row(1), row(2), name="data/test-00000-of-00001.parquet")
    written(folder, {"sample_id": 1}, name="responses.parquet")
    monkeypatch.setattr(hub, "places", lambda: {"Copy": hub.Place("Copy", str(folder))})
    monkeypatch.setattr(hub, "newest", lambda repository: "c" * 40)
    records.cache_clear()
    with pytest.warns(UserWarning, match="No commit of .* is fixed. This run reads ccc"):
        first, second = records("hub")
    records.cache_clear()
    origin = f"{folder}@{'c' * 40}"
    assert (first, second.id) == (replace(EXPECTED, origin=origin), 2)


@pytest.mark.parametrize("trouble", [ConnectionError("offline"), ValueError("Unknown split")])
def test_a_hub_out_of_reach_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch, trouble: Exception
) -> None:
    datasets = pytest.importorskip("datasets")

    def fail(*_: object, **__: object) -> None:
        raise trouble

    monkeypatch.setattr(datasets, "load_dataset", fail)
    fixed = hub.Place("ReCast", "RyanSaklad/ReCast", "a" * 40)
    monkeypatch.setattr(hub, "places", lambda: {"ReCast": fixed})
    with pytest.raises(ValueError, match=r"cannot be downloaded .* local Parquet or JSONL copy"):
        records("hub")


def test_both_names_of_the_repository_are_known_and_others_refused() -> None:
    assert hub.chosen("hub").repository == "RyanSaklad/ReCast"
    assert hub.chosen("hub:ReCITE").repository == "RyanSaklad/ReCITE"
    with pytest.raises(ValueError, match=r"no data set 'Recite' here\. Use ReCast"):
        records("hub:Recite")


def test_a_command_fixes_the_commit_of_one_data_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "hub.toml"
    file.write_text(hub.PLACES.read_text("utf-8"), "utf-8")
    monkeypatch.setattr(hub, "newest", lambda repository: "b" * 40)
    assert hub.fix("ReCITE", path=file).revision == "b" * 40
    assert hub.fix("ReCITE", "d" * 40, path=file).revision == "d" * 40
    assert hub.places(file)["ReCast"] == hub.places()["ReCast"]
    with pytest.raises(ValueError, match="'main' is not a commit"):
        hub.fix("ReCast", "main", path=file)


def test_the_commit_of_a_text_stands_in_its_score() -> None:
    found = world(replace(EXPECTED, origin="RyanSaklad/ReCast@c"), "free")
    _, labels = values(found, Handed("no_answer", None, 1, False), "lexical")
    assert labels["data"] == "RyanSaklad/ReCast@c"
    _, labels = values(world(EXPECTED, "free"), Handed("no_answer", None, 1, False), "lexical")
    assert "data" not in labels


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(RuntimeError, match=r"pip install 'whybench\[hub\]'"):
        records("hub")


# Files that are not as they should be.


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"nodes": '["sleep", "stress", "income"]'}, "uses 'Work hours', which is not in `nodes`"),
        ({"nodes": '["sleep"]'}, "at least two nodes"),
        ({"nodes": "sleep, stress"}, "`nodes` is not JSON"),
        ({"nodes": '{"a": 1}'}, "`nodes` must be a list"),
        ({"nodes": '["", "a"]'}, "`nodes` must contain names"),
        ({"nodes": "[1, 2]"}, "`nodes` must contain names, not 1"),
        ({"edges": None}, "`edges` must be a list"),
        ({"edges": '["a->b"]'}, "object with source and target"),
        ({"edges": '[{"source": "sleep"}]'}, "`edges` must contain names, not None"),
        ({"node_explicitness": '{"sleep": 4}'}, "of 'sleep' must be 1, 2 or 3, not 4"),
        ({"node_explicitness": "[1]"}, "record 2"),
        ({"input_text": " "}, "`input_text` must contain the text"),
        ({"id": "seven"}, "`id` must be an integer"),
        ({"explicitness": "much"}, "record 2"),
    ],
)
def test_a_wrong_record_is_named(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    path = written(tmp_path, row(1), row(7, **changes))
    with pytest.raises(ValueError, match="record 2") as error:
        records(path)
    assert message in str(error.value)
    assert repr(changes.get("id", 7)) in str(error.value)


def test_an_id_may_not_be_there_twice(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="record 2: id 1 occurs twice"):
        records(written(tmp_path, row(), row()))


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.parquet", b"no table", r"a\.parquet cannot be read .* Download it again"),
        ("a.jsonl", b'{"id": 1}\n{"id"', r"a\.jsonl cannot be read \(line 2 is not JSON"),
        ("a.jsonl", b"\xff\xfe", r"a\.jsonl cannot be read"),
        ("a.jsonl", b"", "contains no records"),
        ("a.jsonl", b"[1]", "record 1: a record must be an object"),
        ("a.json", b"[{]", r"a\.json cannot be read"),
        ("a.csv", b"id", "Give a file ending in"),
    ],
)
def test_a_broken_file_is_named(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=message):
        records(str(tmp_path / name))


def test_a_missing_file_says_what_can_be_given(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="Give 'hub', or a Parquet or JSONL copy"):
        records(str(tmp_path / "nowhere.jsonl"))
