import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as parquet
import pytest
from tests.scale.sets import contents, planned, stored
from typer.testing import CliRunner

from whybench import CANARY
from whybench.causal.canonical import Record, canonical_json
from whybench.cli import app
from whybench.episode.certificate import Certificate
from whybench.episode.registry import families, load_suite
from whybench.interfaces.stored.manifest import Shard, read_manifest
from whybench.interfaces.stored.place import Place
from whybench.interfaces.stored.plan import Plan, read_plan
from whybench.scale import shard as shards
from whybench.scale.shard import made


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("set")
    stored(path, planned())
    return path


def rows(folder: Path, part: str) -> list[dict[str, object]]:
    return [
        row
        for path in sorted((folder / part).iterdir())
        for row in parquet.read_table(path).to_pylist()
    ]


def test_rows_are_the_instances_of_the_suite_and_its_next_block(folder: Path) -> None:
    suite = load_suite("causallink/core")
    family = suite.family
    shown, hidden = rows(folder, "instances"), rows(folder, "truth")
    assert [row["row"] for row in shown] == list(range(90))
    assert [(row["block"], row["index"]) for row in shown] == [divmod(r, 84) for r in range(90)]
    for number in (0, 83, 84, 89):
        instance = suite.row(number)
        assert shown[number]["id"] == hidden[number]["id"] == instance.id
        assert shown[number]["instructions"] == family.open(instance).instructions("plain")
        stored_proof = Certificate.from_json(json.loads(str(shown[number]["certificate"])))
        assert stored_proof == family.certify(instance)
        assert hidden[number]["truth"] == canonical_json(family.truth(instance))


def test_a_further_block_shares_no_draw_with_the_first() -> None:
    suite = load_suite("causallink/advanced")
    family = suite.family
    first, again = (family.world(suite.row(number)) for number in (5, 5 + len(suite)))
    assert first != again
    assert suite.row(5).id.startswith("advanced-0005-")
    assert suite.row(5 + len(suite)).id.startswith("advanced-1.0005-")


@pytest.mark.parametrize("name", sorted(families()))
def test_an_instance_of_a_further_block_is_rebuilt_from_its_coordinates(name: str) -> None:
    family = families()[name]
    cheap = {"replayscm": "ord_cert", "recite": "short"}.get(name, next(iter(family.suites)))
    suite = family.suite(cheap)
    one = suite.row(len(suite) + 1)
    assert one.block == 1
    assert family.rebuilt(json.loads(canonical_json(one.to_json()))) == one
    with pytest.raises(ValueError, match="score it with the WhyBench that made it"):
        family.rebuilt(replace(one, block=2).to_json())


def test_the_same_set_whatever_is_done_in_which_order(folder: Path, tmp_path: Path) -> None:
    plan = planned()
    again = tmp_path / "again"
    place = Place(str(again))
    for number in (3, 1):
        shards.settled(plan, place, {}, number)
    stored(again, plan)
    assert contents(again) == contents(folder)


def test_a_shard_does_not_depend_on_how_many_there_are(folder: Path, tmp_path: Path) -> None:
    longer = tmp_path / "longer"
    stored(longer, planned(n=130))
    shared = [f"{part}/{k:06d}.parquet" for part in ("instances", "truth") for k in range(3)]
    assert all(contents(longer)[name] == contents(folder)[name] for name in shared)


def test_a_set_grows_and_its_short_shard_with_it(tmp_path: Path) -> None:
    grown, whole = tmp_path / "grown", tmp_path / "whole"
    stored(grown, planned(n=40))
    stored(grown, planned(n=60))
    stored(whole, planned(n=60))
    assert contents(grown) == contents(whole)
    with pytest.raises(ValueError, match="60 rows"):
        stored(grown, planned(n=40))


def test_another_set_does_not_mix_with_what_is_there(folder: Path) -> None:
    before = contents(folder)
    with pytest.raises(ValueError, match='seed is "public" there and "other" here'):
        stored(folder, planned(seed="other"))
    with pytest.raises(ValueError, match="rows is 25 there and 10 here"):
        stored(folder, planned(rows=10))
    assert contents(folder) == before


