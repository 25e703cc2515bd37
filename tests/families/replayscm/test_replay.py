"""Replay and Alternative-SCM scoring against a plain twin: row by row, dictionaries, no bits."""

import json
import random
from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest
from tests.tables import together

from whybench.causal.structure import edge_f1, edge_recall, shd
from whybench.episode.episode import ANSWERED
from whybench.families.replayscm.alternative import candidate_of, contrast, experiment, separation
from whybench.families.replayscm.score import Handed, compared, values
from whybench.families.replayscm.submission import Candidate, Judged, judge
from whybench.families.replayscm.world.replay import Sheet, mismatches, replay
from whybench.families.replayscm.world.world import Table, Told, View, World

# The twin. Formulas are nested lists such as ["and", "X1", ["not", "X2"]], values are 0 and 1.

Row = dict[str, int]
Mechanisms = dict[str, Any]


def value(formula: Any, row: Row) -> int:
    """The value of a formula."""
    if isinstance(formula, str):
        return row[formula]
    operator, *arguments = formula
    found = [value(argument, row) for argument in arguments]
    return {
        "not": int(not found[0]),
        "and": int(min(found)),
        "or": int(max(found)),
        "xor": sum(found) % 2,
        "iff": int(min(found) == max(found)),
    }[operator]


def mentioned(formula: Any) -> set[str]:
    """The variables in a formula."""
    if isinstance(formula, str):
        return {formula}
    return {name for argument in formula[1:] for name in mentioned(argument)}


def text(formula: Any) -> str:
    """A formula as it is handed in."""
    if isinstance(formula, str):
        return formula
    return "(" + " ".join([formula[0], *map(text, formula[1:])]) + ")"


def computed(mechanisms: Mechanisms, given: Row) -> Row:
    """Fill in what is not given, each variable once all it mentions is there."""
    row = dict(given)
    while len(waiting := [name for name in mechanisms if name not in row]):
        ready = [name for name in waiting if mentioned(mechanisms[name]) <= set(row)]
        assert ready, "there is a cycle"
        for name in ready:
            row[name] = value(mechanisms[name], row)
    return row


World_ = tuple[list[str], list[Row]]
"""Targets and rows; a target's value in a row is what it was set to."""


def scored_cells(mechanisms: Mechanisms, world: World_) -> list[tuple[int, str, bool]]:
    """Every scored cell of a world: row, variable, and whether replay gets it right."""
    targets, rows = world
    found = []
    for number, row in enumerate(rows):
        given = {
            name: bit for name, bit in row.items() if name in targets or name not in mechanisms
        }
        replayed = computed(mechanisms, given)
        found += [
            (number, name, replayed[name] == row[name])
            for name in mechanisms
            if name not in targets
        ]
    return found


def agreement(mechanisms: Mechanisms, worlds: list[World_]) -> dict[str, Any]:
    """Cells, right cells, worlds with a scored cell, and those without a wrong one."""
    cells = [[right for _, _, right in scored_cells(mechanisms, world)] for world in worlds]
    counted = [world for world in cells if world]
    flat = [right for world in cells for right in world]
    return {
        "cells": len(flat),
        "right": sum(flat),
        "tables": len(counted),
        "exact_tables": sum(all(world) for world in counted),
        "exact": bool(flat) and all(flat),
        "accuracy": sum(flat) / len(flat) if flat else 0.0,
        "table_rate": sum(map(all, counted)) / len(counted) if counted else 0.0,
    }


def under(mechanisms: Mechanisms, roots: Row, target: str, bit: int) -> Row:
    """All variables when one is set, on an assignment of the roots."""
    return computed(mechanisms, {**roots, target: bit})


def assignments(roots: list[str]) -> list[Row]:
    """Every assignment of the roots."""
    return [dict(zip(roots, bits, strict=True)) for bits in product((0, 1), repeat=len(roots))]


def rates(
    reference: Mechanisms, other: Mechanisms, roots: list[str], target: str, bit: int
) -> tuple[float, float]:
    """PairDisagreementRate and CellDifferenceRate of one experiment."""
    pairs = cells = differing = 0
    for chosen in assignments(roots):
        one = under(reference, chosen, target, bit)
        two = under(other, chosen, target, bit)
        seen = [one[name] != two[name] for name in reference if name != target]
        pairs += any(seen)
        cells += len(seen)
        differing += sum(seen)
    return pairs / 2 ** len(roots), differing / cells if cells else 0.0


