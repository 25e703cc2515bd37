"""What labels come to, against a plain computation of its own, on random label sets."""

import math
from collections.abc import Mapping, Sequence

import pytest

from whybench.causal.seeds import Stream
from whybench.families.recite.extras.judge.labels import PASSES, fields
from whybench.families.recite.extras.judge.score import (
    captured,
    credited,
    figures,
    histogram,
    in_graph,
)
from whybench.judge.labels import Entry

Random = dict[str, list[dict[str, str]]]

VALUE = {
    "STRONG_MATCH": 1, "GRAPH_ONLY": 1, "EXPLICIT": 1, "WEAK_MATCH": 0.5, "IMPLIED": 0.5,
    "NO_MATCH": 0, "STRONG": 1, "COMPLETE": 1, "MODERATE": 0.5, "PARTIAL": 0.5, "WEAK": 0.25,
    "MINIMAL": 0.25, "NA": 0, "ALIGNED": 1, "BROADER": 0.5, "NARROWER": 0.5, "CORRECT": 1,
    "UNCLEAR": 0.5, "REVERSED": 0.25, "MISSING": 0, "DIRECT": 1, "DERIVED": 1, "STRETCHED": 0.25,
    "CORE": 1, "CENTRAL": 1, "INTERMEDIATE": 0.5, "CONNECTING": 0.5, "PERIPHERAL": 0.25,
    "AUXILIARY": 0.25,
}  # fmt: skip


def drawn(seed: int) -> Random:
    """Draw labels for passes of random lengths, some of them empty."""
    stream = Stream("test", "labels", seed)
    return {
        name: [
            {field.name: stream.choice(field.labels) for field in fields(name)}
            for _ in range(stream.below(9))
        ]
        for name in PASSES
    }


def short(label: str) -> str:
    return label.split("_", 1)[1]


