"""Slow, independent twin of the CausalLink family: sets, recursion and brute enumeration only.

An edge (u, v) reads "u makes v move"; a state is the set of moving shapes. Section numbers refer
to the CausalLink spec. Nothing here is shared with the package, so agreement is evidence.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import combinations, permutations, product
from typing import Literal

Verb = Literal["move", "hold"]
Answer = Literal["yes", "no"]
Verdict = Literal["yes", "no", "undecided"]
Edges = frozenset[tuple[int, int]]
State = frozenset[int]
History = Sequence[tuple[Verb, int, State]]
Moment = tuple[State, Verb, int, State]
Belief = frozenset[Edges]
Case = tuple[str, State, int, int, bool]

STRUCTURES: dict[str, tuple[int, Edges]] = {
    "direct": (2, frozenset({(0, 1)})),
    "mediation": (3, frozenset({(0, 1), (1, 2)})),
    "confounder": (3, frozenset({(1, 0), (1, 2)})),
    "confounder+edge": (3, frozenset({(1, 0), (1, 2), (0, 2)})),
}


def children(edges: Edges, node: int) -> set[int]:
    """Shapes that `node` moves directly."""
    return {v for u, v in edges if u == node}


def parents(edges: Edges, node: int) -> set[int]:
    """Shapes that move `node` directly."""
    return {u for u, v in edges if v == node}


def descendants(edges: Edges, node: int) -> State:
    """Shapes reached from `node` by one edge or more."""
    reached: set[int] = set()
    waiting = children(edges, node)
    while waiting:
        reached |= waiting
        waiting = {w for v in waiting for w in children(edges, v)} - reached
    return frozenset(reached)


def closure(edges: Edges) -> Edges:
    """The reachability relation of a graph, which is all that its dynamics can show."""
    return frozenset((u, v) for u, _ in edges for v in descendants(edges, u))


def is_closed(edges: Edges, state: State) -> bool:
    """Whether every descendant of a moving shape is moving."""
    return all(descendants(edges, node) <= state for node in state)


def step(edges: Edges, state: State, verb: Verb, node: int) -> State:
    """The state after one action, by backward check and forward cascade."""
    if verb == "move":
        return state | {node} | descendants(edges, node)
    if verb == "hold":
        moving = set(state)
        _hold(edges, moving, node)
        return frozenset(moving)
    raise ValueError(f"verb must be 'move' or 'hold', not {verb!r}")


def _hold(edges: Edges, moving: set[int], node: int) -> None:
    """Stop `node` unless it is static or driven by a parent, then try to stop its children."""
    if node not in moving or parents(edges, node) & moving:
        return
    moving.remove(node)
    for child in children(edges, node):
        _hold(edges, moving, child)


@cache
def _orders(n: int) -> tuple[Edges, ...]:
    """Every way to relate each pair (not at all, up, down) that is transitive."""
    choices = [(None, (i, j), (j, i)) for i, j in combinations(range(n), 2)]
    relations = (frozenset(filter(None, picked)) for picked in product(*choices))
    return tuple(relation for relation in relations if _is_transitive(relation))


def _is_transitive(relation: Edges) -> bool:
    """Whether a < b and b < d always give a < d."""
    return all((a, d) in relation for a, b in relation for c, d in relation if b == c)


def partial_orders(n: int) -> list[Edges]:
    """All strict partial orders on n labelled nodes: 3, 19, 219, 4231 for n = 2..5."""
    return list(_orders(n))


@cache
def hypotheses(n: int, start: State) -> Belief:
    """The partial orders under which the start state is closed under descendants."""
    return frozenset(order for order in _orders(n) if is_closed(order, start))


def decide(belief: Iterable[Edges], x: int, y: int) -> Verdict:
    """What all hypotheses say together about x < y."""
    says = {(x, y) in order for order in belief}
    if not says:
        raise ValueError("no partial order explains this history; check start and states")
    return "undecided" if len(says) == 2 else "yes" if True in says else "no"


def verdict(n: int, start: State, history: History, x: int, y: int) -> Verdict:
    """The answer forced by the start state and all transitions seen, if there is one."""
    belief, state = hypotheses(n, start), start
    for verb, node, after in history:
        belief = frozenset(order for order in belief if step(order, state, verb, node) == after)
        state = after
    return decide(belief, x, y)


@cache
def _predict(order: Edges, state: State, node: int) -> State:
    """Move `node` if it is static, hold it if it moves: the other verb never has an effect."""
    return step(order, state, "hold" if node in state else "move", node)


def _outcomes(belief: Belief, state: State, node: int) -> list[tuple[Belief, State]]:
    """The belief split by what the useful action on `node` may show."""
    cells: defaultdict[State, list[Edges]] = defaultdict(list)
    for order in belief:
        cells[_predict(order, state, node)].append(order)
    return [(frozenset(cell), after) for after, cell in cells.items()]


def fewest(n: int, edges: Edges, start: State, x: int, y: int) -> int:
    """Certificate length: fewest actions that force the answer in the true world, by breadth."""
    if not is_closed(edges, start):
        raise ValueError("start must contain the descendants of each of its shapes")
    world, frontier = closure(edges), {(hypotheses(n, start), start)}
    for depth in range(2 * n + 1):
        if any(decide(belief, x, y) != "undecided" for belief, _ in frontier):
            return depth
        frontier = {
            branch
            for belief, state in frontier
            for node in range(n)
            for branch in _outcomes(belief, state, node)
            if world in branch[0]
        }
    raise ValueError(f"{2 * n} actions do not decide {x} < {y}, against section 10")


def minimax(n: int, start: State, x: int, y: int) -> int:
    """Worst case of the best adaptive plan that does not know the world, by exhaustive search."""
    known: dict[tuple[Belief, State], tuple[int, int]] = {}

    def solvable(belief: Belief, state: State, budget: int) -> bool:
        """Whether some plan of at most `budget` actions decides every world of the belief."""
        if decide(belief, x, y) != "undecided":
            return True
        if budget == 0:
            return False
        failed, solved = known.get((belief, state), (0, 2 * n + 1))
        if budget <= failed or budget >= solved:
            return budget >= solved
        answer = any(
            all(solvable(cell, after, budget - 1) for cell, after in split)
            for split in (_outcomes(belief, state, node) for node in range(n))
            if split != [(belief, state)]
        )
        known[belief, state] = (failed, budget) if answer else (budget, solved)
        return answer

    budgets = range(2 * n + 1)
    return next(budget for budget in budgets if solvable(hypotheses(n, start), start, budget))


def minimax_formula(start: State, x: int, y: int) -> int:
    """The closed form of section 10's table, with m the number of shapes moving at the start."""
    m = len(start)
    if x in start:
        return m - 1 if y in start else 0
    return m + 1 if y in start else 1