def test_what_is_there_is_not_made_again(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "set"
    stored(path, planned())
    (path / "instances" / "000002.parquet").unlink()
    (path / "manifest.json").unlink()
    (path / "instances" / f".000002.parquet.{'a' * 32}.tmp").write_bytes(b"half")
    numbers = []

    def noted(plan: Plan, number: int) -> object:
        numbers.append(number)
        return made(plan, number)

    monkeypatch.setattr(shards, "made", noted)
    stored(path, planned())
    assert numbers == [2]
    assert contents(path) == contents(folder)


@pytest.mark.parametrize("vouched", [True, False])
@pytest.mark.parametrize("harm", ["torn", "another shard's", "another seed's", "re-packed"])
def test_what_is_not_its_own_is_made_again(
    folder: Path, tmp_path: Path, harm: str, vouched: bool
) -> None:
    path = tmp_path / "set"
    stored(path, planned())
    broken = path / "truth" / "000000.parquet"
    if harm == "torn":
        broken.write_bytes(broken.read_bytes()[:-200])
    elif harm == "another shard's":
        broken.write_bytes((path / "truth" / "000001.parquet").read_bytes())
    elif harm == "another seed's":
        stored(tmp_path / "other", planned(seed="other"))
        broken.write_bytes((tmp_path / "other" / "truth" / "000000.parquet").read_bytes())
    else:
        parquet.write_table(parquet.read_table(broken), broken, compression="none")
    if not vouched:
        (path / "manifest.json").unlink()
    stored(path, planned())
    same = contents(path) == contents(folder)
    assert same or (
        harm == "re-packed" and not vouched
    )  # the same rows, and nobody knew their hash


def test_other_versions_than_the_plan_names_make_nothing(tmp_path: Path) -> None:
    other = planned().made_with.asdict() | {"rapidfuzz": "0"}
    plan = replace(planned(), made_with=Record(other.items()))
    with pytest.raises(ValueError, match="The set was made with rapidfuzz"):
        stored(tmp_path, plan)
    assert not (tmp_path / "instances").exists()


def test_two_runs_at_one_place_never_vouch_for_each_other(tmp_path: Path) -> None:
    longer = planned(n=60)

    def grow(shard: Shard) -> None:
        if shard.number == 0:
            stored(tmp_path, longer)

    with pytest.raises(ValueError, match="Another run has changed the plan"):
        stored(tmp_path, planned(n=40), progress=grow)
    stored(tmp_path, longer)
    assert [row["row"] for row in rows(tmp_path, "instances")] == list(range(60))


def test_only_drafts_of_our_own_are_swept(tmp_path: Path) -> None:
    mine = tmp_path / "notes" / ".draft.tmp"
    mine.parent.mkdir()
    mine.touch()
    left = tmp_path / "truth" / f".000000.parquet.{'0' * 32}.tmp"
    left.parent.mkdir()
    left.touch()
    stored(tmp_path, planned(n=10))
    assert mine.exists()
    assert not left.exists()


def test_a_relative_folder_is_the_one_where_the_command_was_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    place = Place("here")
    monkeypatch.chdir("/")
    place.commit("plan.json", b"{}")
    assert (tmp_path / "here" / "plan.json").exists()


def test_without_truth_there_is_none_in_any_file(tmp_path: Path) -> None:
    stored(tmp_path, planned("causalab/main_3", n=4, truth=False))
    assert not (tmp_path / "truth").exists()
    shown = rows(tmp_path, "instances")
    proofs = [json.loads(str(row["certificate"])) for row in shown]
    assert all(proof["facts"] == {} and proof["witness"] is None for proof in proofs)
    assert "system" not in shown[0]
    assert "problem" not in shown[0]


def test_an_instance_that_is_not_proven_is_refused_and_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    family = families()["causallink"]
    prove = family.certify

    def doubtful(instance):
        return replace(prove(instance), solvable=instance.index % 10 != 7)

    monkeypatch.setattr(family, "certify", doubtful)
    monkeypatch.setattr(family, "discarded", lambda _: Record.of(tangled=2))
    manifest = stored(tmp_path, planned(n=50))
    assert manifest.rows == 45
    told = json.loads((tmp_path / "manifest.json").read_text())
    assert told["asked"] == 50
    assert told["instances"] == 45
    assert told["refused"] == {"the exact agent does not reach the best score": 5}
    assert told["refusal_rate"] == 0.1
    assert told["discarded"] == {"tangled": 100}
    assert told["discard_rate"] == 100 / 150
    assert 7 not in [row["row"] for row in rows(tmp_path, "instances")]
    again = stored(tmp_path, planned(n=50))
    assert again == manifest


def test_plan_and_manifest_survive_json(folder: Path) -> None:
    place = Place(str(folder))
    assert read_plan(place) == planned()
    manifest = read_manifest(place)
    assert manifest.plan == planned()
    assert [shard.rows for shard in manifest.shards] == [25, 25, 25, 15]


def test_every_file_carries_the_canary(folder: Path) -> None:
    for path in folder.rglob("*.json"):
        assert json.loads(path.read_text())["canary"] == CANARY
    for path in folder.rglob("*.parquet"):
        assert parquet.read_metadata(path).metadata[b"canary"] == CANARY.encode()


@pytest.fixture
def in_memory() -> Iterator[str]:
    import fsspec

    address = "memory://whybench-test/set"
    yield address
    fsspec.filesystem("memory").rm("/whybench-test", recursive=True)


def test_an_address_is_as_good_as_a_folder(folder: Path, in_memory: str) -> None:
    from whybench.scale.generate import generate

    place = Place(in_memory)
    generate(planned(), place)
    for name, data in contents(folder).items():
        assert place.read(name) == data


def test_the_command_says_what_it_made_and_what_is_wrong(tmp_path: Path) -> None:
    run = CliRunner().invoke
    out = str(tmp_path / "set")
    asked = [
        "data",
        "generate",
        "causallink/core",
        "--n",
        "12",
        "--rows",
        "5",
        "--out",
        out,
        "--workers",
        "0",
    ]
    found = run(app, [*asked, "--json"])
    assert found.exit_code == 0, found.output
    told = json.loads(found.stdout)
    assert (told["instances"], told["shards"]) == (12, 3)
    assert run(app, [*asked, "--seed", "other"]).exit_code == 2
    assert (
        run(app, ["data", "generate", "causallink/nothing", "--n", "1", "--out", out]).exit_code
        == 2
    )