def is_witness(
    reference: Mechanisms, other: Mechanisms, target: str, bit: int, roots: Row, claims: list[Any]
) -> bool:
    """Whether one claim at least is right, about an endogenous variable that is not the target."""
    one, two = under(reference, roots, target, bit), under(other, roots, target, bit)
    return any(
        claim["variable"] in reference
        and claim["variable"] != target
        and one[claim["variable"]] == claim["reference"]
        and two[claim["variable"]] == claim["alternative"]
        and claim["reference"] != claim["alternative"]
        for claim in claims
    )


# Random cases.


def random_formula(draw: random.Random, over: list[str], depth: int) -> Any:
    if depth == 0 or draw.random() < 0.3:
        return draw.choice(over)
    operator = draw.choice(["not", "and", "or", "xor", "iff"])
    count = 1 if operator == "not" else draw.choice([2, 2, 3])
    return [operator, *(random_formula(draw, over, depth - 1) for _ in range(count))]


def random_scm(draw: random.Random, order: list[str], roots: int) -> Mechanisms:
    """Mechanisms in a random order of keys; the first variables of the order are roots."""
    own = [
        (name, random_formula(draw, order[:at], 3)) for at, name in enumerate(order) if at >= roots
    ]
    draw.shuffle(own)
    return dict(own)


def random_worlds(draw: random.Random, scm: Mechanisms, names: list[str]) -> list[World_]:
    """Worlds with no, some or all variables as targets, constant or row by row."""
    worlds: list[World_] = []
    for _ in range(draw.randint(1, 4)):
        targets = draw.sample(names, draw.choice([0, 1, 2, 3, len(names)]))
        constant = draw.random() < 0.3
        levels = {name: draw.randint(0, 1) for name in names}
        rows = []
        for _ in range(draw.randint(1, 5)):
            given = {
                name: levels[name] if constant and name in targets else draw.randint(0, 1)
                for name in names
                if name in targets or name not in scm
            }
            row = computed(scm, given)
            if draw.random() < 0.1:  # a row that no SCM made
                row[draw.choice(names)] ^= 1
            rows.append(row)
        worlds.append((targets, rows))
    return worlds


def laid(worlds: list[World_], names: list[str]) -> tuple[Table, ...]:
    """The same worlds as tables of the package."""
    return tuple(
        Table.of(
            len(names),
            sum(1 << names.index(name) for name in targets),
            "hard_assigned" if targets else "none",
            [sum(row[name] << v for v, name in enumerate(names)) for row in rows],
        )
        for targets, rows in worlds
    )


def blind_view(n: int, roots: int | None, count: int, reference: tuple[str, ...] = ()) -> View:
    """A view that tells no order; the released rules, so that nothing is bounded."""
    every = (1 << n) - 1
    told = Told(n, n - 1, count, roots, tuple(every & ~(1 << v) for v in range(n)))
    return View(
        "alternative" if reference else "induce",
        "hidden" if roots is not None else "roots",
        told,
        tuple(range(n)),
        (),
        (),
        (),
        0,
        reference,
        True,
    )


def handed_in(names: list[str], mechanisms: Mechanisms) -> Judged:
    """Put mechanisms through the funnel, with the roots that they leave."""
    roots = [name for name in names if name not in mechanisms]
    written = {name: text(formula) for name, formula in mechanisms.items()}
    view = blind_view(len(names), None, len(roots))
    return judge(view, json.dumps({"roots": roots, "mechanisms": written}))


def valid(names: list[str], mechanisms: Mechanisms) -> Candidate:
    judged = handed_in(names, mechanisms)
    assert judged.candidate is not None, judged
    return judged.candidate


def cases(count: int, label: str) -> Iterator[tuple[random.Random, list[str], int, Mechanisms]]:
    """Random variables, a number of roots and an SCM."""
    for index in range(count):
        draw = random.Random(f"{label} {index}")
        n = draw.randint(3, 7)
        names = [f"X{v + 1}" for v in range(n)]
        roots = draw.randint(1, min(3, n - 1))
        order = draw.sample(names, n)
        yield draw, names, roots, random_scm(draw, order, roots)


def changed(draw: random.Random, scm: Mechanisms, names: list[str]) -> Mechanisms:
    """The SCM with one mechanism drawn anew, over variables that keep it free of cycles."""
    changed_one = draw.choice(list(scm))
    later = {changed_one}
    while more := {n for n in scm if mentioned(scm[n]) & later} - later:
        later |= more
    return scm | {
        changed_one: random_formula(draw, [name for name in names if name not in later], 3)
    }


