"""Shares and counts of a judge's labels, on entries made by hand and on the printed table."""

import csv
import math
from collections.abc import Mapping
from pathlib import Path

import pytest

from whybench.families.recite.extras.analyses.labels import LabelShares, label_counts, label_shares
from whybench.families.recite.extras.judge.labels import fields, no_counterpart
from whybench.families.recite.extras.judge.score import figures, histogram
from whybench.judge.labels import Entry
from whybench.stats.interval import rate_interval

PUBLISHED = Path(__file__).parents[4] / "shared" / "published" / "recite.csv"
needs_tables = pytest.mark.skipif(
    not PUBLISHED.is_file(), reason="the published tables lie outside the repository"
)


def edge(graph: str, direction: str, text: str, abstraction: str = "ALIGNED") -> Entry:
    entry = {
        "graph_presence": f"PRESENCE_{graph}",
        "graph_direction": f"DIRECTION_{direction}",
        "graph_abstraction": f"ABSTRACTION_{abstraction}",
        "text_presence": f"PRESENCE_{text}",
        "text_inference": "INFERENCE_DIRECT",
        "text_abstraction": "ABSTRACTION_ALIGNED",
    }
    allowed = {field.name: field.labels for field in fields("edge_precision")}
    assert all(label in allowed[name] for name, label in entry.items())
    return entry


STRONG = edge("STRONG_MATCH", "CORRECT", "EXPLICIT")
WEAK = edge("WEAK_MATCH", "CORRECT", "GRAPH_ONLY", "BROADER")
TURNED = edge("STRONG_MATCH", "REVERSED", "NO_MATCH")
PLAUSIBLE = edge("NO_MATCH", "NA", "IMPLIED", "NA")
WRONG = no_counterpart("edge_precision")
ODD = edge("NO_MATCH", "REVERSED", "NO_MATCH")
"""A judge that says reversed without a match: no match, so not a reversed one either."""


def shares(found: LabelShares) -> dict[str, float]:
    names = ("match", "correct", "reversed", "reversed_of_matched", "aligned_of_matched", "support")
    return {name: getattr(found, name).estimate for name in names}


def test_shares_are_pooled_over_edges_and_matches_are_their_own_base() -> None:
    judged = {"a": [STRONG, WEAK, TURNED, PLAUSIBLE], "b": [WRONG, ODD, STRONG, WRONG], "c": []}
    found = label_shares(judged, "s")
    assert (found.system, found.documents, found.incomplete, found.match.n) == ("s", 3, 0, 8)
    assert shares(found) == pytest.approx(
        {
            "match": 4 / 8,
            "correct": 3 / 8,
            "reversed": 1 / 8,
            "reversed_of_matched": 1 / 4,
            "aligned_of_matched": 3 / 4,
            "support": 4 / 8,
        }
    )
    assert len(found.cells()) == len(found.HEAD)


def test_documents_are_clusters() -> None:
    judged = {f"d{i}": [STRONG if i < 8 else WRONG] * 5 for i in range(16)}
    found = label_shares(judged).match
    assert found == rate_interval(
        [i < 8 for i in range(16) for _ in range(5)], sorted([*range(16)] * 5)
    )
    assert found.high - found.low > 1.5 * (lambda r: r.high - r.low)(rate_interval([1, 0] * 40))


def test_an_unreadable_pass_is_left_out_and_counted() -> None:
    found = label_shares({"a": [STRONG], "b": None})
    assert (found.documents, found.incomplete, found.match.estimate) == (1, 1, 1.0)


def test_without_edges_there_are_no_shares() -> None:
    found = label_shares({"a": []})
    assert all(math.isnan(share) for share in shares(found).values())
    assert found.cells()[3:] == ("–",) * 8


def test_match_is_the_unweighted_precision_of_one_document() -> None:
    entries = [STRONG, WEAK, TURNED, PLAUSIBLE, WRONG]
    passes = {"node_precision": (), "node_recall": (), "edge_recall": (), "edge_precision": entries}
    scored = figures(passes, 5)
    assert label_shares({"a": entries}).match.estimate == scored["unweighted_edge_precision"] == 0.6


def test_counts_add_up_over_histograms() -> None:
    first = histogram({"edge_precision": [STRONG, TURNED]})
    second = histogram({"edge_precision": [STRONG, WRONG]})
    rows = {(row.field, row.label): row for row in label_counts([first, second])}
    presence = "edge_precision.graph_presence"
    found = {label: rows[presence, f"PRESENCE_{label}"] for label in ("STRONG_MATCH", "WEAK_MATCH")}
    assert (found["STRONG_MATCH"].count, found["STRONG_MATCH"].of) == (3, 4)
    assert found["WEAK_MATCH"].count == 0, "a label never given is shown with 0"
    assert str(found["STRONG_MATCH"]) == f"| {presence} | PRESENCE_STRONG_MATCH | 3 | 75.0 |"
    importance = rows["edge_recall.importance", "IMPORTANCE_CENTRAL"]
    assert importance.cells()[2:] == ("0", "–")


# Against the printed table


def table_23() -> Mapping[str, Mapping[str, float]]:
    found: dict[str, dict[str, float]] = {}
    with PUBLISHED.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["table"] == "23":
                found.setdefault(row["system"], {})[row["metric"]] = float(row["value"])
    return found


@needs_tables
def test_printed_directions_are_shares_of_all_edges() -> None:
    """A thousand edges with the printed shares give the printed row, whatever its caption says."""
    rows = table_23()
    assert len(rows) == 10
    for row in rows.values():
        right, turned = round(10 * row["direction_correct"]), round(10 * row["direction_reversed"])
        assert 10 * row["graph_match"] == pytest.approx(right + turned, abs=2.01)
        supported = round(10 * row["text_support"])
        entries = [
            edge(
                "STRONG_MATCH" if at < right + turned else "NO_MATCH",
                "CORRECT" if at < right else "REVERSED" if at < right + turned else "NA",
                "EXPLICIT" if at < supported else "NO_MATCH",
            )
            for at in range(1000)
        ]
        found = shares(label_shares({"all": entries}))
        assert 100 * found["correct"] == pytest.approx(row["direction_correct"])
        assert 100 * found["reversed"] == pytest.approx(row["direction_reversed"])
        assert 100 * found["support"] == pytest.approx(row["text_support"])
        # Section 4.2 says that less than 1.1 % of the matched edges are reversed.
        assert 0.021 < found["reversed_of_matched"] < 0.045