def twin(sets: Mapping[str, Sequence[Entry]], n: int) -> dict[str, float]:
    """Compute every figure from the specification, by loops and in other words."""

    def mean(values: Sequence[float]) -> float:
        return sum(values) / len(values) if values else 0.0

    def harmonic(p: float, r: float) -> float:
        return 0.0 if p + r == 0 else 2 / (1 / p + 1 / r) if p and r else 0.0

    def three(entry: Entry, *names: str) -> float:
        return mean([VALUE[short(entry[name])] for name in names])

    credit: dict[str, list[float]] = {"node": [], "edge": []}
    alone: dict[str, list[float]] = {"node": [], "edge": []}
    hit: dict[str, list[float]] = {"node": [], "edge": []}
    weighed: dict[str, list[tuple[float, float]]] = {"node": [], "edge": []}
    found_gold: dict[str, list[float]] = {"node": [], "edge": []}
    middle = {"node": ("semantic", "semantic", "semantic"),
              "edge": ("direction", "inference", "direction")}  # fmt: skip
    shd = odd = 0
    empty = ("NA", "MISSING")
    for kind in ("node", "edge"):
        graph_middle, text_middle, recall_middle = middle[kind]
        for e in sets[f"{kind}_precision"]:
            graph = three(e, "graph_presence", f"graph_{graph_middle}", "graph_abstraction")
            text = three(e, "text_presence", f"text_{text_middle}", "text_abstraction")
            no_graph = short(e["graph_presence"]) == "NO_MATCH"
            no_text = short(e["text_presence"]) == "NO_MATCH"
            credit[kind].append(0.0 if no_graph and no_text else max(graph, text))
            alone[kind].append(0.0 if no_graph else graph)
            hit[kind].append(0.0 if no_graph else 1.0)
            for none, block, second in (
                (no_graph, "graph", graph_middle),
                (no_text, "text", text_middle),
            ):
                rest = short(e[f"{block}_{second}"]), short(e[f"{block}_abstraction"])
                odd += none and (rest[0] not in empty or rest[1] not in empty)
            if kind == "edge" and (no_graph or short(e["graph_direction"]) == "REVERSED"):
                shd += 1
        for e in sets[f"{kind}_recall"]:
            gone = short(e["presence"]) == "NO_MATCH"
            c = 0.0 if gone else three(e, "presence", recall_middle, "abstraction")
            weighed[kind].append((VALUE[short(e["importance"])], c))
            found_gold[kind].append(0.0 if gone else 1.0)
            rest = short(e[recall_middle]), short(e["abstraction"])
            odd += gone and (rest[0] not in empty or rest[1] not in empty)
            if kind == "edge" and (gone or short(e["direction"]) == "MISSING"):
                shd += 1

    def recall(pairs: Sequence[tuple[float, float]]) -> float:
        weights = sum(w for w, _ in pairs)
        return sum(w * c for w, c in pairs) / weights if weights else 0.0

    p = {kind: mean(credit[kind]) for kind in credit}
    r = {kind: recall(weighed[kind]) for kind in weighed}
    precision = mean(credit["node"] + credit["edge"])
    full = recall(weighed["node"] + weighed["edge"])
    sizes = {kind: len(weighed[kind]) for kind in weighed}
    total = sizes["node"] + sizes["edge"]
    legacy = (r["node"] * sizes["node"] + r["edge"] * sizes["edge"]) / total if total else 0.0
    up = {kind: mean(hit[kind]) for kind in hit} | {"all": mean(hit["node"] + hit["edge"])}
    ur = {kind: mean(found_gold[kind]) for kind in found_gold}
    ur |= {"all": mean(found_gold["node"] + found_gold["edge"])}
    return {
        "precision": precision,
        "recall": full,
        "f1": harmonic(precision, full),
        "node_precision": p["node"],
        "node_recall": r["node"],
        "node_f1": harmonic(p["node"], r["node"]),
        "judged_edge_precision": p["edge"],
        "judged_edge_recall": r["edge"],
        "judged_edge_f1": harmonic(p["edge"], r["edge"]),
        "graph_precision": mean(alone["node"] + alone["edge"]),
        "graph_node_precision": mean(alone["node"]),
        "graph_edge_precision": mean(alone["edge"]),
        "unweighted_node_precision": up["node"],
        "unweighted_node_recall": ur["node"],
        "unweighted_node_f1": harmonic(up["node"], ur["node"]),
        "unweighted_edge_precision": up["edge"],
        "unweighted_edge_recall": ur["edge"],
        "unweighted_edge_f1": harmonic(up["edge"], ur["edge"]),
        "unweighted_precision": up["all"],
        "unweighted_recall": ur["all"],
        "unweighted_f1": harmonic(up["all"], ur["all"]),
        "legacy_recall": legacy,
        "legacy_judge_f1": harmonic(precision, legacy),
        "judged_shd": shd,
        "judged_nshd": shd / (n * (n - 1)) if n > 1 else 0.0,
        "incomplete": 0,
        "inconsistent": odd,
    }


@pytest.mark.slow
def test_all_figures_agree_with_a_plain_computation_on_random_labels() -> None:
    differ = 0
    for seed in range(1500):
        sets = drawn(seed)
        n = Stream("test", "n", seed).below(12)
        expected = twin(sets, n)
        found = figures(sets, n)
        assert found == pytest.approx(expected, abs=1e-12), seed
        differ += abs(found["recall"] - found["legacy_recall"]) > 1e-6
    assert differ > 700  # the paper's recall and the release's are not the same figure


def labelled(pass_name: str, **labels: str) -> dict[str, str]:
    """Return an entry by its labels without prefixes."""
    families = {field.name: field.family.upper() for field in fields(pass_name)}
    return {name: f"{families[name]}_{label}" for name, label in labels.items()}


def test_the_better_of_graph_and_text_counts_and_neither_is_zero() -> None:
    stretched = labelled(
        "edge_precision", graph_presence="NO_MATCH", graph_direction="NA", graph_abstraction="NA",
        text_presence="IMPLIED", text_inference="STRETCHED", text_abstraction="BROADER",
    )  # fmt: skip
    assert credited("edge_precision", stretched) == pytest.approx(1.25 / 3)
    assert in_graph("edge_precision", stretched) == 0
    neither = stretched | {"text_presence": "PRESENCE_NO_MATCH"}
    assert credited("edge_precision", neither) == 0
    turned = labelled(
        "edge_precision", graph_presence="STRONG_MATCH", graph_direction="REVERSED",
        graph_abstraction="ALIGNED", text_presence="NO_MATCH", text_inference="NA",
        text_abstraction="NA",
    )  # fmt: skip
    assert credited("edge_precision", turned) == in_graph("edge_precision", turned) == 0.75


