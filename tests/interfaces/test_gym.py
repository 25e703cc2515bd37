"""The gymnasium interface: checked by gymnasium, reproducible, and no wider than the episode."""

import copy
import json
import os
import subprocess
import sys
import warnings

import gymnasium
import pytest
from gymnasium.utils.env_checker import check_env

import whybench.interfaces.gym as interface
from whybench.causal.canonical import canonical_json
from whybench.causal.seeds import Stream
from whybench.episode.registry import families, load_suite
from whybench.episode.split import part_of
from whybench.interfaces.session import Session

CORE = "WhyBench/causallink-core-v2"
ONE_OF_EACH = tuple(
    f"{family}-{suite}-v{families()[family].version}"
    for family, suite in (
        ("causalab", "main_3"),
        ("causalgame", "antenna"),
        ("causallink", "core"),
        ("recite", "short"),
        ("replayscm", "lab"),
    )
)


def played(env: gymnasium.Env, seed: int, episodes: int) -> list:
    """Return all that comes back in some episodes of two holds and an answer."""
    seen: list = []
    for number in range(episodes):
        observation, info = env.reset(seed=seed) if number == 0 else env.reset()
        seen.append([observation, info])
        for line in (*held(observation["text"]), "answer yes"):
            observation, reward, terminated, truncated, info = env.step(line)
            given = {**info, "score": info["score"].to_json()} if terminated else info
            seen.append([observation, reward, terminated, truncated, given])
    return seen


def held(instructions: str) -> tuple[str, str]:
    listing = instructions.partition("What you see now: ")[2].partition(".")[0]
    names = [entity.split()[0] for entity in listing.split(", ")]
    return f"hold {names[0]}", f"hold {names[1]}"


def test_every_suite_of_every_family_has_an_id() -> None:
    suites = [
        f"{family.name}-{suite}-v{family.version}"
        for family in families().values()
        for suite in family.suites
        if "certified" in family.profiles_of(suite)
    ]
    assert list(interface.IDS) == [f"WhyBench/{name}" for name in suites]
    assert set(interface.IDS) <= gymnasium.registry.keys()


