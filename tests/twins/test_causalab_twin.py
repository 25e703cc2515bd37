"""The CausaLab twin against worlds worked out by hand, and what it says about how many steps."""

import random
from fractions import Fraction

import pytest

from tests.twins.causalab_twin import (
    Solutions,
    TwinWorld,
    all_graphs,
    consistent_graphs,
    fewest_by_search,
    is_acyclic,
    predicted,
    solve,
    told,
)


def ancestors(graph, node):
    found = {p for p, i in graph if i == node}
    return found.union(*(ancestors(graph, p) for p in found))


# The world ---------------------------------------------------------------------------------------


def test_a_set_reads_at_once_and_its_base_persists():
    # density (1) -> quantumSize (2), weight 1: 77 + 5. Setting 2 to 1 leaves the base 1 - 77 = -76,
    # so density 12 makes it -64.
    world = TwinWorld(3, 10, {(1, 2): 1})
    records, course = world.readings([], [77, 5], [(2, 1), (1, 12)], "set")
    assert records == []
    assert course == [(10, 77, 82), (10, 77, 1), (10, 12, -64)]


def test_a_shift_keeps_the_parents_contribution():
    world = TwinWorld(3, 10, {(1, 2): 1})
    _, course = world.readings([], [77, 5], [(2, 1), (1, 12)], "shift")
    assert course == [(10, 77, 82), (10, 77, 78), (10, 12, 13)]


def test_shift_and_set_on_a_chain_of_two_steps():
    # 1 -> 2 -> frequency, weights 2 and 3, frequency base 4.
    world = TwinWorld(3, 4, {(1, 2): 2, (2, 0): 3})
    steps = [(1, 10), (2, 100)]
    records, shift = world.readings([[1, 0], [0, 6]], [5, 7], steps, "shift")
    _, put = world.readings([], [5, 7], steps, "set")
    assert records == [(10, 1, 2), (22, 0, 6)]
    assert shift == [(55, 5, 17), (85, 10, 27), (364, 10, 120)]
    assert put == [(55, 5, 17), (85, 10, 27), (304, 10, 100)]


def test_squares_use_the_parents_reading():
    world = TwinWorld(3, 1, {(1, 2): 3}, {(1, 2): 2, (2, 0): 1})
    # x_2 = 4 + 2 * 25 + 15 = 69, frequency = 1 + 69 ** 2; x_1 := -1 gives 4 + 2 - 3 = 3.
    assert world.readings([], [5, 4], [(1, -1)], "set")[1] == [(4762, 5, 69), (10, -1, 3)]
    assert world.graph == {(1, 2), (2, 0)}


def test_children_use_the_rounded_parent():
    world = TwinWorld(3, 0, {(1, 2): 0.333, (2, 0): 10}, rounded=True)
    # 0.333 * 1 = 0.333 is read 0.33, hence 3.3; exact it is 3.33.
    assert world.reading([1, 0]) == (Fraction(33, 10), 1, Fraction(33, 100))
    free = TwinWorld(3, 0, {(1, 2): 0.333, (2, 0): 10})
    assert free.reading([1, 0]) == (Fraction(333, 100), 1, Fraction(333, 1000))


def test_a_rounded_set_can_miss_its_value_by_a_cent():
    # The contribution is 0.005: base round(0.995, 2) = 0.99, reading round(0.995, 2) = 0.99.
    rounded = TwinWorld(3, 0, {(1, 2): 0.5}, rounded=True)
    assert rounded.readings([], [0.01, 3], [(2, 1)], "set")[1][1][2] == Fraction(99, 100)
    free = TwinWorld(3, 0, {(1, 2): 0.5})
    assert free.readings([], [0.01, 3], [(2, 1)], "set")[1][1][2] == 1


