"""ReCITE's section: figures equal what is computed by hand, published cells stay as printed."""

import csv
import math
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
import pytest
from inspect_ai import eval as inspect_eval

from whybench.families.recite import FAMILY
from whybench.families.recite.judging.correction import Corrected
from whybench.families.recite.judging.judged_report import JudgedTable
from whybench.families.recite.judging.marking import marked
from whybench.interfaces.inspectai.exam import recite_exam
from whybench.interfaces.inspectai.judged import judged_tables
from whybench.report.families.recite import section
from whybench.report.families.recite_judge import (
    exam_section,
    judge_section,
    judged_parts,
    judged_rows,
)
from whybench.report.families.recite_openness import explicitness_section
from whybench.report.families.recite_origin import date_section
from whybench.report.published import Published
from whybench.report.runs import ExamLog, Run, read_runs
from whybench.report.section import Figure, Part, Remark, Section, Table
from whybench.report.view import View
from whybench.stats.interval import Interval

TINY = {"nodes": 5, "length": 700, "field": "health"}
METRICS = [metric.name for metric in FAMILY.metrics if metric.role != "detail"]


def made_run(
    scores: Mapping[str, float], suite: str = "standard", model: str = "some/model", **columns: Any
) -> Run:
    """Return a run whose instances nobody can rebuild: their traits are given to `view`."""
    frame = pd.DataFrame({
        "instance": list(scores), "index": range(len(scores)), "cluster": list(scores), "epoch": 1,
        "outcome": "answered", **dict.fromkeys(METRICS, math.nan), "edge_f1": scores.values(),
        "labels": [{}] * len(scores), "input_tokens": math.nan, "output_tokens": math.nan,
        "reasoning_tokens": math.nan, "seconds": 1.0, "cost": math.nan,
    })  # fmt: skip
    return Run(
        log="a.eval", path="a.eval", model=model, family=FAMILY, suite=f"recite/{suite}",
        profile="certified", salt="public", knobs={}, version="1-0", task="recite", args={},
        passed={}, created="", frame=frame.assign(**columns), system=model,
    )  # fmt: skip


def view_of(*runs: Run, traits: pd.DataFrame | None = None, **options: Any) -> View:
    known = {} if traits is None else {run.setting: traits for run in runs}
    return View(FAMILY, runs, Published(), options=options, _traits=known)


def parts_of(found: Section) -> dict[str, Part]:
    return {part.id: part for part in found.walk() if not isinstance(part, Remark)}


def remarks_of(found: Section) -> str:
    return "\n".join(part.text for part in found.walk() if isinstance(part, Remark))


def printed(suite: str, metric: str) -> dict[str, str]:
    text = (files("whybench.report") / "figures_of_papers" / "recite.csv").read_text("utf-8")
    rows = csv.DictReader(text.splitlines())
    return {
        row["system"]: row["value"]
        for row in rows
        if (row["suite"], row["metric"]) == (suite, metric)
    }


NAMES = [f"d{k}" for k in range(16)]
SCORES = {name: (k * 7 % 16) / 16 for k, name in enumerate(NAMES)}
TRAITS = pd.DataFrame(
    {
        "characters": [1000 * (k + 1) for k in range(16)],
        "nodes": [5 + k for k in range(16)],
        "edges": [30 - k for k in range(16)],
        "density": [0.05 + 0.02 * k for k in range(16)],
        "cyclic": [k % 3 > 0 for k in range(16)],
        "lenient": [k / 15 for k in range(16)],
        "domain": ["Medicine" if k % 2 else "Education | Medicine" for k in range(16)],
        "date": [f"202{k % 4}-03-01" for k in range(16)],
    },
    index=NAMES,
)


@pytest.fixture(scope="module")
def whole() -> Section:
    run = made_run(
        SCORES, name_recall=0.5, edge_undirected_f1=0.4, edge_f1_answered=0.3,
        edge_recall_stated=0.75, reasoning_tokens=[100.0 * (k % 5 + k) for k in range(16)],
    )  # fmt: skip
    return section(view_of(run, traits=TRAITS, cutoffs={"model": "2021"}))


def mean_where(kept: "pd.Series[bool]") -> float:
    return fmean(SCORES[name] for name in TRAITS.index[kept])


def own(frame: pd.DataFrame, by: str) -> dict[str, float]:
    rows = frame[~frame["published"]]
    return dict(zip(rows[by], rows["value"], strict=True))


def test_every_part_has_an_id_words_and_rows(whole: Section) -> None:
    shown = [part for part in whole.walk() if not isinstance(part, Remark)]
    assert len({part.id for part in shown}) == len(shown)
    assert {child.id for child in whole.children} >= {"recite-explicitness", "recite-judge"}
    for part in shown:
        assert len(part.frame)
        assert part.title
        if isinstance(part, Figure):
            assert len(part.alt) > 40
            assert part.chart.to_dict()["layer"]


