"""Inspect on stored sets: only what is played is made, and it plays as it does without a set."""

from __future__ import annotations

import copy
import json
import pickle
import re
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import eval as inspect_eval
from inspect_ai import eval_retry
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import EvalLog

from whybench.causal.suite_seeds import SECRETS, name_of
from whybench.episode.registry import load_suite
from whybench.interfaces.inspectai import build as building
from whybench.interfaces.inspectai.instance_selection import window
from whybench.interfaces.inspectai.record import EPISODE
from whybench.interfaces.inspectai.runner import reference_logs
from whybench.interfaces.inspectai.tasks import tasks
from whybench.interfaces.stored.place import Place
from whybench.interfaces.stored.plan import Plan
from whybench.report.chapters.bounds import bounds
from whybench.report.episodes import episodes
from whybench.report.runs import read_runs
from whybench.scale.distinct import write_distinct
from whybench.scale.generate import generate

causalab, causalab_verify, causallink = (
    tasks()[name] for name in ("causalab", "causalab_verify", "causallink")
)
pytestmark = pytest.mark.wire

SIZE = 84
N = 100
"""Rows: a whole block of causallink/core and some of the next."""


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("sets") / "core"
    generate(Plan.of(load_suite("causallink/core"), N, rows=30), Place(str(folder)))
    return str(folder)


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the ids of the instances whose first message is made."""
    made: list[str] = []
    message = building.first_message

    def noting(suite: Any, instance: Any, *more: Any) -> str:
        made.append(instance.id)
        return message(suite, instance, *more)

    monkeypatch.setattr(building, "first_message", noting)
    return made


def ran(task: Any, model: str = "whybench/exact", **more: Any) -> EvalLog:
    (log,) = inspect_eval(
        task, model=model, display="none", log_realtime=False, score_display=False, **more
    )
    assert log.status == "success", log.error
    return log


def row_ids(*numbers: int) -> list[str]:
    return [load_suite("causallink/core").row(number).id for number in numbers]


def episode_of(sample: Any) -> dict[str, Any]:
    """Return all that a sample holds of its episode; ids of messages and times are each run's."""
    (score,) = sample.scores.values()
    return {
        "id": sample.id,
        "input": sample.input,
        "metadata": sample.metadata,
        "store": sample.store,
        "messages": [(m.role, m.text) for m in sample.messages],
        "score": json.dumps([score.value, score.answer, score.metadata]),
    }


def test_a_stored_row_plays_and_logs_as_without_the_set(data: str) -> None:
    stored, made = ran(causallink(data=data, rows=6)), ran(causallink(rows=6))
    assert [episode_of(s) for s in stored.samples] == [episode_of(s) for s in made.samples]
    assert stored.samples[0].store[EPISODE]
    figures = [
        {k: m.value for k, m in log.results.scores[0].metrics.items()} for log in (stored, made)
    ]
    assert json.dumps(figures[0]) == json.dumps(figures[1])
    told = stored.eval.metadata
    assert (told["suite"], told["profile"], told["seed"]) == (
        "causallink/core",
        "certified",
        "public",
    )
    assert told["data_rows"] == N
    assert len(told["data_digest"]) == 64
    assert "data_digest" not in made.eval.metadata


def test_limits_ids_epochs_and_shuffles_choose_what_is_made(data: str, told: list[str]) -> None:
    def ids(log: EvalLog) -> list[str]:
        return [sample.id for sample in log.samples]

    log = ran(causallink(data=data), limit=(SIZE - 1, SIZE + 2))
    assert ids(log) == row_ids(83, 84, 85)
    assert log.eval.dataset.samples == N
    assert set(told) == set(row_ids(83, 84, 85))
    told.clear()
    wanted = row_ids(90, 2)
    assert sorted(ids(ran(causallink(data=data), sample_id=wanted))) == sorted(wanted)
    assert set(told) == set(wanted)
    told.clear()
    twice = ran(causallink(data=data), limit=2, epochs=2)
    assert [(s.id, s.epoch) for s in twice.samples] == [
        (name, epoch) for epoch in (1, 2) for name in row_ids(0, 1)
    ]
    assert sorted(told) == sorted(row_ids(0, 1))
    memory = MemoryDataset([Sample("", id=number) for number in range(N)])
    memory.shuffle(7)
    shuffled = ran("whybench/causallink", task_args={"data": data}, limit=3, sample_shuffle=7)
    assert sorted(ids(shuffled)) == sorted(row_ids(*(sample.id for sample in memory[:3])))
    paged = ran(causallink(data=data, rows="99-100"), max_dataset_memory=0)
    assert ids(paged) == row_ids(98, 99)


def test_ordinary_suites_tell_only_what_is_played(told: list[str]) -> None:
    task = causalab(suite="main_3", rows="3-4")
    assert len(task.dataset) == 2
    suite = load_suite("causalab/main_3")
    log = ran(task, model="whybench/null")
    assert [sample.id for sample in log.samples] == [suite[2].id, suite[3].id]
    told.clear()
    ran(causalab(suite="main_3"), model="whybench/null", limit=2)
    assert sorted(told) == sorted([suite[0].id, suite[1].id])