def test_the_hidden_value_comes_after_interventions_only_and_propagates():
    world = TwinWorld(3, 1, {(1, 2): 2, (2, 0): 1})
    records, course = world.readings(
        [[1, 1]], [5, 7], [(1, 10), (2, 100)], "set", hidden=[3, -1], affected=[1]
    )
    assert records == [(4, 1, 3)]
    # Step 1: x_1 = 10 + 3, x_2 = 7 + 26. Step 2: the base of 2 becomes 100 - 2 * 13 = 74 by the
    # last reading of 1; then x_1 = 10 - 1 and x_2 = 74 + 18.
    assert course == [(18, 5, 17), (34, 13, 33), (93, 9, 92)]


def test_bad_worlds_are_refused():
    with pytest.raises(ValueError, match="cycle"):
        TwinWorld(3, 0, {(1, 2): 1, (2, 1): 1}).reading([0, 0])
    with pytest.raises(ValueError, match="only a property"):
        TwinWorld(2, 0, {}).readings([], [1], [(0, 1)], "set")


# Brute force -------------------------------------------------------------------------------------


def test_solve_by_hand():
    one, zero = Fraction(1), Fraction(0)
    # x + y = 3, x - y = 1; then x + y = 3 alone; then x = 1 and x = 2.
    assert solve([[one, one], [one, -one]], [one * 3, one]) == Solutions((2, 1), ())
    line = solve([[one, one]], [one * 3])
    assert line == Solutions((3, 0), ((-1, 1),))
    assert line.constant([one, one]) == 3
    assert line.constant([one, zero]) is None
    assert solve([[one], [one]], [one, one * 2]) is None


def test_number_of_graphs():
    # 1, 3, 25, 543 labelled DAGs; a sink adds a free choice of parents: times 2 ** (k - 1).
    assert [len(all_graphs(k, False)) for k in (1, 2, 3, 4)] == [1, 3, 25, 543]
    assert [len(all_graphs(k, True)) for k in (1, 2, 3, 4)] == [1, 2, 12, 200]
    assert not is_acyclic(3, [(0, 1), (1, 2), (2, 0)])


TWO_CAUSES = TwinWorld(3, 4, {(1, 0): 2, (2, 0): 3})  # no edge between the properties


def test_two_causes_without_an_edge_between_them():
    # Baseline (4 + 10 + 21, 5, 7). One set of 1: nothing says whether 2 -> 1, as 2 never moved.
    data = told(TWO_CAUSES, [[1, 1]], [5, 7], [(1, 100)], "set")
    assert data == ([(9, 1, 1)], (35, 5, 7), [(1, 100, (225, 100, 7))])
    result = consistent_graphs(3, *data, "set", True)
    assert result.graphs == {
        frozenset({(1, 0), (2, 0)}),
        frozenset({(1, 0), (2, 0), (2, 1)}),
    }
    assert result.edges == {
        (0, 1): "none", (0, 2): "none", (1, 0): "all", (1, 2): "none", (2, 0): "all", (2, 1): "some"
    }  # fmt: skip
    assert result.frequency_unique  # three readings for base and two weights
    assert not result.whole_unique
    assert predicted(3, *data, "set", [10, 10], True) == 54
    # Under shift the base 100 is known: 100 = 100 + w * 7, so w = 0 and 2 -> 1 is out.
    data = told(TWO_CAUSES, [[1, 1]], [5, 7], [(1, 100)], "shift")
    result = consistent_graphs(3, *data, "shift", True)
    assert result.graphs == {frozenset({(1, 0), (2, 0)})}
    assert result.whole_unique


