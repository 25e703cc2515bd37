"""Published figures in the page are those of the CSV files, cell by cell.

ReCITE's stand only beside runs on the published texts, which no test has; its own tests cover them.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator
from importlib.resources import files
from typing import Any

import pandas as pd
import pytest

from whybench.causal.seeds import Stream
from whybench.episode.registry import load_suite
from whybench.interfaces.inspectai.runner import reference_logs
from whybench.report.build import Wishes, viewed
from whybench.report.runs import Logs, read_runs
from whybench.report.section import Figure, Table
from whybench.report.view import Limits

COUNTS = {"n", "nodes", "documents", "episodes", "wrong answers", "low", "high", "instances"}
"""Columns of an overlay that hold no published score."""

Overlay = tuple[str, str, str, Any]
"""Family, part, system, value as shown."""


@pytest.fixture(scope="module")
def shown(logs: Logs, tmp_path_factory: pytest.TempPathFactory) -> list[Overlay]:

    folder = tmp_path_factory.mktemp("overlay")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_DATA_HOME", str(tmp_path_factory.mktemp("xdg")))
        reference_logs(load_suite("replayscm/ord_full"), ("exact",), folder, 2)
        for suite in ("causalgame/antenna_trap", "causalab/main_4"):
            theirs = load_suite(suite, profile="published")
            reference_logs(theirs, ("null",), folder, 2)
    more = read_runs([folder])
    views = viewed(Logs(logs.runs + more.runs), Wishes(limits=Limits(certified=1, replayed=2)))
    return [
        (view.family.name, part.id, system, value)
        for view in views
        for part in view.family.capability("report")(view).walk()
        if isinstance(part, Figure | Table)
        for system, value in published(part.frame)
    ]


def published(frame: pd.DataFrame) -> Iterator[tuple[str, Any]]:
    """Yield system and score of every published cell of a frame."""
    for row in frame.to_dict("records"):
        words = [v for name, v in row.items() if isinstance(v, str) and name != "profile"]
        marked = row.get("published") is True or any(
            word.startswith("published") or "(published" in word for word in words
        )
        if "system" not in row or not marked:
            continue
        for name, value in row.items():
            number = isinstance(value, float) and not math.isnan(value)
            if number and name not in COUNTS and not name.endswith((" low", " high")):
                yield str(row["system"]).replace(" (published)", ""), value


def printed(family: str) -> dict[str, set[float]]:
    """Return system → its figures, read with nothing of ours; per cent also as shares."""
    path = files("whybench.report.published") / "figures_of_papers" / f"{family}.csv"
    found: dict[str, set[float]] = {}
    for row in csv.DictReader(path.read_text("utf-8").splitlines()):
        for name in (row["system"], row["note"]):
            values = found.setdefault(name, set())
            if row["value"]:
                values |= {float(row["value"]), float(row["value"]) / 100}
    return found


def named(name: str, system: str) -> bool:
    """Tell whether a name or note of the file is the system's; a mode may follow in the page."""
    plain = system.replace(" (published baseline)", "").partition(", ")[0]
    return name in (system, plain) or f"= {plain} in" in name


@pytest.mark.slow
def test_fifty_random_overlays_equal_the_papers_figures(shown: list[Overlay]) -> None:
    assert {family for family, *_ in shown} == {"causalab", "causalgame", "causallink", "replayscm"}
    stream = Stream("tests", "overlays")
    for family, part, system, value in stream.sample(shown, 50):
        figures = printed(family)
        known = [name for name in figures if named(name, system)]
        assert known, f"{part}: no published system {system!r}"
        every = set().union(*(figures[name] for name in known))
        assert any(math.isclose(value, figure, abs_tol=1e-9) for figure in every), (part, value)


@pytest.mark.slow
def test_a_changed_overlay_would_be_noticed(shown: list[Overlay]) -> None:
    family, _, system, value = next(cell for cell in shown if cell[0] == "causallink")
    assert value in printed(family)[system]
    assert value + 0.0005 not in printed(family)[system]
