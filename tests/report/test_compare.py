"""Comparing two systems: the test that is made, what is refused, and how often it is right."""

import importlib.util
import json
import math
import sys
from pathlib import Path

import pandas as pd
import pytest
import scipy  # its parts are imported when a test uses them
from tests.tables import sampled
from typer.testing import CliRunner

from whybench.causal.seeds import Stream
from whybench.episode.registry import families
from whybench.report.decisions.compare import compare, compared, decided
from whybench.report.decisions.difference import difference, fewest_worlds
from whybench.report.decisions.pairs import chosen
from whybench.report.runs import Run
from whybench.stats.mcnemar import mcnemar

ROOT = Path(__file__).parents[2]


def frame(scores, clusters=None, metric="accuracy", outcome="answered"):
    """Instance → its scores, an epoch each."""
    return pd.DataFrame(
        [
            {
                "instance": name,
                "cluster": name if clusters is None else clusters[name],
                "epoch": epoch,
                "outcome": outcome,
                metric: score,
            }
            for name, epochs in scores.items()
            for epoch, score in enumerate(epochs, 1)
        ]
    )


def run(scores, model="m/one", suite="causallink/advanced", clusters=None, **changes):
    family = families()[suite.partition("/")[0]]
    args = {"suite": suite.partition("/")[2], "protocol": "dialogue", "template": "plain"}
    made = {
        "log": f"{model.replace('/', '-')}.eval",
        "path": f"{model}{changes}.eval",
        "model": model,
        "family": family,
        "suite": suite,
        "profile": "certified",
        "seed": "public",
        "parameters": {},
        "version": "1-0.1.0",
        "task": family.name,
        "args": args | changes.pop("args", {}),
        "passed": {},
        "created": "",
        "frame": frame(scores, clusters, family.headline),
    }
    return Run(**(made | changes))


def coins(name, n, chance, epochs=1):
    draws = Stream("test-compare", name).uniforms(n * epochs).reshape(n, epochs)
    return {f"i{at:03d}": (row < chance).astype(float).tolist() for at, row in enumerate(draws)}


def test_one_zero_one_score_of_worlds_of_their_own_gets_mcnemar():
    one, two = coins("a", 80, 0.7), coins("b", 80, 0.4)
    found = difference(frame(one), frame(two), "accuracy", rate=True)
    flat = [{name: scores[0] for name, scores in side.items()} for side in (one, two)]
    assert found.test == "McNemar mid-p"
    assert found.p_value == mcnemar(*flat).mid_p
    assert (found.n, found.clusters, found.epochs) == (80, 80, 1)


def test_other_scores_get_the_paired_t_test():

    draws = Stream("test-compare", "t").uniforms(60).reshape(2, 30)
    one, two = ({f"i{at}": [x] for at, x in enumerate(side)} for side in draws.tolist())
    found = difference(frame(one), frame(two), "accuracy", rate=False)
    twin = scipy.stats.ttest_rel(draws[0], draws[1])
    assert found.test == "t test"
    assert found.p_value == pytest.approx(twin.pvalue, rel=1e-9)
    low, high = twin.confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((low, high), rel=1e-9)


def test_epochs_are_averaged_before_instances():
    one = {"a": [1.0, 0.0], "b": [1.0], "c": [0.5]}
    two = {"a": [0.0], "b": [0.0, math.nan, 0.0], "c": [0.5], "d": [1.0]}
    found = difference(frame(one), frame(two), "accuracy", rate=False)
    assert found.estimate == pytest.approx((0.5 + 1 + 0) / 3)
    assert (found.n, found.epochs) == (3, 2)