def test_two_causes_are_settled_by_two_sets():
    data = told(TWO_CAUSES, [], [5, 7], [(1, 100), (2, 0)], "set")
    result = consistent_graphs(3, *data, "set", True)
    assert result.whole_unique
    assert result.graphs == {TWO_CAUSES.graph}
    assert result.spaces[0, (1, 2)] == Solutions((2, 3, 4), ())
    assert fewest_by_search(TWO_CAUSES, [], [5, 7], "set", [1, 2], True) == 2
    assert fewest_by_search(TWO_CAUSES, [[1, 1]], [5, 7], "set", [1, 2], True) == 2
    assert fewest_by_search(TWO_CAUSES, [[1, 1]], [5, 7], "set", [1], True) is None
    assert fewest_by_search(TWO_CAUSES, [[1, 1]], [5, 7], "shift", [1, 2], True) == 1


def test_the_frequency_may_be_settled_at_one_crystal_only():
    # Without records or a step on 2 only multiples of x_1 are seen at x_2 = 7.
    data = told(TWO_CAUSES, [], [5, 7], [(1, 100)], "set")
    result = consistent_graphs(3, *data, "set", True)
    assert not result.frequency_unique
    assert predicted(3, *data, "set", [10, 7], True) == 4 + 20 + 21
    assert predicted(3, *data, "set", [10, 8], True) is None


def test_without_interventions_properties_are_open():
    # Four readings settle the frequency's row, none of them the edges between properties.
    data = told(TWO_CAUSES, [[1, 1], [2, 9], [8, 3]], [5, 7], [], "set")
    result = consistent_graphs(3, *data, "set", True)
    assert result.frequency_unique
    assert (result.edges[1, 2], result.edges[2, 1]) == ("some", "some")
    assert len(result.graphs) == 3


def test_an_edge_follows_from_a_child_that_moves():
    # 1 -> 2 with weight 2, frequency 3 * x_2: setting 1 moves 2, so 2 descends from 1.
    world = TwinWorld(3, 4, {(1, 2): 2, (2, 0): 3})
    data = told(world, [[1, 0]], [5, 7], [(1, 10)], "set")
    result = consistent_graphs(3, *data, "set", True)
    assert result.whole_unique
    assert result.graphs == {world.graph}
    # A record with the same base of 2 lies on the line x_2 = 7 + 2 * x_1 and tells nothing new.
    data = told(world, [[1, 7]], [5, 7], [(1, 10)], "set")
    assert not consistent_graphs(3, *data, "set", True).frequency_unique
    assert fewest_by_search(world, [[1, 7]], [5, 7], "set", [1, 2], True) == 2


def test_inconsistent_data_leave_no_graph():
    # Frequency a child of nothing that moves, yet it moves.
    result = consistent_graphs(2, [], [1, 5], [(1, 5, [2, 5])], "set", True)
    assert result.graphs == frozenset()
    assert not result.frequency_unique
    assert not result.whole_unique
    with pytest.raises(ValueError, match="must read its value"):
        consistent_graphs(2, [], [1, 5], [(1, 6, [2, 5])], "set", True)


# Frequency as a parent ---------------------------------------------------------------------------

# 1 -> frequency (weight 2, base 5 or 0) -> 2 (weight 3): x_2 = b + 3 * (base + 2 * x_1). The row
# of 2 may add c * (frequency - base - 2 * x_1) = 0: c is free unless the base of 2 is known.
THROUGH, AROUND = frozenset({(1, 0), (0, 2)}), frozenset({(1, 0), (1, 2)})
BOTH = THROUGH | AROUND
EVERY_STEP = [(1, 100), (2, 0), (1, 0), (2, 100)]


@pytest.mark.parametrize("base", [5, 0])
def test_under_set_a_child_of_frequency_may_be_a_child_of_its_parents(base):
    world = TwinWorld(3, base, {(1, 0): 2, (0, 2): 3})
    data = told(world, [[1, 1], [2, 9]], [5, 7], EVERY_STEP, "set")
    result = consistent_graphs(3, *data, "set", False)
    assert result.graphs == {THROUGH, AROUND, BOTH}
    assert result.frequency_unique
    assert fewest_by_search(world, [[1, 1], [2, 9]], [5, 7], "set", [1, 2], False) is None


