"""ReCITE's section: figures equal what is computed by hand, published cells stay as printed."""

import csv
import math
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.report.soundness import sound

from whybench.families.recite import FAMILY
from whybench.families.recite.extras.analyses.compare import difference
from whybench.families.recite.extras.analyses.sizes import quartile_gap
from whybench.families.recite.extras.judge.exam_task import recite_exam
from whybench.families.recite.extras.judge.labels import LABELS
from whybench.families.recite.extras.report.judge import judged_rows, with_table_3
from whybench.families.recite.extras.report.rows import series
from whybench.families.recite.extras.report.section import section
from whybench.judge.correction import Corrected
from whybench.judge.judged_logs import judged_tables
from whybench.judge.judged_report import JudgedTable
from whybench.judge.marking import marked
from whybench.report.entries import Entry
from whybench.report.naming import displayed
from whybench.report.published.figures import Published
from whybench.report.runs import ExamLog, Run, read_runs
from whybench.report.section import Figure, Part, Remark, Section, Table
from whybench.report.view import Limits, View
from whybench.stats.association import pearson
from whybench.stats.interval import Interval

TINY = {"nodes": 5, "length": 700, "field": "health"}
COPY = "no such copy.jsonl"
"""Stands for the published texts: a file that is not there, so that nothing is ever fetched."""
METRICS = [metric.name for metric in FAMILY.metrics if metric.role != "detail"]


def made_run(
    scores: Mapping[str, float], suite: str = "standard", model: str = "some/model", **columns: Any
) -> Run:
    """Return a run whose instances nobody can rebuild: their covariates are given to `view`."""
    frame = pd.DataFrame({
        "instance": list(scores), "index": range(len(scores)), "cluster": list(scores), "epoch": 1,
        "outcome": "answered", **dict.fromkeys(METRICS, math.nan), "edge_f1": scores.values(),
        "labels": [{}] * len(scores), "input_tokens": math.nan, "output_tokens": math.nan,
        "reasoning_tokens": math.nan, "seconds": 1.0, "cost": math.nan,
    })  # fmt: skip
    return Run(
        log="a.eval", path="a.eval", model=model, family=FAMILY, suite=f"recite/{suite}",
        profile="certified", seed="public", parameters={}, version="1-0", task="recite", args={},
        passed={}, created="", frame=frame.assign(**columns), system=displayed(model),
    )  # fmt: skip


def on_published_texts(run: Run) -> Run:
    """Return the run as if it had read the published texts."""
    return replace(
        run, profile="published", parameters={"data": COPY}, args={"profile": "published"}
    )


def view_of(*runs: Run, covariates: pd.DataFrame | None = None, **options: Any) -> View:
    known = {} if covariates is None else {run.setting: covariates for run in runs}
    return View(FAMILY, runs, Published(), options=options, _covariates=known)


def parts_of(found: Section) -> dict[str, Part]:
    return {part.id: part for part in found.walk() if not isinstance(part, Remark)}


def remarks_of(found: Section) -> str:
    return "\n".join(part.text for part in found.walk() if isinstance(part, Remark))


def printed(suite: str, metric: str) -> dict[str, str]:
    text = (files("whybench.report.published") / "figures_of_papers" / "recite.csv").read_text(
        "utf-8"
    )
    rows = csv.DictReader(text.splitlines())
    return {
        row["system"]: row["value"]
        for row in rows
        if (row["suite"], row["metric"]) == (suite, metric)
    }