def test_a_retry_goes_on_where_the_set_was_left(data: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from whybench.interfaces.inspectai import solver

    located = solver.located
    broken = row_ids(85)[0]

    def fail(metadata: dict[str, Any]) -> Any:
        if broken in metadata["instance"]:
            raise RuntimeError("lost power")
        return located(metadata)

    monkeypatch.setattr(solver, "located", fail)
    (first,) = inspect_eval(
        "whybench/causallink", task_args={"data": data}, limit=(84, 87), model="whybench/exact",
        display="none", log_realtime=False, fail_on_error=False, max_samples=1,
    )  # fmt: skip
    assert [s.id for s in first.samples if s.error] == [broken]
    first.status = "error"
    monkeypatch.setattr(solver, "located", located)
    (again,) = eval_retry(first, display="none", log_realtime=False)
    assert again.status == "success"
    assert sorted(s.id for s in again.samples) == sorted(row_ids(84, 85, 86))
    assert not any(s.error for s in again.samples)
    kept = {s.id: s.uuid for s in first.samples}
    assert [s.id for s in again.samples if kept[s.id] != s.uuid] == [broken]


def test_experiments_of_another_run_are_laid_before_its_rows_only(data: str) -> None:
    own = ran(causallink(data=data, rows="84-86"))
    task = causallink(data=data, evidence="yoked", yoke=own.location)
    assert [sample.id for sample in task.dataset] == row_ids(83, 84, 85)
    log = ran(task)
    assert {s.scores["episode_score"].answer for s in log.samples} == {"answered"}
    with pytest.raises(ValueError, match="has no instance"):
        causallink(data=data, rows=2, evidence="yoked", yoke=own.location)


def test_arguments_must_agree_with_the_set(data: str, tmp_path: Path) -> None:
    for args, why in (
        ({"suite": "collider"}, "Use suite=core"),
        ({"profile": "published"}, "Use profile=certified"),
        ({"seed": "s1"}, "Omit seed"),
        ({"budget": 3}, "Omit budget"),
        ({"rows": "0-5"}, "FIRST-LAST"),
        ({"rows": N + 1, "suite": "core", "seed": "public"}, None),
        ({"rows": f"{N + 1}-{N + 2}"}, "within 1-100"),
    ):
        if why is None:
            assert len(causallink(data=data, **args).dataset) == N
        else:
            with pytest.raises(ValueError, match=why):
                causallink(data=data, **args)
    with pytest.raises(ValueError, match="Use whybench/causallink"):
        causalab(data=data)
    with pytest.raises(ValueError, match="one of 2 arms"):
        causalab_verify(data=data)
    other = tmp_path / "parameters"
    suite = load_suite("causallink/core", seed="s2", parameters={"budget": 3})
    generate(Plan.of(suite, 3), Place(str(other)))
    assert [s.id for s in causallink(data=str(other)).dataset] == [
        suite.row(n).id for n in range(3)
    ]
    assert len(causallink(data=str(other), budget=3, seed="s2").dataset) == 3
    with pytest.raises(ValueError, match="Omit budget"):
        causallink(data=str(other), budget=None)


def test_rows_that_repeat_nothing_are_played_alone(data: str) -> None:
    with pytest.raises(ValueError, match="whybench data distinct --write"):
        causallink(data=data, rows="distinct")
    kept = write_distinct(data)
    assert kept.kept < N
    ids = [sample.id for sample in causallink(data=data, rows="distinct").dataset]
    assert len(ids) == kept.kept == len(set(ids))
    assert ids[:1] == row_ids(0)
    few = causallink(data=data, rows="distinct:3-5").dataset
    assert [sample.id for sample in few] == ids[2:5]


def test_data_that_is_no_set_stays_the_parameter_it_was(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="only to profile `published`"):
        causalab(data=str(tmp_path))
    assert window(5, None) == range(5)


def test_a_glimpse_passes_for_its_sample_and_copies_as_one(data: str, told: list[str]) -> None:
    dataset = causallink(data=data, rows="80-90").dataset
    lazy = next(iter(dataset))
    assert isinstance(lazy, Sample)
    assert isinstance(lazy.input, str)
    assert (lazy.id, lazy.sandbox) == (row_ids(79)[0], None)
    assert lazy.metadata["instance"]
    assert not told
    whole = copy.deepcopy(lazy)
    assert type(whole) is Sample
    assert whole == pickle.loads(pickle.dumps(lazy)) == copy.deepcopy(dataset[0])
    assert lazy.model_dump() == whole.model_dump()
    assert lazy.input == whole.input == dataset[0].input
    assert len(lazy.input) == len(whole.input)
    assert whole.input[:9] in lazy.input
    assert lazy.input.upper() == whole.input.upper()
    assert f"{lazy.input:.9}" == whole.input[:9] == "".join(list(lazy.input)[:9])
    assert ("a" + lazy.input, lazy.input + "b") == ("a" + whole.input, whole.input + "b")
    assert lazy.input + lazy.input == whole.input * 2
    assert type(copy.copy(lazy.input)) is str
    assert told == row_ids(79)
    texts = [sample.input for sample in dataset]
    assert sorted(texts) == sorted(map(str, texts))


def test_a_change_that_a_glimpse_would_lose_is_refused(data: str) -> None:
    dataset = causallink(data=data, rows="1-2").dataset
    for lazy in (dataset[0], next(iter(dataset))):
        for change in (
            lambda sample: sample.metadata.update(x=1),
            lambda sample: sample.metadata.__setitem__("x", 1),
            lambda sample: setattr(sample, "target", "x"),
            lambda sample: setattr(sample, "id", "x"),
        ):
            with pytest.raises((TypeError, AttributeError), match=r"copies from copy\.deepcopy"):
                change(lazy)
        for whole in (copy.deepcopy(lazy), copy.copy(lazy), lazy.model_copy()):
            whole.metadata["x"] = whole.target = "1"
            assert (whole.metadata["x"], whole.target) == ("1", "1")
        assert type(lazy.metadata | {"x": 1}) is type(copy.copy(lazy.metadata)) is dict
        assert "x" not in copy.deepcopy(lazy).metadata


def test_datasets_sort_slice_and_filter(data: str, told: list[str]) -> None:
    dataset = causallink(data=data, rows="80-90").dataset
    part = dataset[2:6]
    assert [sample.id for sample in part] == row_ids(81, 82, 83, 84)
    assert [s.id for s in part.filter(lambda s: s.id in row_ids(82, 90))] == row_ids(82)
    assert (dataset[-1].id, len(dataset[20:])) == (row_ids(89)[0], 0)
    part.sort(reverse=True, key=lambda sample: sample.id)
    assert [sample.id for sample in part] == sorted(row_ids(81, 82, 83, 84), reverse=True)
    assert not told
    found = dataset.filter(lambda s: re.search(r"\w", s.input) and json.dumps(s.input) > "")
    assert len(found) == len(dataset)
    copied = MemoryDataset([Sample(s.input, id=s.id) for s in map(copy.deepcopy, part)])
    copied.sort()
    part.sort(reverse=True, key=lambda sample: sample.metadata["instance"])
    texts = [sample.metadata["instance"] for sample in part]
    assert texts == sorted(texts, reverse=True)
    part.sort()
    lengths = [len(sample.input) for sample in part]
    assert lengths == sorted(lengths)
    assert {s.id for s in part} == {s.id for s in copied}
    assert not dataset.shuffled
    dataset.shuffle(3)
    assert dataset.shuffled
    assert sorted(sample.id for sample in dataset) == sorted(row_ids(*range(79, 90)))


def test_a_report_is_about_the_instances_of_their_blocks(data: str, tmp_path: Path) -> None:
    suite = load_suite("causallink/core")
    args = {"data": data, "rows": "81-90"}
    reference_logs(suite, ["exact", "random"], tmp_path / "logs", args=args)
    logs = read_runs([tmp_path / "logs"])
    assert len(logs.runs) == 2
    run = next(run for run in logs.runs if run.model == "whybench/exact")
    assert set(run.frame["block"]) == {0, 1}
    wanted = {suite.row(number).id: suite.row(number) for number in range(80, 90)}
    assert set(run.frame["instance"]) == set(wanted)
    played = list(episodes(run, 10))
    assert len(played) == 10
    for row, instance, trace in played:
        assert instance == wanted[row["instance"]]
        assert suite.family.score(instance, trace).values["accuracy"] == row["accuracy"] == 1
    found = bounds(run, logs.runs, 10, 10)
    assert (found.ceiling, found.ceiling_n) == (1, 10)
    assert set(found.floors) == set(suite.family.floor_ceiling)
    assert found.floor_n == 10


def test_a_private_seed_shows_its_name_only(tmp_path: Path, monkeypatch) -> None:
    secret = "a-secret-that-nobody-guesses-0123456789"
    (tmp_path / "secrets").write_text(secret + "\n")
    monkeypatch.setenv(SECRETS, str(tmp_path / "secrets"))
    suite = load_suite("causallink/core", seed=name_of(secret))
    data = tmp_path / "hidden"
    generate(Plan.of(suite, 3), Place(str(data)))
    log = ran(causallink(data=str(data)), log_format="json")
    assert [sample.id for sample in log.samples] == [suite.row(number).id for number in range(3)]
    text = Path(log.location.removeprefix("file://")).read_text("utf-8")
    assert name_of(secret) in text
    assert secret not in text
    assert log.eval.metadata["seed"] == name_of(secret)