def test_instances_of_one_world_count_as_one_world():

    one, two = coins("a", 60, 0.7), coins("b", 60, 0.5)
    worlds = {name: int(name[1:]) // 6 for name in one}
    found = difference(frame(one, worlds), frame(two, worlds), "accuracy", rate=True)
    sums = [
        sum(one[n][0] - two[n][0] for n in one if worlds[n] == world) / 6 for world in range(10)
    ]
    assert found.test == "t test by cluster"
    assert found.clusters == 10
    assert found.p_value == pytest.approx(scipy.stats.ttest_rel(sums, [0] * 10).pvalue, rel=1e-9)


@pytest.mark.parametrize(("worlds", "shown"), [(5, False), (6, True)])
def test_a_handful_of_worlds_shows_nothing_however_alike_they_are(worlds, shown):
    one = {f"i{at}": [1.0, 1.0] for at in range(worlds)}
    two = {f"i{at}": [0.0, 0.0] for at in range(worlds)}
    row = compared("s", frame(one), frame(two), "accuracy", rate=True)
    assert row.found.p_value == 2.0 ** (1 - worlds)
    assert (decided([row])[0].winner == "A") is shown
    assert (worlds >= fewest_worlds()) is shown


def test_a_difference_that_never_varies_still_has_an_interval():
    same = coins("a", 50, 0.5)
    found = difference(frame(same), frame(same), "accuracy", rate=True)
    assert (found.estimate, found.p_value) == (0, 1)
    assert -0.1 < found.low < 0 < found.high < 0.1
    verdict = decided([compared("s", frame(same), frame(same), "accuracy", rate=True)])[0].verdict
    assert verdict.endswith("both have the same score on every shared instance")


def test_a_verdict_goes_by_the_corrected_p_value():
    pairs = [(coins(f"a{k}", 60, 0.7), coins(f"b{k}", 60, 0.5)) for k in range(8)]
    rows = [
        compared(f"s{k}", frame(a), frame(b), "accuracy", rate=True)
        for k, (a, b) in enumerate(pairs)
    ]
    judged = decided(rows)
    alone = [decided([row])[0].winner for row in rows]
    assert alone.count("A") > [row.winner for row in judged].count("A")
    assert all(row.p_holm >= row.found.p_value for row in judged)
    assert {row.winner for row in judged} <= {"A", None}
    lost = next(row for row in judged if row.winner is None)
    assert "detects differences of at least" in lost.verdict


def test_an_interval_holds_zero_just_if_no_difference_is_shown():
    seen = set()
    for chance in (0.45, 0.5, 0.6, 0.65, 0.8):
        for size, epochs in ((8, 1), (24, 1), (24, 2), (60, 1)):
            rows = [
                compared(
                    f"s{k}",
                    frame(coins(f"a{k} {chance}", size, chance, epochs)),
                    frame(coins(f"b{k}", size, 0.4, epochs)),
                    "accuracy",
                    rate=True,
                )
                for k in range(6)
            ]
            for row in decided(rows):
                low, high = row.found.low, row.found.high
                outside = low >= 0 < high if row.winner == "A" else low < 0 >= high
                assert outside if row.winner else low <= 0 <= high
                assert -1 <= low <= high <= 1
                seen.add((row.winner, row.found.test, row.alpha < 0.05))
    assert {(None, "McNemar mid-p", True), ("A", "t test", True)} <= seen


def test_worlds_that_all_differ_alike_are_not_said_to_have_shown_nought():
    one, two = ({f"i{at}": [x] for at in range(8)} for x in (5.0, 3.0))
    row = compared("s", frame(one), frame(two), "accuracy", rate=False)
    assert decided([row])[0].winner == "A"
    judged = decided([row] * 10)
    assert {r.winner for r in judged} == {None}
    assert all("8 clusters are too few for any test" in r.verdict for r in judged)
    assert all("corrected for the number of tests" in r.verdict for r in judged)


def test_other_metrics_are_higher_not_better():
    row = compared(
        "s",
        frame(coins("a", 90, 0.9)),
        frame(coins("b", 90, 0.2)),
        "accuracy",
        rate=True,
        headline=False,
    )
    assert decided([row])[0].verdict == "A higher"


def test_runs_are_aligned_by_instance_and_the_rest_is_told():
    one = coins("a", 60, 0.9)
    two = {name: [0.0] for name in list(one)[10:]} | {"z": [1.0]}
    found = compare([run(one)], [run(two, "m/two")])
    (row,), (played,) = found.rows, found.played
    assert (row.found.n, played.shared, played.only) == (50, 50, (10, 1))
    assert row.winner == "A"
    assert any("10 instances only in A" in remark for remark in found.remarks)
    assert played.outcomes == {"answered": (1.0, 1.0)}
    json.dumps(found.to_json(), allow_nan=False)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"profile": "published"}, "profile certified in A and published in B"),
        ({"version": "2-0.1.0"}, "family version 1 in A and 2 in B"),
        ({"parameters": {"n": 5}}, "parameters"),
    ],
)
def test_versions_profiles_and_parameters_are_not_mixed(changes, told):
    scores = coins("a", 20, 0.5)
    with pytest.raises(ValueError, match=told):
        compare([run(scores)], [run(scores, "m/two", **changes)])