def core_cases() -> list[Case]:
    """The 84 cases (structure, start, x, y, truth): each distinct setup, each ordered pair."""
    return [
        (name, start, x, y, y in descendants(edges, x))
        for name, (n, edges) in STRUCTURES.items()
        for start in sorted(_setups(n, edges), key=lambda start: (len(start), sorted(start)))
        for x, y in permutations(range(n), 2)
    ]


def _setups(n: int, edges: Edges) -> set[State]:
    """Unions of nodes and their descendants, over all subsets of fewer than n nodes."""
    subsets = (c for size in range(n) for c in combinations(range(n), size))
    return {frozenset(c).union(*(descendants(edges, node) for node in c)) for c in subsets}


def behaviour(case: Case) -> tuple[tuple[str, int, int], ...]:
    """A case up to renaming of shapes and up to edges that no experiment can show."""
    name, start, x, y, _ = case
    n, edges = STRUCTURES[name]
    facts = [("shape", node, node) for node in range(n)] + [("asked", x, y)]
    facts += [("cause", u, v) for u, v in closure(edges)] + [("moving", s, s) for s in start]
    renamings = permutations(range(n))
    return min(tuple(sorted((kind, p[u], p[v]) for kind, u, v in facts)) for p in renamings)


def bias(
    start: State, history: History, x: int, y: int, truth: bool, answer: Answer, verdict: Verdict
) -> str | None:
    """The failure pattern of a wrong answer, first match wins; None when the answer is right."""
    if answer not in ("yes", "no"):
        raise ValueError(f"only 'yes' and 'no' can be classified, not {answer!r}")
    if truth == (answer == "yes"):
        return None
    befores = [start, *(after for _, _, after in history)]
    moments = [(befores[t], *history[t]) for t in range(len(history))]
    if truth:
        return _false_negative(moments, x, y, verdict)
    return _false_positive(moments, x, y)


def _false_negative(moments: Sequence[Moment], x: int, y: int, verdict: Verdict) -> str:
    """Rules 1 to 4, for a cause that was denied."""
    if verdict == "yes":
        return "illusive_confounder_bias"
    if any(before and not after for before, _, _, after in moments):
        return "root_cause_bias"
    for before, verb, node, after in moments:
        if (verb, node) == ("hold", x) and x in before - after and y in after:
            return "reverse_collider_bias"
    return "other_fn"


def _false_positive(moments: Sequence[Moment], x: int, y: int) -> str:
    """Rules 5 and 6, for a cause that was made up."""
    in_step = [(x in after) == (y in after) for _, _, _, after in moments]
    joined = any(
        (verb, node) == ("move", x) and x not in before and y in before
        for before, verb, node, _ in moments
    )
    if in_step and (all(in_step) or (joined and in_step[-1])):
        return "correlation_bias"
    return "other_fp"
