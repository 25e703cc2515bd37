"""The 19 released suites: all of them load, are reproduced, are solved, and have their defects."""

import ast
import json
import operator
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from itertools import combinations
from pathlib import Path
from statistics import fmean, pstdev
from typing import Any

import pytest

from whybench.causal.seeds import Stream
from whybench.episode.episode import play
from whybench.families.causalab import FAMILY
from whybench.families.causalab.parameters import PLANS
from whybench.families.causalab.rules import CEILING
from whybench.families.causalab.world.released import RESONANCE, law
from whybench.families.causalab.world.world import (
    FREQUENCY,
    Semantics,
    Solver,
    World,
    motifs,
    moved_base,
)

DATA = Path(__file__).parents[4] / "shared" / "data" / "causalab"

pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="needs the released suites")

SUITE_OF = {plan.file: name for name, plan in reversed(PLANS.items()) if plan.file is not None}
"""The first of our suites for each released file."""

Row = dict[str, Any]


@cache
def rows(file: str) -> tuple[Row, ...]:
    return tuple(map(json.loads, (DATA / f"{file}.jsonl").read_text("utf-8").splitlines()))


def files() -> list[str]:
    return sorted(path.stem for path in DATA.glob("*.jsonl"))


def released(suite: str, **parameters: Any) -> Any:
    return FAMILY.suite(suite, profile="published", parameters={"data": str(DATA), **parameters})


@cache
def worlds(suite: str) -> tuple[World, ...]:
    return tuple(FAMILY.world(instance) for instance in released(suite))


# Loading


def test_all_19_files_belong_to_a_suite_and_all_950_records_load() -> None:
    assert len(files()) == 19
    assert set(SUITE_OF) == set(files())
    loaded = 0
    for file, suite in SUITE_OF.items():
        for row, world in zip(rows(file), worlds(suite), strict=True):
            loaded += 1
            view, names = world.view, world.view.names
            assert names[FREQUENCY] == RESONANCE == next(iter(row["nodes"]))
            edges = {(names[a], names[b]) for a, b in world.law.graph.edges()}
            assert edges == {(edge["from"], edge["to"]) for edge in row["edges"]}
            assert view.controllable == view.properties
            assert view.semantics == "set"
            assert view.limit is None
            assert row["budget"] == 4 * (view.k - 1)
            assert view.budget == (0 if "golden" in file else row["budget"])
            assert (world.disturbance is not None) == ("hidden" in file)
            assert view.sink == (not file.endswith("freqparent"))
    assert loaded == 950


def test_all_regimes_of_the_scaling_suites_are_built_on_the_released_graphs() -> None:
    for suite, file in (("scaling_4", "4nodes"), ("scaling_6", "6nodes")):
        regimes = PLANS[suite].regimes
        assert len(released(suite)) == 50 * len(regimes)
        for index in range(0, 50 * len(regimes), 37):
            world = FAMILY.world(released(suite)[index])
            count, _, budget = world.regime[:-1].partition("o")
            assert len(world.view.records) == int(count)
            assert world.view.budget == int(budget)
            assert world.law == law(rows(file)[index % 50])[1]


# Equations

OPERATORS: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Pow: operator.pow,
}


def evaluated(text: str, values: Mapping[str, float]) -> float:
    """Compute an arithmetic expression over names; anything else is a KeyError."""

    def value(node: ast.expr) -> float:
        if isinstance(node, ast.BinOp):
            return OPERATORS[type(node.op)](value(node.left), value(node.right))
        if isinstance(node, ast.Constant):
            return float(node.value)
        assert isinstance(node, ast.Name), ast.dump(node)
        return values[node.id]

    return value(ast.parse(text.replace("^", "**"), mode="eval").body)


def test_laws_say_what_every_stored_expression_says() -> None:
    stream = Stream("released", "expressions")
    compared = 0
    for file in files():
        for row in rows(file):
            names, found = law(row)
            solver = Solver(found)
            here = [stream.below(20001) / 100 - 50 for _ in names]
            given = row["params"] | dict(zip(names, here, strict=True))
            for v, name in enumerate(names):
                text = row["nodes"][name].get("computation")
                own = "freq" if v == FREQUENCY else name
                said = 0.0 if text is None else evaluated(text, given) - given[f"base_{own}"]
                assert solver.contribution(v, here) == pytest.approx(said, abs=1e-7)
                compared += text is not None
    assert compared > 2500


def chains() -> Iterator[tuple[World, Row, list[Row]]]:
    """Each world's golden steps after the measurement that they start from."""
    for file in ("4nodes_golden", "6nodes_golden"):
        for row, world in zip(rows(file), worlds(SUITE_OF[file]), strict=True):
            first, other, *steps = row["bootstrap_past_data"]
            assert not {"intervention"} & (first.keys() | other.keys())
            yield world, first, steps


def numbers(world: World, step: Row) -> list[float]:
    return [step["freq"], *(step["props"][name] for name in world.view.names[1:])]


