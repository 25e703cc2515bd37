"""CausaLab's section: figures as counted by hand, published cells as printed, none empty."""

import math
import re
from pathlib import Path

import pandas as pd
import pytest
from inspect_ai import eval as evaluate
from tests.report.soundness import child, ids, sound

from whybench.episode.registry import families
from whybench.families.causalab.extras.report.commitment import moments
from whybench.families.causalab.extras.report.plane import COLUMNS, CONTROLS
from whybench.families.causalab.extras.report.rows import entries
from whybench.families.causalab.extras.report.section import section
from whybench.families.causalab.extras.report.sizes import strength
from whybench.report.entries import Entry
from whybench.report.naming import displayed
from whybench.report.published.figures import Published
from whybench.report.runs import Run, read_runs
from whybench.report.section import Figure, Remark, Table
from whybench.report.view import View

FAMILY = families()["causalab"]
METRICS = [metric.name for metric in FAMILY.metrics if metric.role != "detail"]


def row(index: int, right: float = 1, f1: float = 1.0, **more) -> dict:
    """Return a row of a frame as a log gives it: a good episode, but for what is told."""
    graph = f1 == 1.0
    base = dict.fromkeys(METRICS, 0.0) | {
        "instance": f"i{index}",
        "index": index,
        "cluster": f"c{index}",
        "epoch": 1,
        "outcome": "answered",
        "accuracy": float(right),
        "edge_f1": f1,
        "shd": 0.0 if graph else 2.0,
        "interventions": 4.0,
        "unused_budget": 0.5,
        "stopped_late": 1.0,
        "without_mechanism": float(right and not graph),
        "labels": {"regime": "", "trajectory": []},
    }
    return base | more


def run(suite: str, rows: list[dict], model: str = "lab/one", **more) -> Run:
    args = {"suite": suite, "evidence": more.pop("evidence", "own")} | more.pop("args", {})
    return Run(
        log=f"{suite}.eval",
        path=f"{suite}-{model}.eval",
        model=model,
        family=FAMILY,
        suite=f"causalab/{suite}",
        profile=more.pop("profile", "published"),
        seed=more.pop("seed", "public"),
        parameters=more.pop("parameters", {}),
        version="1-0",
        task="causalab",
        args=args,
        passed=args,
        created="2026-01-01",
        frame=pd.DataFrame(rows),
        system=more.pop("system", displayed(model)),
    )


def view(*runs: Run) -> View:
    return View(FAMILY, runs, Published())


def walked(runs: tuple[Run, ...], of: str) -> list[Figure | Table | Remark]:
    found = section(view(*runs))
    return list((child(found, of) if of else found).walk())


def parts(*runs: Run) -> dict[str, Figure | Table]:
    return {part.id: part for part in walked(runs, "") if not isinstance(part, Remark)}


def remarks(*runs: Run, of: str = "") -> list[Remark]:
    return [part for part in walked(runs, of) if isinstance(part, Remark)]


def mixed() -> list[dict]:
    """Ten episodes: 4 right in both, 3 without the mechanism, 2 wrong, 1 without an answer."""
    return [
        *(row(i) for i in range(4)),
        row(4, f1=0.5, graph_bad_inference=1.0),
        row(5, f1=0.5, graph_bad_experiments=1.0, stopped_early=1.0, stopped_late=math.nan),
        row(6, f1=0.5, graph_bad_experiments=1.0, stopped_early=1.0, stopped_late=math.nan),
        row(7, 0, 0.5, bad_inference=1.0, graph_bad_inference=1.0),
        row(8, 0, bad_experiments=1.0, unused_budget=0.25),
        row(9, 0, 0.0, outcome="unfinished", stopped_late=math.nan, unfinished=1.0),
    ]


EVERYTHING = (
    run("main_4", mixed()),
    run("main_5", mixed()),
    run("quad_hard", mixed()[3:]),
    run("golden_4", mixed()[:6]),
    run("main_4", mixed()[:5], "whybench/exact"),
    run("main_4", mixed()[:5], evidence="optimal", system="lab/one · evidence=optimal"),
    run("main_4", mixed(), parameters={"verify": True}, system="lab/one · verify=True"),
    run("main_4", mixed(), parameters={"regime": "3o6i"}, system="lab/one · regime=3o6i"),
)