# Replay.


def same_agreement(names: list[str], candidate: Mechanisms, *splits: list[World_]) -> None:
    tables = [laid(worlds, names) for worlds in splits]
    found = replay(valid(names, candidate), Sheet.of(len(names), *tables))
    for split, worlds in zip(found, splits, strict=True):
        for field, expected in agreement(candidate, worlds).items():
            assert getattr(split, field) == pytest.approx(expected), field


def test_agreement_is_that_of_the_twin_for_gold_near_and_random_candidates() -> None:
    for draw, names, roots, gold in cases(150, "replay"):
        train, held = (random_worlds(draw, gold, names) for _ in range(2))
        order = draw.sample(names, len(names))
        for candidate in (gold, changed(draw, gold, names), random_scm(draw, order, roots)):
            same_agreement(names, candidate, train, held)


def test_agreement_is_that_of_the_twin_for_candidates_with_wrong_roots() -> None:
    wrong = 0
    for draw, names, roots, gold in cases(150, "roots"):
        train, held = (random_worlds(draw, gold, names) for _ in range(2))
        candidate = random_scm(draw, draw.sample(names, len(names)), roots)
        wrong += set(candidate) != set(gold)
        same_agreement(names, candidate, train, held)
    assert wrong > 50


def test_wrong_cells_are_those_of_the_twin() -> None:
    missed = 0
    for draw, names, _, gold in cases(100, "mismatches"):
        worlds = random_worlds(draw, gold, names)
        candidate = changed(draw, gold, names)
        found = mismatches(valid(names, candidate), Sheet.of(len(names), laid(worlds, names), ()))
        expected, at = set(), 0
        for world in worlds:
            for row, name, right in scored_cells(candidate, world):
                if not right:
                    expected.add((at + row, name))
            at += len(world[1])
        bits = {
            (r, name)
            for name, rows in zip(names, found, strict=True)
            for r in range(at)
            if rows >> r & 1
        }
        assert bits == expected
        missed += bool(bits)
    assert missed > 20


def test_an_error_upstream_is_carried_on_and_not_corrected_by_the_row() -> None:
    names = ["X1", "X2", "X3"]
    worlds: list[World_] = [([], [{"X1": 1, "X2": 1, "X3": 1}])]
    candidate = {"X2": ["not", "X1"], "X3": "X2"}
    train, _ = replay(valid(names, candidate), Sheet.of(3, laid(worlds, names), ()))
    assert (train.cells, train.right) == (2, 0)


def test_a_target_keeps_its_value_and_is_not_scored() -> None:
    names = ["X1", "X2", "X3"]
    worlds: list[World_] = [(["X2"], [{"X1": 1, "X2": 1, "X3": 1}])]
    candidate = {"X2": ["not", "X1"], "X3": "X2"}
    train, _ = replay(valid(names, candidate), Sheet.of(3, laid(worlds, names), ()))
    assert (train.cells, train.right, train.exact) == (1, 1, True)


def test_a_world_without_scored_cells_is_not_counted_and_no_cells_are_never_exact() -> None:
    names = ["X1", "X2"]
    full: list[World_] = [(["X1", "X2"], [{"X1": 1, "X2": 0}])]
    free: list[World_] = [([], [{"X1": 1, "X2": 1}])]
    candidate = valid(names, {"X2": "X1"})
    train, held = replay(candidate, Sheet.of(2, laid(full + free, names), laid(full, names)))
    assert (train.tables, train.exact_tables, train.table_rate, train.exact) == (1, 1, 1.0, True)
    assert (held.tables, held.cells, held.table_rate, held.exact) == (0, 0, 0.0, False)


def scores(names: list[str], gold: Mechanisms, candidate: Mechanisms, *splits: list[World_]) -> Any:
    """The score of a candidate when the roots are hidden."""
    n, roots = len(names), sum(1 << v for v, name in enumerate(names) if name not in gold)
    view = blind_view(n, None, roots.bit_count())
    train, held = (laid(worlds, names) for worlds in splits)
    seen = View(
        view.task, view.disclosure, view.told, view.display, (), (), train, len(held), (), True
    )
    formulas = tuple(text(gold[name]) if name in gold else "" for name in names)
    judged = handed_in(names, candidate)
    world = World(seen, formulas, held, "test")
    return values(world, ANSWERED, Handed(judged, 1, True, True), {})[0]


