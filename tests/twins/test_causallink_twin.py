"""The twin reproduces the figures of the CausalLink spec and the paper's worked examples."""

import json
import random
from collections import Counter
from itertools import combinations, permutations
from pathlib import Path

import pytest

from tests.tables import sampled

from .causallink_twin import (
    STRUCTURES,
    Answer,
    Edges,
    History,
    State,
    Verb,
    behaviour,
    bias,
    closure,
    core_cases,
    decide,
    descendants,
    fewest,
    hypotheses,
    is_closed,
    minimax,
    minimax_formula,
    parents,
    partial_orders,
    step,
    verdict,
)
from .worked_examples import EXAMPLES, VERDICTS, read

ROWS = json.loads(
    (Path(__file__).parents[1] / "data" / "causallink_core_steps.json").read_text(encoding="utf-8")
)
VERBS: tuple[Verb, Verb] = ("move", "hold")


def states(n: int) -> list[State]:
    """Every set of n shapes."""
    return [frozenset(c) for size in range(n + 1) for c in combinations(range(n), size)]


def random_dag(rng: random.Random, n: int) -> Edges:
    """A graph on n shapes with a random order and each edge present with probability one half."""
    order = rng.sample(range(n), n)
    return frozenset(pair for pair in combinations(order, 2) if rng.random() < 0.5)


def play(edges: Edges, start: State, actions: list[tuple[Verb, int]]) -> History:
    """The history that these actions produce in a world."""
    history: list[tuple[Verb, int, State]] = []
    state = start
    for verb, node in actions:
        state = step(edges, state, verb, node)
        history.append((verb, node, state))
    return history


def unpack(bits: str) -> State:
    """The state written as one digit per shape."""
    return frozenset(node for node, bit in enumerate(bits) if bit == "1")


# Section 2


def test_hold_waits_for_the_last_moving_parent() -> None:
    """A child of two roots stops only when both have been held."""
    collider = frozenset({(0, 1), (2, 1)})
    everything = frozenset({0, 1, 2})
    assert step(collider, everything, "hold", 1) == everything
    assert step(collider, everything, "hold", 0) == {1, 2}
    assert step(collider, frozenset({1, 2}), "hold", 2) == frozenset()


def test_hand_pushes_are_not_remembered() -> None:
    """A shape pushed by hand stops with an ancestor that is pushed and held later."""
    actions: list[tuple[Verb, int]] = [("move", 1), ("move", 0), ("hold", 0)]
    history = play(frozenset({(0, 1)}), frozenset(), actions)
    assert [sorted(after) for _, _, after in history] == [[1], [0, 1], []]


def test_unknown_verb_is_refused() -> None:
    """A verb outside the two of the world is an error of the caller."""
    with pytest.raises(ValueError, match="verb"):
        step(frozenset(), frozenset(), "push", 0)  # type: ignore[arg-type]  # the point of the test


def test_dynamics_show_reachability_only() -> None:
    """On random graphs: closed states stay closed, closure and roots predict every step."""
    rng = random.Random(2)
    for _ in range(300):
        n = rng.randint(2, 7)
        edges = random_dag(rng, n)
        order = closure(edges)
        state: State = frozenset()
        for _ in range(12):
            verb, node = rng.choice(VERBS), rng.randrange(n)
            after = step(edges, state, verb, node)
            assert after == step(order, state, verb, node)
            assert is_closed(edges, after)
            roots = {r for r in state if not parents(order, r) & state}
            if verb == "hold" and node in roots:
                kept = roots - {node}
                assert after == kept.union(*(descendants(edges, r) for r in kept))
            elif verb == "hold":
                assert after == state
            state = after


# Section 3


def test_core_set_has_84_cases() -> None:
    """Counts per structure, of true and false answers, and the rows of the data file."""
    cases = core_cases()
    assert Counter(name for name, *_ in cases) == {
        "direct": 6,
        "mediation": 24,
        "confounder": 30,
        "confounder+edge": 24,
    }
    assert Counter(truth for *_, truth in cases) == {True: 37, False: 47}
    assert set(cases) == {(row[0], unpack(row[1]), *row[2:5]) for row in ROWS}
    assert len(cases) == len(set(cases)) == len(ROWS) == 84


