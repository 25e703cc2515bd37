"""The verdict of evidence against a SAT solver, which knows nothing of how orders are built.

One Boolean L[u,v] says "u drives v"; antisymmetry and transitivity make it an order, and what was
seen adds clauses. Two calls, assuming L[x,y] and its negation, decide the question.
"""

from collections import Counter
from functools import cache
from itertools import permutations

import pytest
from pysat.solvers import Minisat22
from tests.twins import causallink_twin as twin

from whybench.causal.graph import Graph, members
from whybench.causal.seeds import Stream
from whybench.episode.action import Action
from whybench.episode.registry import families
from whybench.families.causallink.proof.evidence import EvidenceLog
from whybench.families.causallink.score import PROOF
from whybench.families.causallink.world.world import View, World

FAMILY = families()["causallink"]

Step = tuple[bool, int, int]


@cache
def order_clauses(n: int) -> list[list[int]]:
    antisymmetry = [[-var(n, u, v), -var(n, v, u)] for u in range(n) for v in range(u)]
    triples = permutations(range(n), 3)
    return antisymmetry + [[-var(n, u, v), -var(n, v, w), var(n, u, w)] for u, v, w in triples]


def var(n: int, u: int, v: int) -> int:
    return u * n + v + 1


def seen_clauses(view: View, steps: list[Step]) -> list[list[int]]:
    n, before, clauses = view.n, view.start, []
    for state in {view.start, *(after for _, _, after in steps)}:
        off = [v for v in range(n) if not state >> v & 1]
        clauses += [[-var(n, u, v)] for u in members(state) for v in off]
    for starts, v, after in steps:
        others = list(members(before & ~(1 << v)))
        if starts:
            clauses += [[var(n, v, u)] for u in members(after & ~before & ~(1 << v))]
        elif after == before and before >> v & 1:
            clauses.append([var(n, u, v) for u in others])
        elif after & ~before:
            clauses.append([])  # no stop turns anything on
        elif after != before:
            clauses += [[-var(n, u, v)] for u in others]
            clauses += [[var(n, v, u)] for u in others if not after >> u & 1]
            for kept in members(after):
                rest = members(after & ~(1 << kept))
                clauses.append([-var(n, v, kept), *(var(n, u, kept) for u in rest)])
        before = after
    return clauses


def solved(view: View, steps: list[Step]) -> str:
    with Minisat22(order_clauses(view.n) + seen_clauses(view, steps)) as solver:
        asked = var(view.n, view.x, view.y)
        can = (solver.solve(assumptions=[asked]), solver.solve(assumptions=[-asked]))
    return {(True, True): "undecided", (True, False): "yes", (False, True): "no"}.get(can, "none")


def random_world(stream: Stream) -> World:
    n, dense = 2 + stream.below(11), 1 + stream.below(4)
    order = stream.shuffled(range(n))
    pairs = [(order[i], order[j]) for i in range(n) for j in range(i + 1, n)]
    graph = Graph.from_edges(n, [pair for pair in pairs if stream.below(8) < dense])
    start = (1 << n) - 1
    if stream.below(2):
        chosen = [v for v in range(n) if stream.below(2)]
        start = sum(
            1 << u for u in range(n) if any(u == v or graph.reach()[v] >> u & 1 for v in chosen)
        )
    x, y = stream.sample(range(n), 2)
    return World.of(View("shapes", tuple("abcdefghijkl"[:n]), start, x, y, 2 * n), "random", graph)


def test_verdicts_agree_with_a_sat_solver_up_to_twelve_entities() -> None:
    stream, found = Stream("verdict", "solver"), Counter()
    for _ in range(300):
        world = random_world(stream)
        log, steps, state = EvidenceLog(world.view), list[Step](), world.view.start
        for _ in range(stream.below(2 * world.view.n)):
            v = stream.below(world.view.n)
            starts = stream.below(4) == 0 if state >> v & 1 else stream.below(4) > 0
            state = world.after_start(state, v) if starts else world.after_stop(state, v)
            steps.append((starts, v, state))
            log.add(*steps[-1])
        verdict = log.verdict()
        assert verdict == solved(world.view, steps)
        found[verdict] += 1
    assert min(found[verdict] for verdict in ("yes", "no", "undecided")) > 10


def test_labels_of_a_thousand_random_episodes() -> None:
    """Recomputed from the trace alone: by enumeration up to n = 4, by the solver above."""
    stream, found = Stream("labels"), Counter()
    suites = [
        FAMILY.suite("core", seed="labels"),
        FAMILY.suite("advanced", seed="labels"),
        FAMILY.suite("large", seed="labels", parameters={"graphs": 10}),
    ]
    for number in range(1_000):
        suite = suites[number % 3]
        instance = suite[stream.below(len(suite))]
        episode = FAMILY.open(instance)
        view, theme = episode.world.view, episode.theme
        steps, on, history = list[Step](), view.start, []
        for _ in range(stream.below(2 * view.n)):
            v = stream.below(view.n)
            starts = stream.below(4) == 0 if on >> v & 1 else stream.below(4) > 0
            verb = theme.start if starts else theme.stop
            seen = episode.step(Action.of(verb, **{theme.noun: view.names[v]}))
            on = sum(1 << view.names.index(name) for name in seen.data["on"])
            steps.append((starts, v, on))
            history.append(("move" if starts else "hold", v, frozenset(members(on))))
        said = stream.choice(("yes", "no"))
        episode.step(Action.of("answer", answer=said))
        if view.n <= 4:
            start = frozenset(members(view.start))
            forced = twin.verdict(view.n, start, history, view.x, view.y)
        else:
            forced = solved(view, steps)
        right = said == FAMILY.truth(instance)["answer"]
        open_ = forced == "undecided"
        label = ("lucky" if right else "premature") if open_ else "understood"
        label = label if open_ or right else "contradicted"
        score = FAMILY.score_episode(episode)
        assert score.labels["proof"] == label
        assert [name for name in PROOF if score.values[name]] == [label]
        found[label] += 1
    assert min(found[label] for label in PROOF) > 30


def test_evidence_of_two_worlds_is_refused_where_the_solver_finds_no_order() -> None:
    stream, refused = Stream("verdict", "garbled"), 0
    for _ in range(150):
        one = random_world(stream)
        two = World.of(one.view, "other", Graph.from_edges(one.view.n, []))
        log, steps, state = EvidenceLog(one.view), list[Step](), one.view.start
        for _ in range(6):
            world = stream.choice((one, two))
            v = stream.below(one.view.n)
            starts = not state >> v & 1
            state = world.after_start(state, v) if starts else world.after_stop(state, v)
            steps.append((starts, v, state))
            log.add(*steps[-1])
        expected = solved(one.view, steps)
        if expected == "none":
            refused += 1
            with pytest.raises(ValueError, match="not of one system"):
                log.verdict()
        else:
            assert log.verdict() == expected
    assert 20 < refused < 130


@pytest.mark.parametrize(
    ("starts", "after"), [(True, 0b001), (True, 0b110), (False, 0b010), (False, 0b101)]
)
def test_what_no_intervention_can_do_is_refused(starts: bool, after: int) -> None:
    log = EvidenceLog(View("shapes", ("a", "b", "c"), 0b011, 0, 1, 6))
    log.add(starts, 1 if not starts else 2, after)
    with pytest.raises(ValueError, match="not of one system"):
        log.verdict()
