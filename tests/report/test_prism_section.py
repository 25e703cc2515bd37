"""Prism's section of a report: its rows equal what can be counted from the runs."""

import math
from collections.abc import Callable

import pandas as pd
import pytest
from tests.report.soundness import child, sound

from whybench.causal.canonical import thaw
from whybench.causal.seeds import Stream
from whybench.episode.action import Action
from whybench.episode.episode import play
from whybench.episode.instance import Instance
from whybench.episode.registry import families
from whybench.episode.trace import Trace
from whybench.families.prism.extras.report.limits import claimed, grounds, mode_gaps, stated
from whybench.families.prism.extras.report.rows import arms
from whybench.families.prism.extras.report.rungs import by_kind, confusions, rung_gaps
from whybench.families.prism.extras.report.section import section
from whybench.families.prism.extras.report.surfaces import split_losses, surface_gaps
from whybench.report.naming import displayed
from whybench.report.published.figures import Published
from whybench.report.runs import Run
from whybench.report.section import Figure, Remark, Section
from whybench.report.view import View

FAMILY = families()["prism"]
TEACHING = list(FAMILY.suite("teaching"))[:45]
SHOWN = [metric.name for metric in FAMILY.metrics if metric.role != "detail"]

Player = Callable[[Instance, str], Trace]


def exact(instance: Instance, evidence: str) -> Trace:
    episode = FAMILY.open(instance, evidence=evidence)
    return play(episode, FAMILY.agent("exact", instance, episode.evidence_given))


def agent(name: str) -> Player:
    def player(instance: Instance, evidence: str) -> Trace:
        episode = FAMILY.open(instance, evidence=evidence)
        return play(episode, FAMILY.agent(name, instance, episode.evidence_given))

    return player


def hurt(share: float) -> Player:
    """Be exact, but say cannot on a share of the instances."""

    def player(instance: Instance, evidence: str) -> Trace:
        if Stream("hurt", instance.id).uniform() >= share:
            return exact(instance, evidence)
        episode = FAMILY.open(instance, evidence=evidence)
        episode.step(Action.of("answer", answer="cannot", probability="0.5"))
        return episode.trace

    return player


def row(instance: Instance, trace: Trace) -> dict[str, object]:
    score = FAMILY.score(instance, trace)
    values = {name: score.values[name] for name in SHOWN}
    return {
        "instance": instance.id, "index": instance.index, "cluster": instance.cluster, "epoch": 1,
        "outcome": score.outcome, "block": instance.block,
        **{name: math.nan if value is None else value for name, value in values.items()},
        "labels": thaw(score.labels),
    }  # fmt: skip


def run(
    player: Player, instances: list[Instance] = TEACHING, model: str = "acme/one", **args: str
) -> Run:
    manner = {"template": "table", "protocol": "dialogue", "evidence": "own"} | args
    first = instances[0]
    return Run(
        log="made.eval", path="made.eval", model=model, family=FAMILY,
        suite=f"prism/{first.suite}", profile=first.profile, seed=first.seed,
        parameters=first.parameters.asdict(), version=f"{FAMILY.version}-0", task="prism",
        args=manner, passed=args, created="2026-01-01", system=displayed(model),
        frame=pd.DataFrame([row(one, player(one, manner["evidence"])) for one in instances]),
    )  # fmt: skip


@pytest.fixture(scope="module")
def everything() -> View:
    """A view with something for every part."""
    justified = list(FAMILY.suite("teaching", parameters={"justify": True}))[:6]
    return View(
        FAMILY,
        (
            run(exact),
            run(exact, template="table_again"),
            run(exact, template="board"),
            run(hurt(0.5), template="prose"),
            run(hurt(0.5), template="prose_long"),
            run(exact, evidence="fetched"),
            run(exact, justified),
            run(agent("case_as_do"), model="acme/two"),
            run(agent("null"), list(FAMILY.suite("lab"))[:4]),
            run(exact, list(FAMILY.suite("lab"))[:4], evidence="optimal"),
        ),
        Published(),
    )


@pytest.fixture(scope="module")
def whole(everything: View) -> Section:
    return section(everything)