def test_core_set_has_45_behaviours() -> None:
    """Up to renaming 39 cases occur twice and 6 once."""
    copies = Counter(behaviour(case) for case in core_cases())
    assert len(copies) == 45
    assert Counter(copies.values()) == {2: 39, 1: 6}


# Section 10


def test_numbers_of_partial_orders() -> None:
    """Known counts of labelled partial orders (OEIS A001035), each a transitive closure."""
    assert [len(partial_orders(n)) for n in (2, 3, 4, 5)] == [3, 19, 219, 4231]
    for n in (2, 3, 4, 5):
        orders = partial_orders(n)
        assert len(set(orders)) == len(orders)
        assert all(closure(order) == order for order in orders)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: "-".join(map(str, row[:4])))
def test_core_row(row: list[object]) -> None:
    """Truth, certificate and minimax of one stored row."""
    name, bits, x, y, truth, certificate, worst = row[:7]
    n, edges = STRUCTURES[str(name)]
    start = unpack(str(bits))
    assert isinstance(x, int)
    assert isinstance(y, int)
    assert (y in descendants(edges, x)) is truth
    assert fewest(n, edges, start, x, y) == certificate
    assert minimax(n, start, x, y) == worst == minimax_formula(start, x, y)


def test_core_totals() -> None:
    """The distributions of certificate and minimax that the spec prints."""
    costs = [
        (truth, fewest(*STRUCTURES[name], start, x, y), minimax(STRUCTURES[name][0], start, x, y))
        for name, start, x, y, truth in core_cases()
    ]
    assert Counter(cost for truth, cost, _ in costs if truth) == {1: 22, 2: 15}
    assert Counter(cost for truth, cost, _ in costs if not truth) == {0: 15, 1: 26, 2: 6}
    assert Counter(worst for *_, worst in costs) == {0: 15, 1: 36, 2: 27, 3: 6}
    assert round(sum(max(1, cost) for _, cost, _ in costs) / 84, 2) == 1.25


@pytest.mark.parametrize("n", [2, 3, 4])
def test_minimax_formula_for_every_start(n: int) -> None:
    """The table of the spec equals exhaustive search for every start state and ordered pair."""
    for start in states(n):
        for x, y in permutations(range(n), 2):
            assert minimax(n, start, x, y) == minimax_formula(start, x, y), (start, x, y)


@pytest.mark.slow
def test_minimax_formula_for_five_shapes() -> None:
    """The same for n = 5, with one start and pair for each class under renaming."""
    classes = {
        (len(start), x in start, y in start): (start, x, y)
        for start in states(5)
        for x, y in permutations(range(5), 2)
    }
    assert len(classes) == 16
    for start, x, y in classes.values():
        assert minimax(5, start, x, y) == minimax_formula(start, x, y), (start, x, y)


@pytest.mark.parametrize("n", [2, 3, 4])
def test_ineffective_verbs_show_nothing(n: int) -> None:
    """Moving a moving shape or holding a static one is a no-op in every consistent world."""
    for state in states(n):
        for order in hypotheses(n, state):
            for node in range(n):
                verb: Verb = "move" if node in state else "hold"
                assert step(order, state, verb, node) == state


def closed_form(n: int, order: Edges, x: int, y: int) -> int:
    """The spec's certificate length when every shape moves at the start."""
    sources = {node for node in range(n) if not parents(order, node)}
    above = {node: sources & (parents(order, node) | {node}) for node in range(n)}
    if (x, y) in order:
        return len(above[y]) + (x not in sources)
    if y in sources:
        return 1
    return len(above[y]) + (above[x] <= above[y])


@pytest.mark.parametrize("n", sampled([2, 3, 4], 2))
def test_certificate_closed_form_when_all_move(n: int) -> None:
    """The closed form equals breadth-first search on every partial order."""
    start = frozenset(range(n))
    for order in partial_orders(n):
        for x, y in permutations(range(n), 2):
            assert fewest(n, order, start, x, y) == closed_form(n, order, x, y), (order, x, y)


