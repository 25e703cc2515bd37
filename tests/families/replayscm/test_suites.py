"""The shipped pools: what they promise, instance by instance."""

import json
from collections.abc import Iterator
from itertools import pairwise

import pytest
from tests.tables import sampled

from whybench.causal.boolean import parse
from whybench.causal.graph import members
from whybench.episode.episode import play
from whybench.episode.family import Suite
from whybench.episode.instance import Instance
from whybench.episode.score import Score
from whybench.families.replayscm import FAMILY
from whybench.families.replayscm.parameters import LEVELS, POOLS
from whybench.families.replayscm.proof.certify import evidence_of
from whybench.families.replayscm.world.generation.record_pools import FOLDER, MANIFEST, SIZES, check
from whybench.families.replayscm.world.world import World, numbers, scm_of

CERTIFIED = ("ord_cert", "block_cert", "hid_cert", "roots_cert")


def suite(name: str, **args: object) -> Suite:
    return FAMILY.suite(name, **args)


def worlds(name: str) -> Iterator[World]:
    return (FAMILY.world(instance) for instance in suite(name))


def played(instance: Instance, agent: str = "exact") -> Score:
    return FAMILY.score(instance, play(FAMILY.open(instance), FAMILY.agent(agent, instance)))


def test_the_pools_have_the_sizes_of_the_paper_and_1300_scored_records() -> None:
    full = [("ord_full", 250), ("hid_full", 250)]
    derived = (
        "block",
        "hid_roots",
        "alt_ord",
        "alt_hid",
        "ord_ext",
        "hid_ext",
        "ord_cex",
        "hid_cex",
    )
    sizes = dict(full) | dict.fromkeys(derived, 100)
    assert {name: len(suite(name)) for name in sizes} == sizes
    assert sum(sizes.values()) == 1300


@pytest.mark.slow
def test_files_and_records_are_those_of_the_manifest_and_some_are_made_again() -> None:
    assert check(list(SIZES), limit=1) == []
    manifest = json.loads((FOLDER / MANIFEST).read_text("utf-8"))
    assert {name: len(entry["records"]) for name, entry in manifest.items()} == {
        f"{kind}.parquet": size for kind, size in SIZES.items()
    }


def test_a_changed_record_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    from whybench.families.replayscm.world.generation import record_pools

    records = record_pools._records("ord")
    spoilt = ({**records[0], "k": records[0]["k"] + 1}, *records[1:])
    monkeypatch.setattr(record_pools, "_records", lambda kind: spoilt)
    assert record_pools.check(["ord"], limit=0) == [
        "ord.parquet: record 0 does not match its hash in the manifest"
    ]


def test_full_pools_begin_with_the_matched_problems() -> None:
    for full, match in (("ord_full", "ord_match"), ("hid_full", "hid_match")):
        for index in (0, 50, 99):
            a, b = suite(full)[index], suite(match)[index]
            assert FAMILY.world(a) == FAMILY.world(b)
            assert a.cluster == b.cluster
    latents = {world.cluster for name in ("ord_full", "hid_full") for world in worlds(name)}
    assert len(latents) == 400


@pytest.mark.parametrize("name", [name for name, pool in POOLS.items() if pool.source == "match"])
def test_matched_suites_share_scms_held_out_worlds_and_display(name: str) -> None:
    for world, base in zip(worlds(name), worlds("hid_match"), strict=True):
        assert world.formulas == base.formulas
        assert world.heldout == base.heldout
        assert world.view.display == base.view.display


def test_disclosures_differ_in_what_is_told_alone() -> None:
    for names in (
        ("ord_match", "block", "hid_match", "hid_roots"),
        CERTIFIED,
        ("ord_ext", "hid_ext"),
    ):
        for views in zip(*([w.view for w in worlds(name)] for name in names), strict=True):
            assert len({view.train for view in views}) == 1
            assert len({view.told.k for view in views}) == 1