def test_scores_with_hidden_roots_follow_the_twin_and_wrong_roots_are_never_correct() -> None:
    fitting = 0
    for draw, names, roots, gold in cases(120, "hidden roots"):
        train, held = (random_worlds(draw, gold, names) for _ in range(2))
        own_roots, others = (
            set(names) - set(gold),
            random_scm(draw, draw.sample(names, len(names)), roots),
        )
        for candidate in (gold, changed(draw, gold, names), others):
            found = scores(names, gold, candidate, train, held)
            fits, holds = agreement(candidate, train), agreement(candidate, held)
            named = set(names) - set(candidate)
            assert found["train_exact"] == fits["exact"] == found["mechanism_train_exact"]
            assert found["heldout_exact"] == (fits["exact"] and holds["exact"])
            assert found["train_world_exact"] == pytest.approx(fits["table_rate"])
            assert found["heldout_world_exact"] == pytest.approx(holds["table_rate"])
            assert found["root_set_exact"] == (named == own_roots)
            assert found["root_recall"] == len(named & own_roots) / len(own_roots)
            assert found["root_precision"] == len(named & own_roots) / len(named)
            assert found["task_correct"] == (fits["exact"] and named == own_roots)
            fitting += fits["exact"] and named != own_roots
    assert fitting > 0


# Alternative-SCM.


def written(names: list[str], scm: Mechanisms) -> tuple[str, ...]:
    return tuple(text(scm[name]) if name in scm else "" for name in names)


def pairs(count: int) -> Iterator[tuple[random.Random, list[str], list[str], Any, Any]]:
    """Random pairs of SCMs with the same roots: near ones, and any."""
    for draw, names, roots, reference in cases(count, "pairs"):
        own_roots = [name for name in names if name not in reference]
        rest = draw.sample(sorted(reference), len(reference))
        other = (
            changed(draw, reference, names)
            if draw.random() < 0.7
            else random_scm(draw, own_roots + rest, roots)
        )
        yield draw, names, own_roots, reference, other


def test_rates_of_every_experiment_of_the_menu_are_those_of_the_twin() -> None:
    separable = 0
    for _, names, roots, reference, other in pairs(80):
        seen = contrast(
            len(names),
            candidate_of(written(names, reference)),
            candidate_of(written(names, other)),
        )
        menu = {
            (v, bit): rates(reference, other, roots, name, bit)
            for v, name in enumerate(names)
            for bit in (0, 1)
        }
        for (v, bit), (pair, cell) in menu.items():
            assert seen.pair_rate(v, bit) == pytest.approx(pair)
            assert seen.cell_rate(v, bit) == pytest.approx(cell)
        assert menu[seen.best()] == max(menu.values())
        separable += menu[seen.best()][0] > 0
    assert separable > 30


def test_experiment_and_witness_are_judged_as_by_the_twin() -> None:
    outcomes = set()
    for draw, names, roots, reference, other in pairs(100):
        n = len(names)
        first, second = (candidate_of(written(names, scm)) for scm in (reference, other))
        best = max(rates(reference, other, roots, v, b)[0] for v in names for b in (0, 1))
        for _ in range(4):
            target, bit = draw.choice(names), draw.randint(0, 1)
            chosen = {name: draw.randint(0, 1) for name in roots}
            claims = [
                {
                    "variable": draw.choice(names),
                    "reference": draw.randint(0, 1),
                    "alternative": draw.randint(0, 1),
                }
                for _ in range(draw.randint(0, 4))
            ]
            found = separation(
                n,
                first,
                second,
                {
                    "experiment": {"type": "hard_do", "assignments": {target: bit}},
                    "witness": {"rootAssignment": chosen, "differences": claims},
                },
            )
            pair, cell = rates(reference, other, roots, target, bit)
            assert found.experiment_valid
            assert (found.pair_rate, found.cell_rate) == pytest.approx((pair, cell))
            assert found.separates == (pair > 0)
            assert found.best_rate == pytest.approx(best)
            assert found.optimality == (pytest.approx(pair / best) if best else None)
            expected = is_witness(reference, other, target, bit, chosen, claims)
            assert found.witness_valid == expected
            outcomes.add((found.separates, expected))
    assert outcomes == {(False, False), (True, False), (True, True)}