def test_verdict_is_sound_and_lasting() -> None:
    """A forced verdict is the truth and no later action takes it back."""
    rng = random.Random(10)
    for _ in range(150):
        n = rng.randint(2, 4)
        edges = random_dag(rng, n)
        start = rng.choice([state for state in states(n) if is_closed(edges, state)])
        history = play(edges, start, [(rng.choice(VERBS), rng.randrange(n)) for _ in range(6)])
        x, y = rng.sample(range(n), 2)
        truth = "yes" if y in descendants(edges, x) else "no"
        verdicts = [verdict(n, start, history[:t], x, y) for t in range(len(history) + 1)]
        decided = [v for v in verdicts if v != "undecided"]
        assert verdicts[len(verdicts) - len(decided) :] == decided
        assert set(decided) <= {truth}


def test_impossible_histories_are_refused() -> None:
    """A moved shape that stays static, or a start that the world would not leave alone."""
    with pytest.raises(ValueError, match="history"):
        verdict(2, frozenset(), [("move", 0, frozenset())], 0, 1)
    with pytest.raises(ValueError, match="history"):
        decide([], 0, 1)
    with pytest.raises(ValueError, match="start"):
        fewest(2, frozenset({(0, 1)}), frozenset({0}), 0, 1)


# Section 8


@pytest.mark.parametrize("name", EXAMPLES)
def test_worked_example(name: str) -> None:
    """Each example of the paper gets the paper's name; every one of them is a wrong answer."""
    example = EXAMPLES[name]
    index = example.shapes.index
    start, n = read(example.start), len(example.shapes)
    history = [(verb, index(shape), read(after)) for verb, shape, after in example.turns]
    x, y = index(example.cause), index(example.effect)
    truth = example.answer == "no"
    evidence = verdict(n, start, history, x, y)
    assert evidence == VERDICTS[name]
    assert bias(start, history, x, y, truth, example.answer, evidence) == example.label
    right: Answer = "yes" if truth else "no"
    assert bias(start, history, x, y, truth, right, evidence) is None


CORNERS: list[tuple[str, Edges, set[int], list[tuple[Verb, int]], str]] = [
    ("nothing was tried", frozenset({(0, 1)}), set(), [], "other_fn"),
    ("the world was empty before", frozenset({(0, 1)}), set(), [("hold", 2)], "other_fn"),
    (
        "an emptied world comes before a lag",
        frozenset({(0, 1), (2, 1)}),
        {0, 1, 2},
        [("hold", 0), ("hold", 2)],
        "root_cause_bias",
    ),
    ("nothing was tried", frozenset(), set(), [], "other_fp"),
    ("alike from the first action on", frozenset(), {1}, [("hold", 1)], "correlation_bias"),
    ("alike at the end only", frozenset(), set(), [("move", 1), ("hold", 1)], "other_fp"),
    ("cause joins late", frozenset(), {1}, [("move", 2), ("move", 0)], "correlation_bias"),
    (
        "cause joins and leaves",
        frozenset(),
        {1},
        [("move", 2), ("move", 0), ("hold", 0)],
        "other_fp",
    ),
]


@pytest.mark.parametrize(("why", "edges", "start", "actions", "label"), CORNERS)
def test_corner_of_the_rules(
    why: str, edges: Edges, start: set[int], actions: list[tuple[Verb, int]], label: str
) -> None:
    """Each clause of the rules changes the label of some wrong answer about 0 -> 1."""
    begin, truth = frozenset(start), (0, 1) in edges
    history = play(edges, begin, actions)
    wrong: Answer = "no" if truth else "yes"
    evidence = verdict(3, begin, history, 0, 1)
    assert bias(begin, history, 0, 1, truth, wrong, evidence) == label, why


def test_only_yes_and_no_are_classified() -> None:
    """Formal errors have no failure pattern."""
    with pytest.raises(ValueError, match="classified"):
        bias(frozenset(), [], 0, 1, True, "maybe", "undecided")  # type: ignore[arg-type]  # the point


def test_a_hold_of_the_cause_that_stops_the_effect_forces_yes() -> None:
    """So rule 2 never rests on a hold of x, and "y still moving" in rule 3 is implied."""
    for n in (2, 3, 4):
        for order in partial_orders(n):
            for x, y in order:
                for start in states(n):
                    if x in start and is_closed(order, start):
                        after = step(order, start, "hold", x)
                        if y not in after:
                            assert verdict(n, start, [("hold", x, after)], x, y) == "yes"
