"""Which instances an interface offers, and which a seed stands for."""

import copy
from itertools import islice

import gymnasium
import numpy as np
import pytest

import whybench.interfaces.gym  # noqa: F401 - registers the environments
from whybench.causal.seeds import Stream
from whybench.episode.instance import Instance
from whybench.episode.registry import load_suite
from whybench.episode.split import ENDLESS, part_of
from whybench.interfaces.sampling import Choice, Deck

CORE = load_suite("causallink/core")
KINDS = [
    {},
    {"rows": 100},
    {"split": "train"},
    {"split": "eval", "rows": 120},
    {"endless": True},
    {"split": "eval", "endless": True},
]


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_gymnasium_plays_what_the_seed_stands_for(kind: dict) -> None:
    env = gymnasium.make("WhyBench/causallink-core-v2", **kind)
    seen = [env.reset(seed=11)[1]["instance"], *(env.reset()[1]["instance"] for _ in range(30))]
    expected = islice(Choice(CORE, **kind).seeded(11), 31)
    assert seen == [f"causallink/{instance.id}" for instance in expected]


def listed(split: str | None, rows: int | None) -> list[Instance]:
    """Find a finite list without `Choice`."""
    every = [CORE.row(row) for row in range(rows or len(CORE))]
    return [one for one in every if split in (None, part_of(CORE, one))]


def drawn(stream: Stream, split: str, number: int) -> list[Instance]:
    """Draw from the endless list without `Choice`."""
    found: list[Instance] = []
    while len(found) < number:
        instance = CORE.row(stream.below(ENDLESS * len(CORE)))
        found += [instance] if part_of(CORE, instance) == split else []
    return found


@pytest.mark.parametrize("kind", KINDS[:4], ids=str)
def test_a_finite_list_is_dealt_once_and_then_again(kind: dict) -> None:
    choice = Choice(CORE, **kind)
    plain = list(choice.once())
    assert plain == listed(choice.split, choice.rows)
    dealt = list(choice.once(5))
    assert dealt != plain
    assert sorted(dealt, key=plain.index) == plain
    twice = list(islice(choice.seeded(5), 2 * len(plain)))
    assert twice[: len(plain)] == dealt
    assert sorted(twice[len(plain) :], key=plain.index) == plain
    assert twice[len(plain) :] != dealt


def test_an_endless_list_is_drawn_by_the_stream_of_its_seed() -> None:
    stream = Stream("choose", "causallink/core", "certified", "public", "{}", "train", 3)
    expected = drawn(stream, "train", 10)
    assert list(islice(Choice(CORE, "train", endless=True).seeded(3), 10)) == expected
    for other in (Choice(CORE, "train", endless=True).seeded(4), Choice(CORE, "train").once()):
        assert not set(expected) & set(islice(other, 10))


@pytest.mark.parametrize(
    "suite",
    [
        load_suite("causallink/core", seed="other"),
        load_suite("causallink/core", parameters={"max_errors": 2}),
        load_suite("causallink/core", profile="published"),
    ],
    ids=("seed", "parameters", "profile"),
)
def test_what_makes_other_instances_deals_another_order(suite: object) -> None:
    orders = [[i.index for i in Choice(s).once(1)] for s in (CORE, suite)]
    assert orders[0] != orders[1]


def test_a_place_is_counted_within_the_split() -> None:
    choice = Choice(CORE, "eval", rows=60)
    held = listed("eval", 60)
    assert [choice.at(place) for place in range(len(held))] == held
    assert choice.at(np.int64(1)) == held[1]
    with pytest.raises(ValueError, match=rf"for eval ends before index {len(held)}. Start again"):
        choice.at(len(held))


@pytest.mark.parametrize("place", ["3", True, 1.0, -1, None, [1], np.True_], ids=repr)
def test_a_place_that_is_no_whole_number_is_refused(place: object) -> None:
    with pytest.raises(ValueError, match="`index` must be an integer of 0 or more"):
        Choice(CORE).at(place)


def test_a_part_of_which_there_is_nothing_is_named() -> None:
    choice = Choice(CORE, "eval" if part_of(CORE, CORE[0]) == "train" else "train", rows=1)
    for ask in (lambda: choice.at(0), lambda: next(choice.seeded(1))):
        with pytest.raises(
            ValueError, match=rf"no instance for {choice.split} in 1 rows. Increase"
        ):
            ask()


def test_an_endless_list_has_no_places_and_no_end() -> None:
    with pytest.raises(ValueError, match="has no index"):
        Choice(CORE, endless=True).at(0)
    with pytest.raises(ValueError, match="cannot be played once"):
        Choice(CORE, endless=True).once()


def test_an_instance_of_the_other_side_is_refused() -> None:
    for instance in islice(CORE, 20):
        here = part_of(CORE, instance)
        Choice(CORE).check(instance)
        Choice(CORE, here).check(instance)
        with pytest.raises(ValueError, match="Use the other split"):
            Choice(CORE, "eval" if here == "train" else "train").check(instance)


def test_what_a_seed_stands_for_can_be_copied_on_the_way() -> None:
    for choice in (Choice(CORE), Choice(CORE, endless=True)):
        first = choice.seeded(2)
        next(first)
        other = copy.deepcopy(first)
        assert [i.id for i in islice(first, 5)] == [i.id for i in islice(other, 5)]


def test_a_deck_deals_every_order_alike() -> None:
    stream, counts = Stream("test", "deck"), dict.fromkeys(range(6), 0)
    orders = [(0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)]
    deck = Deck(3)
    for _ in range(3000):
        counts[orders.index(tuple(deck.draw(stream) for _ in range(3)))] += 1
    assert all(400 < count < 600 for count in counts.values())