def test_under_shift_a_known_base_tells_frequency_from_its_parents():
    # After base 2 := 0 and x_1 = 100: x_2 = 615 = u * 205 + w * 100 and, from the change of 190
    # in frequency and 95 in x_1 before, 3 * 190 = u * 190 + w * 95: u = 3, w = 0.
    world = TwinWorld(3, 5, {(1, 0): 2, (0, 2): 3})
    data = told(world, [[1, 1]], [5, 7], [(1, 100), (2, 0)], "shift")
    assert data[2][1] == (2, 0, (205, 100, 615))
    result = consistent_graphs(3, *data, "shift", False)
    assert result.graphs == {THROUGH}
    assert result.whole_unique
    assert fewest_by_search(world, [[1, 1]], [5, 7], "shift", [1, 2], False) == 2
    assert fewest_by_search(world, [[1, 1]], [5, 7], "shift", [1], False) is None


def test_under_shift_a_frequency_base_of_zero_settles_nothing():
    world = TwinWorld(3, 0, {(1, 0): 2, (0, 2): 3})
    data = told(world, [[1, 1], [2, 9]], [5, 7], EVERY_STEP, "shift")
    assert consistent_graphs(3, *data, "shift", False).graphs == {THROUGH, AROUND, BOTH}


def test_a_true_sink_must_also_be_told():
    # 1 -> 2 and 1 -> frequency: who does not know that frequency is a sink cannot exclude it.
    world = TwinWorld(3, 5, {(1, 0): 2, (1, 2): 3})
    data = told(world, [[1, 1], [2, 9]], [5, 7], EVERY_STEP, "set")
    assert consistent_graphs(3, *data, "set", False).graphs == {THROUGH, AROUND, BOTH}
    assert consistent_graphs(3, *data, "set", True).graphs == {AROUND}


# How many interventions --------------------------------------------------------------------------


def random_world(rng, k, n_records):
    order = rng.sample(range(1, k), k - 1)
    edges = [(p, i) for at, p in enumerate(order) for i in order[at + 1 :] if rng.random() < 0.5]
    causes = [p for p in range(1, k) if rng.random() < 0.6] or [rng.randrange(1, k)]
    weights = {edge: rng.randint(1, 3) for edge in [*edges, *((p, 0) for p in causes)]}
    crystals = [[rng.randint(1, 99) for _ in range(k - 1)] for _ in range(n_records + 1)]
    return TwinWorld(k, rng.randint(1, 99), weights), crystals[1:], crystals[0]


def expected(world, records, bases, semantics):
    """k - 2 if one property can be left out, else k - 1 (frequency known to be a sink)."""
    properties = set(range(1, world.k))
    for left_out in properties:
        base = bases[left_out - 1]
        if any(record[left_out - 1] != base for record in records):
            last = ancestors(world.graph, left_out) >= properties - {left_out}
            if last or (semantics == "shift" and base != 0):
                return world.k - 2
    return world.k - 1


@pytest.mark.parametrize("semantics", ["set", "shift"])
@pytest.mark.parametrize(("k", "n_records", "worlds"), [(3, 2, 12), (3, 0, 8), (4, 2, 4)])
def test_fewest_in_random_worlds(semantics, k, n_records, worlds):
    rng = random.Random(f"{k} {n_records}")
    for _ in range(worlds):
        world, records, bases = random_world(rng, k, n_records)
        found = fewest_by_search(world, records, bases, semantics, range(1, k), True)
        assert found == expected(world, records, bases, semantics)
        assert found >= k - 2


def test_a_left_out_base_of_zero_hides_its_edges_under_shift():
    # Both bases 0, no edge: neither property can be left out.
    assert fewest_by_search(TWO_CAUSES, [[1, 1]], [0, 0], "shift", [1, 2], True) == 2
    assert fewest_by_search(TWO_CAUSES, [[1, 1]], [0, 7], "shift", [1, 2], True) == 1