def test_scores_of_an_alternative_follow_the_twin() -> None:
    seen: set[tuple[bool, bool, bool]] = set()
    for draw, names, roots, reference, other in pairs(150):
        n = len(names)
        train = [
            (
                targets,
                [
                    computed(
                        reference,
                        {
                            name: bit
                            for name, bit in row.items()
                            if name in targets or name in roots
                        },
                    )
                    for row in rows
                ],
            )
            for targets, rows in random_worlds(draw, reference, names)
        ][:2]
        mask = sum(1 << names.index(name) for name in roots)
        blank = blind_view(n, mask, len(roots), written(names, reference))
        tables = laid(train, names)
        view = View(
            "alternative",
            "hidden",
            blank.told,
            blank.display,
            (),
            (),
            tables,
            0,
            blank.reference,
            True,
        )
        target, bit = draw.choice(names), draw.randint(0, 1)
        chosen = {name: draw.randint(0, 1) for name in roots}
        one, two = (under(scm, chosen, target, bit) for scm in (reference, other))
        claims = [
            {"variable": name, "reference": one[name], "alternative": two[name]}
            for name in reference
        ]
        judged = judge(
            view,
            json.dumps(
                {
                    "alternative": {"mechanisms": {name: text(f) for name, f in other.items()}},
                    "experiment": {"type": "hard_do", "assignments": {target: bit}},
                    "witness": {"rootAssignment": chosen, "differences": claims},
                }
            ),
        )
        world = World(view, written(names, reference), (), "test")
        found = values(world, ANSWERED, Handed(judged, 1, True, True), {})[0]
        distinct = any(
            value(reference[name], row) != value(other[name], row)
            for name in reference
            for row in assignments(names)
        )
        success = distinct and agreement(other, train)["exact"]
        separates = success and rates(reference, other, roots, target, bit)[0] > 0
        witness = success and is_witness(reference, other, target, bit, chosen, claims)
        assert found["alt_success"] == success
        assert found["experiment_valid"] == 1.0
        assert found["pair_separates"] == separates
        assert found["witness_valid"] == witness
        assert found["task_correct"] == found["joint_success"] == (separates and witness)
        seen.add((success, separates, witness))
    assert seen >= {(False, False, False), (True, False, False), (True, True, True)}


# The rules for experiment and witness, one by one.

NAMES = ["X1", "X2", "X3", "X4"]
REFERENCE = {"X3": ["and", "X1", "X2"], "X4": ["not", "X3"]}
OTHER = {"X3": ["or", "X1", "X2"], "X4": ["not", "X3"]}
CLAIM = {"variable": "X3", "reference": 0, "alternative": 1}
ROOTS = {"X1": 1, "X2": 0}
DO = {"type": "hard_do", "assignments": {"X1": 1}}


def told(experiment: Any = DO, roots: Any = ROOTS, claims: Any = (CLAIM,)) -> tuple[bool, bool]:
    """Whether experiment and witness are valid."""
    first, second = (candidate_of(written(NAMES, scm)) for scm in (REFERENCE, OTHER))
    claims = list(claims) if isinstance(claims, tuple) else claims
    witness = {"rootAssignment": roots, "differences": claims}
    found = separation(4, first, second, {"experiment": experiment, "witness": witness})
    return found.experiment_valid, found.witness_valid


def test_a_right_witness_is_valid() -> None:
    assert told() == (True, True)


@pytest.mark.parametrize("bit", [1, "1", " 1 ", True, 1.0])
def test_a_value_may_be_a_number_its_text_or_a_boolean(bit: object) -> None:
    assert told({"type": "hard_do", "assignments": {"X1": bit}}) == (True, True)
    assert told(roots={"X1": bit, "X2": 0}) == (True, True)
    assert told(claims=(CLAIM | {"alternative": bit},)) == (True, True)


@pytest.mark.parametrize("bit", [2, -1, "2", "", "one", None, 0.5, [1], {"v": 1}, 10**30])
def test_any_other_value_is_none(bit: object) -> None:
    assert told({"type": "hard_do", "assignments": {"X1": bit}}) == (False, False)
    assert told(roots={"X1": bit, "X2": 0}) == (True, False)
    assert told(claims=(CLAIM | {"alternative": bit},)) == (True, False)


