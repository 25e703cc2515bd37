"""Planning a run: sizes that agree with the statistics, honest assumptions, tokens and cost."""

import json
import math
import re

import pandas as pd
import pytest

from whybench.causal.seeds import Stream
from whybench.curriculum.columns import tokens_in
from whybench.episode.registry import load_suite
from whybench.report.decisions.cost import Usage, bill, usage_in, usage_played
from whybench.report.decisions.plan import plan
from whybench.report.decisions.sizes import design
from whybench.report.decisions.variance_sources import Worlds, from_frames, picked, spaced
from whybench.report.runs import Run
from whybench.stats.power import instances_needed, mcnemar_needed, power_of
from whybench.stats.spread import Spread, paired_spread, paired_spread_of, rate_spread, spread_of

CORE = load_suite("causallink/core")


def run_on(suite, name, chance, epochs=1, instances=60):
    stream = Stream("test-plan", name)
    rows = [
        {
            "instance": suite[at].id,
            "cluster": suite[at].cluster,
            "epoch": epoch,
            suite.family.headline: float(stream.uniform() < chance),
            "input_tokens": 1000.0 + at,
            "output_tokens": 100.0,
            "cost": 0.5,
        }
        for at in range(min(instances, len(suite)))
        for epoch in range(1, epochs + 1)
    ]
    return Run(
        log=f"{name}.eval",
        path=name,
        model=f"m/{name}",
        family=suite.family,
        suite=suite.path,
        profile=suite.profile,
        seed=suite.seed,
        parameters=suite.parameters.asdict(),
        version="1-0.1.0",
        task=suite.family.name,
        args={},
        passed={},
        created="",
        frame=pd.DataFrame(rows),
    )


def test_a_design_is_the_size_of_the_statistics():
    spread = Spread(0.2, 0.1)
    found = design("two systems", 0.1, spread, 1000)
    assert found.instances == instances_needed(0.1, spread)
    assert found.power == power_of(0.1, spread, found.instances) >= 0.8
    assert (found.epochs, found.fits) == (1, True)


def test_epochs_are_asked_for_where_instances_run_out_and_only_there():
    spread = Spread(0.1, 0.1)
    repeated = design("two systems", 0.1, spread, 100)
    assert (repeated.fits, repeated.epochs) == (True, 5)
    beyond = design("two systems", 0.1, spread, 50)
    assert (beyond.fits, beyond.epochs) == (False, 1)
    assert beyond.instances == instances_needed(0.1, spread)
    assert beyond.detectable > 0.1
    given = design("two systems", 0.1, spread, 50, epochs=3)
    assert (given.instances, given.epochs) == (instances_needed(0.1, spread, 3), 3)


def test_no_plan_has_fewer_worlds_than_compare_needs():
    assert design("two systems", 0.5, Spread(1e-6), 100).instances == 6
    assert design("two systems", 0.5, Spread(1e-6, cluster_size=4), 100).instances == 24
    assert design("two systems", 0.5, Spread(1e-6, cluster_size=4), 20).detectable == math.inf


def test_two_logs_give_the_paired_spread():
    suite = load_suite("causalab/main_4")
    runs = [run_on(suite, "one", 0.7, 2), run_on(suite, "two", 0.5, 2)]
    scores = [
        {name: group["accuracy"].tolist() for name, group in run.frame.groupby("instance")}
        for run in runs
    ]
    found = from_frames([run.frame for run in runs], "accuracy", Worlds(50, 50, 0.0))
    assert found.pair == paired_spread_of(*scores)
    assert found.epochs_known
    whole = [spread_of(score) for score in scores]
    assert found.one == max(whole, key=lambda spread: spread.between + spread.within)


def test_one_log_supposes_a_second_system_and_says_so():
    suite = load_suite("causalab/main_4")
    frame = run_on(suite, "one", 0.6).frame
    found = from_frames([frame], "accuracy", Worlds(50, 50, 0.0))
    assert found.pair == paired_spread(found.one, found.one, 0.0)
    assert not found.epochs_known
    assert any("correlation of their scores is 0" in said for said in found.assumed)
    assert any("one epoch" in said for said in found.assumed)
    alike = from_frames([frame], "accuracy", Worlds(50, 50, 0.0), correlation=0.8)
    assert alike.pair.between == pytest.approx(0.2 * found.pair.between)


def test_a_log_is_a_sample_and_a_small_one_asks_for_more():
    suite = load_suite("causalab/main_4")
    sizes = {}
    for instances in (20, 50):
        runs = [run_on(suite, name, 0.9, instances=instances) for name in ("one", "two")]
        found = plan(suite, runs, detect=0.1)
        bold = design("two systems", 0.1, found.spread_pair, 50, rate=True)
        sizes[instances] = found.sizes[0].instances / bold.instances
        assert any("such logs" in said for said in found.assumed)
        sure = plan(suite, runs, detect=0.1, assurance=0.95)
        assert sure.sizes[0].instances > found.sizes[0].instances
    assert sizes[20] > sizes[50] > 1.1


def test_a_log_never_asks_for_more_than_no_log_does():
    suite = load_suite("causalab/main_4")
    runs = [run_on(suite, name, 0.5, instances=8) for name in ("one", "two")]
    without = plan(suite, detect=0.1)
    assert plan(suite, runs[:1], detect=0.1).sizes[0].instances <= 1.1 * without.sizes[0].instances
    found = from_frames([run.frame for run in runs], "accuracy", Worlds(50, 50, 0.0))
    one, pair, _ = found.careful(0.999, rate=True)
    assert one.between == max(0.25, found.one.between)
    assert pair.between == pytest.approx(max(0.5, found.pair.between))


