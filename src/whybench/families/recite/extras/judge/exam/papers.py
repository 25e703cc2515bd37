"""Papers of the judge's exam: answers derived from gold graphs, with known right labels.

A paper is one case to judge, as any other, with a key: for every element of every pass, the right
labels of each field, as far as the construction and the rubric settle them (see `right_labels`).
"""

from __future__ import annotations

from whybench.causal.seeds import Stream
from whybench.families.recite.extras.judge.case import Case
from whybench.families.recite.extras.judge.exam.alterations import altered_nodes
from whybench.families.recite.extras.judge.exam.altered_edges import alter_edges
from whybench.families.recite.extras.judge.exam.right_labels import RightLabels
from whybench.families.recite.world.world import World
from whybench.judge.label_judge import Paper


def paper(world: World, stream: Stream, instance_id: str = "") -> Paper[Case]:
    """Make a paper from a generated document.

    Args:
        world: A generated document; published texts have no synonyms or broader terms.
        stream: Decides which alterations are made.
        instance_id: As in a case; by default the name of the graph.

    """
    altered = altered_nodes(world, stream)
    alter_edges(altered, stream)
    given = stream.shuffled(sorted(altered.edges))
    names = sorted(node.name for node in altered.nodes)
    gold_nodes, gold_edges = altered.reference_nodes, altered.reference_edges
    right = RightLabels(altered)
    return Paper(
        case=Case(
            instance_id=instance_id or world.cluster,
            document=world.view.text,
            gold_nodes=tuple(world.nodes[v].name for v in gold_nodes),
            gold_edges=tuple((world.nodes[a].name, world.nodes[b].name) for a, b in gold_edges),
            answer_nodes=tuple(names),
            answer_edges=tuple(given),
        ),
        key={
            "node_precision": dict(enumerate(map(right.answer_node, names), 1)),
            "node_recall": dict(enumerate(map(right.gold_node, gold_nodes), 1)),
            "edge_precision": dict(enumerate(map(right.answer_edge, given), 1)),
            "edge_recall": dict(enumerate(map(right.gold_edge, gold_edges), 1)),
        },
    )