@together(
    "data",
    [
        None,
        "do(X1=1)",
        [],
        {},
        {"type": "hard_do"},
        {"assignments": {"X1": 1}},
        {"type": "soft_do", "assignments": {"X1": 1}},
        {"type": "HARD_DO", "assignments": {"X1": 1}},
        {"type": None, "assignments": {"X1": 1}},
        {"type": ["hard_do"], "assignments": {"X1": 1}},
        {"type": "hard_do", "assignments": {}},
        {"type": "hard_do", "assignments": {"X1": 1, "X2": 1}},
        {"type": "hard_do", "assignments": {"X9": 1}},
        {"type": "hard_do", "assignments": {"": 1}},
        {"type": "hard_do", "assignments": [["X1", 1]]},
        {"type": "hard_do", "assignments": "X1"},
    ],
)
def test_an_experiment_sets_one_known_variable_by_hard_do(data: object) -> None:
    assert experiment(4, data) is None
    assert told(data) == (False, False)


def test_the_type_is_trimmed_and_roots_and_endogenous_variables_may_be_set() -> None:
    for v, name in enumerate(NAMES):
        for bit in (0, 1):
            data = {"type": " hard_do\n", "assignments": {name: bit}, "why": "because"}
            assert experiment(4, data) == (v, bit)


@pytest.mark.parametrize(
    "roots",
    [
        None,
        [],
        {},
        {"X1": 1},
        {"X1": 1, "X2": 0, "X3": 0},
        {"X1": 1, "X3": 0},
        {"X1": 1, "X2": 0, "X9": 0},
        {"X1": 1, "X2": None},
        [["X1", 1], ["X2", 0]],
        "X1=1",
    ],
)
def test_a_witness_assigns_just_the_roots(roots: object) -> None:
    assert told(roots=roots) == (True, False)


@together(
    "claims",
    [
        (),
        None,
        "X3",
        {"variable": "X3"},
        CLAIM,
        (None,),
        ("X3",),
        ([],),
        ({},),
        (CLAIM | {"variable": "X9"},),
        (CLAIM | {"variable": None},),
        (CLAIM | {"variable": ["X3"]},),
        (CLAIM | {"variable": "X1"},),
        ({"variable": "X3", "reference": 0},),
        ({"variable": "X3", "reference": 1, "alternative": 0},),
        ({"variable": "X3", "reference": 0, "alternative": 0},),
        ({"variable": "X3", "reference": 1, "alternative": 1},),
        ({"variable": "X4", "reference": 0, "alternative": 1},),
    ],
)
def test_a_witness_without_a_right_claim_is_not_valid(claims: object) -> None:
    assert told(claims=claims) == (True, False)


def test_one_right_claim_is_enough_whatever_else_is_claimed() -> None:
    wrong = {"variable": "X4", "reference": 0, "alternative": 1}
    assert told(claims=(wrong, None, {}, CLAIM)) == (True, True)
    assert told(claims=(CLAIM, wrong)) == (True, True)


def test_a_claim_about_the_target_or_where_nothing_differs_does_not_count() -> None:
    on_target = {"type": "hard_do", "assignments": {"X3": 1}}
    assert told(on_target) == (True, False)
    assert told({"type": "hard_do", "assignments": {"X1": 0}}) == (True, False)
    assert told(roots={"X1": 1, "X2": 1}) == (True, False)


def test_do_overrides_the_witness_when_it_sets_a_root() -> None:
    assert told(roots={"X1": 0, "X2": 0}) == (True, True)
    assert told({"type": "hard_do", "assignments": {"X2": 0}}, {"X1": 1, "X2": 1}) == (True, True)


# Structure: the score's figures on sets as integers are those of `core.structure`.


def test_parent_recall_f1_and_shd_are_those_of_the_structure_module() -> None:
    draw = random.Random("structure")
    for _ in range(500):
        n = draw.randint(2, 5)
        truth, guess = (
            [draw.getrandbits(v) if draw.random() < 0.7 else 0 for v in range(n)] for _ in range(2)
        )
        if draw.random() < 0.5:  # another order of the variables, so that edges can be reversed
            guess = [draw.getrandbits(n) >> (v + 1) << (v + 1) & (1 << n) - 1 for v in range(n)]
        edges = [
            [(u, v) for v, mask in enumerate(masks) for u in range(n) if mask >> u & 1]
            for masks in (truth, guess)
        ]
        assert compared(truth, guess) == {
            "parent_recall": pytest.approx(edge_recall(*edges)),
            "parent_f1": pytest.approx(edge_f1(*edges)),
            "parent_shd": shd(*edges),
        }
