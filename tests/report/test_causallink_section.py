"""CausalLink's section of a report: its figures equal what is counted by hand, and the CSV."""

import math
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from inspect_ai import eval as inspect_eval
from tests.report.soundness import child, sound

from whybench.causal.canonical import thaw
from whybench.episode.action import Action
from whybench.episode.episode import play
from whybench.episode.instance import Instance
from whybench.episode.registry import families
from whybench.episode.trace import Trace
from whybench.families.causallink.extras.report.answers import (
    KINDS,
    PUBLISHED,
    SILENT,
    kinds,
    patterns,
)
from whybench.families.causallink.extras.report.covariates import (
    by_need,
    by_setup,
    compared,
    optimum,
    over_setups,
    sizes,
)
from whybench.families.causallink.extras.report.prompts import ERRED, by_prompt
from whybench.families.causallink.extras.report.rows import own
from whybench.families.causallink.extras.report.section import section
from whybench.report.entries import entries
from whybench.report.naming import displayed
from whybench.report.published.figures import Published
from whybench.report.runs import Run, read_runs
from whybench.report.section import Figure, Remark, Section, Table
from whybench.report.view import View

FAMILY = families()["causallink"]
SHOWN = [metric.name for metric in FAMILY.metrics if metric.role != "detail"]
CORE = list(FAMILY.suite("core"))
FEW = [FAMILY.suite("advanced")[index] for index in (0, 1, 2, 3, 4, 5, 902, 905, 911, 1197)]
"""Sizes four and seven: the plan for five takes seconds to find."""

Player = Callable[[Instance], Trace]


def agent(name: str, evidence: str = "own") -> Player:
    def player(instance: Instance) -> Trace:
        episode = FAMILY.open(instance, evidence=evidence)
        return play(episode, FAMILY.agent(name, instance, episode.evidence_given))

    return player


def stubborn(instance: Instance) -> Trace:
    """Experiment as one should, then say no."""
    done = FAMILY.experiments(FAMILY.exact_run(instance))
    return FAMILY.replay_episode(
        instance, [*done, Action.of("answer", answer="no")], 0, "own"
    ).trace


def silent(instance: Instance) -> Trace:
    return FAMILY.open(instance).trace


def row(instance: Instance, trace: Trace, epoch: int = 1) -> dict[str, object]:
    score = FAMILY.score(instance, trace)
    values = {name: score.values[name] for name in SHOWN}
    return {
        "instance": instance.id,
        "index": instance.index,
        "cluster": instance.cluster,
        "epoch": epoch,
        "outcome": score.outcome,
        **{name: math.nan if value is None else value for name, value in values.items()},
        "labels": thaw(score.labels),
    }


def run(
    player: Player, instances: Iterable[Instance] = CORE, model: str = "acme/one", **args: object
) -> Run:
    instances = list(instances)
    first = instances[0]
    manner = {"template": "plain", "protocol": "dialogue", "evidence": "own"} | args
    return Run(
        log="made.eval",
        path="made.eval",
        model=model,
        family=FAMILY,
        suite=f"causallink/{first.suite}",
        profile=first.profile,
        seed=first.seed,
        parameters=first.parameters.asdict(),
        version=f"{FAMILY.version}-0",
        task="causallink",
        args=manner,
        passed=args,
        created="2026-01-01",
        frame=pd.DataFrame([row(instance, player(instance)) for instance in instances]),
        system=displayed(model),
    )


def view(*runs: Run) -> View:
    return View(FAMILY, tuple(runs), Published())


@pytest.fixture(scope="module")
def everything() -> View:
    """A view with something for every figure."""
    return view(
        run(stubborn),
        run(agent("random"), template="step_limited"),
        run(agent("null", "optimal"), evidence="optimal"),
        run(agent("exact"), model="whybench/exact"),
        run(agent("random"), FEW),
        run(agent("null"), list(FAMILY.suite("collider"))),
    )


@pytest.fixture(scope="module")
def whole(everything: View) -> Section:
    return section(everything)


def figures(found: Section) -> dict[str, Figure]:
    return {part.id: part for part in found.walk() if isinstance(part, Figure)}


def test_every_part_is_whole_and_ids_are_unique(whole: Section) -> None:
    sound(whole)


