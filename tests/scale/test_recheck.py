import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as parquet
import pytest
from tests.scale.sets import planned, stored
from typer.testing import CliRunner

from whybench.cli import app
from whybench.interfaces.stored.place import Place
from whybench.scale.recheck import recheck


def flaws(folder: Path) -> list[tuple[str, str]]:
    return [flaw for shard in recheck(Place(str(folder))) for flaw in shard.flaws]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    stored(tmp_path, planned(n=12, rows=5))
    return tmp_path


def rewritten(path: Path, change: Callable[[list[dict[str, Any]]], object]) -> None:
    """Change rows of a file, and vouch for the change in the manifest, as a forger would."""
    from hashlib import sha256

    table = parquet.read_table(path)
    rows = table.to_pylist()
    change(rows)
    parquet.write_table(type(table).from_pylist(rows, schema=table.schema), path)
    manifest = path.parent.parent / "manifest.json"
    told = json.loads(manifest.read_text())
    told["shards"][int(path.stem)]["hashes"][path.parent.name] = sha256(
        path.read_bytes()
    ).hexdigest()
    manifest.write_text(json.dumps(told))


def test_a_set_as_made_has_no_flaw(folder: Path, tmp_path: Path) -> None:
    assert flaws(folder) == []
    stored(tmp_path / "shown", planned("causalab/main_3", n=3, truth=False))
    assert flaws(tmp_path / "shown") == []


def test_changed_bytes_are_noticed(folder: Path) -> None:
    path = folder / "truth" / "000001.parquet"
    parquet.write_table(parquet.read_table(path), path, compression="none")
    assert flaws(folder) == [("truth/000001.parquet", "the hash differs from the manifest")]
    path.write_bytes(path.read_bytes()[:-9])
    assert [what for what, why in flaws(folder) if "cannot be read" in why] == [
        "truth/000001.parquet"
    ]
    path.unlink()
    assert [what for what, why in flaws(folder) if "cannot be read" in why] == [
        "truth/000001.parquet"
    ]


def test_a_row_that_is_hidden_as_refused_is_noticed(folder: Path) -> None:
    reason = "the exact agent does not reach the best score"
    path = folder / "instances" / "000000.parquet"
    for part in ("instances", "truth"):
        rewritten(folder / part / "000000.parquet", lambda rows: rows.pop(3))
    manifest = folder / "manifest.json"
    told = json.loads(manifest.read_text())
    told["shards"][0] |= {"rows": 4, "refused": {reason: 1}}
    manifest.write_text(json.dumps(told))
    assert parquet.read_metadata(path).num_rows == 4
    assert any("'no defect': 1" in why for _, why in flaws(folder))


def test_other_plans_notes_and_canaries_are_noticed(folder: Path) -> None:
    plan = folder / "plan.json"
    plan.write_text(plan.read_text().replace('"n": 12', '"n": 11').replace("canary", "bird", 1))
    path = folder / "truth" / "000002.parquet"
    table = parquet.read_table(path)
    parquet.write_table(table.replace_schema_metadata({}), path)
    found = flaws(folder)
    assert ("plan.json", "the plan differs from the plan in the manifest") in found
    assert ("plan.json", "the file has no canary") in found
    assert any(what == "truth/000002.parquet" and "cannot be read" in why for what, why in found)


@pytest.mark.parametrize(
    ("part", "column", "value"),
    [
        ("instances", "instructions", "another text"),
        ("instances", "cluster", "000000000000"),
        ("instances", "index", 77),
        ("instances", "bits", 3.0),
        ("instances", "fewest", 9),
        ("truth", "truth", "{}"),
        ("truth", "covariates", "{}"),
        ("truth", "system", bytes(16)),
        ("truth", "problem", bytes(16)),
        ("truth", "id", "core-0000-000000000000"),
    ],
)
def test_every_column_is_checked(folder: Path, part: str, column: str, value: object) -> None:
    def change(rows: list[dict[str, Any]]) -> None:
        rows[2][column] = value

    rewritten(folder / part / "000000.parquet", change)
    found = flaws(folder)
    assert any(f"{column} differs from the rebuilt instance" in why for _, why in found)


def test_a_false_proof_is_noticed(folder: Path) -> None:
    def change(rows: list[dict[str, Any]]) -> None:
        proof = json.loads(rows[1]["certificate"])
        proof["best_score"] = 0.5
        rows[1] |= {"best_score": 0.5, "certificate": json.dumps(proof)}

    rewritten(folder / "instances" / "000000.parquet", change)
    assert any("best_score" in why for _, why in flaws(folder))


@pytest.mark.parametrize("times", [0, 2])
def test_a_row_that_is_missing_or_double_is_noticed(folder: Path, times: int) -> None:
    rewritten(
        folder / "instances" / "000001.parquet",
        lambda rows: rows.__setitem__(slice(1, 2), rows[1:2] * times),
    )
    assert ("instances/000001.parquet") in [what for what, _ in flaws(folder)]


def test_a_shard_that_the_manifest_forgets_is_noticed(folder: Path) -> None:
    path = folder / "manifest.json"
    told = json.loads(path.read_text())
    del told["shards"][2]
    path.write_text(json.dumps(told))
    found = flaws(folder)
    assert ("manifest.json", "the plan has 3 shards, but 2 are listed") in found
    assert ("manifest.json", "digest does not match the shards") in found


def test_the_command_exits_with_1_and_counts(folder: Path) -> None:
    run = CliRunner().invoke
    good = run(app, ["certify", str(folder), "--workers", "0", "--json"])
    assert (good.exit_code, json.loads(good.stdout)["instances"]) == (0, 12)
    rewritten(folder / "truth" / "000000.parquet", lambda rows: rows[0].update(truth="{}"))
    bad = run(app, ["certify", str(folder), "--workers", "0", "--json"])
    assert bad.exit_code == 1
    assert json.loads(bad.stdout)["flaws"] == 3  # the row; manifest and index have its digest
    (folder / "manifest.json").unlink()
    unfinished = run(app, ["certify", str(folder), "--workers", "0"])
    assert unfinished.exit_code == 2
    assert "generate" in unfinished.output