def test_every_part_has_a_name_of_its_own_words_and_rows() -> None:
    whole = section(view(*EVERYTHING))
    sound(whole)
    assert len(ids(whole)) > 15


def test_the_four_ends_are_counted_as_by_hand() -> None:
    frame = parts(run("main_4", mixed()))["causalab-understanding"].frame
    assert dict(zip(frame["kind"], frame["episodes"], strict=True)) == {
        "both right": 4,
        "right graph, wrong frequency": 1,
        "right frequency, wrong graph": 3,
        "both wrong": 1,
        "no prediction": 1,
    }
    assert frame["share"].sum() == pytest.approx(1)


def test_failures_are_laid_to_experiments_and_inference() -> None:
    found = parts(run("main_4", mixed()))
    frequency, graph = (
        found[f"causalab-failures-{what}"].frame.set_index("kind")["episodes"].to_dict()
        for what in ("frequency", "graph")
    )
    assert frequency == {
        "right": 7, "bad experiments": 1, "bad inference": 1, "beyond the dial": 0,
        "no prediction": 1,
    }  # fmt: skip
    assert graph == {"right": 5, "bad experiments": 2, "bad inference": 2, "no prediction": 1}


def test_prediction_without_understanding_is_called_out_by_name() -> None:
    texts = [
        r.text
        for r in remarks(run("main_4", mixed()), of="causalab-understanding")
        if r.tone == "warning"
    ]
    (text,) = texts
    assert text == (
        "lab/one predicts without understanding: 3 of its 7 right frequencies came with a wrong "
        "graph. In 1 of these, the data forced the graph. "
        "Suites with the most such cases: main_4 3 of 7."
    )
    good = run("main_4", mixed()[:5])
    assert not any("predicts without" in r.text for r in remarks(good, of="causalab-understanding"))


def test_reference_agents_are_marked_and_never_called_out_as_models() -> None:
    hollow = run("main_4", mixed(), "whybench/regression")
    frame = parts(hollow)["causalab-understanding"].frame
    assert set(frame["origin"]) == {"reference agent"}
    assert set(frame["run"]) == {"regression (reference agent) · main_4"}
    assert all(remark.tone == "plain" for remark in remarks(hollow, of="causalab-understanding"))


def test_a_control_arrow_joins_base_and_control_and_the_published_pair() -> None:
    found = parts(run("main_4", mixed()), run("quad_hard", mixed()[3:]))
    frame = found["causalab-control-quadratic"].frame
    own = frame[~frame["published"]]
    assert list(own["suite"]) == ["main_4", "quad_hard"]
    assert list(own["accuracy"]) == pytest.approx([0.7, 4 / 7])
    assert list(own["edge_f1"]) == pytest.approx([7 / 10, (1 + 0.5 * 4 + 1) / 7])
    known = frame[frame["published"]].set_index("suite")
    for suite, condition in (("main_4", ""), ("quad_hard", "")):
        for metric in ("accuracy", "edge_f1"):
            (cell,) = Published().cells(
                "causalab", suite=suite, condition=condition, metric=metric, system="GPT-5-mini"
            )
            assert known.loc[suite, metric] == pytest.approx(cell.share)
            assert known.loc[suite, f"{metric} printed"].startswith(cell.printed)
    table = found["causalab-controls"].frame.set_index(["control", "metric"])
    assert table.loc[("quad_hard", "accuracy"), "n"] == 7
    assert table.loc[("quad_hard", "accuracy"), "difference"] == pytest.approx(0)


def test_a_control_needs_its_base_of_the_same_system_and_setting() -> None:
    for base in (
        run("main_4", mixed(), "lab/two"),
        run("main_4", mixed(), profile="certified"),
        run("main_4", mixed(), parameters={"signs": "mixed"}),
        run("main_6", mixed()),
    ):
        assert "causalab-control-quadratic" not in parts(run("quad_hard", mixed()), base)


