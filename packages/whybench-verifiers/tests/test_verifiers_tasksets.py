"""Rows: which instances a taskset holds, and what a row tells."""

import tomllib
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
import verifiers.v1 as vf
from pydantic import ValidationError

from whybench import Choice, Session, digest, installed_families
from whybench_verifiers import load_environment

DEFAULTS = {
    "causalab": "main_4",
    "causalgame": "antenna",
    "causallink": "advanced",
    "recite": "short",
    "replayscm": "lab",
}
SPLITS = ("train", "eval")
SIDES = {
    "causalab/fresh": 200,
    "causalgame/zone": 200,
    "causallink/core": 200,
    "recite/short": 60,
    "replayscm/lab": 200,
}
"""Suites → how many rows of each side are compared."""


def taskset(**options: Any) -> Any:
    return vf.load_taskset(vf.resolve_env_config({"taskset": options}).taskset)


def systems(tasks: list[Any]) -> set[bytes]:
    """Return the hidden systems of tasks, up to renaming."""
    family = tasks[0].family
    worlds = (family.world(task._instance()) for task in tasks)
    return {digest(family.system(world)) for world in worlds}


@pytest.mark.parametrize("path", SIDES)
def test_training_and_evaluation_share_no_hidden_system(path: str) -> None:
    rows, options = SIDES[path], {"id": "whybench-verifiers", "suite": path, "endless": True}
    train, held = (list(islice(taskset(**options, split=split), rows)) for split in SPLITS)
    assert len({task.key for task in train + held}) == 2 * rows
    assert not systems(train) & systems(held)


@pytest.mark.parametrize("name", DEFAULTS)
def test_a_row_is_coordinates_and_instructions_and_nothing_else(name: str) -> None:
    [task] = taskset(id=f"whybench-{name}", split="all").take(1)
    row = task.data.model_dump(mode="json")
    instance = installed_families()[name].suite(DEFAULTS[name])[0]
    plain = vf.TaskData().model_dump(mode="json")
    told = {key: value for key, value in row.items() if plain.get(key, ...) != value}
    path = f"{name}/{instance.id}"
    assert told == {
        "idx": 0,
        "id": path,
        "name": path,
        "prompt": Session(instance).instructions,
        "instance": {k: v for k, v in instance.to_json().items() if k != "cluster"},
        "template": installed_families()[name].templates[0],
        "pay": "sparse",
    }


def test_endless_lists_are_fresh_and_hang_on_their_seed() -> None:
    def keys(**options: Any) -> list[str]:
        return [t.key for t in islice(taskset(id="whybench-causallink", **options), 20)]

    first = keys(endless=True)
    assert first == keys(endless=True)
    assert len(set(first)) == 20
    others = [keys(endless=True, seed=1), keys(endless=True, split="eval"), keys(split="all")]
    assert not set(first) & set().union(*others)


@pytest.mark.parametrize("split", ["train", "eval", "all"])
def test_a_seed_stands_for_the_same_instances_as_through_every_interface(split: str) -> None:
    suite = installed_families()["causallink"].suite("advanced")
    part = None if split == "all" else split

    def names(**options: Any) -> list[str]:
        tasks = taskset(id="whybench-causallink", split=split, **options)
        return [task.key for task in islice(tasks, 30)]

    endless = Choice(suite, part, endless=True)
    for given, seed in (({}, 0), ({"seed": 0}, 0), ({"seed": 6}, 6)):
        expected = [f"causallink/{i.id}" for i in islice(endless.seeded(seed), 30)]
        assert names(endless=True, **given) == expected
    found = names(seed=6)
    dealt = islice(Choice(suite, part).seeded(6), len(found))
    assert found == [f"causallink/{i.id}" for i in dealt]
    assert found != names()
    assert set(names(seed=6, rows=20)) == set(names(rows=20))


def test_finite_lists_are_the_suite_in_its_order() -> None:
    whole = [t.key for t in taskset(id="whybench-verifiers", suite="causallink/core", split="all")]
    suite = installed_families()["causallink"].suite("core")
    assert whole == [f"causallink/{instance.id}" for instance in suite]
    own = {"id": "whybench-causallink", "suite": "core"}
    parts = {s: [t.key for t in taskset(**own, split=s)] for s in SPLITS}
    assert sorted(parts["train"] + parts["eval"]) == sorted(whole)
    longer = taskset(**own, split="all", rows=90)
    assert [t.key for t in longer][:84] == whole
    assert len(list(longer)) == 90


def test_options_reach_the_instances() -> None:
    env = load_environment(
        "replayscm/lab",
        split="all",
        rows=1,
        suite_seed="trial-1",
        template="compact",
        reward="dense",
        seed=3,
    )
    [task] = env.taskset
    assert (task.data.template, task.data.pay) == ("compact", "dense")
    assert task.data.instance["seed"] == "trial-1"
    assert task.data.instance["suite"] == "lab"
    parameters = load_environment(
        "causallink/core", split="all", parameters={"max_errors": 2}
    ).taskset
    assert next(iter(parameters)).data.instance["parameters"] == {"max_errors": 2}


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"suite": "causallink/none"}, "no suite .*: try causallink/advanced"),
        ({"suite": "none/core"}, "no suite"),
        ({"template": "none"}, "Unknown template"),
        ({"rows": 3, "endless": True}, "cannot be combined"),
        ({"split": "test"}, "'train', 'eval' or 'all'"),
        ({"parameters": {"none": 1}}, "no parameter"),
    ],
)
def test_options_that_mean_nothing_are_refused(options: dict[str, Any], reason: str) -> None:
    with pytest.raises((ValueError, ValidationError), match=reason):
        load_environment(**options)


def test_a_familys_taskset_keeps_to_its_family() -> None:
    assert taskset(id="whybench-recite").suite.path == "recite/short"
    assert taskset(id="whybench-recite", suite="recite/standard").suite.name == "standard"
    with pytest.raises(ValueError, match="is not a suite of recite"):
        taskset(id="whybench-recite", suite="causallink/core")


def test_the_configurations_in_the_readme_are_understood() -> None:
    text = (Path(__file__).parents[1] / "README.md").read_text("utf-8")
    blocks = [part.split("```")[0] for part in text.split("```toml\n")[1:]]
    assert blocks
    for block in blocks:
        env = vf.load_environment(vf.resolve_env_config(tomllib.loads(block)["env"]))
        assert next(iter(env.taskset)).data.prompt
