"""No file, prompt or log tells a secret or, of a private split, the truth; all carry the canary."""

import json
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as parquet
import pytest
from tests.scale.sets import contents

from whybench import CANARY
from whybench.audit.logs import bare, distinctive, log_of, randomly, told_in, truths_in
from whybench.causal.canonical import canonical_json
from whybench.causal.suite_seeds import SECRETS, keep, name_of, revealed
from whybench.episode.action import Action
from whybench.episode.episode import play
from whybench.episode.family import Family, Suite
from whybench.episode.instance import Instance
from whybench.episode.registry import families
from whybench.interfaces.stored.manifest import MANIFEST
from whybench.interfaces.stored.place import Place
from whybench.interfaces.stored.plan import PARTS, PLAN, Plan
from whybench.scale.commitment import commitment, write_commitment
from whybench.scale.generate import generate

SECRET, OTHER = "the-secret-of-all-these-tests", "another-secret-of-the-tests"
SEED = name_of(SECRET)

SOME = {
    "causalab": ["main_5", "hidden_count_1", "golden_4"],
    "causalgame": ["antenna", "weather"],
    "causallink": ["core", "large"],
    "recite": ["ladder"],
    "replayscm": ["hid_cert", "alt_ord", "lab"],
}
"""Suites whose ways to draw and to tell differ; the first of each family is also stored and run."""


def chosen(name: str) -> list[str]:
    suites = list(families()[name].suites)
    return suites if os.environ.get("WHYBENCH_FULL") else SOME.get(name, suites[:1])


def private(family: Family[Any], name: str) -> Suite:
    with revealed(SECRET):  # tests are listed before any file is there
        return family.suite(name, seed=SEED)


every_suite = pytest.mark.parametrize(
    "suite",
    [
        pytest.param(private(family, name), id=f"{family.name}/{name}")
        for family in families().values()
        for name in chosen(family.name)
    ],
)
one_of_every_family = pytest.mark.parametrize(
    "suite",
    [
        pytest.param(private(family, chosen(family.name)[0]), id=family.name)
        for family in families().values()
    ],
)


@pytest.fixture(scope="module", autouse=True)
def secrets(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    file = tmp_path_factory.mktemp("kept") / "secrets"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(SECRETS, str(file))
        keep(SECRET)
        keep(OTHER)
        yield file


def told(suite: Suite, instance: Instance) -> Iterator[tuple[str, str]]:
    """All that is told of an instance, to whomever, with the name of the place."""
    family = suite.family
    yield "coordinates", canonical_json(instance.to_json()) + repr(instance) + repr(suite)
    for template in family.templates:
        episode = family.open(instance)
        talk = family.conversation(episode, template)
        turn = talk.turn()
        yield f"prompts in {template}", episode.instructions(template) + talk.system + repr(turn)
        yield "actions", repr(episode.actions)
        yield "errors", repr([episode.step(Action.of(bad, x=bad)) for bad in ("?", SEED)])
    for agent in ("random", "exact"):
        trace = play(family.open(instance), family.agent(agent, instance))
        yield f"trace of {agent}", canonical_json(trace.to_json())
        yield f"score of {agent}", canonical_json(family.score(instance, trace).to_json())
        yield f"annotated episode of {agent}", repr(family.annotate(instance, trace))
    yield "certificate", canonical_json(family.certify(instance).to_json())
    yield "covariates", canonical_json(family.covariates(instance))
    yield "truth", canonical_json(family.truth(instance))
    yield "discarded", canonical_json(family.discarded(instance))


@every_suite
def test_nothing_that_is_told_tells_the_secret(suite: Suite) -> None:
    for instance in (suite[len(suite) // 2], suite.row(len(suite))):
        assert instance.stream_seed.startswith(SECRET)
        for where, text in told(suite, instance):
            assert SECRET not in text, where


@every_suite
def test_worlds_are_drawn_from_the_secret_and_not_from_its_name(
    suite: Suite, monkeypatch: pytest.MonkeyPatch
) -> None:
    family = suite.family
    bare = replace(suite[1], id="", cluster="")
    here = canonical_json(family.fingerprint(family.world(bare)).content)
    there = canonical_json(
        family.fingerprint(family.world(replace(bare, seed=name_of(OTHER)))).content
    )
    monkeypatch.delenv(SECRETS)  # else a secret is refused as a seed
    plain = canonical_json(family.fingerprint(family.world(replace(bare, seed=SECRET))).content)
    assert here == plain != there


@one_of_every_family
def test_ids_of_private_instances_cannot_be_tested_by_a_guess_of_their_content(
    suite: Suite, monkeypatch: pytest.MonkeyPatch
) -> None:
    family, known = suite.family, suite[0]
    world = family.world(known)
    monkeypatch.setattr(type(family), "world", lambda *_: world)
    again = suite[0]
    monkeypatch.setattr(
        Instance, "stream_seed", property(lambda _: "the guess of one who has no secret")
    )
    guessed = suite[0]
    assert (again.id, again.cluster) == (known.id, known.cluster)
    assert guessed.id != known.id
    assert guessed.cluster != known.cluster


@one_of_every_family
def test_no_file_of_a_set_tells_the_secret_and_all_carry_the_canary(
    suite: Suite, tmp_path: Path
) -> None:
    place = Place(str(tmp_path / "set"))
    generate(Plan.of(suite, 2, rows=1), place)
    write_commitment(commitment(place), tmp_path / "set" / "commitment.json")
    files = contents(tmp_path / "set")
    shards = {f"{part}/{shard:06d}.parquet" for part in PARTS for shard in (0, 1)}
    assert files.keys() >= shards | {PLAN, MANIFEST, "commitment.json"}
    for name, data in files.items():
        assert SECRET.encode() not in data, name
        assert CANARY.encode() in data, name
        if name.endswith(".parquet"):
            table = parquet.read_table(tmp_path / "set" / name)
            assert table.schema.metadata[b"canary"] == CANARY.encode()
            assert len(table) >= 1
            for column in table.column_names:
                assert SECRET not in str(table[column].to_pylist()), (name, column)
            if "instructions" in table.column_names:
                assert all(
                    instructions.count(CANARY) == 1
                    for instructions in table["instructions"].to_pylist()
                )


@pytest.mark.wire
@one_of_every_family
def test_a_log_tells_neither_the_secret_nor_the_truth(
    suite: Suite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(type(suite.family), "size", lambda *_: 2)  # short suites
    members = log_of(suite, tmp_path / "logs")
    instance = suite[0]
    assert instance.id in members["dump"]
    assert SEED in members["dump"]
    for name, text in members.items():
        assert CANARY in text or "sample" not in name, name
    assert list(distinctive(suite.family.truth(instance)))
    assert told_in(members, suite, instance, SECRET) == []


def test_a_truth_that_a_label_tells_would_be_found() -> None:
    for seed, told in (("public", True), (SEED, False)):
        suite = families()["causalab"].suite("main_5", seed=seed)
        score = suite.family.score(suite[0], randomly(suite, suite[0]))
        assert bool(truths_in(canonical_json(score.to_json()), suite, suite[0])) is told


def test_pieces_of_a_truth_are_found_however_deep_a_log_holds_them() -> None:
    truth = {"edges": [["temperature", "frequency"]], "base": 24.0, "weight": 1.6855906252829376}
    log = json.dumps({"metadata": json.dumps({"seen": [["temperature", "frequency"]]})})
    found = [piece for piece in distinctive(truth) if piece in bare(log)]
    assert found == ["[[temperature,frequency]]", "[temperature,frequency]"]
    assert "1.6855906252829376" in list(distinctive(truth))