def test_every_control_suite_exists_and_has_published_figures() -> None:
    for control in CONTROLS:
        for suite in control.to:
            assert suite in FAMILY.suites
            assert control.base(suite) in FAMILY.suites
            assert Published().beside(f"causalab/{suite}", {"profile": "published"}, "accuracy")


def test_regimes_are_taken_from_labels_and_from_the_parameter() -> None:
    def labelled(index: int, regime: str, right: float) -> dict:
        return row(index, right, labels={"regime": regime, "trajectory": []})

    rows = [labelled(0, "3o0i", 1), labelled(1, "3o0i", 0), labelled(2, "3o12i", 1)]
    parameter = run(
        "main_4", mixed(), parameters={"regime": "0o6i"}, system="lab/one · regime=0o6i"
    )
    frame = parts(run("scaling_4", rows), parameter)["causalab-frontier-4"].frame
    own = frame[~frame["published"]].set_index("regime")
    assert own["accuracy"].to_dict() == pytest.approx({"3o0i": 0.5, "3o12i": 1.0, "0o6i": 0.7})
    assert own["evidence"].to_dict() == {
        "3o0i": "records only", "3o12i": "both", "0o6i": "interventions only",
    }  # fmt: skip
    assert set(own["system"]) == {"lab/one"}
    known = frame[frame["published"]]
    assert len(known) == 12 + 9
    for each in known.to_dict("records"):
        system = each["system"].removesuffix(" (published)")
        cells = Published().cells(
            "causalab", suite="scaling_4node", condition=each["regime"], system=system,
            metric="edge_f1",
        )  # fmt: skip
        assert each["edge_f1 printed"] in {cell.printed for cell in cells}


def test_one_run_on_scaling_gives_all_columns_of_tables_9_to_12() -> None:
    rows = [
        row(index, float(index % 2), labels={"regime": regime, "trajectory": []})
        for index, regime in enumerate(["3o0i", "3o0i", "3o12i"])
    ]
    frame = parts(run("scaling_4", rows))["causalab-regimes-4"].frame
    mine = frame[frame["system"] == "lab/one"].set_index("regime")
    assert mine["n"].to_dict() == {"3o0i": 2, "3o12i": 1}
    assert mine.loc["3o0i", "accuracy"].startswith("0.500")
    known = frame[frame["origin"].str.startswith("published")]
    cells = [c for t in ("9", "11") for c in Published().cells("causalab", table=t)]
    assert {cell.metric for cell in cells} == {*COLUMNS} <= {*frame.columns}
    for cell in (cell for cell in cells if not cell.repeat):
        at = (known["regime"] == cell.condition) & (known["system"] == f"{cell.system} (published)")
        (shown,) = known[at][cell.metric]
        assert shown == (f"{cell.printed} %" if cell.unit == "percent" else cell.printed)


def test_the_main_table_shows_published_cells_as_printed() -> None:
    frame = parts(run("main_4", mixed()))["causalab-main"].frame
    known = frame[frame["origin"].str.startswith("published")]
    assert len(known) == 5 * 4
    for cell in Published().cells("causalab", table="7"):
        (shown,) = known[
            (known["suite"] == cell.suite) & (known["system"] == f"{cell.system} (published)")
        ][cell.metric]
        assert shown == (f"{cell.printed} %" if cell.unit == "percent" else cell.printed)
    (own,) = frame[frame["system"] == "lab/one"]["accuracy"]
    assert own.startswith("0.700 [")


def test_only_runs_that_match_have_published_figures_beside_them() -> None:
    usual = run("main_4", mixed(), args={"protocol": "tools"})
    checked = run("main_4", mixed(), parameters={"verify": True})
    beside = parts(usual)["causalab-size-accuracy"]
    assert beside.frame["published"].any()
    assert "Unlike the paper's runs: lab/one in protocol." in beside.note
    alone = parts(checked)["causalab-size-accuracy"]
    assert not alone.frame["published"].any()
    assert "lab/one in verify." in alone.note
    assert "Published" not in alone.alt
    same = parts(run("main_4", mixed()))["causalab-size-accuracy"]
    assert "Unlike" not in same.note
    other = parts(run("main_4", mixed(), profile="certified"))["causalab-size-accuracy"]
    assert not other.frame["published"].any()  # other laws than the paper's


