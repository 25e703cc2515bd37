"""Alternatives and counterexamples from answers: mined, written, and played again."""

from functools import cache
from pathlib import Path
from types import SimpleNamespace

import pytest

import whybench as wb
from whybench.causal.canonical import canonical_json
from whybench.families.replayscm.extras.protocol import alternative_tasks, counterexamples, mined
from whybench.families.replayscm.extras.protocol.export import supports
from whybench.families.replayscm.extras.protocol.mined import Tried
from whybench.families.replayscm.world.generation.separate import agrees
from whybench.families.replayscm.world.released import problems
from whybench.families.replayscm.world.world import scm_of
from whybench.interfaces.inspectai.record import CLUSTER, INSTANCE


def suite(name: str) -> wb.Suite:
    return wb.load_suite(f"replayscm/{name}", profile="published")


@cache
def other_formulas(name: str, index: int) -> tuple[str, ...]:
    """Return the formulas of a reference that fits and is not gold, or of gold if there is none."""
    short = {"ord_match": "alt_ord", "hid_match": "alt_hid"}[name]
    instances = suite(short)
    return tuple(instances.family.world(instances[index]).view.reference)


def attempt(name: str, index: int, model: str, formulas: tuple[str, ...] | None = None) -> Tried:
    instances = suite(name)
    world = instances.family.world(instances[index])
    return Tried(model, instances[index], world, formulas)


@cache
def not_gold(name: str, separable: bool = True) -> int:
    """Return the first problem whose shipped reference is not gold.

    One experiment on one variable separates the two, or none does.
    """
    for index in range(100):
        one = attempt(name, index, "a", other_formulas(name, index))
        for [found] in mined.alternatives([one]).values():
            if alternative_tasks.separable(one.world, found) is separable:
                return index
    raise LookupError(name)


def test_answers_that_fit_without_being_gold_are_alternatives() -> None:
    index = not_gold("hid_match")
    other = other_formulas("hid_match", index)
    gold = attempt("hid_match", index, "gold").world.formulas
    found = [
        attempt("hid_match", index, "b", other),
        attempt("hid_match", index, "a", other),
        attempt("hid_match", index, "c", gold),
        attempt("hid_match", index, "d"),
    ]
    [(key, [one])] = mined.alternatives(found).items()
    assert key == (found[0].world.cluster, "hidden")
    assert one.models == ("a", "b")
    assert one.scm == scm_of(other)
    [[alone]] = mined.alternatives(found, without=["a"]).values()
    assert alone.models == ("b",)
    assert mined.alternatives(found, without=["a", "b"]) == {}
    broken = tuple(text and f"(not {text})" for text in gold)
    assert attempt("hid_match", index, "e", broken).other is None


@pytest.mark.parametrize("name", ["ord_match", "hid_match"])
def test_written_problems_are_played_from_their_folder(name: str, tmp_path: Path) -> None:
    index = not_gold(name)
    open_ended = not_gold(name, separable=False)
    found = [
        attempt(name, number, "a", other_formulas(name, number)) for number in (index, open_ended)
    ]
    [(target, (path, pairs, size))] = alternative_tasks.write_tasks(found, tmp_path).items()
    assert (pairs, size) == (1, 2)
    before = path.read_bytes()
    alternative_tasks.write_tasks(found, tmp_path)
    assert path.read_bytes() == before
    read = {world.cluster: world for world in problems(tmp_path, target)}
    assert dict(zip(read, supports(tmp_path, target), strict=True)) == {
        found[0].world.cluster: ("a",), found[1].world.cluster: (),
    }  # fmt: skip
    for one in found:
        again, world = read[one.world.cluster], one.world
        assert again.view.train == world.view.train
        assert (again.heldout, again.formulas) == (world.heldout, world.formulas)
        assert again.view.told == world.view.told
        assert (again.view.display, again.view.order) == (world.view.display, world.view.order)
        assert all(agrees(scm_of(again.view.reference), table) for table in again.view.train)
    assert read[found[1].world.cluster].view.reference == found[1].world.formulas
    played = wb.load_suite(
        f"replayscm/{target}", profile="published", parameters={"data": str(tmp_path)}
    )
    assert len(played) == 2
    assert {one.cluster for one in played} == {one.instance.cluster for one in found}


def test_counterexamples_rule_out_what_still_fits_and_keep_the_rest(tmp_path: Path) -> None:
    index = not_gold("hid_match")
    found = [attempt("hid_match", index, "a", other_formulas("hid_match", index))]
    [(target, audit)] = counterexamples.write_audited(found, tmp_path).items()
    shipped = suite("hid_cex").family.world(suite("hid_cex")[index])
    [world] = problems(tmp_path, target)
    assert target == "hid_cex"
    assert world.cluster == shipped.cluster
    assert world.view.train[: len(shipped.view.train)] == shipped.view.train
    assert len(world.view.train) == len(shipped.view.train) + audit.added
    assert world.heldout == shipped.heldout