def test_every_part_is_whole_and_ids_are_unique(whole: Section) -> None:
    sound(whole)
    assert [one.id for one in whole.children] == [
        f"prism-{name}" for name in ("surfaces", "rungs", "limits", "modes", "grounds")
    ]
    assert not [part for part in whole.walk() if isinstance(part, Remark) and "no run" in part.text]


def test_a_lost_surface_is_found(everything: View) -> None:
    rows = {row["surface"]: row for row in surface_gaps(everything)}
    wrong = sum(
        Stream("hurt", one.id).uniform() < 0.5 and FAMILY.world(one).answer != "cannot"
        for one in TEACHING
    )
    assert rows["prose"]["gap"] == pytest.approx(-wrong / len(TEACHING))
    assert rows["board"]["gap"] == 0
    assert rows["board"]["p (Holm)"] == 1
    assert rows["prose"]["high"] < 0


def test_its_loss_is_a_surface_loss(everything: View) -> None:
    parts = {row["part"]: row for row in split_losses(everything)}
    assert parts["wrong whatever the surface"]["share"] == 0 == parts["noise"]["share"]
    loss = parts["surface, beyond noise"]
    assert loss["share"] == pytest.approx(loss["loss"])
    assert loss["low"] > 0


def test_runs_are_grouped_by_what_they_share(everything: View) -> None:
    found = [(arm.system, arm.suite, arm.mode, len(arm.runs)) for arm in arms(everything)]
    assert found[0][1:] == ("teaching", "given", 5)
    assert sorted(one[1:3] for one in found[1:]) == sorted(
        [("teaching", "fetched"), ("teaching", "given"), ("teaching", "given"), ("lab", "own"),
         ("lab", "optimal")]
    )  # fmt: skip


def test_a_confused_model_is_matched_with_its_agent(everything: View) -> None:
    found = {(row["system"], row["agent"]): row for row in confusions(everything)}
    alike = [row for (system, name), row in found.items() if "two" in system]
    assert alike
    assert all(row["alike"] == 1 for row in alike if row["agent"] == "case_as_do")
    assert all(row["right"] == 1 for (system, _), row in found.items() if "one" in system and
               row["surface"] == "table")  # fmt: skip


def test_claims_probabilities_and_kinds(everything: View) -> None:
    claims = {(row["surface"], row["mode"], row["suite"]): row for row in claimed(everything)}
    row = claims["prose", "given", "teaching"]
    assert row["over_claim"] == 0 < row["under_claim"] < 1
    told = {row["surface"]: row for row in stated(everything) if row["mode"] == "given"}
    assert told["board"]["slope"] == pytest.approx(1, abs=1e-3)
    assert told["prose"]["slope"] < 1
    kinds = [row for row in by_kind(everything) if row["surface"] == "board"]
    assert {row["kind"] for row in kinds} == {"do", "direct", "ancestor", "goal", "case"}
    assert all(row["accuracy"] == 1 for row in kinds)
    assert all(row["gap"] == 0 for row in rung_gaps(everything) if row["surface"] == "board")


def test_modes_and_grounds(everything: View) -> None:
    gaps = {(row["mode"], row["minus"]): row for row in mode_gaps(everything)}
    assert gaps["fetched", "given"]["gap"] == 0
    assert gaps["own", "optimal"]["gap"] <= 0
    shares = {row["kind"]: row for row in grounds(everything) if row["suite"] == "teaching"}
    assert shares["right and understood"]["share"] == 1
    lab = [row for row in grounds(everything) if row["suite"] == "lab"]
    assert {"own", "optimal"} == {row["system"].rpartition(", ")[2] for row in lab}


def test_an_empty_report_says_how_to_fill_it() -> None:
    alone = section(View(FAMILY, (run(exact, TEACHING[:3]),), Published()))
    told = [part.text for part in alone.walk() if isinstance(part, Remark)]
    assert any("template=prose" in text for text in told)
    assert any("evidence=fetched" in text for text in told)
    assert any(isinstance(part, Figure) for part in child(alone, "prism-rungs").walk())