def test_alternative_texts_tell_the_range_of_what_is_published() -> None:
    found = parts(run("main_4", mixed()), run("main_4", mixed(), parameters={"regime": "3o6i"}))
    drawn = found["causalab-size-accuracy"]
    theirs = drawn.frame[drawn.frame["published"]]["accuracy"]
    assert f"Published: {theirs.min():.2f} to {theirs.max():.2f} (4 systems)" in drawn.alt
    plane = found["causalab-frontier-4"]
    theirs = plane.frame[plane.frame["published"]]["edge_f1"]
    assert f"edge F1 {theirs.min():.2f} to {theirs.max():.2f} (2 systems)" in plane.alt


def test_private_seeds_are_never_shown() -> None:
    both = run("main_4", mixed()), run("main_4", mixed(), seed="hush-7")
    names = [entry.system for entry in entries(view(*both))]
    assert names[0] == "lab/one · seed public"
    assert re.fullmatch("lab/one · seed private-[0-9a-f]{6}", names[1])
    shown = repr([(part, getattr(part, "frame", "")) for part in section(view(*both)).walk()])
    assert "hush-7" not in shown


def test_a_suite_without_a_score_does_not_weaken_a_system() -> None:
    good = run("main_4", [row(0), row(1)], "lab/good")
    unknown = run("main_5", [row(0, math.nan)], "lab/good")
    weak = run("main_4", [row(0), row(1, 0)], "lab/weak")
    weaker = run("main_5", [row(0), row(1)], "lab/weak")
    found = [Entry(each, each.model) for each in (good, unknown, weak, weaker)]
    assert strength({"main_4": found[0], "main_5": found[1]}) == 1
    assert strength({"main_4": found[2], "main_5": found[3]}) == 0.75
    assert strength({"main_5": found[1]}) == 0


def test_the_gap_of_two_systems_is_paired_on_shared_instances() -> None:
    frame = parts(run("main_4", mixed()), run("main_4", mixed()[5:8], "lab/two"))
    gap = frame["causalab-gap-1"].frame.set_index("metric")
    assert (gap["n"] == 3).all()
    assert (gap["gap"] == 0).all()
    known = frame["causalab-gap-published"].frame.set_index(["nodes", "metric"])
    cell = known.loc[("7", "accuracy")]
    assert cell["first"] == "GPT-5.2-high (published)"
    first, second = (float(cell[f"{one} printed"].rstrip(" %")) for one in ("first", "second"))
    assert cell["gap"] == pytest.approx((first - second) / 100)


def test_evidence_is_compared_within_one_system_only() -> None:
    own = run("main_4", mixed())
    given = run("main_4", [row(i) for i in (3, 7)], evidence="optimal")
    frame = parts(own, given)["causalab-evidence"].frame
    scores = frame.set_index(["row", "evidence"])
    assert set(scores["n"]) == {2}, "only instances that were played with both"
    assert scores.loc[("lab/one · main_4: accuracy", "own"), "score"] == 0.5
    assert scores.loc[("lab/one · main_4: accuracy", "optimal"), "score"] == 1
    other = run("main_4", mixed()[:5], "lab/two", evidence="optimal")
    assert "causalab-evidence" not in parts(own, other)