NAMES = [f"d{k}" for k in range(16)]
SCORES = {name: (k * 7 % 16) / 16 for k, name in enumerate(NAMES)}
COVARIATES = pd.DataFrame(
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


def full_run() -> Run:
    return made_run(
        SCORES, name_recall=0.5, edge_undirected_f1=0.4, edge_f1_answered=0.3,
        edge_recall_stated=0.75, reasoning_tokens=[100.0 * (k % 5 + k) for k in range(16)],
    )  # fmt: skip


@pytest.fixture(scope="module")
def whole() -> Section:
    run = on_published_texts(full_run())
    return section(view_of(run, covariates=COVARIATES, cutoffs={"model": "2021"}))


def mean_where(kept: "pd.Series[bool]") -> float:
    return fmean(SCORES[name] for name in COVARIATES.index[kept])


def own(frame: pd.DataFrame, by: str) -> dict[str, float]:
    rows = frame[~frame["published"]]
    return dict(zip(rows[by], rows["value"], strict=True))


def test_every_part_has_an_id_words_and_rows(whole: Section) -> None:
    sound(whole)
    assert {child.id for child in whole.children} >= {"recite-explicitness", "recite-judge"}


def test_density_and_cycles_are_parted_as_in_the_paper(whole: Section) -> None:
    parts = parts_of(whole)
    density, cycles = COVARIATES["density"], COVARIATES["cyclic"]
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
    words = {"text": "length of the text", "edges": "edges"}
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
    ranked = sorted(NAMES, key=lambda name: COVARIATES["nodes"][name])
    top, bottom = (fmean(SCORES[name] for name in part) for part in (ranked[12:], ranked[:4]))
    assert own(parts["recite-quartiles"].frame, "size")["nodes"] == pytest.approx(top - bottom)
    quarters = own(parts["recite-quarters"].frame, "quarter")
    assert quarters["largest quarter"] == pytest.approx(top)
    assert quarters["smallest quarter"] == pytest.approx(bottom)
    rows = parts["recite-correlations"].frame
    mine = rows[(rows["system"] == "some/model") & (rows["covariate"] == "nodes")][
        "Pearson r"
    ].item()
    expected = np.corrcoef(COVARIATES["nodes"], list(SCORES.values()))[0, 1]
    assert mine == pytest.approx(expected)


@pytest.mark.slow
def test_published_figures_stand_only_beside_runs_on_the_published_texts() -> None:
    """Neither made documents, nor the profile without its texts, nor a choice of them will do."""
    run = full_run()
    hub = on_published_texts(run)
    for other in (
        run,
        replace(run, profile="published"),
        replace(hub, parameters={"data": COPY, "filter": "nodes=5..30"}),
        replace(hub, parameters={"data": COPY, "names": "no longer known"}),
        replace(run, suite="recite/ladder"),
    ):
        found = section(view_of(other, covariates=COVARIATES))
        for part in found.walk():
            if not isinstance(part, Remark):
                assert "published)" not in part.frame.to_string(), part.id
                assert not part.frame.get("published", pd.Series([False])).any(), part.id
                assert "open markers" not in part.note
        for tables in ("Tables 5 and 13", "Tables 14 and 15"):
            assert f"Left out: {tables} of the paper" in remarks_of(found)
        assert "-T suite=standard -T profile=published -T data=hub" in remarks_of(found)
    both = section(view_of(run, hub, covariates=COVARIATES))
    assert "Left out: Table" not in remarks_of(both)
    assert parts_of(both)["recite-density"].frame["published"].sum() == 30


def ladder(graphs: int, levels: int = 5, epochs: int = 2) -> tuple[Run, pd.DataFrame]:
    """Return a run in which each graph is told at every level, and its documents' covariates."""
    names = [f"g{g}l{level}" for g in range(graphs) for level in range(levels)]
    at = {name: divmod(k, levels) for k, name in enumerate(names)}
    scores = {name: (g * 5 % 11) / 11 + level / 100 for name, (g, level) in at.items()}
    run = made_run(scores, "ladder", cluster=[f"g{at[name][0]}" for name in names])
    frame = run.frame.assign(
        reasoning_tokens=[100.0 + 7 * g * g + level for g, level in at.values()]
    )
    # The last graph's documents have one epoch only.
    again = frame[frame["cluster"] != f"g{graphs - 1}"].assign(epoch=2)
    frame = pd.concat([frame, *([again] * (epochs - 1))], ignore_index=True)
    covariates = pd.DataFrame(
        {
            "characters": [900 + 100 * g + level for g, level in at.values()],
            "nodes": [5 + g for g, _ in at.values()],
            "edges": [6 + 2 * g for g, _ in at.values()],
            "density": [0.1 + 0.01 * g for g, _ in at.values()],
            "date": [f"20{15 + g}-01-0{level + 1}" for g, level in at.values()],
        },
        index=names,
    )
    return replace(run, frame=frame), covariates


def test_documents_on_one_graph_are_one_case() -> None:
    """Bounds and p-values are those of as many scores as there are graphs."""
    run, covariates = ladder(12)
    found = parts_of(section(view_of(run, covariates=covariates, cutoffs={"model": "2020"})))
    score = [fmean((g * 5 % 11) / 11 + level / 100 for level in range(5)) for g in range(12)]
    scores = {f"g{g}": value for g, value in enumerate(score)}
    gap = quartile_gap(scores, {f"g{g}": 5 + g for g in range(12)}, "", 2000).found
    row = found["recite-quartiles"].frame.set_index("size").loc["nodes"]
    assert (row["documents"], row["graphs"], gap.n) == (30, 6, (3, 3))
    assert tuple(row[["value", "low", "high", "permutation p"]]) == pytest.approx(
        (gap.estimate, gap.low, gap.high, gap.permutation_p)
    )
    related = found["recite-correlations"].frame.set_index("covariate").loc["nodes"]
    right = pearson(range(12), score)
    assert (related["documents"], related["graphs"]) == (60, 12)
    assert related["Pearson r"] == pytest.approx(right.value)
    assert related["p (Holm)"] >= right.p
    cut = found["recite-cutoff"].frame.iloc[0]
    sides = difference(score[6:], score[:6], 2000)
    assert (cut["documents"], cut["graphs before"], cut["graphs after"]) == (60, 6, 6)
    assert tuple(cut[["low", "high", "Welch p", "permutation p"]]) == pytest.approx(
        (sides.low, sides.high, sides.welch_p, sides.permutation_p)
    )
    tokens = found["recite-reasoning-r"].frame.iloc[0]
    longer = pearson([102.0 + 7 * g * g for g in range(12)], score)
    assert (tokens["documents"], tokens["graphs"]) == (60, 12)
    assert (tokens["Pearson r"], tokens["p"]) == pytest.approx((longer.value, longer.p))


@pytest.mark.parametrize(("graphs", "shown"), [(3, False), (5, False), (6, True)])
def test_few_graphs_get_no_p_value_however_many_documents(graphs: int, shown: bool) -> None:
    run, covariates = ladder(graphs)
    found = section(view_of(run, covariates=covariates, cutoffs={"model": "2016"}))
    parts = parts_of(found)
    for name in ("recite-correlations", "recite-cutoff", "recite-reasoning-r"):
        frame = parts[name].frame
        columns = [c for c in frame if c == "p" or c.startswith("p ") or c.endswith(" p")]
        assert columns
        assert frame[columns].notna().all(axis=None) == shown, name
        assert frame[columns].notna().any(axis=None) == shown, name
    assert "recite-quartiles" not in parts
    assert "at least 8 graphs" in remarks_of(found)


def test_graphs_of_one_size_stay_in_one_quarter_and_the_gap_is_between_those_shown() -> None:
    sizes = [5, 5, 5, 5, 5, 5, 7, 8, 9, 12, 12, 12, 12, 12, 12, 12]
    covariates = COVARIATES.assign(nodes=sizes)
    found = parts_of(section(view_of(made_run(SCORES), covariates=covariates)))
    means = found["recite-quarters"].frame.set_index("quarter")
    assert means["graphs"].to_dict() == {
        "smallest quarter": 6, "second": 2, "third": 1, "largest quarter": 7,
    }  # fmt: skip
    gap = own(found["recite-quartiles"].frame, "size")["nodes"]
    value = means["value"]
    assert gap == pytest.approx(value["largest quarter"] - value["smallest quarter"])
    assert value["smallest quarter"] == pytest.approx(fmean(SCORES[n] for n in NAMES[:6]))


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
    without = section(view_of(made_run(SCORES), covariates=COVARIATES))
    assert "recite-cutoff" not in parts_of(without)
    assert "No cut-off was given for some/model" in remarks_of(without)


def test_length_of_reasoning_goes_with_the_score_as_numpy_says(whole: Section) -> None:
    row = parts_of(whole)["recite-reasoning-r"].frame.iloc[0]
    tokens = [100.0 * (k % 5 + k) for k in range(16)]
    assert row["Pearson r"] == pytest.approx(np.corrcoef(tokens, list(SCORES.values()))[0, 1])
    assert row["tokens of"] == "reasoning"
    assert len(own(parts_of(whole)["recite-tokens"].frame, "length")) == 4


def test_the_ladder_has_a_mean_for_each_level() -> None:
    covariates = COVARIATES.assign(level=[k % 4 + 1 for k in range(16)])
    runs = [made_run(SCORES, "ladder", model) for model in ("some/model", "whybench/exact")]
    frame = parts_of(section(view_of(*runs, covariates=covariates)))["recite-ladder"].frame
    mine = frame[frame["system"] == "some/model"]
    assert dict(zip(mine["level"], mine["value"], strict=True)) == pytest.approx(
        {level: fmean(SCORES[n] for n in NAMES[level - 1 :: 4]) for level in (1, 2, 3, 4)}
    )
    assert "exact (reference agent)" in set(frame["system"])


def test_made_documents_are_never_called_published_texts() -> None:
    made = replace(made_run(SCORES, "short", "a/b"), profile="published")
    theirs = on_published_texts(made_run(SCORES, "standard", "a/b"))
    assert [entry.system for entry in series([made, theirs])] == [
        "a/b · short, profile published",
        "a/b · standard, published texts",
    ]


def test_told_names_stand_beside_table_4_in_its_own_formula() -> None:
    made = made_run(SCORES, "name_assisted", legacy_f1=0.5)
    apart = section(view_of(made))
    assert not parts_of(apart)["recite-told"].frame["published"].any()
    assert "-T suite=name_assisted -T profile=published -T data=hub" in remarks_of(apart)
    frame = parts_of(section(view_of(on_published_texts(made))))["recite-told"].frame
    there = frame[frame["published"]]
    assert {
        f"{s} (published)": float(v) for s, v in printed("name_assisted", "f1").items()
    } == dict(zip(there["system"], there["value"], strict=True))
    assert own(frame, "system") == {"some/model": 0.5}


def test_nothing_is_drawn_empty_and_the_run_that_lacks_is_named() -> None:
    bare = section(view_of(made_run(SCORES)))
    assert set(parts_of(bare)) == {"recite-scores"}
    for text in ("-T suite=ladder", "-T profile=published", "recite_exam", "name_assisted"):
        assert text in remarks_of(bare)


def test_runs_without_any_score_do_not_break_it() -> None:
    lost = made_run(dict.fromkeys(NAMES, math.nan), outcome="context_exceeded")
    invalid = made_run(dict.fromkeys(NAMES, 0.0), outcome="invalid_answer")
    table = parts_of(section(view_of(lost, invalid, covariates=COVARIATES)))["recite-scores"]
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
    from inspect_ai import eval as inspect_eval

    log = inspect_eval(
        "whybench/recite", model="whybench/oracle", limit=2, display="none", log_dir=folder().name,
        task_args={"judge": "whybench_judge/random", **TINY},
    )[0]  # fmt: skip
    assert log.status == "success", log.error
    return read_runs([Path(log.location.removeprefix("file://"))]).runs[0]


@pytest.fixture(scope="module")
def exams() -> tuple[ExamLog, ...]:
    from inspect_ai import eval as inspect_eval

    log = inspect_eval(
        recite_exam(papers=2, **TINY), model="whybench_judge/random", display="none",
        log_dir=folder().name,
    )[0]  # fmt: skip
    assert log.status == "success", log.error
    return read_runs([Path(log.location.removeprefix("file://"))]).exams


@pytest.mark.slow
def test_floor_and_ceiling_say_on_how_many_instances_they_rest(judged: Run) -> None:
    view = View(FAMILY, (judged,), Published(), limits=Limits(certified=1))
    (told,) = parts_of(section(view))["recite-scores"].frame["basis of floor and ceiling"]
    assert "certificates of 1 of 2 instances" in told
    unknown = parts_of(section(view_of(made_run(SCORES))))["recite-scores"].frame
    assert unknown["basis of floor and ceiling"].str.startswith("not known").all()


def test_judge_scores_are_withheld_without_the_judge_s_exam(judged: Run) -> None:
    found = section(View(FAMILY, (judged,), Published()))
    assert "Run `inspect eval whybench/recite_exam --model whybench_judge/random`" in remarks_of(
        found
    )
    raw = judged.frame["graph_judge.f1"].mean()
    for part in found.walk():
        assert isinstance(part, Remark) or not part.id.startswith("recite-judged")
        if isinstance(part, Figure | Table):
            numbers = part.frame.select_dtypes("number").to_numpy().ravel()
            assert not np.isclose(numbers[~pd.isna(numbers)], raw, atol=1e-9).any()


@pytest.mark.slow
def test_judge_scores_are_those_that_the_exam_corrects(
    judged: Run, exams: tuple[ExamLog, ...]
) -> None:
    found = parts_of(section(View(FAMILY, (judged,), Published(), exams)))
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
    table = JudgedTable("a/judge", {"f1": usable, "node_recall": blind}, marked([], LABELS), True)
    rows = judged_rows("some/model", table)
    assert [row["corrected"] for row in rows] == ["yes", "not possible"]
    run = made_run(SCORES)
    alone = with_table_3(view_of(), Entry(run, "some/model"), rows)
    assert not alone.frame["published"].any()
    figure = with_table_3(view_of(), Entry(on_published_texts(run), "some/model"), rows)
    assert own(figure.frame, "score") == {"f1": 0.4}
    assert "its own answers" in figure.frame["system"][0]
    for score, metric in (("f1", "f1"), ("judged_edge_recall", "edge_recall")):
        there = figure.frame[figure.frame["published"] & (figure.frame["score"] == score)]
        assert dict(zip(there["system"], there["value"], strict=True)) == {
            f"{system} (published)": float(value)
            for system, value in printed("standard", metric).items()
        }


def test_two_exams_of_one_judge_are_refused(exams: tuple[ExamLog, ...]) -> None:
    found = section(View(FAMILY, (), Published(), exams * 2))
    assert not parts_of(found)
    assert "two exams of whybench_judge/random" in remarks_of(found)
