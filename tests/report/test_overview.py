from __future__ import annotations

import math
from dataclasses import replace

import pandas as pd
import pytest

from whybench.episode.family import Family
from whybench.report.build import Wishes, build, chaptered, viewed
from whybench.report.chapters.bounds import Bounds, audited, bounds
from whybench.report.chapters.outcomes import outcomes
from whybench.report.chapters.profile import profile
from whybench.report.chapters.provenance import command
from whybench.report.chapters.ranks import ranks, read_others
from whybench.report.chapters.understanding import understanding
from whybench.report.charts import specification
from whybench.report.palette import DARK, LIGHT, painted
from whybench.report.runs import Logs
from whybench.report.section import Figure, Remark, Table
from whybench.report.view import Limits


@pytest.fixture(scope="module")
def views(logs: Logs):
    return {view.family.name: view for view in viewed(logs, Wishes(limits=Limits(certified=3)))}


@pytest.fixture(autouse=True)
def no_audit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Floors without an audit, unless a test asks for one."""
    monkeypatch.setattr(Family, "audited", lambda *_: None)


def run_of(views, family: str, agent: str):
    return next(r for r in views[family].runs if r.model == f"whybench/{agent}")


def test_floors_come_from_logs_and_the_ceiling_from_certificates(views) -> None:
    run = run_of(views, "causallink", "first_listed")
    found = views["causallink"].bounds(run)
    logged = {a: run_of(views, "causallink", a) for a in ("null", "null_no", "random")}
    assert found.floors == {a: r.frame["accuracy"].mean() for a, r in logged.items()}
    assert found.floor == max(found.floors.values())
    assert found.ceiling == 1.0
    assert "certificates of 3 of 12" in found.source
    assert "played" not in found.source
    assert found.floor_n == 12


def test_floors_without_a_log_are_played_and_said_to_be(views) -> None:
    run = run_of(views, "causalab", "regression")
    found = views["causalab"].bounds(run)
    assert set(found.floors) == {"null", "random", "by_size"}
    assert "null, random, by_size on 4 instances, played for this report" in found.source
    assert found.floor_n == 4


def test_the_floor_is_the_best_guesser_of_the_audit_unless_parameters_were_changed(
    logs: Logs, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = {
        "best_guesser": "best_1",
        "guesser": 0.952,
        "guesser_interval": [0.9, 0.98],
        "instances": {"guesser": 84},
        "verdict": "WEAK",
    }
    monkeypatch.setattr(Family, "audited", lambda _, suite, profile: told)
    run = next(r for r in logs.runs if r.suite == "causallink/core")
    found = bounds(run, logs.runs, 2, 2)
    assert (found.floors, found.floor_interval, found.floor_n) == (
        {"best_1": 0.952},
        (0.9, 0.98),
        84,
    )
    assert "floor: best_1, the best guesser of the audit (WEAK), on 84 instances" in found.source
    assert audited(run) == told
    assert audited(replace(run, parameters={"budget": 3})) is None


def test_a_log_that_covers_only_some_instances_is_no_floor(logs: Logs) -> None:
    runs = [r for r in logs.runs if r.suite == "causallink/core"]
    exact = next(r for r in runs if r.model == "whybench/exact")
    null = next(r for r in runs if r.model == "whybench/null")
    short = replace(null, frame=null.frame.iloc[:6])
    found = bounds(exact, [exact, short], 2, 5)
    assert "null, null_no, random on 5 instances, played for this report" in found.source


@pytest.mark.parametrize(
    ("rate", "spoiled", "ceiling", "stands"),
    [(False, 1.0, 1.0, True), (False, 0.5, 1.0, False), (True, 1.0, 1.0, False)],
)
def test_an_exact_log_is_the_ceiling_only_where_scores_have_degrees_and_it_meets_the_certificate(
    logs: Logs,
    monkeypatch: pytest.MonkeyPatch,
    rate: bool,
    spoiled: float,
    ceiling: float,
    stands: bool,
) -> None:
    monkeypatch.setattr("whybench.report.chapters.bounds._is_rate", lambda family: rate)
    runs = [r for r in logs.runs if r.suite == "causallink/core"]
    exact = next(r for r in runs if r.model == "whybench/exact")
    exact = replace(exact, frame=exact.frame.assign(accuracy=spoiled))
    found = bounds(exact, [exact], 2, 2)
    assert found.ceiling == ceiling
    assert ("the exact agent's log" in found.source) == stands
    assert found.ceiling_n == (12 if stands else 2)


@pytest.mark.parametrize(
    ("score", "placed"), [(0.2, 0.0), (1.0, 1.0), (0.6, 0.5), (0.0, -0.25), (math.nan, math.nan)]
)
def test_a_score_is_placed_between_floor_and_ceiling(score: float, placed: float) -> None:
    found = Bounds({"null": 0.1, "random": 0.2}, 1.0, "").placed(score)
    assert found == pytest.approx(placed, nan_ok=True)


def test_a_score_has_no_place_where_floor_and_ceiling_meet() -> None:
    assert math.isnan(Bounds({"null": 1.0}, 1.0, "").placed(1.0))


def test_the_profile_has_a_row_per_family_and_says_its_figures(views) -> None:
    section = profile(list(views.values()))
    first = next(part for part in section.parts if isinstance(part, Figure))
    assert set(first.frame["suite"]) == {"causallink/core", "causalab/main_3"}
    row = first.frame[first.frame["system"] == "first_listed (reference agent)"].iloc[0]
    assert row["score"] == run_of(views, "causallink", "first_listed").frame["accuracy"].mean()
    assert row["low"] <= row["score"] <= row["high"]
    assert (
        f"first_listed (reference agent) on causallink/core (accuracy): {row['score']:.2f}"
        in first.alt
    )


def test_the_profile_marks_floors_and_ceilings_wherever_they_were_run(views) -> None:
    section = profile(list(views.values()))
    first = next(part for part in section.parts if isinstance(part, Figure))
    for view in views.values():
        there = first.frame[first.frame["suite"].str.startswith(view.family.name)]
        assert set(there["system"]) == {run.system for run in view.runs}


def test_a_system_has_one_name_one_colour_and_one_shape_in_a_whole_report(logs: Logs) -> None:
    made = build(logs, Wishes(limits=Limits(certified=1, floored=4, replayed=2, told=0)))
    agents = ("first_listed", "null", "null_no", "random", "regression", "exact")
    assert set(made.systems) == {f"{agent} (reference agent)" for agent in agents}
    seen: dict[str, set[str]] = {}
    for part in (part for section in made.sections for part in section.walk()):
        if isinstance(part, Table | Figure) and "system" in part.frame:
            names = [str(name) for name in part.frame["system"]]
            assert not [n for n in names if n.startswith("whybench/") or n.count("(ref") > 1]
        if isinstance(part, Figure):
            for channel, name, mark in marks(specification(part.chart, made.systems)):
                seen.setdefault(f"{channel} {name}", set()).add(mark)
    told = {name: found for name, found in seen.items() if name.partition(" ")[2] in made.systems}
    assert len(told) >= len(made.systems)
    assert all(len(found) == 1 for found in told.values()), told


def marks(spec):
    """Yield channel, series and mark of every scale of a chart."""
    if isinstance(spec, list):
        for one in spec:
            yield from marks(one)
    elif isinstance(spec, dict):
        for channel, value in spec.items():
            scale = value.get("scale") if isinstance(value, dict) else None
            if channel in ("color", "shape") and isinstance(scale, dict) and "range" in scale:
                pairs = zip(scale["domain"], scale["range"], strict=False)
                yield from ((channel, name, mark) for name, mark in pairs)
            yield from marks(value)


def test_parts_of_a_system_share_its_colour_and_series_never_share_both() -> None:
    systems = [f"m/{place}" for place in range(20)]
    series = ["m/3 · core", "m/3", "m/11", "m/11 · core", "published"]
    scale = {"domain": series, "range": ["grey"] * 5}
    spec = {"layer": [{"encoding": {c: {"scale": dict(scale)} for c in ("color", "shape")}}]}
    found = painted(spec, systems)["layer"][0]["encoding"]
    hues, shapes = (found[channel]["scale"]["range"] for channel in ("color", "shape"))
    assert hues[:4] == [LIGHT["purple"]] * 2 + [LIGHT["grey"]] * 2  # beyond seven: grey
    assert shapes[1] == "diamond"  # the system's own, although its part comes first
    assert hues[4] == shapes[4] == "grey"
    assert len(set(zip(hues, shapes, strict=True))) == 5
    alone = painted({"color": {"scale": {"domain": ["m/3"], "range": ["x"]}}}, systems)
    assert alone["color"]["scale"]["range"] == hues[:1]


def test_runs_with_other_floors_get_rows_of_their_own(views) -> None:
    view = views["causallink"]
    run = run_of(views, "causallink", "first_listed")
    talk = replace(run, args={**run.args, "protocol": "dialogue"}, system="in dialogue")
    section = profile([replace(view, runs=(*view.runs, talk))])
    table = next(part for part in section.parts if isinstance(part, Table))
    assert list(table.frame["row"]) == [
        "causallink/core, tools (accuracy)",
        "causallink/core, dialogue (accuracy)",
    ]


def test_a_success_of_which_nothing_tells_is_not_called_understood(views) -> None:
    base = run_of(views, "causalab", "regression")
    frame = base.frame.assign(accuracy=1.0, lucky=math.nan)
    silent = replace(base, frame=pd.concat([frame] * 3, ignore_index=True))
    section = understanding([replace(views["causalab"], runs=(silent,))])
    assert section is not None
    (text,) = (p.text for p in section.parts if isinstance(p, Remark))
    assert text.startswith("1 of 1 runs have fewer than 5 successes that can be classified, so ")
    figure = next(part for part in section.parts if isinstance(part, Figure))
    assert "0 understood, 0 lucky, 12 not shown" in figure.alt


def test_hollow_successes_are_counted_and_called_out_by_name(views) -> None:
    view = views["causalab"]
    base = run_of(views, "causalab", "regression")
    frame = pd.concat([base.frame] * 3, ignore_index=True)
    frame = frame.assign(accuracy=1.0, lucky=[1.0] * 4 + [0.0] * 8)
    hollow = replace(base, system="gpt-hollow", model="x/gpt-hollow", frame=frame)
    section = understanding([replace(view, runs=(hollow,))])
    assert section is not None
    warned = [p.text for p in section.parts if isinstance(p, Remark) and p.tone == "warning"]
    assert len(warned) == 1
    assert "gpt-hollow predicts without understanding on causalab/main_3" in warned[0]
    assert "succeeded in 12 of 12 episodes. 4 of these 12 successes are lucky" in warned[0]
    few = replace(hollow, frame=frame.assign(lucky=[1.0] * 2 + [0.0] * 10))
    calm = understanding([replace(view, runs=(few,))])
    assert calm is not None
    assert not [p for p in calm.parts if isinstance(p, Remark) and p.tone == "warning"]


def test_every_rule_of_understanding_names_metrics_of_its_family() -> None:
    from whybench.episode.registry import families

    ruled = [family for family in families().values() if family.understanding]
    assert len(ruled) == 6
    for family in ruled:
        rule = family.understanding
        known = {m.name for m in family.metrics if m.role != "detail"}
        assert {rule["success"], rule.get("lucky") or rule["lacks"]} <= known


def test_a_success_is_understood_only_if_something_tells_that_it_is_not_hollow() -> None:
    from whybench.episode.registry import families

    link, game = families()["causallink"], families()["causalgame"]
    assert link.understood({"accuracy": 1, "lucky": 0}) == 1
    assert link.understood({"accuracy": 1, "lucky": 1}) == 0
    assert link.understood({"accuracy": 0, "lucky": 0}) == 0
    assert link.understood({"accuracy": None}) is None
    assert game.understood({"win": 1, "lucky": 0}) == 1
    assert game.understood({"win": 1, "lucky": 1}) == 0
    assert game.understood({"win": 1, "lucky": None}) == 0
    assert families()["recite"].understood({"edge_f1": 1}) is None


def test_episodes_without_an_answer_are_counted_and_warned_of(views) -> None:
    view = views["causallink"]
    base = run_of(views, "causallink", "first_listed")
    ends = ["invalid_format"] * 3 + ["answered"] * 9
    section = outcomes(
        [replace(view, runs=(replace(base, frame=base.frame.assign(outcome=ends)),))]
    )
    figure = next(part for part in section.parts if isinstance(part, Figure))
    assert figure.frame.iloc[0]["invalid_format"] == 0.25
    assert any("0.25 of the episodes" in p.text for p in section.parts if isinstance(p, Remark))


def test_ranks_agree_where_systems_agree_and_need_enough_of_them(views, tmp_path) -> None:
    table = tmp_path / "others.csv"
    models = tuple(replace(r, model=f"x/{r.model}") for r in views["causallink"].runs)
    scores = {r.model: r.frame["accuracy"].mean() for r in models}
    lines = [f"{model},{1 - score}" for model, score in scores.items()]
    table.write_text("model,opposite\n" + "\n".join(lines) + "\nunknown,3\n", "utf-8")
    section = ranks([replace(views["causallink"], runs=models)], read_others(table))
    rows = next(part for part in section.parts if isinstance(part, Table)).frame
    assert list(rows["second"]) == ["opposite"]
    assert rows.iloc[0]["ρ"] == pytest.approx(-1)
    assert rows.iloc[0]["systems"] == 5
    assert isinstance(ranks([views["causalab"]], {}).parts[0], Remark)
    assert isinstance(ranks([views["causallink"]], read_others(table)).parts[0], Remark)


def test_a_bad_table_of_other_benchmarks_says_what_is_wrong(tmp_path) -> None:
    table = tmp_path / "others.csv"
    table.write_text("model,mmlu\na,high\n", "utf-8")
    with pytest.raises(ValueError, match="mmlu of a is not a number"):
        read_others(table)
    table.write_text("name,mmlu\na,1\n", "utf-8")
    with pytest.raises(ValueError, match="column `model`"):
        read_others(table)


def test_the_command_of_a_log_can_be_run_again(views) -> None:
    run = run_of(views, "causallink", "null")
    said = command(replace(run, config={"limit": 12, "epochs": 1, "temperature": 0.5}))
    assert said.startswith("inspect eval whybench/causallink -T ")
    assert "-T suite=core" in said
    assert said.endswith("--model whybench/null --temperature 0.5 --limit 12")


def test_a_command_tells_roles_and_samples_but_no_private_seed_and_no_folder(views) -> None:
    run = replace(
        run_of(views, "causallink", "null"),
        passed={"seed": "hush-4711", "yoke": "folder/of/mine/a.eval"},
        config={
            "roles": {"judge": "x/y"},
            "model_args": {"api_key": "sk-1"},
            "limit": [4, 9],
            "sample_id": ["a", "b"],
        },
    )
    said = command(run)
    assert "hush" not in said
    assert "-T yoke=a.eval" in said
    assert "sk-1" not in said
    assert said.endswith("--model-role judge=x/y --limit 5-9 --sample-id a,b")
    assert "hush-4711" in command(run, reveal=True)


def test_episodes_of_a_private_split_are_not_told(logs: Logs) -> None:
    some = replace(next(r for r in logs.runs if r.suite == "causallink/core"), seed="secret")
    kept = Logs((some,))
    wishes = Wishes(limits=Limits(told=2, replayed=3))
    chapters, said = chaptered(viewed(kept, wishes), wishes)
    assert chapters == ()
    assert "12 episodes of private splits are left out" in said


def test_a_report_has_all_sections_and_unique_chapters(logs: Logs) -> None:
    report = build(logs, Wishes(limits=Limits(certified=1, replayed=3, told=2)))
    ids = [section.id for section in report.sections]
    assert ids[:2] == ["overview", "understanding"]
    assert {"causalab", "causallink", "ranks", "outcomes", "spent", "provenance"} <= set(ids)
    assert len({chapter.id for chapter in report.chapters}) == len(report.chapters) == 14
    assert "14 of 68 episodes" in report.told
    for section in report.sections:
        for part in section.walk():
            if isinstance(part, Figure):
                assert part.alt.strip()
                assert len(part.frame)


def test_colours_are_distinct_in_both_themes_so_that_the_page_can_swap_them() -> None:
    assert LIGHT.keys() == DARK.keys()
    assert len(set(LIGHT.values())) == len(LIGHT)
    assert len(set(DARK.values())) == len(DARK)
