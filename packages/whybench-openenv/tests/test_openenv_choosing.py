"""Which instance an episode plays, without a server."""

import pytest

from whybench import Choice, Record, canonical_json, installed_families, load_suite, part_of
from whybench_openenv.environment import WALKS, WhyBenchEnvironment
from whybench_openenv.models import WhyBenchAction, sendable
from whybench_openenv.options import Options

SPLIT = {
    "causalab/fresh": 200,
    "causalgame/antenna": 200,
    "causallink/large": 200,
    "recite/short": 100,
    "replayscm/lab": 200,
}


def test_every_family_is_a_taskset():
    for name, family in installed_families().items():
        assert Options(suite=name).found.path == f"{name}/{family.recommended[0]}"


@pytest.mark.parametrize(("suite", "rows"), SPLIT.items())
def test_train_and_eval_share_no_hidden_system(suite, rows):
    family = load_suite(suite).family
    sides = []
    for split in ("train", "eval"):
        options = Options(suite=suite, split=split, rows=8 * rows)
        worlds = [family.world(options.choice.at(index)) for index in range(rows)]
        sides.append({canonical_json(family.system(world)) for world in worlds})
    assert min(map(len, sides)) > 5
    assert sides[0].isdisjoint(sides[1])


@pytest.mark.parametrize("suite", SPLIT)
@pytest.mark.parametrize("endless", [True, False])
def test_a_seed_draws_from_the_part_that_is_asked_for(suite, endless):
    for split in ("train", "eval"):
        options = Options(suite=suite, split=split, endless=endless)
        drawn = [next(options.choice.seeded(seed)) for seed in range(3)]
        assert {part_of(options.found, instance) for instance in drawn} == {split}


def test_seeds_of_an_endless_list_are_honoured_and_differ():
    options = Options(suite="causalab/fresh", split="train", endless=True)

    def ids(options):
        return [next(options.choice.seeded(seed)).id for seed in range(50)]

    assert ids(options) == ids(options)
    assert len(set(ids(options))) == 50
    assert not set(ids(options)) & set(ids(options.changed({"suite_seed": "other"})))


@pytest.mark.parametrize("split", [None, "train", "eval"])
@pytest.mark.parametrize("endless", [True, False])
def test_a_seed_stands_for_the_same_instance_as_through_every_interface(split, endless):
    environment = WhyBenchEnvironment(Options(split=split, endless=endless))
    choice = Choice(load_suite("causallink/advanced"), split, endless=endless)
    for seed in range(12):
        environment.reset(seed=seed)
        assert environment.state.instance["id"] == next(choice.seeded(seed)).id


def test_each_list_is_walked_from_where_it_was_left():
    environment = WhyBenchEnvironment(Options(suite="causallink/core"))
    walked = []
    for given in ({}, {"split": "eval"}, {}, {"suite": "causalab"}, {"split": "eval"}, {}):
        environment.reset(**given)
        walked.append(environment.state.index)
    assert walked == [0, 0, 1, 0, 1, 2]
    for number in range(WALKS):
        environment.reset(suite_seed=f"s{number}")
    assert len(environment._next) == WALKS
    environment.reset()
    assert environment.state.index == 0


def test_a_familys_name_is_its_first_suite_in_every_respect():
    options = Options(suite="causallink", template="notebook", parameters=Record.of(max_errors=2))
    assert options.suite == "causallink/advanced"
    assert options == options.changed({"suite": "causallink"})
    environment = WhyBenchEnvironment(options)
    environment.reset(index=3)
    first = environment.state
    assert (first.template, first.instance["parameters"]) == ("notebook", {"max_errors": 2})
    environment.reset(instance=f"causallink/{first.instance['id']}")
    assert (environment.state.template, environment.state.instance) == (
        first.template,
        first.instance,
    )


@pytest.mark.parametrize("split", ["train", "eval"])
def test_an_instance_of_the_other_side_of_the_split_is_refused(split):
    suite = load_suite("causallink/core")
    environment = WhyBenchEnvironment(Options(suite=suite.path, split=split))
    for instance in list(suite)[:20]:
        name, here = f"causallink/{instance.id}", part_of(suite, instance) == split
        if here:
            environment.reset(instance=name)
            assert (environment.state.split, environment.state.instance["id"]) == (
                split,
                instance.id,
            )
        else:
            with pytest.raises(
                ValueError, match=f"is not in the split {split}. Use the other split"
            ):
                environment.reset(instance=name)


