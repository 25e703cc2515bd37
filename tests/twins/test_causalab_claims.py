"""Certificates of `golden_…`, `quad_hard` and `hidden_…`, checked by other mathematics.

The prover and the checker bound least squares. Here linear programmes search all laws of the class
that fit the readings, and a disturbance is enumerated in fractions. Only readings, the law and the
list of experiments come from the package.

A law that fits differs from the true graph first, in its own causal order, at a quantity whose new
causes do not depend on it in the true graph. So it suffices to try these causes, for each quantity.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy.optimize import linprog

from tests.twins import causalab_twin as twin
from whybench.episode.instance import Instance
from whybench.families.causalab import FAMILY

HALF = 0.005
LINEAR, QUADRATIC = 0.1, (0.05, 0.0005)
"""Weaker effects count as none, says the prompt."""
SEED = "claims"

HIDDEN = [f"hidden_{kind}" for kind in (
    "count_1", "count_2", "count_3", "range_0p5", "range_5", "range_50", "freq_1", "freq_2",
    "freq_3")]  # fmt: skip
CASES = [(name, index) for name in ("golden_4", "golden_6", "quad_hard") for index in range(50)]
CASES += [(name, index) for name in HIDDEN for index in range(6)]
FEW = [(name, 3) for name in ("golden_4", "golden_6", "quad_hard", "hidden_count_2")]


@dataclass
class Seen:
    """A hidden system and the readings of the exact agent's experiments."""

    instance: Instance
    readings: list[tuple[int, tuple[float, ...], int | None, float]]
    """Crystal, values, target and setting of each measurement."""

    def __post_init__(self) -> None:
        self.world = FAMILY.world(self.instance)
        terms = self.world.law.terms
        self.k = len(terms)
        self.weights = [{t.cause: (t.linear, t.square) for t in own} for own in terms]

    def below(self, v: int) -> set[int]:
        found = {u for u in range(self.k) if v in self.weights[u]}
        return found.union(*(self.below(u) for u in found))

    def causes(self, v: int) -> list[int]:
        """What may cause v: no effect of it, and not the frequency."""
        return [u for u in range(1, self.k) if u != v and u not in self.below(v)]

    def bases(self, v: int) -> list[float | str]:
        """The known base of v at each reading, or a name for the unknown one."""
        last: dict[int, float] = {}
        found: list[float | str] = []
        for crystal, _, target, setting in self.readings:
            if target == v:
                last[crystal] = setting
            unknown = "frequency" if v == 0 else f"crystal {crystal}"
            found.append(last.get(crystal, unknown))
        return found

    def equations(self, v: int) -> tuple[list[list[float]], list[float], list[str]]:
        """Readings of the causes and marks of unknown bases; what is left of v; the bases."""
        bases, causes = self.bases(v), self.causes(v)
        names = sorted({base for base in bases if isinstance(base, str)})
        left, right = [], []
        for (_, values, _, _), base in zip(self.readings, bases, strict=True):
            left.append([*(values[u] for u in causes), *(float(base == n) for n in names)])
            right.append(values[v] - (0.0 if isinstance(base, str) else base))
        return left, right, names


def seen(name: str, index: int) -> Seen:
    instance = FAMILY.suite(name, seed=SEED)[index]
    world = FAMILY.world(instance)
    view = world.view
    readings = [(r.crystal, r.values, r.target, r.setting) for r in (*view.records, view.baseline)]
    steps = []
    for step in FAMILY.exact_run(instance).steps:
        if step.action.name == "intervene":
            target = view.names.index(step.action.args["property"])
            steps.append((target, float(step.action.args["value"])))
            shown = tuple(step.observation.data[n] for n in view.names)
            readings.append((view.baseline.crystal, shown, *steps[-1]))
    check_readings(world, steps, [values for _, values, *_ in readings[len(view.records) :]])
    return Seen(instance, readings)