def test_a_part_of_a_suite_is_planned_with_the_worlds_of_the_whole():
    frame = run_on(CORE, "one", 0.6).frame.assign(cluster=range(60))
    found = from_frames([frame], "accuracy", Worlds(84, 3, 0.5))
    assert (found.one.cluster_size, found.one.size_cv, found.one.icc) == (28, 0.5, 0.1)
    assert any("no two instances of one cluster" in said for said in found.assumed)


def test_without_a_log_the_worst_rate_is_supposed():
    found = plan(load_suite("causalab/main_4"), detect=0.1)
    assert found.spread_one == rate_spread(0.5)
    assert "where its variance is largest" in " ".join(found.assumed)
    two, one = found.sizes
    assert two.instances == mcnemar_needed(0.1, Spread(0.5)) >= instances_needed(0.1, Spread(0.5))
    assert one.instances == instances_needed(0.1, Spread(0.25))
    assert not two.fits
    assert found.worlds == Worlds(50, 50, 0.0)
    assert "other instances" in found.more
    assert found.bills[0].episodes == 2 * two.instances
    json.dumps(found.to_json(), allow_nan=False)


def test_a_suite_of_few_worlds_can_show_nothing_and_no_seed_helps():
    found = plan(CORE, detect=0.1)
    assert found.worlds.worlds == 3
    assert found.sizes[0].detectable == math.inf
    assert found.to_json()["sizes"][0]["detectable"] is None
    assert "same 3 clusters" in found.more


def test_logs_bring_tokens_and_cost_and_those_of_other_suites_are_not_used():
    suite = load_suite("causalab/main_4")
    runs = [run_on(suite, "one", 0.7), run_on(suite, "two", 0.5)]
    found = plan(suite, [*runs, run_on(CORE, "three", 0.5)], detect=0.1, epochs=2)
    size, paid = found.sizes[0], found.bills[0]
    assert size.epochs == 2
    assert paid.episodes == 2 * 2 * size.instances
    assert paid.cost == pytest.approx(0.5 * paid.episodes)
    assert paid.output_tokens == pytest.approx(100 * paid.episodes)
    priced = plan(suite, runs, detect=0.1, price_in=1.0, price_out=10.0).bills[0]
    assert priced.cost == pytest.approx((priced.input_tokens + 10 * priced.output_tokens) / 1e6)
    with pytest.raises(ValueError, match="no run of causalab/main_4"):
        plan(suite, [run_on(CORE, "three", 0.5)], detect=0.1)
    with pytest.raises(ValueError, match="Give one or two"):
        plan(suite, [*runs, run_on(suite, "four", 0.5)], detect=0.1)


def test_a_log_without_spread_serves_for_tokens_alone():
    suite = load_suite("causalab/main_4")
    found = plan(suite, [run_on(suite, "perfect", 2.0)], detect=0.1)
    assert found.spread_one == rate_spread(0.5)
    assert found.usages[0].system == "m/perfect"
    assert any("used only for tokens" in said for said in found.assumed)


def test_the_whole_conversation_counts_again_at_every_turn():
    suite, instance = CORE, CORE[0]
    found = usage_played(suite, [instance], "null", "plain")
    talk = suite.family.conversation(suite.family.open(instance), "plain")
    asked = said = heard = 0
    moves = suite.family.agent("null", instance)
    action = next(moves)
    heard = tokens_in(talk.system)
    while (turn := talk.turn()) is not None:
        heard += tokens_in(turn.prompt)
        text, _ = talk.say(action)  # the null agent makes one move
        written = tokens_in(text)
        asked, said, heard = asked + heard, said + written, heard + written
        talk.reply(text)
    assert (found.input_tokens, found.output_tokens) == (asked, said)
    assert found.input_tokens > found.output_tokens > 0


@pytest.mark.parametrize(
    "path", ["causallink/core", "causalab/main_3", "replayscm/roots_cert", "causalgame/antenna"]
)
def test_every_kind_of_talk_can_be_counted(path):
    suite = load_suite(path)
    found = usage_played(suite, [suite[0]], "exact", suite.family.templates[0])
    assert found.input_tokens > 100
    assert 0 < found.output_tokens < found.input_tokens


def test_a_log_without_usage_says_nothing():
    frame = pd.DataFrame({"input_tokens": [math.nan], "output_tokens": [math.nan]})
    assert usage_in("m", frame, "log") is None


def test_a_bill_adds_up_all_systems():
    one = Usage("m", 5, 100.0, 0.0, 10.0, 0.0, math.nan, "")
    found = bill([one, one], 50)
    assert (found.episodes, found.input_tokens, found.output_tokens) == (100, 10_000, 1000)
    assert math.isnan(found.cost)
    assert bill([one], 10, price_out=1e6).cost == 100


def test_what_is_picked_is_spread_over_worlds():
    few = picked(list(CORE), worlds=3, each=2)
    assert len(few) == 6
    assert len({instance.cluster for instance in few}) == 3
    assert spaced(range(10), 3) == [0, 3, 6]
    assert spaced(range(2), 5) == [0, 1]


@pytest.mark.parametrize("detect", [0.0, -0.1, math.nan])
def test_a_difference_to_detect_is_above_zero(detect):
    with pytest.raises(ValueError, match="above 0"):
        plan(CORE, detect=detect)


def test_how_many_worlds_were_looked_at_is_said_in_one_sentence():
    found = plan(load_suite("causalab/main_4"), detect=0.2)
    said = [text for text in found.assumed if "checked instances" in text]
    looked, other = (int(n) for n in re.findall(r"\d+", said[0]))
    assert looked + other == 50
