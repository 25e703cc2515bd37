"""Two labelled graphs have one form exactly if some renaming makes them equal."""

from itertools import permutations

from whybench.causal.labelled_graph_canon import labelled_form
from whybench.causal.seeds import Stream

Graph = tuple[tuple[int, ...], dict[tuple[int, int], int]]


def renamed(graph: Graph, to: tuple[int, ...]) -> Graph:
    """The graph with node v called `to[v]`."""
    colours, edges = graph
    moved = [0] * len(colours)
    for v, colour in enumerate(colours):
        moved[to[v]] = colour
    return tuple(moved), {(to[a], to[b]): label for (a, b), label in edges.items()}


def brute_force(graph: Graph) -> object:
    """The smallest of all renamings."""
    every = (renamed(graph, to) for to in permutations(range(len(graph[0]))))
    return min((colours, sorted(edges.items())) for colours, edges in every)


def random_graph(stream: Stream, n: int) -> Graph:
    """Few colours and labels, so that many graphs are alike."""
    colours = tuple(stream.below(2) for _ in range(n))
    pairs = [(a, b) for a in range(n) for b in range(n) if a != b and stream.below(3) == 0]
    return colours, {pair: stream.below(2) for pair in pairs}


def test_forms_agree_with_trying_every_renaming() -> None:
    stream = Stream("test", "labelled")
    pairs, symmetric = {}, 0
    for i in range(500):
        graph = random_graph(stream, 2 + i % 3)
        form, expected = labelled_form(*graph), brute_force(graph)
        assert pairs.setdefault(repr(form), expected) == expected
        symmetric += len(set(graph[0])) < len(graph[0])
    assert len(pairs) == len({repr(expected) for expected in pairs.values()}) < 400
    assert symmetric > 300


def test_no_renaming_changes_a_form() -> None:
    stream = Stream("test", "renamed")
    for n in (5, 7, 9):
        for _ in range(30):
            graph = random_graph(stream, n)
            to = tuple(stream.shuffled(range(n)))
            assert labelled_form(*renamed(graph, to)) == labelled_form(*graph)


def test_direction_and_label_and_colour_count() -> None:
    ring = {(0, 1): 1, (1, 2): 1, (2, 0): 1}
    forms = [
        labelled_form((0, 0, 0), ring),
        labelled_form((0, 0, 0), {**ring, (2, 0): 2}),
        labelled_form((0, 0, 1), ring),
        labelled_form((0, 0, 0), {(0, 1): 1, (1, 2): 1, (0, 2): 1}),
    ]
    assert len({repr(form) for form in forms}) == 4


def test_many_alike_nodes_are_quick() -> None:
    star = {(v, 0): 5 for v in range(1, 12)}
    colours, edges = labelled_form((0,) * 12, star)
    assert (len(colours), len(edges)) == (12, 11)