def test_without_a_shared_suite_or_instance_there_is_nothing_to_compare():
    scores = coins("a", 20, 0.5)
    with pytest.raises(ValueError, match="share no suite"):
        compare([run(scores)], [run(scores, "m/two", suite="causallink/core")])
    other = {f"other-{name}": score for name, score in scores.items()}
    with pytest.raises(ValueError, match="share no instance"):
        compare([run(scores)], [run(other, "m/two", seed="s2")])


def test_several_models_on_a_side_must_be_chosen_from():
    scores = coins("a", 20, 0.5)
    side = [run(scores, "m/one"), run(scores, "m/two")]
    with pytest.raises(ValueError, match=r"several models.*--a KEY=VALUE"):
        compare(side, [run(scores, "m/three")])
    found = compare(chosen(side, {"model": "one"}), chosen(side, {"model": "m/two"}))
    assert found.played[0].systems == ("m/one", "m/two")
    with pytest.raises(ValueError, match="No run matches model=four"):
        chosen(side, {"model": "four"})


def test_two_runs_of_the_same_instances_are_not_pooled_but_two_seeds_are():
    scores = coins("a", 20, 0.5)
    again = run(scores, log="again.eval", path="again")
    with pytest.raises(ValueError, match="several runs of the same instances"):
        compare([run(scores), again], [run(scores, "m/two")])
    more = {f"s2-{name}": score for name, score in scores.items()}
    sides = [[run(scores, m), run(more, m, seed="s2")] for m in ("m/one", "m/two")]
    assert compare(*sides).rows[0].found.n == 40


def test_settings_are_compared_and_named():
    scores = coins("a", 20, 0.5)
    other = run(scores, args={"template": "notebook"})
    found = compare([run(scores)], [other])
    assert found.played[0].apart == {"template": ("plain", "notebook")}
    assert any("settings differ: template plain in A, notebook in B" in r for r in found.remarks)
    third = run(scores, args={"template": "think_first"})
    with pytest.raises(ValueError, match="several runs have different settings"):
        compare([run(scores), third], [other, run(scores, args={"protocol": "tools"})])
    with pytest.raises(ValueError, match="same log"):
        compare([other], [other])


def simulation():
    path = ROOT / "scripts" / "simulate_compare.py"
    spec = importlib.util.spec_from_file_location("simulate_compare", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["simulate_compare"] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", sampled(["independent", "clustered", "epochs", "causallink"]))
def test_compare_is_right_at_the_size_that_plan_gives(name):
    """At most one run in 10,000 would fail by luck if the power is 0.94 and alpha 0.05."""

    interface, repeats = simulation(), 50
    case = interface.on_causallink(600) if name == "causallink" else interface.SYNTHETIC[name]
    found = interface.repeated(case, name, repeats, power=0.95, pilot=200)
    assert found.right.count("A") >= scipy.stats.binom.ppf(1e-4, repeats, 0.94)
    assert found.right.count("B") == 0
    assert repeats - found.alarms.count(None) <= scipy.stats.binom.ppf(1 - 1e-4, repeats, 0.05)


@pytest.mark.wire
def test_the_command_on_true_logs(tmp_path):
    from inspect_ai import eval as inspect_eval

    from whybench.cli import app
    from whybench.interfaces.inspectai.tasks import tasks

    for agent in ("exact", "null"):
        inspect_eval(
            tasks()["causallink"](suite="collider"),
            model=f"whybench/{agent}",
            limit=8,
            display="none",
            log_dir=str(tmp_path / agent),
        )
    sides = [str(tmp_path / agent) for agent in ("exact", "null")]
    said = CliRunner().invoke(app, ["compare", *sides, "--json"])
    assert said.exit_code == 0, said.output
    found = json.loads(said.output)
    assert (found["rows"][0]["a"], found["rows"][0]["instances"]) == (1.0, 8)
    assert "too few for any test" in found["rows"][0]["verdict"]
    assert CliRunner().invoke(app, ["compare", *sides, "--metric", "all"]).exit_code == 0
    refused = CliRunner().invoke(app, ["compare", str(tmp_path)])
    assert refused.exit_code == 2
    assert "several models" in refused.output
    said = CliRunner().invoke(
        app, ["plan", "causallink/collider", "--detect", "0.1", "--log", sides[1], "--json"]
    )
    assert said.exit_code == 0, said.output
    planned = json.loads(said.output)
    assert planned["usages"][0]["system"] == "whybench/null"
    assert planned["usages"][0]["episodes"] == 8