def test_density_and_cycles_are_parted_as_in_the_paper(whole: Section) -> None:
    parts = parts_of(whole)
    density, cycles = TRAITS["density"], TRAITS["cyclic"]
    assert own(parts["recite-density"].frame, "density") == pytest.approx({
        "sparse": mean_where(density < 0.15),
        "moderate": mean_where((density >= 0.15) & (density < 0.3)),
        "dense": mean_where(density >= 0.3),
    })  # fmt: skip
    assert own(parts["recite-cycles"].frame, "cycles") == pytest.approx(
        {"acyclic": mean_where(~cycles), "cyclic": mean_where(cycles)}
    )


@pytest.mark.parametrize(
    ("part", "by", "suites", "metric"),
    [
        ("recite-density", "density", ["sparse", "moderate", "dense"], "f1"),
        ("recite-cycles", "cycles", ["acyclic", "cyclic"], "f1"),
        ("recite-quartiles", "size", ["text", "edges", "nodes"], "performance_delta"),
    ],
)
def test_published_figures_are_those_of_the_file(
    whole: Section, part: str, by: str, suites: list[str], metric: str
) -> None:
    frame = parts_of(whole)[part].frame
    words = {"text": "length of the text", "edges": "arrows"}
    start = {"density": "by_density_", "cycles": "by_cyclicity_", "size": "by_quartile_"}[by]
    for suite in suites:
        there = frame[frame["published"] & (frame[by] == words.get(suite, suite))]
        expected = printed(start + suite, metric)
        assert len(expected) == 10
        assert dict(zip(there["system"], there["value"], strict=True)) == {
            f"{system} (published)": float(value) for system, value in expected.items()
        }


def test_quarters_and_their_gap_are_right(whole: Section) -> None:
    parts = parts_of(whole)
    ranked = sorted(NAMES, key=lambda name: TRAITS["nodes"][name])
    top, bottom = (fmean(SCORES[name] for name in part) for part in (ranked[12:], ranked[:4]))
    assert own(parts["recite-quartiles"].frame, "size")["nodes"] == pytest.approx(top - bottom)
    quarters = own(parts["recite-quarters"].frame, "quarter")
    assert quarters["largest quarter"] == pytest.approx(top)
    assert quarters["smallest quarter"] == pytest.approx(bottom)
    rows = parts["recite-correlations"].frame
    mine = rows[(rows["system"] == "some/model") & (rows["trait"] == "nodes")]["Pearson r"].item()
    expected = np.corrcoef(TRAITS["nodes"], list(SCORES.values()))[0, 1]
    assert mine == pytest.approx(expected)


def test_a_document_of_two_fields_counts_in_both(whole: Section) -> None:
    frame = parts_of(whole)["recite-fields"].frame.set_index("field")
    assert frame["documents"].to_dict() == {"Education": 8, "Medicine": 16}
    assert frame["value"]["Education"] == pytest.approx(fmean(SCORES[n] for n in NAMES[::2]))


def test_scores_are_parted_at_the_cut_off_that_the_user_gives(whole: Section) -> None:
    row = parts_of(whole)["recite-cutoff"].frame.iloc[0]
    before = [SCORES[name] for k, name in enumerate(NAMES) if k % 4 < 2]
    after = [SCORES[name] for k, name in enumerate(NAMES) if k % 4 > 1]
    assert (row["before"], row["after"]) == pytest.approx((fmean(before), fmean(after)))
    assert set(own(parts_of(whole)["recite-years"].frame, "year")) == {
        "2020", "2021", "2022", "2023",
    }  # fmt: skip
    without = date_section(view_of(made_run(SCORES), traits=TRAITS))
    assert "recite-cutoff" not in parts_of(without)
    assert "No cut-off was given for some/model" in remarks_of(without)


def test_length_of_reasoning_goes_with_the_score_as_numpy_says(whole: Section) -> None:
    row = parts_of(whole)["recite-reasoning-r"].frame.iloc[0]
    tokens = [100.0 * (k % 5 + k) for k in range(16)]
    assert row["Pearson r"] == pytest.approx(np.corrcoef(tokens, list(SCORES.values()))[0, 1])
    assert row["tokens of"] == "reasoning"
    assert len(own(parts_of(whole)["recite-tokens"].frame, "length")) == 4


def test_the_ladder_has_a_mean_for_each_level() -> None:
    traits = TRAITS.assign(level=[k % 4 + 1 for k in range(16)])
    runs = [made_run(SCORES, "made_ladder", model) for model in ("some/model", "whybench/exact")]
    frame = parts_of(explicitness_section(view_of(*runs, traits=traits)))["recite-ladder"].frame
    mine = frame[frame["system"] == "some/model"]
    assert dict(zip(mine["level"], mine["value"], strict=True)) == pytest.approx(
        {level: fmean(SCORES[n] for n in NAMES[level - 1 :: 4]) for level in (1, 2, 3, 4)}
    )
    assert "whybench/exact (reference agent)" in set(frame["system"])


def test_told_names_stand_beside_table_4_in_its_own_formula() -> None:
    run = made_run(SCORES, "name_assisted", legacy_f1=0.5)
    frame = parts_of(section(view_of(run)))["recite-told"].frame
    there = frame[frame["published"]]
    assert {
        f"{s} (published)": float(v) for s, v in printed("name_assisted", "f1").items()
    } == dict(zip(there["system"], there["value"], strict=True))
    assert own(frame, "system") == {"some/model": 0.5}


