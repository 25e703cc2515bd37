"""Which instance an episode plays, without a server."""

import pytest

from whybench.core.canonical import canonical_json
from whybench.episode.family import families, find_suite
from whybench.episode.split import listed, part_of
from whybench_openenv.choosing import placed, seeded
from whybench_openenv.environment import WhyBenchEnvironment
from whybench_openenv.models import WhyBenchAction, sendable
from whybench_openenv.options import Options

SPLIT = {
    "causalab/fresh": 200,
    "causalgame/knobs": 200,
    "causallink/large": 200,
    "recite/made_short": 100,
    "replayscm/lab": 200,
}


def test_every_family_is_a_taskset():
    for name, family in families().items():
        assert Options(suite=name).found.path == f"{name}/{next(iter(family.suites))}"


@pytest.mark.parametrize(("suite", "rows"), SPLIT.items())
def test_train_and_eval_share_no_hidden_system(suite, rows):
    family = find_suite(suite).family
    sides = []
    for split in ("train", "eval"):
        options = Options(suite=suite, split=split, rows=8 * rows)
        worlds = [family.world(placed(options, index)) for index in range(rows)]
        sides.append({canonical_json(family.system(world)) for world in worlds})
    assert min(map(len, sides)) > 5
    assert sides[0].isdisjoint(sides[1])


@pytest.mark.parametrize("suite", SPLIT)
@pytest.mark.parametrize("endless", [True, False])
def test_a_seed_draws_from_the_part_that_is_asked_for(suite, endless):
    for split in ("train", "eval"):
        options = Options(suite=suite, split=split, endless=endless)
        drawn = [seeded(options, seed) for seed in range(3)]
        assert {part_of(options.found, instance) for instance in drawn} == {split}


def test_seeds_of_an_endless_list_are_honoured_and_differ():
    options = Options(suite="causalab/fresh", split="train", endless=True)
    ids = [seeded(options, seed).id for seed in range(50)]
    assert ids == [seeded(options, seed).id for seed in range(50)]
    assert len(set(ids)) == 50
    other = options.changed({"salt": "other"})
    assert not set(ids) & {seeded(other, seed).id for seed in range(50)}


def test_a_finite_list_is_walked_in_order_and_begins_again():
    options = Options(suite="causallink/core", split="eval", rows=40)
    expected = [instance.id for instance in listed(options.found, "eval", 40)]
    environment = WhyBenchEnvironment(options)
    walked = []
    for _ in range(len(expected) + 2):
        environment.reset()
        walked.append((environment.state.index, environment.state.instance["id"]))
    assert walked == [*enumerate(expected), *enumerate(expected[:2])]
    environment.reset(index=3)
    assert environment.state.instance["id"] == expected[3]
    with pytest.raises(ValueError, match="the list ends before place"):
        environment.reset(index=len(expected))
    environment.reset(seed=5)
    assert environment.state.instance["id"] in expected


def test_an_endless_reset_without_a_seed_tells_one_that_brings_it_back():
    seeds = iter(range(70, 80))
    options = Options(suite="causallink/large", endless=True)
    first, second = (WhyBenchEnvironment(options, seeds) for _ in range(2))
    told = first.reset().text
    assert second.reset().text != told
    assert (first.state.seed, second.state.seed) == (70, 71)
    assert second.reset(seed=70).text == told


@pytest.mark.parametrize(
    "given",
    [
        {"splt": "eval"},
        {"split": "test"},
        {"split": ["eval"]},
        {"endless": "no"},
        {"rows": 0},
        {"rows": True},
        {"rows": 10**9},
        {"rows": 5, "endless": True},
        {"reward": "all"},
        {"skin": "no such"},
        {"suite": "nowhere/else"},
        {"suite": 5},
        {"knobs": [1]},
        {"knobs": {"no_such_knob": 1}},
        {"salt": 5},
        {"profile": "any"},
        {"seed": -1},
        {"seed": 1.5},
        {"seed": True},
        {"index": -1},
        {"index": "0"},
        {"instance": 7},
        {"instance": "causallink/core-0000-000000000000"},
        {"seed": 1, "index": 1},
        {"episode_id": 5},
    ],
    ids=str,
)
def test_a_bad_reset_says_how_to_mend_it_and_leaves_the_episode_alone(given):
    environment = WhyBenchEnvironment()
    environment.reset(seed=1)
    before = environment.state
    with pytest.raises(ValueError, match=r"\w"):
        environment.reset(**given)
    assert environment.state is before
    assert environment.step(WhyBenchAction(line="answer no")).done


def test_knobs_and_skin_of_one_suite_are_no_defaults_for_another():
    options = Options(suite="causallink/large", skin="notebook").changed({"suite": "recite"})
    assert options.skin is None


def test_a_pinned_server_lets_a_reset_choose_only_seed_and_index():
    environment = WhyBenchEnvironment(Options(split="eval"), pinned=True)
    environment.reset(seed=3, episode_id="mine")
    assert environment.state.episode_id == "mine"
    for given in ({"split": "train"}, {"instance": "causallink/core-0000-000000000000"}):
        with pytest.raises(ValueError, match="pinned"):
            environment.reset(**given)


def test_a_closed_session_stays_closed():
    environment = WhyBenchEnvironment()
    environment.reset()
    environment.close()
    for ask in (environment.reset, lambda: environment.step(WhyBenchAction(line="answer no"))):
        with pytest.raises(ValueError, match="connect again"):
            ask()


def test_what_breaks_inside_an_episode_is_not_told(monkeypatch):
    environment = WhyBenchEnvironment()
    environment.reset()
    kind = type(environment._session.episode)

    def broken(episode, action):
        raise ValueError("the answer is yes")

    monkeypatch.setattr(kind, "_carry_out", broken)
    with pytest.raises(RuntimeError) as caught:
        environment.step(WhyBenchAction(name="answer", args={"answer": "no"}))
    assert "yes" not in str(caught.value)


def test_half_characters_are_made_sendable():
    assert sendable({"a": ["\ud800", "ü", 1.5, None]}) == {"a": ["?", "ü", 1.5, None]}
