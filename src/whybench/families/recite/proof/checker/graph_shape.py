"""Independent computation of a graph's shape, for `check`: from distances and path counts.

`topology` defines the figures and takes most of them from networkx. This module uses neither.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

Matrix = npt.NDArray[np.float64]


def shape(n: int, pairs: Iterable[tuple[int, int]]) -> dict[str, float]:
    """Return all figures of a graph without self-loops, except the number of cycles."""
    joined = np.zeros((n, n))
    for a, b in pairs:
        joined[a, b] = 1
    edges = joined.sum()
    ins, outs = joined.sum(axis=0), joined.sum(axis=1)
    distance, paths = _shortest(joined)
    reach = np.isfinite(distance)
    strong = (reach & reach.T).sum(axis=1)
    apart = reach & ~np.eye(n, dtype=bool)
    found = {
        "nodes": n,
        "edges": edges,
        "density": edges / (n * (n - 1)),
        "average_degree": 2 * edges / n,
        "sources": ((outs > 0) & (ins == 0)).sum(),
        "sinks": ((ins > 0) & (outs == 0)).sum(),
        "clustering": _clustering(joined),
        "in_cycles": (strong > 1).sum() / n,
        "sccs": (1 / strong).sum().round(),
        "largest_scc": strong.max(),
        "path_length": distance[apart].mean() if apart.any() else 0.0,
        "betweenness_variance": _betweenness(distance, paths).var(),
        "chains": (ins * outs).sum() - (joined * joined.T).sum(),
        "forks": (outs * (outs - 1) / 2).sum(),
        "colliders": (ins * (ins - 1) / 2).sum(),
    }
    return {name: float(value) for name, value in found.items()}


def cycles(n: int, pairs: Iterable[tuple[int, int]], most: int, steps: int) -> int | None:
    """Count simple cycles by walking from the lowest node of each, `most` for that many or more.

    None if `steps` do not suffice.
    """
    after: list[list[int]] = [[] for _ in range(n)]
    before: list[list[int]] = [[] for _ in range(n)]
    for a, b in sorted(pairs):
        after[a].append(b)
        before[b].append(a)
    found = 0
    for start in range(n):
        home = _leading_back(start, before)
        way = [start]
        left = [iter(after[start])]
        while way:
            steps -= 1
            if steps < 0:
                return None
            step = next(left[-1], None)
            if step is None:
                left.pop()
                home.add(way.pop())
            elif step == start:
                found += 1
                if found >= most:
                    return most
            elif step in home:
                home.remove(step)
                way.append(step)
                left.append(iter(after[step]))
    return found


def _leading_back(start: int, before: list[list[int]]) -> set[int]:
    """Return the higher nodes from which a way leads to `start` over higher nodes."""
    found: set[int] = set()
    waiting = [start]
    while waiting:
        fresh = {a for a in before[waiting.pop()] if a > start} - found
        found |= fresh
        waiting += fresh
    return found


def _shortest(joined: Matrix) -> tuple[Matrix, Matrix]:
    """Return the length of the shortest paths between all nodes, and how many there are."""
    n = len(joined)
    after = [np.flatnonzero(row).tolist() for row in joined]
    distance, paths = np.full((n, n), np.inf), np.zeros((n, n))
    for start in range(n):
        known: set[int] = set()
        ring, length = {start: 1}, 0
        while ring:
            known.update(ring)
            wider: dict[int, int] = {}
            for node, ways in ring.items():
                distance[start, node], paths[start, node] = length, ways
                for step in after[node]:
                    if step not in known:
                        wider[step] = wider.get(step, 0) + ways
            ring, length = wider, length + 1
    return distance, paths


def _betweenness(distance: Matrix, paths: Matrix) -> Matrix:
    """Return for each node the mean share of shortest paths between others that meet it."""
    n = len(distance)
    if n < 3:
        return np.zeros(n)
    share = np.divide(1.0, paths, out=np.zeros_like(paths), where=paths > 0)
    np.fill_diagonal(share, 0.0)
    found = np.zeros(n)
    for v in range(n):
        on = distance[:, v, None] + distance[None, v, :] == distance
        on[v, :] = on[:, v] = False
        found[v] = (paths[:, v, None] * paths[None, v, :] * share)[on].sum()
    return found / ((n - 1) * (n - 2))


def _clustering(joined: Matrix) -> float:
    """Return the mean share of pairs of neighbours that are neighbours, whatever the direction."""
    near = [set(np.flatnonzero(row).tolist()) for row in joined + joined.T]
    shares = []
    for around in near:
        places = len(around) * (len(around) - 1)
        closed = sum(len(around & near[other]) for other in around)
        shares.append(closed / places if places else 0.0)
    return sum(shares) / len(shares)
