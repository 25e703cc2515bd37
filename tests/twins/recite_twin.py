"""Slow, independent twin of ReCITE's deterministic scores: permutations, matrices, plain search.

A graph on n nodes is the set of its (cause, effect) pairs, or its n × n matrix of noughts and ones
with causes in rows. Nothing here is shared with the package, so agreement is evidence.
"""

from collections import deque
from collections.abc import Hashable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations, pairwise, permutations

Edge = tuple[int, int]
Graph = frozenset[Edge]
Matrix = list[list[int]]


# Names -------------------------------------------------------------------------------------------


def common(a: str, b: str) -> int:
    """Length of the longest common subsequence."""
    row = [0] * (len(b) + 1)
    for x in a:
        last = row
        row = [0]
        for j, y in enumerate(b):
            row.append(last[j] + 1 if x == y else max(last[j + 1], row[j]))
    return row[-1]


def likeness(a: str, b: str) -> Fraction:
    """Token-sort ratio: letters in common, by all letters of both, words put in order."""
    a, b = (" ".join(sorted(text.split())) for text in (a, b))
    return Fraction(2 * common(a, b), len(a) + len(b)) if a or b else Fraction(1)


def best_total(table: Sequence[Sequence[float]]) -> float:
    """Largest sum of entries, no two in a row or column, over all ways to choose them."""
    if not table or not table[0]:
        return 0.0
    if len(table) > len(table[0]):
        table = list(zip(*table, strict=True))
    return max(
        sum(row[column] for row, column in zip(table, columns, strict=True))
        for columns in permutations(range(len(table[0])), len(table))
    )


# Edges -------------------------------------------------------------------------------------------


def matrix(n: int, edges: Graph) -> Matrix:
    return [[int((a, b) in edges) for b in range(n)] for a in range(n)]


def counts(true: Matrix, guess: Matrix) -> tuple[int, int, int]:
    """Cells that are one in both, in the guess, and in the truth."""
    both = guessed = right = 0
    for a in range(len(true)):
        for b in range(len(true)):
            both += true[a][b] and guess[a][b]
            guessed += guess[a][b]
            right += true[a][b]
    return both, guessed, right


def ratios(true: Matrix, guess: Matrix) -> tuple[float, float, float]:
    """Precision, recall and their harmonic mean; the truth has edges."""
    both, guessed, right = counts(true, guess)
    precision, recall = both / guessed if guessed else 0.0, both / right
    total = precision + recall
    return precision, recall, 2 * precision * recall / total if total else 0.0


def joined(true: Matrix) -> Matrix:
    """Which nodes have an edge either way, each pair in the upper half only."""
    n = len(true)
    return [[int(a < b and (true[a][b] or true[b][a])) for b in range(n)] for a in range(n)]


def closure(true: Matrix) -> Matrix:
    """Which nodes are reached by paths of any length: the sum of the matrix's powers."""
    n = len(true)
    power, total = true, true
    for _ in range(n - 1):
        power = [
            [int(any(power[a][m] and true[m][b] for m in range(n))) for b in range(n)]
            for a in range(n)
        ]
        total = [[total[a][b] or power[a][b] for b in range(n)] for a in range(n)]
    return [[int(a != b and total[a][b]) for b in range(n)] for a in range(n)]


def cell_distance(true: Matrix, guess: Matrix) -> int:
    """Cells that differ: a reversed edge is two of them."""
    n = len(true)
    return sum(true[a][b] != guess[a][b] for a in range(n) for b in range(n))


def edits(n: int, edges: Graph) -> Iterator[Graph]:
    """Every graph one step away: one edge less, one more, or one turned round."""
    for a, b in permutations(range(n), 2):
        if (a, b) in edges:
            yield edges - {(a, b)}
            if (b, a) not in edges:
                yield edges - {(a, b)} | {(b, a)}
        else:
            yield edges | {(a, b)}


def distances(n: int, start: Graph) -> dict[Graph, int]:
    """Fewest steps from one graph to every other one, by breadth-first search."""
    found, queue = {start: 0}, deque([start])
    while queue:
        edges = queue.popleft()
        for other in edits(n, edges):
            if other not in found:
                found[other] = found[edges] + 1
                queue.append(other)
    return found


# The release -------------------------------------------------------------------------------------


def curve(true: Matrix, guess: Matrix) -> tuple[list[Fraction], list[Fraction]]:
    """Precision and recall when all cells with at least a score count as edges, lowest score first.

    A last point stands for no cell: precision 1, recall 0.
    """
    cells = [
        (t, s) for ts, ss in zip(true, guess, strict=True) for t, s in zip(ts, ss, strict=True)
    ]
    right = sum(t for t, _ in cells)
    precision, recall = [], []
    for threshold in sorted({s for _, s in cells}):
        taken = [t for t, s in cells if s >= threshold]
        precision.append(Fraction(sum(taken), len(taken)))
        recall.append(Fraction(sum(taken), right))
    return [*precision, Fraction(1)], [*recall, Fraction(0)]