def check_readings(world, steps, shown) -> None:
    """What the manipulator showed is what the law gives, in fractions."""
    every = [(t.cause, v, t) for v, terms in enumerate(world.law.terms) for t in terms]
    law = twin.TwinWorld(
        world.law.k, world.law.base, {(p, v): t.linear for p, v, t in every},
        {(p, v): t.square for p, v, t in every}, world.view.quadratic,
    )  # fmt: skip
    hidden, moved = world.disturbance, ()
    if hidden is not None:
        moved = tuple(v for v in range(world.law.k) if hidden.affected >> v & 1)
    draws = None if hidden is None else [hidden.after(i + 1) for i in range(len(steps))]
    _, course = law.readings([], world.bases[1:], steps, world.view.semantics, draws, moved)
    for ours, theirs in zip(shown, course, strict=True):
        assert ours == pytest.approx([float(x) for x in theirs], abs=0.011)


# Linear laws with rounded readings.


def fits(one: Seen, v: int) -> Iterator[tuple[tuple[int, ...], np.ndarray, np.ndarray]]:
    """Every choice of signs for which some law fits, as linear constraints on sizes and bases.

    The true values are within 0.005 of the readings, so an equation with weights w is off by at
    most 0.005 · (1 + Σ |w|). With given signs this is linear.
    """
    left, right, names = one.equations(v)
    table, right_side = np.array(left), np.array(right)
    n = len(one.causes(v))
    for signs in product((1, -1), repeat=n):
        sized = table * np.array([*signs, *([1] * len(names))])
        slack = np.array([HALF] * n + [0.0] * len(names))
        rows = np.vstack([sized - slack, -sized - slack])
        most = np.concatenate([right_side + HALF, HALF - right_side]) + 1e-9
        if best(np.zeros(rows.shape[1]), rows, most, n) is not None:
            yield signs, rows, most


def best(worth: np.ndarray, rows: np.ndarray, most: np.ndarray, sized: int) -> float | None:
    """The least value under the constraints; None if nothing fits."""
    free = [(0, None)] * sized + [(None, None)] * (rows.shape[1] - sized)
    for method in ("highs", "highs-ipm", "highs-ds"):
        found = linprog(worth, A_ub=rows, b_ub=most, bounds=free, method=method)
        if found.status != 4:  # 4: numerical difficulties
            break
    assert found.status in (0, 2), found.message  # 3: not bounded
    return float(found.fun) if found.status == 0 else None


def check_linear(one: Seen) -> None:
    reactor, target = one.world.shown(), one.world.target
    for v in range(one.k):
        causes, patterns = one.causes(v), 0
        for signs, rows, most in fits(one, v):
            patterns += 1
            unit = np.eye(rows.shape[1])
            for i, p in enumerate(causes):
                if p in one.weights[v]:
                    assert best(unit[i], rows, most, len(causes)) > 0
                else:
                    assert -best(-unit[i], rows, most, len(causes)) < LINEAR
            if v == 0:
                here = [s * reactor[p] for s, p in zip(signs, causes, strict=True)]
                slack = np.array([HALF] * len(causes) + [0.0])
                low = best(np.array([*here, 1.0]) - slack, rows, most, len(causes))
                high = -best(-np.array([*here, 1.0]) - slack, rows, most, len(causes))
                tolerance = one.world.view.tolerance
                assert target - tolerance < low <= high < target + tolerance
        assert patterns


# Quadratic laws: what depends on a quantity uses its rounded value.


def check_quadratic(one: Seen) -> None:
    for v in range(one.k):
        left, right, names = one.equations(v)
        n = len(one.causes(v))
        if not n:
            continue
        x = np.array(left)
        scale = np.array([1.0] * n + [1e-2] * n + [1.0] * len(names))
        table = np.hstack([x[:, :n], x[:, :n] ** 2, x[:, n:]]) * scale
        rows = np.vstack([table, -table])
        right_side = np.array(right)
        most = np.concatenate([right_side + HALF, HALF - right_side]) + 1e-9
        unit = np.eye(table.shape[1])
        for i, p in enumerate(one.causes(v)):
            bounds = ((i, QUADRATIC[0]), (n + i, QUADRATIC[1] * 100))
            if p in one.weights[v]:  # no law that fits has both weights below the bounds
                narrow = np.vstack([rows, *(s * unit[j] for j, _ in bounds for s in (1, -1))])
                limits = [b for _, b in bounds for _ in (1, -1)]
                assert best(0 * unit[0], narrow, np.append(most, limits), 0) is None
            else:
                for j, bound in bounds:
                    for sign in (1, -1):
                        assert -best(sign * unit[j], rows, most, 0) < bound
        if v == 0:
            shown = [one.world.shown()[p] for p in one.causes(0)]
            here = np.array([*shown, *(y**2 for y in shown), 1.0]) * scale
            low, high = best(here, rows, most, 0), -best(-here, rows, most, 0)
            target, tolerance = one.world.target, one.world.view.tolerance
            assert target - tolerance < low <= high < target + tolerance