def test_all_that_the_issue_names_is_there(whole: Section) -> None:
    assert {
        "causallink-prompts-accuracy",
        "causallink-prompts-lean",
        "causallink-structure-core",
        "causallink-structure-collider",
        "causallink-size-all-moving",
        "causallink-steps-mean",
        "causallink-steps-core",
        "causallink-failures-core",
        "causallink-failures-advanced",
        "causallink-evidence-core",
        "causallink-biases-core",
    } <= set(figures(whole))


def test_accuracy_by_structure_and_its_error_over_setups() -> None:
    frame = over_setups(by_setup(view(run(stubborn)), "core")).set_index("structure")
    # Always no: right where the truth is no. Direct: of each start's two questions one is no.
    assert frame.loc["direct, A→B", "accuracy"] == 0.5
    assert frame.loc["direct, A→B", "standard error"] == 0.0
    assert frame.loc["confounder, A←B→C", "accuracy"] == pytest.approx(20 / 30)
    assert list(frame["setups"]) == [3, 4, 5, 4]
    assert list(frame["questions"]) == [6, 24, 30, 24]


def test_the_error_is_the_standard_error_of_setup_means() -> None:
    made = run(stubborn)
    by_start = by_setup(view(made), "core")
    mediation = by_start[by_start["structure"] == "mediation"]
    assert list(mediation["setup"]) == ["none", "C", "BC", "all"]
    broken = made.frame.copy()
    start = {i.id: FAMILY.covariates(i) for i in CORE}
    hit = [
        (start[name]["structure"], start[name]["setup"]) == ("mediation", "all")
        for name in broken["instance"]
    ]
    broken.loc[hit, "accuracy"] = 1.0
    frame = over_setups(by_setup(view(replace(made, frame=broken)), "core"))
    cell = frame.set_index("structure").loc["mediation, A→B→C"]
    assert cell["accuracy"] == pytest.approx((0.5 * 3 + 1.0) / 4)
    assert cell["standard error"] == pytest.approx(0.25 / 2)
    assert cell["high"] == pytest.approx(0.625 + 0.125)


def test_epochs_of_a_question_count_as_one() -> None:
    made = run(stubborn)
    again = made.frame.assign(epoch=2, accuracy=1.0)
    twice = pd.concat([made.frame, again[made.frame["index"] < 6]], ignore_index=True)
    frame = over_setups(by_setup(view(replace(made, frame=twice)), "core")).set_index("structure")
    assert frame.loc["direct, A→B", "accuracy"] == pytest.approx(0.75)
    assert frame.loc["direct, A→B", "questions"] == 6
    assert frame.loc["direct, A→B", "episodes"] == 12


def test_sizes_use_all_moving_starts_only() -> None:
    frame = sizes(view(run(agent("null")), run(agent("null"), FEW)))
    assert list(frame["n"]) == [2, 3, 4, 7]
    yes = [i for i in CORE if FAMILY.covariates(i)["all_moving"] and FAMILY.covariates(i)["n"] == 3]
    share = sum(FAMILY.covariates(i)["truth"] == "yes" for i in yes) / len(yes)
    three = frame.set_index("n").loc[3]
    assert three["accuracy"] == pytest.approx(share)
    assert three["best constant answer"] == pytest.approx(max(share, 1 - share))
    assert list(frame["questions"]) == [2, 18, 6, 4]
    assert math.isnan(frame.set_index("n").loc[2, "low"])


def test_published_tables_stand_in_the_table_as_printed(everything: View) -> None:
    frame = by_prompt(everything).frame
    theirs = frame[frame["published"]].set_index(["system", "prompt"])
    cells = [c for t in ("4", "5") for c in Published().cells("causallink", table=t)]
    assert len(cells) == 120
    templates = {"core_basic": "paper", "core_step_limited": "paper_step_limited"}
    for cell in cells:
        found = theirs.loc[f"{cell.system} (published)", templates[cell.suite]]
        assert found[cell.metric] == cell.printed
        if cell.metric == "accuracy":
            assert found["share"] == cell.share
        if cell.metric == "experiments":
            assert found["steps"] == cell.value
    assert len(theirs) == 24