def reproduced(semantics: Semantics) -> list[bool]:
    """Carry each chain on from its first crystal's bases, never from a stored reading."""
    found = []
    for world, first, steps in chains():
        solver, now = Solver(world.law), numbers(world, first)
        bases = [round(x - solver.contribution(v, now), 2) for v, x in enumerate(now)]
        assert bases[FREQUENCY] == world.law.base
        for step in steps:
            done = step["intervention"]
            v = world.view.names.index(done["target_prop"])
            bases[v] = moved_base(solver, semantics, v, done["target_value"], now)
            now = list(solver.readings(bases))
            found.append(now == numbers(world, step))
    return found


def test_all_493_golden_steps_are_reproduced_under_set_and_not_under_shift() -> None:
    assert reproduced("set") == [True] * 493
    assert not all(reproduced("shift"))


# Solving


@cache
def solved(suite: str) -> tuple[dict[str, float], ...]:
    found = []
    for instance in released(suite):
        trace = play(FAMILY.open(instance), FAMILY.agent("exact", instance))
        found.append(FAMILY.score(instance, trace).values.asdict())
    return tuple(found)


@pytest.mark.parametrize(("k", "most"), [(3, 1.6), (4, 2.4), (5, 3.7), (6, 4.7), (7, 5.7)])
def test_linear_suites_are_solved_but_for_the_end_of_the_dial(k: int, most: float) -> None:
    """A frequency that the reactor's dial does not reach within 5 Hz cannot be handed in."""
    for world, values in zip(worlds(f"main_{k}"), solved(f"main_{k}"), strict=True):
        assert (values["edge_f1"], values["shd"], values["exact_prediction"]) == (1.0, 0.0, 1.0)
        assert values["freq_weight_f1"] == 1.0
        assert values["accuracy"] == float(world.target < CEILING + 5)
        assert values["interventions"] <= k - 1
    assert fmean(values["interventions"] for values in solved(f"main_{k}")) <= most


# Defects


def test_all_graphs_of_a_size_share_the_bases_of_their_records() -> None:
    for suite in ("main_3", "main_4", "main_7"):
        shared = set()
        for world in worlds(suite):
            solver = Solver(world.law)
            for record in world.view.records:
                bases = [
                    x - solver.contribution(v, record.values) for v, x in enumerate(record.values)
                ]
                shared.add((record.crystal, *(round(base, 2) for base in bases[1:])))
        assert len(shared) == 2
        if suite == "main_4":
            assert shared == {(0, 81, 14, 3), (1, 94, 35, 31)}


def test_two_hidden_files_are_identical_byte_for_byte() -> None:
    hidden = [file for file in files() if "hidden" in file]
    content = {file: (DATA / f"{file}.jsonl").read_bytes() for file in hidden}
    assert [pair for pair in combinations(hidden, 2) if content[pair[0]] == content[pair[1]]] == [
        ("4nodes_hidden_n1", "4nodes_hidden_vrange_pm5")
    ]


def test_golden_chains_are_empty_in_14_graphs_of_six_nodes() -> None:
    lengths = {
        k: [sum(not r.passive for r in world.view.records) for world in worlds(f"golden_{k}")]
        for k in (4, 6)
    }
    assert {n: lengths[4].count(n) for n in set(lengths[4])} == {3: 3, 4: 7, 6: 40}
    assert {n: lengths[6].count(n) for n in set(lengths[6])} == {0: 14, 6: 36}


def test_properties_are_shown_in_causal_order() -> None:
    """A leak: every cause is listed before its effects, here and nowhere in our own suites."""
    for suite in SUITE_OF.values():
        for world in worlds(suite):
            place = {v: i for i, v in enumerate(world.view.display)}
            edges = [edge for edge in world.law.graph.edges() if FREQUENCY not in edge]
            assert all(place[a] < place[b] for a, b in edges)
    ours = [FAMILY.world(instance) for instance in FAMILY.suite("main_4")]
    along = [
        world.view.display.index(a) < world.view.display.index(b)
        for world in ours
        for a, b in world.law.graph.edges()
        if FREQUENCY not in (a, b)
    ]
    assert 0.35 < fmean(along) < 0.65


@pytest.mark.parametrize("k", [3, 4, 5, 6, 7])
def test_our_graphs_are_like_the_released_ones(k: int) -> None:
    """Means of all motifs lie within three standard errors of the difference."""
    theirs = [motifs(world.law.graph) for world in worlds(f"main_{k}")]
    own = [FAMILY.world(i) for i in FAMILY.suite(f"main_{k}", profile="published")]
    ours = [motifs(world.law.graph) for world in own]
    for name in ("edges", "forks", "colliders", "chains", "frequency_parents"):
        a, b = ([counts[name] for counts in suite] for suite in (theirs, ours))
        error = ((pstdev(a) ** 2 + pstdev(b) ** 2) / 50) ** 0.5
        assert abs(fmean(a) - fmean(b)) <= 3 * error, (name, fmean(a), fmean(b))
    weights = [
        [term.linear for world in suite for terms in world.law.terms for term in terms]
        for suite in (worlds(f"main_{k}"), own)
    ]
    assert set(weights[0]) == set(weights[1]) == {1.0, 2.0, 3.0}
    assert abs(fmean(weights[0]) - fmean(weights[1])) < 0.2


def test_almost_half_of_the_freqparent_graphs_are_ordinary() -> None:
    for k, count in ((4, 27), (6, 31)):
        children = [world.law.graph.children[FREQUENCY] for world in worlds(f"freqparent_{k}")]
        assert sum(map(bool, children)) == count