def test_early_commitment_is_counted_in_interventions() -> None:
    def held(index: int, steps: list[tuple[int, str]], **more) -> dict:
        trajectory = [{"after": after, "edges": edges} for after, edges in steps]
        return row(index, labels={"regime": "", "trajectory": trajectory}, **more)

    rows = [
        held(0, [(0, "a>b"), (4, "a>b")]),  # held from the start, sufficed after 3
        held(1, [(0, "b>a"), (3, "a>b"), (4, "a>b")]),  # held since it sufficed
        held(2, [(4, "b>a")], f1=0.5, stopped_early=1.0, stopped_late=math.nan),
        held(3, [(4, "b>a")], f1=0.5),
        row(4, 0, 0.0, outcome="unfinished"),
        held(5, [(4, "a>b")], stopped_late=math.nan),  # all that can be decided was
    ]
    one = run("main_4", rows)
    found = moments(entries(view(one))[0])
    assert list(found["held"]) == [0, 3, 4, 4, 4]
    assert list(found["sufficed"].fillna(-1)) == [3, 3, -1, 3, -1]
    drawn = parts(one)
    counts = drawn["causalab-held"].frame.set_index("kind")["episodes"].to_dict()
    assert counts == {
        "after it, and right": 1, "after it, and wrong": 1,
        "before it, and right": 1, "before it, and wrong": 1,
    }  # fmt: skip
    stops = drawn["causalab-stops"].frame.set_index("kind")["episodes"].to_dict()
    assert stops == {
        "at the right moment": 1, "after more experiments": 3,
        "too early, graph right": 0, "too early, graph wrong": 1,
    }  # fmt: skip


def test_unspent_budget_is_shown_apart_for_right_and_wrong() -> None:
    frame = parts(run("main_4", mixed()))["causalab-unused"].frame.set_index("episodes")
    assert frame["unused_budget"].to_dict() == pytest.approx(
        {"right frequency": 0.5, "wrong frequency": 0.375}
    )
    assert frame["n"].to_dict() == {"right frequency": 7, "wrong frequency": 2}


def test_one_explicit_check_is_compared_with_none() -> None:
    checked = run(
        "main_4",
        [row(i, instance=f"v{i}") for i in range(10)],
        parameters={"verify": True},
        system="lab/one · verify=True",
    )
    frame = parts(run("main_4", mixed()), checked)["causalab-verify"].frame
    assert frame["difference"][0] == pytest.approx(0.3)
    assert frame["n"][0] == 10


@pytest.mark.wire
def test_a_real_log_gives_figures_and_early_commitment(tmp_path: Path) -> None:

    evaluated = {"display": "none", "log_dir": str(tmp_path), "log_realtime": False, "limit": 2}
    evaluate("whybench/causalab", "whybench/exact", task_args={"suite": "main_3"}, **evaluated)
    (real,) = read_runs([tmp_path]).runs
    frame = parts(real)["causalab-moments"].frame
    assert frame["n"][0] == 2
    assert frame["interventions made"][0] == frame["final graph held since"][0]
    assert frame["interventions made"][0] == frame["after interventions"][0]
    assert frame["stopped early"][0] == 0


def test_without_runs_no_figure_is_drawn_and_commands_are_told() -> None:
    assert parts() == {}
    said = [remark.text for remark in remarks()]
    assert all("inspect eval whybench/causalab -T suite=" in text for text in said)
    assert len(said) >= 8
    for text in said:
        suite = re.search(r"-T suite=(\w+)", text)
        assert suite is not None
        assert suite[1] in FAMILY.suites


def test_a_run_without_a_score_is_named_and_drawn_nowhere() -> None:
    dead = row(0, outcome="unscored", labels=None) | dict.fromkeys(METRICS, math.nan)
    invalid = run("main_4", [dead, dead | {"instance": "i1", "index": 1}])
    assert [r.text for r in remarks(invalid) if r.tone == "warning"] == [
        "lab/one · main_4: none of its 2 episodes was scored, so no figure shows it."
    ]
    assert not any(isinstance(part, Figure) for part in parts(invalid).values())
    both = parts(invalid, run("main_4", mixed(), "lab/two"))
    assert set(both["causalab-understanding"].frame["run"]) == {"lab/two · main_4"}


def test_episodes_that_all_ended_invalid_do_not_break_it() -> None:
    ended = [row(i, 0, 0.0, outcome="invalid_format", fit_error=math.nan) for i in range(3)]
    found = parts(run("main_4", ended), run("scaling_4", ended), run("quad_hard", ended))
    counts = found["causalab-understanding"].frame
    assert set(counts[counts["episodes"] > 0]["kind"]) == {"no prediction"}
    assert "causalab-held" not in found