@pytest.mark.parametrize("name", ONE_OF_EACH)
@pytest.mark.parametrize("reward", ["sparse", "dense"])
def test_the_checker_finds_nothing_to_say(name: str, reward: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env = gymnasium.make(f"WhyBench/{name}", reward=reward)
        check_env(env.unwrapped)
        env.reset(seed=1)
        env.step(env.action_space.sample())
        env.close()


def test_the_same_seed_gives_the_same_episodes() -> None:
    first, second = gymnasium.make(CORE), gymnasium.make(CORE)
    assert played(first, 5, 6) == played(second, 5, 6) == played(first, 5, 6)


def test_the_same_seed_gives_the_same_episodes_in_other_processes() -> None:
    code = (
        "import gymnasium, whybench.interfaces.gym\n"
        "for kind in ({}, {'endless': True}, {'split': 'eval'}):\n"
        f"    env = gymnasium.make({CORE!r}, **kind)\n"
        "    env.action_space.seed(4)\n"
        "    print(env.reset(seed=5)[1]['instance'], env.action_space.sample())\n"
        "    print(*(env.reset()[1]['instance'] for _ in range(4)))\n"
    )
    out = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONHASHSEED": "77"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    here = []
    for kind in ({}, {"endless": True}, {"split": "eval"}):
        env = gymnasium.make(CORE, **kind)
        env.action_space.seed(4)
        here.append(f"{env.reset(seed=5)[1]['instance']} {env.action_space.sample()}")
        here.append(" ".join(env.reset()[1]["instance"] for _ in range(4)))
    assert out.splitlines() == here


def test_neighbouring_seeds_share_no_order() -> None:
    env = gymnasium.make(CORE)
    orders = []
    for seed in range(4):
        first = env.reset(seed=seed)[1]["instance"]
        orders.append((first, *(env.reset()[1]["instance"] for _ in range(20))))
    places = [sum(a == b for a, b in zip(orders[0], other, strict=True)) for other in orders[1:]]
    assert max(places) < 5


def test_a_finite_list_is_played_once_before_it_is_played_again() -> None:
    env = gymnasium.make(CORE, rows=30)
    first = [env.reset(seed=3)[1]["instance"], *(env.reset()[1]["instance"] for _ in range(29))]
    again = [env.reset()[1]["instance"] for _ in range(30)]
    listed = {f"causallink/{load_suite('causallink/core')[row].id}" for row in range(30)}
    assert set(first) == set(again) == listed
    assert first != again


def test_an_unseeded_start_can_be_repeated_from_the_seed_it_took() -> None:
    env = gymnasium.make(CORE, endless=True)
    instances = [env.reset()[1]["instance"] for _ in range(3)]
    again = gymnasium.make(CORE, endless=True)
    seed = env.unwrapped.np_random_seed
    assert [again.reset(seed=seed)[1]["instance"], again.reset()[1]["instance"]] == instances[:2]
    assert gymnasium.make(CORE, endless=True).reset()[1]["instance"] != instances[0]


def test_a_copied_environment_goes_on_alike() -> None:
    env = gymnasium.make(CORE)
    env.reset(seed=2)
    other = copy.deepcopy(env)
    env.step("answer yes")
    assert other.unwrapped.session.trace.steps == ()
    assert env.reset()[1] == other.reset()[1]


def test_an_instance_can_be_chosen_by_row_or_by_name() -> None:
    env = gymnasium.make(CORE)
    by_row = env.reset(options={"index": 3})
    assert env.reset(options={"instance": by_row[1]["instance"]}) == by_row
    assert env.reset(seed=9, options={"index": 3}) == by_row
    refused = [
        ({"index": 84}, "ends before index 84. Start again at index 0"),
        *(
            ({"index": odd}, "`index` must be an integer of 0 or more")
            for odd in ("3", True, 1.0, -1)
        ),
        ({"instance": 3}, "`instance` must be a string such as family/suite-0003"),
        ({"row": 3}, "Unknown options of reset"),
        ({"index": 3, "instance": by_row[1]["instance"]}, "Unknown options of reset"),
    ]
    for options, said in refused:
        with pytest.raises(ValueError, match=said):
            env.reset(options=options)
    with pytest.raises(ValueError, match=r"has no index. Give `seed`"):
        gymnasium.make(CORE, endless=True).reset(options={"index": 3})
    other = f"causallink/{load_suite('causallink/collider')[0].id}"
    with pytest.raises(ValueError, match="is not in causallink/core"):
        env.reset(options={"instance": other})


@pytest.mark.parametrize("part", ["train", "eval"])
def test_an_instance_of_the_other_side_of_a_split_cannot_be_chosen(part: str) -> None:
    suite = load_suite("causallink/core")
    here = [f"causallink/{instance.id}" for instance in suite if part_of(suite, instance) == part]
    other = next(f"causallink/{i.id}" for i in suite if part_of(suite, i) != part)
    env = gymnasium.make(CORE, split=part)
    by_place = [env.reset(options={"index": place})[1]["instance"] for place in range(len(here))]
    assert by_place == here
    assert env.reset(options={"instance": here[-1]})[1]["instance"] == here[-1]
    with pytest.raises(ValueError, match=f"ends before index {len(here)}"):
        env.reset(options={"index": len(here)})
    with pytest.raises(ValueError, match=f"is not in the split {part}. Use the other split"):
        env.reset(options={"instance": other})


@pytest.mark.parametrize("endless", [False, True])
def test_splits_share_no_hidden_system(endless: bool) -> None:
    suite = load_suite("causallink/advanced")
    systems = {}
    for part in ("train", "eval"):
        env = gymnasium.make(
            "WhyBench/causallink-advanced-v2",
            split=part,
            endless=endless,
            rows=None if endless else 200,
        )
        env.reset(seed=1)
        drawn = []
        for _ in range(25):
            drawn.append(env.unwrapped.session.instance)
            env.reset()
        assert {part_of(suite, instance) for instance in drawn} == {part}
        family = suite.family
        systems[part] = {canonical_json(family.system(family.world(i))) for i in drawn}
    assert not systems["train"] & systems["eval"]


@pytest.mark.parametrize("name", ONE_OF_EACH)
def test_nothing_is_seen_but_what_the_episode_shows(name: str) -> None:
    env = gymnasium.make(f"WhyBench/{name}")
    observation, info = env.reset(options={"index": 0})
    plain = Session(env.unwrapped.session.instance)
    assert observation["text"] == plain.instructions
    assert json.loads(observation["json"]) == {"code": "ok", "data": {}, "tools": plain.tools}
    assert info.keys() == {"instance", "step", "tools"}
    env.action_space.seed(1)
    for step in range(1, 4):
        line = env.action_space.sample()
        reply = plain.say(line)
        observation, reward, terminated, _, info = env.step(line)
        shown = canonical_json(reply.observation.to_json())
        assert observation == {"json": shown, "text": reply.text}
        if terminated:
            assert info["score"] == plain.score()
            return
        assert info == {"instance": f"{plain.family.name}/{plain.instance.id}", "step": step}
        assert reward == 0.0


def test_dense_rewards_add_up() -> None:
    suite = load_suite("causallink/core")
    for number in range(12):
        env = gymnasium.make(CORE, reward="dense")
        observation, _ = env.reset(seed=number)
        family, session = suite.family, env.unwrapped.session
        start = family.bits_left(session.episode)
        total, errors = 0.0, 0
        for line in (*held(observation["text"]), "hold nothing", "answer no"):
            observation, reward, terminated, _, info = env.step(line)
            total += reward
            errors += json.loads(observation["json"])["code"] != "ok"
        assert terminated
        removed = (start - family.bits_left(session.episode)) / start if start else 0.0
        expected = info["score"].values["accuracy"] + removed - 0.05 * errors
        assert errors == 1
        assert total == pytest.approx(expected)


def test_an_episode_that_is_cut_off_is_paid_as_it_stands_and_once() -> None:
    env = gymnasium.make(CORE, max_steps=2)
    observation, _ = env.reset(seed=1)
    first, second = held(observation["text"])
    assert env.step(first)[1:4] == (0.0, False, False)
    _, reward, terminated, truncated, info = env.step(second)
    assert (reward, terminated, truncated) == (0.0, False, True)
    assert info["score"].outcome == "unfinished"
    session = env.unwrapped.session
    trace = session.trace
    observation, reward, terminated, truncated, later = env.step("answer yes")
    assert (reward, terminated, truncated) == (0.0, False, True)
    assert json.loads(observation["json"])["code"] == "over"
    assert session.trace == trace
    assert session.score() == later["score"] == info["score"]
    env.reset(seed=1)
    rewards = [env.step(line)[1] for line in ("answer yes", "answer yes", "answer no")]
    assert rewards[1:] == [0.0, 0.0]


def test_the_best_play_is_paid_in_full() -> None:
    env = gymnasium.make(CORE)
    for index in range(5):
        env.reset(options={"index": index})
        session = env.unwrapped.session
        for action in session.family.exact_run(session.instance).actions:
            _, reward, terminated, _, _ = env.step(json.dumps(action.to_json()))
        assert (reward, terminated) == (1.0, True)


@pytest.mark.parametrize("name", ONE_OF_EACH)
def test_bad_lines_never_raise(name: str) -> None:
    lines = [
        *("", " ", "\x00", "\ud800", "𝒽𝑜𝓁𝒹 circle", "{", "[" * 5000, '{"name": 3}', "null"),
        *('{"name": "answer"}', '{"name": "answer", "args": [1]}', "answer " + "x" * 10_000),
        *(None, 7, b"answer yes", ["answer", "yes"]),
    ]
    env = gymnasium.make(f"WhyBench/{name}")
    env.reset(options={"index": 0})
    for line in lines:
        observation, reward, *_ = env.step(line)
        assert observation in env.observation_space
        assert isinstance(reward, float)


def test_scores_and_traces_are_those_of_the_plain_session() -> None:
    env = gymnasium.make(CORE)
    env.reset(seed=0)
    stream = Stream("test", "gym")
    for _ in range(60):
        session = env.unwrapped.session
        names = session.episode.world.view.names
        lines = [f"{stream.choice(('move', 'hold'))} {stream.choice(names)}" for _ in range(2)]
        for line in (*lines, f"answer {stream.choice(('yes', 'no'))}"):
            info = env.step(line)[4]
        fresh = Session(session.instance)
        for action in session.trace.actions:
            fresh.act(action)
        assert info["score"].to_json() == fresh.score().to_json()
        assert session.trace == fresh.trace
        env.reset()


def test_ansi_shows_the_latest_words() -> None:
    env = gymnasium.make(CORE, render_mode="ansi")
    observation, _ = env.reset(seed=1)
    assert env.render() == observation["text"]
    assert env.step("answer yes")[0]["text"] == env.render()


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"reward": "shaped"}, "sparse or dense"),
        ({"split": "test"}, "train or eval"),
        ({"template": "none"}, "try plain"),
        ({"rows": 0}, "1 or more"),
        ({"rows": 3, "endless": True}, "cannot be combined"),
        ({"max_steps": 0}, "1 or more"),
        ({"profile": "other"}, "certified"),
        ({"parameters": {"colour": 1}}, "no parameter"),
    ],
)
def test_a_wrong_argument_is_named(wrong: dict, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        gymnasium.make(CORE, **wrong)


def test_a_part_that_is_not_there_is_named() -> None:
    suite = load_suite("causallink/core")
    missing = "eval" if part_of(suite, suite[0]) == "train" else "train"
    with pytest.raises(ValueError, match=r"no instance for (train|eval) in 1 rows"):
        gymnasium.make(CORE, rows=1, split=missing).reset(seed=1)


def test_without_the_extra_the_import_says_how_to_get_it() -> None:
    code = "import sys; sys.modules['gymnasium'] = None; import whybench.interfaces.gym"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert found.returncode == 1
    assert found.stderr.splitlines()[-1].endswith("pip install 'whybench[gym]'")
    assert "During handling" not in found.stderr
