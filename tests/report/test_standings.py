"""Standings: the scale, the plain mean, what is pooled, the paired tests and the formats."""

from __future__ import annotations

import csv
import io
import json
import math

import pandas as pd
import pytest
from tests.report.test_compare import run

from whybench.causal.seeds import Stream
from whybench.release.data import load_release
from whybench.report.naming import named
from whybench.report.runs import Logs, Run
from whybench.report.standings.build import pooled, standings
from whybench.report.standings.formats import FORMATS, formatted
from whybench.report.standings.model import Estimate, Standings

RELEASE = load_release("1rc")
SET = {"release": "1rc", "set": "standard"}


def played(model: str, chance: dict[str, float], seed: str = "one", rows: int = 60) -> list[Run]:
    """Return runs of a made-up system that is right with a chance, by family."""
    found = []
    for family, share in chance.items():
        for part in RELEASE.of(family, "standard"):
            for template in RELEASE.families[family].templates:
                draw = Stream("standings", seed, part.path, template)
                scores = {f"{part.suite}-{i}": [float(draw.uniform() < share)] for i in range(rows)}
                one = run(scores, model, part.path, args=SET | {"template": template})
                rest = {"experiments": 2.0, "regret": 1.0, "unusable": 0.0, "input_tokens": 100.0,
                        "output_tokens": 10.0, "cost": math.nan}  # fmt: skip
                right = one.frame[one.family.headline]
                rule = one.family.understanding
                labels = {rule["lucky"]: (right.index % 4 == 0).astype(float)}
                labels[rule["success"]] = right
                one.frame[[*rest, *labels]] = pd.DataFrame(rest | labels, index=one.frame.index)
                found.append(one)
    return found


def together(*runs: Run) -> Logs:
    return Logs(tuple(named(runs)))


EQUAL = dict.fromkeys(RELEASE.families, 0.8)


@pytest.fixture(scope="module")
def found() -> Standings:
    worse = EQUAL | {"causallink": 0.2, "prism": 0.3}
    return standings(together(*played("lab/good", EQUAL), *played("lab/bad", worse, "two")))


def test_overall_is_the_plain_mean_of_the_families(found: Standings) -> None:
    for system in found.systems:
        scores = [cell.score.value for cell in system.cells.values()]
        assert system.overall.value == pytest.approx(sum(scores) / 6)
        assert system.overall.low < system.overall.value < system.overall.high
        halves = [cell.score.value - cell.score.low for cell in system.cells.values()]
        assert system.overall.value - system.overall.low == pytest.approx(math.hypot(*halves) / 6)


def test_rows_do_not_weigh_families() -> None:
    """A family with ten times the rows counts as much as the others."""
    few = played("lab/one", EQUAL, rows=20)
    many = [one for one in played("lab/one", EQUAL, rows=200) if one.family.name == "prism"]
    runs = [one for one in few if one.family.name != "prism"] + many
    system = standings(together(*runs)).systems[0]
    scores = [cell.score.value for cell in system.cells.values()]
    assert system.overall.value == pytest.approx(sum(scores) / 6)


def test_a_score_lies_between_floor_and_ceiling(found: Standings) -> None:
    for cell in found.systems[0].cells.values():
        parts = RELEASE.of(cell.family, "standard")
        floor = sum(part.floor.score for part in parts if part.floor) / len(parts)
        assert cell.floor == pytest.approx(floor)
        assert cell.score.value == pytest.approx(
            (cell.raw.value - cell.floor) / (cell.ceiling - cell.floor)
        )


def test_templates_of_a_family_are_pooled_by_hidden_system(found: Standings) -> None:
    cell = found.systems[0].cells["prism"]
    assert cell.instances == 6 * 60
    assert cell.clusters == 60
    assert cell.episodes == 6 * 60


def test_a_difference_is_said_only_where_it_is_shown(found: Standings) -> None:
    (pair,) = found.pairs
    assert (pair.first, pair.second) == ("lab/good", "lab/bad")
    assert pair.overall is not None
    assert pair.overall.shown
    shown = {family for family, gap in pair.families.items() if gap.shown}
    assert shown == {"causallink", "prism"}
    assert all(gap.p_holm >= gap.p for gap in pair.families.values())


def test_understood_and_efficiency(found: Standings) -> None:
    cell = found.systems[0].cells["causallink"]
    assert 0.6 < cell.understood.value < 0.9
    assert cell.right == round(cell.raw.value * cell.episodes)
    assert cell.efficiency == pytest.approx(0.5)


def test_a_missing_family_gives_no_overall_score() -> None:
    some = {family: 0.7 for family in RELEASE.families if family != "recite"}
    found = standings(together(*played("lab/one", some)))
    assert not found.systems[0].overall.known
    assert found.systems[0].missing == ("recite",)
    assert "5 of 6" in formatted(found, "text")
    assert "not run" in formatted(found, "markdown")


def test_other_logs_are_left_out_with_a_remark() -> None:
    other = run({"a": [1.0]}, "lab/one", "causallink/core")
    found = standings(together(*played("lab/one", EQUAL), other))
    assert found.systems[0].cells["causallink"].suites == (
        "causallink/advanced",
        "causallink/large",
    )
    assert any("left out" in remark for remark in found.remarks)


def test_without_a_release_the_suite_that_most_played_counts() -> None:
    runs = [run({f"i{n}": [1.0] for n in range(8)}, m, "causallink/large") for m in ("a/x", "a/y")]
    runs.append(run({"i": [1.0]}, "a/x", "causallink/advanced"))
    for one in runs:
        one.frame["lucky"] = 0.0
        one.frame["index"] = range(len(one.frame))
    found = standings(together(*runs))
    assert found.release == ""
    assert {cell.suites for s in found.systems for cell in s.cells.values()} == {
        ("causallink/large",)
    }


def test_every_format_names_every_system(found: Standings) -> None:
    for form in FORMATS:
        text = formatted(found, form)
        assert "lab/good" in text
        assert "lab/bad" in text
    rows = list(csv.DictReader(io.StringIO(formatted(found, "csv"))))
    assert len(rows) == 2 * 7
    assert float(rows[0]["score"]) == pytest.approx(found.systems[0].overall.value, abs=1e-5)
    data = json.loads(formatted(found, "json"))
    assert data["systems"][0]["overall"]["value"] == found.systems[0].overall.value
    assert data["systems"][0]["cells"]["recite"]["cost"] is None


def test_hostile_names_stay_text() -> None:
    runs = played("lab/<script>|_{}%$", EQUAL)
    text = standings(together(*runs))
    assert "<script>" not in formatted(text, "markdown")
    assert r"\_\{\}\%\$" in formatted(text, "latex")


def test_without_room_there_is_no_score() -> None:
    assert not Estimate(0.5, 0.4, 0.6).mapped(1.0, 1.0).known


def test_pooling_keeps_rows_apart() -> None:
    frame = pooled(played("lab/one", {"prism": 0.5}))
    assert not frame.duplicated(["instance", "epoch"]).any()