def test_no_match_captures_nothing_whatever_stands_beside_it() -> None:
    odd = labelled(
        "node_recall", importance="CORE", presence="NO_MATCH", semantic="COMPLETE",
        abstraction="ALIGNED",
    )  # fmt: skip
    assert captured("node_recall", odd) == 0
    assert captured("node_recall", odd | {"presence": "PRESENCE_WEAK_MATCH"}) == 2.5 / 3


def test_importance_weighs_recall_over_nodes_and_edges_together() -> None:
    whole = {"presence": "STRONG_MATCH", "abstraction": "ALIGNED"}
    gone = {"presence": "NO_MATCH", "abstraction": "NA"}
    core = labelled("node_recall", importance="CORE", semantic="COMPLETE", **whole)
    minor = labelled("edge_recall", importance="AUXILIARY", direction="MISSING", **gone)
    found = figures(
        {
            "node_precision": [],
            "node_recall": [core],
            "edge_precision": [],
            "edge_recall": [minor],
        },
        5,
    )
    assert found["recall"] == pytest.approx(1 / 1.25)
    assert found["legacy_recall"] == 0.5
    assert found["unweighted_recall"] == 0.5
    assert found["precision"] == found["f1"] == 0
    assert (found["judged_shd"], found["judged_nshd"]) == (1, 1 / 20)


NEEDS = {
    "node_precision": {"precision", "f1", "legacy_judge_f1", "graph_precision",
                       "unweighted_precision", "unweighted_f1", "node_precision", "node_f1",
                       "graph_node_precision", "unweighted_node_precision", "unweighted_node_f1"},
    "node_recall": {"recall", "f1", "legacy_recall", "legacy_judge_f1", "unweighted_recall",
                    "unweighted_f1", "node_recall", "node_f1", "unweighted_node_recall",
                    "unweighted_node_f1"},
    "edge_precision": {"precision", "f1", "legacy_judge_f1", "graph_precision",
                       "unweighted_precision", "unweighted_f1", "judged_edge_precision",
                       "judged_edge_f1", "graph_edge_precision", "unweighted_edge_precision",
                       "unweighted_edge_f1", "judged_shd", "judged_nshd"},
    "edge_recall": {"recall", "f1", "legacy_recall", "legacy_judge_f1", "unweighted_recall",
                    "unweighted_f1", "judged_edge_recall", "judged_edge_f1",
                    "unweighted_edge_recall", "unweighted_edge_f1", "judged_shd", "judged_nshd"},
}  # fmt: skip


@pytest.mark.parametrize("lacking", PASSES)
@pytest.mark.parametrize("nodes", [0, 6])
def test_figures_of_an_incomplete_pass_are_unknown_and_never_zero(lacking: str, nodes: int) -> None:
    sets = drawn(1)
    found = figures({**sets, lacking: None}, nodes)
    assert {name for name, value in found.items() if math.isnan(value)} == NEEDS[lacking]
    assert found["incomplete"] == 1
    whole = figures(sets, nodes)
    other = {*NEEDS[lacking], "incomplete", "inconsistent"}
    assert all(found[k] == whole[k] for k in found if k not in other)


def test_the_histogram_counts_every_label() -> None:
    sets = drawn(2)
    found = histogram({**sets, "node_recall": None})
    assert set(found) == {f"{name}.{field.name}" for name in PASSES for field in fields(name)}
    for name in PASSES:
        for field in fields(name):
            counts = found[f"{name}.{field.name}"]
            said = [] if name == "node_recall" else [entry[field.name] for entry in sets[name]]
            assert counts == {label: said.count(label) for label in field.labels}
