"""The papers' tables: what is listed, what the columns are, and rows of reference agents."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from whybench.cli import app
from whybench.report.papers.costs import cost
from whybench.report.papers.fill import COUNT, MARK, fill
from whybench.report.papers.formats import formatted, listed
from whybench.report.papers.model import STATES, Item, Paper, cells, load_paper, papers
from whybench.report.papers.page import page
from whybench.report.published.figures import FAMILIES, Published

ROOT = Path(__file__).parents[2]

PAPERS = [load_paper(name) for name in papers()]

ITEMS = [(paper, item) for paper in PAPERS for item in paper.items]


def _id(value: object) -> str:
    return value.id if isinstance(value, Item) else ""


def _tables() -> Iterator[tuple[Paper, Item]]:
    for paper, item in ITEMS:
        if item.kind == "table" and item.state == "full" and cells(item):
            yield paper, item


def test_every_paper_with_published_figures_is_listed() -> None:
    assert sorted(papers()) == sorted(FAMILIES)


@pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper.family)
def test_every_published_table_is_listed_once(paper: Paper) -> None:
    names = Counter((item.kind, item.number) for item in paper.items)
    assert max(names.values()) == 1
    printed = {cell.table for cell in Published().cells(paper.family)}
    assert printed <= {number for kind, number in names if kind == "table"}


@pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper.family)
def test_states_have_reasons_and_costs(paper: Paper) -> None:
    for item in paper.items:
        assert item.state in STATES
        assert item.place in ("main", "appendix")
        assert item.result or item.state == "none"
        if item.state != "full":
            assert len(item.reason) > 20
            assert "not implemented" not in item.reason
        assert cost(paper, item) != (None, None)
        if item.state != "none":
            assert item.columns or item.part or item.same
        for name in item.runs:
            assert name in paper.runs
        if item.rows:
            assert callable(paper.function(item.rows))


@pytest.mark.parametrize(("paper", "item"), list(_tables()), ids=_id)
def test_columns_of_full_tables_are_those_of_the_paper(paper: Paper, item: Item) -> None:
    laid = paper.laid(item)
    ours = {metric for column in laid.columns for metric in column.metric} - {COUNT}
    assert ours >= {cell.metric for cell in cells(item)}


@pytest.mark.parametrize(("paper", "item"), list(_tables()), ids=_id)
def test_published_cells_stand_in_the_table(paper: Paper, item: Item) -> None:
    made = fill(paper, item, None)
    assert {name for row in made.rows for name in row} <= set(made.columns)
    shown = Counter(
        part
        for row in made.rows[made.new :]
        for column in paper.laid(item).columns
        for part in row[column.name].split(column.sep or None)
    )
    printed = Counter(
        {
            (c.suite, c.condition, c.system, c.metric): c.printed for c in cells(item) if c.printed
        }.values()
    )
    assert not printed - shown


def test_the_page_is_current() -> None:
    assert (ROOT / "docs" / "reproduce.md").read_text("utf-8") == page()


def test_list_has_the_documented_keys() -> None:
    done = CliRunner().invoke(app, ["reproduce", "causallink", "--list", "--json"])
    rows = json.loads(done.stdout)
    assert {"number", "kind", "title", "state", "reason", "samples", "tokens"} <= set(rows[0])
    assert [row["samples"] for row in rows if row["number"] == "4"] == [84]
    assert len(listed(load_paper("causallink"))) == len(rows)


@pytest.mark.parametrize(
    ("asked", "label"),
    [("4", "Table 4"), ("table 4", "Table 4"), ("fig2", "Figure 2"), ("Figure 2", "Figure 2")],
)
def test_items_are_found_by_name(asked: str, label: str) -> None:
    assert load_paper("causallink").find(asked).label == label


def test_an_unknown_number_is_refused() -> None:
    with pytest.raises(ValueError, match="has no '9'"):
        load_paper("causallink").find("9")


def test_an_item_without_result_is_not_played() -> None:
    asked = ["reproduce", "causallink", "figure 1", "--model", "whybench/exact"]
    done = CliRunner().invoke(app, asked)
    assert done.exit_code == 2
    assert "cannot be continued" in done.output


def _rows(paper: str, number: str, agent: str, limit: int, folder: Path) -> list[dict[str, str]]:
    asked = ["reproduce", paper, number, "--model", f"whybench/{agent}", "--limit", str(limit)]
    done = CliRunner().invoke(app, [*asked, "--log-dir", str(folder), "--format", "csv"])
    assert done.exit_code == 0, done.output
    text = done.stdout[done.stdout.index("Model") :] if "Model" in done.stdout else done.stdout
    return list(csv.DictReader(io.StringIO(text)))


def test_a_reference_agent_gets_a_marked_row(tmp_path: Path) -> None:
    rows = _rows("causallink", "4", "exact", 3, tmp_path)
    new = [row for row in rows if row["Model"].endswith(MARK)]
    assert [row["Overall Acc."] for row in new] == ["1.000"]
    assert new[0] == rows[0]
    assert [row["Err. Count"] for row in new] == ["0"]
    assert len(rows) == 13
    assert list(rows[0]) == [
        "Model", "Acc. (F)", "Acc. (T)", "Overall Acc.", "Avg. Steps", "Err. Count"
    ]  # fmt: skip


def test_markdown_shows_notes_and_settings() -> None:
    paper = load_paper("causalab")
    text = formatted(fill(paper, paper.find("8"), None), "markdown", "Sampling settings: none.")
    assert "| Model | 3-node IMEC | 4-node IMEC |" in text
    assert "does not define its IMEC" in text
    assert text.endswith("Sampling settings: none.")


AGENTS = {"causalgame": "null"}
"""Family → reference agent of the slow test, if it is not `exact`."""

APART = {
    "recite": "needs the released texts and a judge",
    "causalgame-paper-table-12": "needs the sandbox",
}


def _playable() -> Iterator[tuple[Paper, Item]]:
    for paper, item in ITEMS:
        apart = paper.family in APART or item.id in APART
        if item.state == "full" and not apart and paper.wanted(item):
            yield paper, item


@pytest.mark.slow
@pytest.mark.parametrize(("paper", "item"), list(_playable()), ids=_id)
def test_every_full_item_gets_rows_of_a_reference_agent(
    paper: Paper, item: Item, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.getbasetemp() / f"reproduce-{paper.family}"
    agent = AGENTS.get(paper.family, "exact")
    limit = {"causalgame": 14, "causalab": 2, "replayscm": 2, "causallink": 4}[paper.family]
    asked = ["reproduce", paper.family, item.label, "--model", f"whybench/{agent}"]
    options = ["--limit", str(limit), "--log-dir", str(folder), "--json"]
    if any(run.args.get("protocol") == "code" for run in paper.wanted(item)):
        pytest.skip("needs the sandbox")
    done = CliRunner().invoke(app, [*asked, *options])
    assert done.exit_code == 0, done.output
    made = json.loads(done.stdout[done.stdout.index("{") :])
    assert made["new"] > 0 or item.part