def test_the_ladder_only_adds_worlds_and_never_a_held_out_intervention() -> None:
    from whybench.families.replayscm.world.gold_scm import signature

    for short in ("ord", "hid"):
        levels = [list(worlds(f"{short}_{level}")) for level in ("match", "ext", "cex")]
        for match, ext, cex in zip(*levels, strict=True):
            for less, more in pairwise((match.view.train, ext.view.train, cex.view.train)):
                assert more[: len(less)] == less
            assert 3 <= len(ext.view.train) - len(match.view.train) <= 4
            held = {signature(table) for table in match.heldout}
            assert not held & {signature(table) for table in cex.view.train}
            assert cex.facts["patterns_full"]
            assert 8 <= len(match.view.train) <= 11


def test_certified_problems_hide_no_held_out_intervention_and_have_at_most_twenty_worlds() -> None:
    from whybench.families.replayscm.world.gold_scm import signature

    for world in worlds("roots_cert"):
        assert len(world.view.train) <= 20
        assert max(table.size for table in world.view.train) <= 12
        held = {signature(table) for table in world.heldout}
        assert not held & {signature(table) for table in world.view.train}


@pytest.mark.parametrize("name", sampled(CERTIFIED, 3))
def test_one_scm_is_left_in_every_certified_problem(name: str) -> None:
    for world in worlds(name):
        assert evidence_of(world.view).count == 1


@pytest.mark.slow
def test_the_exact_agent_replays_every_certified_problem_held_out_worlds_included() -> None:
    for name in CERTIFIED:
        for instance in suite(name):
            score = played(instance)
            assert score.values["heldout_exact"] == 1.0
            assert score.values["latent_match"] == 1.0
            assert score.values["task_correct"] == 1.0


@pytest.mark.parametrize("bits", sampled(LEVELS, 2))
def test_bits_are_met_within_half_and_the_long_form_has_the_same_scms(bits: int) -> None:
    for short, long, whole in zip(
        worlds(f"bits_{bits}"), worlds(f"bits_{bits}_long"), worlds("bits_0"), strict=True
    ):
        left = evidence_of(short.view)
        assert abs(left.bits - bits) <= 0.5
        assert evidence_of(long.view).count == left.count
        shapes = [[(t.targets, t.mode, t.size) for t in w.view.train] for w in (long, whole)]
        assert shapes[0] == shapes[1]


def test_long_prompts_are_as_long_as_those_at_0_bits() -> None:
    for bits in LEVELS:
        long, whole = suite(f"bits_{bits}_long"), suite("bits_0")
        for index in range(0, 100, 9):
            for template in FAMILY.templates:
                lengths = {len(FAMILY.open(s[index]).instructions(template)) for s in (long, whole)}
                assert len(lengths) == 1


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ord_full", "hid_full", "block", "hid_roots"])
def test_exact_fits_every_problem_and_is_right_where_the_evidence_decides(name: str) -> None:
    decided = 0
    for instance in suite(name):
        score = played(instance)
        assert score.values["train_exact"] == 1.0
        world = FAMILY.world(instance)
        evidence = evidence_of(world.view)
        if all(evidence.determines(table.rows(), table.targets) for table in world.heldout):
            decided += 1
            assert score.values["heldout_exact"] == 1.0
    assert decided >= 3


@pytest.mark.parametrize("name", ["alt_ord", "alt_hid"])
def test_references_fit_and_half_of_them_are_gold(name: str) -> None:
    gold = 0
    for instance, world in zip(suite(name), worlds(name), strict=True):
        reference = scm_of(world.view.reference)
        for table in world.view.train:
            for row in table.rows():
                for v in members(reference.own & ~table.targets):
                    assert (reference.tables[v] >> row ^ row >> v) & 1 == 0
        read = [parse(text, numbers(world.view.n)) for text in world.view.reference if text]
        assert max(formula.size for formula in read) <= 14
        gold += reference == world.gold
        if instance.index % 5 == 0:
            score = played(instance)
            assert score.values["joint_success"] == 1.0
            assert score.values["experiment_optimality"] == 1.0
    assert gold == 50