def counted(one: Seen) -> int:
    """The most unknown weights of a quantity, less what records tell of the frequency.

    The manipulator's readings give a quantity one equation for each setting: differences until it
    is set, and whole equations afterwards.
    """
    passive = sum(target is None for _, _, target, _ in one.readings) - 1
    needs = [2 * len(one.causes(v)) - (passive if v == 0 else 0) for v in range(one.k)]
    return max(0, *needs)


# A disturbance: every choice of draws, in fractions.


def null_rows(rows: Sequence[Sequence[Fraction]]) -> list[list[Fraction]]:
    """Combinations of rows that give zero; one for each row beyond the rank."""
    width = len(rows[0])
    table = [[*row, *(Fraction(i == j) for j in range(len(rows)))] for i, row in enumerate(rows)]
    top = 0
    for c in range(width):
        pivot = next((i for i in range(top, len(table)) if table[i][c]), None)
        if pivot is None:
            continue
        table[top], table[pivot] = table[pivot], table[top]
        for i in range(top + 1, len(table)):
            factor = table[i][c] / table[top][c]
            table[i] = [a - factor * b for a, b in zip(table[i], table[top], strict=True)]
        top += 1
    return [row[width:] for row in table[top:]]


def check_disturbed(one: Seen) -> None:
    """No draws fit another equation: a fit leaves a combination of offsets that is zero."""
    view = one.world.view
    size = twin.exact(view.disturbance)
    for v in range(one.k):
        left, right, names = one.equations(v)
        rows = [[twin.exact(x) for x in row] for row in left]
        checks = null_rows(rows) if rows[0] else []
        assert not rows[0] or len(rows) - len(checks) == len(rows[0]), "the equations are short"
        acts = [
            target is not None and (v != 0 or view.frequency_disturbed)
            for _, _, target, _ in one.readings
        ]
        found = set()
        for draws in product(*((0, size, -size) if free else (0,) for free in acts)):
            own = [twin.exact(b) - d for b, d in zip(right, draws, strict=True)]
            if all(sum(a * b for a, b in zip(row, own, strict=True)) == 0 for row in checks):
                space = twin.solve(rows, own) if rows[0] else twin.Solutions((), ())
                assert space is not None
                assert not space.directions
                found.add(tuple(space.point[: len(one.causes(v))]))
        true = tuple(twin.exact(one.weights[v].get(p, (0.0, 0.0))[0]) for p in one.causes(v))
        assert found == {true}
        assert v != 0 or not one.causes(0) or names == ["frequency"]


@pytest.mark.parametrize(
    "cases",
    [FEW, *(pytest.param([c for c in CASES if c[0] == name], marks=pytest.mark.slow)
            for name in dict.fromkeys(name for name, _ in CASES))],
    ids=lambda cases: cases[0][0] if len(cases) != len(FEW) else "few",
)  # fmt: skip
def test_the_law_is_forced_and_the_frequency_predicted(cases: list[tuple[str, int]]) -> None:
    for name, index in cases:
        one = seen(name, index)
        found = FAMILY.certify(one.instance)
        assert (found.identified, found.solvable, found.best_score) == (True, True, 1.0)
        if one.world.view.quadratic:
            check_quadratic(one)
            assert counted(one) == found.fewest <= found.exact_steps
        elif one.world.disturbance is not None:
            check_disturbed(one)
            assert found.fewest is None
        else:
            check_linear(one)
            assert found.fewest == 0 == found.exact_steps == one.world.view.budget