def released(
    gold: Sequence[tuple[Hashable, Hashable]], guess: Sequence[tuple[Hashable, Hashable]]
) -> tuple[float, float, float, int, float]:
    """Area under the curve, mean of its numbers, their harmonic mean, distance, by its places."""
    names = list(dict.fromkeys(name for edge in [*gold, *guess] for name in edge))
    n = len(names)
    first, second = (
        [[int((a, b) in edges) for b in names] for a in names] for edges in (gold, guess)
    )
    precision, recall = curve(first, second)
    area = sum(
        (recall[i] - recall[i + 1]) * (precision[i] + precision[i + 1]) / 2
        for i in range(len(recall) - 1)
    )
    mean = sum(precision + recall) / len(precision + recall)
    steps = cell_distance(first, second)
    f1 = 2 * area * mean / (area + mean)
    return float(area), float(mean), float(f1), steps, steps / (n * (n - 1)) if n > 1 else 0.0


# Topology ----------------------------------------------------------------------------------------


def cycles(n: int, edges: Graph) -> list[tuple[int, ...]]:
    """Every simple cycle, from its lowest node on."""
    return [
        nodes
        for size in range(2, n + 1)
        for chosen in combinations(range(n), size)
        for nodes in ((chosen[0], *rest) for rest in permutations(chosen[1:]))
        if all((nodes[i - 1], nodes[i]) in edges for i in range(size))
    ]


def shortest(n: int, edges: Graph, a: int, b: int) -> list[tuple[int, ...]]:
    """Every shortest path between two different nodes."""
    others = [node for node in range(n) if node not in (a, b)]
    for size in range(n - 1):
        paths = [(a, *middle, b) for middle in permutations(others, size)]
        found = [p for p in paths if all(pair in edges for pair in pairwise(p))]
        if found:
            return found
    return []


def shape(n: int, edges: Graph) -> dict[str, Fraction]:
    """The figures of the paper's Table 12, each by its definition; n is at least 3."""
    nodes = range(n)
    loops = cycles(n, edges)
    on_cycles = {node for cycle in loops for node in cycle}
    reach = closure(matrix(n, edges))
    parts = {frozenset(v for v in nodes if v == u or (reach[u][v] and reach[v][u])) for u in nodes}
    paths = {(a, b): shortest(n, edges, a, b) for a, b in permutations(nodes, 2)}
    lengths = [len(found[0]) - 1 for found in paths.values() if found]
    through = [
        sum(
            (
                Fraction(sum(v in p[1:-1] for p in found), len(found))
                for found in paths.values()
                if found
            ),
            Fraction(0),
        )
        / ((n - 1) * (n - 2))
        for v in nodes
    ]
    mean = sum(through, Fraction(0)) / n
    near = [{b for b in nodes if (a, b) in edges or (b, a) in edges} for a in nodes]
    closed = [
        Fraction(
            sum(b in near[a] for a, b in combinations(sorted(s), 2)), len(s) * (len(s) - 1) // 2
        )
        for s in near
        if len(s) > 1
    ]
    return {
        "nodes": Fraction(n),
        "edges": Fraction(len(edges)),
        "density": Fraction(len(edges), n * (n - 1)),
        "average_degree": Fraction(sum(v in edge for edge in edges for v in nodes), n),
        "sources": Fraction(len({a for a, _ in edges} - {b for _, b in edges})),
        "sinks": Fraction(len({b for _, b in edges} - {a for a, _ in edges})),
        "clustering": sum(closed, Fraction(0)) / n,
        "cycles": Fraction(len(loops)),
        "cycles_capped": Fraction(0),
        "in_cycles": Fraction(len(on_cycles), n),
        "sccs": Fraction(len(parts)),
        "largest_scc": Fraction(max(map(len, parts))),
        "path_length": Fraction(sum(lengths), len(lengths) or 1),
        "betweenness_variance": sum(((x - mean) ** 2 for x in through), Fraction(0)) / n,
        "chains": Fraction(sum({(a, b), (b, c)} <= edges for a, b, c in permutations(nodes, 3))),
        "forks": Fraction(sum({(a, b), (a, c)} <= edges for a, b, c in permutations(nodes, 3)), 2),
        "colliders": Fraction(
            sum({(a, c), (b, c)} <= edges for a, b, c in permutations(nodes, 3)), 2
        ),
    }
