"""Spaces of text, and vector environments made of them."""

import copy
import multiprocessing

import gymnasium
import numpy as np
import pytest
from gymnasium.spaces.utils import flatten, flatten_space, unflatten
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import (
    batch_space,
    create_shared_memory,
    read_from_shared_memory,
    write_to_shared_memory,
)

import whybench.interfaces.gym  # noqa: F401 - registers the environments
from whybench.interfaces.gym.spaces import Lines, Prose

CORE = "WhyBench/causallink-core-v2"
STRANGE = ("", "plain", "Größe → 3 🜁", "\x00\ud800 end")


def lines(step: int) -> tuple[str, ...]:
    """Return what three agents say: two answer now and then, one never does anything right."""
    return ("answer yes", "answer no" if step % 2 else "hold it", "junk")


def test_any_characters_belong_up_to_the_length() -> None:
    space = Prose(20)
    assert all(text in space for text in STRANGE)
    assert "x" * 21 not in space
    assert 3 not in space


def test_samples_hang_on_the_space_s_own_seed() -> None:
    calls, words = [("hold", 1), ("answer", 1), ("look", 0)], ["circle", "yes"]
    first, second, other = (Lines(calls, words, seed=seed) for seed in (1, 1, 2))
    sampled = [first.sample() for _ in range(40)]
    assert sampled == [second.sample() for _ in range(40)]
    assert sampled != [other.sample() for _ in range(40)]
    assert set(sampled) == {"hold circle", "hold yes", "answer circle", "answer yes", "look"}
    assert len({Prose(seed=1).sample() for _ in range(3)}) == 1
    assert Prose(5, seed=1).sample() in Prose(5)


def test_spaces_are_equal_if_they_hold_and_sample_the_same() -> None:
    assert Prose(5) == Prose(5) != Prose(6)
    assert Lines([("hold", 1)], ["a"]) == Lines([("hold", 1)], ["a"])
    assert Lines([("hold", 1)], ["a"]) != Lines([("hold", 1)], ["b"])
    assert Lines([], [], 5) != Prose(5)


@pytest.mark.parametrize("text", STRANGE)
def test_texts_survive_flattening_and_shared_memory(text: str) -> None:
    space = Prose(20)
    flat = flatten(space, text)
    assert flat in flatten_space(space)
    assert unflatten(space, flat) == text
    memory = create_shared_memory(space, n=2, ctx=multiprocessing)
    write_to_shared_memory(space, 1, "something longer", memory)
    write_to_shared_memory(space, 1, text, memory)
    live = read_from_shared_memory(space, memory, n=2)
    kept = copy.deepcopy(live)
    assert kept == tuple(live) == live[0:2] == ("", text)
    write_to_shared_memory(space, 0, "later", memory)
    assert (live[0], kept[0]) == ("later", "")


def singly(seed: int, steps: int, **options: object) -> list[list]:
    """Play each environment alone, with a reset in place of the step after an end."""
    columns = []
    for place in range(3):
        env = gymnasium.make(CORE, **options)
        observation, info = env.reset(seed=seed + place)
        column, over = [(observation, 0.0, info["instance"])], False
        for step in range(steps):
            if over:
                observation, info = env.reset()
                reward, over = 0.0, False
            else:
                observation, reward, ended, cut, info = env.step(lines(step)[place])
                over = ended or cut
            column.append((observation, reward, info["instance"]))
        columns.append(column)
    return columns


def together(envs: gymnasium.vector.VectorEnv, seed: int, steps: int) -> list[list]:
    """Play all at once and take the columns apart."""
    observations, infos = envs.reset(seed=seed)
    rows = [(observations, np.zeros(3), infos)]
    for step in range(steps):
        observations, rewards, _, _, infos = envs.step(lines(step))
        assert observations in envs.observation_space
        rows.append((observations, rewards, infos))
    envs.close()
    return [
        [
            (
                {key: texts[place] for key, texts in row.items()},
                rewards[place],
                i["instance"][place],
            )
            for row, rewards, i in rows
        ]
        for place in range(3)
    ]


def test_a_sync_vector_equals_its_parts() -> None:
    envs = gymnasium.make_vec(CORE, 3, vectorization_mode="sync", reward="dense")
    assert together(envs, 7, 12) == singly(7, 12, reward="dense")


@pytest.mark.parametrize("context", ["fork", "spawn"])
def test_an_async_vector_equals_its_parts(context: str) -> None:
    envs = gymnasium.make_vec(
        CORE, 3, vectorization_mode="async", vector_kwargs={"context": context}
    )
    assert together(envs, 7, 8) == singly(7, 8)


def test_scores_come_with_the_step_that_ends_an_episode() -> None:
    envs = gymnasium.make_vec(
        "WhyBench/causalgame-antenna-v1",
        2,
        vectorization_mode="sync",
        vector_kwargs={"autoreset_mode": AutoresetMode.SAME_STEP},
        max_steps=1,
    )
    envs.reset(seed=1)
    *_, truncations, infos = envs.step(("get_status", "nonsense"))
    assert truncations.all()
    assert [score.outcome for score in infos["final_info"]["score"]] == ["unfinished"] * 2
    assert [len(tools) > 0 for tools in infos["tools"]] == [True, True]
    envs.close()


def test_samples_of_a_batched_action_space_are_lines() -> None:
    env = gymnasium.make(CORE)
    batched = batch_space(env.action_space, 3)
    batched.seed(1)
    assert all(line in env.action_space for line in batched.sample())