def test_blocks_partition_the_variables_respect_the_order_and_are_shuffled_inside() -> None:
    sorted_inside = counted = 0
    shapes = set()
    for index, instance in enumerate(suite("block")):
        view = FAMILY.world(instance).view
        order = FAMILY.world(suite("ord_match")[index]).view.order
        assert sorted(v for block in view.blocks for v in block) == list(range(view.n))
        place = {v: at for at, v in enumerate(order)}
        for early, late in pairwise(view.blocks):
            assert max(place[v] for v in early) < min(place[v] for v in late)
        for block in view.blocks:
            if len(block) > 2:
                counted += 1
                sorted_inside += sorted(block, key=place.__getitem__) == list(block)
        shapes.add(len(view.blocks))
    assert shapes == {2, 3}
    assert sorted_inside < counted / 4  # by chance one in six or fewer


def test_the_display_order_tells_nothing_of_the_causal_order() -> None:
    """How often an earlier variable is shown first: a coin's share, and names are no better."""
    shown = named = pairs = 0
    for world in worlds("ord_full"):
        order, display = world.view.order, world.view.display
        for i, early in enumerate(order):
            for late in order[i + 1 :]:
                pairs += 1
                shown += display.index(early) < display.index(late)
                named += early < late
    assert abs(shown / pairs - 0.5) < 0.05
    assert abs(named / pairs - 0.5) < 0.05


def test_published_pools_are_ours_with_the_released_rules() -> None:
    ours, released = suite("hid_match")[3], suite("hid_match", profile="published")[3]
    a, b = FAMILY.world(ours).view, FAMILY.world(released).view
    assert (a.train, a.display) == (b.train, b.display)
    assert b.released
    assert b.told.k == b.n - 1
    instructions = FAMILY.open(released).instructions("plain")
    assert "at most" not in instructions.split("canary", 1)[1]
    assert f"at most {a.told.k} variables" in FAMILY.open(ours).instructions("plain")


def test_invalid_answers_get_zero_and_the_answered_rate_leaves_them_out() -> None:
    instance = suite("hid_match")[0]
    episode = FAMILY.open(instance)
    episode.step(*FAMILY.submission({"mechanisms": {}}))
    score = FAMILY.score(instance, episode.trace)
    assert score.labels["failed"] == "keys"
    for name in ("train_exact", "heldout_exact", "train_world_exact", "heldout_world_exact"):
        assert score.values[name] == 0.0
        assert score.values[f"{name}_valid"] is None
    assert score.values["schema"] == 1.0
    assert score.values["keys"] == score.values["valid"] == 0.0


def test_retries_are_counted_and_the_stage_is_told() -> None:
    instance = suite("hid_cert")[0]
    episode = FAMILY.open(instance)
    refused = episode.step(*FAMILY.submission("no JSON at all"))
    assert (refused.code, refused.data["stage"]) == ("invalid_answer", "extracted")
    trace = play(episode, FAMILY.agent("exact", instance))
    score = FAMILY.score(instance, trace)
    assert score.values["retries"] == 1.0
    assert score.values["valid_first"] == 0.0
    assert score.values["solved"] == 1.0
    once = suite("hid_cert", parameters={"max_errors": 1})[0]
    episode = FAMILY.open(once)
    episode.step(*FAMILY.submission("no JSON at all"))
    assert episode.done
    assert FAMILY.score(once, episode.trace).outcome == "invalid_answer"


def test_parameters_belong_where_they_work() -> None:
    with pytest.raises(ValueError, match="applies only to replayscm/lab"):
        suite("block", parameters={"budget": 3})
    with pytest.raises(ValueError, match="profile `published`"):
        suite("alt_ord", parameters={"data": "nowhere"})
    with pytest.raises(ValueError, match="nowhere"):
        suite("alt_ord", profile="published", parameters={"data": "nowhere"})