def test_both_prompts_of_a_system_share_a_row_and_references_are_called_so() -> None:
    runs = [
        replace(
            run(agent("random"), CORE[:6], template=template),
            system=f"acme/one · template={template}",
        )
        for template in ("plain", "step_limited")
    ]
    reference = run(agent("exact"), CORE[:6], model="whybench/exact")
    frame = by_prompt(view(reference, *runs)).frame
    mine = frame[~frame["published"]]
    assert list(mine["system"]) == ["acme/one", "acme/one", "exact (reference agent)"]
    assert list(mine["source"]) == ["this report", "this report", "reference agent"]
    assert not frame[frame["published"]].empty


def test_failures_are_split_by_the_evidence_and_sum_to_one(everything: View) -> None:
    frame = kinds(everything, own(everything, "core"))
    assert frame.groupby("system")["share"].sum().tolist() == pytest.approx([1.0] * 3)
    mine = frame[frame["system"] == "acme/one"]
    shares = dict(zip(mine["kind"], mine["share"], strict=True))
    # Every experiment forces the answer, so saying no is understood (47 of 84) or bad inference.
    assert shares[KINDS["understood"]] == pytest.approx(47 / 84)
    assert shares[KINDS["contradicted"]] == pytest.approx(37 / 84)
    assert shares[KINDS["premature"]] == shares[SILENT] == 0


def test_luck_is_called_out_by_name_but_not_of_reference_agents() -> None:
    def called(model: str) -> list[str]:
        made = section(view(run(agent("null"), CORE[:24], model=model)))
        found = child(made, "causallink-failures")
        return [p.text for p in found.walk() if isinstance(p, Remark) and "Lucky answers" in p.text]

    (text,) = called("acme/one")
    assert "acme/one" in text
    assert called("whybench/null") == []


def test_evidence_is_compared_only_where_a_system_has_more_than_one_kind(
    everything: View, whole: Section
) -> None:
    frame = figures(whole)["causallink-evidence-core"].frame
    assert {name.partition(":")[0] for name in frame["system"]} == {"own", "optimal"}
    assert not frame["system"].str.contains("reference").any()
    alone = child(section(view(everything.runs[0])), "causallink-evidence")
    assert not any(name.startswith("causallink-evidence") for name in figures(alone))
    assert any("evidence=optimal" in p.text for p in alone.walk() if isinstance(p, Remark))


def test_patterns_are_shares_of_wrong_answers_and_table_2_is_beside_them(everything: View) -> None:
    frame = patterns(view(run(stubborn)), "core")
    mine = frame[~frame["published"]].set_index("pattern")
    assert mine.loc["illusive confounder bias", "share"] == 1.0
    assert set(mine["wrong answers"]) == {37}
    theirs = frame[frame["series"] == PUBLISHED].set_index("pattern")
    for cell in Published().cells("causallink", table="2"):
        found = theirs.loc[cell.condition.replace("_", " ")]
        assert found["share"] == cell.share
        assert found["printed"] == f"{cell.printed} {cell.unit}"
    assert not patterns(everything, "collider")["published"].any()
    assert patterns(view(run(agent("exact"))), "core").empty


def test_steps_are_held_against_the_optimum(everything: View) -> None:
    free, forced, least = optimum(everything)
    assert least == pytest.approx(105 / 84)
    assert free == pytest.approx(104 / 84)
    assert forced == pytest.approx(119 / 84)
    exact = view(run(agent("exact"), model="whybench/exact"))
    frame = by_need(exact, "core")
    assert list(frame["needed"]) == list(frame["steps"]) == [0, 1, 2, 3]
    assert frame["episodes"].sum() == 84
    only = compared(exact)[0]
    assert only["steps"] == only["exact agent"] == pytest.approx(free)
    assert only["fewest"] == pytest.approx(90 / 84)
    assert only["regret"] == only["answered too early"] == 0
    hasty = compared(view(run(agent("null"))))[0]
    assert hasty["answered too early"] == pytest.approx(69 / 84)


def test_the_optimum_is_that_of_the_instances_that_were_played() -> None:
    hidden = list(FAMILY.suite("core", seed="hush-7"))[:20]
    played = view(run(agent("exact"), hidden, model="whybench/exact"))
    needs = [int(FAMILY.covariates(instance)["exact_steps"]) for instance in hidden]
    free, forced, _ = optimum(played)
    assert free == pytest.approx(sum(needs) / 20)
    assert forced == pytest.approx(sum(max(1, need) for need in needs) / 20)
    said = figures(section(played))["causallink-steps-mean"].alt
    assert f"needs {free:.2f}, or {forced:.2f}" in said
    assert f"(reference agent): plain {free:.2f}" in said
    foreign = played.runs[0].frame.assign(instance=[f"core-{place:04d}-ff" for place in range(20)])
    unknown = section(view(replace(played.runs[0], frame=foreign)))
    assert "exact agent needs" not in figures(unknown)["causallink-steps-mean"].alt


