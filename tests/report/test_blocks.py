"""Runs over several blocks: an index names an instance of each of them, so places pair."""

from __future__ import annotations

import json

import pandas as pd
import pytest
from tests.report.test_causalab_section import mixed, parts, row, run

from whybench.families.causalab.extras.verify_gain import whole_pairs
from whybench.interfaces.inspectai.record import CLUSTER, INSTANCE
from whybench.report.build import _mixed
from whybench.report.published.matching_by_index import by_place, places


def placed(block: int, index: int, right: float, suite: str = "i") -> dict:
    where = {"instance": f"{suite}{block}.{index}", "cluster": f"{suite}c{block}.{index}"}
    return row(index, right, block=block, **where)


def blocks(*rights: tuple[float, float], suite: str = "i") -> list[dict]:
    """Return two instances in each block, as right as is said."""
    return [
        placed(block, index, right, suite)
        for block, pair in enumerate(rights)
        for index, right in enumerate(pair)
    ]


def test_places_tell_blocks_apart_and_frames_without_blocks_are_of_the_first() -> None:
    frame = pd.DataFrame({"block": [0, 1, 1, 11], "index": [1, 0, 1, 1]})
    assert list(places(frame)) == ["0.1", "1.0", "1.1", "11.1"]
    assert list(places(frame[["index"]])) == ["0.1", "0.0", "0.1", "0.1"]
    assert by_place(frame)["instance"].nunique() == len(frame)


def test_checks_and_controls_are_paired_within_their_blocks() -> None:
    base = run("main_4", blocks((1, 0), (0, 0)))
    checked = run(
        "main_4", blocks((1, 0), (1, 0), suite="v"), parameters={"verify": True},
        system="lab/one · verify=True",
    )  # fmt: skip
    table = parts(base, checked)["causalab-verify"].frame
    assert (table["n"][0], table["difference"][0]) == (4, pytest.approx(0.25))
    control = run("quad_hard", blocks((0, 0), (1, 1), suite="q"))
    found = parts(base, control)["causalab-controls"].frame.set_index("metric")
    assert found.loc["accuracy", "n"] == 4
    assert found.loc["accuracy", "difference"] == pytest.approx(0.25)


def test_equal_indices_of_other_blocks_are_no_pair() -> None:
    base = run("main_4", blocks((1, 0)))
    later = [placed(1, index, 1.0, "v") for index in (0, 1)]
    checked = run("main_4", later, parameters={"verify": True}, system="lab/one · verify=True")
    assert parts(base, checked)["causalab-verify"].frame["n"][0] == 0
    given = run("main_4", [placed(1, 0, 1.0)], evidence="optimal")
    assert "causalab-evidence" not in parts(base, given)


def test_evidence_counts_the_instances_of_shared_places_only() -> None:
    own = run("main_4", blocks((1, 1), (0, 1)))
    given = run("main_4", [placed(1, 0, 1.0), placed(0, 1, 1.0)], evidence="optimal")
    frame = parts(own, given)["causalab-evidence"].frame
    scores = frame[frame["row"].str.endswith("accuracy")].set_index("evidence")
    assert set(scores["n"]) == {2}
    assert scores["score"].to_dict() == {"own": 0.5, "optimal": 1.0}


def test_arms_in_one_log_are_paired_within_their_blocks() -> None:
    from inspect_ai.scorer import SampleScore, Score

    def scored(block: int, verify: bool) -> SampleScore:
        at = {"suite": "main_4", "profile": "certified", "seed": "s", "index": 0}
        at |= {"parameters": {"verify": verify}} | ({"block": block} if block else {})
        noted = {INSTANCE: json.dumps(at), CLUSTER: f"c{block}"}
        return SampleScore(score=Score(value={"accuracy": block}), sample_metadata=noted)

    pairs = whole_pairs([scored(0, True), scored(0, False), scored(1, True), scored(1, False)])
    assert [pair.cluster for pair in pairs] == ["c0", "c1"]
    assert whole_pairs([scored(0, True), scored(1, False)]) == []


def test_episodes_to_open_are_sorted_by_block_before_index() -> None:
    backwards = run("main_4", blocks((1, 1), (1, 1))[::-1])
    told = [(each["block"], each["index"]) for each in _mixed(backwards, 4)]
    assert told == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert len(_mixed(run("main_4", [{**one, "block": 0} for one in mixed()]), 3)) == 3