def test_an_alternative_that_the_audit_missed_is_ruled_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = not_gold("hid_match")
    one = attempt("hid_match", index, "a", other_formulas("hid_match", index))
    monkeypatch.setattr(counterexamples, "_audited", lambda tried, suite: tried.world)
    audit = counterexamples.write_audited([one], tmp_path)["hid_cex"]
    assert (audit.alternatives, audit.problems) == (1, 1)
    assert audit.added >= 1
    [world] = problems(tmp_path, "hid_cex")
    assert all(agrees(world.gold, table) for table in world.view.train)
    assert not all(agrees(one.other, table) for table in world.view.train)
    first, *_, last = world.view.train
    shared = [
        (v, unit)
        for v in range(world.view.n)
        if not world.formulas[v]
        for unit in range(first.size)
    ]
    latent = counterexamples.with_units(world, mined.gold_order(one.instance, one.world))
    columns = dict(zip(latent.order, latent.root_columns([0.5] * 3), strict=False))
    assert all(columns[v] >> u & 1 == first.columns[v] >> u & 1 for v, u in shared)
    assert last.size == first.size


def log(name: str, model: str, *scores: tuple[int, float]) -> SimpleNamespace:
    samples = [
        SimpleNamespace(
            metadata={
                INSTANCE: canonical_json(suite(name)[index].to_json()),
                CLUSTER: suite(name)[index].cluster,
            },
            scores={"episode_score": SimpleNamespace(value={"joint_success": joint})},
        )
        for index, joint in scores
    ]
    return SimpleNamespace(eval=SimpleNamespace(model=model), samples=samples)


def test_table_g2_groups_problems_by_the_models_behind_them() -> None:
    index = not_gold("hid_match")
    found = [attempt("hid_match", index, "a", other_formulas("hid_match", index))]
    rest = [number for number in range(8) if number != index][:6]
    scores = [(index, 1.0), *((number, float(number % 2)) for number in rest)]
    logs = [log("alt_hid", "a", *scores), log("alt_hid", "b", *scores)]
    rows = list(alternative_tasks.relations(logs, mined.alternatives(found)))
    counts = {(row.model, row.relation): row.n for row in rows}
    assert counts == {
        ("a", "KP-all"): 1, ("a", "OM-src"): 0, ("a", "SM-src"): 1, ("a", "OE"): 6,
        ("b", "KP-all"): 1, ("b", "OM-src"): 1, ("b", "SM-src"): 0, ("b", "OE"): 6,
    }  # fmt: skip
    [open_ended] = [row for row in rows if (row.model, row.relation) == ("a", "OE")]
    assert open_ended.rates[0].rate == sum(number % 2 for number in rest) / 6
    table = alternative_tasks.markdown(rows)
    assert "| Pool | Model | Source relation | n | Joint success |" in table
    assert "| alt_hid | a | OM-src | 0 | – |" in table
    assert "| alt_hid | b | OM-src | 1 | * |" in table


def test_the_cohort_without_disambiguation_keeps_system_and_held_out_worlds() -> None:
    fewer = wb.load_suite("replayscm/hid_match", parameters={"disambiguation": False})
    usual = wb.load_suite("replayscm/hid_match")
    sizes = set()
    for index in range(12):
        one, other = (each.family.world(each[index]) for each in (fewer, usual))
        assert one.view.train == other.view.train[:8]
        assert (one.heldout, one.formulas) == (other.heldout, other.formulas)
        assert fewer[index].cluster == usual[index].cluster
        assert one.facts["pattern_coverage"] <= other.facts["pattern_coverage"]
        sizes.add(len(other.view.train))
    assert max(sizes) > 8
    with pytest.raises(ValueError, match="applies to generated problems of ord_full, ord_match"):
        len(wb.load_suite("replayscm/hid_ext", parameters={"disambiguation": False}))


@pytest.mark.parametrize("path", ["replayscm/hid_match", "recite/short"])
def test_a_retry_may_send_the_first_prompt_again_and_nothing_else(path: str) -> None:
    for retry in ("same", "reason"):
        instances = wb.load_suite(path, parameters={"retry": retry})
        episode = instances.family.open(instances[0])
        talk = instances.family.conversation(episode, "plain")
        first = talk.turn()
        talk.reply("I do not know.")
        again = talk.turn()
        assert not first.fresh
        assert again.fresh is (retry == "same")
        assert (again.prompt == first.prompt) is (retry == "same")
        assert episode.errors == 1


def test_a_laboratory_refuses_to_forget_its_experiments() -> None:
    with pytest.raises(ValueError, match="would hide experiments"):
        len(wb.load_suite("replayscm/lab", parameters={"retry": "same"}))
