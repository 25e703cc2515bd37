import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from whybench import CANARY
from whybench.causal.canonical import digest
from whybench.causal.suite_seeds import SECRETS, keep, name_of, revealed
from whybench.episode.registry import load_suite
from whybench.interfaces.stored.place import Place
from whybench.interfaces.stored.plan import Plan
from whybench.scale.commitment import (
    KIND,
    announcement,
    commitment,
    disclosed,
    prove,
    read_commitment,
    sampled,
    seal,
    write_commitment,
)
from whybench.scale.generate import generate

SECRET, OTHER = "the-secret-of-all-these-tests", "another-secret-of-the-tests"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """A private set of five shards, made while its secret was known."""
    made = Place(str(tmp_path_factory.mktemp("set")))
    with revealed(SECRET) as seed:
        generate(Plan.of(load_suite("causallink/core", seed=seed), 14, rows=3), made)
    return made


@pytest.fixture(scope="module")
def data(place: Place) -> dict[str, Any]:
    return commitment(place)


@pytest.fixture(autouse=True)
def no_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(SECRETS, raising=False)


def sealed(data: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """What a maker would publish who had other things to say."""
    said = {**deepcopy(data), **changes}
    return {**said, "seal": seal(said)}


def test_the_revealed_secret_proves_the_set(place: Place, data: dict[str, Any]) -> None:
    assert prove(data, secret=SECRET) == []
    assert prove(data, secret=SECRET, place=place, published=data["seal"]) == []


def test_the_file_of_secrets_serves_as_well(
    data: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(SECRETS, str(tmp_path / "secrets"))
    keep(OTHER)
    keep(SECRET)
    assert prove(data, sample=1, challenge="tails") == []
    assert disclosed(tmp_path / "secrets", data["plan"]["seed"]) == SECRET


def test_without_the_secret_nothing_is_proven_but_stored_files_are_compared(
    place: Place, data: dict[str, Any]
) -> None:
    (only,) = prove(data, place=place)
    assert "not known here" in only


def test_another_secret_is_told_by_its_name(data: dict[str, Any]) -> None:
    (only,) = prove(data, secret=OTHER)
    assert name_of(OTHER) in only
    assert name_of(SECRET) in only
    assert OTHER not in only


def test_a_shard_that_the_secret_does_not_give_is_found(data: dict[str, Any]) -> None:
    shards = deepcopy(data["shards"])
    shards[2]["hashes"]["truth"] = "0" * 64
    (digest_fault,) = prove(sealed(data, shards=shards), secret=SECRET)
    assert "digest" in digest_fault

    whole = digest([shard["hashes"] for shard in shards]).hex()
    forged = sealed(data, shards=shards, digest=whole)
    assert prove(forged, secret=SECRET) == [
        "Shard 2: the regenerated shard differs from the commitment."
    ]
    other = {**data["plan"], "made_with": {**data["plan"]["made_with"], "pyarrow": "1.0"}}
    assert "pyarrow 1.0" in prove(sealed(data, plan=other), secret=SECRET)[-1]


def test_a_stored_file_that_was_touched_or_lost_is_found(
    place: Place, data: dict[str, Any], tmp_path: Path
) -> None:
    copy = Place(str(tmp_path))
    for number in range(5):
        for part in ("instances", "truth"):
            name = f"{part}/{number:06d}.parquet"
            copy.commit(name, place.read(name))
    copy.commit("truth/000001.parquet", place.read("truth/000002.parquet"))
    copy.remove("instances/000003.parquet")
    found = prove(data, secret=SECRET, place=copy, sample=1, challenge="heads")
    assert found == [
        "Shard 1: truth/000001.parquet differs from the commitment.",
        "Shard 3: instances/000003.parquet is missing.",
    ]


def test_a_commitment_that_was_touched_is_found(data: dict[str, Any]) -> None:
    (only,) = prove({**data, "instances": 15}, secret=SECRET)[:1]
    assert "seal" in only
    assert "published" in prove(sealed(data, note="late"), secret=SECRET, published=data["seal"])[0]
    assert prove(sealed(data, instances=15), secret=SECRET)
    assert prove(sealed(data, plan={**data["plan"], "n": 99}), secret=SECRET)
    assert prove({"kind": data["kind"]}, secret=SECRET)


def test_the_challenge_chooses_the_sample_and_the_seal_has_its_say(data: dict[str, Any]) -> None:
    drawn = {tuple(sampled(data, 2, f"toss {toss}")) for toss in range(60)}
    assert len(drawn) == 10
    assert sampled(data, 2, "toss 1") == sampled(data, 2, "toss 1")
    assert any(
        sampled(data, 2, f"toss {toss}") != sampled(sealed(data, note="x"), 2, f"toss {toss}")
        for toss in range(10)
    )
    assert sampled(data, 99, "all") == [0, 1, 2, 3, 4]
    for few, challenge in ((0, "toss"), (2, "")):
        with pytest.raises(ValueError, match="challenge"):
            sampled(data, few, challenge)


def test_what_is_published_tells_neither_the_secret_nor_an_instance(
    place: Place, data: dict[str, Any], tmp_path: Path
) -> None:
    write_commitment(data, tmp_path / "out" / "commitment.json")
    text = (tmp_path / "out" / "commitment.json").read_text()
    assert read_commitment(tmp_path / "out" / "commitment.json") == data
    assert CANARY in text
    assert SECRET not in text
    with revealed(SECRET) as seed:
        for instance in load_suite("causallink/core", seed=seed):
            assert instance.id not in text
            assert instance.cluster not in text
    line = announcement(data)
    assert "\n" not in line
    assert data["seal"] in line
    assert name_of(SECRET) in line


def test_other_files_are_no_commitments(place: Place, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("not JSON")
    (tmp_path / "half.json").write_text(json.dumps({"kind": KIND}))
    others = (tmp_path / "notes.txt", tmp_path / "half.json")
    for file in (Path(place.address) / "manifest.json", *others):
        with pytest.raises(ValueError, match="whybench data commit"):
            read_commitment(file)


def test_a_set_of_an_ordinary_seed_needs_no_secret(tmp_path: Path) -> None:
    place = Place(str(tmp_path))
    suite = load_suite("causallink/core", seed="train-1")
    generate(Plan.of(suite, 2, rows=2, truth=False), place)
    data = json.loads(json.dumps(commitment(place), sort_keys=True))
    assert prove(data, place=place) == []
    assert "needs no secret" in prove(data, secret=SECRET)[0]
