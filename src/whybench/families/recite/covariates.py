"""Covariates for reports: length, size and shape of the graph, explicitness, field."""

from __future__ import annotations

from whybench.causal.canonical import Json, Record
from whybench.causal.graph import Graph
from whybench.families.recite.world.world import World

SEPARATOR = " | "
"""Separates the fields of a document that has several."""


def covariates(world: World) -> Record:
    """Return the covariates of a document, for authors and reports.

    Unknown values are left out: the level outside `ladder`, the date of a generated document,
    and how a published text gives its edges.
    """
    n, m = len(world.nodes), len(world.edges)
    mention = [node.mention for node in world.nodes]
    status = [edge.status for edge in world.edges]
    found: dict[str, Json] = {
        "characters": len(world.view.text),
        "nodes": n,
        "edges": m,
        "density": m / max(1, n * (n - 1)),
        "cyclic": not Graph.from_edges(n, world.pairs).is_acyclic(),
        "names": world.view.names,
        "lenient": 1 - mention.count("absent") / n,
        "strict": mention.count("explicit") / n,
        "unnamed": mention.count("absent"),
    }
    if world.domains:
        found["domain"] = SEPARATOR.join(world.domains)
    if world.level:
        found["level"] = world.level
    if world.date:
        found["date"] = world.date
    if "unknown" not in status:
        found |= {name: status.count(name) / m for name in ("stated", "implied", "derivable")}
    return Record.of(**found)