def test_nothing_is_drawn_empty_and_the_run_that_lacks_is_named() -> None:
    bare = section(view_of(made_run(SCORES)))
    assert set(parts_of(bare)) == {"recite-scores"}
    for text in ("-T suite=made_ladder", "-T profile=published", "recite_exam", "name_assisted"):
        assert text in remarks_of(bare)


def test_runs_without_any_score_do_not_break_it() -> None:
    lost = made_run(dict.fromkeys(NAMES, math.nan), outcome="context_exceeded")
    invalid = made_run(dict.fromkeys(NAMES, 0.0), outcome="invalid_answer")
    table = parts_of(section(view_of(lost, invalid, traits=TRAITS)))["recite-scores"]
    assert list(table.frame["too long for the model"]) == [16, 0]
    assert list(table.frame["without a valid graph"].fillna(-1)) == [-1, 1]
    assert list(table.frame["system"]) == ["some/model · run 1", "some/model · run 2"]
    assert section(view_of()).id == "recite"


# Judges, out of real logs.


@cache
def folder() -> TemporaryDirectory[str]:
    return TemporaryDirectory()


@pytest.fixture(scope="module")
def judged() -> Run:
    log = inspect_eval(
        "whybench/recite", model="whybench/oracle", limit=2, display="none", log_dir=folder().name,
        task_args={"judge": "whybench_judge/random", **TINY},
    )[0]  # fmt: skip
    assert log.status == "success", log.error
    return read_runs([Path(log.location.removeprefix("file://"))]).runs[0]


@pytest.fixture(scope="module")
def exams() -> tuple[ExamLog, ...]:
    log = inspect_eval(
        recite_exam(papers=2, **TINY), model="whybench_judge/random", display="none",
        log_dir=folder().name,
    )[0]  # fmt: skip
    assert log.status == "success", log.error
    return read_runs([Path(log.location.removeprefix("file://"))]).exams


def test_judge_scores_are_withheld_without_the_judge_s_exam(judged: Run) -> None:
    found = section(View(FAMILY, (judged,), Published()))
    assert "run `inspect eval whybench/recite_exam --model whybench_judge/random`" in remarks_of(
        found
    )
    raw = judged.frame["graph_judge.f1"].mean()
    for part in found.walk():
        assert isinstance(part, Remark) or not part.id.startswith("recite-judged")
        if isinstance(part, Figure | Table):
            numbers = part.frame.select_dtypes("number").to_numpy().ravel()
            assert not np.isclose(numbers[~pd.isna(numbers)], raw, atol=1e-9).any()


def test_judge_scores_are_those_that_the_exam_corrects(
    judged: Run, exams: tuple[ExamLog, ...]
) -> None:
    found = parts_of(judge_section(View(FAMILY, (judged,), Published(), exams)))
    table = next(part for name, part in found.items() if name.endswith("-table"))
    right = judged_tables(judged.path, [exam.path for exam in exams])[0].scores
    for row in table.frame.to_dict("records"):
        expected = right[row["score"]]
        assert row["as judged"] == pytest.approx(expected.judged.estimate)
        assert (row["low"], row["high"]) == pytest.approx((expected.low, expected.high))
        assert (row["corrected"] == "yes") == (expected.usable and not expected.beyond)
    marks = found["recite-exam-marks"].frame.set_index("labels")
    assert set(marks.index) >= {"all", "presence", "direction"}
    assert marks["kappa"]["all"] < 0.5


def test_corrected_scores_stand_beside_table_3() -> None:
    given = Interval(0.5, 0.7, 0.6, 12, 12, False)
    usable = Corrected(given, 0.4, 0.3, 0.5, 0.1, 0.8, 0.2, 20, True)
    blind = Corrected(given, math.nan, 0.0, 1.0, 0.1, 0.0, 0.2, 20, False)
    table = JudgedTable("a/judge", {"f1": usable, "node_recall": blind}, marked([]), True)
    rows = judged_rows("some/model", table)
    assert [row["corrected"] for row in rows] == ["yes", "cannot be"]
    figure, listed = judged_parts(view_of(), made_run(SCORES), "some/model", rows)
    assert isinstance(figure, Figure)
    assert isinstance(listed, Table)
    assert own(figure.frame, "score") == {"f1": 0.4}
    assert "its own answers" in figure.frame["system"][0]
    for score, metric in (("f1", "f1"), ("judged_edge_recall", "edge_recall")):
        there = figure.frame[figure.frame["published"] & (figure.frame["score"] == score)]
        assert dict(zip(there["system"], there["value"], strict=True)) == {
            f"{system} (published)": float(value)
            for system, value in printed("standard", metric).items()
        }


def test_two_exams_of_one_judge_are_refused(exams: tuple[ExamLog, ...]) -> None:
    found = exam_section(exams * 2)
    assert not parts_of(found)
    assert "two exams of whybench_judge/random" in remarks_of(found)