def test_runs_that_were_asked_unlike_the_paper_are_said_to_be() -> None:
    released = list(FAMILY.suite("core", profile="published"))[:4]
    like = run(silent, released, model="acme/like", template="paper")
    unlike = run(silent, CORE[:4], model="acme/unlike", protocol="tools")
    both = view(like, unlike)
    frame = by_prompt(both).frame
    assert list(frame["differs from the paper in"][:2]) == ["", "profile, protocol, template"]
    shown = figures(section(both))["causallink-prompts-accuracy"]
    assert "Unlike the paper's runs: acme/unlike in profile, protocol, template." in shown.note
    worlds = like.frame["cluster"].nunique()
    assert worlds == unlike.frame["cluster"].nunique() != 3
    assert f"Clusters of a run here: {worlds}" in shown.note


def test_private_seeds_are_never_shown_and_old_parameters_do_no_harm() -> None:
    one = run(silent, CORE[:2])
    two = replace(one, seed="hush-7", parameters={"theme": "gone"})
    found = section(view(one, two))
    shown = repr([(p, getattr(p, "frame", None)) for p in found.walk()])
    assert "private-" in shown
    assert "parameters of another version" in shown
    assert "hush-7" not in shown


def test_absent_data_give_a_command_and_no_empty_figure() -> None:
    empty = section(view())
    assert figures(empty) == {}
    assert not any(isinstance(part, Table) for part in empty.walk())
    assert sum("inspect eval" in part.text for part in empty.walk()) >= 4
    only = section(view(run(agent("random"), FEW)))
    assert "causallink-structure-core" not in figures(only)
    assert "causallink-prompts-accuracy" not in figures(only)
    assert "causallink-size-all-moving" in figures(only)


def test_unanswered_unscored_and_unknown_episodes_do_no_harm() -> None:
    mute = run(silent, CORE[:12])
    found = section(view(mute))
    shares = figures(found)["causallink-failures-core"].frame.set_index("kind")["share"]
    assert shares[SILENT] == 1.0
    assert by_prompt(view(mute)).frame["errors"].iloc[0] == "12"
    assert set(ERRED) <= set(mute.frame.columns)
    blank = mute.frame.assign(outcome="unscored", labels=[{}] * 12)
    blank[SHOWN] = math.nan
    unscored = section(view(replace(mute, frame=blank)))
    assert figures(unscored) == {}
    assert any("none of its 12 episodes" in p.text for p in unscored.parts if isinstance(p, Remark))
    foreign = mute.frame.assign(instance=[f"core-{place:04d}-ffff" for place in range(12)])
    other = section(view(replace(mute, frame=foreign)))
    assert figures(child(other, "causallink-structure")) == {}
    assert "causallink-failures-core" in figures(other)


def test_names_differ_and_models_come_before_reference_agents() -> None:
    one, other = run(silent, CORE[:2]), run(silent, FEW[:2])
    null = run(silent, CORE[:2], model="whybench/null")
    listed = entries([null, one, other, one])
    assert len({(entry.system, entry.suite) for entry in listed}) == 4
    assert listed[-1].system.endswith("(reference agent)")


@pytest.mark.wire
def test_a_section_of_real_logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:

    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    for template in ("plain", "step_limited"):
        inspect_eval(
            "whybench/causallink",
            task_args={"suite": "core", "template": template},
            model="whybench/exact",
            display="none",
            limit=4,
            log_realtime=False,
            log_dir=str(tmp_path / "logs"),
        )
    found = section(view(*read_runs([tmp_path / "logs"]).runs))
    frame = figures(found)["causallink-structure-core"].frame
    assert list(frame["accuracy"]) == [1.0, 1.0]
    assert list(frame["questions"]) == [4, 4]
    side = figures(found)["causallink-prompts-accuracy"].frame
    mine = side[side["source"] == "reference agent"]
    assert sorted(mine["prompt"]) == ["plain", "step_limited"]  # both may have one second
    assert mine["system"].nunique() == 1