@pytest.mark.parametrize("finish", ["x", "true", 1, 0, [], {}], ids=repr)
def test_a_finish_that_is_neither_true_nor_false_is_an_error_with_a_reason(finish):
    environment = WhyBenchEnvironment(Options(reward="dense"))
    environment.reset(seed=1)
    told = environment.step(WhyBenchAction(line="answer no", finish=finish))
    assert (told.done, told.reward) == (False, -0.05)
    assert told.result["code"] == "invalid_format"
    assert "`finish` is true or false" in told.text
    assert environment.step(WhyBenchAction(line="answer no", finish=False)).done


def test_a_finite_list_is_walked_in_order_and_begins_again():
    options = Options(suite="causallink/core", split="eval", rows=40)
    suite = options.found
    expected = [i.id for i in map(suite.row, range(40)) if part_of(suite, i) == "eval"]
    environment = WhyBenchEnvironment(options)
    walked = []
    for _ in range(len(expected) + 2):
        environment.reset()
        walked.append((environment.state.index, environment.state.instance["id"]))
    assert walked == [*enumerate(expected), *enumerate(expected[:2])]
    environment.reset(index=3)
    assert environment.state.instance["id"] == expected[3]
    with pytest.raises(ValueError, match="ends before index"):
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
    ("given", "said"),
    [
        ({"splt": "eval"}, 'Unknown option "splt". Use endless, parameters'),
        ({"split": "test"}, 'Unknown split "test". Use train or eval'),
        ({"split": ["eval"]}, "`split` is .* must be a string or null"),
        ({"endless": "no"}, '`endless` is "no". It must be true or false'),
        ({"rows": 0}, "`rows` must be 1"),
        ({"rows": True}, "`rows` is true. It must be an integer or null"),
        ({"rows": 10**9}, "`rows` must be 1 … 100000"),
        ({"rows": 5, "endless": True}, "cannot be combined with `endless`"),
        ({"reward": "all"}, 'Unknown reward "all". Use sparse or dense'),
        ({"template": "no such"}, 'no template "no such". Use plain'),
        ({"suite": "nowhere/else"}, "no suite 'nowhere/else': try causalab/main_3"),
        ({"suite": 5}, "`suite` is 5. It must be a string"),
        ({"suite": ["causallink"]}, "`suite` is .* must be a string"),
        ({"parameters": [1]}, "`parameters` is .* must be an object of named values"),
        ({"parameters": {"no_such_parameter": 1}}, "no parameter"),
        ({"suite_seed": 5}, "`suite_seed` is 5. It must be a string"),
        ({"profile": "any"}, "no profile 'any': try certified"),
        ({"seed": -1}, "`seed` must be an integer of 0 or more"),
        ({"seed": 1.5}, "`seed` must be an integer of 0 or more"),
        ({"seed": True}, "`seed` must be an integer of 0 or more"),
        ({"index": -1}, "`index` must be an integer of 0 or more"),
        ({"index": "0"}, "`index` must be an integer of 0 or more"),
        ({"index": 3, "endless": True}, "has no index. Give `seed`"),
        ({"instance": 7}, "`instance` must be a string such as family/suite-0003"),
        ({"instance": "causallink/core-0000-000000000000"}, "made under another seed"),
        ({"seed": 1, "index": 1}, "Give only one of `seed`, `index` and `instance`"),
        ({"episode_id": 5}, "`episode_id` must be a string"),
    ],
    ids=str,
)
def test_a_bad_reset_says_how_to_mend_it_and_leaves_the_episode_alone(given, said):
    environment = WhyBenchEnvironment()
    environment.reset(seed=1)
    before = environment.state
    with pytest.raises(ValueError, match=said):
        environment.reset(**given)
    assert environment.state is before
    assert environment.step(WhyBenchAction(line="answer no")).done


def test_parameters_and_template_of_one_suite_are_no_defaults_for_another():
    options = Options(suite="causallink/large", template="notebook").changed({"suite": "recite"})
    assert options.template is None


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
        with pytest.raises(ValueError, match="Connect again"):
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
